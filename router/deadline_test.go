package router_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/channels/channeltest"
	"parley/router/chain"
	"parley/router/routertest"
	"parley/router/settings"
	"parley/sessions"
	"parley/tools"
)

// around reports whether a time is within a second of what it should be.
func around(got, want time.Duration) bool { return got > want-time.Second && got < want+time.Second }

// TestDeadlineWhileResting ends a sub-agent at its time limit while it waits for one of its own, with every slot in use, and also
// when the host was restarted meanwhile.
//
// proves: N9
func TestDeadlineWhileResting(t *testing.T) {
	for name, restart := range map[string]bool{"one host": false, "restarted": true} {
		t.Run(name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				x := routertest.NewTree(t, 2, func(s *settings.Snapshot) { s.Agents.Defaults.Subagents.MaxConcurrent = 1 })
				x.Does("outer", routertest.Steps(routertest.Delegate("c1", "inner"), routertest.Resting("c2"), routertest.Text("never said")))
				x.Does("inner", routertest.Slowly(time.Hour))
				began := time.Now()
				run := x.Spawn(tools.SpawnRequest{Source: "s", Task: "outer", Timeout: 100})
				<-time.After(time.Minute)
				if restart {
					x.Stop()
					x.Start()
				}
				<-time.After(38 * time.Second)
				x.Until("the outer one has ended", func() bool { return x.Task("outer")[0].Status.Final() })
				got, err := x.Store.GetRun(t.Context(), run.ID)
				if err != nil || got.Status != sessions.TimedOut || !around(got.Ended.Sub(began), 100*time.Second) {
					t.Errorf("%s after %s (%v)", got.Status, got.Ended.Sub(began), err)
				}
				if x.Called("outer") != 2 || x.Called("inner") != 1+map[bool]int{true: 1}[restart] {
					t.Errorf("model calls %v", x.Counts())
				}
				x.Until("the report", func() bool { return len(x.Deliveries()) > 1 })
				if d := x.Deliveries()[1]; !strings.Contains(d.Text, "Status: timeout") {
					t.Errorf("%s", d.Text)
				}
			})
		})
	}
}

// TestDeadlineOfFurtherTurns has a result come when its parent has little or no time left.
//
// proves: N9, N11
func TestDeadlineOfFurtherTurns(t *testing.T) {
	for name, c := range map[string]struct {
		inner  time.Duration // how long the inner one works
		second time.Duration // how long the outer one's second turn would take
		ends   time.Duration
		calls  int
		status sessions.RunStatus
	}{
		"time left":      {30 * time.Second, 10 * time.Second, 40 * time.Second, 3, sessions.Done},
		"too little":     {30 * time.Second, time.Hour, 60 * time.Second, 3, sessions.TimedOut},
		"under a second": {59*time.Second + 500*time.Millisecond, time.Second / 4, 59*time.Second + 500*time.Millisecond, 2, sessions.TimedOut},
		"none":           {90 * time.Second, time.Second, 90 * time.Second, 2, sessions.TimedOut},
	} {
		t.Run(name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				x := routertest.NewTree(t, 2)
				x.Does("outer", func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
					if len(p.Messages) > 4 && !channels.Sleep(ctx, c.second) {
						return agent.Answer{}, ctx.Err()
					}
					return fails(routertest.Delegate("c1", "inner"))(ctx, p)
				})
				x.Does("inner", routertest.Slowly(c.inner))
				began := time.Now()
				x.Spawn(tools.SpawnRequest{Source: "s", Task: "outer", Timeout: 60})
				<-time.After(min(c.ends, time.Minute) - 2*time.Second)
				posts := x.Ended(3)
				runs := x.Task("outer")
				if len(runs) != 4 || runs[2].Status != c.status || !around(runs[2].Ended.Sub(began), c.ends) || x.Called("outer") != c.calls {
					t.Errorf("%s, ended after %s, model calls %v", routertest.Kinds(runs), runs[2].Ended.Sub(began), x.Counts())
				}
				if want := "Status: " + chain.StatusWord(c.status); !strings.HasPrefix(posts[2].Text, want) {
					t.Errorf("not %s: %s", want, posts[2].Text)
				}
			})
		})
	}
}

