package policy

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"parley/channels"
)

func drawAddress(t *rapid.T) channels.Address {
	return channels.Address{
		Channel: rapid.SampledFrom([]channels.Kind{"telegram", "discord"}).Draw(t, "channel"),
		Account: rapid.SampledFrom([]channels.AccountID{"default", "job"}).Draw(t, "account"),
		Chat:    rapid.SampledFrom([]channels.ChatID{"-1", "2"}).Draw(t, "chat"),
		Thread:  rapid.SampledFrom([]channels.ThreadID{"", "7"}).Draw(t, "thread"),
		Type:    rapid.SampledFrom([]channels.ChatType{channels.Direct, channels.Group, channels.Room}).Draw(t, "type"),
	}
}

// drawSubject draws a delivery as the host makes them: the keys and the address go together where a key names a chat.
func drawSubject(t *rapid.T) Subject {
	a := drawAddress(t)
	word := map[channels.ChatType]string{channels.Group: "topic"}[a.Type]
	if word == "" {
		word = "thread"
	}
	chat := string(a.Type) + ":" + string(a.Chat)
	if a.Thread != "" {
		chat += ":" + word + ":7"
	}
	plain := string(a.Channel) + ":" + chat
	stripped := plain
	if a.Account != channels.DefaultAccount {
		stripped = string(a.Channel) + ":" + string(a.Account) + ":" + chat
	}
	if other := rapid.SampledFrom([]string{"", "", "", "main", "cron:x", "hook:telegram:group", "node-1", "subagent:u"}).Draw(t, "key"); other != "" && (other != "main" || a.Type == channels.Direct) {
		plain, stripped = other, other
	}
	agent := "agent:" + rapid.SampledFrom([]string{"main", "ops"}).Draw(t, "agent") + ":"
	return Subject{Key: agent + stripped, StrippedKey: stripped, PlainKey: agent + plain, To: a}
}

// drawMatch draws a rule whose fields are often those of a delivery, so that many rules match and many just miss.
func drawMatch(t *rapid.T, s Subject) SendMatch {
	to := s.To
	whole := to
	whole.Thread = ""
	_, plain, _ := strings.Cut(strings.TrimPrefix(s.PlainKey, "agent:"), ":")
	prefix := func(name string, of ...string) string {
		p := rapid.SampledFrom(append(of, "", "", "", "", "cron:", "AGENT:MAIN:", "main")).Draw(t, name)
		if n := rapid.IntRange(0, len(p)).Draw(t, name+".length"); rapid.Bool().Draw(t, name+".cut") {
			p = p[:n]
		}
		return p
	}
	return SendMatch{
		Channel:      rapid.SampledFrom([]channels.Kind{"", "", to.Channel, "telegram", "Discord"}).Draw(t, "m.channel"),
		ChatType:     rapid.SampledFrom([]channels.ChatType{"", "", to.Type, channels.Direct, channels.Group, channels.Room}).Draw(t, "m.chatType"),
		KeyPrefix:    prefix("m.keyPrefix", s.Key, s.StrippedKey, s.PlainKey, plain),
		RawKeyPrefix: prefix("m.rawKeyPrefix", s.Key, s.StrippedKey, s.PlainKey),
		AccountID:    rapid.SampledFrom([]channels.AccountID{"", "", to.Account, "job"}).Draw(t, "m.account"),
		To:           rapid.SampledFrom([]string{"", "", string(to.Chat), to.String(), whole.String(), whole.String() + "/7", "-1"}).Draw(t, "m.to"),
	}
}

