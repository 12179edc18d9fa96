package delivery

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"parley/channels"
	"parley/channels/channeltest"
	"parley/policy"
	"parley/router/settings"
	"parley/sessions"
)

// Who watches hears of every delivery before it can be sent, also of those that wait in the store because too many are known, and is
// told while the dispatcher is free.
func TestGateTellsWithoutItsLock(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var told []sessions.DeliveryID
		var g *rig
		g = newRig(t, 1, func(c *Config) {
			c.Changed = func(d sessions.Delivery) {
				if d.State != sessions.Pending {
					return
				}
				if !g.queues.mu.TryLock() {
					t.Errorf("%s is told with the queues locked", d.ID)
					return
				}
				if _, known := g.queues.resident[d.ID]; known {
					t.Errorf("%s may be sent before anybody hears of it", d.ID)
				}
				g.queues.mu.Unlock()
				told = append(told, d.ID)
			}
		})
		g.Attach(fakeAccount, nil) // nothing is sent
		for _, id := range []sessions.DeliveryID{"a", "b", "c"} {
			g.Enqueue(g.store.add(sessions.Delivery{ID: id, To: direct("a")}))
		}
		if !slices.Equal(told, []sessions.DeliveryID{"a", "b", "c"}) {
			t.Errorf("told: %v", told)
		}
	})
}

// TestOverflowKeepsOrder: deliveries of a chat that wait in the store because too many are known are sent before those that come later.
func TestOverflowKeepsOrder(t *testing.T) {
	const room = 4
	bubble(t, func(t *testing.T) {
		g := newRig(t, room)
		send := func(chat, text string) {
			g.Enqueue(g.store.add(sessions.Delivery{ID: sessions.DeliveryID(text), To: direct(chat), Text: text}))
			synctest.Wait()
		}
		first, others := make(chan struct{}), make(chan struct{})
		g.fake.Script(channeltest.Step{Chat: "q0", Wait: first})
		send("q0", "q0")
		for _, chat := range []string{"q1", "q2", "q3"} {
			g.fake.Script(channeltest.Step{Chat: channels.ChatID(chat), Wait: others})
			send(chat, chat)
		}
		send("a", "one")
		close(first)
		synctest.Wait()
		send("a", "two")
		if got := g.fake.Texts(direct("a")); len(got) > 0 {
			t.Errorf("more are held than there is room for: %q", got)
		}
		close(others)
		synctest.Wait()
		if got := g.fake.Texts(direct("a")); !slices.Equal(got, []string{"one", "two"}) {
			t.Errorf("order in the chat: %q", got)
		}
	})
}

// outcome is one that makes a delivery to a chat.
func outcome(d sessions.Delivery) *sessions.Outcome {
	d.ID, d.To = "d", direct("b")
	return &sessions.Outcome{Deliveries: []sessions.Delivery{d}}
}

// TestWaitsForItsTurn: what cannot leave at once is not begun by the commit that makes it.
func TestWaitsForItsTurn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, 100)
		two := outcome(sessions.Delivery{})
		two.Deliveries = append(two.Deliveries, two.Deliveries...)
		for name, out := range map[string]*sessions.Outcome{
			"nothing": {}, "several": two, "later": outcome(sessions.Delivery{NotBefore: time.Now()}), "granted": outcome(sessions.Delivery{PreAuthorized: &policy.Verdict{}}),
		} {
			if b := g.Reserve(out); b != nil || out.Begin != nil {
				t.Errorf("%s: reserved", name)
				b.End(t.Context())
			}
		}
		a := g.accounts.of(fakeAccount)
		release, _ := g.queues.lockChat(a, "b")
		if g.Reserve(outcome(sessions.Delivery{})) != nil {
			t.Error("reserved a chat that shows a preview")
		}
		release()
		first := outcome(sessions.Delivery{})
		b := g.Reserve(first)
		if b == nil || first.Begin == nil || g.Reserve(outcome(sessions.Delivery{})) != nil {
			t.Error("a chat is reserved by one at a time")
		}
		b.End(t.Context())
		b.End(t.Context())
		synctest.Wait()
		if len(a.chats.queues) != 0 || len(g.queues.resident) != 0 || len(g.reserved.open) != 0 {
			t.Error("the chat is not free again")
		}
		if len(g.inFlight.keys()) > 0 {
			t.Error("a call stays in flight")
		}
		g.Attach(fakeAccount, nil)
		if g.Reserve(outcome(sessions.Delivery{})) != nil {
			t.Error("reserved for an account that is away")
		}
	})
}

