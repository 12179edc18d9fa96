package killtest

import (
	"context"
	"errors"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/router/routertest"
	"parley/router/settings"
)

// asking is a script in which the agent of chat a asks that of chat b.
type asking struct {
	wait     int           // seconds that the call waits
	thinks   time.Duration // before b answers
	fails    bool          // b does
	replies  []string      // the reply steps; then REPLY_SKIP
	announce string
	sends    []string // b sends to these sessions before it answers
}

// roundOne is what b answers.
const roundOne = "round one"

func (q asking) answer(ctx context.Context, s routertest.Step) (agent.Answer, error) {
	switch {
	case s.Kind == "follow-up":
		return routertest.Text("it came late"), nil
	case s.Kind == "announce":
		return routertest.Text(q.announce), nil
	case s.Kind == "reply" && s.Turn <= len(q.replies):
		return routertest.Text(q.replies[s.Turn-1]), nil
	case s.Kind == "reply":
		return routertest.Text("REPLY_SKIP"), nil
	case s.Kind == "ask" && len(s.Results) < len(q.sends):
		return routertest.Call(q.sends[len(s.Results)], "sessions_send", map[string]any{"sessionKey": q.sends[len(s.Results)], "message": "and you?"}), nil
	case s.Kind == "ask" && !channels.Sleep(ctx, q.thinks):
		return agent.Answer{}, ctx.Err()
	case s.Kind == "ask" && q.fails:
		return agent.Answer{}, errors.New("scripted")
	case s.Kind == "ask":
		return routertest.Text(roundOne), nil
	case len(s.Results) > 0:
		return routertest.Text("b's agent: " + routertest.StatusOf(s.Results[0])), nil
	}
	return routertest.Call("c1", "sessions_send", map[string]any{"sessionKey": talkB, "message": "how are you?", "timeoutSeconds": q.wait}), nil
}

// flip is the last that a chat shows after /send off.
const flip = "⚙️ Send policy set to off."

// turns makes a setting of the most reply steps.
func turns(n int) func(*settings.Snapshot) {
	return func(s *settings.Snapshot) { s.Session.AgentToAgent.MaxPingPongTurns = n }
}

// tells makes a setting in which people are told of late replies.
func tells(s *settings.Snapshot) { s.Session.AgentToAgent.FollowUp = true }

// shows is what the chats a and b show.
func shows(a, b string) map[channels.Address][]string {
	out := map[channels.Address][]string{}
	if a != "" {
		out[routertest.ChatA] = []string{a}
	}
	if b != "" {
		out[chatB] = []string{b}
	}
	return out
}

