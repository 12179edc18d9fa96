package main

import (
	"strings"
	"testing"

	"parley/agent/modeltest"
	"parley/channels/telegram/telegramtest"
	"parley/sessions"
)

// callsFor counts the requests of a bot that name a chat.
func callsFor(bot *telegramtest.Server, chat int64) (n int) {
	for _, c := range bot.Calls() {
		if c.Chat == chat {
			n++
		}
	}
	return n
}

// TestAnnounceDenied has a rule deny one chat of one account: announces of exchanges and reports of sub-agents are recorded with the
// rule that held them back, and no call at all reaches the chat. The same chat of the other account is not meant.
//
// proves: N15, P1, P2, P4, P5, S11, T2
func TestAnnounceDenied(t *testing.T) {
	t.Parallel()
	tn := newTown(t, setup{Session: `{sendPolicy: {default: allow, rules: [{action: allow, match: {channel: telegram}}, {action: deny, match: {chatType: group, accountId: two, to: "-100600"}}]}}`})
	tn.words = func(c call) modeltest.Reply {
		return words(map[string]string{"reply": "REPLY_SKIP", "announce": "nobody reads this", "report": "Result: nor this"}[c.Step])
	}
	tn.start()
	tn.hereB().tell(program(spawn(say("counted")), say("started")))
	tn.asked("", "report", 1)
	tn.hereA().tell(program(askFor(atB, say("an answer"), 20), say("b has answered")))
	if got := tn.shows(tn.hereA(), 1); got[0] != "b has answered" {
		t.Errorf("a says %q", got)
	}
	tn.asked(atB, "announce", 1)
	tn.only(map[place]int{tn.hereA(): 1})
	if n := callsFor(tn.two, forum); n != 0 {
		t.Errorf("%d calls reached the chat", n)
	}
	checkWithheld(t, tn, "session.sendPolicy.rules[1]", "nobody reads this", "nor this")
	tn.file(atB, "nobody reads this", "nor this", `"withheld"`)
}

// checkWithheld looks for announces that were held back by a rule.
func checkWithheld(t *testing.T, tn town, rule string, texts ...string) {
	t.Helper()
	ds := tn.deliveries(sessions.Announce)
	for _, text := range texts {
		found := false
		for _, d := range ds {
			if strings.Contains(d.Text, text) {
				found = true
				if d.State != sessions.Withheld || d.Verdict == nil || d.Verdict.Rule != rule || len(d.Receipts) > 0 {
					t.Errorf("%q: %+v, by %+v", text, d, d.Verdict)
				}
			}
		}
		if !found {
			t.Errorf("no delivery says %q: %+v", text, ds)
		}
	}
}

// TestSendOffMeanwhile has the owner switch a chat off while another agent's question is at work there, and on again: the announce is
// held back, the next one is not.
//
// proves: P3, P7, S11
func TestSendOffMeanwhile(t *testing.T) {
	t.Parallel()
	tn := newTown(t, setup{})
	tn.words = func(c call) modeltest.Reply {
		if c.Step == "announce" && strings.Contains(c.System, "first question") {
			tn.wait("announce")
			return words("the first announce")
		}
		return words(map[string]string{"reply": "REPLY_SKIP", "announce": "the second announce"}[c.Step])
	}
	tn.start()
	tn.meet(tn.hereB())
	tn.hereA().tell(askFor(atB, say("first question"), 0))
	tn.asked(atB, "announce", 1)
	tn.hereB().tell("/send off")
	if got := tn.shows(tn.hereB(), 2); got[1] != "⚙️ Send policy set to off." {
		t.Errorf("b's topic: %q", got)
	}
	tn.free("announce")
	tn.only(map[place]int{tn.hereB(): 2})
	checkWithheld(t, tn, "session override", "the first announce")
	tn.hereB().tell("/send inherit")
	tn.shows(tn.hereB(), 3)
	tn.hereA().tell(askFor(atB, say("second question"), 0))
	if got := tn.shows(tn.hereB(), 4); got[3] != "the second announce" {
		t.Errorf("b's topic: %q", got)
	}
	tn.only(map[place]int{tn.hereB(): 4})
	checkWithheld(t, tn, "session override", "the first announce") // it does not come later
}
