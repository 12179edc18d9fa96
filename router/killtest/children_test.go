package killtest

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/router/routertest"
	"parley/router/settings"
)

// spawning is a script in which the agent of chat a spawns sub-agents.
type spawning struct {
	calls  []map[string]any                                                   // the arguments of the calls of sessions_spawn, all in one answer
	works  func(ctx context.Context, s routertest.Step) (agent.Answer, error) // the sub-agents; nil says done
	report string                                                             // of the sub-agents; "!" fails
	result string                                                             // what a's agent makes of a report, where that is its business
	later  func(s routertest.Step) agent.Answer                               // what a's agent does when it is told anything but spawn
}

func (q spawning) answer(ctx context.Context, s routertest.Step) (agent.Answer, error) {
	switch {
	case s.Kind == "report" && q.report == "!":
		return agent.Answer{}, errors.New("scripted")
	case s.Kind == "report" && q.report == "":
		return routertest.Text("Result: " + s.Latest), nil
	case s.Kind == "report":
		return routertest.Text(q.report), nil
	case s.Kind == "result":
		return routertest.Text(q.result), nil
	case s.Kind == "child" && q.works != nil:
		return q.works(ctx, s)
	case s.Kind == "child":
		return routertest.Text("done"), nil
	case q.later != nil && !strings.HasSuffix(s.Said, "spawn"):
		return q.later(s), nil
	case len(s.Results) > 0:
		return routertest.Text("started"), nil
	}
	a := routertest.Text("")
	for i, args := range q.calls {
		a.Content = append(a.Content, routertest.Call("c"+strconv.Itoa(i), "sessions_spawn", args).Content...)
	}
	return a, nil
}

// takes makes a sub-agent that works for some time.
func takes(d time.Duration) func(context.Context, routertest.Step) (agent.Answer, error) {
	return func(ctx context.Context, _ routertest.Step) (agent.Answer, error) {
		if !channels.Sleep(ctx, d) {
			return agent.Answer{}, ctx.Err()
		}
		return routertest.Text("done"), nil
	}
}

// breaks is a sub-agent whose model cannot be reached.
func breaks(context.Context, routertest.Step) (agent.Answer, error) {
	return agent.Answer{}, errors.New("scripted")
}

// broken is what a report says of such a sub-agent.
const broken = "• Error: Something went wrong while I was working on this. The details are in the log."

// remembers is a sub-agent that calls a tool and then says nothing.
func remembers(_ context.Context, s routertest.Step) (agent.Answer, error) {
	if len(s.Results) > 0 {
		return routertest.Text(""), nil
	}
	return routertest.Call("r1", "remember", map[string]any{"text": "a fact"}), nil
}

// reported is a report as chats show it, without its last line.
func reported(status, result, notes string) string {
	return "Status: " + status + "\n\nResult:\n" + result + "\n\nNotes:\n" + notes
}

func task(args ...any) map[string]any {
	m := map[string]any{"task": "compute"}
	for i := 0; i < len(args); i += 2 {
		m[args[i].(string)] = args[i+1]
	}
	return m
}

