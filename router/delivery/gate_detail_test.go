package delivery_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"parley/channels"
	"parley/channels/channeltest"
	"parley/policy"
	"parley/router/routertest"
	"parley/router/settings"
	"parley/sessions"
)

func TestPacingFollowsTheSettings(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, routertest.EachAlone)
		n := 0
		took := func() time.Duration {
			for range 4 {
				g.Say(routertest.Direct("a"), routertest.Guest, "hello")
			}
			n += 4
			calls := g.Shown(n)
			return calls[n-1].At.Sub(calls[n-4].At)
		}
		free := took()
		if err := g.Router.Apply(t.Context(), routertest.SettingsFor(routertest.EachAlone, routertest.WithPacing(channels.Pacing{PerChatPerSecond: 0.1}))); err != nil {
			t.Fatal(err)
		}
		slow := took()
		if err := g.Router.Apply(t.Context(), routertest.SettingsFor(routertest.EachAlone, routertest.WithPacing(channels.Pacing{PerSecond: 1}))); err != nil {
			t.Fatal(err)
		}
		if fast := took(); free != 0 || slow < 30*time.Second || fast < 3*time.Second || fast > 5*time.Second {
			t.Errorf("four messages took %s without a limit, %s at one in ten seconds, %s at one in a second", free, slow, fast)
		}
	})
}

func TestPartsOfADelivery(t *testing.T) {
	for name, c := range map[string]struct{ platform, chunk, most int }{
		"chunk alone": {0, 80, 80}, "chunk below the platform's": {200, 80, 80}, "chunk above the platform's": {100, 500, 100},
	} {
		t.Run(name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g := routertest.New(t, channeltest.Options{Limits: channels.Limits{Text: c.platform}}, func(s *settings.Snapshot) {
					a := s.Accounts[routertest.Account]
					a.Chunk = c.chunk
					s.Accounts[routertest.Account] = a
				})
				in := g.Say(routertest.Group("g"), routertest.Guest, strings.TrimSpace(strings.Repeat("word ", 60)))
				d := g.Ended(1)[0]
				calls := g.Fake.Calls(channeltest.OpSend)
				keys := map[string]bool{}
				longest := 0
				for i, x := range calls {
					keys[x.Out.Key] = true
					longest = max(longest, len(x.Out.Text))
					if want := map[bool]channels.MessageID{true: in.ID}[i == 0]; x.Out.ReplyTo != want {
						t.Errorf("part %d answers %q, want %q", i, x.Out.ReplyTo, want)
					}
				}
				if len(calls) < 3 || longest > c.most || longest < c.most/2 {
					t.Errorf("%d parts, the longest has %d characters; at most %d", len(calls), longest, c.most)
				}
				if len(keys) != len(calls) || len(d.Receipts) != len(calls) || d.Part != len(calls) {
					t.Errorf("%d parts with %d keys, %d receipts, %d counted", len(calls), len(keys), len(d.Receipts), d.Part)
				}
			})
		})
	}
}

func TestWaitsBetweenTries(t *testing.T) {
	for name, c := range map[string]struct {
		class channels.Class
		least []time.Duration
	}{
		"unauthorized":                 {channels.Unauthorized, []time.Duration{time.Second / 2, time.Second, 2 * time.Second, 4 * time.Second}},
		"limited, no word of how long": {channels.Limited, []time.Duration{time.Second / 2, time.Second, 2 * time.Second, 4 * time.Second}},
		"transient":                    {channels.Transient, []time.Duration{time.Second / 2, time.Second, 2 * time.Second, 4 * time.Second}},
	} {
		t.Run(name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g := routertest.New(t, channeltest.Options{})
				g.Fake.Script(channeltest.Step{Err: routertest.Class(c.class), Times: len(c.least)})
				g.Say(routertest.Direct("a"), routertest.Guest, "hello")
				if d := g.Ended(1)[0]; d.State != sessions.Sent || d.Repeat {
					t.Errorf("%s, repeat %t: %s", d.State, d.Repeat, d.Error)
				}
				calls := g.Fake.Calls(channeltest.OpSend)
				if len(calls) != len(c.least)+1 {
					t.Fatalf("%d calls", len(calls))
				}
				for i, least := range c.least {
					if gap := calls[i+1].At.Sub(calls[i].At); gap < least || gap > 2*least+time.Second {
						t.Errorf("try %d came %s after the one before it, want at least %s", i+2, gap, least)
					}
				}
			})
		})
	}
}

