package sessions

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"parley/channels"
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

func drawParts(t *rapid.T) Parts {
	p := Parts{Form: rapid.SampledFrom([]Form{
		FormMain, FormPeer, FormChannelPeer, FormAccountPeer, FormGroup, FormRoom, FormCron, FormHook, FormNode, FormSubagent,
		FormOther, FormGlobal, FormUnknown,
	}).Draw(t, "form")}
	if p.Form == FormGlobal || p.Form == FormUnknown {
		return p
	}
	h := hostile()
	p.Agent = AgentID(h.Draw(t, "agent"))
	switch p.Form {
	case FormChannelPeer, FormAccountPeer, FormGroup, FormRoom, FormOther:
		p.Channel = channels.Kind(h.Draw(t, "channel"))
	}
	switch p.Form {
	case FormAccountPeer, FormGroup, FormRoom:
		p.Account = channels.AccountID(h.Draw(t, "account"))
	}
	if p.Form != FormMain {
		p.ID = h.Draw(t, "id")
	}
	switch p.Form {
	case FormMain, FormPeer, FormChannelPeer, FormAccountPeer, FormGroup, FormRoom:
		p.Thread = channels.ThreadID(h.Draw(t, "thread"))
	}
	return p
}

// proves: K8
func TestKeyRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := drawParts(t)
		k := p.Key()
		got, err := k.Parse()
		if err != nil || got != p {
			t.Fatalf("%#v → %q → %#v, %v", p, k, got, err)
		}
		if !utf8.ValidString(string(k)) || strings.ContainsAny(string(k), "\x00\n ") {
			t.Fatalf("%q is not printable text", k)
		}
	})
}

// Every pair of keys whose ids look like parts of one another.
// proves: K8
func TestKeysAreDistinct(t *testing.T) {
	t.Parallel()
	ids := []string{"", "7", "topic", "thread", "topic:7", "7:topic:7", "group:7", "group", "direct", "default", "%", "%3A", ":"}
	seen := map[Key]Parts{}
	for _, form := range []Form{
		FormMain, FormPeer, FormChannelPeer, FormAccountPeer, FormGroup, FormRoom, FormCron, FormHook, FormNode, FormSubagent, FormOther, FormGlobal, FormUnknown,
	} {
		for _, agent := range []AgentID{"a", "a:main"} {
			for _, kind := range ids {
				for _, account := range ids {
					for _, id := range ids {
						for _, thread := range ids[:6] {
							p := named(Parts{form, agent, channels.Kind(kind), channels.AccountID(account), id, channels.ThreadID(thread)})
							if q, met := seen[p.Key()]; met && p != q {
								t.Fatalf("%#v and %#v: %q", p, q, p.Key())
							}
							seen[p.Key()] = p
						}
					}
				}
			}
		}
	}
}

// proves: K8
func TestDrawnKeysAreDistinct(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := drawParts(t)
		id := hostile().Draw(t, "other")
		near := []Parts{drawParts(t), p, p, p, p, p} // and what differs in as little as possible
		near[1].ID, near[1].Thread = p.ID+":"+string(p.Form.ThreadWord())+":"+string(p.Thread), ""
		near[2].Account = channels.AccountID(id)
		near[3].ID = id
		near[4].Form = rapid.SampledFrom([]Form{FormGroup, FormRoom, FormAccountPeer, FormChannelPeer, FormPeer, FormMain, FormOther}).Draw(t, "form")
		near[5].Account, near[5].Channel = channels.AccountID(p.Channel), channels.Kind(p.Account)
		for _, q := range near {
			if q = named(q); (p == q) != (p.Key() == q.Key()) {
				t.Fatalf("%#v and %#v: %q and %q", p, q, p.Key(), q.Key())
			}
		}
	})
}

// named leaves out what the form does not use, as the table of forms says.
func named(p Parts) Parts {
	uses := map[Form]string{
		FormMain: "at", FormPeer: "ait", FormChannelPeer: "acit", FormAccountPeer: "acnit", FormGroup: "acnit", FormRoom: "acnit",
		FormCron: "ai", FormHook: "ai", FormNode: "ai", FormSubagent: "ai", FormOther: "aci",
	}[p.Form]
	q := Parts{Form: p.Form}
	for _, field := range uses {
		switch field {
		case 'a':
			q.Agent = p.Agent
		case 'c':
			q.Channel = p.Channel
		case 'n':
			q.Account = p.Account
		case 'i':
			q.ID = p.ID
		case 't':
			q.Thread = p.Thread
		}
	}
	return q
}

