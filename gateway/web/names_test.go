package web

import (
	"testing"

	"parley/channels"
	"parley/gateway/api"
	"parley/sessions"
)

// People's words come first: a label, a title, what a sub-agent was asked; only then what the key says.
func TestNames(t *testing.T) {
	t.Parallel()
	const sub = "agent:research:subagent:7c1d40aa-1111-4222-8333-444455556666"
	n := names{agents: map[sessions.AgentID]string{"main": "Ada"}, labels: map[sessions.Key]string{}, tasks: map[sessions.Key]string{}, chats: map[string]string{"telegram/default/group/-1001": "Garden club"},
		sessions: map[sessions.Key]api.Session{
			"agent:main:telegram:group:-1001":    {Title: "Garden club"},
			"agent:main:cron:j1":                 {Title: "Bins", Label: "Out with the bins"},
			sub:                                  {SpawnedBy: "agent:main:main"},
			"agent:main:subagent:labelled-first": {Label: "huts"},
		}}
	n.learn([]api.Run{{Kind: sessions.TurnRun, Key: sub, Request: "no task"}, {Kind: sessions.ChildRun, Key: "agent:main:subagent:gone", Label: "prices", Request: "Look"}, {Kind: sessions.ChildRun, Key: sub, Request: "And prices?"}, {Kind: sessions.ChildRun, Key: sub, Request: "# Look for **huts**\n\nwith room"}})
	for key, want := range map[sessions.Key]string{
		"agent:main:telegram:group:-1001":    "Garden club",
		"agent:main:cron:j1":                 "Out with the bins",
		sub:                                  "Sub-agent of Ada: Look for huts",
		"agent:main:subagent:labelled-first": "huts",
		"agent:research:subagent:7c1d40aa-1111-4222-8333-000000000000": "Sub-agent of research",
		"agent:main:main":                                      "Main session of Ada",
		"agent:main:main:thread:7":                             "Main session of Ada, thread 7",
		"agent:main:whatsapp:work:direct:49151":                "49151 on whatsapp (work)",
		"agent:main:telegram:group:-7:topic:3":                 "group -7 on telegram, thread 3",
		"agent:main:cron:7c1d40aa-1111-4222-8333-444455556666": "Job 7c1d40aa",
		"agent:main:hook:42":                                   "Hook 42",
		"agent:main:openai:phone":                              "openai phone",
		"agent:main:subagent:gone":                             "prices",
		"no key":                                               "no key",
	} {
		if got := n.Of(key); got != want {
			t.Errorf("%s is called %q, want %q", key, got, want)
		}
	}
	for text, want := range map[string]string{
		"telegram/default/group/-1001": "Garden club (telegram)",
		"telegram/default/direct/4711": "4711 on telegram",
		"discord/team/channel/42/7":    "channel 42 on discord (team), thread 7",
		"nowhere":                      "nowhere",
		"last":                         "last",
	} {
		if got := n.Place(text); got != want {
			t.Errorf("%s is called %q, want %q", text, got, want)
		}
	}
	if got := (names{}).Chat(channels.Address{}); got == "" {
		t.Error("the zero value says nothing")
	}
}