// The contract's words, one by one, with nothing shared with the code under test.
func modelMatches(m SendMatch, s Subject) bool {
	lower, to := strings.ToLower, s.To
	ok := true
	if m.Channel != "" {
		ok = ok && lower(string(m.Channel)) == string(to.Channel)
	}
	switch m.ChatType {
	case "group":
		ok = ok && (to.Type == "group" || to.Type == "channel")
	case "channel":
		ok = ok && to.Type == "channel"
	case "direct":
		ok = ok && to.Type == "direct"
	}
	if m.KeyPrefix != "" {
		starts := false // with or without the agent, with or without the account
		for _, key := range []string{s.Key, s.PlainKey} {
			for _, k := range []string{key, strings.SplitN(key, ":", 3)[2]} {
				starts = starts || strings.Index(lower(k), lower(m.KeyPrefix)) == 0
			}
		}
		ok = ok && starts
	}
	if m.RawKeyPrefix != "" {
		ok = ok && strings.Index(lower(s.Key), lower(m.RawKeyPrefix)) == 0
	}
	if m.AccountID != "" {
		ok = ok && m.AccountID == to.Account
	}
	if m.To != "" {
		parent := strings.TrimSuffix(to.String(), "/7")
		ok = ok && slices.Contains([]string{string(to.Chat), to.String(), parent}, m.To)
	}
	return ok
}

// proves: P1, P2, P6
func TestDecideIsTheContract(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := drawSubject(t)
		s.Override = rapid.SampledFrom([]Override{Inherit, Inherit, Inherit, Allow, Deny}).Draw(t, "override")
		p := SendPolicy{Default: rapid.SampledFrom([]Action{"", Allow, Deny}).Draw(t, "default")}
		for range rapid.IntRange(0, 5).Draw(t, "rules") {
			p.Rules = append(p.Rules, SendRule{drawMatch(t, s), rapid.SampledFrom([]Action{Allow, Deny}).Draw(t, "action")})
		}

		want := map[Action]Action{"": Allow, Allow: Allow, Deny: Deny}[p.Default]
		var denies, allows int
		for _, r := range p.Rules {
			if modelMatches(r.Match, s) {
				if r.Action == Deny {
					denies++
				} else {
					allows++
				}
			}
		}
		switch {
		case s.Override != "":
			want = s.Override
		case denies > 0:
			want = Deny
		case allows > 0:
			want = Allow
		}
		v := p.Evaluate(s)
		if v.Action != want || v.Rule == "" || v.Reason == "" {
			t.Fatalf("%+v on %+v: %+v, want %s", p, s, v, want)
		}
		shuffled := SendPolicy{p.Default, rapid.Permutation(p.Rules).Draw(t, "order")}
		if o := shuffled.Evaluate(s); o.Action != v.Action {
			t.Fatalf("order of the rules matters: %+v and %+v", v, o)
		}
		steps := p.Explain(s)
		last := steps[len(steps)-1]
		if !last.Verdict || last.Rule != v.Rule || last.Action != v.Action || len(steps) != len(p.Rules)+3 {
			t.Fatalf("explanation %+v does not end in %+v", steps, v)
		}
		if d := steps[len(steps)-2]; d.Matched != (v.Rule == defaultRule) { // it does not apply beside a rule
			t.Fatalf("step %+v of the default, where %+v decides", d, v)
		}
		for i, r := range p.Rules {
			if steps[i+1].Matched != modelMatches(r.Match, s) || steps[i+1].Why == "" {
				t.Fatalf("step %+v of rule %+v on %+v", steps[i+1], r, s)
			}
		}
	})
}

