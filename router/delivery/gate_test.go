package delivery_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"parley/channels"
	"parley/channels/channeltest"
	"parley/policy"
	"parley/router/routertest"
	"parley/router/settings"
	"parley/sessions"
)

func TestLimitedWaitsAndDelaysNobodyElse(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		g.Fake.Script(channeltest.Step{Chat: "a", Err: &channels.Error{Class: channels.Limited, RetryAfter: 491 * time.Second, Err: errors.New("scripted")}})
		began := time.Now()
		g.Say(routertest.Direct("a"), routertest.Guest, "one")
		g.Until("the first call", func() bool { return len(g.Fake.Calls(channeltest.OpSend)) == 1 })
		g.Say(routertest.Direct("a"), routertest.Guest, "two")
		g.Say(routertest.Direct("b"), routertest.Guest, "other")
		calls := g.Shown(3)
		if calls[0].To.Chat != "b" || calls[0].At.Sub(began) > time.Second {
			t.Errorf("another chat waited: %+v", calls[0])
		}
		if calls[1].Out.Text != "echo: one" || calls[2].Out.Text != "echo: two" {
			t.Errorf("the order of chat a: %q, %q", calls[1].Out.Text, calls[2].Out.Text)
		}
		if wait := calls[1].At.Sub(began); wait < 491*time.Second {
			t.Errorf("called again after %s, before the platform's 491 s", wait)
		}
	})
}

func TestErrorClasses(t *testing.T) {
	for _, c := range []struct {
		name   string
		step   channeltest.Step
		hold   bool
		idem   bool
		state  sessions.DeliveryState
		calls  int
		repeat bool
	}{
		{name: "transient", step: channeltest.Step{Err: routertest.Class(channels.Transient)}, state: sessions.Sent, calls: 2},
		{name: "rejected", step: channeltest.Step{Err: routertest.Class(channels.Rejected)}, state: sessions.DeliveryFail, calls: 1},
		{name: "unsupported", step: channeltest.Step{Err: routertest.Class(channels.Unsupported)}, state: sessions.DeliveryFail, calls: 1},
		{name: "ambiguous, resend", step: channeltest.Step{Err: routertest.Class(channels.Ambiguous), Arrives: true}, state: sessions.Sent, calls: 2, repeat: true},
		{name: "ambiguous, hold", step: channeltest.Step{Err: routertest.Class(channels.Ambiguous)}, hold: true, state: sessions.Held, calls: 1},
		{name: "ambiguous, idempotent", step: channeltest.Step{Err: routertest.Class(channels.Ambiguous), Arrives: true}, idem: true, state: sessions.Sent, calls: 2},
		{name: "unclassified", step: channeltest.Step{Err: errors.New("what is this")}, hold: true, state: sessions.Held, calls: 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g := routertest.New(t, channeltest.Options{Limits: channels.Limits{Idempotent: c.idem}}, func(s *settings.Snapshot) { s.Delivery.Hold = c.hold })
				g.Fake.Script(c.step)
				g.Say(routertest.Direct("a"), routertest.Guest, "hello")
				g.Until("it is final", func() bool { d := g.Deliveries(); return len(d) == 1 && d[0].State.Final() })
				d := g.Deliveries()[0]
				calls := g.Fake.Calls(channeltest.OpSend)
				if d.State != c.state || len(calls) != c.calls || d.Repeat != c.repeat {
					t.Errorf("state %s after %d calls, repeat %t; want %s, %d, %t (%s)", d.State, len(calls), d.Repeat, c.state, c.calls, c.repeat, d.Error)
				}
				if len(calls) == 2 && calls[0].Out.Key != calls[1].Out.Key {
					t.Errorf("the key changed from %s to %s", calls[0].Out.Key, calls[1].Out.Key)
				}
				if c.state != sessions.Sent && d.Error == "" {
					t.Error("it does not say why")
				}
			})
		})
	}
}

// A message is held when it may have arrived three times, however often the platform asked to wait or was away before.
//
// proves: D4
func TestTriesThatMayHaveArrived(t *testing.T) {
	limited, away, unclear := channeltest.Step{Err: routertest.Class(channels.Limited)}, channeltest.Step{Err: routertest.Class(channels.Transient)}, channeltest.Step{Err: routertest.Class(channels.Ambiguous), Arrives: true}
	for _, c := range []struct {
		name  string
		steps []channeltest.Step
		state sessions.DeliveryState
		says  string
	}{
		{"two limits, and one", []channeltest.Step{limited, limited, unclear}, sessions.Sent, ""},
		{"two with others between", []channeltest.Step{unclear, away, away, unclear, limited}, sessions.Sent, ""},
		{"three", []channeltest.Step{limited, unclear, away, unclear, unclear}, sessions.Held, "may have arrived in each of 3 sends"},
	} {
		t.Run(c.name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g := routertest.New(t, channeltest.Options{})
				g.Fake.Script(c.steps...)
				g.Say(routertest.Direct("a"), routertest.Guest, "hello")
				g.Until("it is final", func() bool { d := g.Deliveries(); return len(d) == 1 && d[0].State.Final() })
				if d := g.Deliveries()[0]; d.State != c.state || !d.Repeat || !strings.Contains(d.Error, c.says) {
					t.Errorf("%s, repeat %v: %q", d.State, d.Repeat, d.Error)
				}
			})
		})
	}
}

