package main

import (
	"strings"
	"testing"
	"time"

	"parley/gateway/prooftest"
)

// What is shown or asked behind the answer to a stop is a fault, in the chat that was stopped and on the other side of its exchange; what was
// under way is none, nor is what another chat does.
//
// proves: X1
func TestPastAStop(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 11, 27, 8, 0, 0, 0, time.UTC)
	chat := func(n string) *place {
		return &place{Place: prooftest.Place{Platform: "telegram", Account: "one", Chat: n}, Session: "agent:a:" + n}
	}
	a, b, c := chat("a"), chat("b"), chat("c")
	shown := func(at *place, ms int, verb prooftest.Verb, text string) prooftest.Shown {
		return prooftest.Shown{At: began.Add(time.Duration(ms) * time.Millisecond), Place: at.Place, Verb: verb, Text: text}
	}
	asked := func(at *place, ms int) prooftest.Asked {
		return prooftest.Asked{At: began.Add(time.Duration(ms) * time.Millisecond), Session: at.Session, Step: stepReply}
	}
	answer := shown(a, 1000, prooftest.Post, "⚙️ Agent was aborted.")
	for name, tc := range map[string]struct {
		shown []prooftest.Shown
		asked []prooftest.Asked
		want  string // the kinds of faults
	}{
		"nothing follows":        {[]prooftest.Shown{shown(a, 0, prooftest.Post, "hello"), answer}, []prooftest.Asked{asked(a, 0), asked(b, 999)}, ""},
		"what was under way":     {[]prooftest.Shown{answer, shown(a, 1900, prooftest.Post, "part 2")}, []prooftest.Asked{asked(b, 1900)}, ""},
		"the answer again":       {[]prooftest.Shown{answer, shown(a, 9000, prooftest.Post, answer.Text)}, nil, ""},
		"another chat":           {[]prooftest.Shown{answer, shown(c, 9000, prooftest.Post, "hello")}, []prooftest.Asked{asked(c, 9000)}, ""},
		"typing":                 {[]prooftest.Shown{answer, shown(a, 9000, prooftest.Typing, "")}, nil, ""},
		"a post":                 {[]prooftest.Shown{answer, shown(a, 9000, prooftest.Post, "hello")}, nil, "foreign"},
		"an edit":                {[]prooftest.Shown{answer, shown(a, 9000, prooftest.Edit, "hello")}, nil, "foreign"},
		"an announce over there": {[]prooftest.Shown{answer, shown(b, 9000, prooftest.Post, "we agreed")}, nil, "foreign"},
		"a step":                 {[]prooftest.Shown{answer}, []prooftest.Asked{asked(a, 9000), asked(b, 9000)}, "prompt prompt"},
		"no answer":              {[]prooftest.Shown{shown(a, 0, prooftest.Post, "hello")}, nil, "lost"},
	} {
		answered, faults := past([]stopped{{"/stop", a, []*place{a, b}}}, tc.shown, tc.asked)
		var kinds []string
		for _, f := range faults {
			kinds = append(kinds, string(f.Kind))
		}
		if got := strings.Join(kinds, " "); got != tc.want || (answered == 1) != (name != "no answer") {
			t.Errorf("%s: %q, %d answered", name, got, answered)
		}
	}
}
