package killtest

import (
	"context"
	"strings"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/router/routertest"
	"parley/router/settings"
)

// family is a sub-agent that starts one of its own and then yields, ends or fails; what that one finds it makes its own result.
func family(then string) func(context.Context, routertest.Step) (agent.Answer, error) {
	return func(ctx context.Context, s routertest.Step) (agent.Answer, error) {
		switch {
		case strings.HasPrefix(s.Said, "Status: "):
			return routertest.Text("outer has what inner found"), nil
		case s.Said == "inner":
			return takes(10*time.Second)(ctx, s)
		case len(s.Results) == 0:
			a := routertest.Call("f1", "sessions_spawn", map[string]any{"task": "inner"})
			if then == "fails" { // what it said is reported
				a.Content = append(routertest.Text("outer has asked inner").Content, a.Content...)
			}
			return a, nil
		case len(s.Results) == 1 && then == "yields":
			return routertest.Call("f2", "sessions_yield", map[string]any{}), nil
		case then == "fails":
			return breaks(ctx, s)
		}
		return routertest.Text("outer has begun"), nil
	}
}

// steered is a sub-agent that is told something more while it works, or after.
func steered(d time.Duration) func(context.Context, routertest.Step) (agent.Answer, error) {
	return func(ctx context.Context, s routertest.Step) (agent.Answer, error) {
		if s.Said == "more" {
			return routertest.Text("done, and more"), nil
		}
		return takes(d)(ctx, s)
	}
}

// directs makes what a's agent does when it is spoken to for the second time: one tool call, and words.
func directs(tool string, args map[string]any) func(routertest.Step) agent.Answer {
	return func(s routertest.Step) agent.Answer {
		if len(s.Results) == 0 {
			return routertest.Call("d1", tool, args)
		}
		return routertest.Text("directed")
	}
}

func deep(s *settings.Snapshot) { s.Agents.Defaults.Subagents.MaxSpawnDepth = 2 }

func belowScenarios() []*scenario {
	spawn := []move{{id: "m1", to: routertest.ChatA, by: routertest.Guest, text: "spawn"}}
	direct := append(spawn, move{id: "m2", at: 20 * time.Second, to: routertest.ChatA, by: routertest.Guest, text: "direct it"})
	show := func(texts ...string) map[channels.Address][]string {
		return map[channels.Address][]string{routertest.ChatA: texts}
	}
	success := func(result string) string { return reported("success", result, "• (none)") }
	accepted := "sessions_spawn accepted"
	outer := []map[string]any{task("task", "outer")}
	more := directs("subagents", map[string]any{"action": "steer", "id": "last", "message": "more"})
	return []*scenario{
		{
			name: "child_waits_for_its_child", moves: spawn, set: deep,
			answer: spawning{calls: outer, works: family("yields")}.answer,
			want: want{chains: []string{"child child, child child (taken up), announce child", "child child"}, children: []string{"announced", "reported"},
				results: []string{accepted, accepted, "sessions_yield resumed"}, shows: show("started", success("outer has what inner found"))},
		},
		{
			name: "child_ends_before_its_child", moves: spawn, set: deep,
			answer: spawning{calls: outer, works: family("ends")}.answer,
			want: want{chains: []string{"child child, child child (taken up), announce child", "child child"}, children: []string{"announced", "reported"},
				results: []string{accepted, accepted}, shows: show("started", success("outer has what inner found"))},
		},
		{
			name: "child_fails_before_its_child", moves: spawn, set: deep,
			answer: spawning{calls: outer, works: family("fails")}.answer,
			want: want{chains: []string{"child child (failed), announce child, child child, announce child", "child child"}, children: []string{"announced", "announced", "reported"},
				results: []string{accepted, accepted}, shows: show("started", reported("error", "outer has asked inner", broken), success("outer has what inner found"))},
		},
		{
			name: "steer_at_work", moves: direct,
			answer: spawning{calls: []map[string]any{task()}, works: steered(time.Minute), later: more}.answer,
			want: want{chains: []string{"child child, child child (taken up), announce child"}, children: []string{"announced"},
				results: []string{accepted, "subagents accepted"}, shows: show("started", "directed", success("done, and more"))},
		},
		{
			name: "steer_after_its_end", moves: direct,
			answer: spawning{calls: []map[string]any{task()}, works: steered(0), later: more}.answer,
			want: want{chains: []string{"child child, announce child, child child, announce child"}, children: []string{"announced", "announced"},
				results: []string{accepted, "subagents accepted"}, shows: show("started", success("done"), "directed", success("done, and more"))},
		},
		{
			name: "cancel", moves: direct,
			answer: spawning{calls: []map[string]any{task("cleanup", "delete")}, works: takes(time.Minute), later: directs("subagents", map[string]any{"action": "cancel", "id": "last"})}.answer,
			want: want{chains: []string{"child child (aborted)"}, children: []string{"failed"}, again: map[string]string{"subagents idle": "subagents canceled"},
				results: []string{accepted, "subagents canceled"}, shows: show("started", "directed")},
		},
		{
			name: "message", moves: []move{{id: "m1", to: routertest.ChatA, by: routertest.Guest, text: "post it"}},
			answer: spawning{later: directs("message", map[string]any{"to": talkB, "text": "a note"})}.answer,
			want:   want{results: []string{"message queued"}, shows: shows("directed", "a note")},
		},
	}
}