func TestExpiresBeforeItsNextTry(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		g.Fake.Script(channeltest.Step{Err: &channels.Error{Class: channels.Limited, RetryAfter: 3 * time.Hour, Err: errors.New("x")}})
		g.Say(routertest.Direct("a"), routertest.Guest, "hello")
		<-time.After(61 * time.Minute)
		if d := g.Deliveries()[0]; d.State != sessions.Expired {
			t.Errorf("61 minutes after it was made it is %s", d.State)
		}
	})
}

// Whether a message arrived is asked again while the platform asks to wait, or is away, for some minutes.
//
// proves: D4
func TestReconciler(t *testing.T) {
	for name, c := range map[string]struct {
		there  bool
		err    func(asked int) error
		calls  int
		repeat bool
		asked  int
		within time.Duration
	}{
		"yes": {there: true, calls: 1, asked: 1}, "no": {calls: 2, asked: 1},
		"cannot say":       {err: func(int) error { return errors.New("scripted") }, calls: 2, repeat: true, asked: 1},
		"may not be asked": {err: func(int) error { return routertest.Class(channels.Rejected) }, calls: 2, repeat: true, asked: 1},
		"asks to wait, is away, and says yes": {there: true, err: func(n int) error {
			return []error{routertest.Failure(channels.Limited, 40*time.Second), routertest.Class(channels.Transient), nil}[n-1]
		}, calls: 1, asked: 3, within: 45 * time.Second},
		"asks to wait for long": {err: func(int) error {
			return routertest.Failure(channels.Limited, time.Hour)
		}, calls: 2, repeat: true, asked: 1},
		"is away for long": {err: func(int) error { return routertest.Class(channels.Transient) }, calls: 2, repeat: true, asked: 9, within: 5*time.Minute + 5*time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g := routertest.New(t, channeltest.Options{})
				var asked []channels.Outbound
				g.Router.Attach(routertest.Account, routertest.Finder{Fake: g.Fake, Asked: &asked, There: c.there, Err: c.err})
				g.Fake.Script(channeltest.Step{Err: routertest.Class(channels.Ambiguous)})
				g.Say(routertest.Direct("a"), routertest.Guest, "hello")
				<-time.After(c.within)
				d := g.Ended(1)[0]
				calls := g.Fake.Calls(channeltest.OpSend)
				if d.State != sessions.Sent || len(calls) != c.calls || d.Repeat != c.repeat || len(d.Receipts) != 1 {
					t.Fatalf("%s after %d calls, repeat %t, receipts %v", d.State, len(calls), d.Repeat, d.Receipts)
				}
				if len(asked) < c.asked || c.asked < 4 && len(asked) != c.asked || !reflect.DeepEqual(asked[0], calls[0].Out) || (d.Receipts[0].ID == "found") != c.there {
					t.Errorf("asked for %+v, receipt %s", asked, d.Receipts[0].ID)
				}
			})
		})
	}
}