func childScenarios() []*scenario {
	spawn := []move{{id: "m1", to: routertest.ChatA, by: routertest.Guest, text: "spawn"}}
	off := move{id: "m2", at: 20 * time.Second, to: routertest.ChatA, by: routertest.Owner, text: "/send off"}
	stop := move{id: "m2", at: 20 * time.Second, to: routertest.ChatA, by: routertest.Owner, text: "/stop"}
	later := []move{{id: "m2", to: routertest.ChatA, by: routertest.Owner, text: "/send off"}, {id: "m3", at: 5 * time.Second, to: routertest.ChatA, by: routertest.Guest, text: "spawn"}}
	one := []map[string]any{task()}
	accepted := []string{"sessions_spawn accepted"}
	fine := reported("success", "fine", "• (none)")
	show := func(texts ...string) map[channels.Address][]string {
		return map[channels.Address][]string{routertest.ChatA: texts}
	}
	return []*scenario{
		{
			name: "spawn", moves: spawn, twice: true,
			answer: spawning{calls: one, report: "Result: fine"}.answer,
			want:   want{chains: []string{"child child, announce child"}, children: []string{"announced"}, results: accepted, shows: show("started", fine)},
		},
		{
			name: "spawn_and_delete", moves: spawn,
			answer: spawning{calls: []map[string]any{task("cleanup", "delete")}, report: "Result: fine"}.answer,
			want:   want{children: []string{"announced"}, results: accepted, shows: show("started", fine)},
		},
		{
			name: "spawn_with_empty_reply", moves: spawn,
			answer: spawning{calls: one, works: remembers, report: "!"}.answer,
			want: want{chains: []string{"child child, announce child (failed)"}, children: []string{"announced"}, results: append(accepted, "remember ok"),
				shows: show("started", reported("success", `{"status":"ok"}`, "• (none)")), notes: 1},
		},
		{
			name: "spawn_that_fails", moves: spawn,
			answer: spawning{calls: one, works: breaks, report: "!"}.answer,
			want: want{chains: []string{"child child (failed), announce child (failed)"}, children: []string{"announced"}, results: accepted,
				shows: show("started", reported("error", "(not available)", broken))},
		},
		{
			name: "spawn_that_times_out", moves: spawn,
			answer: spawning{calls: []map[string]any{task("runTimeoutSeconds", 60)}, works: takes(time.Hour), report: "Result: none"}.answer,
			want: want{chains: []string{"child child (timeout), announce child"}, children: []string{"announced"}, results: accepted,
				shows: show("started", reported("timeout", "none", "• Error: I ran out of time (1m0s) and stopped working on this."))},
		},
		{
			name: "spawn_two", moves: spawn,
			answer: spawning{calls: []map[string]any{task("label", "one"), task("label", "two", "cleanup", "delete")}, works: takes(time.Second), report: "Result: fine"}.answer,
			want: want{chains: []string{"child child, announce child"}, children: []string{"announced", "announced"},
				results: append(accepted, accepted...), shows: show("started", fine, fine)},
		},
		{
			name: "spawn_with_silent_step", moves: spawn,
			answer: spawning{calls: one, report: "ANNOUNCE_SKIP"}.answer,
			want:   want{chains: []string{"child child, announce child"}, children: []string{"silent"}, results: accepted, shows: show("started")},
		},
		{
			name: "spawn_with_silent_child", moves: spawn,
			answer: spawning{calls: []map[string]any{task("cleanup", "delete")}, works: func(context.Context, routertest.Step) (agent.Answer, error) {
				return routertest.Text("ANNOUNCE_SKIP"), nil
			}}.answer,
			want: want{children: []string{"silent"}, results: accepted, shows: show("started")},
		},
		{
			name: "spawn_under_deny", moves: later,
			answer: spawning{calls: one, report: "Result: fine"}.answer,
			want:   want{chains: []string{"child child, announce child"}, children: []string{"withheld"}, results: accepted, shows: show(flip)},
		},
		{
			name: "spawn_and_send_off", moves: append(spawn, off),
			answer: spawning{calls: one, works: takes(time.Minute), report: "Result: fine"}.answer,
			want:   want{chains: []string{"child child, announce child"}, children: []string{"withheld"}, results: accepted, shows: show("started", flip)},
		},
		{
			name: "spawn_and_stop", moves: append(spawn, stop),
			answer: spawning{calls: one, works: takes(time.Minute), report: "Result: fine"}.answer,
			want:   want{chains: []string{"child child (aborted)"}, children: []string{"failed"}, results: accepted, shows: show("started", "⚙️ Stopped 1 sub-agent.")},
		},
		{
			name: "spawn_for_the_requester", moves: spawn, set: toRequester,
			answer: spawning{calls: []map[string]any{task("cleanup", "delete")}, result: "it is done"}.answer,
			want:   want{chains: []string{"result a"}, children: []string{"announced"}, results: accepted, shows: show("started", "it is done")},
		},
		{
			name: "spawn_for_a_silent_requester", moves: spawn, set: toRequester,
			answer: spawning{calls: one, result: "NO_REPLY"}.answer,
			want:   want{chains: []string{"child child, result a"}, children: []string{"silent"}, results: accepted, shows: show("started")},
		},
	}
}

// toRequester has the requester's agent tell what a child has found.
func toRequester(s *settings.Snapshot) { s.Agents.Defaults.Subagents.Announce = "requester" }
