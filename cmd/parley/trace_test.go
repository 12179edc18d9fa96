package main

import (
	"strings"
	"testing"

	"parley/agent/modeltest"
	"parley/sessions"
)

// TestTraceOfSubagents asks by the run ids of sub-agents how they ended. One chat is denied, one sub-agent ends in silence by itself,
// one by its announce step, one is stopped, and one chat has removed the bot when the report comes.
//
// proves: N15
func TestTraceOfSubagents(t *testing.T) {
	t.Parallel()
	tn := newTown(t, setup{Session: `{sendPolicy: {default: allow, rules: [{action: deny, match: {chatType: group, accountId: two, to: "-100600"}}]}}`})
	tn.words = func(c call) modeltest.Reply {
		if strings.Contains(c.System, "(quiet)") {
			return words("ANNOUNCE_SKIP")
		}
		return words("Result: done")
	}
	tn.start()
	tn.hereA().tell(program(spawn(say("counted"), "label", "a"), spawn(program(say("counted"), "(quiet)"), "label", "q"), spawn(say("ANNOUNCE_SKIP"), "label", "s"),
		spawn(program(hold("stop"), say("never")), "label", "stopped"), about("cancel", "stopped"), say("on it")))
	tn.hereB().tell(spawn(say("counted")))
	tn.groupA().tell(program(spawn(program(hold("kicked"), say("counted"))), say("on it")))
	tn.shows(tn.groupA(), 1)
	tn.shows(tn.hereA(), 2)
	tn.quietBut(1)
	tn.tg.Block(group, true)
	tn.free("kicked")
	tn.free("stop")
	tn.quiet()
	for _, c := range []struct {
		name, key string
		n         int
		want      []string
		not       string
	}{
		{"announced", atA, 1, []string{"(child) in ", "(announce) in ", ": announce sent to ", "arrived as"}, "silent"},
		{"silent by its step", atA, 2, []string{"(child) in ", "(announce) in ", ": done, attempt 1, silent: ANNOUNCE_SKIP\n"}, "delivery"},
		{"silent itself", atA, 3, []string{"(child) in ", ": done, attempt 1, silent: ANNOUNCE_SKIP\n"}, "(announce)"},
		{"stopped", atA, 4, []string{"(child) in ", ": aborted, attempt 1\n  error: "}, "delivery"},
		{"withheld", atB, 1, []string{"(announce) in ", ": announce withheld to ", "policy: deny by session.sendPolicy.rules[0]"}, "arrived as"},
		{"failed", groupOfA, 1, []string{"(announce) in ", ": announce failed to ", "bot was kicked"}, "arrived as"},
	} {
		child := told[outcome](tn.world, c.key, "sessions_spawn", c.n)
		out, code := tn.cli("trace", child.RunID)
		if code != 0 {
			t.Fatalf("%s: exit %d: %s", c.name, code, out)
		}
		want := append(c.want, "accepted by tool call ", " of run ", child.RunID+" (child) in "+child.ChildSessionKey)
		for _, w := range want {
			if !strings.Contains(out, w) {
				t.Errorf("%s: the trace does not say %q:\n%s", c.name, w, out)
			}
		}
		if strings.Contains(out, c.not) || strings.Contains(out, "from \n") || strings.Contains(out, "tool:") || strings.Count(out, "accepted") != 1 {
			t.Errorf("%s: the trace is\n%s", c.name, out)
		}
	}
}

// A delivery that was sent again after an end without an answer says so in the list.
func TestWhyOfARepeat(t *testing.T) {
	for want, d := range map[string]sessions.Delivery{
		"may show twice":          {Repeat: true, State: sessions.Sent},
		"may show twice; cut off": {Repeat: true, State: sessions.Pending, Error: "cut off"},
		"cut off":                 {State: sessions.Pending, Error: "cut off"},
	} {
		if got := why(d); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Deliveries name their files, by names that cannot break the line, in `parley deliveries show` and in traces.
func TestDeliveryNamesItsFiles(t *testing.T) {
	var b strings.Builder
	printTrace(&page{out: &b}, sessions.Trace{Deliveries: []sessions.Delivery{{ID: "d1", Files: []sessions.File{
		{Name: "report.pdf", MIME: "application/pdf", Size: 12_000}, {Name: "../a\n  part 1 arrived", Kind: "document"}}}}})
	if got := b.String(); !strings.Contains(got, "\n  file report.pdf, application/pdf, 12 kB\n  file a   part 1 arrived\n") {
		t.Errorf("%s", got)
	}
}
