package policy

import (
	"slices"
	"testing"

	"parley/channels"
)

// A topic's entry wins over its group's where it says something, the group's own entry over "*", whole; a thread with a chat id of its
// own belongs to its parent.
func TestEntriesOfAGroup(t *testing.T) {
	t.Parallel()
	no := new(bool)
	a := Access{Groups: map[string]GroupAccess{
		"*": {SystemPrompt: "anywhere", RequireMention: no},
		"-100": {SystemPrompt: "garden", Tools: Rights{Deny: []string{"fetch"}}, Topics: map[string]GroupAccess{
			"7": {SystemPrompt: "roses", RequireMention: no}, "8": {}, "555": {SystemPrompt: "a thread"}}},
		"-200": {},
	}}
	at := func(chat, thread string) channels.Address {
		return channels.Address{Channel: "telegram", Account: "default", Chat: channels.ChatID(chat), Thread: channels.ThreadID(thread), Type: channels.Group}
	}
	for _, c := range []struct {
		name       string
		at         channels.Address
		parent     channels.ChatID
		activation string
		paths      []string
		prompt     string
		mention    bool
	}{
		{"a group", at("-100", ""), "", "", []string{"groups.-100"}, "garden", true},
		{"its topic", at("-100", "7"), "", "", []string{"groups.-100", "groups.-100.topics.7"}, "roses", false},
		{"a topic that says nothing", at("-100", "8"), "", "", []string{"groups.-100", "groups.-100.topics.8"}, "garden", true},
		{"a topic without an entry", at("-100", "9"), "", "", []string{"groups.-100"}, "garden", true},
		{"a group without words", at("-200", ""), "", "", []string{"groups.-200"}, "", true},
		{"any other", at("-1", "7"), "", "", []string{"groups.*"}, "anywhere", false},
		{"a thread of a group", at("555", ""), "-100", "", []string{"groups.-100", "groups.-100.topics.555"}, "a thread", true},
		{"/activation always", at("-100", ""), "", Always, []string{"groups.-100"}, "garden", false},
		{"/activation mention", at("-1", ""), "", OnMention, []string{"groups.*"}, "anywhere", true},
	} {
		list, listed := a.Entries(c.at, c.parent)
		var paths []string
		for _, e := range list {
			paths = append(paths, e.Path)
		}
		if !listed || !slices.Equal(paths, c.paths) {
			t.Errorf("%s: %q, listed %v", c.name, paths, listed)
		}
		if got := a.SystemPrompt(c.at, c.parent); got != c.prompt {
			t.Errorf("%s is told %q", c.name, got)
		}
		if got := a.NeedsMention(Facts{Address: c.at, Parent: c.parent, Activation: c.activation}); got != c.mention {
			t.Errorf("%s needs a mention: %v", c.name, got)
		}
	}
	if list, _ := a.Entries(at("-100", "7"), ""); len(list) != 2 || !slices.Equal(list[0].Tools.Deny, []string{"fetch"}) {
		t.Errorf("the group's tools are not in its entry: %+v", list)
	}
	delete(a.Groups, "*")
	if list, listed := a.Entries(at("-1", ""), ""); listed || len(list) != 0 {
		t.Errorf("a group that is not listed has %+v", list)
	}
	if list, listed := (Access{}).Entries(at("-1", ""), ""); !listed || len(list) != 0 {
		t.Errorf("without a list of groups a group is not listed: %+v", list)
	}
}

// What counts as a mention (the order is that of the decision): the platform's word that the bot was meant, a reply to it; no word
// counts when the platform says that another person was meant.
func TestMentionsThatCount(t *testing.T) {
	t.Parallel()
	re, bad := Mentions([]string{`\bhey bot\b`, "\bjeeves\b", `^!`})
	if len(bad) > 0 {
		t.Fatal(bad)
	}
	for _, c := range []struct {
		name string
		in   channels.Inbound
		want Outcome
	}{
		{"any case", channels.Inbound{Text: "HEY Bot, hi"}, Admit},
		{"characters that nobody sees", channels.Inbound{Text: "hey\u200b b\u2060o\u200dt"}, Admit},
		{"direction marks", channels.Inbound{Text: "\u202ejee\u200fves\u202c?"}, Admit},
		{"a byte order mark in front", channels.Inbound{Text: "\ufeff!now"}, Admit},
		{"YAML's backspace", channels.Inbound{Text: "ask jeeves"}, Admit},
		{"part of a word", channels.Inbound{Text: "jeevesian"}, Remember},
		{"nothing", channels.Inbound{Text: "hello"}, Remember},
		{"a reply to the bot", channels.Inbound{Text: "hello", Quote: &channels.Quote{FromBot: true}}, Admit},
		{"a reply to the bot that names somebody else", channels.Inbound{Text: "@ada look", MentionsOthers: true, Quote: &channels.Quote{FromBot: true}}, Admit},
		{"a reply to a person", channels.Inbound{Text: "hello", Quote: &channels.Quote{Text: "hey bot"}}, Remember},
		{"somebody else is named", channels.Inbound{Text: "hey bot", MentionsOthers: true}, Remember},
	} {
		c.in.Event = channels.Message
		c.in.Address = channels.Address{Channel: "telegram", Account: "default", Chat: "-100", Type: channels.Group}
		f := FactsOf(c.in)
		f.Patterns = re
		if got := (Access{GroupPolicy: GroupOpen}).Admit(f); got.Outcome != c.want {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}
