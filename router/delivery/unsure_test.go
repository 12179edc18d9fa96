package delivery_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/channels/channeltest"
	"parley/policy"
	"parley/router/routertest"
	"parley/router/settings"
	"parley/sessions"
	"parley/sessions/sqlstore"
)

// TestLostAnswerKeepsItsPlace loses the answer to the commit of what a tool posts. It is in the store, and what the turn says later
// does not overtake it in the chat.
//
// proves: S14
func TestLostAnswerKeepsItsPlace(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		g.Model.Set(func(_ context.Context, p agent.Prompt) (agent.Answer, error) {
			if routertest.Last(p).Role == sessions.ToolResult {
				return routertest.Text("done"), nil
			}
			return routertest.Call("c1", "message", map[string]any{"to": "current", "text": "posted"}), nil
		})
		lost := 0
		g.Look(func(op, phase string) {
			if op == "Submit" && phase == sqlstore.AfterCommit && lost == 0 {
				lost++
				panic("the answer is lost")
			}
		})
		g.Say(routertest.Direct(routertest.Guest), routertest.Guest, "post it")
		shown := g.Shown(2)
		if lost != 1 || shown[0].Out.Text != "posted" || shown[1].Out.Text == "posted" {
			t.Errorf("%d answers lost, the chat shows %q and then %q", lost, shown[0].Out.Text, shown[1].Out.Text)
		}
	})
}

// counted is a store that counts how often it is asked for what waits, and fails on demand.
type counted struct {
	sessions.Store
	lists, due *atomic.Int32
	fails      *atomic.Bool
}

func (c counted) ListRuns(ctx context.Context, q sessions.RunQuery) ([]sessions.Run, error) {
	if q.Status == sessions.Queued && q.Key == "" {
		c.lists.Add(1)
	}
	return c.Store.ListRuns(ctx, q)
}

func (c counted) Due(ctx context.Context, limit int, after int64) ([]sessions.Delivery, error) {
	c.due.Add(1)
	return c.Store.Due(ctx, limit, after)
}

func (c counted) Accept(ctx context.Context, a sessions.Arrival) (acc sessions.Accepted, err error) {
	if c.fails.Load() {
		return acc, errors.New("the disk is full")
	}
	return c.Store.Accept(ctx, a)
}

// TestFailingStoreIsAskedOnce refuses a hundred messages: what waits is listed once for it, and once when the next one is taken, not at
// each failure. Two answers to commits that are lost one after the other keep their place all the same.
func TestFailingStoreIsAskedOnce(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		var c counted
		c.lists, c.due, c.fails = new(atomic.Int32), new(atomic.Int32), new(atomic.Bool)
		g := routertest.NewWith(t, channeltest.Options{}, nil, func(s sessions.Store) sessions.Store { c.Store = s; return c })
		g.Say(routertest.Direct("a"), routertest.Guest, "hello")
		g.Shown(1)
		c.lists.Store(0)
		c.due.Store(0)
		c.fails.Store(true)
		for i := range 100 {
			in := channels.Inbound{Event: channels.Message, ID: channels.MessageID(fmt.Sprint("m", i)), Address: routertest.Direct("a"), Sender: channels.Sender{ID: routertest.Guest}, Text: "hello", Time: time.Now()}
			if err := g.Router.Receiver.Accept(t.Context(), in); err == nil {
				t.Fatal("it is taken")
			}
		}
		if c.lists.Load() != 1 || c.due.Load() != 1 {
			t.Errorf("what waits was listed %d and %d times", c.lists.Load(), c.due.Load())
		}
		c.fails.Store(false)
		for range 3 {
			g.Say(routertest.Direct("a"), routertest.Guest, "again")
		}
		g.Until("all are answered", func() bool { d := g.Deliveries(); return len(d) > 1 && d[len(d)-1].State == sessions.Sent })
		if c.lists.Load() != 2 || c.due.Load() != 2 {
			t.Errorf("when it works again, what waits was listed %d and %d times", c.lists.Load(), c.due.Load())
		}
		lost := 0
		g.Look(func(op, phase string) {
			if op == "Submit" && phase == sqlstore.AfterCommit && lost < 2 {
				lost++
				panic("the answer is lost")
			}
		})
		was := len(g.Deliveries())
		for _, text := range []string{"one", "two", "three"} {
			_, _ = g.Router.Committer.Submit(t.Context(), sessions.Change{Ops: []sessions.Op{sessions.EnqueueDelivery{ID: sessions.DeliveryID(text), Kind: sessions.Posted, To: routertest.Direct("a"), Text: text,
				Expires: time.Now().Add(time.Hour)}}})
		}
		calls := g.Shown(was + 3)[was:]
		if lost != 2 || calls[0].Out.Text != "one" || calls[1].Out.Text != "two" || calls[2].Out.Text != "three" {
			t.Errorf("%d answers lost; %+v", lost, calls)
		}
	})
}

