package router

import (
	"testing"
	"testing/synctest"
	"time"

	"parley/channels"
	"parley/channels/channeltest"
)

// A chat's new place numbers its messages anew: one that has the number of one of ours in the old place is a person's all the same.
func TestMovedChatNumbersItsMessagesAnew(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{})
		old, now := groupChat("-5"), groupChat("-1005")
		g.say(old, owner, "hello")
		id := g.shown(1)[0].Receipt.ID
		synctest.Wait()
		g.happens(channels.Inbound{Event: channels.Moved, Address: old, MovedTo: now.Chat})
		g.fake.Say(channels.Inbound{ID: id, Address: now, Sender: person(owner), Text: "are you there?", Mentioned: true})
		<-time.After(time.Minute)
		synctest.Wait()
		if got := g.fake.Texts(now); len(got) != 1 {
			t.Errorf("a message of a person was dropped: %q", got)
		}
	})
}
