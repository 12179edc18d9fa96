package delivery_test

import (
	"slices"
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

// A sign that a channel wants taken away is taken away through the gate: late enough, once, and not at all in a chat that was denied
// meanwhile. source: contract P4, "under deny zero calls reach the platform"
//
// proves: P4
func TestSignsFadeUnderThePolicy(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, func(*settings.Snapshot) {})
		g.Router.Attach(routertest.Account, struct {
			*channeltest.Full
			channels.Acknowledger
			channels.Fader
		}{g.Fake.Full(), g.Fake.Acknowledger(), g.Fake.Fader(10 * time.Minute)})
		open := g.Say(routertest.Group("a"), routertest.Owner, "hello")
		g.Shown(1)
		shut := g.Say(routertest.Group("b"), routertest.Owner, "hello")
		g.Shown(2)
		time.Sleep(9 * time.Minute)
		synctest.Wait()
		if n := len(g.Fake.Calls(channeltest.OpFade)); n > 0 {
			t.Fatalf("%d signs are gone before their time", n)
		}
		if _, err := g.Router.Patch(t.Context(), g.Router.Key(shut), sessions.Patch{SendPolicy: new(policy.Deny)}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		var got []channels.MessageID
		for _, c := range g.Fake.Calls(channeltest.OpFade) {
			if c.ID != "" {
				got = append(got, c.ID)
			}
			if c.To != open.Address {
				t.Errorf("a call in a denied chat: %+v", c)
			}
		}
		if !slices.Equal(got, []channels.MessageID{open.ID}) {
			t.Errorf("taken away: %v, not %v", got, open.ID)
		}
	})
}

// "typing…" that was shown before a chat moved is not taken away in the new place: its session there may be denied by then.
// proves: P4
func TestTypingOfAMovedChatStays(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, func(*settings.Snapshot) {})
		g.Router.Attach(routertest.Account, struct {
			*channeltest.Full
			channels.Fader
		}{g.Fake.Full(), g.Fake.Fader(10 * time.Minute)})
		old, now := routertest.Group("a"), routertest.Group("a-new")
		rest := g.Busy(old, routertest.Owner)
		time.Sleep(6 * time.Second)
		if len(g.Fake.Calls(channeltest.OpTyping)) == 0 {
			t.Fatal("nothing is shown of a turn")
		}
		rest()
		g.Shown(1)
		g.Happens(channels.Inbound{Event: channels.Moved, Address: old, MovedTo: now.Chat})
		time.Sleep(time.Hour)
		synctest.Wait()
		for _, c := range g.Fake.Calls(channeltest.OpFade) {
			t.Errorf("taken away: %+v", c)
		}
	})
}