// proves: P2, P6
func TestDecideNamesTheRule(t *testing.T) {
	t.Parallel()
	p := SendPolicy{Default: Allow, Rules: []SendRule{
		{SendMatch{Channel: "telegram"}, Allow},
		{SendMatch{ChatType: channels.Group}, Deny},
		{SendMatch{KeyPrefix: "cron:"}, "block"},
	}}
	room := channels.Address{Channel: "discord", Account: "default", Chat: "1", Type: channels.Room}
	dm := channels.Address{Channel: "telegram", Account: "default", Chat: "1", Type: channels.Direct}
	for _, c := range []struct {
		s    Subject
		want Action
		rule string
	}{
		{Subject{To: room}, Deny, "session.sendPolicy.rules[1]"},
		{Subject{To: room, Override: Allow}, Allow, "session override"},
		{Subject{To: dm}, Allow, "session.sendPolicy.rules[0]"},
		{Subject{To: dm, Override: Deny}, Deny, "session override"},
		{Subject{To: channels.Address{Channel: "webchat", Type: channels.Direct}}, Allow, "session.sendPolicy.default"},
		{Subject{To: dm, Key: "agent:a:cron:x", StrippedKey: "cron:x"}, Deny, "session.sendPolicy.rules[2]"}, // a typo does not open the door
		{Subject{}, Allow, "session.sendPolicy.default"},
	} {
		if v := p.Evaluate(c.s); v.Action != c.want || v.Rule != c.rule || v.Allowed() != (c.want == Allow) {
			t.Errorf("%+v: %+v, want %s by %s", c.s, v, c.want, c.rule)
		}
	}
	if v := (SendPolicy{}).Evaluate(Subject{To: dm}); !v.Allowed() {
		t.Errorf("no policy: %+v, want allow", v)
	}
}

// A rule about a channel that is known and not there is a warning; what may be misspelt is an error.
//
// source: OpenClaw documentation, session tools: channels signal, imessage and internal in send policy rules
// proves: P2
func TestSendPolicyCheckOfAbsentChannels(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		match   SendMatch
		warning bool
	}{
		{SendMatch{Channel: "signal"}, true}, {SendMatch{Channel: "iMessage"}, true}, {SendMatch{Channel: "internal"}, true}, {SendMatch{Channel: "slack"}, true},
		{SendMatch{Channel: "matrix"}, true}, {SendMatch{KeyPrefix: "agent:main:signal:"}, true}, {SendMatch{RawKeyPrefix: "agent:main:imessage:direct:"}, true},
		{SendMatch{KeyPrefix: "slack:channel:"}, true}, {SendMatch{To: "signal/default/direct/1"}, true},
		{SendMatch{Channel: "telegramm"}, false}, {SendMatch{Channel: "signall"}, false}, {SendMatch{KeyPrefix: "corn:"}, false}, {SendMatch{To: "singal/default/direct/1"}, false},
		{SendMatch{Channel: "signal", ChatType: "dm"}, false},
	} {
		for _, action := range []Action{Deny, Allow} {
			problems := SendPolicy{Rules: []SendRule{{c.match, action}}}.Check([]channels.Kind{"telegram", "discord"})
			if len(problems) == 0 || slices.ContainsFunc(problems, func(p Problem) bool { return !p.Warning }) == c.warning {
				t.Errorf("%s %+v: %v", action, c.match, problems)
			}
		}
	}
}

