package route

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"parley/channels"
	"parley/policy"
	"parley/sessions"
)

// hostile draws ids that a careless key would confuse: empty, separators, words of the grammar, escapes, bytes that are no text.
func hostile() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.SampledFrom([]string{
			"", "main", "group", "channel", "direct", "topic", "thread", "cron", "hook", "subagent", "node-", "node-7", "agent", "global",
			"unknown", "default", "%", "%25", "%3A", "%3a", ":", "::", "a:topic:7", "7:topic:1", "group:1", "-100123", "120363@g.us", "\x00", " ",
			"a b", "\xff", "\xc3\x28", "é", "e\u0301", "\u200b", "\u202e", "日本", "😀", "A", "a", "123\n",
		}),
		rapid.String(),
		rapid.Custom(func(t *rapid.T) string { return string(rapid.SliceOfN(rapid.Byte(), 0, 6).Draw(t, "bytes")) }),
		rapid.StringOfN(rapid.SampledFrom([]rune(":%a3A-")), 0, 6, -1),
	)
}

func dm(kind channels.Kind, account channels.AccountID, user channels.UserID) channels.Inbound {
	return channels.Inbound{
		Event: channels.Message, Sender: channels.Sender{ID: user},
		Address: channels.Address{Channel: kind, Account: account, Chat: channels.ChatID(user), Type: channels.Direct},
	}
}

// proves: K7
func TestDirectSessions(t *testing.T) {
	t.Parallel()
	links := map[string][]string{"ada": {"telegram:7", "discord:77"}, "olga": {"telegram:1001", "discord:8"}}
	owners := policy.Owners{"telegram:1001"}
	for _, c := range []struct {
		scope sessions.DMScope
		in    channels.Inbound
		want  sessions.Key
	}{
		{"", dm("telegram", "default", "1001"), "agent:main:main"},
		{sessions.OwnerMain, dm("telegram", "work", "1001"), "agent:main:main"},
		{sessions.OwnerMain, dm("discord", "default", "8"), "agent:main:main"}, // the owner's other id
		{sessions.OwnerMain, dm("telegram", "default", "8"), "agent:main:telegram:direct:8"},
		{sessions.OwnerMain, dm("discord", "default", "1001"), "agent:main:discord:direct:1001"},
		{sessions.OwnerMain, dm("telegram", "default", "7"), "agent:main:direct:ada"},
		{sessions.OwnerMain, dm("discord", "default", "77"), "agent:main:direct:ada"},
		{sessions.OwnerMain, dm("telegram", "default", "ada"), "agent:main:telegram:direct:ada"},
		{sessions.DMMain, dm("telegram", "default", "9"), "agent:main:main"},
		{sessions.PerPeer, dm("telegram", "default", "9"), "agent:main:direct:9"},
		{sessions.PerPeer, dm("telegram", "default", "1001"), "agent:main:direct:olga"},
		{sessions.PerPeer, dm("telegram", "default", "ada"), "agent:main:telegram:direct:ada"}, // spelled like a linked person's name
		{sessions.PerChannelPeer, dm("telegram", "work", "9"), "agent:main:telegram:direct:9"},
		{sessions.PerAccountChannelPeer, dm("telegram", "default", "9"), "agent:main:telegram:default:direct:9"},
		{sessions.PerAccountChannelPeer, dm("telegram", "work", "9"), "agent:main:telegram:work:direct:9"},
		{sessions.PerAccountChannelPeer, dm("discord", "work", "77"), "agent:main:direct:ada"},
	} {
		r := Table{Agents: []sessions.AgentID{"main"}, Default: "main", Owners: owners, Config: sessions.Config{DMScope: c.scope, IdentityLinks: links}}
		if got, _, _ := r.Key(c.in); got != c.want {
			t.Errorf("%s, %s of %s: %s, want %s", c.scope, c.in.Sender.ID, c.in.Address, got, c.want)
		}
	}
	bare := map[string][]string{"a": {"5"}, "b": {"telegram:5"}, "c": {"5", "telegram:6"}, "d": {"Telegram:6"}}
	for peer, want := range map[channels.UserID]sessions.Key{"5": "agent:main:direct:b", "6": "agent:main:direct:c"} {
		for range 20 { // maps have no order
			r := Table{Default: "main", Config: sessions.Config{IdentityLinks: bare}}
			if got, _, _ := r.Key(dm("telegram", "default", peer)); got != want {
				t.Fatalf("%s: %s, want %s", peer, got, want)
			}
		}
	}
	in := dm("telegram", "default", "1001")
	in.Address.Thread = "5"
	if got, _, _ := (Table{Default: "main", Owners: owners}).Key(in); got != "agent:main:main:thread:5" {
		t.Errorf("thread of a direct chat: %s", got)
	}
	in = dm("telegram", "default", "1001")
	in.Sender.Bot = true
	if got, _, _ := (Table{Default: "main", Owners: owners}).Key(in); got != "agent:main:telegram:direct:1001" {
		t.Errorf("a bot with an owner's id: %s", got)
	}
}

