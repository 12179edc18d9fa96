package router

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/channels/channeltest"
	"parley/sessions"
)

// An account writes for the first time in so many direct chats a day; the rest waits for the next day and says why, over restarts.
// Groups do not count, nor chats that it wrote in before.
func TestNewChatsPerDay(t *testing.T) {
	bubble(t, func(t *testing.T) {
		<-time.After(3 * time.Hour)
		g := newRig(t, channeltest.Options{}, eachAlone, func(s *Settings) {
			a := s.Accounts[account]
			a.Pacing.NewChatsPerDay = 2
			s.Accounts[account] = a
			s.Delivery.ReplyTTL = 36 * time.Hour
			s.Session.DMScope = sessions.PerChannelPeer
		})
		for i, who := range []string{"a", "b"} {
			g.say(direct(who), who, "hello")
			g.shown(i + 1)
		}
		g.say(groupChat("g"), owner, "hello")
		g.say(direct("a"), "a", "again")
		g.shown(4)
		g.say(direct("c"), "c", "hello")
		g.say(direct("c"), "c", "second")
		g.until("both are answered", func() bool { return len(g.deliveries()) == 6 })
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
		if got := g.fake.Texts(direct("c")); len(got) != 2 || got[0] != "echo: hello" {
			t.Errorf("the next day: %q", got)
		}
	})
}