func TestMovedChat(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		g.Fake.Script(channeltest.Step{Chat: "old", Err: &channels.Error{Class: channels.Transient, Moved: "new", Err: errors.New("scripted")}})
		g.Say(routertest.Group("old"), routertest.Guest, "hello")
		if c := g.Shown(1)[0]; c.To.Chat != "new" {
			t.Errorf("sent to %s", c.To)
		}
		g.Say(routertest.Group("new"), routertest.Guest, "and now?") // in the same session
		g.Shown(2)
		if got := g.LastPrompt(); len(got) != 3 || got[0] != "user:"+routertest.Guest+": hello" {
			t.Errorf("the agent reads %q", got)
		}
	})
}

func TestExpiry(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		g.Router.Attach(routertest.Account, nil)
		g.Say(routertest.Direct("a"), routertest.Guest, "hello")
		g.Until("it waits", func() bool { return len(g.Deliveries()) == 1 })
		<-time.After(59 * time.Minute)
		if d := g.Deliveries()[0]; d.State != sessions.Pending {
			t.Errorf("after 59 minutes: %s", d.State)
		}
		<-time.After(2 * time.Minute)
		if d := g.Deliveries()[0]; d.State != sessions.Expired {
			t.Errorf("after 61 minutes: %s", d.State)
		}
		g.Router.Attach(routertest.Account, g.Fake.Full())
		g.Deliveries()
		if n := len(g.Fake.Calls(channeltest.OpSend)); n != 0 {
			t.Errorf("%d calls for what has expired", n)
		}
	})
}

// proves: P7
func TestFlipWaitsForWhatIsOnItsWay(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, routertest.EachAlone)
		hold := make(chan struct{})
		g.Fake.Script(channeltest.Step{Wait: hold})
		g.Say(routertest.Direct("a"), routertest.Guest, "one")
		g.Say(routertest.Direct("a"), routertest.Guest, "two")
		key := sessions.Key("agent:main:fake:direct:" + routertest.Guest)
		g.Until("both are answered, one is on its way", func() bool { return len(g.Deliveries()) == 2 })
		flipped := make(chan error, 1)
		deny := policy.Deny
		go func() {
			_, err := g.Router.Patch(t.Context(), key, sessions.Patch{SendPolicy: &deny})
			flipped <- err
		}()
		g.Deliveries()
		select {
		case err := <-flipped:
			t.Fatalf("the flip was acknowledged while a message was on its way (%v)", err)
		default:
		}
		close(hold)
		if err := <-flipped; err != nil {
			t.Fatal(err)
		}
		n := len(g.Fake.Calls(channeltest.OpSend))
		g.Say(routertest.Direct("a"), routertest.Guest, "three")
		g.Until("all are final", func() bool {
			d := g.Deliveries()
			return len(d) == 3 && d[1].State.Final() && d[2].State.Final()
		})
		d := g.Deliveries()
		if d[0].State != sessions.Sent || d[1].State != sessions.Withheld || d[2].State != sessions.Withheld || len(g.Fake.Calls(channeltest.OpSend)) != n {
			t.Errorf("states %s, %s, %s; %d calls after the flip", d[0].State, d[1].State, d[2].State, len(g.Fake.Calls(channeltest.OpSend))-n)
		}
		if d[1].Verdict == nil || d[1].Verdict.Rule == "" {
			t.Error("the delivery does not say which rule withheld it")
		}
	})
}

// proves: P4
func TestFlipBetweenParts(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{Limits: channels.Limits{Text: 100}})
		hold := make(chan struct{})
		g.Fake.Script(channeltest.Step{Wait: hold})
		g.Say(routertest.Direct("a"), routertest.Guest, strings.Repeat("word ", 60))
		g.Until("the first part is on its way", func() bool { d := g.Deliveries(); return len(d) == 1 && d[0].State == sessions.Sending })
		deny := policy.Deny
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, _ = g.Router.Patch(t.Context(), "agent:main:fake:direct:"+routertest.Guest, sessions.Patch{SendPolicy: &deny})
		}()
		g.Deliveries()
		close(hold)
		<-done
		g.Until("it is final", func() bool { return g.Deliveries()[0].State.Final() })
		if d := g.Deliveries()[0]; d.State != sessions.Withheld || d.Part != 1 {
			t.Errorf("%s after %d parts, want withheld after 1", d.State, d.Part)
		}
	})
}

