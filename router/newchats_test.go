package router

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/channels"
	"parley/channels/channeltest"
	"parley/policy"
	"parley/sessions"
)

// newChats bounds in how many chats a day the account writes unasked.
func newChats(n int) func(*Settings) {
	return func(s *Settings) {
		a := s.Accounts[account]
		a.Pacing.NewChatsPerDay = n
		s.Accounts[account] = a
		s.Delivery.AnnounceTTL = 36 * time.Hour
		s.Session.DMScope = sessions.PerChannelPeer
	}
}

// unasked puts a delivery into the gate that nobody waits for.
func (g *rig) unasked(to channels.Address, words string) sessions.DeliveryID {
	g.t.Helper()
	d := sessions.Delivery{ID: sessions.DeliveryID(words + string(to.Chat)), Kind: sessions.Announce, Session: "agent:main:main", To: to, Text: words, Expires: time.Now().Add(36 * time.Hour)}
	if _, err := g.r.Submit(g.t.Context(), sessions.Effects{Deliveries: []sessions.Delivery{d}}); err != nil {
		g.t.Fatal(err)
	}
	synctest.Wait()
	return d.ID
}

// An account writes unasked for the first time in so many direct chats a day; the rest waits for the next day and says why, over
// restarts. Groups do not count, nor chats that it wrote in before.
func TestNewChatsPerDay(t *testing.T) {
	bubble(t, func(t *testing.T) {
		<-time.After(3 * time.Hour)
		g := newRig(t, channeltest.Options{}, newChats(2))
		for i, to := range []channels.Address{direct("a"), direct("b"), groupChat("g"), direct("a")} {
			g.unasked(to, fmt.Sprint("words ", i))
		}
		g.shown(4)
		g.unasked(direct("c"), "hello")
		g.unasked(direct("c"), "second")
		if d := g.deliveries()[4]; d.State != sessions.Pending || !strings.Contains(d.Error, "first time") || d.NotBefore.IsZero() || d.Attempt != 0 {
			t.Fatalf("%+v", d)
		}
		g.stop()
		g.start()
		<-time.After(20 * time.Hour)
		if got := g.fake.Texts(direct("c")); got != nil {
			t.Fatalf("sent today: %q", got)
		}
		<-time.After(2 * time.Hour)
		synctest.Wait()
		if got := g.fake.Texts(direct("c")); len(got) != 2 || got[0] != "hello" {
			t.Errorf("the next day: %q", got)
		}
	})
}

// Strangers who are told a code use the bound up; who is let in and writes for the first time is answered all the same, and so are
// their commands.
func TestAnswersWaitForNoDay(t *testing.T) {
	bubble(t, func(t *testing.T) {
		<-time.After(3 * time.Hour)
		g := newRig(t, channeltest.Options{}, newChats(2), func(s *Settings) {
			a := s.Accounts[account]
			a.Access = policy.Access{DMPolicy: policy.DMPairing, AllowFrom: []string{guest}}
			s.Accounts[account] = a
		})
		for i, who := range []string{"s1", "s2", "s3"} {
			g.say(direct(who), who, "spam")
			g.taken(i + 1)
		}
		g.shown(2)
		g.say(direct(guest), guest, "hello")
		g.say(direct(owner), owner, "/whoami")
		g.shown(4)
		if a, b, c := g.fake.Texts(direct(guest)), g.fake.Texts(direct(owner)), g.fake.Texts(direct("s3")); len(a) != 1 || len(b) != 1 || len(c) != 0 {
			t.Errorf("%q %q %q", a, b, c)
		}
	})
}

// What waits for the next day leaves as soon as the day has more room, after a restart, too. A person's retry ends any other wait.
func TestWaitsThatEndEarlier(t *testing.T) {
	for _, restart := range []bool{false, true} {
		t.Run(fmt.Sprint("restart ", restart), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				<-time.After(3 * time.Hour)
				g := newRig(t, channeltest.Options{}, newChats(1))
				g.unasked(direct("a"), "one")
				g.shown(1)
				id := g.unasked(direct("b"), "two")
				if restart {
					g.stop()
					g.start()
				}
				if _, err := g.r.RetryDelivery(t.Context(), id); err != nil {
					t.Fatal(err)
				}
				<-time.After(time.Hour)
				if d := g.deliveries()[1]; d.State != sessions.Pending || d.NotBefore.IsZero() { // there is no room for it all the same
					t.Fatalf("%+v", d)
				}
				if err := g.r.Apply(t.Context(), settingsFor(newChats(2))); err != nil {
					t.Fatal(err)
				}
				<-time.After(2 * time.Minute)
				if d := g.deliveries()[1]; d.State != sessions.Sent {
					t.Errorf("%+v", d)
				}
			})
		})
	}
	t.Run("retry", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			g := newRig(t, channeltest.Options{}, newChats(0))
			g.fake.Script(channeltest.Step{Err: &channels.Error{Class: channels.Limited, RetryAfter: 10 * time.Hour}})
			id := g.unasked(direct("a"), "one")
			<-time.After(time.Hour)
			if d := g.deliveries()[0]; d.State != sessions.Pending {
				t.Fatalf("%+v", d)
			}
			if d, err := g.r.RetryDelivery(t.Context(), id); err != nil || !d.NotBefore.IsZero() {
				t.Fatalf("%+v %v", d, err)
			}
			<-time.After(2 * time.Minute)
			if d := g.deliveries()[0]; d.State != sessions.Sent {
				t.Errorf("%+v", d)
			}
		})
	})
}
