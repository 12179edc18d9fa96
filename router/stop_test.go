package router_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/channels/channeltest"
	"parley/router/routertest"
	"parley/sessions"
	"parley/tools"
)

// TestStoppedRequestIsMarked: the model is told, in this process and the next one alike, that what it is shown was stopped, also when
// the host died before the turn ended. What only a newer message interrupted is answered with that one.
func TestStoppedRequestIsMarked(t *testing.T) {
	const mark = "[host: the turn above was stopped by a person"
	for name, c := range map[string]struct {
		mode   sessions.QueueMode
		stop   func(*routertest.Rig)
		marked bool
	}{
		"by a command": {sessions.Collect, func(g *routertest.Rig) { g.Asks(routertest.Group("a"), routertest.Guest, "/stop") }, true},
		"and the host died": {sessions.Collect, func(g *routertest.Rig) {
			if _, err := g.Store.Submit(g.T.Context(), sessions.Change{Ops: []sessions.Op{sessions.StopSessions{Keys: []sessions.Key{routertest.KeyA}}}}); err != nil { // its lane is not told
				g.T.Fatal(err)
			}
		}, true},
		"by a newer message": {sessions.Interrupt, func(*routertest.Rig) {}, false},
	} {
		t.Run(name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g := routertest.New(t, channeltest.Options{}, routertest.WithQueue(sessions.Queue{Mode: c.mode}))
				g.Model.Set(func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
					if strings.HasSuffix(routertest.LastUser(p), "delete all") {
						return routertest.Slowly(time.Hour)(ctx, p)
					}
					return routertest.Text("ok"), nil
				})
				g.Say(routertest.Group("a"), routertest.Guest, "delete all")
				g.Until("it is at work", func() bool { return g.Model.Count() == 1 })
				c.stop(g)
				if name == "and the host died" {
					g.Stop()
					g.Start()
				}
				g.Say(routertest.Group("a"), routertest.Guest, "how are you?")
				g.Until("it is answered", func() bool { return g.Model.Count() == 2 && endedIn(g, routertest.KeyA) })
				g.Stop()
				g.Start()
				g.Say(routertest.Group("a"), routertest.Guest, "again")
				g.Until("it is answered", func() bool { return g.Model.Count() == 3 && endedIn(g, routertest.KeyA) })
				before := agent.Repair(g.Model.Asked[1].Messages, agent.Target{})[0].Text()
				request, rest, marked := strings.Cut(before, mark)
				if marked != c.marked || marked && (!strings.HasSuffix(strings.TrimSpace(request), "delete all") || !strings.HasSuffix(rest, "how are you?")) {
					t.Errorf("marked %v, want %v: %s", marked, c.marked, before)
				}
				if now := agent.Repair(g.Model.Asked[2].Messages, agent.Target{})[0].Text(); now != before {
					t.Errorf("the next prompt begins with %s\nand not with %s", now, before)
				}
			})
		})
	}
}

// TestStoppedStartsNothing stops a turn while it is about to spawn a sub-agent, or to tell one something: nobody would stop those.
//
// proves: N15
func TestStoppedStartsNothing(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		x := routertest.NewTree(t, 1)
		x.Does("short", routertest.Slowly(time.Second))
		x.Does("long", routertest.Slowly(time.Hour))
		child := x.Spawn(tools.SpawnRequest{Source: "s1", Task: "short"})
		x.Ended(1)
		x.Model.Set(func(ctx context.Context, _ agent.Prompt) (agent.Answer, error) {
			channels.Sleep(ctx, time.Hour)
			return agent.Answer{}, ctx.Err()
		})
		x.Say(routertest.Group("a"), routertest.Guest, "hello")
		var at sessions.Run
		x.Until("a turn is at work", func() bool {
			runs, err := x.Store.ListRuns(t.Context(), sessions.RunQuery{Key: routertest.KeyA, Status: sessions.Running})
			if err != nil || len(runs) == 0 {
				return false
			}
			at = runs[0]
			return true
		})
		x.Asks(routertest.Group("a"), routertest.Guest, "/stop")
		from := tools.Caller{Session: x.Session(routertest.KeyA), Run: at}
		if run, err := x.Router.ToolHost.Spawn(t.Context(), tools.SpawnRequest{Source: "s2", From: from, Agent: "main", Task: "long"}); !errors.Is(err, sessions.ErrStopped) {
			t.Errorf("spawned: %+v, %v", run, err)
		}
		if run, err := x.Router.ToolHost.Steer(t.Context(), tools.SteerRequest{Source: "s3", From: from.Session, Run: at, Child: child.Key, Message: "long"}); !errors.Is(err, sessions.ErrStopped) {
			t.Errorf("told: %+v, %v", run, err)
		}
		if run, err := x.Router.ToolHost.Ask(t.Context(), tools.AskRequest{Source: "s4", From: from, To: child.Key, Message: "long"}); !errors.Is(err, sessions.ErrStopped) {
			t.Errorf("asked: %+v, %v", run, err)
		}
		if made, err := x.Router.ToolHost.Post(t.Context(), tools.PostRequest{Source: "s5", From: from, Session: routertest.KeyA, To: routertest.Group("a"), Text: "late"}); !errors.Is(err, sessions.ErrStopped) {
			t.Errorf("posted: %+v, %v", made, err)
		}
		if all, err := x.Store.ListRuns(t.Context(), sessions.RunQuery{Parent: routertest.KeyA}); err != nil || len(all) != 1 {
			t.Errorf("at work although nobody can stop it: %+v, %v", all, err)
		}
		if again, err := x.Router.ToolHost.Spawn(t.Context(), tools.SpawnRequest{Source: "s1", From: from, Agent: "main", Task: "short"}); err != nil || again.ID != child.ID {
			t.Errorf("what was spawned before: %+v, %v", again, err)
		}
	})
}