// lifts is a store in which a chat's policy is lifted right before it is decided the second time whether something may leave. The first time
// it is by the commit that made it.
type lifts struct {
	sessions.Store
	decided *int
	lift    bool
}

func (l lifts) BeginSend(ctx context.Context, id sessions.DeliveryID, now time.Time, check func(sessions.Session) policy.Verdict, o sessions.FirstContactQuota) (sessions.Delivery, error) {
	if *l.decided++; *l.decided == 1 && l.lift {
		d, err := l.GetDelivery(ctx, id)
		if err != nil {
			return d, err
		}
		allow := policy.Allow
		if _, err := l.Patch(ctx, d.Session, sessions.Patch{SendPolicy: &allow}); err != nil {
			return sessions.Delivery{}, err
		}
	}
	return l.Store.BeginSend(ctx, id, now, check, o)
}

// TestDeniedWhileUnclear denies a chat while a message to it is on its way, of which nobody knows then whether it arrived. Nobody may ask:
// it is withheld, and when the chat is permitted again before that is written down it is asked about, not sent a second time.
//
// proves: P4, P7
func TestDeniedWhileUnclear(t *testing.T) {
	for name, lift := range map[string]bool{"denied": false, "denied for a moment": true} {
		t.Run(name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				decided := 0
				g := routertest.NewWith(t, channeltest.Options{}, nil, func(s sessions.Store) sessions.Store { return lifts{s, &decided, lift} })
				var asked []channels.Outbound
				g.Router.Attach(routertest.Account, routertest.Finder{Fake: g.Fake, Asked: &asked, There: true, Err: nil})
				underWay := make(chan struct{})
				g.Fake.Script(channeltest.Step{Wait: underWay, Err: routertest.Class(channels.Ambiguous)})
				g.Say(routertest.Direct("a"), routertest.Guest, "hello")
				g.Until("it is on its way", func() bool { d := g.Deliveries(); return len(d) == 1 && d[0].State == sessions.Sending })
				deny := policy.Deny
				if _, err := g.Store.Patch(t.Context(), g.Deliveries()[0].Session, sessions.Patch{SendPolicy: &deny}); err != nil {
					t.Fatal(err)
				}
				close(underWay)
				d, want := g.Ended(1)[0], sessions.Withheld
				if lift {
					want = sessions.Sent
				}
				if calls := g.Fake.Calls(channeltest.OpSend); d.State != want || len(calls) != 1 || d.Repeat || d.Ambiguous == lift || (len(asked) == 1) != lift {
					t.Errorf("%s, repeat %t, after %d calls and %d questions", d.State, d.Repeat, len(calls), len(asked))
				}
			})
		})
	}
}