// proves: K1, K2, K3, K4, K5, K7
func TestKeyForms(t *testing.T) {
	t.Parallel()
	const def = channels.DefaultAccount
	for _, c := range []struct {
		key  Key
		want Parts
	}{
		{"agent:main:main", Parts{Form: FormMain, Agent: "main"}},
		{"agent:main:main:thread:7", Parts{Form: FormMain, Agent: "main", Thread: "7"}},
		{"agent:a:telegram:group:-100123", Parts{FormGroup, "a", "telegram", def, "-100123", ""}},
		{"agent:a:telegram:group:-100123:topic:7", Parts{FormGroup, "a", "telegram", def, "-100123", "7"}},
		{"agent:a:telegram:work:group:-100123:topic:7", Parts{FormGroup, "a", "telegram", "work", "-100123", "7"}},
		{"agent:a:telegram:group:group:-100123", Parts{FormGroup, "a", "telegram", "group", "-100123", ""}},
		{"agent:a:telegram:direct:group:-1:topic:7", Parts{FormGroup, "a", "telegram", "direct", "-1", "7"}},
		{"agent:a:telegram:group:direct:5:thread:7", Parts{FormAccountPeer, "a", "telegram", "group", "5", "7"}},
		{"agent:a:whatsapp:group:120363@g.us", Parts{FormGroup, "a", "whatsapp", def, "120363@g.us", ""}},
		{"agent:a:discord:channel:42:thread:43", Parts{FormRoom, "a", "discord", def, "42", "43"}},
		{"agent:a:direct:group", Parts{Form: FormPeer, Agent: "a", ID: "group"}},
		{"agent:a:direct:group:thread:x", Parts{Form: FormPeer, Agent: "a", ID: "group", Thread: "x"}},
		{"agent:a:direct:group:X", Parts{FormGroup, "a", "direct", def, "X", ""}},
		{"agent:a:telegram:direct:42", Parts{Form: FormChannelPeer, Agent: "a", Channel: "telegram", ID: "42"}},
		{"agent:a:telegram:default:direct:42", Parts{Form: FormAccountPeer, Agent: "a", Channel: "telegram", Account: def, ID: "42"}},
		{"agent:a:cron:daily", Parts{Form: FormCron, Agent: "a", ID: "daily"}},
		{"agent:a:hook:gmail%3A1", Parts{Form: FormHook, Agent: "a", ID: "gmail:1"}},
		{"agent:a:node-7", Parts{Form: FormNode, Agent: "a", ID: "7"}},
		{"agent:a:subagent:u", Parts{Form: FormSubagent, Agent: "a", ID: "u"}},
		{"agent:a:openai:u", Parts{Form: FormOther, Agent: "a", Channel: "openai", ID: "u"}},
		{"agent:a:%63ron:u", Parts{Form: FormOther, Agent: "a", Channel: "cron", ID: "u"}},
		{"global", Parts{Form: FormGlobal}},
		{"unknown", Parts{Form: FormUnknown}},
	} {
		if got, err := c.key.Parse(); err != nil || got != c.want {
			t.Errorf("%s: %#v, %v; want %#v", c.key, got, err, c.want)
		}
		if got := c.want.Key(); got != c.key {
			t.Errorf("%#v: %s, want %s", c.want, got, c.key)
		}
	}
}

// proves: K8
func TestKeyRefusesOtherSpellings(t *testing.T) {
	t.Parallel()
	for _, s := range []Key{
		"", "main", "agent", "agent:", "agent:a", "agent:a:", "agent::main", "agent:a:cron:", "agent:a:cron:%41", "agent:a:cron:%3a", "agent:a:cron:%",
		"agent:a:cron:%2", "agent:a:cron:%zz", "agent:a:telegram:default:group:1", "agent:a:telegram:group:1:thread:2", "agent:a:discord:channel:1:topic:2",
		"agent:a:telegram:group:1:topic:%", "agent:a:telegram:group:1:topic:", "agent:a:telegram:grp:1", "agent:a:x:y:z", "Agent:a:main", "agent:a:b c:d",
		"agent:a:cron:x:thread:1", "telegram:group:1", "agent:a:x:group:1:topic:2:topic:3:group:4",
	} {
		p, err := s.Parse()
		if s == "agent:a:cron:%" { // the empty id
			if err != nil || p.ID != "" {
				t.Errorf("%s: %v", s, err)
			}
			continue
		}
		if !errors.Is(err, ErrKey) {
			t.Errorf("%q: %#v, %v; want ErrKey", s, p, err)
		}
	}
}

func FuzzKeyParse(f *testing.F) {
	for _, s := range []string{"agent:main:telegram:group:-100:topic:7", "agent:a:%:direct:%25", "global", "node-1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		k := Key(s)
		_, _, _ = k.Kind(), k.Agent(), k.Stripped()
		p, err := k.Parse()
		if err == nil && p.Key() != k {
			t.Fatalf("%q parses to %#v, which is %q", s, p, p.Key())
		}
	})
}

