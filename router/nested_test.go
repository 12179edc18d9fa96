package router

import (
	"context"
	"errors"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/agent"
	"parley/channels/channeltest"
	"parley/sessions"
	"parley/tools"
)

// tree is a rig whose sub-agents may have sub-agents. What the agent of a task does next is asked of plan: it gets the task and
// what the model is shown.
type tree struct {
	*rig
	mu    sync.Mutex
	plan  map[string]func(ctx context.Context, p agent.Prompt) (agent.Answer, error)
	calls map[string]int // model calls by task, announce steps left out

	announces time.Duration // how long an announce step takes
}

// taskOf is the task of the sub-agent that is asked: its first message.
func taskOf(p agent.Prompt) string {
	for _, m := range p.Messages {
		if m.Role == sessions.User {
			return m.Text()
		}
	}
	return ""
}

func newTree(t *testing.T, depth int, fs ...func(*Settings)) *tree {
	t.Helper()
	x := &tree{plan: map[string]func(context.Context, agent.Prompt) (agent.Answer, error){}, calls: map[string]int{}}
	fs = append([]func(*Settings){func(s *Settings) { s.Agents.Defaults.Subagents.MaxSpawnDepth = depth }}, fs...)
	x.rig = newRig(t, channeltest.Options{}, fs...)
	x.say(groupChat("a"), guest, "hello")
	x.shown(1)
	x.rig.idle(1)
	x.model.set(x.answer)
	return x
}

// does says what the agent of a task does from now on.
func (x *tree) does(task string, plan func(context.Context, agent.Prompt) (agent.Answer, error)) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.plan[task] = plan
}

// called says how often the model was asked on behalf of a task.
func (x *tree) called(task string) int { return x.counts()[task] }

func (x *tree) counts() map[string]int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return maps.Clone(x.calls)
}

func (x *tree) answer(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
	if strings.Contains(p.System, "announce step") {
		sleep(ctx, x.announces)
		return text("Result: announced " + taskOf(p)), nil
	}
	if !strings.Contains(p.System, "You are a sub-agent") {
		return text("echo: " + lastUser(p)), nil
	}
	task := taskOf(p)
	x.mu.Lock()
	x.calls[task]++
	plan := x.plan[task]
	x.mu.Unlock()
	if plan == nil {
		return text("done " + task), nil
	}
	return plan(ctx, p)
}

// steps plays answers one after the other, by how many answers the prompt shows already; the last one again and again.
func steps(list ...agent.Answer) func(context.Context, agent.Prompt) (agent.Answer, error) {
	return func(_ context.Context, p agent.Prompt) (agent.Answer, error) {
		n := 0
		for _, m := range p.Messages {
			if m.Role == sessions.Assistant {
				n++
			}
		}
		return list[min(n, len(list)-1)], nil
	}
}

// delegate starts a sub-agent; more are further arguments.
func delegate(id, task string, more ...any) agent.Answer {
	args := map[string]any{"task": task}
	for i := 0; i+1 < len(more); i += 2 {
		args[more[i].(string)] = more[i+1]
	}
	return call(id, "sessions_spawn", args)
}

// resting waits for sub-agents.
func resting(id string) agent.Answer { return call(id, "sessions_yield", map[string]any{}) }

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
		case last(p).Role == sessions.ToolResult:
			return agent.Answer{}, errors.New("scripted")
		}
		return text("now it is done"), nil
	}
}

// task gives the runs of the sub-agent that was started for a task, oldest first.
func (x *tree) task(task string) (list []sessions.Run) {
	x.t.Helper()
	var key sessions.Key
	for _, run := range x.runs() {
		if run.Kind == sessions.ChildRun && run.Input.Text() == task {
			key = run.Key
		}
		if key != "" && run.Key == key {
			list = append(list, run)
		}
	}
	if key == "" {
		x.t.Fatalf("no sub-agent has the task %s", task)
	}
	return list
}

func kinds(list []sessions.Run) string {
	var out []string
	for _, r := range list {
		out = append(out, string(r.Kind)+" "+string(r.Status))
	}
	return strings.Join(out, ", ")
}

