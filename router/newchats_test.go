package router_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/channels"
	"parley/channels/channeltest"
	"parley/policy"
	"parley/router/routertest"
	"parley/router/settings"
	"parley/sessions"
)

// newChats bounds in how many chats a day the account writes unasked.
func newChats(n int) func(*settings.Snapshot) {
	return func(s *settings.Snapshot) {
		a := s.Accounts[routertest.Account]
		a.Pacing.NewChatsPerDay = n
		s.Accounts[routertest.Account] = a
		s.Delivery.AnnounceTTL = 36 * time.Hour
		s.Session.DMScope = sessions.PerChannelPeer
	}
}

// unasked puts a delivery into the gate that no caller waits for.
func unasked(g *routertest.Rig, to channels.Address, words string) sessions.DeliveryID {
	g.T.Helper()
	d := sessions.Delivery{ID: sessions.DeliveryID(words + string(to.Chat)), Kind: sessions.Announce, Session: "agent:main:main", To: to, Text: words, Expires: time.Now().Add(36 * time.Hour)}
	if _, err := g.Router.Committer.Submit(g.T.Context(), sessions.Change{Ops: []sessions.Op{sessions.EnqueueDelivery(d)}}); err != nil {
		g.T.Fatal(err)
	}
	synctest.Wait()
	return d.ID
}

// An account writes unasked for the first time in so many direct chats a day; the rest waits for the next day and says why, over
// restarts. Groups do not count, nor chats that it wrote in before.
func TestNewChatsPerDay(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		<-time.After(3 * time.Hour)
		g := routertest.New(t, channeltest.Options{}, newChats(2))
		for i, to := range []channels.Address{routertest.Direct("a"), routertest.Direct("b"), routertest.Group("g"), routertest.Direct("a")} {
			unasked(g, to, fmt.Sprint("words ", i))
		}
		g.Shown(4)
		unasked(g, routertest.Direct("c"), "hello")
		unasked(g, routertest.Direct("c"), "second")
		if d := g.Deliveries()[4]; d.State != sessions.Pending || !strings.Contains(d.Error, "today's limit") || d.NotBefore.IsZero() || d.Attempt != 0 {
			t.Fatalf("%+v", d)
		}
		g.Stop()
		g.Start()
		<-time.After(20 * time.Hour)
		if got := g.Fake.Texts(routertest.Direct("c")); got != nil {
			t.Fatalf("sent today: %q", got)
		}
		<-time.After(2 * time.Hour)
		synctest.Wait()
		if got := g.Fake.Texts(routertest.Direct("c")); len(got) != 2 || got[0] != "hello" {
			t.Errorf("the next day: %q", got)
		}
	})
}

// Strangers who are told a code use the bound up; who is let in and writes for the first time is answered all the same, and so are
// their commands.
func TestAnswersWaitForNoDay(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		<-time.After(3 * time.Hour)
		g := routertest.New(t, channeltest.Options{}, newChats(2), func(s *settings.Snapshot) {
			a := s.Accounts[routertest.Account]
			a.Access = policy.Access{DMPolicy: policy.DMPairing, AllowFrom: []string{routertest.Guest}}
			s.Accounts[routertest.Account] = a
		})
		for i, who := range []string{"s1", "s2", "s3"} {
			g.Say(routertest.Direct(who), who, "spam")
			g.Taken(i + 1)
		}
		g.Shown(2)
		g.Say(routertest.Direct(routertest.Guest), routertest.Guest, "hello")
		g.Say(routertest.Direct(routertest.Owner), routertest.Owner, "/whoami")
		g.Shown(4)
		if a, b, c := g.Fake.Texts(routertest.Direct(routertest.Guest)), g.Fake.Texts(routertest.Direct(routertest.Owner)), g.Fake.Texts(routertest.Direct("s3")); len(a) != 1 || len(b) != 1 || len(c) != 0 {
			t.Errorf("%q %q %q", a, b, c)
		}
	})
}

// What waits for the next day leaves as soon as the day has more room, after a restart, too. A person's retry ends any other wait.
func TestWaitsThatEndEarlier(t *testing.T) {
	for _, restart := range []bool{false, true} {
		t.Run(fmt.Sprint("restart ", restart), func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				<-time.After(3 * time.Hour)
				g := routertest.New(t, channeltest.Options{}, newChats(1))
				unasked(g, routertest.Direct("a"), "one")
				g.Shown(1)
				id := unasked(g, routertest.Direct("b"), "two")
				if restart {
					g.Stop()
					g.Start()
				}
				if _, err := g.Router.RetryDelivery(t.Context(), id); err != nil {
					t.Fatal(err)
				}
				<-time.After(time.Hour)
				if d := g.Deliveries()[1]; d.State != sessions.Pending || d.NotBefore.IsZero() { // there is no room for it all the same
					t.Fatalf("%+v", d)
				}
				if err := g.Router.Apply(t.Context(), routertest.SettingsFor(newChats(2))); err != nil {
					t.Fatal(err)
				}
				<-time.After(2 * time.Minute)
				if d := g.Deliveries()[1]; d.State != sessions.Sent {
					t.Errorf("%+v", d)
				}
			})
		})
	}
	t.Run("retry", func(t *testing.T) {
		routertest.Bubble(t, func(t *testing.T) {
			g := routertest.New(t, channeltest.Options{}, newChats(0))
			g.Fake.Script(channeltest.Step{Err: &channels.Error{Class: channels.Limited, RetryAfter: 10 * time.Hour}})
			id := unasked(g, routertest.Direct("a"), "one")
			<-time.After(time.Hour)
			if d := g.Deliveries()[0]; d.State != sessions.Pending {
				t.Fatalf("%+v", d)
			}
			if d, err := g.Router.RetryDelivery(t.Context(), id); err != nil || !d.NotBefore.IsZero() {
				t.Fatalf("%+v %v", d, err)
			}
			<-time.After(2 * time.Minute)
			if d := g.Deliveries()[0]; d.State != sessions.Sent {
				t.Errorf("%+v", d)
			}
		})
	})
}
