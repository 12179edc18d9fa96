package router_test

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
	"parley/router/routertest"
	"parley/sessions"
)

// TestClaimedAtOnce: what begins a turn in a session that has no work is one commit; what waits behind it is claimed when its time has come.
func TestClaimedAtOnce(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		var made routertest.Commits
		g := routertest.NewWith(t, channeltest.Options{}, made.Trace, nil, routertest.EachAlone)
		answer := make(chan struct{})
		g.Model.Set(func(context.Context, agent.Prompt) (agent.Answer, error) {
			<-answer
			return routertest.Text("done"), nil
		})
		g.Say(routertest.Direct("a"), routertest.Guest, "one")
		g.Until("at work", func() bool { return g.Model.Count() == 1 })
		g.Say(routertest.Direct("a"), routertest.Guest, "two")
		g.Until("in line", func() bool { return len(g.Runs()) == 2 })
		answer <- struct{}{}
		g.Until("one answered, two at work", func() bool {
			return g.Model.Count() == 2 && !slices.ContainsFunc(g.Deliveries(), func(d sessions.Delivery) bool { return !d.State.Final() })
		})
		answer <- struct{}{}
		g.Shown(2)
		g.Idle(2)
		if ops, want := made.Of("Accept", "Claim", "Finish"), []string{"Accept", "Accept", "Finish+begin", "Claim", "Finish+begin"}; !slices.Equal(ops, want) {
			t.Errorf("commits %q, want %q", ops, want)
		}
	})
}

// forgetful is a store whose answer to the first message is lost, and that cannot list all that is running while it is blind.
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
	stop := func(g *routertest.Rig, _ sessions.Run) {
		g.Say(routertest.Direct(routertest.Owner), routertest.Owner, "/stop")
	}
	interrupt := func(g *routertest.Rig, first sessions.Run) {
		newer := first
		newer.ID, newer.Input.ID, newer.Input.Content = "newer", "newer", sessions.TextContent("something newer")
		if _, err := g.Store.Submit(g.T.Context(), sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: first.Key}}, Run: &sessions.Enqueue{Run: newer, Interrupt: true}}); err != nil {
			g.T.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		end   func(g *routertest.Rig, first sessions.Run)
		blind bool // what is running cannot be listed until that is taken
		asked int
	}{
		"stopped":                 {stop, false, 0},
		"stopped, found late":     {stop, true, 0},
		"interrupted, found late": {interrupt, true, 1},
	} {
		t.Run(name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				lost, blind := new(atomic.Bool), new(atomic.Bool)
				g := routertest.NewWith(t, channeltest.Options{}, nil, func(s sessions.Store) sessions.Store { return forgetful{s, lost, blind} }, routertest.EachAlone)
				blind.Store(true)
				in := channels.Inbound{ID: "first", Event: channels.Message, Address: routertest.Direct(routertest.Owner), Sender: channels.Sender{ID: routertest.Owner}, Text: "hello", Time: time.Now()}
				if g.Router.Receiver.Accept(t.Context(), in) == nil || len(g.Runs()) != 1 || g.Runs()[0].Status != sessions.Running {
					t.Fatalf("its answer is not lost: %+v", g.Runs())
				}
				blind.Store(c.blind)
				c.end(g, g.Runs()[0])
				g.Until("it is marked", func() bool { r := g.Runs(); return r[0].Stopping || r[0].Status.Final() })
				blind.Store(false)
				g.Until("all have ended", func() bool {
					return !slices.ContainsFunc(g.Runs(), func(r sessions.Run) bool { return !r.Status.Final() })
				})
				if r := g.Runs(); r[0].Status != sessions.Stopped || g.Model.Count() != c.asked {
					t.Errorf("%s; the model was asked %d times", r[0].Status, g.Model.Count())
				}
			})
		})
	}
}
