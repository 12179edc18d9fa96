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
	show := func(id, text string) prooftest.Shown {
		return prooftest.Shown{Place: at, ID: id, Verb: prooftest.Post, Text: text}
	}
	sent := func(id, text string, repeat bool) prooftest.Listed {
		return prooftest.Listed{ID: id, Place: at, State: "sent", Text: text, Repeat: repeat}
	}
	for _, c := range []struct {
		name  string
		shown []prooftest.Shown
		list  prooftest.Listed
		kills []window
		want  string // of what is listed; "" = nothing is
		fault string
	}{
		{"nothing unclear", []prooftest.Shown{show("1", "done [m1]")}, sent("d", "done [m1]", false), nil, "", ""},
		{"shown again and marked", []prooftest.Shown{show("1", "done [m1]"), show("2", "done [m1]")}, sent("d", "done [m1]", true), []window{{Kill: 3, Delivery: "d"}},
			"telegram telegram/one/1, delivery d: under way at kill 3, sent, shown 2×, marked", ""},
		{"the same call is noted twice", []prooftest.Shown{show("1", "done [m1]")}, sent("d", "done [m1]", true), []window{{Kill: 3, Delivery: "d"}, {Kill: 3, Delivery: "d", Part: 1}},
			"telegram telegram/one/1, delivery d: under way at kill 3, sent, shown 1×, marked", ""},
		{"an edit of one message", []prooftest.Shown{show("1", "done [m1]"), {Place: at, ID: "1", Verb: prooftest.Edit, Text: "done [m1]"}}, sent("d", "done [m1]", true),
			[]window{{Kill: 3, Delivery: "run", Preview: true}}, "telegram telegram/one/1, delivery d: under way at kill 3, sent, shown 1×, marked", ""},
		{"shown again, not marked", []prooftest.Shown{show("1", "done [m1]"), show("2", "done [m1]")}, sent("d", "done [m1]", false), []window{{Kill: 3, Delivery: "d"}},
			"telegram telegram/one/1, delivery d: under way at kill 3, sent, shown 2×, not marked", "not marked in the host's list"},
		{"shown more often than it was killed", []prooftest.Shown{show("1", "done [m1]"), show("2", "done [m1]"), show("3", "done [m1]")}, sent("d", "done [m1]", true),
			[]window{{Kill: 3, Delivery: "d"}}, "telegram telegram/one/1, delivery d: under way at kill 3, sent, shown 3×, marked", "more often"},
		{"marked without a kill", []prooftest.Shown{show("1", "done [m1]")}, sent("d", "done [m1]", true), []window{{Kill: 3, Delivery: "other"}},
			"telegram telegram/one/1, delivery d: under way at kill , sent, shown 1×, marked", "no kill was within"},
	} {
		h := &prooftest.History{Shown: c.shown, Listed: []prooftest.Listed{c.list}, Repeats: map[string]bool{"telegram": true}}
		all, faults := ambiguities(h, c.kills, map[string]string{"run": "d"})
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
