package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"parley/sessions"
	"parley/sessions/sqlstore/disktest"
	"parley/sessions/sqlstore/engine"
)

// done are the steps that a chat's writer was told are done.
type done struct {
	chat  int
	steps int // of scenario(chat), 0 = none
}

// holds says whether what was acknowledged is there.
func (d done) holds(ctx context.Context, s *Store) error {
	if d.steps == 0 {
		return nil
	}
	msg := fmt.Sprint("message-", d.chat)
	run, err := s.GetRun(ctx, sessions.RunID(fmt.Sprint("run-", d.chat)))
	if err != nil {
		return fmt.Errorf("accepted: %w", err)
	}
	want := map[string]string{}
	for i, st := range scenario(d.chat)[:d.steps] {
		switch st.name {
		case "claim":
			if run.Status == sessions.Queued {
				return errors.New("claimed, and it is queued")
			}
			want["in-"+msg] = st.name
		case "record":
			want["step-"+msg] = st.name
		case "finish":
			if run.Status != sessions.Done {
				return fmt.Errorf("finished, and it is %s", run.Status)
			}
			want["out-"+msg] = st.name
			if next, err := s.GetRun(ctx, "next-"+run.ID); err != nil {
				return err
			} else if next.Status == sessions.Queued {
				return errors.New("the next of its chain is not claimed")
			}
		case "begin send", "receipt":
			v, err := s.GetDelivery(ctx, sessions.DeliveryID(fmt.Sprint("delivery-", d.chat)))
			if err != nil {
				return err
			}
			if v.State == sessions.Pending || st.name == "receipt" && v.State != sessions.Sent {
				return fmt.Errorf("%s, and it is %s", st.name, v.State)
			}
		case "pairing":
			all, err := s.Pairings(ctx, time.Now())
			found := false
			for _, p := range all {
				found = found || p.Hash == msg
			}
			if err != nil || !found {
				return fmt.Errorf("no pairing (step %d): %w", i, err)
			}
		}
	}
	steps, err := s.Steps(ctx, run.ID)
	for _, m := range steps {
		delete(want, m.ID)
	}
	if err == nil {
		err = s.read(ctx, func(c *engine.Conn) error {
			for id := range want {
				n, err := c.Number(ctx, "SELECT count(*) FROM messages WHERE id = ?", id)
				if err != nil {
					return err
				}
				if n == 1 {
					delete(want, id)
				}
			}
			return nil
		})
	}
	if err == nil && len(want) > 0 {
		err = fmt.Errorf("messages are missing: %v", want)
	}
	return err
}

// TestFaultPowerLoss takes the power away at random moments while chats are working. Of what was not synced, a random part is gone,
// torn and out of order. All that was acknowledged is there after it, and the file is whole.
//
// proves: D5
func TestFaultPowerLoss(t *testing.T) {
	t.Parallel()
	count := times(12, 200)
	var acked, pending, lost, fresh atomic.Int64
	t.Run("cuts", func(t *testing.T) {
		for seed := range count {
			t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
				t.Parallel()
				n, cut := powerLoss(t, uint64(seed), nil)
				acked.Add(int64(n))
				pending.Add(int64(cut.Pending))
				lost.Add(int64(cut.Lost))
				if n == 0 {
					fresh.Add(1)
				}
			})
		}
	})
	t.Logf("%d power cuts (%d before anything was acknowledged): %d acknowledged operations, none lost; %d of %d writes that were not synced were lost or torn", count, fresh.Load(), acked.Load(), lost.Load(), pending.Load())
}

// TestFaultSyncFails has syncs fail now and then, in the way of Linux: what was written and not synced is never put on the disk by a
// later sync that works. Then the power goes. What was acknowledged meanwhile is there.
//
// proves: D5
func TestFaultSyncFails(t *testing.T) {
	t.Parallel()
	count := times(8, 200)
	var acked, failed atomic.Int64
	t.Run("cuts", func(t *testing.T) {
		for seed := range count {
			t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
				t.Parallel()
				n, _ := powerLoss(t, uint64(seed), func(r *rand.Rand) func(disktest.Op) disktest.Fault {
					return func(op disktest.Op) disktest.Fault {
						if op.Kind == disktest.Sync && op.N > 400 && r.IntN(4) == 0 { // the store is open
							failed.Add(1)
							return disktest.IO
						}
						return disktest.None
					}
				})
				acked.Add(int64(n))
			})
		}
	})
	t.Logf("%d power cuts after %d failed syncs: %d acknowledged operations, none lost", count, failed.Load(), acked.Load())
}

