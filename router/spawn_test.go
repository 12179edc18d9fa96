package router

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/agent"
	"parley/sessions"
	"parley/tools"
)

// caller is the sub-agent that has a task, with its newest run.
func (x *tree) caller(task string) tools.Caller {
	x.t.Helper()
	list := x.task(task)
	run := list[len(list)-1]
	return tools.Caller{Session: x.session(run.Key), Run: run}
}

// TestSpawnDepth holds sub-agents to maxSpawnDepth in the host itself, whoever asks.
//
// proves: N8, N16
func TestSpawnDepth(t *testing.T) {
	for depth := 1; depth <= 3; depth++ {
		t.Run(fmt.Sprint(depth), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				x := newTree(t, depth)
				from := tools.Caller{Session: x.session(keyA)}
				for at := range depth {
					task := fmt.Sprint("level ", at)
					x.does(task, slowly(time.Hour))
					run, err := x.r.Spawn(t.Context(), tools.SpawnRequest{Source: task, From: from, Agent: "main", Task: task})
					if err != nil {
						t.Fatalf("at depth %d: %v", at, err)
					}
					if s := x.session(run.Key); len(s.Above) != at+1 || s.SpawnedBy != from.Session.Key {
						t.Errorf("at depth %d: spawned by %s, above it are %v", at, s.SpawnedBy, s.Above)
					}
					x.until("it is at work", func() bool { return x.caller(task).Run.Status == sessions.Running })
					from = x.caller(task)
				}
				x.does("deeper", slowly(time.Hour)) // it has not ended when the runs are counted
				_, err := x.r.Spawn(t.Context(), tools.SpawnRequest{Source: "deeper", From: from, Agent: "main", Task: "deeper"})
				var no *tools.Refused
				if !errors.As(err, &no) || !strings.Contains(no.Reason, fmt.Sprintf("maxSpawnDepth is %d", depth)) {
					t.Errorf("at depth %d: %v", depth, err)
				}
				from.Session.Above = nil // as in a row that an older host wrote
				if _, err := x.r.Spawn(t.Context(), tools.SpawnRequest{Source: "deeper", From: from, Agent: "main", Task: "deeper"}); (err == nil) != (depth > 1) {
					t.Errorf("a sub-agent that does not know its depth: %v", err)
				}
				if n := len(x.runs()); n != 1+depth+map[bool]int{true: 1}[depth > 1] {
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
	bubble(t, func(t *testing.T) {
		x := newTree(t, 3, func(s *Settings) {
			s.Agents.List = []agent.Entry{{ID: "main"}, {ID: "helper"}, {ID: "expert"}}
			for i := range s.Agents.List {
				s.Agents.List[i].Subagents.AllowAgents = []string{"*"}
			}
		})
		x.does("one", steps(delegate("c1", "two", "agentId", "expert"), resting("c2"), text("done")))
		x.does("two", steps(delegate("c1", "three", "agentId", "expert"), resting("c2"), text("done")))
		x.spawn(tools.SpawnRequest{Source: "s", Task: "one", Agent: "helper"})
		x.ended(2)
		if s := x.session(x.task("three")[0].Key); !slices.Equal(s.Above, []sessions.AgentID{"expert", "helper", "main"}) {
			t.Errorf("%v", s.Above)
		}
	})
}

// TestSpawnCalledAgain repeats a call after a crash: it gives what it made, also at the bounds, and when that is deleted since.
//
// proves: N16, S14
func TestSpawnCalledAgain(t *testing.T) {
	bubble(t, func(t *testing.T) {
		x := newTree(t, 1, func(s *Settings) { s.Agents.Defaults.Subagents.MaxChildrenPerAgent = 1 })
		first := x.spawn(tools.SpawnRequest{Source: "s1", Task: "short"})
		x.ended(2)
		x.does("long", slowly(time.Hour))
		x.spawn(tools.SpawnRequest{Source: "s2", Task: "long"})
		if again := x.spawn(tools.SpawnRequest{Source: "s1", Task: "short"}); again.ID != first.ID || again.Key != first.Key {
			t.Errorf("again: %+v", again)
		}
		q := tools.SpawnRequest{Source: "s3", From: tools.Caller{Session: x.session(keyA)}, Agent: "main", Task: "more"}
		var no *tools.Refused
		if _, err := x.r.Spawn(t.Context(), q); !errors.As(err, &no) || !strings.Contains(no.Reason, "1 sub-agents at work") {
			t.Errorf("one too many: %v", err)
		}
		x.cancel("long")
		if err := x.store.Delete(t.Context(), first.Key); err != nil {
			t.Fatal(err)
		}
		q.Source = "s1"
		x.until("the long one has ended", func() bool { return x.task("long")[0].Status.Final() })
		if run, err := x.r.Spawn(t.Context(), q); err != nil || run.ID != first.ID || run.Key != first.Key {
			t.Errorf("what it made is deleted: %+v, %v", run, err)
		}
		if run, err := x.store.GetRun(t.Context(), first.ID); !errors.Is(err, sessions.ErrNotFound) {
			t.Errorf("it is made again: %+v, %v", run, err)
		}
	})
}

// TestSpawnOnBehalfOfAnAsk has a sub-agent spawn while it answers another session: the result comes to it all the same.
//
// proves: N10, N15
func TestSpawnOnBehalfOfAnAsk(t *testing.T) {
	bubble(t, func(t *testing.T) {
		x := newTree(t, 2, func(s *Settings) { s.Session.AgentToAgent.MaxPingPongTurns = 0 })
		x.does("outer", func(_ context.Context, p agent.Prompt) (agent.Answer, error) {
			switch m := last(p); {
			case strings.Contains(p.System, "comes from another session") && m.Role == sessions.User:
				return delegate("c1", "inner"), nil
			case strings.HasPrefix(m.Text(), "Status: success"):
				return text("done inner as well"), nil
			}
			return text("done"), nil
		})
		x.does("inner", slowly(time.Hour))
		outer := x.spawn(tools.SpawnRequest{Source: "s", Task: "outer", Timeout: 60})
		x.ended(2)
		<-time.After(time.Hour)
		if _, err := x.r.Ask(t.Context(), tools.AskRequest{Source: "a", From: tools.Caller{Session: x.session(keyA)}, To: outer.Key, Message: "and the rest?"}); err != nil {
			t.Fatal(err)
		}
		<-time.After(2 * time.Hour)
		if got := kinds(x.task("outer")); got != "child done, announce done, ask done, announce done, child done, announce done" {
			t.Errorf("%s", got)
		}
		if inner := x.task("inner")[0]; inner.Chain.Origin != groupChat("a") || inner.Chain.Parent == nil || inner.Chain.Parent.Root != outer.ID || !inner.Chain.Parent.Until.IsZero() {
			t.Errorf("%+v", inner.Chain)
		}
		if d := x.ended(3)[2]; d.To != groupChat("a") || !strings.HasPrefix(d.Text, "Status: success") {
			t.Errorf("%+v", d)
		}
	})
}

// TestSteer gives a sub-agent a further message: its turn at work takes it up, a later one is a turn of its own with the whole time
// limit, and is reported.
//
// proves: N9, N14, N16
func TestSteer(t *testing.T) {
	bubble(t, func(t *testing.T) {
		x := newTree(t, 1)
		x.announces = 10 * time.Second
		x.does("work", func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
			sleep(ctx, 40*time.Second)
			return text("heard " + lastUser(p)), ctx.Err()
		})
		x.spawn(tools.SpawnRequest{Source: "s", Task: "work", Timeout: 100, Model: "mock/special", Label: "worker", Cleanup: "delete"})
		<-time.After(time.Second)
		one := x.steer("work", "faster")
		if again := x.steer("work", "faster"); again.ID != one.ID {
			t.Errorf("the same call made %s and %s", one.ID, again.ID)
		}
		<-time.After(84 * time.Second) // it took that up, and has ended; its announce step is at work
		if got := kinds(x.task("work")); got != "child done, child done, announce running" || x.called("work") != 2 || x.task("work")[1].Attempt != 0 {
			t.Errorf("%s, %d model calls", got, x.called("work"))
		}
		two := x.steer("work", "and further")
		if two.Timeout != 100*time.Second || two.Model != "mock/special" || two.Label != "worker" || two.Chain.Request != "and further" || two.Input.Provenance.Tool != "subagents" {
			t.Errorf("%+v", two)
		}
		<-time.After(44 * time.Second)
		if got := kinds(x.task("work")); got != "child done, child done, announce done, child running" {
			t.Errorf("%s", got)
		}
		posts := x.ended(3)
		for _, d := range posts[1:] {
			if !strings.HasPrefix(d.Text, "Status: success") {
				t.Errorf("%s", d.Text)
			}
		}
		if _, err := x.store.Get(t.Context(), two.Key); !errors.Is(err, sessions.ErrNotFound) {
			t.Errorf("after the last report: %v", err)
		}
		var no *tools.Refused
		if _, err := x.r.Steer(t.Context(), tools.SteerRequest{Source: "x", From: x.session(keyA), Child: keyA, Message: "go"}); !errors.As(err, &no) {
			t.Errorf("steering a chat: %v", err)
		}
	})
}