// TestDeniedAfterAnUnknownEnd denies a chat between two tries of a message, on a platform that knows the second by its key. What the first
// one may have left there is not called withheld without a word.
//
// proves: D3
func TestDeniedAfterAnUnknownEnd(t *testing.T) {
	for name, unclear := range map[channels.Class]bool{channels.Ambiguous: true, channels.Transient: false} {
		t.Run(string(name), func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g := routertest.New(t, channeltest.Options{Limits: channels.Limits{Idempotent: true}})
				g.Fake.Script(channeltest.Step{Err: routertest.Class(name)})
				g.Say(routertest.Direct("a"), routertest.Guest, "hello")
				g.Until("it was tried", func() bool {
					d := g.Deliveries()
					return len(d) == 1 && d[0].State == sessions.Pending && d[0].Attempt == 1
				})
				deny := policy.Deny
				if _, err := g.Store.Patch(t.Context(), g.Deliveries()[0].Session, sessions.Patch{SendPolicy: &deny}); err != nil {
					t.Fatal(err)
				}
				d := g.Ended(1)[0]
				if d.State != sessions.Withheld || d.Ambiguous != unclear || strings.Contains(d.Error, sessions.MayHaveArrived) != unclear || d.Repeat {
					t.Errorf("%+v", d)
				}
			})
		})
	}
}

// TestUnclearAtTheEnd stops the host while a message is on its way of which nobody knows then whether it arrived. The session that permits it cannot be read any
// more: nothing is asked and nothing decided, and the next start takes it up as it was.
//
// proves: P4, D4
func TestUnclearAtTheEnd(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.NewWith(t, channeltest.Options{}, nil, nil, func(s *settings.Snapshot) { s.Session.SendPolicy.Default = policy.Deny })
		var asked []channels.Outbound
		g.Router.Attach(routertest.Account, routertest.Finder{Fake: g.Fake, Asked: &asked, There: true, Err: nil})
		g.Say(routertest.Direct("a"), routertest.Guest, "hello")
		allow := policy.Allow
		if _, err := g.Router.Patch(t.Context(), g.Ended(1)[0].Session, sessions.Patch{SendPolicy: &allow}); err != nil {
			t.Fatal(err)
		}
		underWay := make(chan struct{})
		g.Fake.Script(channeltest.Step{Wait: underWay, Err: routertest.Class(channels.Ambiguous)})
		g.Say(routertest.Direct("a"), routertest.Guest, "hello again")
		g.Until("it is on its way", func() bool { d := g.Deliveries(); return len(d) == 2 && d[1].State == sessions.Sending })
		var begins atomic.Int64
		g.Look(func(op, phase string) {
			if op == "BeginSend" && phase == sqlstore.BeforeCommit && begins.Add(1) > 20 {
				panic("it goes round and round")
			}
		})
		g.End()
		close(underWay)
		g.Router.Stop()
		if d := g.Deliveries()[1]; d.State != sessions.Sending || d.Attempt != 1 || begins.Load() != 0 || len(asked) != 0 {
			t.Errorf("%s, attempt %d, %d decisions, %d questions", d.State, d.Attempt, begins.Load(), len(asked))
		}
	})
}

// TestLostAnswerOfAnInterruptedTurn loses the answer to the commit that ends a turn, which is interrupted meanwhile. What the turn said is in the store, and leaves
// before anything that is said later.
//
// proves: S14
func TestLostAnswerOfAnInterruptedTurn(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		atWork := make(chan struct{})
		defer close(atWork)
		g.Model.Set(func(ctx context.Context, _ agent.Prompt) (agent.Answer, error) {
			select {
			case <-atWork:
			case <-ctx.Done():
			}
			return agent.Answer{}, context.Canceled
		})
		g.Say(routertest.Direct("a"), routertest.Guest, "hello")
		g.Until("it is at work", func() bool { r := g.Runs(); return len(r) == 1 && r[0].Status == sessions.Running })
		run := g.Runs()[0]
		out := sessions.Outcome{Status: sessions.Done, Deliveries: []sessions.Delivery{
			{ID: "d1", Kind: sessions.Reply, Session: run.Key, Run: run.ID, To: routertest.Direct("a"), Text: "said", Expires: time.Now().Add(time.Hour)}}}
		if _, err := g.Store.Finish(t.Context(), run.ID, out); err != nil {
			t.Fatal(err)
		}
		interrupted, interrupt := context.WithCancel(t.Context())
		interrupt()
		began := time.Now()
		g.Router.Worker.Finish(interrupted, run, out, nil)
		if g.Shown(1); time.Since(began) > routertest.ExpireInterval/2 {
			t.Errorf("it is shown after %s", time.Since(began))
		}
	})
}

