package router

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/channels/channeltest"
	"parley/sessions"
)

// TestClaimedAtOnce: what begins a turn in a session that has no work is one commit; what waits behind it is claimed when its time has come.
func TestClaimedAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var made commits
		g := rigWith(t, channeltest.Options{}, made.trace, nil, eachAlone)
		answer := make(chan struct{})
		g.model.set(func(context.Context, agent.Prompt) (agent.Answer, error) {
			<-answer
			return text("done"), nil
		})
		g.say(direct("a"), guest, "one")
		g.until("at work", func() bool { return g.model.count() == 1 })
		g.say(direct("a"), guest, "two")
		g.until("in line", func() bool { return len(g.runs()) == 2 })
		answer <- struct{}{}
		g.until("one answered, two at work", func() bool {
			return g.model.count() == 2 && !slices.ContainsFunc(g.deliveries(), func(d sessions.Delivery) bool { return !d.State.Final() })
		})
		answer <- struct{}{}
		g.shown(2)
		g.idle(2)
		if ops, want := made.of("Accept", "Claim", "Finish"), []string{"Accept", "Accept", "Finish+begin", "Claim", "Finish+begin"}; !slices.Equal(ops, want) {
			t.Errorf("commits %q, want %q", ops, want)
		}
	})
}

// forgetful is a store whose answer to the first message is lost, and that cannot list all that is at work while it is blind.
type forgetful struct {
	sessions.Store
	lost, blind *atomic.Bool
}

func (s forgetful) Accept(ctx context.Context, a sessions.Arrival) (sessions.Accepted, error) {
	acc, err := s.Store.Accept(ctx, a)
	if err == nil && s.lost.CompareAndSwap(false, true) {
		return sessions.Accepted{}, errors.New("the answer is lost")
	}
	return acc, err
}

func (s forgetful) ListRuns(ctx context.Context, q sessions.RunQuery) ([]sessions.Run, error) {
	if s.blind.Load() && q.Status == sessions.Running && q.Limit > 1000 {
		return nil, errors.New("disk I/O error")
	}
	return s.Store.ListRuns(ctx, q)
}

// TestStoppedInDoubt loses the answer to the commit that claims a turn. A person stops it, or something newer interrupts it, before a lane is
// at it: the model is not asked about it.
//
// proves: D3
func TestStoppedInDoubt(t *testing.T) {
	stop := func(g *rig, _ sessions.Run) { g.say(direct(owner), owner, "/stop") }
	interrupt := func(g *rig, first sessions.Run) {
		newer := first
		newer.ID, newer.Input.ID, newer.Input.Content = "newer", "newer", sessions.TextContent("something newer")
		if _, err := g.store.Submit(g.t.Context(), sessions.Effects{Session: &sessions.Session{Key: first.Key}, Run: &newer, Interrupt: true}); err != nil {
			g.t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		end   func(g *rig, first sessions.Run)
		blind bool // what is at work cannot be listed until that is taken
		asked int
	}{
		"stopped":                 {stop, false, 0},
		"stopped, found late":     {stop, true, 0},
		"interrupted, found late": {interrupt, true, 1},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				lost, blind := new(atomic.Bool), new(atomic.Bool)
				g := rigWith(t, channeltest.Options{}, nil, func(s sessions.Store) sessions.Store { return forgetful{s, lost, blind} }, eachAlone)
				blind.Store(true)
				in := channels.Inbound{ID: "first", Event: channels.Message, Address: direct(owner), Sender: channels.Sender{ID: owner}, Text: "hello", Time: time.Now()}
				if g.r.Accept(t.Context(), in) == nil || len(g.runs()) != 1 || g.runs()[0].Status != sessions.Running {
					t.Fatalf("its answer is not lost: %+v", g.runs())
				}
				blind.Store(c.blind)
				c.end(g, g.runs()[0])
				g.until("it is marked", func() bool { r := g.runs(); return r[0].Stopping || r[0].Status.Final() })
				blind.Store(false)
				g.until("all have ended", func() bool {
					return !slices.ContainsFunc(g.runs(), func(r sessions.Run) bool { return !r.Status.Final() })
				})
				if r := g.runs(); r[0].Status != sessions.Stopped || g.model.count() != c.asked {
					t.Errorf("%s; the model was asked %d times", r[0].Status, g.model.count())
				}
			})
		})
	}
}

