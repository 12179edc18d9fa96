package router_test

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
	"parley/router/routertest"
	"parley/router/settings"
	"parley/sessions"
	"parley/tools"
)

// A person of WhatsApp whose number is hidden, by the ids that the adapter gives: the chat's and the person's differ once it is known.
const (
	hiddenID = "100000000000001@lid"
	numberID = "+15550100004"
)

var (
	hiddenChat = routertest.Direct(hiddenID)
	numberChat = routertest.Direct("15550100004@s.whatsapp.net")
)

func access(change func(*policy.Access)) func(*settings.Snapshot) {
	return func(s *settings.Snapshot) {
		a := s.Accounts[routertest.Account]
		change(&a.Access)
		s.Accounts[routertest.Account] = a
	}
}

// byPairing asks for a code of everybody who is not listed.
var byPairing = access(func(a *policy.Access) { a.DMPolicy, a.AllowFrom = policy.DMPairing, nil })

// numberKnown is the event that the WhatsApp adapter sends before the first message by number.
func numberKnown() channels.Inbound {
	return channels.Inbound{Event: channels.Moved, Address: hiddenChat, MovedTo: numberChat.Chat, Sender: routertest.Person(numberID)}
}

// hear has somebody write, and waits for what comes of it.
func hear(g *routertest.Rig, to channels.Address, from, words string) {
	g.T.Helper()
	g.Say(to, from, words)
	<-time.After(time.Minute)
	synctest.Wait()
}

// override sets a session's send policy.
func override(g *routertest.Rig, key sessions.Key, o policy.Override) {
	g.T.Helper()
	if _, err := g.Router.Patch(g.T.Context(), key, sessions.Patch{SendPolicy: &o}); err != nil {
		g.T.Fatal(err)
	}
}

// A hidden number becomes known: the session continues, with its send policy, also after a restart, and nothing leaves against it.
//
// source: zeroclaw-labs/zeroclaw#6350
func TestMovedPersonStaysSilenced(t *testing.T) {
	for _, scope := range []sessions.DMScope{"", sessions.DMMain, sessions.PerPeer, sessions.PerChannelPeer, sessions.PerAccountChannelPeer} {
		t.Run(string(scope), func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g := routertest.New(t, channeltest.Options{}, routertest.WithDMScope(scope))
				hear(g, hiddenChat, hiddenID, "hello")
				was := g.Router.Key(channels.Inbound{Address: hiddenChat, Sender: routertest.Person(hiddenID)})
				id := g.Session(was).ID
				override(g, was, policy.Deny)
				hear(g, hiddenChat, hiddenID, "are you there?")
				if got := g.Fake.Texts(hiddenChat); len(got) != 1 {
					t.Fatalf("answered %q", got)
				}
				g.Happens(numberKnown())
				hear(g, numberChat, numberID, "and now?")
				g.Stop()
				g.Start()
				hear(g, numberChat, numberID, "and after a restart?")
				hear(g, hiddenChat, hiddenID, "hidden again") // another login does not know the number
				if got := append(g.Fake.Texts(hiddenChat), g.Fake.Texts(numberChat)...); len(got) != 1 {
					t.Errorf("answered %q", got)
				}
				s := g.Session(g.Router.Key(channels.Inbound{Address: numberChat, Sender: routertest.Person(numberID)}))
				if s.ID != id || s.Last != numberChat || s.Turns != 5 {
					t.Errorf("another session: %+v", s)
				}
				override(g, s.Key, policy.Inherit)
				hear(g, numberChat, numberID, "hello?")
				if got := g.Fake.Texts(numberChat); len(got) != 1 {
					t.Errorf("answered %q", got)
				}
			})
		})
	}
}

