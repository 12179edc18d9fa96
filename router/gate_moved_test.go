package router

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/channels"
	"parley/channels/channeltest"
)

// TestMovedChatKeepsItsOrder: while the account is away a group gets a new id, and people write on there: what waits for both is sent in
// order and one at a time, whatever was there first.
func TestMovedChatKeepsItsOrder(t *testing.T) {
	for name, early := range map[string]int{"before anything comes there": 0, "after": 2} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				g := newRig(t, channeltest.Options{}, eachAlone)
				old, now := groupChat("-5"), groupChat("-1005")
				g.say(old, owner, "hello")
				g.shown(1)
				g.r.Attach(account, nil)
				want := 1
				say := func(to channels.Address, text string) {
					g.say(to, owner, text)
					want++
					g.until("it is answered", func() bool { return len(g.deliveries()) == want })
				}
				for i := range 3 {
					say(old, fmt.Sprint("old ", i))
				}
				for i := range early {
					say(now, fmt.Sprint("early ", i))
				}
				say(old, "old 3")
				g.happens(channels.Inbound{Event: channels.Moved, Address: old, MovedTo: now.Chat})
				for i := range 2 {
					say(now, fmt.Sprint("new ", i))
				}
				g.fake.Script(channeltest.Step{Delay: time.Second, Times: -1})
				g.r.Attach(account, g.fake.Full())
				<-time.After(time.Minute)
				synctest.Wait()
				var got []string
				for _, text := range g.fake.Texts(now) {
					got = append(got, text[strings.LastIndex(text, ": ")+2:])
				}
				all := []string{"old 0", "old 1", "old 2", "early 0", "early 1", "old 3", "new 0", "new 1"}
				if early == 0 {
					all = slices.Delete(all, 3, 5)
				} else { // two were being worked on already
					all = []string{"old 0", "early 0", "old 1", "old 2", "early 1", "old 3", "new 0", "new 1"}
				}
				if !slices.Equal(got, all) || len(g.fake.Overlaps()) > 0 {
					t.Errorf("%q, want %q; overlaps %v", got, all, g.fake.Overlaps())
				}
			})
		})
	}
}

// TestMovedChatWaitsForItsPreview: the chat gets a new id while first words are on their way to it: nothing overtakes them there.
func TestMovedChatWaitsForItsPreview(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := writes(t, tenSeconds(), channeltest.Options{}, edits)
		old, now := groupChat("-5"), groupChat("-1005")
		g.fake.Script(channeltest.Step{Delay: 4 * time.Second})
		g.say(old, guest, "write")
		<-time.After(2500 * time.Millisecond) // the first words are on their way
		g.happens(channels.Inbound{Event: channels.Moved, Address: old, MovedTo: now.Chat})
		g.say(now, guest, "/whoami")
		calls := g.shown(2)
		if calls[0].To != old || calls[1].At.Before(calls[0].At.Add(4*time.Second)) {
			t.Errorf("%s began %s after the first words", calls[1].Out.Text, calls[1].At.Sub(calls[0].At))
		}
		d := g.ended(2)
		if len(g.r.gate.Outlet(account).Held) != 0 {
			t.Errorf("a chat is held: %+v", d)
		}
		g.noPreviews()
	})
}
