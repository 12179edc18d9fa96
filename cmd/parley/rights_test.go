package main

import (
	"slices"
	"strings"
	"testing"
)

// threeAgents are a, which may spawn b, and c, which may spawn anybody; c has the second bot's forum.
const threeAgents = "[{id: a, default: true, subagents: {allowAgents: [b]}}, {id: b, name: Bert}, {id: c, subagents: {allowAgents: ['*']}}]"

const atC = "agent:c:telegram:two:group:-100600:topic:7"

// TestAllowAgents is about who may spawn whom: agents_list says so and sessions_spawn holds to it.
//
// proves: N1, N2, N3, N4
func TestAllowAgents(t *testing.T) {
	t.Parallel()
	tn := newTown(t, setup{Agents: threeAgents, Bindings: "[{agentId: a, match: {channel: telegram, accountId: one}}, {agentId: c, match: {channel: telegram, accountId: two}}, " +
		"{agentId: b, match: {channel: telegram, accountId: one, peer: {kind: group, id: '-100500'}}}]"})
	tn.start()
	list := use("agents_list", map[string]any{})
	tn.hereA().tell(program(list, spawn(say("x"), "agentId", "c"), spawn(say("x"), "model", "mock"), spawn(say("x"), "model", "nowhere/mock-1"),
		spawn(" "), spawn(say("x"), "agentId", "b"), spawn(say("x"), "model", "mock/mock-2"), say("done")))
	tn.hereB().tell(program(list, spawn(say("x"), "agentId", "nobody"), spawn(say("x"), "agentId", "a"), say("done")))
	tn.groupA().tell(program(list, spawn(say("x"), "agentId", "a"), say("done")))
	for _, p := range []place{tn.hereA(), tn.hereB(), tn.groupA()} {
		tn.shows(p, 1)
	}
	const ofB = "agent:b:telegram:one:group:-100500"
	type agents struct {
		Requester string
		AllowAny  bool
		Agents    []struct{ ID, Name string }
	}
	for key, want := range map[string]string{atA: "a: a b", atC: "c, any: c a b", ofB: "b: b"} {
		l := told[agents](tn.world, key, "agents_list", 1)
		have := l.Requester + map[bool]string{true: ", any"}[l.AllowAny] + ":"
		for _, a := range l.Agents {
			have += " " + a.ID
			if (a.Name == "Bert") != (a.ID == "b") {
				t.Errorf("agent %s is called %q", a.ID, a.Name)
			}
		}
		if have != want {
			t.Errorf("%s sees %q, not %q", key, have, want)
		}
	}
	for _, want := range []struct {
		key    string
		n      int
		status string
		says   []string
	}{
		{atA, 1, "forbidden", []string{`"c"`, "allowed: a, b)", "allowAgents"}},
		{atA, 2, "error", []string{`model "mock"`}},
		{atA, 3, "error", []string{"nowhere"}},
		{atA, 4, "error", []string{"task is required"}},
		{atA, 5, "accepted", nil},
		{atA, 6, "accepted", nil},
		{atC, 1, "forbidden", []string{`"nobody" does not exist`, "c, a, b"}},
		{atC, 2, "accepted", nil},
		{ofB, 1, "forbidden", []string{"allowed: b)"}},
	} {
		r := told[outcome](tn.world, want.key, "sessions_spawn", want.n)
		ok := r.Status == want.status && (r.ChildSessionKey != "") == (want.status == "accepted")
		for _, s := range want.says {
			ok = ok && strings.Contains(r.Error, s)
		}
		if !ok {
			t.Errorf("%s, spawn %d: %+v, want %+v", want.key, want.n, r, want)
		}
	}
	tn.asked("", "child", 3)
	tn.quiet()
	models := map[string]string{}
	for _, c := range tn.modelCalls("", "child") {
		models[c.Agent+" "+c.Model] = c.Session
	}
	children := 0
	for k := range tn.sessions(false) {
		if strings.Contains(string(k), ":subagent:") {
			children++
		}
	}
	if children != 3 || len(models) != 3 || models["b mock-1"] == "" || models["a mock-2"] == "" || models["a mock-1"] == "" {
		t.Errorf("%d sub-agents, which used %v", children, models)
	}
}

