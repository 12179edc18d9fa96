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
	"parley/sessions"
)

// asTelegram is how fast a bot may send there.
var asTelegram = channels.Pacing{PerSecond: 30, PerChatPerSecond: 1, PerGroupPerMinute: 20}

// announces commits n announcements to each chat, in turn.
func (g *rig) announces(n int, chats ...channels.Address) {
	g.t.Helper()
	for i := range n {
		var e sessions.Effects
		for _, to := range chats {
			id := fmt.Sprintf("%s %d", to.Chat, i)
			e.Deliveries = append(e.Deliveries, sessions.Delivery{ID: sessions.DeliveryID(id), Kind: sessions.Announce, To: to, Text: id,
				Expires: time.Now().Add(24 * time.Hour)})
		}
		if _, err := g.r.Submit(g.t.Context(), e); err != nil {
			g.t.Fatal(err)
		}
	}
}

// strict fails when calls went faster than a platform allows.
func strict(t *testing.T, calls []channeltest.Call) {
	t.Helper()
	window := func(name string, calls []channeltest.Call, most int, in time.Duration) {
		for i := range calls {
			if j := i + most; j < len(calls) && calls[j].At.Sub(calls[i].At) < in-time.Millisecond {
				t.Fatalf("%s: %d messages within %s, %d are allowed in %s", name, most+1, calls[j].At.Sub(calls[i].At), most, in)
			}
		}
	}
	window("account", calls, 30, time.Second)
	chats := map[channels.ChatID][]channeltest.Call{}
	for _, c := range calls {
		chats[c.To.Chat] = append(chats[c.To.Chat], c)
	}
	for chat, calls := range chats {
		window("chat "+string(chat), calls, 1, time.Second)
		if calls[0].To.Type.Several() {
			window("group "+string(chat), calls, 20, time.Minute)
		}
	}
}

// inOrder fails unless each chat shows its announcements once and in the order of their making.
func inOrder(t *testing.T, calls []channeltest.Call) {
	t.Helper()
	next := map[channels.ChatID]int{}
	for _, c := range calls {
		if want := fmt.Sprintf("%s %d", c.To.Chat, next[c.To.Chat]); c.Out.Text != want {
			t.Fatalf("%q came instead of %q", c.Out.Text, want)
		}
		next[c.To.Chat]++
	}
}

// Five hundred announcements to one group and to forty chats: never faster than the platform allows, none lost or out of order, and
// the busy group delays nobody else.
func TestFaultPacedFlood(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{}, paced(asTelegram))
		n := channeltest.Times(60, 500)
		chats := make([]channels.Address, 40)
		for i := range chats {
			chats[i] = direct(fmt.Sprint("chat", i))
		}
		began := time.Now()
		g.announces(n, groupChat("busy"))
		g.announces(3, chats...)
		for len(g.fake.Shown(channels.Address{})) < n+3*len(chats) && time.Since(began) < 3*time.Hour {
			<-time.After(time.Second)
			synctest.Wait()
		}
		calls := g.fake.Calls(channeltest.OpSend)
		if len(calls) != n+3*len(chats) {
			t.Fatalf("%d of %d were sent", len(calls), n+3*len(chats))
		}
		strict(t, calls)
		inOrder(t, calls)
		last := time.Time{}
		for _, c := range calls {
			if c.To.Type == channels.Direct {
				last = c.At
			}
		}
		if took := last.Sub(began); took > 15*time.Second {
			t.Errorf("120 messages to forty chats took %s beside a busy group", took)
		}
	})
}

// The host stands still with work in its outbox. After a minute all of it leaves, paced and in order; after 25 hours nothing does, and
// people can see what expired.
//
// proves: D8
func TestFaultOutage(t *testing.T) {
	for _, c := range []struct {
		away time.Duration
		sent bool
	}{{time.Minute, true}, {25 * time.Hour, false}} {
		t.Run(c.away.String(), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				g := newRig(t, channeltest.Options{}, paced(asTelegram))
				n := channeltest.Times(11, 110)
				chats := []channels.Address{direct("a"), direct("b"), groupChat("g")}
				g.r.Attach(account, nil)
				g.announces(n, chats...)
				g.stop()
				<-time.After(c.away)
				g.start()
				for end := time.Now().Add(time.Hour); time.Now().Before(end); <-time.After(time.Second) {
					synctest.Wait()
					if counts, err := g.store.CountDeliveries(t.Context(), sessions.DeliveryQuery{}); err != nil {
						t.Fatal(err)
					} else if counts[sessions.Pending]+counts[sessions.Sending] == 0 {
						break
					}
				}
				counts, err := g.store.CountDeliveries(t.Context(), sessions.DeliveryQuery{})
				if err != nil {
					t.Fatal(err)
				}
				calls := g.fake.Calls(channeltest.OpSend)
				strict(t, calls)
				inOrder(t, calls)
				want := map[sessions.DeliveryState]int{sessions.Expired: 3 * n}
				if c.sent {
					want = map[sessions.DeliveryState]int{sessions.Sent: 3 * n}
				}
				for state, n := range want {
					if counts[state] != n || len(calls) != want[sessions.Sent] {
						t.Errorf("%d calls, deliveries by state %v; want %d %s", len(calls), counts, n, state)
					}
				}
				list, err := g.store.ListDeliveries(t.Context(), sessions.DeliveryQuery{State: sessions.Expired, Limit: 3 * n})
				if err != nil || !c.sent && (len(list) != 3*n || slices.ContainsFunc(list, func(d sessions.Delivery) bool { return !strings.Contains(d.Error, "expired") && d.Error == "" })) {
					t.Errorf("%d are listed as expired, %v", len(list), err)
				}
			})
		})
	}
}
