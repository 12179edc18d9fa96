//go:build unix

package sqlstore

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"parley/sessions"
	"parley/sessions/sqlstore/disktest"
	"parley/sessions/sqlstore/sqlitefile"
)

// Somebody removes or replaces the files of a host at work. It accepts nothing more, says so, and all that it had accepted is in a file.
//
// proves: D6
func TestFaultFilesGoWhileAtWork(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(db string) error{
		"the database is removed": os.Remove,
		"the log is removed":      func(db string) error { return os.Remove(db + "-wal") },
		"all are removed": func(db string) error {
			all, err := filepath.Glob(db + "*")
			for _, f := range all {
				err = errors.Join(err, os.Remove(f))
			}
			return err
		},
		"an older copy is put in its place": func(db string) error {
			b, err := os.ReadFile(db)
			return errors.Join(err, os.WriteFile(db+".new", b, 0o600), os.Rename(db+".new", db))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			goWhileAtWork(t, spoil, nil)
		})
		t.Run(name+", and SQLite cannot copy it", func(t *testing.T) {
			t.Parallel()
			goWhileAtWork(t, spoil, func(op disktest.Op) disktest.Fault {
				if strings.HasPrefix(op.Name, RescuedFile) && op.Kind == disktest.Write {
					return disktest.IO
				}
				return disktest.None
			})
		})
	}
}

func goWhileAtWork(t *testing.T, spoil func(db string) error, fault func(disktest.Op) disktest.Fault) {
	dir := filled(t, 10)
	d := disktest.New(t, dir)
	d.Fail(fault)
	s := open(t, Config{Dir: dir, CheckBudget: time.Minute})
	for i := range 10 {
		if err := life(t.Context(), s, i%3, 100+i, someQuestion, someAnswer); err != nil {
			t.Fatal(err)
		}
	}
	had := signature(t, s)
	db := filepath.Join(dir, DatabaseFile)
	if err := spoil(db); err != nil {
		t.Fatal(err)
	}
	earlier := filepath.Join(dir, RescuedFile)
	if err := os.WriteFile(earlier, []byte("of another day"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := life(t.Context(), s, 1, 200, someQuestion, someAnswer); !errors.Is(err, sessions.ErrDamaged) || !strings.Contains(err.Error(), RescuedFile) {
			t.Fatalf("it goes on: %v", err)
		}
	}
	select {
	case err := <-s.Damaged():
		if !errors.Is(err, sessions.ErrDamaged) {
			t.Error(err)
		}
	default:
		t.Error("the host is not told")
	}
	_ = s.Close() // whatever it says
	for _, end := range []string{"", "-wal", "-shm", "-commits", "-sums"} {
		if err := os.Remove(db + end); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
	}
	if b, err := os.ReadFile(earlier); err != nil || string(b) != "of another day" {
		t.Error("an earlier rescue is overwritten", err)
	}
	if all, err := filepath.Glob(earlier + "-2*"); err != nil || len(all) != 1 {
		t.Errorf("the rescued database is not one file: %v, %v", all, err)
	}
	if err := os.Rename(earlier+"-2", db); err != nil {
		t.Fatal(err)
	}
	if got := signature(t, open(t, Config{Dir: dir, CheckBudget: time.Minute})); got != had {
		t.Errorf("it is not all there: %s", got)
	}
}

// A lock file that is taken for stale and removed lets no second process in.
//
// proves: D7
func TestFaultLockFileRemoved(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	open(t, Config{Dir: dir})
	if err := os.Remove(filepath.Join(dir, "owner.lock")); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time there is a file again
		if s, err := Open(t.Context(), Config{Dir: dir}); !errors.Is(err, sessions.ErrInUse) || !strings.Contains(err.Error(), "was removed") {
			if err == nil {
				_ = s.Close()
			}
			t.Errorf("a second one: %v", err)
		}
	}
}

// logHeader is how long the header of SQLite's log is (sqlite.org/fileformat2.html, section 4.1).
const logHeader = 32

// onceUnread is a log of which nothing can be read once, right after it began again.
type onceUnread struct {
	sqlitefile.LogFile
	header [logHeader]byte
	anew   bool
	failed *bool
}

func (f *onceUnread) ReadAt(b []byte, at int64) (int, error) {
	if f.anew && !*f.failed && at > 0 {
		*f.failed = true
		return 0, errors.New("input/output error")
	}
	n, err := f.LogFile.ReadAt(b, at)
	if at == 0 && n >= logHeader {
		f.anew = f.header != [logHeader]byte{} && f.header != [logHeader]byte(b[:logHeader])
		f.header = [logHeader]byte(b[:logHeader])
	}
	return n, err
}

// The log cannot be read once, in the moment in which it has begun again. No sum of the old one is taken for one of the new.
//
// proves: D6
func TestFaultLogUnreadAsItBegins(t *testing.T) {
	t.Parallel()
	dir, failed := t.TempDir(), false
	s := open(t, Config{Dir: dir, logPages: 40, log: func(f sqlitefile.LogFile) sqlitefile.LogFile { return &onceUnread{LogFile: f, failed: &failed} }})
	for i := range 60 {
		if err := life(t.Context(), s, i%3, i, someQuestion, someAnswer); err != nil {
			t.Fatal(err)
		}
		settled(t, s)
		if failed && s.guard.Moved() { // the new log was moved
			break
		}
	}
	if err := s.Close(); err != nil || !failed {
		t.Fatal(failed, err)
	}
	if err := open(t, Config{Dir: dir, CheckBudget: time.Minute}).Close(); err != nil {
		t.Error(err)
	}
}
