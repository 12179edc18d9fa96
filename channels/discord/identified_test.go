package discord

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"parley/channels"
	"parley/channels/discord/discordtest"
)

// noted is a store that takes who an account is after a while; then it has it.
type noted struct {
	slow time.Duration
	done atomic.Bool
}

func (n *noted) identified(ctx context.Context, _ channels.UserID) {
	if channels.Sleep(ctx, n.slow) {
		n.done.Store(true)
	}
}

// slowly runs a test with a bot whose store takes the identity after a while.
func slowly(t *testing.T, slow time.Duration, test func(h *host, n *noted)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h, n := newHost(t), &noted{slow: slow}
		h.identified = n.identified
		h.refuse = func(in channels.Inbound) error {
			if !n.done.Load() {
				t.Errorf("offered before it is on disk who the bot is: %+v", in)
			}
			return nil
		}
		h.open()
		h.start()
		defer h.stop()
		test(h, n)
	})
}

// A store that takes the identity late, however often the connection breaks meanwhile, holds events up and does no other harm: none is
// offered before, none is lost, and the session is begun whole.
func TestEventsWaitForTheIdentity(t *testing.T) {
	for _, slow := range []time.Duration{time.Second, 2 * readyLimit, time.Hour} {
		t.Run(slow.String(), func(t *testing.T) {
			slowly(t, slow, func(h *host, n *noted) {
				h.after(500 * time.Millisecond)
				var want []string
				for i := range 5 {
					h.srv.Say(general, anna, fmt.Sprint("early ", i))
					want = append(want, fmt.Sprint("early ", i))
					h.after(slow / 10)
					if i%2 == 1 {
						h.srv.Drop()
					}
				}
				h.after(slow + 5*time.Minute)
				h.srv.Say(general, anna, "<@"+discordtest.BotID+"> now")
				h.settle()
				got := h.taken()
				if words(got) != strings.Join(append(want, "@parley_test now"), ",") {
					t.Fatalf("%q", words(got))
				}
				last := got[len(got)-1]
				if !last.Mentioned || last.Cursor != string(last.ID) {
					t.Errorf("mentioned %v, cursor %q, message %q", last.Mentioned, last.Cursor, last.ID)
				}
				if me := h.ch.self(); me.User != discordtest.BotID || me.Application == "" || !h.ch.names.described() {
					t.Errorf("%+v", me)
				}
				if s := h.srv.Stats(); s.Identifies != 1 {
					t.Errorf("%+v", s)
				}
			})
		})
	}
}

// The same for a session that follows another one: what was missed before it is read.
func TestMissedIsReadAfterASlowIdentity(t *testing.T) {
	for _, slow := range []time.Duration{time.Second, 2 * readyLimit, 10 * time.Minute} {
		t.Run(slow.String(), func(t *testing.T) {
			slowly(t, slow, func(h *host, n *noted) {
				h.after(slow + time.Minute)
				h.srv.Say(general, anna, "first")
				h.one()
				n.done.Store(false)
				h.srv.Expire()
				h.srv.Drop()
				h.srv.Miss(general, anna, "missed")
				h.after(slow + 5*time.Minute)
				if got := h.taken(); words(got) != "missed" {
					t.Fatalf("%q", words(got))
				}
				h.srv.Say(side, anna, "then")
				if in := h.one(); in.Cursor == "" {
					t.Error("no cursor")
				}
			})
		})
	}
}

// A host that keeps nothing of what was missed waits for the identity as well.
func TestEventsWaitWithoutAStore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h, n := newHost(t), &noted{slow: time.Minute}
		h.identified = n.identified
		h.open()
		h.ch.seen = nil
		h.start()
		defer h.stop()
		h.after(time.Second)
		h.srv.Say(general, anna, "early")
		h.after(50 * time.Second)
		if got := h.taken(); len(got) > 0 {
			t.Errorf("offered before it is on disk who the bot is: %+v", got)
		}
		h.settle()
		if got := h.taken(); words(got) != "early" {
			t.Errorf("%q", words(got))
		}
	})
}

