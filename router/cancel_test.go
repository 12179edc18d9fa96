package router_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/channels/channeltest"
	"parley/router/routertest"
	"parley/router/settings"
	"parley/sessions"
	"parley/tools"
)

// TestCanceledChildReportsNothing cancels a running sub-agent. Its lane goes on: told something later, it does that and reports.
//
// proves: N15, N16
func TestCanceledChildReportsNothing(t *testing.T) {
	for _, mode := range []string{"direct", "requester"} {
		t.Run(mode, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				x := routertest.NewTree(t, 1, func(s *settings.Snapshot) { s.Agents.Defaults.Subagents.Announce = mode })
				x.Does("long", func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
					if len(p.Messages) == 1 {
						<-ctx.Done()
						return agent.Answer{}, ctx.Err()
					}
					return routertest.Text("done after all"), nil
				})
				x.Spawn(tools.SpawnRequest{Source: "s", Task: "long", Cleanup: "delete"})
				<-time.After(time.Minute)
				began := time.Now()
				if n := x.Cancel("long"); n != 1 {
					t.Errorf("%d runs ended", n)
				}
				<-time.After(time.Minute)
				run := x.Task("long")[0]
				if list := x.Runs(); len(list) != 2 || run.Status != sessions.Stopped || run.Error == "" || run.Ended.Sub(began) > time.Second {
					t.Errorf("%s, %q after %s", routertest.Kinds(list), run.Error, run.Ended.Sub(began))
				}
				if d := x.Deliveries(); len(d) != 1 {
					t.Errorf("posted: %s", d[1].Text)
				}
				if !x.Session(run.Key).Aborted {
					t.Error("the session does not say that its last run was stopped")
				}
				x.Steer("long", "go on")
				if d := x.Ended(2)[1]; d.State != sessions.Sent {
					t.Errorf("%+v", d)
				}
			})
		})
	}
}

// TestCancelReachesBelow cancels a sub-agent that waits for one of its own, and once only that one.
//
// proves: N15, N16
func TestCancelReachesBelow(t *testing.T) {
	for name, c := range map[string]struct {
		cancel       string
		ended, posts int
		outer, inner string
	}{
		"both":           {"outer", 2, 0, "child aborted", "child aborted"},
		"the lower only": {"inner", 1, 1, "child done, announce done", "child aborted"},
	} {
		t.Run(name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				x := routertest.NewTree(t, 2)
				x.Does("outer", routertest.Steps(routertest.Delegate("c1", "inner"), routertest.Resting("c2"), routertest.Text("one of them was stopped")))
				x.Does("inner", routertest.Slowly(time.Hour))
				x.Spawn(tools.SpawnRequest{Source: "s", Task: "outer"})
				<-time.After(time.Minute)
				if n := x.Cancel(c.cancel); n != c.ended {
					t.Errorf("%d runs ended, want %d", n, c.ended)
				}
				<-time.After(2 * time.Hour)
				if outer, inner := routertest.Kinds(x.Task("outer")), routertest.Kinds(x.Task("inner")); outer != c.outer || inner != c.inner {
					t.Errorf("the outer one: %s; the inner one: %s", outer, inner)
				}
				if d := x.Deliveries(); len(d) != 1+c.posts {
					t.Errorf("%d posts, want %d", len(d)-1, c.posts)
				}
			})
		})
	}
}

// TestCanceledOverARestart kills the host between the commit of a cancel and the end of what it cancels.
//
// proves: N15
func TestCanceledOverARestart(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		x := routertest.NewTree(t, 2)
		x.Does("outer", routertest.Steps(routertest.Delegate("c1", "inner"), routertest.Resting("c2"), routertest.Text("done")))
		x.Does("inner", routertest.Slowly(time.Hour))
		x.Spawn(tools.SpawnRequest{Source: "s", Task: "outer"})
		<-time.After(time.Minute)
		inner := x.Task("inner")[0].Key
		if _, err := x.Store.Submit(t.Context(), sessions.Change{Ops: []sessions.Op{sessions.StopSessions{Keys: []sessions.Key{inner}}}}); err != nil { // nobody is told of it
			t.Fatal(err)
		}
		x.Stop()
		x.Start()
		if d := x.Ended(2)[1]; !strings.HasPrefix(d.Text, "Status: success") {
			t.Errorf("%s", d.Text)
		}
		if inner := x.Task("inner"); len(inner) != 1 || inner[0].Status != sessions.Stopped {
			t.Errorf("the inner one: %s", routertest.Kinds(inner))
		}
	})
}

