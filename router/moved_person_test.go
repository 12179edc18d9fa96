package router

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/channels/channeltest"
	"parley/policy"
	"parley/sessions"
	"parley/tools"
)

// A person of WhatsApp whose number is hidden, by the ids that the adapter gives: the chat's and the person's differ once it is known.
const (
	hiddenID = "100000000000001@lid"
	numberID = "+15550100004"
)

var (
	hiddenChat = direct(hiddenID)
	numberChat = direct("15550100004@s.whatsapp.net")
)

func scoped(scope sessions.DMScope) func(*Settings) {
	return func(s *Settings) { s.Session.DMScope = scope }
}

func access(change func(*policy.Access)) func(*Settings) {
	return func(s *Settings) {
		a := s.Accounts[account]
		change(&a.Access)
		s.Accounts[account] = a
	}
}

// byPairing asks for a code of everybody who is not listed.
var byPairing = access(func(a *policy.Access) { a.DMPolicy, a.AllowFrom = policy.DMPairing, nil })

// numberKnown is the event that the WhatsApp adapter sends before the first message by number.
func numberKnown() channels.Inbound {
	return channels.Inbound{Event: channels.Moved, Address: hiddenChat, MovedTo: numberChat.Chat, Sender: person(numberID)}
}

// hear has somebody write, and waits for what comes of it.
func (g *rig) hear(to channels.Address, from, words string) {
	g.t.Helper()
	g.say(to, from, words)
	<-time.After(time.Minute)
	synctest.Wait()
}

// override sets a session's send policy.
func (g *rig) override(key sessions.Key, o policy.Override) {
	g.t.Helper()
	if _, err := g.r.Patch(g.t.Context(), key, sessions.Patch{SendPolicy: &o}); err != nil {
		g.t.Fatal(err)
	}
}

// A hidden number becomes known: the session goes on, with its send policy, also after a restart, and nothing leaves against it.
//
// source: zeroclaw-labs/zeroclaw#6350
func TestMovedPersonStaysSilenced(t *testing.T) {
	for _, scope := range []sessions.DMScope{"", sessions.DMMain, sessions.PerPeer, sessions.PerChannelPeer, sessions.PerAccountChannelPeer} {
		t.Run(string(scope), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				g := newRig(t, channeltest.Options{}, scoped(scope))
				g.hear(hiddenChat, hiddenID, "hello")
				was := g.r.Key(channels.Inbound{Address: hiddenChat, Sender: person(hiddenID)})
				id := g.session(was).ID
				g.override(was, policy.Deny)
				g.hear(hiddenChat, hiddenID, "are you there?")
				if got := g.fake.Texts(hiddenChat); len(got) != 1 {
					t.Fatalf("answered %q", got)
				}
				g.happens(numberKnown())
				g.hear(numberChat, numberID, "and now?")
				g.stop()
				g.start()
				g.hear(numberChat, numberID, "and after a restart?")
				g.hear(hiddenChat, hiddenID, "hidden again") // another login does not know the number
				if got := append(g.fake.Texts(hiddenChat), g.fake.Texts(numberChat)...); len(got) != 1 {
					t.Errorf("answered %q", got)
				}
				s := g.session(g.r.Key(channels.Inbound{Address: numberChat, Sender: person(numberID)}))
				if s.ID != id || s.Last != numberChat || s.Turns != 5 {
					t.Errorf("another session: %+v", s)
				}
				g.override(s.Key, policy.Inherit)
				g.hear(numberChat, numberID, "hello?")
				if got := g.fake.Texts(numberChat); len(got) != 1 {
					t.Errorf("answered %q", got)
				}
			})
		})
	}
}

