package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/sessions"
)

// about is the program line of a call of the tool subagents.
func about(action, id string, more ...string) string {
	args := map[string]any{"action": action}
	if id != "" {
		args["id"] = id
	}
	if len(more) > 0 {
		args["message"] = more[0]
	}
	return use("subagents", args)
}

// states are the statuses in a result of subagents list, by label.
func states(t *testing.T, g given) map[string]string {
	t.Helper()
	var v struct {
		Children []struct{ Label, Status string }
	}
	if err := json.Unmarshal([]byte(g.Text), &v); err != nil {
		t.Fatalf("%v in %s", err, g.Text)
	}
	out := map[string]string{}
	for _, c := range v.Children {
		out[c.Label] = c.Status
	}
	return out
}

// TestSubagentsTool has an agent look at its sub-agents, tell one something more while it works and when it has ended, and cancel
// one, which then reports nothing. Those of another session are not there for it.
//
// proves: N16, V4
func TestSubagentsTool(t *testing.T) {
	t.Parallel()
	tn := newTown(t, setup{})
	tn.words = reports("")
	tn.start()
	tn.groupA().tell(program(spawn(hold("other"), "label", "foreign"), say("started")))
	tn.shows(tn.groupA(), 1)
	foreign := told[outcome](tn.world, groupOfA, "sessions_spawn", 1).ChildSessionKey
	tn.hereA().tell(program(
		spawn(program(use("remember", map[string]any{"text": "first things first"}), hold("steered"), say("unsteered")), "label", "steered"),
		spawn(hold("canceled"), "label", "canceled"), hold("both"),
		about("list", ""), about("log", "steered"), about("steer", "steered", say("steered well")), about("cancel", "canceled"), hold("ended"), about("cancel", "canceled"),
		about("cancel", foreign), about("log", "foreign"), about("cancel", ""), about("list", ""), say("done")))
	tn.asked("", "child", 4) // of the foreign one, both of the others, and after remember
	tn.free("both")
	tn.rests(told[outcome](tn.world, atA, "sessions_spawn", 2).ChildSessionKey)
	tn.free("ended")
	tn.shows(tn.hereA(), 1)
	rs := tn.results(atA, "subagents")
	if got := states(t, rs[0]); len(got) != 2 || got["steered"] != "running" || got["canceled"] != "running" {
		t.Errorf("the list before: %s", rs[0].Text)
	}
	if got := states(t, rs[8]); len(got) != 2 || got["steered"] != "running" || got["canceled"] != "aborted" {
		t.Errorf("the list after: %s", rs[8].Text)
	}
	for i, want := range map[int]string{1: "hold steered", 2: `"status":"accepted"`, 3: `"stopped":1`, 4: `"status":"canceled"`, 5: "is not a sub-agent of this session",
		6: "no sub-agent of this session has the label", 7: "a sub-agent is required"} {
		if !strings.Contains(rs[i].Text, want) {
			t.Errorf("result %d does not say %q: %s", i, want, rs[i].Text)
		}
	}
	if strings.Contains(rs[4].Text, "stopped") {
		t.Errorf("it is canceled once more: %s", rs[4].Text)
	}
	if strings.Contains(rs[1].Text, "toolResult") {
		t.Errorf("the log shows tool results: %s", rs[1].Text)
	}
	tn.free("steered")
	tn.free("canceled")
	if post := tn.shows(tn.hereA(), 2)[1]; !strings.HasPrefix(post, "Status: success\n\nResult:\nsteered well\n") {
		t.Errorf("the report is\n%s", post)
	}
	tn.hereA().tell(program(about("cancel", "steered"), about("steer", "steered", say("once more")), say("told")))
	if post := tn.shows(tn.hereA(), 4); !slices.ContainsFunc(post[2:], func(s string) bool { return strings.HasPrefix(s, "Status: success\n\nResult:\nonce more\n") }) {
		t.Errorf("the posts are %q", post)
	}
	if got := tn.results(atA, "subagents")[9]; !strings.Contains(got.Text, `"status":"idle"`) {
		t.Errorf("one that has ended is canceled: %s", got.Text)
	}
	tn.free("other")
	tn.shows(tn.groupA(), 2)
	tn.only(map[place]int{tn.hereA(): 4, tn.groupA(): 2})
}