// proves: P2
func TestSendPolicyCheck(t *testing.T) {
	t.Parallel()
	known := []channels.Kind{"telegram", "discord"}
	for _, c := range []struct {
		name string
		p    SendPolicy
		want []string // paths
	}{
		{"fine", SendPolicy{Default: Deny, Rules: []SendRule{
			{SendMatch{Channel: "Telegram", ChatType: channels.Group, KeyPrefix: "agent:main:telegram:group:", To: "-1"}, Allow},
			{SendMatch{KeyPrefix: "cron:"}, Deny}, {SendMatch{KeyPrefix: "ag"}, Allow}, {SendMatch{RawKeyPrefix: "agent:ops:"}, Deny}, {SendMatch{KeyPrefix: "global"}, Deny},
			{SendMatch{KeyPrefix: "main"}, Allow}, {SendMatch{KeyPrefix: "node-"}, Allow}, {SendMatch{KeyPrefix: "telegram:job:direct:"}, Allow},
			{SendMatch{ChatType: channels.Direct, KeyPrefix: "telegram:group:direct:"}, Allow}, // an account called group
			{SendMatch{To: "telegram/default/group/-1/7"}, Allow}, {SendMatch{To: "a/b"}, Allow},
		}}, nil},
		{"unknown words", SendPolicy{Default: "maybe", Rules: []SendRule{{SendMatch{Channel: "telegramm", ChatType: "dm"}, "block"}, {Action: ""}}}, []string{
			"session.sendPolicy.default", "session.sendPolicy.rules[0].action", "session.sendPolicy.rules[0].match.channel",
			"session.sendPolicy.rules[0].match.chatType", "session.sendPolicy.rules[1].action",
		}},
		{"prefixes that fit nothing", SendPolicy{Rules: []SendRule{
			{SendMatch{KeyPrefix: "corn:"}, Deny}, {SendMatch{RawKeyPrefix: "telegram:"}, Deny}, {SendMatch{KeyPrefix: "agent:main:signal:"}, Deny},
			{SendMatch{KeyPrefix: "mainly"}, Deny},
		}}, []string{
			"session.sendPolicy.rules[0].match.keyPrefix", "session.sendPolicy.rules[1].match.rawKeyPrefix",
			"session.sendPolicy.rules[2].match.keyPrefix", "session.sendPolicy.rules[3].match.keyPrefix",
		}},
		{"fields at odds", SendPolicy{Rules: []SendRule{
			{SendMatch{ChatType: channels.Direct, KeyPrefix: "telegram:group:"}, Deny}, {SendMatch{ChatType: channels.Group, RawKeyPrefix: "agent:a:telegram:job:direct:"}, Deny},
			{SendMatch{Channel: "discord", To: "telegram/default/group/-1"}, Deny}, {SendMatch{AccountID: "job", To: "telegram/default/group/-2"}, Deny},
			{SendMatch{ChatType: channels.Direct, To: "telegram/default/group/-3"}, Deny}, {SendMatch{To: "signal/default/group/-4"}, Deny},
		}}, []string{
			"session.sendPolicy.rules[0].match.keyPrefix", "session.sendPolicy.rules[1].match.rawKeyPrefix", "session.sendPolicy.rules[2].match.to",
			"session.sendPolicy.rules[3].match.to", "session.sendPolicy.rules[4].match.to", "session.sendPolicy.rules[5].match.to",
		}},
		{"shadowed", SendPolicy{Rules: []SendRule{
			{SendMatch{Channel: "telegram", ChatType: channels.Room}, Allow}, {SendMatch{Channel: "telegram", ChatType: channels.Group}, Deny},
			{SendMatch{Channel: "telegram", ChatType: channels.Group}, Deny}, {SendMatch{Channel: "telegram"}, Allow},
		}}, []string{"session.sendPolicy.rules[0]", "session.sendPolicy.rules[2]"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, p := range c.p.Check(known) {
				if p.Message == "" {
					t.Errorf("%s has no message", p.Path)
				}
				got = append(got, p.Path)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q\nwant %q\n%v", got, c.want, c.p.Check(known))
			}
		})
	}
}