// TestFurtherTurnWaitsForASlot counts the time that it waits: the limit is a point in time.
//
// proves: N9
func TestFurtherTurnWaitsForASlot(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		x := routertest.NewTree(t, 2, func(s *settings.Snapshot) { s.Agents.Defaults.Subagents.MaxConcurrent = 1 })
		x.Does("outer", func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
			if len(p.Messages) > 6 && !channels.Sleep(ctx, time.Hour) {
				return agent.Answer{}, ctx.Err()
			}
			return fails(routertest.Delegate("c1", "inner"), routertest.Delegate("c2", "other"))(ctx, p)
		})
		x.Does("inner", routertest.Slowly(20*time.Second))
		x.Does("other", routertest.Slowly(50*time.Second)) // takes the slot before the outer one's second turn does
		began := time.Now()
		x.Spawn(tools.SpawnRequest{Source: "s", Task: "outer", Timeout: 100})
		<-time.After(98 * time.Second)
		x.Until("the second turn has ended", func() bool {
			runs := x.Task("outer")
			return len(runs) > 2 && runs[2].Status.Final()
		})
		if run := x.Task("outer")[2]; run.Status != sessions.TimedOut || !around(run.Ended.Sub(began), 100*time.Second) || !around(run.Started.Sub(began), 70*time.Second) {
			t.Errorf("%s; began after %s, ended after %s", run.Status, run.Started.Sub(began), run.Ended.Sub(began))
		}
	})
}

// TestSteerBelowAParentWhoseTimeIsUp tells an inner sub-agent something long after all has ended: its parent's further turn has the
// parent's time limit again.
//
// proves: N9
func TestSteerBelowAParentWhoseTimeIsUp(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		x := routertest.NewTree(t, 2)
		x.Does("outer", routertest.Steps(routertest.Delegate("c1", "inner"), routertest.Resting("c2"), routertest.Text("both done")))
		x.Spawn(tools.SpawnRequest{Source: "s", Task: "outer", Timeout: 60})
		x.Ended(2)
		<-time.After(time.Hour)
		x.Steer("inner", "once more")
		posts := x.Ended(3)
		runs := x.Task("outer")
		if got := runs[len(runs)-2]; got.Status != sessions.Done || got.Timeout != time.Minute || got.Chain.Until != (time.Time{}) {
			t.Errorf("%s, %s, until %s", routertest.Kinds(runs), got.Timeout, got.Chain.Until)
		}
		if !strings.HasPrefix(posts[2].Text, "Status: success") {
			t.Errorf("%s", posts[2].Text)
		}
	})
}

// TestDeadlineWithoutASlot restarts the host on more sub-agents than it has slots: one whose time is up is ended although the others
// have all of them.
//
// proves: N9
func TestDeadlineWithoutASlot(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		x := routertest.NewTree(t, 2, func(s *settings.Snapshot) { s.Agents.Defaults.Subagents.MaxConcurrent = 5 })
		x.Does("inner", routertest.Slowly(time.Hour))
		x.Does("outer", routertest.Steps(routertest.Delegate("c1", "inner"), routertest.Resting("c2"), routertest.Text("never said")))
		began := time.Now()
		for i := range 4 { // lanes begin in no order: one of these has the slot, most likely
			x.Does(fmt.Sprint("long", i), routertest.Slowly(time.Hour))
			x.Spawn(tools.SpawnRequest{Source: fmt.Sprint("s", i), Task: fmt.Sprint("long", i)})
		}
		x.Spawn(tools.SpawnRequest{Source: "outer", Task: "outer", Timeout: 100})
		<-time.After(time.Minute)
		set := *x.Settings
		set.Agents.Defaults.Subagents.MaxConcurrent = 1
		x.Stop()
		x.Settings = &set
		x.Start()
		<-time.After(time.Minute)
		if outer := x.Task("outer")[0]; outer.Status != sessions.TimedOut || !around(outer.Ended.Sub(began), 100*time.Second) {
			t.Errorf("%s after %s", outer.Status, outer.Ended.Sub(began))
		}
	})
}

// TestWaitTakesItsTurn has sessions wait for the answers of others, in vain: they go on when there is a slot for them, not before.
func TestWaitTakesItsTurn(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, func(s *settings.Snapshot) { s.Agents.Defaults.MaxConcurrent = 1 })
		g.Say(routertest.Group("b"), routertest.Guest, "make a session here")
		g.Idle(1)
		var atWork, most atomic.Int32
		ask := pingPong(1, 5)
		g.Model.Set(func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
			for n := atWork.Add(1); n > most.Load(); {
				most.Store(n)
			}
			defer atWork.Add(-1)
			if !strings.Contains(p.System, "comes from another session") {
				return ask(ctx, p)
			}
			channels.Sleep(ctx, time.Minute)
			return routertest.Text("late"), nil
		})
		g.Say(routertest.Group("a"), routertest.Guest, "ask b")
		<-time.After(10 * time.Minute)
		if list := g.Idle(3); most.Load() != 1 || list[1].Ended.Before(list[2].Ended) {
			t.Errorf("%d at work at a time; asked %s, answered %s", most.Load(), list[1].Ended, list[2].Ended)
		}
	})
}
