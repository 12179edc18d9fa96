package router_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"parley/channels"
	"parley/channels/channeltest"
	"parley/policy"
	"parley/router/routertest"
	"parley/router/settings"
)

// An edit that changes neither the text nor a file is told to nobody: of talk among people that was told of already, of what waits to be
// told, of a message that was answered. A real one is, and the same once more is not.
// source: tdlib/telegram-bot-api#388, tdlib/telegram-bot-api#773, go-telegram-bot-api/telegram-bot-api#685
func TestEditWithoutAChange(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		to := routertest.Group("g")
		bob := channels.Sender{ID: "3003", Name: "Bob"}
		photo := channels.Media{Kind: channels.Image, Ref: "first name", Size: 10}
		lunch := g.Fake.Say(channels.Inbound{Address: to, Sender: bob, Text: "lunch at noon", Media: []channels.Media{photo}})
		asked := g.Say(to, routertest.Guest, "when is lunch?")
		g.Shown(1)
		edit := func(id channels.MessageID, by channels.Sender, text string, media ...channels.Media) {
			g.Happens(channels.Inbound{Event: channels.Edited, Address: to, Sender: by, Target: id, Text: text, Media: media})
		}
		lines := func() int {
			l, err := g.Store.ContextLines(t.Context(), g.Router.Key(channels.Inbound{Address: to, Sender: bob}))
			if err != nil {
				t.Fatal(err)
			}
			return len(l)
		}
		photo.Ref = "another name of the same file"
		edit(lunch.ID, bob, "lunch at noon", photo) // a reaction
		edit(asked.ID, routertest.Person(routertest.Guest), "when is lunch?")
		if n := lines(); n != 0 {
			t.Fatalf("%d lines of what did not change", n)
		}
		edit(lunch.ID, bob, "lunch at one", photo)
		edit(lunch.ID, bob, "lunch at one", photo)
		if n := lines(); n != 1 {
			t.Errorf("%d lines of one change", n)
		}
		g.Say(to, routertest.Guest, "and now?")
		g.Shown(2)
		edit(lunch.ID, bob, "lunch at one", photo)
		if n := lines(); n != 0 {
			t.Errorf("%d lines of a change that was told", n)
		}
		photo.Size = 11
		edit(lunch.ID, bob, "lunch at one", photo)
		if n := lines(); n != 1 {
			t.Errorf("%d lines of another file", n)
		}
	})
}

// An edit that counts for nothing, as another one's, or of somebody who may not write at that moment, leaves what the agent knows of the
// message: the same words are told when they count, and those from before are no change.
// source: docs/chats.md, "What happens besides messages"
func TestEditThatCountsForNothing(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		to := routertest.Group("g")
		asked := g.Say(to, routertest.Guest, "one")
		g.Shown(1)
		edit := func(by, words string, lines ...string) {
			t.Helper()
			g.Happens(channels.Inbound{Event: channels.Edited, Address: to, Sender: routertest.Person(by), Target: asked.ID, Text: words})
			all, err := g.Store.ContextLines(t.Context(), g.Router.Key(channels.Inbound{Address: to, Sender: routertest.Person(routertest.Guest)}))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, l := range all {
				got = append(got, l.Text)
			}
			if !slices.Equal(got, lines) {
				t.Errorf("%s's edit to %q: the next turn is told %q, not %q", by, words, got, lines)
			}
		}
		may := func(people ...string) {
			t.Helper()
			if err := g.Router.Apply(t.Context(), routertest.SettingsFor(access(func(a *policy.Access) { a.GroupPolicy, a.GroupAllowFrom = policy.GroupAllowlist, people }))); err != nil {
				t.Fatal(err)
			}
		}
		edit(routertest.Owner, "two")
		edit(routertest.Guest, "two", "two")
		may(routertest.Owner)
		edit(routertest.Guest, "three", "two")
		may(routertest.Owner, routertest.Guest)
		g.Say(to, routertest.Guest, "and?")
		g.Shown(2)
		edit(routertest.Guest, "two")
		edit(routertest.Guest, "three", "three")
	})
}

