package main

import (
	"strings"
	"testing"

	"parley/gateway/prooftest"
)

// Each delivery with an unclear end is listed with its kills, how often it was shown and whether the host marked it; what no kill
// explains, and what is shown again without a mark, is a fault.
func TestAmbiguities(t *testing.T) {
	t.Parallel()
	at := prooftest.Place{Platform: "telegram", Account: "one", Chat: "1"}
	sent := func(id, text string, repeat bool) prooftest.Listed {
		return prooftest.Listed{ID: id, Place: at, State: "sent", Text: text, Repeat: repeat}
	}
	for _, c := range []struct {
		name  string
		times int
		list  prooftest.Listed
		kills []window
		want  string // of what is listed; "" = nothing is
		fault string
	}{
		{"nothing unclear", 1, sent("d", "done [m1]", false), nil, "", ""},
		{"shown again and marked", 2, sent("d", "done [m1]", true), []window{{Kill: 3, Delivery: "d"}},
			"telegram telegram/one/1, delivery d: under way at kill 3, sent, shown 2×, marked", ""},
		{"the same call is noted twice", 1, sent("d", "done [m1]", true), []window{{Kill: 3, Delivery: "d"}, {Kill: 3, Delivery: "d", Part: 1}},
			"telegram telegram/one/1, delivery d: under way at kill 3, sent, shown 1×, marked", ""},
		{"its first words", 1, sent("d", "done [m1]", true),
			[]window{{Kill: 3, Delivery: "run", Preview: true}}, "telegram telegram/one/1, delivery d: under way at kill 3, sent, shown 1×, marked", ""},
		{"shown again, not marked", 2, sent("d", "done [m1]", false), []window{{Kill: 3, Delivery: "d"}},
			"telegram telegram/one/1, delivery d: under way at kill 3, sent, shown 2×, not marked", "not marked in the host's list"},
		{"shown more often than it was killed", 3, sent("d", "done [m1]", true),
			[]window{{Kill: 3, Delivery: "d"}}, "telegram telegram/one/1, delivery d: under way at kill 3, sent, shown 3×, marked", "more often"},
		{"words without a token are counted, and not judged", 3, sent("d", "It is off.", true),
			[]window{{Kill: 3, Delivery: "d"}}, "telegram telegram/one/1, delivery d: under way at kill 3, sent, shown 3×, marked", ""},
		{"marked without a kill", 1, sent("d", "done [m1]", true), []window{{Kill: 3, Delivery: "other"}},
			"telegram telegram/one/1, delivery d: under way at kill , sent, shown 1×, marked", "no kill was within"},
	} {
		h := &prooftest.History{Listed: []prooftest.Listed{c.list}, Repeats: map[string]bool{"telegram": true}}
		all, faults := ambiguities(h, map[string]int{"d": c.times}, c.kills, map[string]string{"run": "d"})
		got, fault := "", ""
		for _, a := range all {
			got += a.String()
		}
		for _, f := range faults {
			fault += f.Why
		}
		if got != c.want || (fault == "") != (c.fault == "") || !strings.Contains(fault, c.fault) {
			t.Errorf("%s: %q, fault %q", c.name, got, fault)
		}
	}
}
