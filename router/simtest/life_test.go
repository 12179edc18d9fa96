package simtest

import (
	"context"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"parley/channels"
	"parley/policy"
	"parley/router/routertest"
	"parley/sessions"
)

// serve keeps a process at work until the world ends.
func (w *world) serve(ctx context.Context) {
	dir := w.folder()
	routertest.Seed(w.t, dir)
	restarts := slices.Clone(w.plan.restarts)
	for ctx.Err() == nil {
		w.lives++
		// A process that has crashed may draw ids until it has ended: the next one does not go on where it stopped.
		uuid.SetRand(&seeded{r: rand.New(rand.NewPCG(w.seed, 21+uint64(w.lives)))})
		h, err := w.boot(dir)
		if err == nil {
			w.now.Store(h)
			w.awake = append(w.awake, [2]time.Time{time.Now(), {}})
			w.shock()
			var again <-chan time.Time
			if len(restarts) > 0 {
				again = time.After(time.Until(w.s.began.Add(restarts[0])))
			}
			select {
			case <-h.left:
			case <-again:
				w.tally("restarts")
				w.s.note("RESTART")
				restarts = restarts[1:]
			case <-ctx.Done():
			}
			w.awake[len(w.awake)-1][1] = time.Now()
		}
		if ctx.Err() != nil {
			w.calm.Store(true)
		}
		w.now.Store(nil)
		h.halt()
		w.lets(h)
		w.trouble(0)
		if h.isDead() {
			dir = w.folder()
			w.left.write(w, dir)
		}
		if ctx.Err() == nil {
			<-time.After(w.s.within(pick(w.s, time.Second, 10*time.Second, 3*time.Minute)))
		}
	}
}

// folder makes a folder for a process: where the one who started this test removes it however it ends, or for itself.
func (w *world) folder() string {
	if of := os.Getenv("PARLEY_SIM_DIR"); of != "" {
		dir, err := os.MkdirTemp(of, "world-")
		if err != nil {
			w.t.Fatal(err)
		}
		w.t.Cleanup(func() { _ = os.RemoveAll(dir) })
		return dir
	}
	return routertest.Folder(w.t)
}

// shock has a session denied, for a while, right after a start that finds a message of it that may have arrived.
func (w *world) shock() {
	w.mu.Lock()
	lost := w.lost
	w.lost = nil
	w.mu.Unlock()
	if len(lost) == 0 || w.calm.Load() || !w.s.chance(700) {
		return
	}
	key := w.keys[lost[0]]
	for _, l := range w.plan.letters {
		if w.keys[l.to] == key && strings.HasPrefix(l.text, "/send") {
			return // its people change it themselves
		}
	}
	if slices.ContainsFunc(w.plan.flips, func(f flipped) bool { return f.key == key }) {
		return
	}
	w.tally("flips at a start")
	w.shocks.Go(func() {
		w.flip(flipped{0, key, policy.Deny})
		channels.Sleep(w.t.Context(), w.s.within(time.Minute))
		w.flip(flipped{0, key, policy.Allow})
	})
}

// impatient has somebody in a session's chat stop what goes on there, before a time has passed. People do not know of exchanges: what a plan
// has them write meets the steps of one too rarely.
func (w *world) impatient(key sessions.Key, within time.Duration) {
	s, m := w.s, w.plan.moved
	for _, h := range haunts() {
		if w.keys[h.to] != key || m != nil && m.from == h.to {
			continue
		}
		w.tally("stops of an exchange")
		l := letter{id: channels.MessageID(w.token("s")), at: time.Since(s.began) + s.within(within), to: h.to, by: pick(s, h.people...), text: "/stop"}
		w.plan.letters = append(w.plan.letters, l)
		w.shocks.Go(func() {
			channels.Sleep(w.t.Context(), time.Until(s.began.Add(l.at)))
			w.offer(l)
		})
		return
	}
}

// lets ends the calls of a process that is gone.
func (w *world) lets(h *host) {
	at := w.clock()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wrote = append(w.wrote, wrote{at: at, what: wroteLast, host: h})
	for _, x := range w.called {
		if x.host == h && x.end == 0 {
			if x.end, x.off = at, time.Now(); x.what == "send" && h.isDead() {
				w.lost = append(w.lost, x.to)
			}
		}
	}
}

// live lets everything happen until nothing moves any more, and gives what there is to see.
func (w *world) live() *rest {
	scheduled := make(chan struct{})
	var service sync.WaitGroup
	stop := make(chan struct{})
	go func() {
		defer close(scheduled)
		w.s.run(stop)
	}()
	ctx, end := context.WithCancel(w.t.Context())
	service.Go(func() { w.serve(ctx) })
	for _, h := range haunts() {
		if all := w.plan.happening(h.to); len(all) > 0 {
			w.writes(all)
		}
	}
	flips := map[sessions.Key][]flipped{}
	for _, f := range w.plan.flips {
		flips[f.key] = append(flips[f.key], f)
	}
	for _, key := range slices.Sorted(maps.Keys(flips)) {
		w.people.Go(func() {
			for _, f := range flips[key] {
				w.flip(f)
			}
		})
	}
	w.people.Wait()
	<-time.After(w.s.within(5 * time.Minute))
	w.calm.Store(true)
	w.shocks.Wait()
	out := w.settle()
	end()
	service.Wait()
	close(stop)
	<-scheduled
	return out
}

// mostWaited is how long something may go on moving once there are no more faults: nothing in a plan takes longer.
const mostWaited = 3 * time.Hour

// settle waits until there is nothing to do, and a little longer.
func (w *world) settle() *rest {
	for until := time.Now().Add(mostWaited); ; <-time.After(20 * time.Second) {
		w.s.wait(nil, "look")
		h := w.now.Load()
		if h == nil || h.isDead() || !h.idle() {
			if time.Now().After(until) {
				w.t.Errorf("%s after the last fault there is still something to do", mostWaited)
				return w.look(h)
			}
			continue
		}
		before := w.worked()
		<-time.After(2*routertest.ExpireInterval + time.Second)
		w.s.wait(nil, "look")
		if !h.idle() {
			continue
		}
		if n := w.worked(); n > before && !w.told(before) {
			w.t.Errorf("at rest, and yet %d calls", n-before)
		} else if n > before {
			continue
		}
		return w.look(h)
	}
}

// told reports whether all calls about more than a sign, behind the first ones, tell owners of reports that have failed: the host looks for these
// now and then.
func (w *world) told(first int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	late, n := map[sessions.DeliveryID]bool{}, 0
	for _, c := range w.called {
		if strings.Contains(c.text, "⚠️ A report did not reach ") {
			late[c.delivery()] = true
		}
		if c.isSign() {
			continue
		}
		if n++; n > first && !late[c.delivery()] {
			return false
		}
	}
	return true
}

// worked counts the calls about more than a sign, which may be taken away a little after all is done.
func (w *world) worked() (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.called {
		if !c.isSign() {
			n++
		}
	}
	return n
}

// isSign reports whether a call shows that somebody is running, or takes that away.
func (c *contact) isSign() bool { return c.what == "typing" || c.what == "fade" }

// idle reports whether there is nothing to do.
func (h *host) idle() bool {
	for _, s := range []sessions.RunStatus{sessions.Queued, sessions.Running} {
		if runs, err := h.store.ListRuns(h.ctx, sessions.RunQuery{Status: s, Limit: 1}); err != nil || len(runs) > 0 {
			return false
		}
	}
	n, err := h.store.CountDeliveries(h.ctx, sessions.DeliveryQuery{})
	return err == nil && n[sessions.Pending]+n[sessions.Sending] == 0
}
