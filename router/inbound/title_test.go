package inbound

import (
	"testing"

	"parley/channels"
	"parley/sessions"
)

// A session is called as its chat, or as the person whose own it is: on every channel, and never as one of several people.
func TestTitleOf(t *testing.T) {
	t.Parallel()
	direct := channels.Address{Channel: "telegram", Account: "default", Type: channels.Direct, Chat: "20003"}
	li := channels.Sender{ID: "20003", Name: " 李小龍\n"}
	for name, c := range map[string]struct {
		in   channels.Inbound
		key  sessions.Key
		want string
	}{
		"a person":                {channels.Inbound{Address: direct, Sender: li}, "agent:main:telegram:direct:20003", "李小龍"},
		"a person, by account":    {channels.Inbound{Address: direct, Sender: li}, "agent:main:telegram:default:direct:20003", "李小龍"},
		"a person, everywhere":    {channels.Inbound{Address: direct, Sender: li}, "agent:main:direct:20003", "李小龍"},
		"the owners' session":     {channels.Inbound{Address: direct, Sender: li}, "agent:main:main", ""},
		"no name":                 {channels.Inbound{Address: direct, Sender: channels.Sender{ID: "20003"}}, "agent:main:telegram:direct:20003", ""},
		"a title of the chat":     {channels.Inbound{Address: direct, Sender: li, Title: "Garden"}, "agent:main:telegram:direct:20003", "Garden"},
		"a group":                 {channels.Inbound{Address: channels.Address{Channel: "telegram", Account: "default", Type: channels.Group, Chat: "-5"}, Sender: li}, "agent:main:telegram:group:-5", ""},
		"what we wrote ourselves": {channels.Inbound{Address: direct, Sender: li, SentByThisLogin: true}, "agent:main:telegram:direct:20003", ""},
		"a name without a letter": {channels.Inbound{Address: direct, Sender: channels.Sender{ID: "20003", Name: "\n"}}, "agent:main:telegram:direct:20003", ""},
	} {
		if got := titleOf(c.in, c.key); got != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}