// A policy changes, and a configuration is read, while it is asked for minutes whether a message arrived: neither waits for that. In a chat that is denied
// meanwhile nobody asks any more.
func TestFaultPolicyWhileAsking(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		var asked []channels.Outbound
		g.Router.Attach(routertest.Account, routertest.Finder{Fake: g.Fake, Asked: &asked, There: false, Err: func(int) error { return routertest.Class(channels.Transient) }})
		g.Fake.Script(channeltest.Step{Err: routertest.Class(channels.Ambiguous)})
		g.Say(routertest.Direct("a"), routertest.Guest, "hello")
		g.Until("it is asked", func() bool { return len(asked) > 0 })
		began := time.Now()
		if err := g.Router.Apply(t.Context(), g.Router.Settings()); err != nil {
			t.Fatal(err)
		}
		for _, to := range []policy.Action{policy.Allow, policy.Deny} {
			if _, err := g.Router.Patch(t.Context(), g.Deliveries()[0].Session, sessions.Patch{SendPolicy: &to}); err != nil {
				t.Fatal(err)
			}
		}
		if took, n := time.Since(began), len(asked); took > time.Second {
			t.Errorf("they took %s, and it was asked %d times", took, n)
		} else if d := g.Ended(1)[0]; d.State != sessions.Withheld || len(asked) != n {
			t.Errorf("%s, asked %d times, %d behind the deny", d.State, n, len(asked)-n)
		}
	})
}

// killed is a store whose process dies before what became of a send is written down.
type killed struct{ sessions.Store }

func (killed) Retry(context.Context, sessions.DeliveryID, time.Time, string, sessions.TryEnd) error {
	return errors.New("the process is gone")
}

func (killed) EndDelivery(context.Context, sessions.DeliveryID, sessions.DeliveryState, string) error {
	return errors.New("the process is gone")
}

// proves: P4
func TestFoundSendingAtStart(t *testing.T) {
	for name, c := range map[string]struct {
		hold, deny bool
		state      sessions.DeliveryState
		calls      int
		repeat     bool
	}{
		"sent again": {state: sessions.Sent, calls: 2, repeat: true}, "held": {hold: true, state: sessions.Held, calls: 1},
		"denied meanwhile": {deny: true, state: sessions.Withheld, calls: 1, repeat: true},
	} {
		t.Run(name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g := routertest.NewWith(t, channeltest.Options{}, nil, func(s sessions.Store) sessions.Store { return killed{s} }, func(s *settings.Snapshot) { s.Delivery.Hold = c.hold })
				g.Fake.Script(channeltest.Step{Wait: make(chan struct{})})
				g.Say(routertest.Direct("a"), routertest.Guest, "one")
				g.Until("it is on its way", func() bool { d := g.Deliveries(); return len(d) == 1 && d[0].State == sessions.Sending })
				if c.deny {
					deny := policy.Deny
					if _, err := g.Store.Patch(t.Context(), g.Deliveries()[0].Session, sessions.Patch{SendPolicy: &deny}); err != nil {
						t.Fatal(err)
					}
				}
				g.Stop()
				g.Wrap = nil
				g.Start()
				d := g.Ended(1)[0]
				calls := g.Fake.Calls(channeltest.OpSend)
				if d.State != c.state || len(calls) != c.calls || !c.deny && d.Repeat != c.repeat {
					t.Errorf("%s after %d calls, repeat %t (%s)", d.State, len(calls), d.Repeat, d.Error)
				}
				if len(calls) == 2 && !reflect.DeepEqual(calls[0].Out, calls[1].Out) {
					t.Errorf("sent again as %+v, was %+v", calls[1].Out, calls[0].Out)
				}
			})
		})
	}
}

// betweenParts is the store of a process that ends when the first part of a delivery, begun by the commit that made it, is there and the
// second is not begun.
type betweenParts struct {
	sessions.Store
	begun *atomic.Int32
}

func (s betweenParts) BeginSend(ctx context.Context, id sessions.DeliveryID, now time.Time, check func(sessions.Session) policy.Verdict, o sessions.FirstContactQuota) (sessions.Delivery, error) {
	s.begun.Add(1)
	return sessions.Delivery{}, errors.New("the process is gone")
}

