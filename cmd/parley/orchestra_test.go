package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/agent/modeltest"
	"parley/sessions"
)

// TestRequesterAnnounces has results go to the agent that asked for them, whose words are posted. When it has none, the host posts the
// report; only a control word is silence.
//
// proves: N11, N14, N15, N16
func TestRequesterAnnounces(t *testing.T) {
	t.Parallel()
	const report = "Status: success\n\nResult:\n42\n\nNotes:\n"
	tests := []ending{
		{"worded", say("42"), words("It is forty-two."), "It is forty-two."},
		{"silent", say("42"), words("NO_REPLY"), ""},
		{"silent by the word", say("42"), words(" ANNOUNCE_SKIP"), ""},
		{"nothing", say("42"), words(""), report},
		{"failed", say("42"), refused(), report},
		{"the child failed", fail(), words(""), "Status: error\n\nResult:\n(not available)\n\nNotes:\n• Error: "},
	}
	tn := newTown(t, setup{Defaults: "subagents: {announce: requester, maxChildrenPerAgent: 50},"})
	tn.words = endings(tests)
	tn.start()
	tn.hereB().tell(spawnAll(tests, "cleanup", "delete"))
	silent := map[string]int{"nothing": 2, "the child failed": 2} // an empty answer is asked for once more
	results := tn.asked(atB, "result", len(tests)+len(silent))
	var want, have []string
	for i, test := range tests {
		if test.want != "" {
			want = append(want, test.want)
		}
		child := told[outcome](tn.world, atB, "sessions_spawn", i+1).ChildSessionKey
		if n := len(slices.DeleteFunc(slices.Clone(results), func(c call) bool {
			return !strings.Contains(c.System, "("+test.name+")") || !strings.HasPrefix(spokenText(c.LastUserText()), "Status: ") || !strings.Contains(c.LastUserText(), child)
		})); n < 1 || n > 3 { // behind a failed turn a call that fails is tried without what came before it, and with it once more
			t.Errorf("%s: b's agent was told %d times", test.name, n)
		}
	}
	for _, post := range tn.shows(tn.hereB(), len(want)) {
		i := slices.IndexFunc(want, func(w string) bool { return strings.HasPrefix(post, w) })
		if i < 0 {
			t.Errorf("b's topic shows %q", post)
			continue
		}
		have = append(have, want[i])
	}
	if slices.Sort(have); !slices.Equal(have, slices.Sorted(slices.Values(want))) {
		t.Errorf("the posts begin with %q, not %q", have, want)
	}
	tn.only(map[place]int{tn.hereB(): len(want)})
	if n := len(tn.modelCalls("", "report")); n != 0 {
		t.Errorf("%d announce steps of children", n)
	}
	if n := len(tn.sessions(false)) + len(tn.sessions(true)); n != 1 {
		t.Errorf("%d sessions are left, not 1", n)
	}
}

// reportsIn are the reports of sub-agents that a model call shows.
func reportsIn(c call) int {
	n := 0
	for _, m := range c.Messages {
		if m.Role == "user" {
			n += strings.Count(m.Text, "Status: success\n\nResult:")
		}
	}
	return n
}

// conductor is a sub-agent that waits until it has so many reports, and then says so.
func conductor(n int) func(call) modeltest.Reply {
	return func(c call) modeltest.Reply {
		if have := reportsIn(c); have < n {
			return modeltest.Reply{ToolCalls: []modeltest.ToolCall{{ID: fmt.Sprintf("call-%d", c.N), Name: "sessions_yield", Arguments: "{}"}}}
		}
		return words("all parts are there")
	}
}

