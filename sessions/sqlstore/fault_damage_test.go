package sqlstore

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"parley/sessions"
)

// crashed makes a state folder as a killed host leaves it: a part of its commits is in the database, the newest are in the log only.
func crashed(t *testing.T) (dir string, look string) {
	t.Helper()
	s, left := open(t, Config{Dir: t.TempDir(), logPages: 150}), t.TempDir()
	for i, done := 0, false; !done; i++ {
		if err := life(t.Context(), s, i%3, i, someQuestion, someAnswer); err != nil {
			t.Fatal(err)
		}
		look = signature(t, s)
		err := s.write(t.Context(), "Copy", func(*tx) error { // by the writer, so that it does not move the log meanwhile
			if done = i >= 39 && s.guard.LogFrames() >= 30; done {
				return os.CopyFS(left, os.DirFS(s.conf.Dir))
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return copied(t, left), look
}

// refused opens a store and wants it to refuse, with words that say what to do, and to leave everything as it is.
func refused(t *testing.T, dir string) error {
	t.Helper()
	before := lying(t, dir)
	s, err := Open(t.Context(), Config{Dir: dir, CheckBudget: time.Minute})
	if err == nil {
		_ = s.Close()
		return nil
	}
	if !errors.Is(err, sessions.ErrDamaged) || !strings.Contains(err.Error(), "backup") ||
		!strings.Contains(err.Error(), "Nothing was changed") {
		t.Errorf("refused in other words: %v", err)
	}
	for name, b := range lying(t, dir) {
		if !bytes.Equal(b, before[name]) {
			t.Errorf("%s was changed, though it was refused: %v", name, err)
		}
	}
	return err
}

func lying(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	for _, name := range []string{DatabaseFile, DatabaseFile + "-wal", CommitsFile, SumsFile} {
		if b, err := os.ReadFile(filepath.Join(dir, name)); err == nil {
			all[name] = b
		}
	}
	return all
}

// change rewrites a file.
func change(t *testing.T, path string, f func([]byte) []byte) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, f(b), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestFaultLog damages the log of a killed host. It starts with all that was acknowledged, or not at all.
//
// proves: D6
func TestFaultLog(t *testing.T) {
	t.Parallel()
	dir, look := crashed(t)
	flip := func(r *rand.Rand, b []byte) []byte { b[r.IntN(len(b))] ^= 1 << r.IntN(8); return b }
	for name, harm := range map[string]func(*rand.Rand, []byte) []byte{
		"cut":     func(r *rand.Rand, b []byte) []byte { return b[:r.IntN(len(b))] },
		"flipped": flip,
		"garbage": func(r *rand.Rand, b []byte) []byte {
			for range 1 + r.IntN(20_000) {
				b = append(b, byte(r.Uint32()))
			}
			return b
		},
		"zeroed":     func(r *rand.Rand, b []byte) []byte { clear(b[r.IntN(len(b)):]); return b },
		"of earlier": func(r *rand.Rand, b []byte) []byte { return b[:32+4120*r.IntN(len(b)/4120)] },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			whole, stopped := 0, 0
			for seed := range times(6, 100) {
				r := rand.New(rand.NewPCG(uint64(seed), 2))
				at := copied(t, dir)
				change(t, filepath.Join(at, DatabaseFile+"-wal"), func(b []byte) []byte { return harm(r, b) })
				if refused(t, at) != nil {
					stopped++
					continue
				}
				s := open(t, Config{Dir: at})
				if got := signature(t, s); got != look {
					t.Errorf("seed %d: started, and something is missing", seed)
				}
				if err := s.Close(); err != nil {
					t.Error(err)
				}
				whole++
			}
			if name == "garbage" && stopped > 0 {
				t.Errorf("%d times refused, though nothing was lost", stopped)
			}
			t.Logf("the log %s: %d times refused, %d times started with everything", name, stopped, whole)
		})
	}
}

// harm does something to what lies in a state folder.
type harm func(t *testing.T, r *rand.Rand, dir string)

// rewritten gives a file another content.
func rewritten(name string, f func(*rand.Rand, []byte) []byte) harm {
	return func(t *testing.T, r *rand.Rand, dir string) {
		t.Helper()
		change(t, filepath.Join(dir, name), func(b []byte) []byte { return f(r, b) })
	}
}

func removed(name string) harm {
	return func(t *testing.T, _ *rand.Rand, dir string) {
		t.Helper()
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
}

// shared puts shared memory of another moment beside the log, which a killed host may leave.
func shared(size func(*rand.Rand) int) harm {
	return func(t *testing.T, r *rand.Rand, dir string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, DatabaseFile+"-shm"), random(r, size(r)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestFaultFiles takes away, cuts, tears or exchanges what lies in a state folder, at many places where it is cut or torn. It starts with
// everything or not at all.
//
// proves: D6
func TestFaultFiles(t *testing.T) {
	t.Parallel()
	dir, look := crashed(t)
	const starts, stops, either = "starts", "stops", "either"
	empty := func(*rand.Rand, []byte) []byte { return nil }
	cut := func(r *rand.Rand, b []byte) []byte { return b[:r.IntN(len(b))] }
	for _, c := range []struct {
		name  string
		harm  harm
		want  string
		count int
	}{
		{"shared memory removed", func(*testing.T, *rand.Rand, string) {}, starts, 1}, // copied leaves it out
		{"shared memory of another moment", shared(func(*rand.Rand) int { return 32 << 10 }), starts, times(3, 100)},
		{"shared memory cut", shared(func(r *rand.Rand) int { return r.IntN(32 << 10) }), starts, times(3, 100)},
		{"log removed", removed(DatabaseFile + "-wal"), stops, 1},
		{"log emptied", rewritten(DatabaseFile+"-wal", empty), stops, 1},
		{"number of commits removed", removed(CommitsFile), starts, 1},
		{"number of commits zeroed", rewritten(CommitsFile, func(_ *rand.Rand, b []byte) []byte { return make([]byte, len(b)) }), starts, 1},
		{"number of commits cut", rewritten(CommitsFile, cut), starts, times(3, 100)},
		{"number of commits torn", rewritten(CommitsFile, func(r *rand.Rand, b []byte) []byte { clear(b[r.IntN(len(b)):]); return b }), starts, times(3, 100)},
		{"database removed", removed(DatabaseFile), stops, 1},
		{"database emptied", rewritten(DatabaseFile, empty), stops, 1},
		{"database cut in its first half", rewritten(DatabaseFile, func(r *rand.Rand, b []byte) []byte { return cut(r, b[:len(b)/2]) }), stops, times(3, 100)},
		{"database cut", rewritten(DatabaseFile, cut), either, times(3, 100)}, // its last pages may be in the log, whole
		{"another program's file", rewritten(DatabaseFile, func(_ *rand.Rand, b []byte) []byte { return bytes.Repeat([]byte("%PDF-1.7\n"), len(b)/9) }), stops, 1},
		{"another program's file from somewhere on", rewritten(DatabaseFile, func(r *rand.Rand, b []byte) []byte {
			at := r.IntN(len(b))
			return append(b[:at:at], random(r, len(b)-at)...)
		}), either, times(3, 100)},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			started, stopped := 0, 0
			for seed := range c.count {
				at := copied(t, dir)
				c.harm(t, rand.New(rand.NewPCG(uint64(seed), 4)), at)
				if err := refused(t, at); err != nil {
					if stopped++; c.want == starts {
						t.Fatalf("seed %d: %v", seed, err)
					}
					continue
				}
				s := open(t, Config{Dir: at})
				if started++; c.want == stops {
					t.Fatalf("seed %d: it is not refused", seed)
				}
				if got := signature(t, s); got != look {
					t.Errorf("seed %d: started, and something is missing", seed)
				}
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			}
			t.Logf("%s: %d times refused, %d times started with everything", c.name, stopped, started)
		})
	}
}

// random are n bytes.
func random(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// TestFaultLogRemoved does what the refusal says: without the number, the host continues with what is there.
func TestFaultLogRemoved(t *testing.T) {
	t.Parallel()
	dir, _ := crashed(t)
	if err := os.Remove(filepath.Join(dir, DatabaseFile+"-wal")); err != nil {
		t.Fatal(err)
	}
	err := refused(t, dir)
	beside := filepath.Join(dir, CommitsFile)
	if err == nil || !strings.Contains(err.Error(), "commits are missing") || !strings.Contains(err.Error(), "remove "+beside) {
		t.Fatal(err)
	}
	t.Log(err)
	if err := os.Remove(beside); err != nil {
		t.Fatal(err)
	}
	s := open(t, Config{Dir: dir})
	// In a session of its own: what was removed may have ended the work of another.
	if err := life(t.Context(), s, 999, 1000, someQuestion, someAnswer); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	open(t, Config{Dir: dir})
}

// TestFaultOlderCopy: a copy from before an upgrade is put back on purpose; a copy of the same version is a loss.
//
// proves: D6
func TestFaultOlderCopy(t *testing.T) {
	t.Parallel()
	dir := filled(t, 3)
	old, err := os.ReadFile(filepath.Join(dir, DatabaseFile))
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, Config{Dir: dir})
	if err := life(t.Context(), s, 1, 1000, someQuestion, someAnswer); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	change(t, filepath.Join(dir, DatabaseFile), func([]byte) []byte { return old })
	if refused(t, dir) == nil {
		t.Fatal("an older copy was taken")
	}
	change(t, filepath.Join(dir, CommitsFile), func(b []byte) []byte { return fmt.Appendf(nil, "%s 999999\n", b[:20]) })
	in, err := Inspect(t.Context(), filepath.Join(dir, DatabaseFile))
	if err != nil || in.Missing < 5 {
		t.Errorf("it is not said what is missing: %+v, %v", in, err)
	}
	var said bytes.Buffer
	open(t, Config{Dir: dir, Logger: slog.New(slog.NewTextHandler(&said, nil))})
	if !strings.Contains(said.String(), "level=WARN") || !strings.Contains(said.String(), fmt.Sprintf("commits=%d", in.Missing)) {
		t.Error("not said at the start: ", said.String())
	}
}

// A stopped host's database that a start refuses is not copied as if it were whole.
func TestFaultCopyStopped(t *testing.T) {
	t.Parallel()
	dir, _ := crashed(t)
	to := filepath.Join(t.TempDir(), "copy.db")
	for name, harm := range map[string]func(dir string){
		"log":  func(dir string) { _ = os.Remove(filepath.Join(dir, DatabaseFile+"-wal")) },
		"flip": func(dir string) { flipAnswer(t, dir) },
		"gone": func(dir string) { _ = os.Remove(filepath.Join(dir, DatabaseFile)) },
	} {
		at := copied(t, dir)
		harm(at)
		if err := CopyStopped(t.Context(), at, to); !errors.Is(err, sessions.ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(to); err == nil {
			t.Errorf("%s: it was copied", name)
		}
	}
	if err := CopyStopped(t.Context(), dir, to); err != nil {
		t.Error(err)
	}
}

// region says what of a database page a byte belongs to.
func region(b []byte, at int) string {
	page := at / 4096
	h := b[page*4096:]
	if page == 0 {
		if at < 100 {
			return "header of the file"
		}
		h = b[100:]
	}
	switch h[0] {
	case 2, 10:
		return "index"
	case 5:
		return "inner page of a table"
	case 13:
		start := page*4096 + int(binary.BigEndian.Uint16(h[5:]))
		if cells := page*4096 + 8 + 2*int(binary.BigEndian.Uint16(h[3:])); at < cells {
			return "head of a table's page"
		} else if at < start {
			return "unused room"
		}
		return "rows of a table"
	}
	return "overflow or free page"
}

// TestFaultBitFlip flips one bit anywhere in the database of a host that was stopped.
//
// proves: D6
func TestFaultBitFlip(t *testing.T) {
	t.Parallel()
	dir := filled(t, 200)
	found, missed, count := map[string]int{}, map[string]int{}, times(20, 500)
	for seed := range count {
		r := rand.New(rand.NewPCG(uint64(seed), 3))
		at := copied(t, dir)
		where := ""
		change(t, filepath.Join(at, DatabaseFile), func(b []byte) []byte {
			i := r.IntN(len(b))
			where = region(b, i)
			b[i] ^= 1 << r.IntN(8)
			return b
		})
		if refused(t, at) != nil {
			found[where]++
		} else {
			missed[where]++
		}
	}
	if len(missed) > 0 {
		t.Error("not every damage is found")
	}
	t.Logf("one bit of the database flipped %d times: found %v, not found %v", count, found, missed)
}

// TestFaultNameOfAColumn: a bit of the text of the schema may change the name of a column only, which no check of pages sees.
//
// proves: D6
func TestFaultNameOfAColumn(t *testing.T) {
	t.Parallel()
	dir := filled(t, 1)
	change(t, filepath.Join(dir, DatabaseFile), func(b []byte) []byte {
		return bytes.Replace(b, []byte("CREATE TABLE meta (name "), []byte("CREATE TABLE meta (nbme "), 1)
	})
	if refused(t, dir) == nil {
		t.Error("a store is opened whose table has another column")
	}
}

// TestFaultBitFlipFoundLater: a database that takes longer to read than a start waits is compared beside the work, before anything in it
// is written over. The start after that one refuses.
func TestFaultBitFlipFoundLater(t *testing.T) {
	t.Parallel()
	dir := filled(t, 200)
	flipAnswer(t, dir)
	s, err := Open(t.Context(), Config{Dir: dir, CheckBudget: 1})
	if err == nil {
		if err = <-s.Damaged(); !errors.Is(err, sessions.ErrDamaged) {
			t.Fatal(err)
		}
		if e := s.Close(); e != nil {
			t.Error(e)
		}
	}
	if err == nil || !strings.Contains(err.Error(), "the checksum of page") {
		t.Fatal(err)
	}
	if refused(t, dir) == nil {
		t.Error("the next start takes it")
	}
}