// TestDoubtOfACallerWhoIsGone has a write fail that is in the store all the same; the next one that works is of a caller who has gone away, as
// the end of each interrupted turn is. The older one leaves first.
func TestDoubtOfACallerWhoIsGone(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		g.Say(routertest.Direct("a"), routertest.Guest, "hello")
		g.Shown(1)
		says := func(text string) sessions.Accepted {
			acc, err := g.Store.Submit(t.Context(), sessions.Change{IdempotencyKey: text, Ops: []sessions.Op{sessions.EnqueueDelivery{ID: sessions.DeliveryID(text), Kind: sessions.Posted,
				Session: "agent:main:main", To: routertest.Direct("a"), Text: text, Expires: time.Now().Add(time.Hour)}}})
			if err != nil {
				t.Fatal(err)
			}
			return acc
		}
		says("older")
		gone, cancel := context.WithCancel(t.Context())
		g.Router.Committer.Uncertain.Store(true) // as unsure leaves it when the store fails
		newer := says("newer")
		cancel()
		g.Router.Committer.AfterCommit(gone, newer)
		if all := g.Shown(3); all[1].Out.Text != "older" || all[2].Out.Text != "newer" || g.Router.Committer.Uncertain.Load() {
			t.Errorf("%q, then %q; still in doubt: %t", all[1].Out.Text, all[2].Out.Text, g.Router.Committer.Uncertain.Load())
		}
	})
}

// TestDoubt: a write whose caller had gone away before it was begun raises no doubt. One that failed does, until the store says what waits.
func TestDoubt(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		var fails atomic.Bool
		g := routertest.NewWith(t, channeltest.Options{}, nil, func(s sessions.Store) sessions.Store { return failing{s, &fails} })
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := g.Router.Committer.Submit(gone, sessions.Change{IdempotencyKey: "untried"}); !errors.Is(err, context.Canceled) || g.Router.Committer.Uncertain.Load() {
			t.Errorf("nothing was written: %v, doubt %t", err, g.Router.Committer.Uncertain.Load())
		}
		fails.Store(true)
		if _, err := g.Router.Committer.Submit(t.Context(), sessions.Change{IdempotencyKey: "failed"}); err == nil || !g.Router.Committer.Uncertain.Load() {
			t.Errorf("it failed: %v, doubt %t", err, g.Router.Committer.Uncertain.Load())
		}
		g.Router.Committer.AfterCommit(t.Context(), sessions.Accepted{}) // another write has worked, but what waits is not known
		if !g.Router.Committer.Uncertain.Load() {
			t.Error("the doubt is forgotten although nobody could look")
		}
		fails.Store(false)
		if _, err := g.Router.Committer.Submit(t.Context(), sessions.Change{IdempotencyKey: "works"}); err != nil || g.Router.Committer.Uncertain.Load() {
			t.Errorf("it works: %v, doubt %t", err, g.Router.Committer.Uncertain.Load())
		}
	})
}

// failing is a store in which nothing works for a time.
type failing struct {
	sessions.Store
	now *atomic.Bool
}

func (f failing) Submit(ctx context.Context, e sessions.Change) (sessions.Accepted, error) {
	if f.now.Load() {
		return sessions.Accepted{}, errors.New("disk I/O error")
	}
	return f.Store.Submit(ctx, e)
}

func (f failing) Due(ctx context.Context, limit int, after int64) ([]sessions.Delivery, error) {
	if f.now.Load() {
		return nil, errors.New("disk I/O error")
	}
	return f.Store.Due(ctx, limit, after)
}