// sessionTools are those that sub-agents have not got.
var sessionTools = []string{"agents_list", "cron", "message", "session_status", "sessions_history", "sessions_list", "sessions_search", "sessions_send", "sessions_spawn", "sessions_yield", "subagents"}

func without(all []string, names ...string) (out []string) {
	for _, n := range all {
		if !slices.Contains(names, n) {
			out = append(out, n)
		}
	}
	return out
}

// TestChildTools is about the tools of sub-agents: all but the session tools, less what either agent may not have, and what
// tools.subagents.tools says.
//
// proves: N7
func TestChildTools(t *testing.T) {
	t.Parallel()
	const agents = "[{id: a, default: true, subagents: {allowAgents: [b]}, tools: %A}, {id: b, tools: %B}, {id: c}]"
	for name, test := range map[string]struct {
		a, b, tools string
		lost, back  []string
	}{
		"as it is":            {"{}", "{}", "{}", nil, nil},
		"given back":          {"{}", "{}", "{allow: ['*', sessions_list]}", nil, []string{"sessions_list"}},
		"only these":          {"{}", "{}", "{allow: [sessions_history, recall]}", []string{"attachments", "fetch", "files", "remember"}, []string{"sessions_history"}},
		"denied":              {"{}", "{}", "{deny: [recall]}", []string{"recall"}, nil},
		"parent has it not":   {"{deny: [remember]}", "{}", "{}", []string{"remember"}, nil},
		"child has it not":    {"{}", "{deny: [remember]}", "{}", []string{"remember"}, nil},
		"parent has only one": {"{allow: [sessions_spawn, recall]}", "{}", "{}", []string{"attachments", "fetch", "files", "remember"}, nil},
		"not above parent":    {"{deny: [sessions_list]}", "{}", "{allow: ['*', sessions_list]}", nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tn := newTown(t, setup{Agents: strings.NewReplacer("%A", test.a, "%B", test.b).Replace(agents), Tools: "{subagents: {tools: " + test.tools + "}}",
				Bindings: "[{agentId: c, match: {channel: telegram, accountId: two}}]"})
			tn.start()
			tn.meet(tn.hereB())
			want := append(without(without(tn.asked(atC, "turn", 1)[0].toolNames(), sessionTools...), test.lost...), test.back...)
			slices.Sort(want)
			tn.hereA().tell(spawn(say("done"), "agentId", "b"))
			if have := tn.asked("", "child", 1)[0].toolNames(); !slices.Equal(have, want) {
				t.Errorf("the child has %q, not %q", have, want)
			}
		})
	}
}

// TestChildSpawns has a sub-agent try to spawn: it has no such tool, and is refused when it is given it. With a session tool given
// back it sees no more than its parent, which may be sandboxed.
//
// proves: N7, N8, V3
func TestChildSpawns(t *testing.T) {
	t.Parallel()
	const back = "{allow: ['*', sessions_spawn, sessions_list]}"
	for name, test := range map[string]struct {
		tools, defaults string
		spawn           string // what the child is told when it spawns
		self, parent    bool   // whether it is shown itself, its parent
	}{
		"no session tools": {"{}", "", `There is no tool \"sessions_spawn\"`, false, false},
		"given back":       {back, "", `"status":"forbidden"`, true, true},
		"sandboxed":        {back, "sandbox: {mode: non-main},", `"status":"forbidden"`, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tn := newTown(t, setup{Tools: "{sessions: {visibility: all}, subagents: {tools: " + test.tools + "}}", Defaults: test.defaults})
			tn.start()
			tn.meet(tn.hereA())
			tn.hereA().tell(spawn(program(spawn(say("deeper")), use("sessions_list", map[string]any{}), say("done"))))
			child := told[outcome](tn.world, atA, "sessions_spawn", 1).ChildSessionKey
			tn.asked(child, "child", 3)
			if got := tn.results(child, "sessions_spawn")[0].Text; !strings.Contains(got, test.spawn) {
				t.Errorf("the child was told %s", got)
			}
			if rows := tn.results(child, "sessions_list")[0].Text; strings.Contains(rows, child) != test.self || strings.Contains(rows, atA) != test.parent {
				t.Errorf("the child's list: %s", rows)
			}
			tn.quiet()
			if n := len(tn.sessions(false)); n != 2 {
				t.Errorf("%d sessions, not 2", n)
			}
		})
	}
}