// What Check says can never match, or never decide, does not.
// proves: P2
func TestReportedRulesNeverMatch(t *testing.T) {
	t.Parallel()
	prefixes := []string{
		"", "", "", "cron:", "corn:", "main", "mainly", "telegram:", "TELEGRAM:group:", "telegram:job:group:", "discord:direct:", "signal:", "agent:main:",
		"agent:ops:telegram:channel:", "agent:main:discord:job:direct:2", "node-", "hook:telegram:", "subagent:u", "telegram:direct:2:thread:",
	}
	draw := func(t *rapid.T) SendMatch {
		return SendMatch{
			Channel:      rapid.SampledFrom([]channels.Kind{"", "", "telegram", "Discord", "signal"}).Draw(t, "m.channel"),
			ChatType:     rapid.SampledFrom([]channels.ChatType{"", "", channels.Direct, channels.Group, channels.Room}).Draw(t, "m.chatType"),
			KeyPrefix:    rapid.SampledFrom(prefixes).Draw(t, "m.keyPrefix"),
			RawKeyPrefix: rapid.SampledFrom(prefixes).Draw(t, "m.rawKeyPrefix"),
			AccountID:    rapid.SampledFrom([]channels.AccountID{"", "", "job"}).Draw(t, "m.account"),
			To: rapid.SampledFrom([]string{
				"", "", "", "-1", "telegram/default/group/-1", "telegram/job/channel/2/7", "discord/default/direct/2", "signal/default/group/-1",
			}).Draw(t, "m.to"),
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		var p SendPolicy
		for range rapid.IntRange(1, 5).Draw(t, "rules") {
			p.Rules = append(p.Rules, SendRule{draw(t), rapid.SampledFrom([]Action{Allow, Deny}).Draw(t, "action")})
		}
		s := drawSubject(t)
		v := p.Evaluate(s)
		for _, pr := range p.Check([]channels.Kind{"telegram", "discord"}) {
			if pr.Path == v.Rule {
				t.Fatalf("%v, but it decided on %+v: %+v", pr, s, v)
			}
			for i, r := range p.Rules {
				if strings.HasPrefix(pr.Path, rulePath(i)+".match") && modelMatches(r.Match, s) {
					t.Fatalf("%v, but %+v matches %+v", pr, r.Match, s)
				}
			}
		}
	})
}

// A rule for a chat, written as the contract writes keys, holds in the sessions of every account.
// proves: P1, P2
func TestKeyPrefixWithoutTheAccount(t *testing.T) {
	t.Parallel()
	s := Subject{Key: "agent:a:telegram:job:group:-1", StrippedKey: "telegram:job:group:-1", PlainKey: "agent:a:telegram:group:-1"}
	for _, c := range []struct {
		match SendMatch
		want  Action
	}{
		{SendMatch{KeyPrefix: "telegram:group:-1"}, Deny}, {SendMatch{KeyPrefix: "agent:a:telegram:group:"}, Deny},
		{SendMatch{KeyPrefix: "telegram:job:group:"}, Deny}, {SendMatch{KeyPrefix: "agent:a:telegram:job:"}, Deny},
		{SendMatch{KeyPrefix: "telegram:group:-2"}, Allow}, {SendMatch{KeyPrefix: "telegram:home:"}, Allow}, {SendMatch{KeyPrefix: "agent:b:telegram:group:"}, Allow},
		{SendMatch{RawKeyPrefix: "agent:a:telegram:group:"}, Allow},
	} {
		p := SendPolicy{Rules: []SendRule{{c.match, Deny}}}
		if v := p.Evaluate(s); v.Action != c.want {
			t.Errorf("%s: %+v, want %s", c.match, v, c.want)
		}
		if why := p.Explain(s)[1].Why; c.want == Allow && c.match.KeyPrefix != "" && !strings.Contains(why, s.PlainKey) {
			t.Errorf("%s: explained as %s", c.match, why)
		}
	}
}

// A rule finds the one session of all chats by the name that people know, and by its stored key; an explanation has the name alone.
// proves: K6, P1
func TestKeyPrefixOfTheOneSession(t *testing.T) {
	t.Parallel()
	s := Subject{Key: "global", StrippedKey: "global", PlainKey: "global", Shown: "main"}
	for _, match := range []SendMatch{{KeyPrefix: "main"}, {KeyPrefix: "global"}, {RawKeyPrefix: "global"}, {RawKeyPrefix: "main"}} {
		if v := (SendPolicy{Rules: []SendRule{{match, Deny}}}).Evaluate(s); v.Action != Deny {
			t.Errorf("%s: %+v", match, v)
		}
	}
	for _, match := range []SendMatch{{KeyPrefix: "slack:"}, {RawKeyPrefix: "slack:"}} {
		if why := (SendPolicy{Rules: []SendRule{{match, Deny}}}).Explain(s)[1].Why; strings.Contains(why, "global") || !strings.Contains(why, `the key "main" does not start with`) {
			t.Errorf("%s: explained as %s", match, why)
		}
	}
}