// TestBookedBesideMore: a chat is not reserved while more waits in the store than the dispatcher holds: some of it may be for that chat.
func TestBookedBesideMore(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, 100)
		g.queues.spilled = true
		if b := g.Reserve(outcome(sessions.Delivery{})); b != nil {
			b.End(t.Context())
			t.Error("reserved")
		}
	})
}

// TestMovedWhileLocked: a preview that is on its way to a chat keeps it under its new id, and gives it free there.
func TestMovedWhileLocked(t *testing.T) {
	c := newChats()
	done, _ := c.lock("old")
	c.move("old", "new")
	if c.isIdle("new") || !c.isIdle("old") {
		t.Error("the lock did not move")
	}
	if _, free := c.lock("old"); free {
		t.Error("the chat was locked twice, by its old id")
	}
	c.unlock("old", done)
	if !c.isIdle("new") || len(c.locked) > 0 {
		t.Error("the chat stays locked")
	}
}

// arrivals is a platform that can be asked what arrived, and counts the questions.
type arrivals struct{ asked int }

func (a *arrivals) Arrived(context.Context, channels.Outbound) (channels.Receipt, bool, error) {
	a.asked++
	return channels.Receipt{}, false, nil
}

// TestNoQuestionReachesADeniedChat denies a chat and then has its platform asked whether a message arrived: the policy is looked at
// once the question counts as on its way, so that a deny is acknowledged either before, and nothing is asked, or behind it.
//
// proves: P4, P7
func TestNoQuestionReachesADeniedChat(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, 100)
		for n, o := range []policy.Override{policy.Deny, policy.Allow} {
			g.store.sessions[keyA] = sessions.Session{Key: keyA, Settings: sessions.Settings{SendPolicy: o}}
			var platform arrivals
			d := sessions.Delivery{ID: "d", Session: keyA, To: groupChat("a")}
			_, _, err := g.sender.reconciler.queryArrived(t.Context(), &platform, d, channels.Outbound{Key: "k", To: d.To})
			if platform.asked != n || (err == nil) != (n == 1) {
				t.Errorf("under %s it is asked %d times: %v", o, platform.asked, err)
			}
		}
	})
}

// TestOnlyTurnsStream: neither a running sub-agent nor what it reports is shown before it is whole.
func TestOnlyTurnsStream(t *testing.T) {
	bubble(t, func(t *testing.T) {
		set := &settings.Snapshot{Accounts: map[settings.AccountRef]settings.Account{fakeAccount: {Streaming: channels.Streaming{Direct: channels.StreamEdit, Group: channels.StreamEdit}}}}
		g := newRig(t, 100, func(c *Config) { c.Settings = func() *settings.Snapshot { return set } })
		for _, kind := range []sessions.RunKind{sessions.ChildRun, sessions.AnnounceRun, sessions.ResultRun, sessions.AskRun, sessions.JobRun, sessions.CompactRun, sessions.PostRun} {
			if got := g.previews.stream(sessions.Run{Kind: kind, Reply: groupChat("a")}); got != channels.StreamOff {
				t.Errorf("%s: %s", kind, got)
			}
		}
		if got := g.previews.stream(sessions.Run{Kind: sessions.TurnRun, Reply: groupChat("a")}); got != channels.StreamEdit {
			t.Errorf("a turn: %s", got)
		}
	})
}