func TestReserve(t *testing.T) {
	run := func(id sessions.RunID) sessions.Accepted { return sessions.Accepted{Claimed: &sessions.Run{ID: id}} }
	stop := func(id sessions.RunID) func(*lanes) {
		return func(l *lanes) { l.Abort([]sessions.StoppedRun{{Key: keyA, ID: id}}, errStopped) }
	}
	full := errors.New("the disk is full")
	for name, c := range map[string]struct {
		meanwhile func(*lanes)
		acc       sessions.Accepted
		err       error
		want      []string // what the lane was at; "next" = what it finds in the store
	}{
		"claimed":                     {acc: run("r"), want: []string{"r"}},
		"claimed and woken":           {meanwhile: func(l *lanes) { l.Wake(keyA, "") }, acc: run("r"), want: []string{"r", "next"}},
		"stopped before it has begun": {meanwhile: stop("r"), acc: run("r"), want: []string{"r stopped"}},
		"another one is stopped":      {meanwhile: stop("q"), acc: run("r"), want: []string{"r"}},
		"closed meanwhile":            {meanwhile: (*lanes).Close, acc: run("r"), want: []string{"r"}},
		"nothing to claim":            {},
		"nothing to claim, woken":     {meanwhile: func(l *lanes) { l.Wake(keyA, "") }, want: []string{"next"}},
		"the commit failed":           {acc: run("r"), err: full},
		"the commit failed, in doubt": {meanwhile: func(l *lanes) { l.Recheck(keyA, "") }, acc: run("r"), err: full, want: []string{"next, in doubt"}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				var l *lanes
				var was []string
				l = newLanes(func(ctx context.Context, key sessions.Key, claimed *sessions.Run) bool {
					at := "next"
					if claimed != nil {
						l.SetRunning(key, claimed.ID, ofOwners)
						at = string(claimed.ID)
					}
					if errors.Is(context.Cause(ctx), errStopped) {
						at += " stopped"
					}
					if l.NeedsRecheck(key) {
						at += ", in doubt"
					}
					was = append(was, at) // one at a time
					return false
				}, agent.Defaults{MaxConcurrent: 1})
				busy := 0
				l.Changed = func(on bool) {
					if busy++; on != (busy == 1) {
						t.Errorf("busy: %v", on)
					}
				}
				l.Start(t.Context())
				e := &sessions.Effects{Run: &sessions.Run{Key: keyA}}
				v := l.Reserve(e, nil)
				if v == nil || !e.Claim || !l.Busy(keyA) {
					t.Fatal("the lane of a session without work is not reserved")
				}
				for _, key := range []sessions.Key{keyA, keyB} { // it has work now; no slot is free
					e := &sessions.Effects{Run: &sessions.Run{Key: key}}
					if l.Reserve(e, nil) != nil || e.Claim {
						t.Errorf("the lane of %s is reserved", key)
					}
				}
				if c.meanwhile != nil {
					c.meanwhile(l)
				}
				v.End(c.acc, c.err)
				l.Stop()
				if !slices.Equal(was, c.want) || busy != 2 || l.Main.Used != 0 || l.Busy(keyA) {
					t.Errorf("it was at %q, want %q; busy %d times, %d slots in use", was, c.want, busy, l.Main.Used)
				}
			})
		})
	}
	l := newLanes(nil, agent.Defaults{})
	if l.Reserve(nil, nil) != nil || l.Reserve(&sessions.Effects{}, nil) != nil || l.Reserve(&sessions.Effects{Run: &sessions.Run{Key: keyA}}, nil) != nil {
		t.Error("a lane is reserved for no run, or before the start")
	}
}