// powerLoss lets one store run until the power goes, and looks at what is left.
func powerLoss(t *testing.T, seed uint64, fault func(*rand.Rand) func(disktest.Op) disktest.Fault) (acked int, cut *disktest.Cut) {
	r := rand.New(rand.NewPCG(seed, 1))
	dir := t.TempDir()
	d := disktest.New(t, dir)
	d.Remember()
	if fault != nil {
		d.Fail(fault(r))
	}
	when := d.CutAt(1+r.IntN(1500), r)
	const chats = 6
	all := make([]done, chats)
	var wg sync.WaitGroup
	conf := eager(dir, d)
	conf.logPages = int64(20 + r.IntN(200))
	conf.busyPages, conf.pause = conf.logPages*int64(1+seed%4), time.Duration(1+r.IntN(200))*time.Microsecond
	s, err := Open(t.Context(), conf)
	if err == nil {
		for i := range all {
			all[i].chat = 100 * (i + 1) // none deletes another's
			wg.Go(func() {
				for _, st := range scenario(all[i].chat) {
					for try := 0; st.do(t.Context(), s) != nil; try++ {
						if fault == nil || try == 20 {
							return
						}
					}
					all[i].steps++
				}
			})
		}
		wg.Wait()
		if cut = when(); cut == nil {
			cut = d.Cut(r)
		}
		_ = s.Close() // there is no disk any more
	} else if cut = when(); cut == nil {
		t.Fatal(err)
	}
	to := t.TempDir()
	cut.Restore(t, d, to)
	again, err := Open(t.Context(), Config{Dir: to, CheckBudget: time.Minute})
	if err != nil {
		t.Fatalf("after the power cut: %v", err)
	}
	defer again.Close()
	for _, x := range all {
		acked += x.steps
		if err := x.holds(t.Context(), again); err != nil {
			t.Errorf("chat %d was told that %d steps are done: %v", x.chat, x.steps, err)
		}
	}
	if err := scenario(5000)[0].do(t.Context(), again); err != nil {
		t.Error("it does not go on: ", err)
	}
	if err := CheckFile(t.Context(), filepath.Join(to, DatabaseFile)); err != nil {
		t.Error(err)
	}
	return acked, cut
}

// A reader lets only a part of the log be moved, which is not synced; the sync of the rest fails; the next one works. Linux takes the first part for clean then,
// though it never came to the disk.
//
// proves: D5
func TestFaultSyncFailsAfterPart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d := disktest.New(t, dir)
	d.Remember()
	conf := eager(dir, d)
	conf.logPages = 60
	s := open(t, conf)
	fill := func(from, n int) {
		for i := range n {
			if err := life(t.Context(), s, from+i, from+i, someQuestion, someAnswer); err != nil {
				t.Fatal(err)
			}
		}
		settled(t, s)
	}
	fill(0, 10)
	for i := 50; s.guard.Moved(); i++ { // so that the reader needs the log
		fill(i, 1)
	}
	c := other(t, dir, "")
	statements(t, c, "BEGIN")
	if _, err := c.Number(t.Context(), "SELECT count(*) FROM messages"); err != nil {
		t.Fatal(err)
	}
	part := d.Count()
	fill(100, 20)
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	failed := atomic.Int64{}
	d.Fail(func(op disktest.Op) disktest.Fault {
		if op.Kind == disktest.Sync && op.Name == DatabaseFile {
			failed.Add(1)
			return disktest.IO
		}
		return disktest.None
	})
	fill(200, 5)
	if failed.Load() == 0 || d.Count() == part {
		t.Fatal("no sync failed")
	}
	d.Fail(nil)
	fill(300, 10) // the log begins again
	look := signature(t, s)
	cut := d.Cut(rand.New(rand.NewPCG(1, 1)))
	_ = s.Close() // there is no disk any more
	to := t.TempDir()
	cut.Restore(t, d, to)
	if got := signature(t, open(t, Config{Dir: to, CheckBudget: time.Minute})); got != look {
		t.Error("something is missing")
	}
}

// The first commit of a new store is not synced, the second one is: what was written before both is on the disk.
//
// proves: D5
func TestFaultFirstSyncFails(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d := disktest.New(t, dir)
	d.Remember()
	s := open(t, eager(dir, d))
	var failed atomic.Bool
	d.Fail(func(op disktest.Op) disktest.Fault {
		if op.Kind == disktest.Sync && failed.CompareAndSwap(false, true) {
			return disktest.IO
		}
		return disktest.None
	})
	if err := s.Probe(t.Context()); err == nil {
		t.Fatal("it did not fail")
	}
	if err := s.Probe(t.Context()); err != nil {
		t.Fatal(err)
	}
	cut := d.Cut(rand.New(rand.NewPCG(1, 1)))
	_ = s.Close() // there is no disk any more
	to := t.TempDir()
	cut.Restore(t, d, to)
	open(t, Config{Dir: to, CheckBudget: time.Minute})
}

// While the sums cannot be written the log stays.
//
// proves: D6
func TestFaultSumsNotWritten(t *testing.T) {
	t.Parallel()
	dir := filled(t, 20)
	d := disktest.New(t, dir)
	s := open(t, eager(dir, d))
	d.Fail(func(op disktest.Op) disktest.Fault {
		if op.Name == SumsFile {
			return disktest.Full
		}
		return disktest.None
	})
	for i := range 5 {
		if err := life(t.Context(), s, i%3, 1000+i, someQuestion, someAnswer); err != nil {
			t.Fatal(err)
		}
		settled(t, s)
		if err := open(t, Config{Dir: copied(t, dir), CheckBudget: time.Minute}).Close(); err != nil {
			t.Error(err)
		}
	}
	d.Fail(nil)
	if err := s.Probe(t.Context()); err != nil {
		t.Error(err)
	}
	settled(t, s)
	if !s.guard.Moved() {
		t.Error("the log is not moved")
	}
}