// TestOrchestra has a sub-agent start two of its own and wait for them, with one slot for all three: their results go to it, one
// report of all goes to the chat, also when the host is killed while it waits.
//
// proves: N7, N8, N10, N15, N16
func TestOrchestra(t *testing.T) {
	t.Parallel()
	for name, killed := range map[string]bool{"in one go": false, "killed while it waits": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tn := newTown(t, setup{Defaults: "subagents: {maxSpawnDepth: 2, maxConcurrent: 1},"})
			tn.words, tn.other = reports("Result: the whole"), conductor(2)
			p := tn.start()
			part := func(n string) string {
				return spawn(program(spawn(say("too deep")), hold("parts"), say("part "+n)), "label", "part"+n)
			}
			tn.hereB().tell(program(spawn(program(together(part("one"), part("two")), use("sessions_yield", map[string]any{}), say("never"))), say("started")))
			tn.shows(tn.hereB(), 1)
			top := told[outcome](tn.world, atB, "sessions_spawn", 1).ChildSessionKey
			one := told[outcome](tn.world, top, "sessions_spawn", 1).ChildSessionKey
			two := told[outcome](tn.world, top, "sessions_spawn", 2).ChildSessionKey
			parts := func() int { return len(tn.modelCalls(one, "child")) + len(tn.modelCalls(two, "child")) }
			tn.until(20*time.Second, "a part is at work although the one that waits for it had the only slot", func() bool { return parts() == 2 })
			if killed {
				tn.quietBut(2)
				p.kill()
				tn.start()
				tn.until(20*time.Second, "a part is at work again", func() bool { return parts() > 2 })
			}
			tn.free("parts")
			post := tn.shows(tn.hereB(), 2)[1]
			if !strings.HasPrefix(post, "Status: success\n\nResult:\nthe whole\n") || !strings.Contains(post, top) {
				t.Errorf("the report is\n%s", post)
			}
			tn.only(map[place]int{tn.hereB(): 2})
			checkOrchestra(t, tn, top, one, two)
		})
	}
}

func checkOrchestra(t *testing.T, tn town, top, one, two string) {
	t.Helper()
	if n := len(tn.modelCalls("", "report")); n != 1 {
		t.Errorf("%d announce steps, not 1", n)
	}
	first := tn.modelCalls(top, "child")[0]
	all := tn.modelCalls(atB, "turn")[0].toolNames()
	want := append(without(all, sessionTools...), "agents_list", "sessions_spawn", "sessions_yield", "subagents")
	if slices.Sort(want); !slices.Equal(first.toolNames(), want) {
		t.Errorf("the sub-agent that may spawn has %q, not %q", first.toolNames(), want)
	}
	for _, leaf := range []string{one, two} {
		c := tn.modelCalls(leaf, "child")[0]
		if !slices.Equal(c.toolNames(), without(all, sessionTools...)) || !strings.Contains(c.System, "sub-agent of `"+top+"`") {
			t.Errorf("%s has %q and is told\n%s", leaf, c.toolNames(), c.System)
		}
		if got := tn.results(leaf, "sessions_spawn"); len(got) != 1 || !strings.Contains(got[0].Text, "There is no tool") {
			t.Errorf("%s was told %+v", leaf, got)
		}
	}
	var from []string
	for _, l := range userLines(t, tn.file(sessions.Key(top), "part one", "part two", "all parts are there")) {
		if strings.HasPrefix(l.text(), "Status: success") {
			from = append(from, fmt.Sprint(l.Provenance.Kind, " ", l.Provenance.Source))
		}
	}
	slices.Sort(from)
	reported := []string{"inter_session " + one, "inter_session " + two}
	if slices.Sort(reported); !slices.Equal(from, reported) {
		t.Errorf("the reports came from %q, not %q", from, reported)
	}
}

// TestYield ends the turn of a chat's agent until a result is there, and says so when there is nothing to wait for.
//
// proves: N16
func TestYield(t *testing.T) {
	t.Parallel()
	tn := newTown(t, setup{Defaults: "subagents: {announce: requester},"})
	tn.words = func(c call) modeltest.Reply { return words("now I have it") }
	tn.start()
	yield := use("sessions_yield", map[string]any{})
	tn.hereA().tell(program(yield, spawn(program(hold("child"), say("it"))), yield, say("never said")))
	if r := told[outcome](tn.world, atA, "sessions_yield", 1); r.Status != "error" || !strings.Contains(r.Error, "nothing to wait for") {
		t.Errorf("a was told %+v", r)
	}
	tn.asked("", "child", 1)
	tn.quietBut(1) // a's turn is over, without a word
	tn.free("child")
	if got := tn.shows(tn.hereA(), 1); got[0] != "now I have it" {
		t.Errorf("a says %q", got)
	}
	tn.only(map[place]int{tn.hereA(): 1})
}