func askScenarios() []*scenario {
	ask := []move{{id: "m1", to: routertest.ChatA, by: routertest.Guest, text: "ask b"}}
	off := move{id: "m2", at: 20 * time.Second, to: chatB, by: routertest.Owner, text: "/send off"}
	stopA, stopB := off, off
	stopA.to, stopA.text, stopB.text = routertest.ChatA, "/stop", "/stop"
	const ended = "⚙️ Agent was aborted. Ended 1 exchange with other sessions. Write again if I should continue."
	return []*scenario{
		{
			name: "ask_until_skip", moves: ask,
			answer: asking{wait: 30, thinks: 10 * time.Second, replies: []string{"second"}, announce: "announced"}.answer,
			want:   want{chains: []string{"ask b, reply a, reply b, announce b"}, results: []string{"sessions_send ok"}, shows: shows("b's agent: ok", "announced")},
		},
		{
			name: "ask_until_most_turns", moves: ask, set: turns(3),
			answer: asking{wait: 30, replies: []string{"second", "third", "fourth", "fifth"}, announce: "announced"}.answer,
			want:   want{chains: []string{"ask b, reply a, reply b, reply a, announce b"}, results: []string{"sessions_send ok"}, shows: shows("b's agent: ok", "announced")},
		},
		{
			name: "ask_without_turns", moves: ask, set: turns(0), twice: true,
			answer: asking{wait: 30, announce: "announced"}.answer,
			want:   want{chains: []string{"ask b, announce b"}, results: []string{"sessions_send ok"}, shows: shows("b's agent: ok", "announced")},
		},
		{
			name: "ask_with_silent_announce", moves: ask,
			answer: asking{wait: 30, announce: "ANNOUNCE_SKIP"}.answer,
			want:   want{chains: []string{"ask b, reply a, announce b"}, results: []string{"sessions_send ok"}, shows: shows("b's agent: ok", "")},
		},
		{
			name: "ask_without_waiting", moves: ask,
			answer: asking{wait: 0, replies: []string{"second"}, announce: "announced"}.answer,
			want:   want{chains: []string{"ask b, reply a, reply b, announce b"}, results: []string{"sessions_send accepted"}, shows: shows("b's agent: accepted", "announced")},
		},
		{
			name: "ask_that_waits_in_vain", moves: ask,
			answer: asking{wait: 30, thinks: 2 * time.Minute, replies: []string{"second"}, announce: "announced"}.answer,
			want:   want{chains: []string{"ask b, reply a, reply b, announce b"}, results: []string{"sessions_send timeout"}, shows: shows("b's agent: timeout", "announced")},
		},
		{
			name: "ask_whose_reply_is_late", moves: ask, set: tells,
			answer: asking{wait: 30, thinks: 2 * time.Minute, announce: "announced"}.answer,
			want: want{chains: []string{"ask b, reply a, announce b, follow-up a"}, results: []string{"sessions_send timeout"},
				shows: map[channels.Address][]string{routertest.ChatA: {"b's agent: timeout", "it came late"}, chatB: {"announced"}}},
		},
		{
			name: "ask_that_fails_later", moves: ask, set: tells,
			answer: asking{wait: 0, thinks: time.Minute, fails: true}.answer,
			want: want{chains: []string{"ask b (failed), follow-up a"}, results: []string{"sessions_send accepted"},
				shows: map[channels.Address][]string{routertest.ChatA: {"b's agent: accepted", "it came late"}}},
		},
		{
			name: "ask_that_is_stopped_later", moves: append(ask, stopB), set: tells,
			answer: asking{wait: 0, thinks: time.Minute}.answer,
			want: want{chains: []string{"ask b (aborted), follow-up a"}, results: []string{"sessions_send accepted"},
				shows: map[channels.Address][]string{routertest.ChatA: {"b's agent: accepted", "it came late"}, chatB: {ended}}},
		},
		{
			name: "ask_that_is_stopped_while_it_waits", moves: append(ask, stopB), set: tells,
			answer: asking{wait: 60, thinks: time.Minute}.answer,
			want:   want{chains: []string{"ask b (aborted)"}, results: []string{"sessions_send error"}, shows: shows("b's agent: error", ended)},
		},
		{
			name: "ask_whose_requester_is_stopped", moves: append(ask, stopA), set: tells,
			answer: asking{wait: 0, thinks: time.Minute}.answer,
			want: want{chains: []string{"ask b (aborted)"}, results: []string{"sessions_send accepted"},
				shows: map[channels.Address][]string{routertest.ChatA: {"b's agent: accepted", "⚙️ Ended 1 exchange with other sessions. Write again if I should continue."}}},
		},
		{
			name: "ask_that_fails", moves: ask,
			answer: asking{wait: 30, fails: true}.answer,
			want:   want{chains: []string{"ask b (failed)"}, results: []string{"sessions_send error"}, shows: shows("b's agent: error", "")},
		},
		{
			name: "ask_in_a_circle", moves: ask,
			answer: asking{wait: 30, sends: []string{talkA, talkB}, announce: "announced"}.answer,
			want: want{chains: []string{"ask b, reply a, announce b"}, shows: shows("b's agent: ok", "announced"),
				results: []string{"sessions_send forbidden", "sessions_send forbidden", "sessions_send ok"}},
		},
		{
			name: "ask_and_send_off", moves: append(ask, off),
			answer: asking{wait: 60, thinks: 40 * time.Second, announce: "announced"}.answer,
			want:   want{chains: []string{"ask b, reply a, announce b"}, results: []string{"sessions_send ok"}, shows: shows("b's agent: ok", flip)},
		},
	}
}
