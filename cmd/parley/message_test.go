package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"parley/agent/modeltest"
	"parley/sessions"
)

// post is the program line of a call of the tool message.
func post(to, text string) string { return use("message", map[string]any{"to": to, "text": text}) }

// posted is what the tool message answers with.
type posted struct{ Status, Error, To, Rule, DeliveryID string }

// TestMessage has an agent post into its own chat, and into those of sessions that it sees, by key and by address, through the bots
// that these have. The agents there know what was posted. Where nobody has written from, and what it does not see, is out of reach.
//
// proves: V4, N16
func TestMessage(t *testing.T) {
	t.Parallel()
	tn := newTown(t, setup{Tools: "{sessions: {visibility: all}, agentToAgent: {enabled: true, allow: [a, b]}}", Agents: "[{id: a, default: true}, {id: b}, {id: c}]",
		Bindings: "[{agentId: a, match: {channel: telegram, accountId: one}}, {agentId: b, match: {channel: telegram, accountId: two}}, " +
			"{agentId: c, match: {channel: telegram, accountId: two, peer: {kind: group, id: '-100500'}}}]"})
	tn.start()
	tn.meet(tn.hereB(), tn.groupA(), tn.groupB())
	id := string(tn.sessions(false)[groupOfA].ID)
	tn.hereA().tell(program(
		post("current", "to my **own** topic"), post(atB, "to the topic of b"), post(id, "to the garden"), post("telegram/two/group/-100600/7", "by address"),
		post("telegram/two/group/-100700", "to nobody"), post("telegram/two/group/-100600/8", "to another topic"),
		post("telegram/two/group/-100500", "to c"), post("agent:c:telegram:two:group:-100500", "to c"), post("agent:a:telegram:one:group:-1", "to nowhere"), post(atB, " "),
		say("posted")))
	if got := tn.shows(tn.hereA(), 2); !slices.Equal(got, []string{"to my own topic", "posted"}) {
		t.Errorf("a's topic: %q", got)
	}
	if got := tn.shows(tn.hereB(), 3); !slices.Equal(got[1:], []string{"to the topic of b", "by address"}) {
		t.Errorf("b's topic: %q", got)
	}
	if got := tn.shows(tn.groupA(), 2); got[1] != "to the garden" {
		t.Errorf("a's group: %q", got)
	}
	heard := "No session that you can see has a message from"
	for i, want := range []posted{{Status: "queued"}, {Status: "queued"}, {Status: "queued"}, {Status: "queued"},
		{Status: "error", Error: heard}, {Status: "error", Error: heard}, {Status: "error", Error: heard}, {Status: "forbidden"}, {Status: "error", Error: "Session not found"}, {Status: "error", Error: "text is required"}} {
		if r := told[posted](tn.world, atA, "message", i+1); r.Status != want.Status || !strings.HasPrefix(r.Error, want.Error) || (r.DeliveryID != "") != (r.Status == "queued") {
			t.Errorf("result %d: %+v, want %+v", i, r, want)
		}
	}
	tn.only(map[place]int{tn.hereA(): 2, tn.hereB(): 3, tn.groupA(): 2, tn.groupB(): 1})
	tn.hereB().tell("what was that?")
	tn.shows(tn.hereB(), 4)
	last := tn.modelCalls(atB, "turn")[1]
	for _, text := range []string{"to the topic of b", "by address"} {
		if !slices.ContainsFunc(last.Messages, func(m modeltest.Message) bool { return m.Role == "assistant" && strings.Contains(m.Text, text) }) {
			t.Errorf("b's agent does not know of %q: %+v", text, last.Messages)
		}
	}
}