// Who was let in is let in by number; who waits for an answer, or was turned down, does so by number, too.
func TestMovedPersonStaysPaired(t *testing.T) {
	for name, c := range map[string]struct {
		before, after func(g *rig, code string) // the number became known
		answers       int
	}{
		"let in": {func(g *rig, code string) { g.letIn(code) }, func(*rig, string) {}, 1},
		"waits":  {func(*rig, string) {}, func(g *rig, code string) { g.letIn(code) }, 2}, // and is told that they are let in
		"turned down": {func(g *rig, code string) {
			if err := g.r.TurnDown(g.t.Context(), fakeKind, code); err != nil {
				g.t.Fatal(err)
			}
		}, func(*rig, string) {}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				g := newRig(t, channeltest.Options{}, byPairing)
				g.say(hiddenChat, hiddenID, "hello")
				code := g.code(hiddenChat)
				c.before(g, code)
				synctest.Wait()
				g.happens(numberKnown())
				c.after(g, code)
				g.hear(numberChat, numberID, "it is me")
				got := g.fake.Texts(numberChat)
				if len(got) != c.answers || slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, "code") }) {
					t.Errorf("answered %q", got)
				}
				people, err := g.store.Admitted(t.Context())
				if c.answers > 0 { // it is taken back by either id
					if _, err := g.r.Unpair(t.Context(), fakeKind, "", hiddenID); err != nil {
						t.Error(err)
					}
				}
				if err != nil || len(people) > 1 || c.answers > 0 && (len(people) != 1 || people[0].User != numberID) {
					t.Errorf("%+v %v", people, err)
				}
			})
		})
	}
}

func (g *rig) letIn(code string) {
	g.t.Helper()
	if _, err := g.r.LetIn(g.t.Context(), fakeKind, code); err != nil {
		g.t.Fatal(err)
	}
}

// What the configuration says about a person by either id holds by both: lists of people, owners, bindings, linked identities and rules.
func TestMovedPersonKeepsRules(t *testing.T) {
	deny := func(m policy.SendMatch) func(*Settings) {
		return func(s *Settings) { s.Session.SendPolicy.Rules = []policy.SendRule{{Action: policy.Deny, Match: m}} }
	}
	for name, c := range map[string]struct {
		set    []func(*Settings)
		before int // answers to the hidden number
		after  int // to the known one
		key    sessions.Key
	}{
		"listed":        {[]func(*Settings){access(func(a *policy.Access) { a.DMPolicy, a.AllowFrom = policy.DMAllowlist, []string{hiddenID} })}, 1, 1, "agent:main:fake:direct:" + hiddenID},
		"listed later":  {[]func(*Settings){access(func(a *policy.Access) { a.DMPolicy, a.AllowFrom = policy.DMAllowlist, []string{numberID} })}, 0, 1, "agent:main:fake:direct:" + numberID},
		"owner":         {[]func(*Settings){func(s *Settings) { s.Owners = policy.Owners{"fake:" + hiddenID} }}, 1, 1, "agent:main:main"},
		"owner later":   {[]func(*Settings){func(s *Settings) { s.Owners = policy.Owners{"fake:" + numberID} }}, 1, 1, "agent:main:main"},
		"linked":        {[]func(*Settings){func(s *Settings) { s.Session.IdentityLinks = map[string][]string{"ada": {"fake:" + hiddenID}} }}, 1, 1, "agent:main:direct:ada"},
		"linked later":  {[]func(*Settings){func(s *Settings) { s.Session.IdentityLinks = map[string][]string{"ada": {"fake:" + numberID}} }}, 1, 1, "agent:main:fake:direct:" + hiddenID},
		"by the key":    {[]func(*Settings){deny(policy.SendMatch{RawKeyPrefix: "agent:main:fake:direct:" + hiddenID})}, 0, 0, "agent:main:fake:direct:" + hiddenID},
		"by the number": {[]func(*Settings){deny(policy.SendMatch{KeyPrefix: "fake:direct:" + numberID})}, 1, 0, "agent:main:fake:direct:" + hiddenID},
		"by the chat":   {[]func(*Settings){deny(policy.SendMatch{To: hiddenID})}, 0, 0, "agent:main:fake:direct:" + hiddenID},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				g := newRig(t, channeltest.Options{}, c.set...)
				g.hear(hiddenChat, hiddenID, "hello")
				g.happens(numberKnown())
				g.hear(numberChat, numberID, "hello")
				g.stop()
				g.start()
				g.hear(numberChat, numberID, "hello")
				if before, after := g.fake.Texts(hiddenChat), g.fake.Texts(numberChat); len(before) != c.before || len(after) != 2*c.after {
					t.Errorf("answered %q, then %q", before, after)
				}
				s, err := g.store.Get(t.Context(), g.r.Key(channels.Inbound{Address: numberChat, Sender: person(numberID)}))
				if err != nil || s.Key != c.key {
					t.Errorf("session %s, %v", s.Key, err)
				}
			})
		})
	}
}

