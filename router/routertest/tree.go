package routertest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/channels/channeltest"
	"parley/router/settings"
	"parley/sessions"
	"parley/tools"
)

// Cancel ends what the sub-agent with a task is at.
func (x *Tree) Cancel(task string) int {
	x.T.Helper()
	n, err := x.Router.ToolHost.Cancel(x.T.Context(), "cancel "+task, x.Task(task)[0].Key)
	if err != nil {
		x.T.Fatal(err)
	}
	return len(n)
}

// Child is what the sub-agent and its announce step say; nil says "done" and "fine".
type Child struct {
	Work, Announce func(context.Context, agent.Prompt) (agent.Answer, error)
}

// Answer answers the prompts of a sub-agent and of its report, and echoes others.
func (c Child) Answer(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
	switch {
	case strings.Contains(p.System, "announce step"):
		if c.Announce == nil {
			return Text("Result: fine"), nil
		}
		return c.Announce(ctx, p)
	case strings.Contains(p.System, "sub-agent"):
		if c.Work == nil {
			return Text("done"), nil
		}
		return c.Work(ctx, p)
	}
	return Text("echo: " + LastUser(p)), nil
}

// Parent makes the session a, from which tests spawn.
func Parent(t *testing.T, c Child, fs ...func(*settings.Snapshot)) *Rig {
	t.Helper()
	g := New(t, channeltest.Options{}, fs...)
	g.Say(Group("a"), Guest, "hello")
	g.Shown(1)
	g.Idle(1)
	g.Model.Set(c.Answer)
	return g
}

// Spawn has the session of group a start a sub-agent.
func (g *Rig) Spawn(q tools.SpawnRequest) sessions.Run {
	g.T.Helper()
	if q.From.Session.Key == "" {
		q.From.Session = g.Session(KeyA)
	}
	q.Task = cmp.Or(q.Task, "compute")
	if q.Agent == "" {
		q.Agent = "main"
	}
	run, err := g.Router.ToolHost.Spawn(g.T.Context(), q)
	if err != nil {
		g.T.Fatal(err)
	}
	return run
}

// Flock is a chat with three sub-agents: the first is done, the second and third are running until they are stopped or told more.
func Flock(t *testing.T, fs ...func(*settings.Snapshot)) *Tree {
	t.Helper()
	x := NewTree(t, 1, fs...)
	for i, task := range []string{"sheep", "goats", "cows"} {
		<-time.After(time.Minute)
		if task != "sheep" {
			x.Does(task, func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
				if strings.HasPrefix(LastUser(p), "more") {
					return Text("told " + LastUser(p)), nil
				}
				if n := len(p.Messages); n == 1 {
					return Call("c1", "remember", map[string]any{"text": "a fact"}), nil
				}
				<-ctx.Done()
				return agent.Answer{}, ctx.Err()
			})
		}
		x.Spawn(tools.SpawnRequest{Source: fmt.Sprint("s", i), Task: task, Label: map[string]string{"goats": "my_goats"}[task]})
	}
	<-time.After(time.Minute)
	x.Shown(2) // the answer to hello, and the report about the sheep
	return x
}

// Steer sends a message to the sub-agent that has a task.
func (x *Tree) Steer(task, words string) sessions.Run {
	x.T.Helper()
	run, err := x.Router.ToolHost.Steer(x.T.Context(), tools.SteerRequest{Source: "steer " + words, From: x.Session(KeyA), Child: x.Task(task)[0].Key, Message: words})
	if err != nil {
		x.T.Fatal(err)
	}
	return run
}

// Tree is a rig whose sub-agents may have sub-agents. What the agent of a task does next is asked of plan: it gets the task and
// what the model is shown.
type Tree struct {
	*Rig
	mu    sync.Mutex
	plan  map[string]func(ctx context.Context, p agent.Prompt) (agent.Answer, error)
	calls map[string]int // model calls by task, announce steps left out

	Announces time.Duration // how long an announce step takes
}

// TaskOf is the task of the sub-agent that is asked: its first message.
func TaskOf(p agent.Prompt) string {
	for _, m := range p.Messages {
		if m.Role == sessions.User {
			return m.Text()
		}
	}
	return ""
}

// NewTree starts a host whose sub-agents may go so deep.
func NewTree(t *testing.T, depth int, fs ...func(*settings.Snapshot)) *Tree {
	t.Helper()
	x := &Tree{plan: map[string]func(context.Context, agent.Prompt) (agent.Answer, error){}, calls: map[string]int{}}
	fs = append([]func(*settings.Snapshot){func(s *settings.Snapshot) { s.Agents.Defaults.Subagents.MaxSpawnDepth = depth }}, fs...)
	x.Rig = New(t, channeltest.Options{}, fs...)
	x.Say(Group("a"), Guest, "hello")
	x.Shown(1)
	x.Rig.Idle(1)
	x.Model.Set(x.Answer)
	return x
}

// Does says what the agent of a task does from now on.
func (x *Tree) Does(task string, plan func(context.Context, agent.Prompt) (agent.Answer, error)) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.plan[task] = plan
}

// Called says how often the model was asked on behalf of a task.
func (x *Tree) Called(task string) int { return x.Counts()[task] }

// Counts is how often each task was asked for.
func (x *Tree) Counts() map[string]int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return maps.Clone(x.calls)
}

// Answer answers a prompt by the plan of its task.
func (x *Tree) Answer(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
	if strings.Contains(p.System, "announce step") {
		channels.Sleep(ctx, x.Announces)
		return Text("Result: announced " + TaskOf(p)), nil
	}
	if !strings.Contains(p.System, "You are a sub-agent") {
		return Text("echo: " + LastUser(p)), nil
	}
	task := TaskOf(p)
	x.mu.Lock()
	x.calls[task]++
	plan := x.plan[task]
	x.mu.Unlock()
	if plan == nil {
		return Text("done " + task), nil
	}
	return plan(ctx, p)
}

// Delegate starts a sub-agent; more are further arguments.
func Delegate(id, task string, more ...any) agent.Answer {
	args := map[string]any{"task": task}
	for i := 0; i+1 < len(more); i += 2 {
		args[more[i].(string)] = more[i+1]
	}
	return Call(id, "sessions_spawn", args)
}

// Resting waits for sub-agents.
func Resting(id string) agent.Answer { return Call(id, "sessions_yield", map[string]any{}) }

// Task gives the runs of the sub-agent that was started for a task, oldest first.
func (x *Tree) Task(task string) (list []sessions.Run) {
	x.T.Helper()
	var key sessions.Key
	for _, run := range x.Runs() {
		if run.Kind == sessions.ChildRun && run.Input.Text() == task {
			key = run.Key
		}
		if key != "" && run.Key == key {
			list = append(list, run)
		}
	}
	if key == "" {
		x.T.Fatalf("no sub-agent has the task %s", task)
	}
	return list
}

// Caller is the sub-agent that has a task, with its newest run.
func (x *Tree) Caller(task string) tools.Caller {
	x.T.Helper()
	list := x.Task(task)
	run := list[len(list)-1]
	return tools.Caller{Session: x.Session(run.Key), Run: run}
}