// proves: L5, K4, K6
func TestKeyKind(t *testing.T) {
	t.Parallel()
	for k, want := range map[Key]Kind{
		"agent:a:main": KindMain, "main": KindMain, "global": KindMain, "unknown": KindOther, "agent:a:main:thread:1": KindOther,
		"agent:a:telegram:group:1": KindGroup, "telegram:group:1:topic:2": KindGroup, "agent:a:discord:work:channel:1:thread:2": KindGroup,
		"agent:a:cron:x": KindCron, "cron:x": KindCron, "agent:a:hook:x": KindHook, "hook:x": KindHook, "agent:a:node-x": KindNode, "node-x": KindNode,
		"agent:a:subagent:x": KindOther, "agent:a:telegram:direct:1": KindOther, "agent:cron:main": KindMain, "agent:a:direct:cron": KindOther,
		"agent:a:direct:x:thread:group": KindOther, "whatever": KindOther, "": KindOther,
	} {
		if got := k.Kind(); got != want {
			t.Errorf("%q: %s, want %s", k, got, want)
		}
	}
}

// proves: K1, K4, K6
func TestKeyDisplay(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		key   Key
		scope Scope
		want  string
	}{
		{"agent:a:main", PerSender, "main"}, {"agent:b:main", PerSender, "agent:b:main"}, {"global", Global, "main"},
		{"agent:a:main", Global, "agent:a:main"}, {"agent:a:cron:x", PerSender, "cron:x"}, {"agent:b:cron:x", PerSender, "agent:b:cron:x"},
		{"agent:a:hook:u", PerSender, "hook:u"}, {"agent:a:node-7", PerSender, "node-7"}, {"agent:a:telegram:group:1", PerSender, "agent:a:telegram:group:1"},
		{"agent:a:main:thread:1", PerSender, "agent:a:main:thread:1"},
	} {
		if got := c.key.Display("a", c.scope); got != c.want {
			t.Errorf("%s in %s: %s, want %s", c.key, c.scope, got, c.want)
		}
	}
}

// What a tool shows is what it accepts.
// proves: K1, K4, K6, K9
func TestResolveReadsDisplay(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := drawParts(t)
		k, scope := p.Key(), rapid.SampledFrom([]Scope{PerSender, Global}).Draw(t, "scope")
		if k.Reserved(scope) {
			t.Skip("never shown")
		}
		current := rapid.OneOf(rapid.Just(p.Agent), rapid.Just(AgentID("main"))).Draw(t, "current")
		got, err := Resolve(k.Display(current, scope), current, scope)
		if err != nil || got != (Ref{Key: k}) {
			t.Fatalf("%q shown to %q as %q resolves to %+v, %v", k, current, k.Display(current, scope), got, err)
		}
	})
}

// proves: K1, K6, K9
func TestResolve(t *testing.T) {
	t.Parallel()
	const id = "0b8f4bd8-3b0e-4f6e-9b7e-0c2a4f1d9a10"
	for ref, want := range map[string]Ref{
		"main": {Key: "agent:a:main"}, " main ": {Key: "agent:a:main"}, "agent:b:main": {Key: "agent:b:main"}, "cron:x": {Key: "agent:a:cron:x"},
		id: {ID: id}, strings.ToUpper(id): {ID: id}, "agent:a:subagent:" + id: {Key: "agent:a:subagent:" + id},
	} {
		if got, err := Resolve(ref, "a", PerSender); err != nil || got != want {
			t.Errorf("%q: %+v, %v; want %+v", ref, got, err, want)
		}
	}
	for _, ref := range []string{"", "global", "unknown", "Main", "telegram:group:1", "subagent:" + id, "{" + id + "}", "urn:uuid:" + id, "no such thing", strings.Repeat("x", 5000)} {
		_, err := Resolve(ref, "a", PerSender)
		if !errors.Is(err, ErrNotFound) || len(err.Error()) > 500 {
			t.Errorf("%q: %v; want ErrNotFound", clip(ref), err)
		}
	}
	if got, err := Resolve("main", "a", Global); err != nil || got.Key != GlobalKey {
		t.Errorf("main in scope global: %+v, %v", got, err)
	}
}

func TestPlainKey(t *testing.T) {
	t.Parallel()
	for k, want := range map[Key]Key{
		"agent:a:telegram:work:group:-1:topic:7": "agent:a:telegram:group:-1:topic:7",
		"agent:a:discord:work:channel:1":         "agent:a:discord:channel:1",
		"agent:a:telegram:work:direct:2":         "agent:a:telegram:direct:2",
		"agent:a:telegram:group:-1":              "agent:a:telegram:group:-1",
		"agent:a:main":                           "agent:a:main",
		"agent:a:cron:x":                         "agent:a:cron:x",
		"global":                                 "global",
		"no key":                                 "no key",
	} {
		if got := k.Plain(); got != want {
			t.Errorf("%s: %s, want %s", k, got, want)
		}
	}
}
