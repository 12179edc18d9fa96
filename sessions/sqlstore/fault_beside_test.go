package sqlstore

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"parley/sessions"
	"parley/sessions/sqlstore/engine"
	"parley/sessions/sqlstore/sqlitefile"
)

// An operation that wrote and failed is the last one before a soft stop: the sums stay.
//
// proves: D6
func TestFaultLastIsRolledBack(t *testing.T) {
	t.Parallel()
	s := open(t, Config{Dir: filled(t, 10), CheckBudget: time.Minute})
	if err := life(t.Context(), s, 1, 1000, someQuestion, someAnswer); err != nil {
		t.Fatal(err)
	}
	if err := s.write(t.Context(), "Index", s.index.Flush); err != nil { // otherwise a stop ends with a commit
		t.Fatal(err)
	}
	settled(t, s)
	if err := s.write(t.Context(), "Fails", func(t *tx) error {
		if _, err := t.Exec("UPDATE meta SET value = value"); err != nil {
			return err
		}
		return engine.Conflict("it does not fit")
	}); !errors.Is(err, sessions.ErrConflict) {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	flipAnswer(t, s.conf.Dir)
	if refused(t, s.conf.Dir) == nil {
		t.Error("a flipped bit is not found")
	}
}

// A start is killed right behind what it writes before the writer begins, and somebody looks into the database, which moves the log: that is no damage.
//
// proves: D6
func TestFaultKilledAtTheStart(t *testing.T) {
	t.Parallel()
	s := open(t, Config{Dir: filled(t, 10), CheckBudget: time.Minute})
	settled(t, s)
	for _, q := range []string{"BEGIN", "INSERT INTO meta (name, value) VALUES ('upgrading', 1)", engine.CountOne, "COMMIT"} {
		if _, err := s.db.Writer().Exec(t.Context(), q); err != nil {
			t.Fatal(err)
		}
	}
	killed := copied(t, s.conf.Dir)
	c := other(t, killed, "")
	if _, err := c.Number(t.Context(), "SELECT count(*) FROM messages"); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if err := open(t, Config{Dir: killed, CheckBudget: time.Minute}).Close(); err != nil {
		t.Error(err)
	}
}

// badSums is a disk on which the sums cannot be written beyond a place.
type badSums struct {
	*os.File
	good *atomic.Int64
}

func (b badSums) WriteAt(p []byte, at int64) (int, error) {
	if at+int64(len(p)) > b.good.Load() {
		return 0, errors.New("no space left on device")
	}
	return b.File.WriteAt(p, at)
}

// A page has no sum and there is no room for one: the others are compared all the same.
//
// proves: D6
func TestFaultNoRoomForASum(t *testing.T) {
	t.Parallel()
	dir := filled(t, 400) // more pages than are read at a time
	change(t, filepath.Join(dir, SumsFile), func(b []byte) []byte {
		clear(b[sumsHeader : sumsHeader+sumSize])
		return b
	})
	flipAnswer(t, dir)
	var good atomic.Int64
	good.Store(sumsHeader)
	s, err := Open(t.Context(), Config{Dir: dir, CheckBudget: time.Minute, plain: func(f *os.File) sqlitefile.File { return badSums{f, &good} }})
	if err == nil {
		_ = s.Close()
	}
	if !errors.Is(err, sessions.ErrDamaged) {
		t.Error("a flipped bit is not found:", err)
	}
}

// The sums cannot be written for long: they are given up, so that the log does not fill the disk. The next start has none, and makes them again.
//
// proves: D5, D6
func TestFaultSumsGivenUp(t *testing.T) {
	t.Parallel()
	var good atomic.Int64
	good.Store(1 << 40)
	const pages = 20
	s := open(t, Config{Dir: filled(t, 20), logPages: pages, CheckBudget: time.Minute, plain: func(f *os.File) sqlitefile.File { return badSums{f, &good} }})
	settled(t, s)
	good.Store(0)
	for i := range 150 {
		if err := life(t.Context(), s, i%3, 1000+i, someQuestion, someAnswer); err != nil {
			t.Fatal(err)
		}
	}
	settled(t, s)
	if n, most := s.guard.LogFrames(), int64(2*16*pages); n > most {
		t.Errorf("the log has %d pages, at most %d are wanted", n, most)
	}
	dir := copied(t, s.conf.Dir)
	good.Store(1 << 40)
	for range 2 { // the second one has sums
		if err := open(t, Config{Dir: dir, CheckBudget: time.Minute}).Close(); err != nil {
			t.Fatal(err)
		}
	}
	flipAnswer(t, dir)
	if refused(t, dir) == nil {
		t.Error("its pages have no sums")
	}
}

// Looking at what a killed host left changes nothing, also where its database is an empty file: SQLite would remove the log beside it.
//
// proves: D6
func TestFaultEmptyIsLeftAlone(t *testing.T) {
	t.Parallel()
	killed, _ := crashed(t)
	dir := copied(t, killed)
	path := filepath.Join(dir, DatabaseFile)
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	before := lying(t, dir)
	_ = CheckFile(t.Context(), path)
	if _, err := Inspect(t.Context(), path); err == nil {
		t.Error("an empty file is taken for a database")
	}
	after := lying(t, dir)
	for name, b := range before {
		if !bytes.Equal(b, after[name]) {
			t.Errorf("%s was changed", name)
		}
	}
}