// Who was let in is let in by number; who waits for an answer, or was turned down, does so by number, too.
func TestMovedPersonStaysPaired(t *testing.T) {
	for name, c := range map[string]struct {
		before, after func(g *routertest.Rig, code string) // the number became known
		answers       int
	}{
		"let in": {func(g *routertest.Rig, code string) { letIn(g, code) }, func(*routertest.Rig, string) {}, 1},
		"waits":  {func(*routertest.Rig, string) {}, func(g *routertest.Rig, code string) { letIn(g, code) }, 2}, // and is told that they are let in
		"turned down": {func(g *routertest.Rig, code string) {
			if err := g.Router.Admission.TurnDown(g.T.Context(), routertest.Kind, code); err != nil {
				g.T.Fatal(err)
			}
		}, func(*routertest.Rig, string) {}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g := routertest.New(t, channeltest.Options{}, byPairing)
				g.Say(hiddenChat, hiddenID, "hello")
				code := g.Code(hiddenChat)
				c.before(g, code)
				synctest.Wait()
				g.Happens(numberKnown())
				c.after(g, code)
				hear(g, numberChat, numberID, "it is me")
				got := g.Fake.Texts(numberChat)
				if len(got) != c.answers || slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, "code") }) {
					t.Errorf("answered %q", got)
				}
				people, err := g.Store.Admitted(t.Context())
				if c.answers > 0 { // it is taken back by either id
					if _, err := g.Router.Admission.Unpair(t.Context(), routertest.Kind, "", hiddenID); err != nil {
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

func letIn(g *routertest.Rig, code string) {
	g.T.Helper()
	if _, err := g.Router.Admission.LetIn(g.T.Context(), routertest.Kind, code, sessions.FirstOwner); err != nil {
		g.T.Fatal(err)
	}
}

// What the configuration says about a person by either id holds by both: lists of people, owners, bindings, linked identities and rules.
func TestMovedPersonKeepsRules(t *testing.T) {
	deny := func(m policy.SendMatch) func(*settings.Snapshot) {
		return func(s *settings.Snapshot) {
			s.Session.SendPolicy.Rules = []policy.SendRule{{Action: policy.Deny, Match: m}}
		}
	}
	for name, c := range map[string]struct {
		set    []func(*settings.Snapshot)
		before int // answers to the hidden number
		after  int // to the known one
		key    sessions.Key
	}{
		"listed":        {[]func(*settings.Snapshot){access(func(a *policy.Access) { a.DMPolicy, a.AllowFrom = policy.DMAllowlist, []string{hiddenID} })}, 1, 1, "agent:main:fake:direct:" + hiddenID},
		"listed later":  {[]func(*settings.Snapshot){access(func(a *policy.Access) { a.DMPolicy, a.AllowFrom = policy.DMAllowlist, []string{numberID} })}, 0, 1, "agent:main:fake:direct:" + numberID},
		"owner":         {[]func(*settings.Snapshot){func(s *settings.Snapshot) { s.Owners = policy.Owners{"fake:" + hiddenID} }}, 1, 1, "agent:main:main"},
		"owner later":   {[]func(*settings.Snapshot){func(s *settings.Snapshot) { s.Owners = policy.Owners{"fake:" + numberID} }}, 1, 1, "agent:main:main"},
		"linked":        {[]func(*settings.Snapshot){func(s *settings.Snapshot) { s.Session.IdentityLinks = map[string][]string{"ada": {"fake:" + hiddenID}} }}, 1, 1, "agent:main:direct:ada"},
		"linked later":  {[]func(*settings.Snapshot){func(s *settings.Snapshot) { s.Session.IdentityLinks = map[string][]string{"ada": {"fake:" + numberID}} }}, 1, 1, "agent:main:fake:direct:" + hiddenID},
		"by the key":    {[]func(*settings.Snapshot){deny(policy.SendMatch{RawKeyPrefix: "agent:main:fake:direct:" + hiddenID})}, 0, 0, "agent:main:fake:direct:" + hiddenID},
		"by the number": {[]func(*settings.Snapshot){deny(policy.SendMatch{KeyPrefix: "fake:direct:" + numberID})}, 1, 0, "agent:main:fake:direct:" + hiddenID},
		"by the chat":   {[]func(*settings.Snapshot){deny(policy.SendMatch{To: hiddenID})}, 0, 0, "agent:main:fake:direct:" + hiddenID},
	} {
		t.Run(name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g := routertest.New(t, channeltest.Options{}, c.set...)
				hear(g, hiddenChat, hiddenID, "hello")
				g.Happens(numberKnown())
				hear(g, numberChat, numberID, "hello")
				g.Stop()
				g.Start()
				hear(g, numberChat, numberID, "hello")
				if before, after := g.Fake.Texts(hiddenChat), g.Fake.Texts(numberChat); len(before) != c.before || len(after) != 2*c.after {
					t.Errorf("answered %q, then %q", before, after)
				}
				s, err := g.Store.Get(t.Context(), g.Router.Key(channels.Inbound{Address: numberChat, Sender: routertest.Person(numberID)}))
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
			routertest.Bubble(t, func(t *testing.T) {
				g := routertest.New(t, channeltest.Options{}, routertest.WithDMScope(sessions.PerChannelPeer))
				hear(g, numberChat, numberID, "hello")
				hear(g, hiddenChat, hiddenID, "who am I?")
				hidden := g.Router.Key(channels.Inbound{Address: hiddenChat, Sender: routertest.Person(hiddenID)})
				number := g.Router.Key(channels.Inbound{Address: numberChat, Sender: routertest.Person(numberID)})
				override(g, hidden, c.hidden)
				override(g, number, c.number)
				g.Happens(numberKnown())
				hear(g, numberChat, numberID, "it is me")
				if got := g.Fake.Texts(numberChat); len(got) != 1+c.answers {
					t.Errorf("answered %q", got)
				}
				want := `This chat replaces an earlier one; the earlier messages are in the session "` + string(hidden) + `".`
				if got := routertest.Told(g.Newest()); !slices.Equal(got, []string{want}) {
					t.Errorf("told %q", got)
				}
				if s := g.Session(hidden); !s.Last.IsZero() || g.Session(number).Last != numberChat {
					t.Errorf("the old session has the chat still: %+v", s)
				}
			})
		})
	}
}

// What waits for its turn, what waits to be sent, and jobs go to the number, once each; a turn that is running answers there, too.
func TestMovedPersonTakesWorkAlong(t *testing.T) {
	for name, both := range map[string]bool{"one session": false, "two sessions": true} {
		t.Run(name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g := routertest.New(t, channeltest.Options{}, routertest.WithDMScope(sessions.PerChannelPeer), routertest.EachAlone)
				want := []string{}
				if both {
					hear(g, numberChat, numberID, "first")
					want = append(want, "first")
				}
				rest := g.Busy(hiddenChat, hiddenID)
				g.Say(hiddenChat, hiddenID, "waits")
				synctest.Wait()
				if _, err := g.Store.Submit(t.Context(), sessions.Change{Ops: []sessions.Op{sessions.PutJob{ID: "j", Agent: "main", Every: time.Hour, Message: "x", To: hiddenChat, Next: time.Now().Add(24 * time.Hour)}}}); err != nil {
					t.Fatal(err)
				}
				g.Happens(numberKnown())
				rest()
				<-time.After(time.Minute)
				hear(g, numberChat, numberID, "last")
				var got []string
				for _, text := range g.Fake.Texts(numberChat) {
					got = append(got, text[strings.LastIndex(text, ": ")+2:])
				}
				for _, words := range append(want, "waits", "last") {
					if n := len(slices.DeleteFunc(slices.Clone(got), func(s string) bool { return s != words })); n != 1 {
						t.Errorf("%q was answered %d times: %q", words, n, got)
					}
				}
				if stray := g.Fake.Texts(hiddenChat); len(stray) != 0 {
					t.Errorf("sent to the hidden number: %q", stray)
				}
				if j, err := g.Store.GetJob(t.Context(), "j"); err != nil || j.To != numberChat {
					t.Errorf("%+v %v", j, err)
				}
			})
		})
	}
}