// proves: K2, K3, K6
func TestGroupSessions(t *testing.T) {
	t.Parallel()
	r := Table{Default: "main"}
	at := func(typ channels.ChatType, chat channels.ChatID, thread channels.ThreadID, parent channels.ChatID) channels.Inbound {
		return channels.Inbound{Parent: parent, Address: channels.Address{Channel: "x", Account: "default", Chat: chat, Thread: thread, Type: typ}}
	}
	for _, c := range []struct {
		in   channels.Inbound
		want sessions.Key
	}{
		{at(channels.Group, "-100", "", ""), "agent:main:x:group:-100"},
		{at(channels.Group, "-100", "7", ""), "agent:main:x:group:-100:topic:7"},
		{at(channels.Room, "42", "", ""), "agent:main:x:channel:42"},
		{at(channels.Room, "42", "43", ""), "agent:main:x:channel:42:thread:43"},
		{at(channels.Room, "42", "43", "42"), "agent:main:x:channel:42:thread:43"},
		{at(channels.Room, "43", "", "42"), "agent:main:x:channel:42:thread:43"},
	} {
		if got, _, _ := r.Key(c.in); got != c.want {
			t.Errorf("%s in %q: %s, want %s", c.in.Address, c.in.Parent, got, c.want)
		}
	}
	r.Config.Scope = sessions.Global
	if got, agent, by := r.Key(at(channels.Group, "-100", "7", "")); got != sessions.GlobalKey || agent != "main" || by != ByScope {
		t.Errorf("scope global: %s, %s, %s", got, agent, by)
	}
}

