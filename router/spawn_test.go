package router_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/router/routertest"
	"parley/router/settings"
	"parley/sessions"
	"parley/tools"
)

// TestSpawnDepth holds sub-agents to maxSpawnDepth in the host itself, whoever asks.
//
// proves: N8, N16
func TestSpawnDepth(t *testing.T) {
	for depth := 1; depth <= 3; depth++ {
		t.Run(fmt.Sprint(depth), func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				x := routertest.NewTree(t, depth)
				from := tools.Caller{Session: x.Session(routertest.KeyA)}
				for at := range depth {
					task := fmt.Sprint("level ", at)
					x.Does(task, routertest.Slowly(time.Hour))
					run, err := x.Router.ToolHost.Spawn(t.Context(), tools.SpawnRequest{Source: task, From: from, Agent: "main", Task: task})
					if err != nil {
						t.Fatalf("at depth %d: %v", at, err)
					}
					if s := x.Session(run.Key); len(s.Above) != at+1 || s.SpawnedBy != from.Session.Key {
						t.Errorf("at depth %d: spawned by %s, above it are %v", at, s.SpawnedBy, s.Above)
					}
					x.Until("it is at work", func() bool { return x.Caller(task).Run.Status == sessions.Running })
					from = x.Caller(task)
				}
				x.Does("deeper", routertest.Slowly(time.Hour)) // it has not ended when the runs are counted
				_, err := x.Router.ToolHost.Spawn(t.Context(), tools.SpawnRequest{Source: "deeper", From: from, Agent: "main", Task: "deeper"})
				var no *tools.Refused
				if !errors.As(err, &no) || !strings.Contains(no.Reason, fmt.Sprintf("maxSpawnDepth is %d", depth)) {
					t.Errorf("at depth %d: %v", depth, err)
				}
				from.Session.Above = nil // as in a row that an older host wrote
				if _, err := x.Router.ToolHost.Spawn(t.Context(), tools.SpawnRequest{Source: "deeper", From: from, Agent: "main", Task: "deeper"}); (err == nil) != (depth > 1) {
					t.Errorf("a sub-agent that does not know its depth: %v", err)
				}
				if n := len(x.Runs()); n != 1+depth+map[bool]int{true: 1}[depth > 1] {
					t.Errorf("%d runs", n)
				}
			})
		})
	}
}

// TestAgentsAbove names the agents above a sub-agent, its parent's first.
//
// proves: N7
func TestAgentsAbove(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		x := routertest.NewTree(t, 3, func(s *settings.Snapshot) {
			s.Agents.List = []agent.Entry{{ID: "main"}, {ID: "helper"}, {ID: "expert"}}
			for i := range s.Agents.List {
				s.Agents.List[i].Subagents.AllowAgents = []string{"*"}
			}
		})
		x.Does("one", routertest.Steps(routertest.Delegate("c1", "two", "agentId", "expert"), routertest.Resting("c2"), routertest.Text("done")))
		x.Does("two", routertest.Steps(routertest.Delegate("c1", "three", "agentId", "expert"), routertest.Resting("c2"), routertest.Text("done")))
		x.Spawn(tools.SpawnRequest{Source: "s", Task: "one", Agent: "helper"})
		x.Ended(2)
		if s := x.Session(x.Task("three")[0].Key); !slices.Equal(s.Above, []sessions.AgentID{"expert", "helper", "main"}) {
			t.Errorf("%v", s.Above)
		}
	})
}

// TestSpawnCalledAgain repeats a call after a crash: it gives what it made, also at the bounds, and when that is deleted since.
//
// proves: N16, S14
func TestSpawnCalledAgain(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		x := routertest.NewTree(t, 1, func(s *settings.Snapshot) { s.Agents.Defaults.Subagents.MaxChildrenPerAgent = 1 })
		first := x.Spawn(tools.SpawnRequest{Source: "s1", Task: "short"})
		x.Ended(2)
		x.Does("long", routertest.Slowly(time.Hour))
		x.Spawn(tools.SpawnRequest{Source: "s2", Task: "long"})
		if again := x.Spawn(tools.SpawnRequest{Source: "s1", Task: "short"}); again.ID != first.ID || again.Key != first.Key {
			t.Errorf("again: %+v", again)
		}
		q := tools.SpawnRequest{Source: "s3", From: tools.Caller{Session: x.Session(routertest.KeyA)}, Agent: "main", Task: "more"}
		var no *tools.Refused
		if _, err := x.Router.ToolHost.Spawn(t.Context(), q); !errors.As(err, &no) || !strings.Contains(no.Reason, "1 running sub-agents") {
			t.Errorf("one too many: %v", err)
		}
		x.Cancel("long")
		if err := x.Store.Delete(t.Context(), first.Key); err != nil {
			t.Fatal(err)
		}
		q.Source = "s1"
		x.Until("the long one has ended", func() bool { return x.Task("long")[0].Status.Final() })
		if run, err := x.Router.ToolHost.Spawn(t.Context(), q); err != nil || run.ID != first.ID || run.Key != first.Key {
			t.Errorf("what it made is deleted: %+v, %v", run, err)
		}
		if run, err := x.Store.GetRun(t.Context(), first.ID); !errors.Is(err, sessions.ErrNotFound) {
			t.Errorf("it is made again: %+v, %v", run, err)
		}
	})
}

