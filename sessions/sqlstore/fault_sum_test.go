package sqlstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"parley/sessions"
	"parley/sessions/sqlstore/engine"
	"parley/sessions/sqlstore/schema"
	"parley/sessions/sqlstore/sqlitefile"
)

// How long the first line of SumsFile is, and the sum of a page.
const (
	sumsHeader = 512
	sumSize    = 8
)

// settled waits until the writer has moved the log, if it was long enough.
func settled(t *testing.T, s *Store) {
	t.Helper()
	// The writer takes this up when it is done with what came before.
	if err := s.write(t.Context(), "Look", func(*tx) error { return nil }); err != nil {
		t.Fatal(err)
	}
}

// inLog gives the log of a killed host.
func inLog(t *testing.T, dir string) *sqlitefile.WAL {
	t.Helper()
	l := &sqlitefile.WAL{}
	if _, err := l.Follow(filepath.Join(dir, DatabaseFile) + "-wal"); err != nil || l.Pages() == 0 {
		t.Fatal("no log: ", err)
	}
	l.Close()
	return l
}

// TestFaultBitFlipAfterKill flips one bit anywhere in the database of a host that was killed. Where the log has the page, its content takes the page's place, and
// nothing is missing; all else is found.
//
// proves: D6
func TestFaultBitFlipAfterKill(t *testing.T) {
	t.Parallel()
	dir, look := crashed(t)
	log, r := inLog(t, dir), rand.New(rand.NewPCG(4, 4))
	found, replaced, count := 0, 0, times(20, 500)
	for found < count {
		at, page := copied(t, dir), uint32(0)
		change(t, filepath.Join(at, DatabaseFile), func(b []byte) []byte {
			i := r.IntN(len(b))
			page = uint32(i/log.PageSize()) + 1
			b[i] ^= 1 << r.IntN(8)
			return b
		})
		err := refused(t, at)
		switch {
		case !log.Holds(page) && err == nil:
			t.Fatalf("page %d: not found", page)
		case !log.Holds(page):
			found++
		default:
			if err == nil {
				s := open(t, Config{Dir: at, CheckBudget: time.Minute})
				if signature(t, s) != look {
					t.Fatalf("page %d is in the log, and something is missing", page)
				}
				_ = s.Close()
			}
			replaced++
		}
	}
	t.Logf("one bit of a killed host's database flipped %d times, all found; and %d times in a page that the log replaces", found, replaced)
}

// A killed host's database lacks pages, or has them in another order.
func TestFaultPagesAfterKill(t *testing.T) {
	t.Parallel()
	dir, _ := crashed(t)
	page := inLog(t, dir).PageSize()
	for name, harm := range map[string]func([]byte) []byte{
		"cut":    func(b []byte) []byte { return b[:len(b)/2/page*page] },
		"zeroed": func(b []byte) []byte { clear(b[len(b)/2:]); return b },
		"exchanged": func(b []byte) []byte {
			n := len(b) / page / 2 * page
			return append(b[:n:n], append(b[n+page:], b[n:n+page]...)...)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := copied(t, dir)
			change(t, filepath.Join(at, DatabaseFile), harm)
			if refused(t, at) == nil {
				t.Error("not found")
			}
		})
	}
}

