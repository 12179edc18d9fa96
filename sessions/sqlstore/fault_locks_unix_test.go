//go:build unix

package sqlstore

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// lookChild names the state folder that a child process of TestFaultSomebodyLooks looks into.
const lookChild = "PARLEY_TEST_LOOK"

// Another process looks into the database of a host at work, as with the sqlite3 program. Locks keep it from taking itself for the last one, which
// would remove the log that the host continues writing.
//
// proves: D5
func TestFaultSomebodyLooks(t *testing.T) {
	if dir := os.Getenv(lookChild); dir != "" {
		f, err := os.Open(filepath.Join(dir, DatabaseFile))
		if err != nil {
			t.Fatal(err)
		}
		// The bytes that SQLite's readers share (sqlite.org/src, os.h: SHARED_FIRST, SHARED_SIZE).
		lock := unix.Flock_t{Type: unix.F_WRLCK, Whence: io.SeekStart, Start: 0x40000002, Len: 510}
		if err := errors.Join(unix.FcntlFlock(f.Fd(), unix.F_GETLK, &lock), f.Close()); err != nil {
			t.Fatal(err)
		}
		if lock.Type == unix.F_UNLCK {
			t.Error("the host holds no lock on its database")
		}
		c := other(t, dir, "")
		if n, err := c.Number(t.Context(), "SELECT count(*) FROM messages"); err != nil || n == 0 {
			t.Fatal(n, err)
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Parallel()
	s := open(t, Config{Dir: filled(t, 30), CheckBudget: time.Minute}) // not the first start
	work := func(from int) {
		for i := range 20 {
			if err := life(t.Context(), s, i%3, from+i, someQuestion, someAnswer); err != nil {
				t.Fatal(err)
			}
		}
		settled(t, s)
	}
	work(1000)
	before, err := os.Stat(filepath.Join(s.conf.Dir, DatabaseFile) + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestFaultSomebodyLooks$")
	cmd.Env = append(os.Environ(), lookChild+"="+s.conf.Dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if after, err := os.Stat(filepath.Join(s.conf.Dir, DatabaseFile) + "-wal"); err != nil || !os.SameFile(before, after) {
		t.Errorf("the log is another file: %v", err)
	}
	work(2000)
	if err := open(t, Config{Dir: copied(t, s.conf.Dir), CheckBudget: time.Minute}).Close(); err != nil {
		t.Error(err)
	}
}