// Two group, room or thread addresses never share a session, and a stranger shares one with nobody.
// proves: K7, K8
func TestNoTwoChatsShareASession(t *testing.T) {
	t.Parallel()
	in := rapid.Custom(func(t *rapid.T) channels.Inbound {
		h := hostile()
		return channels.Inbound{
			Sender: channels.Sender{ID: channels.UserID(h.Draw(t, "sender"))},
			Address: channels.Address{
				Channel: rapid.SampledFrom([]channels.Kind{"telegram", "group", "direct", "main"}).Draw(t, "channel"),
				Account: channels.AccountID(rapid.OneOf(rapid.SampledFrom([]string{"default", "group", "direct", ""}), h).Draw(t, "account")),
				Chat:    channels.ChatID(h.Draw(t, "chat")), Thread: channels.ThreadID(h.Draw(t, "thread")),
				Type: rapid.SampledFrom([]channels.ChatType{channels.Direct, channels.Group, channels.Room}).Draw(t, "type"),
			},
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		r := Table{Default: "main", Owners: policy.Owners{"telegram:1001"}, Config: sessions.Config{
			DMScope:       rapid.SampledFrom([]sessions.DMScope{sessions.OwnerMain, sessions.PerPeer, sessions.PerChannelPeer, sessions.PerAccountChannelPeer}).Draw(t, "scope"),
			IdentityLinks: map[string][]string{"group": {"telegram:5"}, "main": {"direct:6"}, "a": {"main:9"}},
		}}
		x, y := in.Draw(t, "x"), in.Draw(t, "y")
		if rapid.Bool().Draw(t, "near") {
			z := in.Draw(t, "z")
			y.Address = x.Address
			switch rapid.IntRange(0, 3).Draw(t, "field") {
			case 0:
				y.Address.Chat = z.Address.Chat
			case 1:
				y.Address.Account, y.Sender = z.Address.Account, x.Sender
			case 2:
				y.Address.Channel, y.Sender = z.Address.Channel, x.Sender
			case 3:
				y.Address.Thread, y.Sender = z.Address.Thread, x.Sender
			}
		}
		kx, _, _ := r.Key(x)
		ky, _, _ := r.Key(y)
		if _, err := kx.Parse(); err != nil {
			t.Fatal(err)
		}
		dx, dy := x.Address.Type == channels.Direct, y.Address.Type == channels.Direct
		switch {
		case dx != dy && kx == ky:
			t.Fatalf("a direct and a group chat share %q", kx)
		case !dx && !dy && (kx == ky) != (x.Address == y.Address):
			t.Fatalf("%+v → %q, %+v → %q", x.Address, kx, y.Address, ky)
		case dx && dy && kx == ky && peerID(x) != peerID(y):
			t.Fatalf("%q and %q share %q", peerID(x), peerID(y), kx)
		case dx && dy && kx == ky && x.Address.Channel != y.Address.Channel && r.Config.DMScope != sessions.PerPeer:
			t.Fatalf("strangers on %s and %s share %q", x.Address.Channel, y.Address.Channel, kx)
		}
	})
}

// Who shares a direct session with whom, for every pair of people who could be mistaken for one another.
// proves: K7, K8
func TestWhoSharesADirectSession(t *testing.T) {
	t.Parallel()
	var all []channels.Inbound
	for _, kind := range []channels.Kind{"telegram", "discord", "direct"} {
		for _, user := range []channels.UserID{"1001", "5", "6", "ada", "bob", "main"} {
			for _, account := range []channels.AccountID{channels.DefaultAccount, "work"} {
				for _, thread := range []channels.ThreadID{"", "7"} {
					in := dm(kind, account, user)
					in.Address.Thread = thread
					all = append(all, in)
				}
			}
		}
	}
	links := map[string][]string{"ada": {"telegram:5", "discord:6"}, "bob": {"telegram:6"}, "main": {"direct:5"}}
	for _, scope := range []sessions.DMScope{"", sessions.OwnerMain, sessions.DMMain, sessions.PerPeer, sessions.PerChannelPeer, sessions.PerAccountChannelPeer} {
		r := Table{Default: "main", Owners: policy.Owners{"telegram:1001"}, Config: sessions.Config{DMScope: scope, IdentityLinks: links}}
		for _, x := range all {
			for _, y := range all {
				kx, _, _ := r.Key(x)
				ky, _, _ := r.Key(y)
				if want := modelPerson(scope, x) == modelPerson(scope, y) && x.Address.Thread == y.Address.Thread; (kx == ky) != want {
					t.Fatalf("scope %q: %s has %q, %s has %q; want them to share one: %v", scope, x.Address, kx, y.Address, ky, want)
				}
			}
		}
	}
}

// modelPerson says with whom somebody's direct chats share a session, in the words of the contract.
func modelPerson(scope sessions.DMScope, in channels.Inbound) [4]string {
	channel, account, id := string(in.Address.Channel), string(in.Address.Account), string(in.Sender.ID)
	joined := map[string]string{"telegram 5": "ada", "discord 6": "ada", "telegram 6": "bob", "direct 5": "main"}[channel+" "+id]
	switch {
	case scope == sessions.DMMain, (scope == sessions.OwnerMain || scope == "") && channel == "telegram" && id == "1001":
		return [4]string{"main"}
	case joined != "":
		return [4]string{"a linked person", joined}
	case scope == sessions.PerPeer && id != "ada" && id != "bob" && id != "main": // nobody becomes a linked person by being called like one
		return [4]string{"a peer", id}
	case scope == sessions.PerAccountChannelPeer:
		return [4]string{"a peer of an account", channel, account, id}
	}
	return [4]string{"a peer of a channel", channel, id}
}

// proves: K10
func TestBindings(t *testing.T) {
	t.Parallel()
	peer := func(kind channels.ChatType, id string) *sessions.Peer { return &sessions.Peer{Kind: kind, ID: id} }
	// Least specific first, so that the order of the list cannot be what decides.
	all := []sessions.Binding{
		{AgentID: "channel", Match: sessions.BindingMatch{Channel: "Discord", AccountID: "*"}},
		{AgentID: "account", Match: sessions.BindingMatch{Channel: "discord"}},
		{AgentID: "team", Match: sessions.BindingMatch{Channel: "discord", TeamID: "t"}},
		{AgentID: "guild", Match: sessions.BindingMatch{Channel: "discord", GuildID: "g"}},
		{AgentID: "roles", Match: sessions.BindingMatch{Channel: "discord", GuildID: "g", Roles: []string{"x", "admin"}}},
		{AgentID: "any", Match: sessions.BindingMatch{Channel: "discord", Peer: peer(channels.Room, "*")}},
		{AgentID: "parent", Match: sessions.BindingMatch{Channel: "discord", Peer: peer(channels.Room, "parent")}},
		{AgentID: "peer", Match: sessions.BindingMatch{Channel: "discord", Peer: peer(channels.Room, "thread")}},
	}
	in := channels.Inbound{
		Guild: "g", Team: "t", Roles: []string{"admin"}, Parent: "parent",
		Address: channels.Address{Channel: "discord", Account: "default", Chat: "thread", Type: channels.Room},
	}
	want := []string{ByChannel, ByAccount, ByTeam, ByGuild, ByGuildRoles, ByPeerAny, ByPeerParent, ByPeer}
	for n := range all {
		r := Table{Default: "main", Bindings: slices.Clone(all[:n+1])}
		for _, b := range all {
			r.Agents = append(r.Agents, b.AgentID)
		}
		if _, got, by := r.Key(in); got != all[n].AgentID || by != want[n] {
			t.Errorf("%d bindings: %s by %s, want %s by %s", n+1, got, by, all[n].AgentID, want[n])
		}
		slices.Reverse(r.Bindings)
		r.Bindings = append(r.Bindings, sessions.Binding{AgentID: "main", Match: all[n].Match}) // as specific, but later
		if _, got, by := r.Key(in); got != all[n].AgentID || by != want[n] {
			t.Errorf("%d bindings, most specific first: %s by %s, want %s by %s", n+1, got, by, all[n].AgentID, want[n])
		}
	}

	for name, c := range map[string]struct {
		m    sessions.BindingMatch
		in   channels.Inbound
		want string
	}{
		"absent account is the default one":  {sessions.BindingMatch{Channel: "telegram"}, dm("telegram", "work", "1"), ByDefault},
		"account":                            {sessions.BindingMatch{Channel: "telegram", AccountID: "work"}, dm("telegram", "work", "1"), ByAccount},
		"any account":                        {sessions.BindingMatch{Channel: "telegram", AccountID: "*"}, dm("telegram", "work", "1"), ByChannel},
		"another channel":                    {sessions.BindingMatch{Channel: "discord"}, dm("telegram", "default", "1"), ByDefault},
		"person":                             {sessions.BindingMatch{Channel: "telegram", Peer: peer(channels.Direct, "1")}, dm("telegram", "default", "1"), ByPeer},
		"a person is no group":               {sessions.BindingMatch{Channel: "telegram", Peer: peer(channels.Group, "1")}, dm("telegram", "default", "1"), ByDefault},
		"peer on another account":            {sessions.BindingMatch{Channel: "telegram", Peer: peer(channels.Direct, "1")}, dm("telegram", "work", "1"), ByDefault},
		"peer in another guild":              {sessions.BindingMatch{Channel: "discord", GuildID: "other", Peer: peer(channels.Room, "thread")}, in, ByDefault},
		"roles of somebody else":             {sessions.BindingMatch{Channel: "discord", GuildID: "g", Roles: []string{"x"}}, in, ByDefault},
		"an agent that does not exist":       {sessions.BindingMatch{Channel: "nowhere"}, dm("nowhere", "default", "1"), ByDefault},
		"topic":                              {sessions.BindingMatch{Channel: "telegram", Peer: peer(channels.Group, "-1:topic:7")}, topicIn("-1", "7"), ByPeer},
		"topic by its group":                 {sessions.BindingMatch{Channel: "telegram", Peer: peer(channels.Group, "-1")}, topicIn("-1", "7"), ByPeerParent},
		"a topic's number alone is no place": {sessions.BindingMatch{Channel: "telegram", Peer: peer(channels.Group, "7")}, topicIn("-1", "7"), ByDefault},
	} {
		r := Table{Agents: []sessions.AgentID{"main", "b"}, Default: "main", Bindings: []sessions.Binding{{AgentID: "b", Match: c.m}}}
		if name == "an agent that does not exist" {
			r.Agents = r.Agents[:1]
		}
		_, agent, by := r.Key(c.in)
		if by != c.want || (agent == "b") != (by != ByDefault) {
			t.Errorf("%s: %s by %s, want %s", name, agent, by, c.want)
		}
	}
}

func topicIn(chat channels.ChatID, thread channels.ThreadID) channels.Inbound {
	return channels.Inbound{Address: channels.Address{Channel: "telegram", Account: "default", Chat: chat, Thread: thread, Type: channels.Group}}
}

// proves: K10
func TestRoutesCheck(t *testing.T) {
	t.Parallel()
	r := Table{
		Agents: []sessions.AgentID{"main", "", "main"}, Default: "other",
		Bindings: []sessions.Binding{
			{AgentID: "nobody", Match: sessions.BindingMatch{Channel: "telegram", Roles: []string{"x"}, Peer: &sessions.Peer{Kind: "dm"}}},
			{AgentID: "main", Match: sessions.BindingMatch{}},
			{AgentID: "main", Match: sessions.BindingMatch{Channel: "discord", Peer: &sessions.Peer{Kind: channels.Room, ID: "1"}}},
			{AgentID: "main", Match: sessions.BindingMatch{Channel: "discord", Peer: &sessions.Peer{Kind: channels.Room, ID: "1"}}},
		},
		Config: sessions.Config{Scope: "x", DMScope: "y", IdentityLinks: map[string][]string{"ada": {"telegram:1", "5", ""}, "bob": {"Telegram:1", "discord:"}, " ": {"telegram:3"}}},
	}
	var got []string
	for _, p := range r.Check() {
		got = append(got, p.Path)
	}
	want := []string{
		"agents.list[1].id", "agents.list[2].id", "agents.list", "session.scope", "session.dmScope",
		"bindings[0].agentId", "bindings[0].match.roles", "bindings[0].match.peer.kind", "bindings[0].match.peer.id",
		"bindings[1].match.channel", "bindings[3]",
		"session.identityLinks. ", "session.identityLinks.ada[1]", "session.identityLinks.ada[2]", "session.identityLinks.bob[0]", "session.identityLinks.bob[1]",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if p := (Table{Agents: []sessions.AgentID{"main"}, Default: "main", Bindings: []sessions.Binding{{AgentID: "main", Match: sessions.BindingMatch{Channel: "x"}}}}).Check(); len(p) > 0 {
		t.Errorf("a good configuration: %v", p)
	}
}
