package policy

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"parley/channels"
)

func direct(f Facts) Facts {
	f.Event, f.Address = channels.Message, channels.Address{Channel: "telegram", Account: "default", Chat: "42", Type: channels.Direct}
	if f.Sender.ID == "" {
		f.Sender.ID = "42"
	}
	return f
}

func grouped(f Facts) Facts {
	f.Event = channels.Message
	f.Address = channels.Address{Channel: "telegram", Account: "default", Chat: "-100", Thread: f.Address.Thread, Type: channels.Group}
	if f.Sender.ID == "" {
		f.Sender.ID = "42"
	}
	return f
}

func TestAdmitDirect(t *testing.T) {
	t.Parallel()
	ada := channels.Sender{ID: "42", Username: "Ada"}
	edited := direct(Facts{})
	edited.Event = channels.Edited
	for _, c := range []struct {
		name string
		a    Access
		f    Facts
		want Outcome
		key  string
	}{
		{"a stranger gets a code by default", Access{}, direct(Facts{}), Pair, "dmPolicy"},
		{"a stranger's edit gets none", Access{}, edited, Drop, "dmPolicy"},
		{"who was paired comes in", Access{DMPolicy: DMPairing}, direct(Facts{Paired: true}), Admit, "dmPolicy"},
		{"id", Access{AllowFrom: []string{"42"}}, direct(Facts{}), Admit, "allowFrom"},
		{"channel and id", Access{AllowFrom: []string{"Telegram:42"}}, direct(Facts{}), Admit, "allowFrom"},
		{"another channel's id", Access{AllowFrom: []string{"discord:42"}}, direct(Facts{}), Pair, "dmPolicy"},
		{"part of an id", Access{AllowFrom: []string{"4", "420"}}, direct(Facts{}), Pair, "dmPolicy"},
		{"user name, any case", Access{AllowFrom: []string{"@aDA"}}, direct(Facts{Sender: ada}), Admit, "allowFrom"},
		{"a bare word is no user name", Access{AllowFrom: []string{"Ada"}}, direct(Facts{Sender: ada}), Pair, "dmPolicy"},
		{"an id that looks like a user name", Access{AllowFrom: []string{"@ada"}}, direct(Facts{Sender: channels.Sender{ID: "@ada"}}), Pair, "dmPolicy"},
		{"nobody without a user name", Access{AllowFrom: []string{"@"}}, direct(Facts{}), Pair, "dmPolicy"},
		{"allowlist keeps silent", Access{DMPolicy: DMAllowlist}, direct(Facts{}), Drop, "dmPolicy"},
		{"allowlist and paired", Access{DMPolicy: DMAllowlist}, direct(Facts{Paired: true}), Admit, "dmPolicy"},
		{"open", Access{DMPolicy: DMOpen, AllowFrom: []string{"*"}}, direct(Facts{}), Admit, "allowFrom"},
		{"open without *", Access{DMPolicy: DMOpen, AllowFrom: []string{"1"}}, direct(Facts{}), Drop, "dmPolicy"},
		{"disabled", Access{DMPolicy: DMDisabled, AllowFrom: []string{"*"}}, direct(Facts{Paired: true}), Drop, "dmPolicy"},
		{"an unknown policy", Access{DMPolicy: "opne", AllowFrom: []string{"*"}}, direct(Facts{}), Drop, "dmPolicy"},
		{"an owner, even then", Access{DMPolicy: DMDisabled}, direct(Facts{Owner: true}), Admit, "ownerAllowFrom"},
		{"own messages", Access{DMPolicy: DMOpen, AllowFrom: []string{"*"}}, direct(Facts{Own: true, Owner: true}), Drop, "sender"},
		{"bots", Access{AllowFrom: []string{"*"}}, direct(Facts{Sender: channels.Sender{ID: "1", Bot: true}}), Drop, "allowBots"},
		{"bots, allowed", Access{AllowFrom: []string{"*"}, AllowBots: true}, direct(Facts{Sender: channels.Sender{ID: "1", Bot: true}}), Admit, "allowFrom"},
		{"no chat type", Access{AllowFrom: []string{"*"}}, Facts{Event: channels.Message, Owner: true}, Drop, "address"},
	} {
		got := c.a.Admit(c.f)
		if got.Outcome != c.want || got.Key != c.key || !strings.HasPrefix(got.Reason, c.key+": ") {
			t.Errorf("%s: %+v, want %s by %s", c.name, got, c.want, c.key)
		}
	}
}

