package router

import (
	"testing"

	"parley/channels"
	"parley/channels/channeltest"
)

// Who deletes somebody else's message, as admins may, withdraws nothing: it is answered, and the agent is told.
func TestForeignDeletion(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{}, eachAlone)
		to := groupChat("g")
		rest := g.busy(to, owner)
		second := g.say(to, owner, "important")
		g.talk(to, owner, "nine o'clock")
		g.taken(3)
		events, _ := g.fake.Accepted()
		for _, target := range []channels.MessageID{second.ID, events[2].ID} {
			g.happens(channels.Inbound{Event: channels.Deleted, Address: to, Sender: person(guest), Target: target})
		}
		rest()
		g.until("all is answered", func() bool { return g.allOver() })
		if got := g.fake.Texts(to); len(got) != 2 {
			t.Errorf("a stranger's deletion took the owner's message away: %q", got)
		}
		g.say(to, owner, "what happened?")
		g.shown(3)
		if got := told(g.newest()); len(got) != 3 {
			t.Errorf("told %q", got)
		}
	})
}