// Both ids have a session: the one of the number has the chat from then on, with what waits in the other, and with the stricter policy.
func TestMovedPersonHasTwoSessions(t *testing.T) {
	for name, c := range map[string]struct {
		hidden, number policy.Override
		answers        int
	}{
		"hidden silenced": {policy.Deny, policy.Inherit, 0}, "number silenced": {policy.Inherit, policy.Deny, 0},
		"number allowed": {policy.Deny, policy.Allow, 0}, "neither": {policy.Inherit, policy.Inherit, 1},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				g := newRig(t, channeltest.Options{}, scoped(sessions.PerChannelPeer))
				g.hear(numberChat, numberID, "hello")
				g.hear(hiddenChat, hiddenID, "who am I?")
				hidden := g.r.Key(channels.Inbound{Address: hiddenChat, Sender: person(hiddenID)})
				number := g.r.Key(channels.Inbound{Address: numberChat, Sender: person(numberID)})
				g.override(hidden, c.hidden)
				g.override(number, c.number)
				g.happens(numberKnown())
				g.hear(numberChat, numberID, "it is me")
				if got := g.fake.Texts(numberChat); len(got) != 1+c.answers {
					t.Errorf("answered %q", got)
				}
				want := `This chat was another one before; what was said there is in the session "` + string(hidden) + `".`
				if got := told(g.newest()); !slices.Equal(got, []string{want}) {
					t.Errorf("told %q", got)
				}
				if s := g.session(hidden); !s.Last.IsZero() || g.session(number).Last != numberChat {
					t.Errorf("the old session has the chat still: %+v", s)
				}
			})
		})
	}
}

// What waits for its turn, what waits to be sent, and jobs go to the number, once each; a turn that is at work answers there, too.
func TestMovedPersonTakesWorkAlong(t *testing.T) {
	for name, both := range map[string]bool{"one session": false, "two sessions": true} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				g := newRig(t, channeltest.Options{}, scoped(sessions.PerChannelPeer), eachAlone)
				want := []string{}
				if both {
					g.hear(numberChat, numberID, "first")
					want = append(want, "first")
				}
				rest := g.busy(hiddenChat, hiddenID)
				g.say(hiddenChat, hiddenID, "waits")
				synctest.Wait()
				if _, err := g.store.Submit(t.Context(), sessions.Effects{Job: &sessions.Job{ID: "j", Agent: "main", Every: time.Hour, Message: "x", To: hiddenChat, Next: time.Now().Add(24 * time.Hour)}}); err != nil {
					t.Fatal(err)
				}
				g.happens(numberKnown())
				rest()
				<-time.After(time.Minute)
				g.hear(numberChat, numberID, "last")
				var got []string
				for _, text := range g.fake.Texts(numberChat) {
					got = append(got, text[strings.LastIndex(text, ": ")+2:])
				}
				for _, words := range append(want, "waits", "last") {
					if n := len(slices.DeleteFunc(slices.Clone(got), func(s string) bool { return s != words })); n != 1 {
						t.Errorf("%q was answered %d times: %q", words, n, got)
					}
				}
				if stray := g.fake.Texts(hiddenChat); len(stray) != 0 {
					t.Errorf("sent to the hidden number: %q", stray)
				}
				if j, err := g.store.GetJob(t.Context(), "j"); err != nil || j.To != numberChat {
					t.Errorf("%+v %v", j, err)
				}
			})
		})
	}
}