// Sessions begin while a line works on messages from a thread that the bot has not seen begin. To be run with -race.
func TestSessionsBeginBesideAThread(t *testing.T) {
	t.Parallel()
	ch, err := New(Config{Token: channels.NewSecret("x")}, Deps{})
	if err != nil {
		t.Fatal(err)
	}
	const thread = "600000000000000100"
	ch.names.channel([]byte(`{"id":"`+thread+`","type":11,"parent_id":"`+general+`"}`), town)
	ctx, cancel := context.WithCancel(t.Context())
	q := newQueues(ctx, ch, nil)
	here := channels.Position{Address: channels.Address{Channel: Kind, Account: ch.account, Chat: general, Type: channels.Room}, ID: thread}
	cancel() // no line begins
	var both sync.WaitGroup
	both.Go(func() {
		for range 1000 {
			q.mu.Lock()
			q.release([]channels.Position{here}, "")
			q.mu.Unlock()
		}
	})
	both.Go(func() {
		for range 1000 {
			q.findStarter(&chat{id: thread}, event{kind: "MESSAGE_CREATE", id: thread})
		}
	})
	both.Wait()
	q.finish()
}

// What a thread grew from is asked for again when Discord does not give it at once, and told with a later message when it takes long.
func TestThreadStarterOutlivesAnOutage(t *testing.T) {
	for name, c := range map[string]struct {
		fault discordtest.Fault
		lasts time.Duration // 0 = one call
		late  bool          // the first message goes on without it
		never bool
	}{
		"429":       {fault: discordtest.Fault{Status: 429, RetryAfter: time.Second}},
		"500":       {fault: discordtest.Fault{Status: 500}},
		"cut":       {fault: discordtest.Fault{Cut: true}},
		"long 429":  {fault: discordtest.Fault{Status: 429, RetryAfter: time.Minute}, late: true},
		"hangs":     {fault: discordtest.Fault{Hang: true}, late: true},
		"is down":   {fault: discordtest.Fault{Status: 503, Times: -1}, lasts: time.Minute, late: true},
		"no access": {fault: discordtest.Fault{Status: 403, Code: 50001}, never: true},
		"gone":      {fault: discordtest.Fault{Status: 404, Code: 10008}, never: true},
	} {
		inBubbleNamed(t, name, func(h *host) {
			id := h.srv.Say(general, bert, "the deploy failed")
			h.one()
			thread := h.srv.StartThread(general, anna, "deploy", id)
			c.fault.Method, c.fault.Route = http.MethodGet, discordtest.RouteMessage
			remove := h.srv.Inject(c.fault)
			for i, text := range []string{"why?", "and now?"} {
				h.srv.Say(thread, anna, text)
				h.after(callTimeout + starterPatience)
				got := h.taken()
				if words(got) != text {
					h.t.Fatalf("%q, not %q", words(got), text)
				}
				quoted := got[0].Quote != nil && got[0].Quote.Text == "the deploy failed"
				if want := !c.never && c.late == (i == 1); quoted != want {
					h.t.Errorf("%s: quoted %v, want %v", text, quoted, want)
				}
				remove()
				h.after(2 * time.Minute)
			}
		})
	}
}

// A thread that was begun while the bot was away has its first message's quote as well: what is read again is told as what comes.
func TestThreadStarterOfMissedWords(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		h.ch.cursor = func(context.Context) (string, error) { return idAt(time.Now().Add(-time.Hour)), nil }
		h.start()
		defer h.stop()
		h.settle()
		id := h.srv.Say(general, bert, "the deploy failed")
		h.one()
		h.srv.Expire()
		h.srv.Drop()
		thread := h.srv.StartThread(general, anna, "deploy", id)
		h.srv.Miss(thread, anna, "why?")
		h.srv.Miss(thread, anna, "and now?")
		h.settle()
		got := h.taken()
		if words(got) != "why?,and now?" || got[0].Quote == nil || got[0].Quote.Text != "the deploy failed" || got[1].Quote != nil {
			t.Errorf("%q %+v", words(got), got)
		}
	})
}