func TestAdmitGroup(t *testing.T) {
	t.Parallel()
	no, yes := new(bool), new(bool)
	*yes = true
	all := []string{"*"}
	open := Access{GroupPolicy: GroupOpen}
	topics := map[string]GroupAccess{"7": {RequireMention: no}, "8": {Enabled: no}, "9": {AllowFrom: []string{"1"}}}
	with := func(g map[string]GroupAccess) Access { return Access{GroupPolicy: GroupOpen, Groups: g} }
	topic := func(id channels.ThreadID, f Facts) Facts {
		f.Address.Thread = id
		return grouped(f)
	}
	thread := grouped(Facts{Mentioned: true, Parent: "-100"})
	thread.Address.Chat = "555"
	for _, c := range []struct {
		name string
		a    Access
		f    Facts
		want Outcome
		key  string
	}{
		{"nobody is listed", Access{}, grouped(Facts{Mentioned: true}), Drop, "groupPolicy"},
		{"the group is listed by id, without senders", Access{Groups: map[string]GroupAccess{"-100": {}}}, grouped(Facts{Mentioned: true}), Admit, "requireMention"},
		{"all groups are listed, without senders", Access{Groups: map[string]GroupAccess{"*": {}}}, grouped(Facts{Mentioned: true}), Drop, "groupPolicy"},
		{"the group is listed by id, other senders are", Access{GroupAllowFrom: []string{"1"}, Groups: map[string]GroupAccess{"-100": {}}}, grouped(Facts{Mentioned: true}), Drop, "groupAllowFrom"},
		{"an owner stands in every list", Access{}, grouped(Facts{Mentioned: true, Owner: true}), Admit, "requireMention"},
		{"pairing grants no group", Access{}, grouped(Facts{Mentioned: true, Paired: true}), Drop, "groupPolicy"},
		{"allowFrom", Access{AllowFrom: []string{"42"}}, grouped(Facts{Mentioned: true}), Admit, "requireMention"},
		{"groupAllowFrom instead of allowFrom", Access{AllowFrom: []string{"42"}, GroupAllowFrom: []string{"1"}}, grouped(Facts{Mentioned: true}), Drop, "groupAllowFrom"},
		{"listed in allowFrom only", Access{AllowFrom: []string{"1"}}, grouped(Facts{Mentioned: true}), Drop, "allowFrom"},
		{"open", open, grouped(Facts{Mentioned: true}), Admit, "requireMention"},
		{"disabled", Access{GroupPolicy: GroupDisabled}, grouped(Facts{Mentioned: true, Owner: true}), Drop, "groupPolicy"},
		{"an unknown policy", Access{GroupPolicy: "x", AllowFrom: all}, grouped(Facts{Mentioned: true}), Drop, "groupPolicy"},
		{"another group is listed", with(map[string]GroupAccess{"-1": {}}), grouped(Facts{Mentioned: true, Owner: true}), Drop, "groups"},
		{"*", with(map[string]GroupAccess{"*": {}}), grouped(Facts{Mentioned: true}), Admit, "requireMention"},
		{"its own entry beats *", with(map[string]GroupAccess{"*": {Enabled: no}, "-100": {RequireMention: no}}), grouped(Facts{}), Admit, "groups.-100.requireMention"},
		{"off", with(map[string]GroupAccess{"*": {Enabled: no}}), grouped(Facts{Mentioned: true, Owner: true}), Drop, "groups.*.enabled"},
		{"a group's senders", with(map[string]GroupAccess{"-100": {AllowFrom: []string{"1"}}}), grouped(Facts{Mentioned: true}), Drop, "groups.-100.allowFrom"},
		{"a group's senders replace the account's", Access{GroupAllowFrom: []string{"1"}, Groups: map[string]GroupAccess{"-100": {AllowFrom: []string{"42"}}}}, grouped(Facts{Mentioned: true}), Admit, "requireMention"},
		{"a topic without mention", with(map[string]GroupAccess{"-100": {RequireMention: yes, Topics: topics}}), topic("7", Facts{}), Admit, "groups.-100.topics.7.requireMention"},
		{"a topic that is off", with(map[string]GroupAccess{"-100": {Topics: topics}}), topic("8", Facts{Mentioned: true}), Drop, "groups.-100.topics.8.enabled"},
		{"a topic's senders beat the group's", with(map[string]GroupAccess{"-100": {AllowFrom: all, Topics: topics}}), topic("9", Facts{Mentioned: true}), Drop, "groups.-100.topics.9.allowFrom"},
		{"another topic", with(map[string]GroupAccess{"-100": {RequireMention: yes, Topics: topics}}), topic("6", Facts{CanDetect: true}), Remember, "groups.-100.requireMention"},
		{"a thread belongs to its parent", with(map[string]GroupAccess{"-100": {}}), thread, Admit, "requireMention"},

		{"not mentioned", open, grouped(Facts{CanDetect: true}), Remember, "requireMention"},
		{"the host cannot detect mentions", open, grouped(Facts{}), Admit, "requireMention"},
		{"a pattern", open, grouped(Facts{CanDetect: true, Text: "hey PARLEY!", Patterns: patterns(t, "parley")}), Admit, "requireMention"},
		{"a pattern, but somebody else is mentioned", open, grouped(Facts{CanDetect: true, MentionsOthers: true, Text: "hey parley", Patterns: patterns(t, "parley")}), Remember, "requireMention"},
		{"both mentioned", open, grouped(Facts{CanDetect: true, MentionsOthers: true, Mentioned: true}), Admit, "requireMention"},
		{"no pattern matches", open, grouped(Facts{Text: "barley", Patterns: patterns(t, "parley")}), Remember, "requireMention"},
		{"an owner's command", open, grouped(Facts{CanDetect: true, Command: true, Owner: true}), Admit, "requireMention"},
		{"an owner's command to another bot", open, grouped(Facts{CanDetect: true, Command: true, Owner: true, MentionsOthers: true}), Remember, "requireMention"},
		{"a listed person's command", Access{AllowFrom: []string{"42"}}, grouped(Facts{CanDetect: true, Command: true}), Admit, "requireMention"},
		{"a command in a group that is listed", Access{Groups: map[string]GroupAccess{"-100": {}}}, grouped(Facts{CanDetect: true, Command: true}), Admit, "requireMention"},
		{"a listed person's talk", Access{AllowFrom: []string{"42"}}, grouped(Facts{CanDetect: true}), Remember, "requireMention"},
		{"a stranger's command", open, grouped(Facts{CanDetect: true, Command: true}), Remember, "requireMention"},
		{"to the bot alone", open, grouped(Facts{CanDetect: true, Private: true}), Admit, "requireMention"},
		{"to the bot alone, but a mention is wanted", with(map[string]GroupAccess{"*": {RequireMention: yes}}), grouped(Facts{CanDetect: true, Private: true}), Remember, "groups.*.requireMention"},
		{"to the bot alone, /activation mention", open, grouped(Facts{CanDetect: true, Private: true, Activation: "mention"}), Remember, "activation"},
		{"/activation always", open, grouped(Facts{CanDetect: true, Activation: "always"}), Admit, "activation"},
		{"/activation mention", with(map[string]GroupAccess{"*": {RequireMention: no}}), grouped(Facts{CanDetect: true, Activation: "mention"}), Remember, "activation"},
		{"bots", open, grouped(Facts{Mentioned: true, Sender: channels.Sender{ID: "1", Bot: true}}), Drop, "allowBots"},
		{"own messages", Access{GroupPolicy: GroupOpen, AllowBots: true}, grouped(Facts{Mentioned: true, Own: true}), Drop, "sender"},
	} {
		if got := c.a.Admit(c.f); got.Outcome != c.want || got.Key != c.key {
			t.Errorf("%s: %+v, want %s by %s", c.name, got, c.want, c.key)
		}
	}
}