// TestOrchestrator has a sub-agent spawn one of its own and wait for it: one turn, one report, from the outermost alone.
//
// proves: N8, N10, N15, N16, S8
func TestOrchestrator(t *testing.T) {
	bubble(t, func(t *testing.T) {
		x := newTree(t, 2)
		var shown []string
		const may = "You may start sub-agents"
		x.does("outer", func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
			if shown = wordsOf(p); !strings.Contains(p.System, may) {
				t.Errorf("the outer one is told %s", p.System)
			}
			return steps(delegate("c1", "inner"), resting("c2"), text("both done"))(ctx, p)
		})
		x.does("inner", func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
			if strings.Contains(p.System, may) {
				t.Errorf("the inner one is told %s", p.System)
			}
			sleep(ctx, time.Second)
			return text("done inner"), nil
		})
		run := x.spawn(tools.SpawnRequest{Source: "s", Task: "outer"})
		list := x.rig.idle(5)
		if got := kinds(x.task("outer")); got != "child done, child done, announce done" { // the second one was taken up by the first
			t.Errorf("the outer one: %s", got)
		}
		inner := x.task("inner")
		if got := kinds(inner); got != "child done" {
			t.Errorf("the inner one: %s", got)
		}
		if len(list) != 6 || x.called("outer") != 3 || x.called("inner") != 1 {
			t.Errorf("%d runs, model calls %v", len(list), x.counts())
		}
		if got := shown[len(shown)-1]; len(shown) != 6 || !strings.HasPrefix(got, "user:Status: success\n\nResult:\ndone inner") || !strings.Contains(got, string(inner[0].Key)) {
			t.Errorf("the outer one is shown %q", shown)
		}
		posts := x.ended(2)
		if d := posts[1]; !strings.Contains(d.Text, "announced outer") || d.To != groupChat("a") || d.State != sessions.Sent {
			t.Errorf("%+v", d)
		}
		above := x.session(inner[0].Key).Above
		if len(above) != 2 || x.session(run.Key).SpawnedBy != keyA || x.session(inner[0].Key).SpawnedBy != run.Key {
			t.Errorf("above the inner one are %v", above)
		}
		report := x.task("outer")[1]
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
	bubble(t, func(t *testing.T) {
		x := newTree(t, 2)
		x.does("outer", fails(delegate("c1", "inner")))
		x.does("inner", func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
			sleep(ctx, time.Minute)
			return text("done inner"), nil
		})
		first := x.spawn(tools.SpawnRequest{Source: "s", Task: "outer", Model: "mock/special", Label: "outer one", Timeout: 600, Cleanup: "delete"})
		x.ended(2)
		if _, err := x.store.Get(t.Context(), first.Key); err != nil {
			t.Fatalf("after its first report, with a sub-agent at work: %v", err)
		}
		further := x.task("outer")
		x.until("the second report", func() bool { return len(x.deliveries()) == 3 })
		posts := x.ended(3)
		for _, d := range posts[1:] {
			if !strings.Contains(d.Text, "announced outer") || d.To != groupChat("a") {
				t.Errorf("%+v", d)
			}
		}
		if got := kinds(further); got != "child failed, announce done" {
			t.Errorf("before: %s", got)
		}
		if _, err := x.store.Get(t.Context(), first.Key); !errors.Is(err, sessions.ErrNotFound) {
			t.Errorf("after its second report: %v", err)
		}
	})
}

// TestFurtherTurnOfAParent looks at the run that a nested result begins.
//
// proves: N9, N16
func TestFurtherTurnOfAParent(t *testing.T) {
	bubble(t, func(t *testing.T) {
		x := newTree(t, 2)
		x.does("outer", fails(delegate("c1", "inner")))
		x.does("inner", slowly(time.Minute))
		first := x.spawn(tools.SpawnRequest{Source: "s", Task: "outer", Model: "mock/special", Label: "outer one", Timeout: 600})
		x.ended(3)
		runs := x.task("outer")
		if got := kinds(runs); got != "child failed, announce done, child done, announce done" {
			t.Fatalf("%s", got)
		}
		got := runs[2]
		if got.Model != "mock/special" || got.Label != "outer one" || got.Chain.Requester != keyA || got.Chain.Root != first.ID || got.Chain.Origin != groupChat("a") || got.Chain.Parent != nil {
			t.Errorf("%+v, chain %+v", got, got.Chain)
		}
		if began := runs[0].Started; got.Deadline.Sub(began).Round(time.Second) != 10*time.Minute {
			t.Errorf("the first run ends by %s, the second by %s", runs[0].Deadline, got.Deadline)
		}
		if told := x.steer("outer", "and now?"); told.Timeout != 10*time.Minute || !told.Chain.Until.IsZero() {
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
				bubble(t, func(t *testing.T) {
					x := newTree(t, 2, func(s *Settings) { s.Agents.Defaults.Subagents.Announce = c.mode })
					x.model.set(func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
						if strings.Contains(p.System, "announce step") || strings.Contains(p.System, "has ended") {
							return text(c.step), nil
						}
						return x.answer(ctx, p)
					})
					x.does("one", func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
						sleep(ctx, 10*time.Second)
						return text(c.child), nil
					})
					x.does("outer", steps(delegate("c1", "one", "cleanup", cleanup), resting("c2"), text("done")))
					var key sessions.Key
					if c.nested {
						x.spawn(tools.SpawnRequest{Source: "s", Task: "outer"})
						<-time.After(time.Second)
						key = x.task("one")[0].Key
					} else {
						key = x.spawn(tools.SpawnRequest{Source: "s", Task: "one", Cleanup: cleanup}).Key
					}
					<-time.After(time.Minute)
					if _, err := x.store.Get(t.Context(), key); errors.Is(err, sessions.ErrNotFound) != (cleanup == "delete") {
						t.Errorf("%v", err)
					}
				})
			})
		}
	}
}
