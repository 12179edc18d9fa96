package policy

import (
	"slices"
	"strings"
	"testing"

	"parley/channels"
)

// A group's tools and its topic's both hold; of what is said about senders, that counts which names one whom the turn answers.
func TestGroupTools(t *testing.T) {
	t.Parallel()
	deny := func(names ...string) Rights { return Rights{Deny: names} }
	a := Access{Groups: map[string]GroupAccess{
		"*": {Tools: deny("message")},
		"-1": {Tools: deny("fetch"), ToolsBySender: map[string]Rights{"7": deny("a"), "@ada": deny("b"), "telegram:8": deny("c"), "*": deny("d")},
			Topics: map[string]GroupAccess{"5": {Tools: deny("files"), ToolsBySender: map[string]Rights{"7": deny("e")}}}},
	}}
	in := func(chat, thread string, typ channels.ChatType) channels.Address {
		return channels.Address{Channel: "telegram", Account: "default", Chat: channels.ChatID(chat), Thread: channels.ThreadID(thread), Type: typ}
	}
	seven, ada, eight, other := channels.Sender{ID: "7"}, channels.Sender{ID: "70", Username: "Ada"}, channels.Sender{ID: "8"}, channels.Sender{ID: "9"}
	const own = "groups.-1.tools "
	by := func(who string) string { return "groups.-1.toolsBySender[" + who + "] " }
	for _, c := range []struct {
		to     channels.Address
		parent string
		who    []channels.Sender
		want   string
	}{
		{in("-1", "", channels.Group), "", []channels.Sender{seven}, own + by("7")},
		{in("-1", "", channels.Room), "", []channels.Sender{ada}, own + by("@ada")},
		{in("-1", "", channels.Group), "", []channels.Sender{eight}, own + by("telegram:8")},
		{in("-1", "", channels.Group), "", []channels.Sender{other}, own + by("*")},
		{in("-1", "", channels.Group), "", []channels.Sender{other, seven, ada, seven}, own + by("*") + by("7") + by("@ada")},
		{in("-1", "", channels.Group), "", nil, own + by("*") + by("7") + by("@ada") + by("telegram:8")},
		{in("-1", "5", channels.Group), "", []channels.Sender{seven}, own + by("7") + "groups.-1.topics.5.tools groups.-1.topics.5.toolsBySender[7] "},
		{in("5", "", channels.Room), "-1", []channels.Sender{other}, own + by("*") + "groups.-1.topics.5.tools "},
		{in("-2", "", channels.Group), "", []channels.Sender{seven}, "groups.*.tools "},
		{in("-1", "", channels.Direct), "", []channels.Sender{seven}, ""},
	} {
		got := ""
		for _, l := range a.GroupTools("x", c.to, channels.ChatID(c.parent), c.who) {
			got += strings.TrimPrefix(l.Name, "x.") + " "
		}
		want, have := strings.Fields(c.want), strings.Fields(got)
		slices.Sort(want)
		slices.Sort(have)
		if !slices.Equal(want, have) {
			t.Errorf("%+v from %+v: %q, want %q", c.to, c.who, have, want)
		}
	}
}

// An entry that no tool can have as its name is reported, unless it may be a tool of an MCP server.
func TestCheckTools(t *testing.T) {
	t.Parallel()
	for entry, known := range map[string]bool{"fetch": true, " Fetch ": true, "group:fs": true, "group:mcp": true, "*": true, "sessions_*": true, "agents_list": true, "cron": true,
		"github_search": true, "git*": true, "fetsch": false, "group:files": false, "": false, "gitlab_x": false, "x*": false} {
		got := Rights{Allow: []string{entry}, Deny: []string{"fetch", entry}}.CheckTools("tools", []string{"github_"})
		if known && len(got) != 0 || !known && (len(got) != 2 || got[0].Path != "tools.allow[0]" || got[1].Path != "tools.deny[1]" || !got[1].Warning) {
			t.Errorf("%q: %v", entry, got)
		}
	}
}