// What the account's owner writes from a phone is told to the agent with the next turn, once, where the account listens; it begins no
// turn and runs no command.
// source: docs/chats.md, "What happens besides messages"
func TestWrittenByHand(t *testing.T) {
	for _, to := range []channels.Address{routertest.Direct(routertest.Guest), routertest.Group("g")} {
		t.Run(string(to.Type), func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g := routertest.New(t, channeltest.Options{}, func(s *settings.Snapshot) {
					a := s.Accounts[routertest.Account]
					a.Access = policy.Access{DMPolicy: policy.DMAllowlist, AllowFrom: []string{routertest.Guest}, GroupPolicy: policy.GroupOpen}
					s.Accounts[routertest.Account] = a
				})
				hand := func(in channels.Inbound) channels.Inbound {
					t.Helper()
					in.SentByThisLogin, in.ByHand, in.Sender = true, true, channels.Sender{ID: "the account", Name: "Olga"}
					events, _ := g.Fake.Accepted()
					in = g.Fake.Say(in)
					g.Taken(len(events) + 1)
					return in
				}
				first := hand(channels.Inbound{Address: to, Text: "/send off"}) // before there is a session
				hand(channels.Inbound{ID: first.ID, Address: to, Text: "/send off"})
				second := hand(channels.Inbound{Address: to, Text: "I am on it", Media: []channels.Media{{Kind: channels.Image}}})
				third := hand(channels.Inbound{Address: to, Text: "not meant for here"})
				hand(channels.Inbound{Event: channels.Edited, Address: to, Target: second.ID, Text: "I am on it", Media: []channels.Media{{Kind: channels.Image}}})
				hand(channels.Inbound{Event: channels.Deleted, Address: to, Target: third.ID})
				hand(channels.Inbound{Event: channels.Reacted, Address: to, Target: third.ID, Emoji: "x"})
				hand(channels.Inbound{Address: routertest.Direct("4004"), Text: "to a stranger"})
				synctest.Wait()
				if n := g.Model.Count(); n != 0 || len(g.Runs()) != 0 {
					t.Fatalf("%d calls, %d runs", n, len(g.Runs()))
				}
				if l, err := g.Store.ContextLines(t.Context(), g.Router.Key(channels.Inbound{Address: routertest.Direct("4004"), Sender: routertest.Person("4004")})); err != nil || len(l) > 0 {
					t.Errorf("of a chat where the account does not listen: %v, %v", l, err)
				}
				g.Stop()
				g.Start()
				g.Say(to, routertest.Guest, "hello?")
				g.Shown(1)
				m := g.Runs()[0].Input
				want := `The account's owner wrote here by hand, in your place: "/send off"|The account's owner wrote here by hand, in your place: "I am on it\n[picture]"`
				if got := strings.Join(routertest.Told(m), "|"); got != want {
					t.Errorf("told %s", got)
				}
				hand(channels.Inbound{Event: channels.Edited, Address: to, Target: second.ID, Text: "I was on it"})
				hand(channels.Inbound{Address: to, ID: g.Fake.Shown(to)[0].Receipt.ID, Text: g.Fake.Texts(to)[0]}) // ours
				g.Say(to, routertest.Guest, "and?")
				g.Shown(2)
				for _, run := range g.Runs() {
					if got := strings.Join(routertest.Told(run.Input), "|"); run.Input.ID != m.ID && got != `"The account's owner" changed a message to: "I was on it"` {
						t.Errorf("told %s", got)
					}
				}
			})
		})
	}
}

// A platform may write a person and the chat with that person in two ways: what is written by hand before there is a session reaches the
// session that the person's own words begin.
// source: WhatsApp: the chat 15550100007@s.whatsapp.net is with the person +15550100007
func TestWrittenByHandBeforeTheFirstMessage(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		const chat, number = "15550100007@s.whatsapp.net", "+15550100007"
		g := routertest.New(t, channeltest.Options{}, func(s *settings.Snapshot) {
			a := s.Accounts[routertest.Account]
			a.Access = policy.Access{DMPolicy: policy.DMAllowlist, AllowFrom: []string{number}}
			s.Accounts[routertest.Account] = a
		})
		g.Fake.Say(channels.Inbound{Address: routertest.Direct(chat), Text: "I will call you at 5", SentByThisLogin: true, ByHand: true, Sender: channels.Sender{ID: "the account"}, People: []channels.Sender{{ID: number}}})
		g.Taken(1)
		g.Say(routertest.Direct(chat), number, "what did you say?")
		g.Shown(1)
		if got := strings.Join(routertest.Told(g.Runs()[0].Input), "|"); got != `The account's owner wrote here by hand, in your place: "I will call you at 5"` {
			t.Errorf("told %q", got)
		}
	})
}