func TestPacing(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, routertest.EachAlone, func(s *settings.Snapshot) {
			a := s.Accounts[routertest.Account]
			a.Pacing = channels.Pacing{PerSecond: 30, PerChatPerSecond: 1, PerGroupPerMinute: 20}
			s.Accounts[routertest.Account] = a
		})
		const n = 60
		for range n {
			g.Say(routertest.Group("g"), routertest.Guest, "hello")
		}
		calls := g.Shown(n)
		for i := range calls {
			for _, w := range []struct {
				most int
				in   time.Duration
			}{{20, time.Minute}, {1, time.Second}} {
				if j := i + w.most; j < len(calls) && calls[j].At.Sub(calls[i].At) < w.in-time.Millisecond {
					t.Fatalf("messages %d to %d went within %s: more than %d in %s", i, j, calls[j].At.Sub(calls[i].At), w.most, w.in)
				}
			}
		}
	})
}

// proves: P4
func TestDenySilencesHints(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, func(s *settings.Snapshot) {
			s.Session.SendPolicy.Rules = []policy.SendRule{{Action: policy.Deny, Match: policy.SendMatch{To: "quiet"}}}
		})
		g.Model.Set(routertest.Slowly(30 * time.Second))
		g.Say(routertest.Group("quiet"), routertest.Guest, "hello")
		g.Say(routertest.Group("loud"), routertest.Guest, "hello")
		g.Shown(1)
		g.Until("both are final", func() bool { d := g.Deliveries(); return len(d) == 2 && d[0].State.Final() && d[1].State.Final() })
		hints := map[channels.ChatID]int{}
		for _, c := range g.Fake.Calls() {
			hints[c.To.Chat]++
		}
		if hints["quiet"] != 0 || hints["loud"] < 5 {
			t.Errorf("calls by chat: %v; want none for the denied one, typing and a message for the other", hints)
		}
	})
}

// What an owner switches off is the chat, with all threads and topics in it; one with an override of its own goes by that.
// source: https://core.telegram.org/bots/api#message (message_thread_id: the writer chooses the place)
// proves: P3, P4
func TestThreadsGoByTheDenyOfTheirChat(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		thread := routertest.Group("g")
		thread.Thread = "7"
		g.Say(thread, routertest.Guest, "hello")
		g.Shown(1)
		g.Say(routertest.Group("g"), routertest.Owner, "/send off")
		g.Shown(2)
		before := len(g.Fake.Calls())
		g.Say(thread, routertest.Guest, "and now?")
		g.Until("it is withheld", func() bool { d := g.Deliveries(); return len(d) == 3 && d[2].State == sessions.Withheld })
		if n := len(g.Fake.Calls()) - before; n != 0 {
			t.Errorf("%d calls reached a thread of a chat that is switched off", n)
		}
		if v := g.Deliveries()[2].Verdict; v == nil || v.Rule != "session override of the whole chat" {
			t.Errorf("withheld by %+v", v)
		}
		g.Say(thread, routertest.Owner, "/send on")
		g.Shown(3)
		g.Say(thread, routertest.Guest, "and now?")
		g.Shown(4)
	})
}

func TestRetryAndDropByHand(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		g.Fake.Script(channeltest.Step{Err: routertest.Class(channels.Rejected)})
		g.Say(routertest.Direct("a"), routertest.Guest, "hello")
		g.Until("it failed", func() bool { d := g.Deliveries(); return len(d) == 1 && d[0].State == sessions.DeliveryFail })
		if _, err := g.Router.RetryDelivery(t.Context(), g.Deliveries()[0].ID); err != nil {
			t.Fatal(err)
		}
		g.Shown(1)
		if d := g.Deliveries()[0]; d.State != sessions.Sent {
			t.Errorf("after a retry: %s", d.State)
		}
		g.Router.Attach(routertest.Account, nil)
		g.Say(routertest.Direct("a"), routertest.Guest, "again")
		g.Until("it waits", func() bool { return len(g.Deliveries()) == 2 })
		if _, err := g.Router.DropDelivery(t.Context(), g.Deliveries()[1].ID); err != nil {
			t.Fatal(err)
		}
		g.Router.Attach(routertest.Account, g.Fake.Full())
		g.Deliveries()
		if d := g.Deliveries()[1]; d.State != sessions.Dropped || len(g.Fake.Calls(channeltest.OpSend)) != 2 {
			t.Errorf("dropped: %s after %d calls", d.State, len(g.Fake.Calls(channeltest.OpSend)))
		}
	})
}