// Sums that are gone or damaged damage nothing: a host starts, and has them again.
func TestFaultSumsDamaged(t *testing.T) {
	t.Parallel()
	dir, look := crashed(t)
	count := times(5, 60)
	for seed := range count + 2 {
		r := rand.New(rand.NewPCG(uint64(seed), 5))
		at := copied(t, dir)
		file := filepath.Join(at, SumsFile)
		change(t, file, func(b []byte) []byte {
			switch seed {
			case count:
				return b[:len(b)/2]
			case count + 1:
				return nil
			}
			b[r.IntN(len(b))] ^= 1 << r.IntN(8)
			return b
		})
		for range 2 {
			s := open(t, Config{Dir: at, CheckBudget: time.Minute})
			if signature(t, s) != look {
				t.Error("something is missing")
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
		flipAnswer(t, at)
		if refused(t, at) == nil {
			t.Errorf("seed %d: it has no sums again", seed)
		}
	}
}

// Sums that are gone are told of once, and so are those of another database; those of this one are not.
func TestSumsThatAreGone(t *testing.T) {
	t.Parallel()
	dir := filled(t, 3)
	for i, x := range []struct {
		spoil func(string) error
		want  string
	}{
		{func(string) error { return nil }, ""},
		{os.Remove, "checksums missing"},
		{func(string) error { return nil }, ""},
		{func(name string) error { return os.Truncate(name, 0) }, "checksums missing"},
		{func(name string) error { return os.WriteFile(name, make([]byte, 2*sumsHeader), 0o600) }, "checksums do not match"},
		{func(string) error { return nil }, ""},
		{func(name string) error { return os.Remove(filepath.Join(filepath.Dir(name), CommitsFile)) }, "commit counter missing"},
		{func(string) error { return nil }, ""},
	} {
		if err := x.spoil(filepath.Join(dir, SumsFile)); err != nil {
			t.Fatal(err)
		}
		var said strings.Builder
		s := open(t, Config{Dir: dir, Logger: slog.New(slog.NewTextHandler(&said, nil))})
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if got := said.String(); strings.Contains(got, "checksums") != (x.want != "") || !strings.Contains(got, x.want) {
			t.Errorf("start %d: %s", i, got)
		}
	}
}

// flipAnswer changes a letter in a text of the database, in a page that the log does not replace.
func flipAnswer(t *testing.T, dir string) {
	t.Helper()
	l := &sqlitefile.WAL{}
	if _, err := l.Follow(filepath.Join(dir, DatabaseFile) + "-wal"); err != nil {
		t.Fatal(err)
	}
	l.Close()
	change(t, filepath.Join(dir, DatabaseFile), func(b []byte) []byte {
		for at := len(b); ; {
			if at = bytes.LastIndex(b[:at], []byte("Uelzen")); at < 0 {
				t.Fatal("the answer is not there")
			}
			if !l.Holds(uint32(at/4096) + 1) {
				b[at] ^= 1
				return b
			}
		}
	})
}

// other opens a database as another program does, which knows of nothing beside it.
func other(t *testing.T, dir string, pragmas string) *engine.Conn {
	t.Helper()
	c, err := engine.SQLite.Connect(t.Context(), "file:"+filepath.Join(dir, DatabaseFile)+"?_pragma=busy_timeout(5000)"+pragmas)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// each runs statements.
func statements(t *testing.T, c *engine.Conn, all ...string) {
	t.Helper()
	for _, q := range all {
		if _, err := c.Exec(t.Context(), q); err != nil {
			t.Fatal(q, err)
		}
	}
}

// Something else wrote to the database of a killed host, or looked into it, which moves the log: that is no damage. From then on its pages have sums again.
func TestFaultSomethingElseWrote(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		then func(t *testing.T, dir string)
	}{
		{"somebody looks into it", func(t *testing.T, dir string) {
			c := other(t, dir, "")
			if _, err := c.Number(t.Context(), "SELECT count(*) FROM messages"); err != nil {
				t.Fatal(err)
			}
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
		}},
		{"parley looks into it", func(t *testing.T, dir string) {
			before := lying(t, dir)
			path := filepath.Join(dir, DatabaseFile)
			if _, err := Inspect(t.Context(), path); err != nil {
				t.Fatal(err)
			}
			if err := CheckFile(t.Context(), path); err != nil {
				t.Fatal(err)
			}
			if err := Copy(t.Context(), path, filepath.Join(t.TempDir(), "copy.db")); err != nil {
				t.Fatal(err)
			}
			for name, b := range lying(t, dir) {
				if !bytes.Equal(b, before[name]) {
					t.Errorf("%s was changed", name)
				}
			}
		}},
		{"an older parley, killed", func(t *testing.T, dir string) {
			c := other(t, dir, "&_pragma=wal_autocheckpoint(10)")
			for range 30 {
				statements(t, c, "UPDATE meta SET value = value + 1 WHERE name = 'commits'", "UPDATE messages SET body = body || ' '")
			}
			n, err := c.Number(t.Context(), "SELECT value FROM meta WHERE name = 'commits'")
			if err != nil {
				t.Fatal(err)
			}
			change(t, filepath.Join(dir, CommitsFile), func(b []byte) []byte {
				return append(fmt.Appendf(nil, "%020d", n), b[20:]...)
			})
			killed := copied(t, dir)
			if err := errors.Join(c.Close(), os.CopyFS(filepath.Join(dir, "killed"), os.DirFS(killed))); err != nil {
				t.Fatal(err)
			}
			for name := range lying(t, killed) {
				b, err := os.ReadFile(filepath.Join(killed, name))
				if err == nil {
					err = os.WriteFile(filepath.Join(dir, name), b, 0o600)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			killed, _ := crashed(t)
			dir := copied(t, killed)
			c.then(t, dir)
			s := open(t, Config{Dir: dir, CheckBudget: time.Minute})
			if err := life(t.Context(), s, 1, 1000, someQuestion, someAnswer); err != nil {
				t.Fatal(err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			flipAnswer(t, dir)
			if refused(t, dir) == nil {
				t.Error("its pages have no sums")
			}
		})
	}
}

// Something else moves the log of a host at work, which then begins it again: what it had is in the file, without sums.
func TestFaultLogMovedByAnother(t *testing.T) {
	t.Parallel()
	s := open(t, Config{Dir: filled(t, 30), CheckBudget: time.Minute})
	for i := range 30 {
		if err := life(t.Context(), s, i%3, 100+i, someQuestion, someAnswer); err != nil {
			t.Fatal(err)
		}
		if i%10 == 9 {
			settled(t, s)
			c := other(t, s.conf.Dir, "")
			statements(t, c, "PRAGMA wal_checkpoint(TRUNCATE)")
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if i%10 == 2 || i%10 == 9 {
			settled(t, s)
			again := open(t, Config{Dir: copied(t, s.conf.Dir), CheckBudget: time.Minute})
			if signature(t, again) != signature(t, s) {
				t.Error("something is missing")
			}
			if err := again.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// countedSums counts the sums that are written.
type countedSums struct {
	*os.File
	n *atomic.Int64
}

func (c countedSums) WriteAt(p []byte, at int64) (int, error) {
	if at >= sumsHeader {
		c.n.Add(int64(len(p) / sumSize))
	}
	return c.File.WriteAt(p, at)
}

// A reader that holds the log up is no reason to forget sums, and none to do without, or to write each of them again and again.
func TestFaultReaderHoldsLog(t *testing.T) {
	t.Parallel()
	var written atomic.Int64
	s := open(t, Config{Dir: t.TempDir(), logPages: 40, plain: func(f *os.File) sqlitefile.File { return countedSums{f, &written} }})
	var c *engine.Conn
	before := int64(0)
	for i := range 60 {
		if err := life(t.Context(), s, i%3, i, someQuestion, someAnswer); err != nil {
			t.Fatal(err)
		}
		settled(t, s)
		switch i {
		case 20:
			before = written.Load()
			c = other(t, s.conf.Dir, "")
			statements(t, c, "BEGIN")
			if _, err := c.Number(t.Context(), "SELECT count(*) FROM messages"); err != nil {
				t.Fatal(err)
			}
		case 40:
			if s.guard.LogFrames() < 200 {
				t.Fatalf("the log has %d frames: it was moved", s.guard.LogFrames())
			}
			if n := written.Load() - before; n > s.guard.LogFrames() {
				t.Errorf("%d sums were written for %d frames", n, s.guard.LogFrames())
			}
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if i%10 == 0 {
			dir := copied(t, s.conf.Dir)
			if err := open(t, Config{Dir: dir, CheckBudget: time.Minute}).Close(); err != nil {
				t.Fatal(err)
			}
			flipAnswer(t, dir)
			if refused(t, dir) == nil {
				t.Errorf("after %d: its pages have no sums", i)
			}
		}
	}
	if s.guard.LogFrames() > 200 {
		t.Errorf("the log has %d frames: it is not moved", s.guard.LogFrames())
	}
}

// A database is compared before its schema is changed, however long that takes.
func TestFaultBitFlipBeforeUpgrade(t *testing.T) {
	t.Parallel()
	s := open(t, Config{Dir: t.TempDir()})
	for i := range 10 {
		if err := life(t.Context(), s, i%3, i, someQuestion, someAnswer); err != nil {
			t.Fatal(err)
		}
	}
	settled(t, s)
	_, newest, err := schema.Latest(engine.SQLite)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.db.Writer().Exec(t.Context(), "DELETE FROM goose_db_version WHERE version_id = ?", newest); err != nil {
		t.Fatal(err)
	}
	if err := life(t.Context(), s, 1, 100, someQuestion, someAnswer); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	dir := s.conf.Dir
	change(t, filepath.Join(dir, CommitsFile), func(b []byte) []byte { // as the program of that schema has counted
		return bytes.ReplaceAll(b, fmt.Appendf(nil, " %06d\n", newest), fmt.Appendf(nil, " %06d\n", newest-1))
	})
	flipAnswer(t, dir)
	before := lying(t, dir)
	_, err = Open(context.Background(), Config{Dir: dir, CheckBudget: 1})
	if !errors.Is(err, sessions.ErrDamaged) || !strings.Contains(err.Error(), "the checksum of page") {
		t.Fatal(err)
	}
	for name, b := range lying(t, dir) {
		if !bytes.Equal(b, before[name]) {
			t.Errorf("%s was changed", name)
		}
	}
	if all, _ := filepath.Glob(filepath.Join(dir, "*.v*")); len(all) > 0 {
		t.Error("it was copied as the one from before: ", all)
	}
}