// A process that ends between two parts has sent one and begun no other: the rest follows, and nothing of it may have arrived before.
func TestFoundBetweenParts(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		var begun atomic.Int32
		g := routertest.NewWith(t, channeltest.Options{}, nil, func(s sessions.Store) sessions.Store { return betweenParts{s, &begun} }, func(s *settings.Snapshot) {
			s.Delivery.Hold = true
			a := s.Accounts[routertest.Account]
			a.Chunk = 100
			s.Accounts[routertest.Account] = a
		})
		long := strings.TrimSpace(strings.Repeat("words ", 25))
		g.Say(routertest.Direct("a"), routertest.Guest, long)
		g.Until("one part is there", func() bool { d := g.Deliveries(); return len(d) == 1 && d[0].Part == 1 && begun.Load() > 0 })
		g.Stop()
		g.Wrap = nil
		g.Start()
		if d := g.Ended(1)[0]; d.State != sessions.Sent || d.Repeat || d.AmbiguousTries > 0 || strings.Join(g.Fake.Texts(routertest.Direct("a")), " ") != "echo: "+long {
			t.Errorf("%s, %s, repeat %t, %d doubts: %q", d.State, d.Error, d.Repeat, d.AmbiguousTries, g.Fake.Texts(routertest.Direct("a")))
		}
	})
}

func TestNothingToSend(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		acc, err := g.Router.Committer.Submit(t.Context(), sessions.Change{Ops: []sessions.Op{sessions.EnqueueDelivery{ID: "d1", Kind: sessions.Notice, To: routertest.Direct("a"), Text: "\u200b", Expires: time.Now().Add(time.Hour)}, sessions.EnqueueDelivery{ID: "d2", Kind: sessions.Notice, To: routertest.Direct("a"), Text: "words", Expires: time.Now().Add(time.Hour)}}})
		if err != nil || len(acc.Deliveries) != 2 {
			t.Fatal(acc, err)
		}
		d := g.Ended(2)
		if d[0].State != sessions.DeliveryFail || !strings.Contains(d[0].Error, "empty") || d[1].State != sessions.Sent {
			t.Errorf("%s (%s), %s", d[0].State, d[0].Error, d[1].State)
		}
	})
}

// gone is a store in which the row of one delivery is missing when an operation asks for it.
type gone struct {
	sessions.Store
	op string
	n  *int
}

func (s gone) BeginSend(ctx context.Context, id sessions.DeliveryID, now time.Time, check func(sessions.Session) policy.Verdict, o sessions.FirstContactQuota) (sessions.Delivery, error) {
	if *s.n++; s.op == "begin" && *s.n == 1 {
		return sessions.Delivery{}, fmt.Errorf("delivery %s: %w", id, sessions.ErrNotFound)
	}
	return s.Store.BeginSend(ctx, id, now, check, o)
}

func (s gone) PartSent(ctx context.Context, id sessions.DeliveryID, r channels.Receipt, last bool) error {
	if s.op == "receipt" && *s.n == 1 {
		return fmt.Errorf("delivery %s: %w", id, sessions.ErrNotFound)
	}
	return s.Store.PartSent(ctx, id, r, last)
}

func TestMissingRowStopsNoQueue(t *testing.T) {
	for _, op := range []string{"begin", "receipt"} {
		t.Run(op, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				n := 0
				g := routertest.NewWith(t, channeltest.Options{}, nil, func(s sessions.Store) sessions.Store { return gone{s, op, &n} })
				began := time.Now()
				for _, text := range []string{"one", "two"} {
					if _, err := g.Router.Committer.Submit(t.Context(), sessions.Change{Ops: []sessions.Op{sessions.EnqueueDelivery{ID: sessions.DeliveryID(text), Kind: sessions.Notice,
						To: routertest.Direct("a"), Text: text, Expires: time.Now().Add(time.Hour)}}}); err != nil {
						t.Fatal(err)
					}
				}
				g.Until("the second one is shown", func() bool { return slices.Contains(g.Fake.Texts(routertest.Direct("a")), "two") })
				if took := time.Since(began); took > time.Second {
					t.Errorf("a missing row held the chat up for %s", took)
				}
			})
		})
	}
}
