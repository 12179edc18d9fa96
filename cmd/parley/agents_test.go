package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"parley/agent/modeltest"
	"parley/sessions"
)

// exchange scripts the steps of an exchange: what the reply steps say one after the other, REPLY_SKIP behind them, and what is
// announced.
func exchange(announce string, replies ...string) func(call) modeltest.Reply {
	said := make(chan string, len(replies))
	for _, r := range replies {
		said <- r
	}
	return func(c call) modeltest.Reply {
		switch c.Step {
		case "reply":
			select {
			case text := <-said:
				return words(text)
			default:
				return words("REPLY_SKIP")
			}
		case "announce":
			return words(announce)
		}
		return words("ANNOUNCE_SKIP")
	}
}

// line is what the tests read of a transcript's line.
type line struct {
	Role       string
	Content    []sessions.Block
	Provenance *sessions.Provenance
}

func (l line) text() string { return sessions.Message{Content: l.Content}.Text() }

// userLines are the user messages of a transcript.
func userLines(t *testing.T, lines []string) (out []line) {
	t.Helper()
	for _, s := range lines {
		var l line
		if err := json.Unmarshal([]byte(s), &l); err != nil {
			t.Fatalf("transcript: %v in %q", err, s)
		}
		if l.Role == "user" {
			out = append(out, l)
		}
	}
	return out
}

// said finds the user messages with a text in a transcript.
func said(t *testing.T, lines []string, text string) []line {
	t.Helper()
	return slices.DeleteFunc(userLines(t, lines), func(l line) bool { return l.text() != text })
}

// TestPingPong has agent a ask agent b, over two bots in the same topic: both talk until one says REPLY_SKIP, then b announces in its
// own chat through its own bot, and nothing is shown elsewhere.
//
// proves: S3, S7, S8, S9, S10, S11
func TestPingPong(t *testing.T) {
	t.Parallel()
	tn := newTown(t, setup{})
	tn.words = exchange("b announces: forty-two", "a asks: are you sure?", "b says: quite sure", " REPLY_SKIP\n")
	tn.start()
	tn.meet(tn.hereB())
	question := say("forty-two")
	tn.hereA().tell(program(askFor(atB, question, 20), say("b says forty-two")))
	if got := tn.shows(tn.hereB(), 2); got[1] != "b announces: forty-two" {
		t.Errorf("b's topic: %q", got)
	}
	if r := told[outcome](tn.world, atA, "sessions_send", 1); r.Status != "ok" || r.Reply != "forty-two" || r.SessionKey != atB {
		t.Errorf("the result for a: %+v", r)
	}
	tn.only(map[place]int{tn.hereA(): 1, tn.hereB(): 2})

	asked := tn.modelCalls(atB, "ask")
	if len(asked) != 1 {
		t.Fatalf("b was asked %d times", len(asked))
	}
	for _, want := range []string{"`" + atA + "`", "`" + atB + "`", "channel telegram"} {
		if !strings.Contains(asked[0].System, want) {
			t.Errorf("b's prompt does not name %s:\n%s", want, asked[0].System)
		}
	}
	if got := spokenText(asked[0].LastUserText()); got != question {
		t.Errorf("b was asked %q, not %q", got, question)
	}
	checkSteps(t, tn, []string{"reply a", "reply b", "reply a", "announce b"})
	announce := tn.modelCalls(atB, "announce")[0].System
	for _, want := range []string{"Original request: " + strconv.Quote(question), `Round 1 reply: "forty-two"`, `Latest reply: "b says: quite sure"`} {
		if !strings.Contains(announce, want) {
			t.Errorf("the announce step does not name %q:\n%s", want, announce)
		}
	}
	checkProvenance(t, tn, question)
	if ds := tn.deliveries(sessions.Announce); len(ds) != 1 || ds[0].State != sessions.Sent || ds[0].To.Account != "two" || ds[0].To.Thread != "7" || ds[0].Session != atB {
		t.Errorf("the announce: %+v", ds)
	}
}

// checkSteps compares the steps that were only worded, in the order in which the model was asked.
func checkSteps(t *testing.T, tn town, want []string) {
	t.Helper()
	var have []string
	for _, c := range tn.modelCalls("", "") {
		if c.Step == "reply" || c.Step == "announce" {
			have = append(have, c.Step+" "+c.Agent)
		}
	}
	if !slices.Equal(have, want) {
		t.Errorf("the steps were %q, not %q", have, want)
	}
}

// checkProvenance looks into the transcript files: what came from the other session is marked as such, a person's words are not.
func checkProvenance(t *testing.T, tn town, question string) {
	t.Helper()
	b := tn.file(atB, "b announces")
	if got := said(t, b, question); len(got) != 1 || got[0].Provenance == nil || got[0].Provenance.Kind != sessions.InterSession || got[0].Provenance.Source != atA || got[0].Provenance.Tool != "sessions_send" {
		t.Errorf("the question in b's transcript: %+v", got)
	}
	if got := said(t, b, "Olga: "+say("hello from here")); len(got) != 1 || got[0].Provenance == nil || got[0].Provenance.Kind != sessions.ExternalUser {
		t.Errorf("the person in b's transcript: %+v", got)
	}
	if got := said(t, tn.file(atA, "quite sure"), "b says: quite sure"); len(got) != 1 || got[0].Provenance == nil || got[0].Provenance.Kind != sessions.InterSession || got[0].Provenance.Source != atB {
		t.Errorf("b's reply in a's transcript: %+v", got)
	}
}

