package sqlstore

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"parley/sessions/sqlstore/disktest"
)

// eventually looks every fifth of a second, so that there are pauses in between.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for began := time.Now(); !is(); <-time.After(200 * time.Millisecond) {
		if time.Since(began) > time.Minute {
			t.Fatal("not so after a minute: ", what)
		}
	}
}

// A long log is moved when nothing came for a while, so that nobody waits for that; one that gets very long is moved all the same.
func TestLogIsMovedInPauses(t *testing.T) {
	t.Parallel()
	long := func(s *Store) (yes bool) {
		t.Helper()
		if err := s.write(t.Context(), "Look", func(*tx) error { yes = s.longLog(); return nil }); err != nil {
			t.Fatal(err)
		}
		return yes
	}
	s := open(t, Config{Dir: t.TempDir(), logPages: 40, busyPages: 1 << 40, pause: time.Millisecond})
	for i := 0; !long(s); i++ {
		if err := life(t.Context(), s, i%3, 1000+i, someQuestion, someAnswer); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "the log is moved while nobody writes", func() bool { return !long(s) })
	s = open(t, Config{Dir: t.TempDir(), logPages: 40, busyPages: 200})
	most := int64(0)
	for i := range 200 {
		if err := life(t.Context(), s, i%3, 1000+i, someQuestion, someAnswer); err != nil {
			t.Fatal(err)
		}
		if err := s.write(t.Context(), "Look", func(*tx) error { most = max(most, s.sums.log.frames); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	if most > 400 {
		t.Errorf("the log had %d pages", most)
	}
}

// Where work never pauses, what a deleted session left behind is swept in the middle of it.
func TestSweepWithoutPause(t *testing.T) {
	t.Parallel()
	var swept, stop atomic.Bool
	s := open(t, Config{Dir: t.TempDir(), pause: time.Hour, Trace: func(op, phase string) {
		if op == sweepName && phase == AfterCommit {
			swept.Store(true)
		}
	}})
	var wg sync.WaitGroup
	defer wg.Wait()
	defer stop.Store(true)
	if err := life(t.Context(), s, 1, 1, someQuestion, someAnswer); err != nil {
		t.Fatal(err)
	}
	key, _ := chat(1)
	if err := s.Delete(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	wg.Go(func() {
		for i := 2; !stop.Load(); i++ {
			if err := life(t.Context(), s, 2, i, someQuestion, someAnswer); err != nil {
				t.Error(err)
				return
			}
		}
	})
	eventually(t, "it is swept", swept.Load)
}

// A commit that failed at its end may be on the disk or not. What is in the log then is not moved until the next one has worked.
//
// proves: D5
func TestFaultNothingMovesUnsettled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d := disktest.New(t, dir)
	d.Remember()
	conf := eager(dir, d)
	conf.logPages, conf.busyPages, conf.pause = 40, 1<<40, 50*time.Millisecond
	s := open(t, conf)
	long := false
	for i := 0; !long; i++ { // faster than a pause
		if err := life(t.Context(), s, i%3, 1000+i, someQuestion, someAnswer); err != nil {
			t.Fatal(err)
		}
		if err := s.write(t.Context(), "Look", func(*tx) error { long = s.longLog(); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	var failed atomic.Bool
	moved := make(chan disktest.Op, 100)
	d.Fail(func(op disktest.Op) disktest.Fault {
		switch {
		case op.Kind == disktest.Sync && failed.CompareAndSwap(false, true):
			return disktest.IO
		case failed.Load() && op.Kind == disktest.Write && (op.Name == DatabaseFile || op.Name == SumsFile):
			moved <- op
		}
		return disktest.None
	})
	if err := life(t.Context(), s, 1, 5000, someQuestion, someAnswer); err == nil {
		t.Fatal("it did not fail")
	}
	select {
	case op := <-moved:
		t.Fatal("moved behind a commit that failed: ", op)
	case <-time.After(10 * conf.pause):
	}
	if err := life(t.Context(), s, 1, 5001, someQuestion, someAnswer); err != nil {
		t.Fatal(err)
	}
	look := signature(t, s)
	eventually(t, "it is moved then", func() bool {
		if err := s.write(t.Context(), "Look", func(*tx) error { long = s.longLog(); return nil }); err != nil {
			t.Fatal(err)
		}
		return !long
	})
	cut := d.Cut(rand.New(rand.NewPCG(1, 1)))
	_ = s.Close() // there is no disk any more
	to := t.TempDir()
	cut.Restore(t, d, to)
	if got := signature(t, open(t, Config{Dir: to, CheckBudget: time.Minute})); got != look {
		t.Error("something is missing")
	}
}