// Whoever is not named anywhere gets in nowhere, whatever the event looks like, unless something says "everybody".
func TestStrangersNeedAWord(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		f := Facts{
			Event: channels.Message, Address: drawAddress(t), Text: "parley", Mentioned: rapid.Bool().Draw(t, "mentioned"), Command: rapid.Bool().Draw(t, "command"),
			Sender: channels.Sender{ID: channels.UserID(rapid.StringMatching(`[*@a-z0-9:]{0,3}`).Draw(t, "id")), Username: "mallory"}, Activation: "always",
		}
		f.Address.Chat = "chat"
		a := Access{
			DMPolicy:    rapid.SampledFrom([]DMPolicy{"", DMPairing, DMAllowlist, DMOpen, DMDisabled}).Draw(t, "dm"),
			GroupPolicy: rapid.SampledFrom([]GroupPolicy{"", GroupAllowlist, GroupDisabled}).Draw(t, "group"),
			AllowFrom:   []string{"1001", "@ada", "telegram:1002"}, AllowBots: true,
			Groups: map[string]GroupAccess{"*": {}},
		}
		if rapid.Bool().Draw(t, "empty") {
			a.AllowFrom = nil
		}
		if got := a.Admit(f); got.Outcome == Admit || got.Outcome == Remember {
			t.Fatalf("%+v let %+v in: %+v", a, f, got)
		}
	})
}

func patterns(t *testing.T, name string) []*regexp.Regexp {
	t.Helper()
	re, bad := Mentions(nil, name)
	if len(re) == 0 || len(bad) > 0 {
		t.Fatalf("%q: %v", name, bad)
	}
	return re
}