// TestPingPongEnds ends the reply-back loop in every way there is; each time the announce step follows.
//
// proves: S9, S10
func TestPingPongEnds(t *testing.T) {
	t.Parallel()
	said := []string{"r1", "r2", "r3", "r4", "r5", "r6", "r7"}
	for name, test := range map[string]struct {
		session string
		replies []string
		broken  bool // the second reply step fails
		want    []string
	}{
		"most turns":   {"", said, false, []string{"reply a", "reply b", "reply a", "reply b", "reply a", "announce b"}},
		"fewer turns":  {"{agentToAgent: {maxPingPongTurns: 2}}", said, false, []string{"reply a", "reply b", "announce b"}},
		"no turns":     {"{agentToAgent: {maxPingPongTurns: 0}}", said, false, []string{"announce b"}},
		"an empty one": {"", []string{"r1", "", ""}, false, []string{"reply a", "reply b", "reply b", "announce b"}}, // asked for once more,
		"a failed one": {"", []string{"r1"}, true, []string{"reply a", "reply b", "announce b"}},
		"a mere word":  {"", []string{"No REPLY_SKIP here."}, false, []string{"reply a", "reply b", "announce b"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tn := newTown(t, setup{Session: test.session})
			script := exchange("that is all", test.replies...)
			tn.words = func(c call) modeltest.Reply {
				if test.broken && c.Step == "reply" && c.Agent == "b" {
					return refused()
				}
				return script(c)
			}
			tn.start()
			tn.meet(tn.hereB())
			tn.hereA().tell(askFor(atB, say("round one"), 0))
			if got := tn.shows(tn.hereB(), 2); got[1] != "that is all" {
				t.Errorf("b's topic: %q", got)
			}
			tn.only(map[place]int{tn.hereB(): 2})
			checkSteps(t, tn, test.want)
		})
	}
}

// TestAnnounceSkip is about what an announce step may say: only a control word by itself is silence.
//
// proves: S10
func TestAnnounceSkip(t *testing.T) {
	t.Parallel()
	tests := []struct {
		says  string
		shown bool
	}{
		{"ANNOUNCE_SKIP", false},
		{" \n ANNOUNCE_SKIP \t\n", false},
		{"NO_REPLY", false},
		{"", false},
		{"I write ANNOUNCE_SKIP here", true},
		{"announce_skip", false},
		{"ANNOUNCE_SKIP.", false},
		{"ANNOUNCE_SKIP\nreally", false},
	}
	tn := newTown(t, setup{})
	tn.words = func(c call) modeltest.Reply {
		if c.Step == "reply" {
			return words("REPLY_SKIP")
		}
		for i, test := range tests {
			if strings.Contains(c.System, fmt.Sprintf("question %d", i)) {
				return words(test.says)
			}
		}
		return refused()
	}
	tn.start()
	tn.meet(tn.hereB())
	want := []string{"hello from here"}
	for i, test := range tests {
		tn.hereA().tell(askFor(atB, say(fmt.Sprintf("question %d", i)), 0))
		tn.until(20*time.Second, fmt.Sprintf("announce step %d is over", i+1), func() bool {
			steps := strings.Split(strings.Join(tn.file(atB), "\n"), "Announce step.")
			return len(steps) == i+2 && strings.Contains(steps[i+1], `"role":"assistant"`)
		})
		if test.shown {
			want = append(want, test.says)
			tn.shows(tn.hereB(), len(want))
		}
	}
	tn.only(map[place]int{tn.hereB(): len(want)})
	if got := tn.hereB().texts(); !slices.Equal(got, want) {
		t.Errorf("b's topic shows %q, not %q", got, want)
	}
	lines := userLines(t, tn.file(atB, "really"))
	steps := slices.DeleteFunc(lines, func(l line) bool { return l.text() != "Announce step." })
	if len(steps) != len(tests) { // what nobody sees is kept all the same
		t.Errorf("b's transcript has %d announce steps, not %d", len(steps), len(tests))
	}
}

// TestBindings routes by account, and by a chat where one is bound: the same chat id on two bots has two agents, and a binding to a
// topic or a group wins over the one to the account.
//
// proves: K2, K3, K10
func TestBindings(t *testing.T) {
	t.Parallel()
	tn := newTown(t, setup{Agents: "[{id: a, default: true}, {id: b}, {id: c}]", Bindings: `[
  {agentId: a, match: {channel: telegram, accountId: two, peer: {kind: group, id: "-100700"}}},
  {agentId: a, match: {channel: telegram, accountId: one}},
  {agentId: b, match: {channel: telegram, accountId: two}},
  {agentId: c, match: {channel: telegram, accountId: two, peer: {kind: group, id: "-100600:topic:8"}}}]`})
	tn.start()
	quiet := place{tn.two, denied, 0}
	eight := place{tn.two, forum, 8}
	tn.meet(tn.hereA(), tn.hereB(), tn.groupA(), tn.groupB(), quiet, eight, place{tn.tg, forum, 8})
	have := tn.sessions(false)
	for _, k := range []sessions.Key{atA, atB, groupOfA, groupOfB, "agent:a:telegram:two:group:-100700", "agent:c:telegram:two:group:-100600:topic:8", "agent:a:telegram:one:group:-100600:topic:8"} {
		if _, ok := have[k]; !ok {
			t.Errorf("there is no session %s", k)
		}
		if got := tn.modelCalls(string(k), "turn"); len(got) != 1 || got[0].Agent != string(k.Agent()) {
			t.Errorf("%s was answered by %+v", k, got)
		}
	}
	if len(have) != 7 {
		t.Errorf("%d sessions, not 7: %v", len(have), have)
	}
	tn.setup(setup{Bindings: "[{agentId: nobody, match: {channel: telegram, accountId: one}}]"})
	if out, code := tn.cli("check"); code != exitUsage || !strings.Contains(out, "bindings[0].agentId") || !strings.Contains(out, "nobody") {
		t.Errorf("a binding to an agent that is not there: exit %d: %s", code, out)
	}
}
