package main

import (
	"strings"
	"testing"

	"parley/agent/modeltest"
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
	held := sent("d", "done [m1]", true)
	held.State = "held"
	second := held // part
	second.Receipts = []string{"1"}
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
		{"held after three kills", 1, held, []window{{Kill: 3, Delivery: "d"}, {Kill: 5, Delivery: "d"}, {Kill: 6, Delivery: "d"}},
			"telegram telegram/one/1, delivery d: under way at kill 3 5 6, held, shown 1×, marked", ""},
		{"held after two kills", 1, held, []window{{Kill: 3, Delivery: "d"}, {Kill: 5, Delivery: "d"}, {Kill: 5, Delivery: "d", Part: 1}},
			"telegram telegram/one/1, delivery d: under way at kill 3 5, held, shown 1×, marked", "held, which takes 3 kills"},
		{"held after two kills within its part and one within another", 1, second, []window{{Kill: 3, Delivery: "d", Part: 1}, {Kill: 5, Delivery: "d"}, {Kill: 6, Delivery: "d", Part: 1}},
			"telegram telegram/one/1, delivery d: under way at kill 3 5 6, held, shown 1×, marked", "held, which takes 3 kills within a send of its part 2"},
		{"held after three kills within its second part", 1, second, []window{{Kill: 3, Delivery: "d", Part: 1}, {Kill: 5, Delivery: "d", Part: 1}, {Kill: 6, Delivery: "d", Part: 1}},
			"telegram telegram/one/1, delivery d: under way at kill 3 5 6, held, shown 1×, marked", ""},
		{"held after its first words and two kills", 1, held, []window{{Kill: 3, Delivery: "run", Preview: true}, {Kill: 5, Delivery: "d"}, {Kill: 6, Delivery: "d"}},
			"telegram telegram/one/1, delivery d: under way at kill 3 5 6, held, shown 1×, marked", ""},
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

// One kill accounts for one delivery of a chat: there is one send to it at a time.
func TestAmbiguitiesOfAChat(t *testing.T) {
	t.Parallel()
	h := &prooftest.History{Repeats: map[string]bool{"telegram": true}}
	for _, d := range [][2]string{{"1", "a"}, {"1", "b"}, {"2", "c"}} {
		h.Listed = append(h.Listed, prooftest.Listed{ID: d[1], Place: prooftest.Place{Platform: "telegram", Account: "one", Chat: d[0]}, State: "sent", Text: "done [m1]", Repeat: true})
	}
	for second, want := range map[int]string{3: "telegram/one/1: 2 marked, 1 kills", 4: ""} {
		_, faults := ambiguities(h, map[string]int{"a": 1, "b": 1, "c": 1}, []window{{Kill: 3, Delivery: "a"}, {Kill: second, Delivery: "b"}, {Kill: 3, Delivery: "c"}}, nil)
		if len(faults) > 1 || (len(faults) == 1) != (want != "") || want != "" && !strings.Contains(faults[0].Why, want) {
			t.Errorf("second kill %d: %v", second, faults)
		}
	}
}

// A run fails when more ended as noticed or as not sent than turns were broken off, chats refuse and sends were hidden, and when a message
// was not read.
func TestKillOtherEnds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		noticed, listed, skipped int
		want                     string
	}{
		{3, 3, 0, ""}, {6, 0, 0, ""},
		{4, 3, 0, "7 texts ended as noticed or listed, and what was done explains 6"},
		{0, 10_000, 0, "10000 texts"},
		{0, 0, 1, "1 messages are listed as not read"},
	} {
		f := &killed{Broken: 39, Refused: 2, Verdict: &prooftest.Verdict{
			Windows: 3, Answers: prooftest.Tally{Noticed: c.noticed}, Reports: prooftest.Tally{Listed: c.listed}, Announces: prooftest.Tally{Skipped: c.skipped},
		}}
		if got := strings.Join(f.faults(), "; "); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

// What people said and no turn took up is lost, unless the chat was told of it.
func TestErrandsUnseen(t *testing.T) {
	t.Parallel()
	at := func(chat string) prooftest.Place {
		return prooftest.Place{Platform: "telegram", Account: "one", Chat: chat}
	}
	var p puppet
	p.answer(modeltest.Request{Messages: []modeltest.Message{
		{Role: "user", Text: "[message of 12:00]\n\nthis first (e1)"}, {Role: "assistant", Text: "(e5)"}, {Role: "user", Text: "more (e2), on second thoughts"},
	}})
	e := errands{asked: []wanted{{at("1"), "e1", "", false}, {at("1"), "e2", "", true}, {at("2"), "e3", "two (e3)", true}, {at("3"), "e4", "", false}, {at("4"), "e5", "lost (e5)", false}}}
	got := e.unseen([]prooftest.Listed{
		{Place: at("3"), Text: "⚙️ " + dropped + ", so I dropped the oldest."}, {Place: at("2"), Text: "⚙️ Queue set."}, {Place: at("4"), Text: "done [m1]"},
	}, p.seen)
	if len(got) != 2 || got[0].Token != "e3" || got[1].Token != "e5" || got[0].Kind != prooftest.Lost {
		t.Errorf("%v", got)
	}
	if got := e.unseen([]prooftest.Listed{{Place: at("2"), Text: notices[0].Text}}, p.seen); len(got) != 2 || got[0].Token != "e4" || got[1].Token != "e5" {
		t.Errorf("one that was given up: %v", got)
	}
	e.asked = e.asked[:2]
	p.answer(modeltest.Request{Messages: []modeltest.Message{{Role: "user", Text: "Olga changed a message to: more (e2)\n\nmore (e2) and this (e1)"}, {Role: "user", Text: "this first (e1)"}}})
	if got := e.unseen(nil, p.seen); len(got) != 1 || got[0].Token != "e2" || got[0].Kind != prooftest.AnsweredTwice {
		t.Errorf("a change that is told and stands in its message: %v", got)
	}
}