// A turn is at work in the session that the chat had: what it shows obeys the policy of the session that has the chat now.
//
// proves: P4
func TestMovedPersonIsDeniedWhileATurnIsAtWork(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, routertest.WithDMScope(sessions.PerChannelPeer))
		hear(g, numberChat, numberID, "first")
		rest := g.Busy(hiddenChat, hiddenID)
		<-time.After(6 * time.Second)
		if len(g.Fake.Calls(channeltest.OpTyping)) == 0 {
			t.Fatal("nothing is shown of a turn")
		}
		g.Happens(numberKnown())
		<-time.After(6 * time.Second)
		override(g, g.Router.Key(channels.Inbound{Address: numberChat, Sender: routertest.Person(numberID)}), policy.Deny)
		before := len(g.Fake.Calls(channeltest.OpTyping))
		<-time.After(time.Minute)
		if n := len(g.Fake.Calls(channeltest.OpTyping)) - before; n > 0 {
			t.Errorf("shown %d times in a chat that is denied", n)
		}
		rest()
	})
}

// A send of the session that the chat had is on its way: who denies the session that has the chat now waits for its end.
//
// proves: P7
func TestMovedPersonIsDeniedWhileASendIsOnItsWay(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, routertest.WithDMScope(sessions.PerChannelPeer))
		hear(g, numberChat, numberID, "first")
		g.Fake.Script(channeltest.Step{Op: channeltest.OpSend, Chat: hiddenChat.Chat, Delay: 10 * time.Second})
		g.Say(hiddenChat, hiddenID, "second")
		<-time.After(2 * time.Second)
		g.Happens(numberKnown())
		began := time.Now()
		override(g, g.Router.Key(channels.Inbound{Address: numberChat, Sender: routertest.Person(numberID)}), policy.Deny)
		if waited := time.Since(began); waited < 5*time.Second {
			t.Errorf("acknowledged after %s, with a send on its way", waited)
		}
	})
}