// TestMessageDenied asks the send policy of both sessions: what the caller's forbids is not made at all, what that of the chat
// forbids is recorded as withheld. No call reaches the chat either way.
//
// proves: P4, P5
func TestMessageDenied(t *testing.T) {
	t.Parallel()
	tn := newTown(t, setup{Session: `{sendPolicy: {rules: [{action: deny, match: {keyPrefix: "telegram:two:group:-100600"}}, {action: deny, match: {keyPrefix: "telegram:one:group:-100500"}}]}}`})
	tn.start()
	tn.hereB().tell("hello")
	tn.hereA().tell(program(post(atB, "held back"), say("tried")))
	tn.groupA().tell(program(post(atA, "never made"), say("tried")))
	tn.shows(tn.hereA(), 1)
	if r := told[posted](tn.world, atA, "message", 1); r.Status != "withheld" || r.Rule != "session.sendPolicy.rules[0]" || r.DeliveryID == "" {
		t.Errorf("a was told %+v", r)
	}
	if r := told[posted](tn.world, groupOfA, "message", 1); r.Status != "forbidden" || r.Rule != "session.sendPolicy.rules[1]" || r.DeliveryID != "" {
		t.Errorf("the group's agent was told %+v", r)
	}
	tn.only(map[place]int{tn.hereA(): 1})
	if n := callsFor(tn.two, forum) + callsFor(tn.tg, group); n != 0 {
		t.Errorf("%d calls reached chats that are denied", n)
	}
	ds := tn.deliveries(sessions.Posted)
	if len(ds) != 1 || ds[0].Text != "held back" || ds[0].State != sessions.Withheld || ds[0].Verdict == nil || ds[0].Verdict.Rule != "session.sendPolicy.rules[0]" {
		t.Errorf("posts: %+v", ds)
	}
}

// TestLookFurther searches and asks for the status of sessions: what is visible, and nothing else.
//
// proves: V1, V2, V4, K9
func TestLookFurther(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		tools string
		want  []string
	}{
		"tree":  {"{}", []string{atA}},
		"agent": {"{sessions: {visibility: agent}, agentToAgent: {enabled: true}}", []string{groupOfA, atA}},
		"all":   {everybody, []string{groupOfA, atA, atB}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tn := newTown(t, setup{Tools: test.tools})
			tn.start()
			for _, p := range []place{tn.hereA(), tn.groupA(), tn.hereB()} {
				p.tell(say("the marmalade is in the blue cupboard"))
				tn.shows(p, 1)
			}
			// The escape keeps the question itself from being found.
			tn.hereA().tell(program(`use sessions_search {"query":"\u006darmalade cupboard"}`, `use sessions_search {"query":"\u006darmalade","sessionKey":"`+atB+`"}`,
				use("session_status", map[string]any{}), say("done")))
			tn.shows(tn.hereA(), 2)
			rs := tn.results(atA, "sessions_search")
			var found struct {
				Hits []struct{ SessionKey, Role, Snippet string }
			}
			if err := json.Unmarshal([]byte(rs[0].Text), &found); err != nil {
				t.Fatalf("%v in %s", err, rs[0].Text)
			}
			have := map[string]int{}
			for _, h := range found.Hits {
				have[h.SessionKey]++
				if !strings.Contains(h.Snippet, "blue") || h.Role != "user" && h.Role != "assistant" {
					t.Errorf("hit: %+v", h)
				}
			}
			if len(have) != len(test.want) {
				t.Errorf("found in %v, not in %q", have, test.want)
			}
			for _, key := range test.want {
				if have[key] != 2 { // what the person said and what the agent said
					t.Errorf("%d hits in %s", have[key], key)
				}
			}
			if forbidden := strings.Contains(rs[1].Text, `"status":"forbidden"`); forbidden != !slices.Contains(test.want, atB) {
				t.Errorf("search in b's session: %s", rs[1].Text)
			}
			var status struct {
				Key, Agent, Model string
				Turns             int
				Running           *struct{ RunID string }
			}
			if err := json.Unmarshal([]byte(tn.results(atA, "session_status")[0].Text), &status); err != nil || status.Key != atA || status.Agent != "a" || status.Model != "mock/mock-1" || status.Turns != 1 || status.Running == nil {
				t.Errorf("status: %+v, %v", status, err)
			}
		})
	}
}