func TestMentions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		want       bool
	}{
		{"Parley", "hi parley", true}, {"Parley", "@Parley: hi", true}, {"Parley", "par\u200bley?", true}, {"Parley", "parleys", false},
		{"Ada Bot", "ada  bot, please", true}, {"Ада", "привет ада!", true}, {"Ада", "граада", false}, {"C++", "c++ or go", true}, {"🤖", "hey 🤖", true},
	} {
		if got := mentioned(c.text, patterns(t, c.name)); got != c.want {
			t.Errorf("%q in %q: %v", c.name, c.text, got)
		}
	}
	re, bad := Mentions([]string{"\bbot\b", "(", ".*"}, "ignored")
	if len(re) != 1 || !mentioned("the BOT", re) || mentioned("robots", re) || mentioned("ignored", re) {
		t.Errorf("patterns %v", re)
	}
	if len(bad) != 2 || bad[0].Path != "mentionPatterns[1]" || bad[1].Path != "mentionPatterns[2]" {
		t.Errorf("problems %v", bad)
	}
	if re, _ := Mentions(nil, " ", ""); len(re) != 0 {
		t.Errorf("a name without letters matches: %v", re)
	}
}

func TestFactsOf(t *testing.T) {
	t.Parallel()
	in := channels.Inbound{Event: channels.Message, Text: "@bot hi", Addressed: "hi", Quote: &channels.Quote{FromBot: true}, SentByThisLogin: true, Parent: "p"}
	f := FactsOf(in)
	if f.Text != "hi" || !f.Mentioned || !f.Own || f.Parent != "p" || !f.CanDetect {
		t.Errorf("%+v", f)
	}
	in.Addressed, in.Quote = "", nil
	if f := FactsOf(in); f.Text != "@bot hi" || f.Mentioned {
		t.Errorf("%+v", f)
	}
}

func TestOwners(t *testing.T) {
	t.Parallel()
	o := Owners{"telegram:1001", "discord:@Ada", "webchat:*", "77", "*"}
	for _, c := range []struct {
		kind channels.Kind
		u    channels.Sender
		want bool
	}{
		{"telegram", channels.Sender{ID: "1001"}, true}, {"discord", channels.Sender{ID: "1001"}, false}, {"discord", channels.Sender{ID: "5", Username: "ada"}, true},
		{"webchat", channels.Sender{ID: "x"}, true}, {"telegram", channels.Sender{ID: "77"}, false}, {"telegram", channels.Sender{ID: "1001", Bot: true}, false},
		{"telegram", channels.Sender{ID: "telegram:1001"}, false}, {"telegram", channels.Sender{}, false},
	} {
		if got := o.Is(c.kind, c.u); got != c.want {
			t.Errorf("%s %+v: %v", c.kind, c.u, got)
		}
	}
	var paths []string
	for _, p := range append(o, "telegram:").Check([]channels.Kind{"telegram", "discord", "webchat"}) {
		paths = append(paths, p.Path)
	}
	if want := []string{"commands.ownerAllowFrom[2]", "commands.ownerAllowFrom[3]", "commands.ownerAllowFrom[4]", "commands.ownerAllowFrom[5]"}; !slices.Equal(paths, want) {
		t.Errorf("%q, want %q", paths, want)
	}
}

func TestAccessCheck(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		a       Access
		path    string
		warning bool
	}{
		{"default", Access{}, "", false},
		{"open", Access{DMPolicy: DMOpen, AllowFrom: []string{"*"}}, "", false},
		{"open, nobody named", Access{DMPolicy: DMOpen}, "dmPolicy", false},
		{"allowlist, nobody named", Access{DMPolicy: DMAllowlist}, "dmPolicy", true},
		{"allowlist for everybody", Access{DMPolicy: DMAllowlist, AllowFrom: []string{"*"}}, "allowFrom", true},
		{"no such policy", Access{DMPolicy: "x"}, "dmPolicy", false},
		{"no such group policy", Access{GroupPolicy: "x"}, "groupPolicy", false},
		{"groups that nobody may use", Access{Groups: map[string]GroupAccess{"*": {}}}, "groups.*", true},
		{"a group listed by id", Access{Groups: map[string]GroupAccess{"-1": {}}}, "", false},
		{"a group for all", Access{Groups: map[string]GroupAccess{"-1": {AllowFrom: []string{"*"}}}}, "", false},
		{"topics in topics", Access{GroupPolicy: GroupOpen, Groups: map[string]GroupAccess{"-1": {Topics: map[string]GroupAccess{"7": {Topics: map[string]GroupAccess{"8": {}}}}}}}, "groups.-1.topics.7.topics", false},
		{"an empty entry", Access{AllowFrom: []string{"1", ""}}, "allowFrom[1]", false},
	} {
		got := c.a.Check()
		switch {
		case c.path == "" && len(got) == 0:
		case len(got) != 1 || got[0].Path != c.path || got[0].Warning != c.warning || got[0].Message == "":
			t.Errorf("%s: %v, want %s", c.name, got, c.path)
		}
	}
}