// A platform offers again what it has no acknowledgement for, by number in place of the hidden one: it is answered once.
func TestMovedPersonIsAnsweredOnce(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		in := channels.Inbound{Event: channels.Message, ID: "m1", Address: hiddenChat, Sender: routertest.Person(hiddenID), Text: "hello"}
		g.Happens(in)
		g.Shown(1)
		move := numberKnown()
		move.ID = "moved-1"
		g.Happens(move)
		g.Stop() // nothing of this was acknowledged
		g.Start()
		g.Happens(in)
		g.Happens(move)
		in.Address, in.Sender = numberChat, routertest.Person(numberID)
		g.Happens(in)
		<-time.After(time.Minute)
		synctest.Wait()
		if got := append(g.Fake.Texts(hiddenChat), g.Fake.Texts(numberChat)...); len(got) != 1 {
			t.Errorf("answered %q", got)
		}
		if r, found, err := g.Store.Asked(t.Context(), numberChat, "m1"); err != nil || !found || r.Source != "m1" {
			t.Errorf("%+v %v %v", r, found, err)
		}
	})
}

// In groups a person who is listed by the hidden number is listed by the known one, and rules about their tools hold; a binding that
// names a chat by its old id holds as well.
func TestMovedNamesHoldInGroups(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, access(func(a *policy.Access) {
			a.GroupPolicy, a.GroupAllowFrom = policy.GroupAllowlist, []string{hiddenID}
			a.Groups = map[string]policy.GroupAccess{"*": {RequireMention: new(bool), ToolsBySender: map[string]policy.Rights{hiddenID: {Deny: []string{"message"}}}}}
		}), func(s *settings.Snapshot) {
			s.Agents.List = append(s.Agents.List, agent.Entry{ID: "main"}, agent.Entry{ID: "b"})
			s.Bindings = []sessions.Binding{{AgentID: "b", Match: sessions.BindingMatch{Channel: routertest.Kind, Peer: &sessions.Peer{Kind: channels.Group, ID: "-5"}}}}
		})
		old, now := routertest.Group("-5"), routertest.Group("-1005")
		g.Happens(numberKnown())
		g.Happens(channels.Inbound{Event: channels.Moved, Address: old, MovedTo: now.Chat})
		hear(g, now, "+4915100000000", "a stranger")
		hear(g, now, numberID, "it is me")
		if got := g.Fake.Texts(now); len(got) != 1 {
			t.Fatalf("answered %q", got)
		}
		g.Model.Mu.Lock()
		p := g.Model.Asked[0]
		g.Model.Mu.Unlock()
		if slices.ContainsFunc(p.Tools, func(s tools.Spec) bool { return s.Name == "message" }) {
			t.Error("the rule about the person's tools does not hold")
		}
		if key := g.Router.Key(channels.Inbound{Address: now, Sender: routertest.Person(numberID)}); key.Agent() != "b" {
			t.Errorf("the binding does not hold: %s", key)
		}
	})
}

// A stranger who was silenced turns out to be an owner: the main session, which their chats share, is silent until the owner says otherwise.
func TestMovedPersonIsOwner(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, func(s *settings.Snapshot) { s.Owners = policy.Owners{"fake:" + numberID} })
		hear(g, hiddenChat, hiddenID, "hello")
		override(g, g.Router.Key(channels.Inbound{Address: hiddenChat, Sender: routertest.Person(hiddenID)}), policy.Deny)
		g.Happens(numberKnown())
		hear(g, numberChat, numberID, "it is me")
		if got := g.Fake.Texts(numberChat); len(got) != 0 {
			t.Errorf("answered %q", got)
		}
		hear(g, numberChat, numberID, "/send on")
		hear(g, numberChat, numberID, "hello?")
		if got := g.Fake.Texts(numberChat); len(got) != 2 {
			t.Errorf("answered %q", got)
		}
	})
}

// A group that was silenced becomes a supergroup in which somebody wrote before the platform told: nothing leaves.
//
// source: core.telegram.org/bots/api, Message.migrate_to_chat_id
func TestMovedGroupStaysSilenced(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		old, now := routertest.Group("-5"), routertest.Group("-1005")
		hear(g, old, routertest.Guest, "hello")
		override(g, g.Router.Key(channels.Inbound{Address: old}), policy.Deny)
		hear(g, now, routertest.Guest, "hello")
		n := len(g.Fake.Texts(now))
		g.Happens(channels.Inbound{Event: channels.Moved, Address: old, MovedTo: now.Chat})
		hear(g, now, routertest.Guest, "are you there?")
		g.Stop()
		g.Start()
		hear(g, now, routertest.Guest, "are you there?")
		if got := g.Fake.Texts(now); len(got) != n {
			t.Errorf("answered %q", got)
		}
	})
}
