package sqlstore

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"parley/sessions/sqlstore/disktest"
	"parley/sessions/sqlstore/transcript"
)

// In a bubble no time goes by while anybody works, and a pause is a sleep.

// frames gives how many frames the log has, and whether it is long.
func frames(t *testing.T, s *Store) (n int64, long bool) {
	t.Helper()
	if err := s.write(t.Context(), "Look", func(*tx) error { n, long = s.guard.LogFrames(), s.guard.Due(); return nil }); err != nil {
		t.Fatal(err)
	}
	return n, long
}

// lengthen has messages, numbered from from, come without a pause until the log is long.
func lengthen(t *testing.T, s *Store, from int) {
	t.Helper()
	for i := 0; ; i++ {
		if err := life(t.Context(), s, i%3, from+i, someQuestion, someAnswer); err != nil {
			t.Fatal(err)
		}
		if _, long := frames(t, s); long {
			return
		}
	}
}

// A long log is moved when nothing came for a while, so that no caller waits for that; one that gets very long is moved all the same.
func TestLogIsMovedInPauses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := open(t, Config{Dir: t.TempDir(), logPages: 40, busyPages: 200})
		lengthen(t, s, 1000)
		most := int64(0)
		for i := range 200 {
			if err := life(t.Context(), s, i%3, 5000+i, someQuestion, someAnswer); err != nil {
				t.Fatal(err)
			}
			n, _ := frames(t, s)
			most = max(most, n)
		}
		if most < 200 || most > 400 {
			t.Errorf("without a pause the log had %d pages, it is to be moved at 200", most)
		}
		lengthen(t, s, 8000)
		time.Sleep(2 * transcript.DefaultPause)
		if _, long := frames(t, s); long {
			t.Error("the log stays as it is while nobody writes")
		}
	})
}

// Where work never pauses, what a deleted session left behind is swept in the middle of it.
func TestSweepWithoutPause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var swept atomic.Bool
		s := open(t, Config{Dir: t.TempDir(), Trace: func(op, phase string) {
			if op == transcript.CollectName && phase == AfterCommit {
				swept.Store(true)
			}
		}})
		if err := life(t.Context(), s, 1, 1, someQuestion, someAnswer); err != nil {
			t.Fatal(err)
		}
		key, _ := chat(1)
		if err := s.Delete(t.Context(), key); err != nil {
			t.Fatal(err)
		}
		for range transcript.CollectAfterBatches - 1 {
			frames(t, s)
		}
		if swept.Load() {
			t.Error("it is swept at once, though others wait")
		}
		for range 3 {
			frames(t, s)
		}
		if !swept.Load() {
			t.Error("it is not swept while others write")
		}
	})
}

// A commit that failed at its end may be in the log or not. What is there is not moved in a pause, until a commit has worked.
//
// proves: D5
func TestFaultNothingMovesUnsettled(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]func(disktest.Op) disktest.Fault{
		"a sync fails": func(op disktest.Op) disktest.Fault {
			if op.Kind == disktest.Sync {
				return disktest.IO
			}
			return disktest.None
		},
		"the disk is full": func(op disktest.Op) disktest.Fault {
			if op.Kind == disktest.Write {
				return disktest.Full
			}
			return disktest.None
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { unsettled(t, fault) })
		})
	}
}

func unsettled(t *testing.T, fault func(disktest.Op) disktest.Fault) {
	dir := t.TempDir()
	d := disktest.New(t, dir)
	d.Remember()
	conf := eager(dir, d)
	conf.logPages, conf.busyPages = 40, 1<<40
	s := open(t, conf)
	lengthen(t, s, 1000)
	var failed, moved atomic.Bool
	d.Fail(func(op disktest.Op) disktest.Fault {
		if failed.Load() {
			moved.Store(moved.Load() || op.Kind == disktest.Write && (op.Name == DatabaseFile || op.Name == SumsFile))
			return disktest.None
		}
		f := fault(op)
		failed.Store(f != disktest.None)
		return f
	})
	if err := life(t.Context(), s, 1, 9000, someQuestion, someAnswer); err == nil || !failed.Load() {
		t.Fatal("it did not fail")
	}
	time.Sleep(time.Minute)
	if moved.Load() {
		t.Fatal("the log was moved behind a commit that failed")
	}
	if err := life(t.Context(), s, 1, 9001, someQuestion, someAnswer); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Minute)
	if !moved.Load() {
		t.Fatal("the log was not moved behind a commit that worked")
	}
	look := signature(t, s)
	cut := d.Cut(rand.New(rand.NewPCG(1, 1)))
	_ = s.Close() // there is no disk any more
	to := t.TempDir()
	cut.Restore(t, d, to)
	if got := signature(t, open(t, Config{Dir: to, CheckBudget: time.Minute})); got != look {
		t.Error("something is missing")
	}
}

// What somebody puts in the place of the database is not touched in a pause, and the host is told.
//
// proves: D6
func TestFaultReplacedInAPause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		s := open(t, Config{Dir: dir, logPages: 40, busyPages: 1 << 40})
		lengthen(t, s, 1000)
		sums, log := filepath.Join(dir, SumsFile), filepath.Join(dir, DatabaseFile+"-wal")
		before, err := os.ReadFile(sums)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(log, log+".away"); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(log, []byte("another one"), 0o600); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		select {
		case err := <-s.Damaged():
			t.Log(err)
		default:
			t.Error("nobody was told")
		}
		if now, err := os.ReadFile(sums); err != nil || !bytes.Equal(now, before) {
			t.Error("the sums were changed: ", err)
		}
	})
}
