package router_test

import (
	"context"
	"errors"
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

// fails starts the sub-agents and then breaks off: only such a turn ends before they do. Its later turns answer.
func fails(start ...agent.Answer) func(context.Context, agent.Prompt) (agent.Answer, error) {
	return func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
		n := 0
		for _, m := range p.Messages {
			if m.Role == sessions.ToolResult {
				n++
			}
		}
		switch {
		case n < len(start):
			return start[n], nil
		case routertest.Last(p).Role == sessions.ToolResult:
			return agent.Answer{}, errors.New("scripted")
		}
		return routertest.Text("now it is done"), nil
	}
}

// TestOrchestrator has a sub-agent spawn one of its own and wait for it: one turn, one report, from the outermost alone.
//
// proves: N8, N10, N15, N16, S8
func TestOrchestrator(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		x := routertest.NewTree(t, 2)
		var shown []string
		const may = "You may start sub-agents"
		x.Does("outer", func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
			if shown = routertest.WordsOf(p); !strings.Contains(p.System, may) {
				t.Errorf("the outer one is told %s", p.System)
			}
			return routertest.Steps(routertest.Delegate("c1", "inner"), routertest.Resting("c2"), routertest.Text("both done"))(ctx, p)
		})
		x.Does("inner", func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
			if strings.Contains(p.System, may) {
				t.Errorf("the inner one is told %s", p.System)
			}
			channels.Sleep(ctx, time.Second)
			return routertest.Text("done inner"), nil
		})
		run := x.Spawn(tools.SpawnRequest{Source: "s", Task: "outer"})
		list := x.Rig.Idle(5)
		if got := routertest.Kinds(x.Task("outer")); got != "child done, child done, announce done" { // the second one was merged by the first
			t.Errorf("the outer one: %s", got)
		}
		inner := x.Task("inner")
		if got := routertest.Kinds(inner); got != "child done" {
			t.Errorf("the inner one: %s", got)
		}
		if len(list) != 6 || x.Called("outer") != 3 || x.Called("inner") != 1 {
			t.Errorf("%d runs, model calls %v", len(list), x.Counts())
		}
		if got := shown[len(shown)-1]; len(shown) != 6 || !strings.HasPrefix(got, "user:Status: success\n\nResult:\ndone inner") || !strings.Contains(got, string(inner[0].Key)) {
			t.Errorf("the outer one is shown %q", shown)
		}
		posts := x.Ended(2)
		if d := posts[1]; !strings.Contains(d.Text, "announced outer") || d.To != routertest.Group("a") || d.State != sessions.Sent {
			t.Errorf("%+v", d)
		}
		above := x.Session(inner[0].Key).Above
		if len(above) != 2 || x.Session(run.Key).SpawnedBy != routertest.KeyA || x.Session(inner[0].Key).SpawnedBy != run.Key {
			t.Errorf("above the inner one are %v", above)
		}
		report := x.Task("outer")[1]
		if p := report.Input.Provenance; p == nil || p.Kind != sessions.InterSession || p.Source != inner[0].Key || p.Tool != "sessions_spawn" || report.Attempt != 0 {
			t.Errorf("the report: %+v", report)
		}
	})
}

// TestResultAfterTheParentsTurn has a sub-agent fail before the one that it spawned has ended: the result is a further turn of it, and what
// comes of that is reported as well.
//
// proves: N10, N15, N16
func TestResultAfterTheParentsTurn(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		x := routertest.NewTree(t, 2)
		x.Does("outer", fails(routertest.Delegate("c1", "inner")))
		x.Does("inner", func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
			channels.Sleep(ctx, time.Minute)
			return routertest.Text("done inner"), nil
		})
		first := x.Spawn(tools.SpawnRequest{Source: "s", Task: "outer", Model: "mock/special", Label: "outer one", Timeout: 600, Cleanup: "delete"})
		x.Ended(2)
		if _, err := x.Store.Get(t.Context(), first.Key); err != nil {
			t.Fatalf("after its first report, with a sub-agent at work: %v", err)
		}
		further := x.Task("outer")
		x.Until("the second report", func() bool { return len(x.Deliveries()) == 3 })
		posts := x.Ended(3)
		for _, d := range posts[1:] {
			if !strings.Contains(d.Text, "announced outer") || d.To != routertest.Group("a") {
				t.Errorf("%+v", d)
			}
		}
		if got := routertest.Kinds(further); got != "child failed, announce done" {
			t.Errorf("before: %s", got)
		}
		if _, err := x.Store.Get(t.Context(), first.Key); !errors.Is(err, sessions.ErrNotFound) {
			t.Errorf("after its second report: %v", err)
		}
	})
}

