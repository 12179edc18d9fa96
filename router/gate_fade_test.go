package router

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"parley/channels"
	"parley/channels/channeltest"
	"parley/policy"
	"parley/sessions"
)

// A sign that a channel wants taken away is taken away through the gate: late enough, once, and not at all in a chat that was denied
// meanwhile. source: contract P4, "under deny zero calls reach the platform"
//
// proves: P4
func TestSignsFadeUnderThePolicy(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{}, func(*Settings) {})
		g.r.Attach(account, struct {
			*channeltest.Full
			channels.Acknowledger
			channels.Fader
		}{g.fake.Full(), g.fake.Acknowledger(), g.fake.Fader(10 * time.Minute)})
		open := g.say(groupChat("a"), owner, "hello")
		g.shown(1)
		shut := g.say(groupChat("b"), owner, "hello")
		g.shown(2)
		time.Sleep(9 * time.Minute)
		synctest.Wait()
		if n := len(g.fake.Calls(channeltest.OpFade)); n > 0 {
			t.Fatalf("%d signs are gone before their time", n)
		}
		if _, err := g.r.Patch(t.Context(), g.r.Key(shut), sessions.Patch{SendPolicy: new(policy.Deny)}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		var got []channels.MessageID
		for _, c := range g.fake.Calls(channeltest.OpFade) {
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