// hooked is a store that calls something before it reads a session.
type hooked struct {
	sessions.Store
	get func(sessions.Key)
}

func (h hooked) Get(ctx context.Context, key sessions.Key) (sessions.Session, error) {
	h.get(key)
	return h.Store.Get(ctx, key)
}

// TestCanceledAsItEnds cancels a sub-agent whose answer is there already: it reports nothing all the same.
//
// proves: N15, N16
func TestCanceledAsItEnds(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		var g *routertest.Rig
		var child atomic.Pointer[sessions.Run]
		var armed atomic.Bool
		g = routertest.NewWith(t, channeltest.Options{}, nil, func(s sessions.Store) sessions.Store {
			return hooked{s, func(key sessions.Key) {
				if key == routertest.KeyA && armed.CompareAndSwap(true, false) {
					if n, err := g.Router.ToolHost.Cancel(t.Context(), "cancel", child.Load().Key); len(n) != 1 || err != nil {
						t.Errorf("%d runs ended (%v)", len(n), err)
					}
				}
			}}
		})
		g.Say(routertest.Group("a"), routertest.Guest, "hello")
		g.Idle(1)
		g.Model.Set(func(ctx context.Context, _ agent.Prompt) (agent.Answer, error) {
			channels.Sleep(ctx, time.Minute)
			armed.Store(true)
			return routertest.Text("done"), nil
		})
		run := g.Spawn(tools.SpawnRequest{Source: "s", Cleanup: "delete"})
		child.Store(&run)
		<-time.After(2 * time.Minute)
		list := g.Runs()
		if len(list) != 2 || list[1].Status != sessions.Stopped || len(g.Deliveries()) != 1 {
			t.Errorf("%s, %d deliveries", routertest.Kinds(list), len(g.Deliveries()))
		}
		if msgs := g.Transcript(run.Key); len(msgs) != 3 || msgs[1].Text() != "done" || msgs[2].Provenance.Tool != sessions.StopNote {
			t.Errorf("the answer is lost: %+v", msgs)
		}
	})
}

// TestResultOfAStoppedParent has a sub-agent end whose parent was stopped before, or deleted: its run is listed with the reason.
//
// proves: N15
func TestResultOfAStoppedParent(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		x := routertest.NewTree(t, 2)
		x.Does("outer", routertest.Steps(routertest.Delegate("c1", "inner"), routertest.Resting("c2"), routertest.Text("done")))
		x.Does("inner", routertest.Slowly(time.Minute))
		x.Spawn(tools.SpawnRequest{Source: "s", Task: "outer"})
		<-time.After(30 * time.Second)
		x.Cancel("outer")
		<-time.After(time.Second)
		last := func() sessions.Run {
			<-time.After(2 * time.Minute)
			list := x.Task("inner")
			return list[len(list)-1]
		}
		x.Steer("inner", "go on alone")
		if run := last(); run.Status != sessions.Stopped || !strings.Contains(run.Error, "was stopped") || run.Result != "echo: go on alone" || len(x.Deliveries()) != 1 {
			t.Errorf("%s: %s, %d deliveries", run.Status, run.Error, len(x.Deliveries()))
		}
		x.Does("outer", func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
			if strings.HasPrefix(routertest.LastUser(p), "go on") {
				channels.Sleep(ctx, time.Minute)
			}
			return routertest.Text("done"), nil
		})
		x.Does("inner", nil)
		x.Steer("outer", "go on")
		<-time.After(time.Second)
		x.Steer("inner", "go on with it")
		if run := last(); run.Status != sessions.Done || len(x.Ended(2)) != 2 {
			t.Errorf("%s: %s", run.Status, run.Error)
		}
		if err := x.Store.Delete(t.Context(), x.Task("outer")[0].Key); err != nil {
			t.Fatal(err)
		}
		x.Steer("inner", "go on to nowhere")
		if run := last(); run.Status != sessions.Stopped || !strings.Contains(run.Error, "no longer exists") || len(x.Deliveries()) != 2 {
			t.Errorf("%s: %s", run.Status, run.Error)
		}
		synctest.Wait()
	})
}
