package delivery_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/channels"
	"parley/channels/channeltest"
	"parley/router/routertest"
)

// TestMovedChatKeepsItsOrder: while the account is away a group gets a new id, and people write on there: what waits for both is sent in
// order and one at a time, whatever was there first.
func TestMovedChatKeepsItsOrder(t *testing.T) {
	for name, early := range map[string]int{"before anything comes there": 0, "after": 2} {
		t.Run(name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g := routertest.New(t, channeltest.Options{}, routertest.EachAlone)
				old, now := routertest.Group("-5"), routertest.Group("-1005")
				g.Say(old, routertest.Owner, "hello")
				g.Shown(1)
				g.Router.Attach(routertest.Account, nil)
				want := 1
				say := func(to channels.Address, text string) {
					g.Say(to, routertest.Owner, text)
					want++
					g.Until("it is answered", func() bool { return len(g.Deliveries()) == want })
				}
				for i := range 3 {
					say(old, fmt.Sprint("old ", i))
				}
				for i := range early {
					say(now, fmt.Sprint("early ", i))
				}
				say(old, "old 3")
				g.Happens(channels.Inbound{Event: channels.Moved, Address: old, MovedTo: now.Chat})
				for i := range 2 {
					say(now, fmt.Sprint("new ", i))
				}
				g.Fake.Script(channeltest.Step{Delay: time.Second, Times: -1})
				g.Router.Attach(routertest.Account, g.Fake.Full())
				<-time.After(time.Minute)
				synctest.Wait()
				var got []string
				for _, text := range g.Fake.Texts(now) {
					got = append(got, text[strings.LastIndex(text, ": ")+2:])
				}
				all := []string{"old 0", "old 1", "old 2", "early 0", "early 1", "old 3", "new 0", "new 1"}
				if early == 0 {
					all = slices.Delete(all, 3, 5)
				} else { // two were being worked on already
					all = []string{"old 0", "early 0", "old 1", "old 2", "early 1", "old 3", "new 0", "new 1"}
				}
				if !slices.Equal(got, all) || len(g.Fake.Overlaps()) > 0 {
					t.Errorf("%q, want %q; overlaps %v", got, all, g.Fake.Overlaps())
				}
			})
		})
	}
}

// TestMovedChatWaitsForItsPreview: the chat gets a new id while first words are on their way to it: nothing overtakes them there.
func TestMovedChatWaitsForItsPreview(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.Writes(t, routertest.TenSeconds(), channeltest.Options{}, routertest.Edits)
		old, now := routertest.Group("-5"), routertest.Group("-1005")
		g.Fake.Script(channeltest.Step{Delay: 4 * time.Second})
		g.Say(old, routertest.Guest, "write")
		<-time.After(2500 * time.Millisecond) // the first words are on their way
		g.Happens(channels.Inbound{Event: channels.Moved, Address: old, MovedTo: now.Chat})
		g.Say(now, routertest.Guest, "/whoami")
		calls := g.Shown(2)
		if calls[0].To != old || calls[1].At.Before(calls[0].At.Add(4*time.Second)) {
			t.Errorf("%s began %s after the first words", calls[1].Out.Text, calls[1].At.Sub(calls[0].At))
		}
		g.Ended(2)
		noPreviews(g)
	})
}