// TestFurtherTurnOfAParent looks at the run that a nested result begins.
//
// proves: N9, N16
func TestFurtherTurnOfAParent(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		x := routertest.NewTree(t, 2)
		x.Does("outer", fails(routertest.Delegate("c1", "inner")))
		x.Does("inner", routertest.Slowly(time.Minute))
		first := x.Spawn(tools.SpawnRequest{Source: "s", Task: "outer", Model: "mock/special", Label: "outer one", Timeout: 600})
		x.Ended(3)
		runs := x.Task("outer")
		if got := routertest.Kinds(runs); got != "child failed, announce done, child done, announce done" {
			t.Fatalf("%s", got)
		}
		got := runs[2]
		if got.Model != "mock/special" || got.Label != "outer one" || got.Chain.Requester != routertest.KeyA || got.Chain.Root != first.ID || got.Chain.Origin != routertest.Group("a") || got.Chain.Parent != nil {
			t.Errorf("%+v, chain %+v", got, got.Chain)
		}
		if began := runs[0].Started; got.Deadline.Sub(began).Round(time.Second) != 10*time.Minute {
			t.Errorf("the first run ends by %s, the second by %s", runs[0].Deadline, got.Deadline)
		}
		if told := x.Steer("outer", "and now?"); told.Timeout != 10*time.Minute || !told.Chain.Until.IsZero() {
			t.Errorf("told something else, it has %s, until %s", told.Timeout, told.Chain.Until)
		}
	})
}

// TestCleanup has a sub-agent's session go, or stay, once there is nothing left to do in it.
//
// proves: N14
func TestCleanup(t *testing.T) {
	for name, c := range map[string]struct {
		child  string // what it says itself
		step   string // what its announce or result step says
		nested bool
		mode   string
	}{
		"announced":           {child: "done", step: "Result: fine"},
		"skipped by itself":   {child: "ANNOUNCE_SKIP"},
		"skipped by the step": {child: "done", step: "ANNOUNCE_SKIP"},
		"worded":              {child: "done", step: "It is done.", mode: "requester"},
		"nothing to say":      {child: "done", step: "NO_REPLY", mode: "requester"},
		"handed up":           {child: "done", step: "Result: fine", nested: true},
		"skipped, nested":     {child: "ANNOUNCE_SKIP", step: "Result: fine", nested: true},
	} {
		for _, cleanup := range []string{"keep", "delete"} {
			t.Run(name+"/"+cleanup, func(t *testing.T) {
				routertest.Bubble(t, func(t *testing.T) {
					x := routertest.NewTree(t, 2, func(s *settings.Snapshot) { s.Agents.Defaults.Subagents.Announce = c.mode })
					x.Model.Set(func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
						if strings.Contains(p.System, "announce step") || strings.Contains(p.System, "has ended") {
							return routertest.Text(c.step), nil
						}
						return x.Answer(ctx, p)
					})
					x.Does("one", func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
						channels.Sleep(ctx, 10*time.Second)
						return routertest.Text(c.child), nil
					})
					x.Does("outer", routertest.Steps(routertest.Delegate("c1", "one", "cleanup", cleanup), routertest.Resting("c2"), routertest.Text("done")))
					var key sessions.Key
					if c.nested {
						x.Spawn(tools.SpawnRequest{Source: "s", Task: "outer"})
						<-time.After(time.Second)
						key = x.Task("one")[0].Key
					} else {
						key = x.Spawn(tools.SpawnRequest{Source: "s", Task: "one", Cleanup: cleanup}).Key
					}
					<-time.After(time.Minute)
					if _, err := x.Store.Get(t.Context(), key); errors.Is(err, sessions.ErrNotFound) != (cleanup == "delete") {
						t.Errorf("%v", err)
					}
				})
			})
		}
	}
}