// TestSpawnOnBehalfOfAnAsk has a sub-agent spawn while it answers another session: the result comes to it all the same.
//
// proves: N10, N15
func TestSpawnOnBehalfOfAnAsk(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		x := routertest.NewTree(t, 2, func(s *settings.Snapshot) { s.Session.AgentToAgent.MaxPingPongTurns = 0 })
		x.Does("outer", func(_ context.Context, p agent.Prompt) (agent.Answer, error) {
			switch m := routertest.Last(p); {
			case strings.Contains(p.System, "comes from another session") && m.Role == sessions.User:
				return routertest.Delegate("c1", "inner"), nil
			case strings.HasPrefix(m.Text(), "Status: success"):
				return routertest.Text("done inner as well"), nil
			}
			return routertest.Text("done"), nil
		})
		x.Does("inner", routertest.Slowly(time.Hour))
		outer := x.Spawn(tools.SpawnRequest{Source: "s", Task: "outer", Timeout: 60})
		x.Ended(2)
		<-time.After(time.Hour)
		if _, err := x.Router.ToolHost.Ask(t.Context(), tools.AskRequest{Source: "a", From: tools.Caller{Session: x.Session(routertest.KeyA)}, To: outer.Key, Message: "and the rest?"}); err != nil {
			t.Fatal(err)
		}
		<-time.After(2 * time.Hour)
		if got := routertest.Kinds(x.Task("outer")); got != "child done, announce done, ask done, announce done, child done, announce done" {
			t.Errorf("%s", got)
		}
		if inner := x.Task("inner")[0]; inner.Chain.Origin != routertest.Group("a") || inner.Chain.Parent == nil || inner.Chain.Parent.Root != outer.ID || !inner.Chain.Parent.Until.IsZero() {
			t.Errorf("%+v", inner.Chain)
		}
		if d := x.Ended(3)[2]; d.To != routertest.Group("a") || !strings.HasPrefix(d.Text, "Status: success") {
			t.Errorf("%+v", d)
		}
	})
}

// TestSteer gives a sub-agent a further message: its running turn takes it up, a later one is a turn of its own with the whole time
// limit, and is reported.
//
// proves: N9, N14, N16
func TestSteer(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		x := routertest.NewTree(t, 1)
		x.Announces = 10 * time.Second
		x.Does("work", func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
			channels.Sleep(ctx, 40*time.Second)
			return routertest.Text("heard " + routertest.LastUser(p)), ctx.Err()
		})
		x.Spawn(tools.SpawnRequest{Source: "s", Task: "work", Timeout: 100, Model: "mock/special", Label: "worker", Cleanup: "delete"})
		<-time.After(time.Second)
		one := x.Steer("work", "faster")
		if again := x.Steer("work", "faster"); again.ID != one.ID {
			t.Errorf("the same call made %s and %s", one.ID, again.ID)
		}
		<-time.After(84 * time.Second) // it took that up, and has ended; its announce step is running
		if got := routertest.Kinds(x.Task("work")); got != "child done, child done, announce running" || x.Called("work") != 2 || x.Task("work")[1].Attempt != 0 {
			t.Errorf("%s, %d model calls", got, x.Called("work"))
		}
		two := x.Steer("work", "and further")
		if two.Timeout != 100*time.Second || two.Model != "mock/special" || two.Label != "worker" || two.Chain.Request != "and further" || two.Input.Provenance.Tool != "subagents" {
			t.Errorf("%+v", two)
		}
		<-time.After(44 * time.Second)
		if got := routertest.Kinds(x.Task("work")); got != "child done, child done, announce done, child running" {
			t.Errorf("%s", got)
		}
		posts := x.Ended(3)
		for _, d := range posts[1:] {
			if !strings.HasPrefix(d.Text, "Status: success") {
				t.Errorf("%s", d.Text)
			}
		}
		if _, err := x.Store.Get(t.Context(), two.Key); !errors.Is(err, sessions.ErrNotFound) {
			t.Errorf("after the last report: %v", err)
		}
		var no *tools.Refused
		if _, err := x.Router.ToolHost.Steer(t.Context(), tools.SteerRequest{Source: "x", From: x.Session(routertest.KeyA), Child: routertest.KeyA, Message: "go"}); !errors.As(err, &no) {
			t.Errorf("steering a chat: %v", err)
		}
	})
}