// rests waits until a session is at nothing.
func (tn town) rests(key string) {
	tn.t.Helper()
	tn.until(10*time.Second, key+" is at nothing", func() bool { return !slices.Contains(tn.status().Working, sessions.Key(key)) })
}

// TestSubagentsCommand is the same for people: owners only, and about the sub-agents of the chat that they write in.
//
// proves: N16, V4
func TestSubagentsCommand(t *testing.T) {
	t.Parallel()
	tn := newTown(t, setup{})
	tn.words = reports("")
	tn.start()
	n := 0
	here := tn.hereA()
	ask := func(text string) string {
		t.Helper()
		here.tell(text)
		n++
		return tn.shows(here, n)[n-1]
	}
	has := func(got string, want ...string) {
		t.Helper()
		for _, w := range want {
			if !strings.Contains(got, w) {
				t.Errorf("the answer does not say %q:\n%s", w, got)
			}
		}
	}
	has(ask("/subagents"), "no sub-agents")
	has(ask(program(spawn(program(hold("one"), say("one is done")), "label", "one"), spawn(hold("two"), "label", "two"), spawn(hold("three"), "label", "three"), say("started"))), "started")
	tn.asked("", "child", 3)
	child := func(n int) string { return told[outcome](tn.world, atA, "sessions_spawn", n).ChildSessionKey }
	one := child(1)
	list := ask("/subagents list")
	has(list, "3 one · running", "2 two · running", "1 three · running")
	has(ask("/subagents info one"), one, "Status: running", "Task: hold one", string(tn.sessions(false)[sessions.Key(one)].ID))
	has(ask("/subagents log 3"), "user: hold one")
	has(ask("/subagents stop 2"), "Stopped 1 sub-agent.")
	tn.rests(child(2))
	has(ask("/subagents info two"), "Status: aborted")
	here.bot.Say(here.chat, guest, "/subagents stop all", inTopicOf(here))
	n++
	has(tn.shows(here, n)[n-1], "Only an owner")
	has(ask("/subagents nonsense"), "Usage:")
	has(ask("/subagents log nobody"), "no sub-agent of this session has the label")
	has(ask("/subagents send one "+say("as you like")), "Sent to sub-agent one")
	tn.free("one")
	n++
	has(tn.shows(here, n)[n-1], "Status: success\n\nResult:\nas you like\n", one)
	has(ask("/subagents stop all"), "Stopped 1 sub-agent.")
	tn.rests(child(3))
	has(ask("/subagents"), "one · done", "two · aborted", "three · aborted")
	tn.groupA().tell("/subagents")
	has(tn.shows(tn.groupA(), 1)[0], "no sub-agents")
	tn.only(map[place]int{here: n, tn.groupA(): 1})
}

// TestSessionsCommands shows people the sessions that the one of their chat sees, and the agents that it may spawn.
//
// proves: V1, V4, N1
func TestSessionsCommands(t *testing.T) {
	t.Parallel()
	tn := newTown(t, setup{Agents: threeAgents, Tools: "{sessions: {visibility: agent}}"})
	tn.start()
	tn.meet(tn.hereA(), tn.hereB(), tn.groupA())
	tn.hereA().tell("/sessions")
	if got := tn.shows(tn.hereA(), 2)[1]; !strings.Contains(got, atA) || !strings.Contains(got, groupOfA) || strings.Contains(got, "agent:b:") || !strings.Contains(got, "is agent") {
		t.Errorf("/sessions:\n%s", got)
	}
	tn.hereA().tell("/sessions garden")
	if got := tn.shows(tn.hereA(), 3)[2]; strings.Contains(got, atA) || !strings.Contains(got, groupOfA) {
		t.Errorf("/sessions garden:\n%s", got)
	}
	here := tn.hereA()
	here.bot.Say(here.chat, guest, "/sessions", inTopicOf(here))
	if got := tn.shows(here, 4)[3]; !strings.Contains(got, "Only an owner") {
		t.Errorf("/sessions by a guest:\n%s", got)
	}
	here.bot.Say(here.chat, guest, "/agents", inTopicOf(here))
	if got := tn.shows(here, 5)[4]; !strings.Contains(got, "a · mock/mock-1") || !strings.Contains(got, "b Bert · mock/mock-1") || strings.Contains(got, "\n• c") {
		t.Errorf("/agents:\n%s", got)
	}
	tn.only(map[place]int{here: 5, tn.hereB(): 1, tn.groupA(): 1})
}