// A platform offers again what it has no acknowledgement for, by number in place of the hidden one: it is answered once.
func TestMovedPersonIsAnsweredOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{})
		in := channels.Inbound{Event: channels.Message, ID: "m1", Address: hiddenChat, Sender: person(hiddenID), Text: "hello"}
		g.happens(in)
		g.shown(1)
		move := numberKnown()
		move.ID = "moved-1"
		g.happens(move)
		g.stop() // nothing of this was acknowledged
		g.start()
		g.happens(in)
		g.happens(move)
		in.Address, in.Sender = numberChat, person(numberID)
		g.happens(in)
		<-time.After(time.Minute)
		synctest.Wait()
		if got := append(g.fake.Texts(hiddenChat), g.fake.Texts(numberChat)...); len(got) != 1 {
			t.Errorf("answered %q", got)
		}
		if r, found, err := g.store.Asked(t.Context(), numberChat, "m1"); err != nil || !found || r.Source != "m1" {
			t.Errorf("%+v %v %v", r, found, err)
		}
	})
}

// In groups a person who is listed by the hidden number is listed by the known one, and rules about their tools hold; a binding that
// names a chat by its old id holds as well.
func TestMovedNamesHoldInGroups(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{}, access(func(a *policy.Access) {
			a.GroupPolicy, a.GroupAllowFrom = policy.GroupAllowlist, []string{hiddenID}
			a.Groups = map[string]policy.GroupAccess{"*": {RequireMention: new(bool), ToolsBySender: map[string]policy.Rights{hiddenID: {Deny: []string{"message"}}}}}
		}), func(s *Settings) {
			s.Agents.List = append(s.Agents.List, agent.Entry{ID: "main"}, agent.Entry{ID: "b"})
			s.Bindings = []sessions.Binding{{AgentID: "b", Match: sessions.BindingMatch{Channel: fakeKind, Peer: &sessions.Peer{Kind: channels.Group, ID: "-5"}}}}
		})
		old, now := groupChat("-5"), groupChat("-1005")
		g.happens(numberKnown())
		g.happens(channels.Inbound{Event: channels.Moved, Address: old, MovedTo: now.Chat})
		g.hear(now, "+4915100000000", "a stranger")
		g.hear(now, numberID, "it is me")
		if got := g.fake.Texts(now); len(got) != 1 {
			t.Fatalf("answered %q", got)
		}
		g.model.mu.Lock()
		p := g.model.asked[0]
		g.model.mu.Unlock()
		if slices.ContainsFunc(p.Tools, func(s tools.Spec) bool { return s.Name == "message" }) {
			t.Error("the rule about the person's tools does not hold")
		}
		if key := g.r.Key(channels.Inbound{Address: now, Sender: person(numberID)}); key.Agent() != "b" {
			t.Errorf("the binding does not hold: %s", key)
		}
	})
}

// A stranger who was silenced turns out to be an owner: the main session, which their chats share, is silent until the owner says otherwise.
func TestMovedPersonIsOwner(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{}, func(s *Settings) { s.Owners = policy.Owners{"fake:" + numberID} })
		g.hear(hiddenChat, hiddenID, "hello")
		g.override(g.r.Key(channels.Inbound{Address: hiddenChat, Sender: person(hiddenID)}), policy.Deny)
		g.happens(numberKnown())
		g.hear(numberChat, numberID, "it is me")
		if got := g.fake.Texts(numberChat); len(got) != 0 {
			t.Errorf("answered %q", got)
		}
		g.hear(numberChat, numberID, "/send on")
		g.hear(numberChat, numberID, "hello?")
		if got := g.fake.Texts(numberChat); len(got) != 2 {
			t.Errorf("answered %q", got)
		}
	})
}

// A group that was silenced becomes a supergroup in which somebody wrote before the platform told: nothing leaves.
//
// source: core.telegram.org/bots/api, Message.migrate_to_chat_id
func TestMovedGroupStaysSilenced(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{})
		old, now := groupChat("-5"), groupChat("-1005")
		g.hear(old, guest, "hello")
		g.override(g.r.Key(channels.Inbound{Address: old}), policy.Deny)
		g.hear(now, guest, "hello")
		n := len(g.fake.Texts(now))
		g.happens(channels.Inbound{Event: channels.Moved, Address: old, MovedTo: now.Chat})
		g.hear(now, guest, "are you there?")
		g.stop()
		g.start()
		g.hear(now, guest, "are you there?")
		if got := g.fake.Texts(now); len(got) != n {
			t.Errorf("answered %q", got)
		}
	})
}
