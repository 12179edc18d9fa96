package router

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
	"parley/sessions"
)

// ended waits until there are n deliveries, all of them final.
func (g *rig) ended(n int) []sessions.Delivery {
	g.t.Helper()
	var list []sessions.Delivery
	g.until(fmt.Sprintf("%d final deliveries", n), func() bool {
		list = g.deliveries()
		return len(list) == n && !slices.ContainsFunc(list, func(d sessions.Delivery) bool { return !d.State.Final() })
	})
	return list
}

func paced(p channels.Pacing) func(*Settings) {
	return func(s *Settings) { a := s.Accounts[account]; a.Pacing = p; s.Accounts[account] = a }
}

func TestPacingFollowsTheSettings(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{}, eachAlone)
		n := 0
		took := func() time.Duration {
			for range 4 {
				g.say(direct("a"), guest, "hello")
			}
			n += 4
			calls := g.shown(n)
			return calls[n-1].At.Sub(calls[n-4].At)
		}
		free := took()
		if err := g.r.Apply(t.Context(), settingsFor(eachAlone, paced(channels.Pacing{PerChatPerSecond: 0.1}))); err != nil {
			t.Fatal(err)
		}
		slow := took()
		if err := g.r.Apply(t.Context(), settingsFor(eachAlone, paced(channels.Pacing{PerSecond: 1}))); err != nil {
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
			bubble(t, func(t *testing.T) {
				g := newRig(t, channeltest.Options{Limits: channels.Limits{Text: c.platform}}, func(s *Settings) {
					a := s.Accounts[account]
					a.Chunk = c.chunk
					s.Accounts[account] = a
				})
				in := g.say(groupChat("g"), guest, strings.TrimSpace(strings.Repeat("word ", 60)))
				d := g.ended(1)[0]
				calls := g.fake.Calls(channeltest.OpSend)
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
			bubble(t, func(t *testing.T) {
				g := newRig(t, channeltest.Options{})
				g.fake.Script(channeltest.Step{Err: class(c.class), Times: len(c.least)})
				g.say(direct("a"), guest, "hello")
				if d := g.ended(1)[0]; d.State != sessions.Sent || d.Repeat {
					t.Errorf("%s, repeat %t: %s", d.State, d.Repeat, d.Error)
				}
				calls := g.fake.Calls(channeltest.OpSend)
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
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{})
		g.fake.Script(channeltest.Step{Err: &channels.Error{Class: channels.Limited, RetryAfter: 3 * time.Hour, Err: errors.New("x")}})
		g.say(direct("a"), guest, "hello")
		<-time.After(61 * time.Minute)
		if d := g.deliveries()[0]; d.State != sessions.Expired {
			t.Errorf("61 minutes after it was made it is %s", d.State)
		}
	})
}

// finder is a channel that can say whether a message arrived.
type finder struct {
	*channeltest.Fake
	asked *[]channels.Outbound
	there bool
	err   func(asked int) error // nil = it always says
}

func (f finder) Arrived(_ context.Context, out channels.Outbound) (channels.Receipt, bool, error) {
	*f.asked = append(*f.asked, out)
	if f.err == nil {
		return channels.Receipt{ID: "found"}, f.there, nil
	}
	return channels.Receipt{ID: "found"}, f.there, f.err(len(*f.asked))
}

// Whether a message arrived is asked again while the platform asks to wait, or is away, for some minutes.
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
		"may not be asked": {err: func(int) error { return class(channels.Rejected) }, calls: 2, repeat: true, asked: 1},
		"asks to wait, is away, and says yes": {there: true, err: func(n int) error {
			return []error{failure(channels.Limited, 40*time.Second), class(channels.Transient), nil}[n-1]
		}, calls: 1, asked: 3, within: 45 * time.Second},
		"asks to wait for long": {err: func(int) error {
			return failure(channels.Limited, time.Hour)
		}, calls: 2, repeat: true, asked: 1},
		"is away for long": {err: func(int) error { return class(channels.Transient) }, calls: 2, repeat: true, asked: 9, within: 5*time.Minute + 5*time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				g := newRig(t, channeltest.Options{})
				var asked []channels.Outbound
				g.r.Attach(account, finder{g.fake, &asked, c.there, c.err})
				g.fake.Script(channeltest.Step{Err: class(channels.Ambiguous)})
				g.say(direct("a"), guest, "hello")
				<-time.After(c.within)
				d := g.ended(1)[0]
				calls := g.fake.Calls(channeltest.OpSend)
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
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{})
		var asked []channels.Outbound
		g.r.Attach(account, finder{g.fake, &asked, false, func(int) error { return class(channels.Transient) }})
		g.fake.Script(channeltest.Step{Err: class(channels.Ambiguous)})
		g.say(direct("a"), guest, "hello")
		g.until("it is asked", func() bool { return len(asked) > 0 })
		began := time.Now()
		if err := g.r.Apply(t.Context(), g.r.Settings()); err != nil {
			t.Fatal(err)
		}
		for _, to := range []policy.Action{policy.Allow, policy.Deny} {
			if _, err := g.r.Patch(t.Context(), g.deliveries()[0].Session, sessions.Patch{SendPolicy: &to}); err != nil {
				t.Fatal(err)
			}
		}
		if took, n := time.Since(began), len(asked); took > time.Second {
			t.Errorf("they took %s, and it was asked %d times", took, n)
		} else if d := g.ended(1)[0]; d.State != sessions.Withheld || len(asked) != n {
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
			bubble(t, func(t *testing.T) {
				g := rigWith(t, channeltest.Options{}, nil, func(s sessions.Store) sessions.Store { return killed{s} }, func(s *Settings) { s.Delivery.Hold = c.hold })
				g.fake.Script(channeltest.Step{Wait: make(chan struct{})})
				g.say(direct("a"), guest, "one")
				g.until("it is on its way", func() bool { d := g.deliveries(); return len(d) == 1 && d[0].State == sessions.Sending })
				if c.deny {
					deny := policy.Deny
					if _, err := g.store.Patch(t.Context(), g.deliveries()[0].Session, sessions.Patch{SendPolicy: &deny}); err != nil {
						t.Fatal(err)
					}
				}
				g.stop()
				g.wrap = nil
				g.start()
				d := g.ended(1)[0]
				calls := g.fake.Calls(channeltest.OpSend)
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

func (s betweenParts) BeginSend(ctx context.Context, id sessions.DeliveryID, now time.Time, check func(sessions.Session) policy.Verdict, o sessions.Opening) (sessions.Delivery, error) {
	s.begun.Add(1)
	return sessions.Delivery{}, errors.New("the process is gone")
}

// A process that ends between two parts has sent one and begun no other: the rest follows, and nothing of it may have arrived before.
func TestFoundBetweenParts(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var begun atomic.Int32
		g := rigWith(t, channeltest.Options{}, nil, func(s sessions.Store) sessions.Store { return betweenParts{s, &begun} }, func(s *Settings) {
			s.Delivery.Hold = true
			a := s.Accounts[account]
			a.Chunk = 100
			s.Accounts[account] = a
		})
		long := strings.TrimSpace(strings.Repeat("words ", 25))
		g.say(direct("a"), guest, long)
		g.until("one part is there", func() bool { d := g.deliveries(); return len(d) == 1 && d[0].Part == 1 && begun.Load() > 0 })
		g.stop()
		g.wrap = nil
		g.start()
		if d := g.ended(1)[0]; d.State != sessions.Sent || d.Repeat || d.Doubts > 0 || strings.Join(g.fake.Texts(direct("a")), " ") != "echo: "+long {
			t.Errorf("%s, %s, repeat %t, %d doubts: %q", d.State, d.Error, d.Repeat, d.Doubts, g.fake.Texts(direct("a")))
		}
	})
}

func TestNothingToSend(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{})
		acc, err := g.r.Submit(t.Context(), sessions.Effects{Deliveries: []sessions.Delivery{
			{ID: "d1", Kind: sessions.Notice, To: direct("a"), Text: "\u200b", Expires: time.Now().Add(time.Hour)},
			{ID: "d2", Kind: sessions.Notice, To: direct("a"), Text: "words", Expires: time.Now().Add(time.Hour)}}})
		if err != nil || len(acc.Deliveries) != 2 {
			t.Fatal(acc, err)
		}
		d := g.ended(2)
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

func (s gone) BeginSend(ctx context.Context, id sessions.DeliveryID, now time.Time, check func(sessions.Session) policy.Verdict, o sessions.Opening) (sessions.Delivery, error) {
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
			bubble(t, func(t *testing.T) {
				n := 0
				g := rigWith(t, channeltest.Options{}, nil, func(s sessions.Store) sessions.Store { return gone{s, op, &n} })
				began := time.Now()
				for _, text := range []string{"one", "two"} {
					if _, err := g.r.Submit(t.Context(), sessions.Effects{Deliveries: []sessions.Delivery{{ID: sessions.DeliveryID(text), Kind: sessions.Notice,
						To: direct("a"), Text: text, Expires: time.Now().Add(time.Hour)}}}); err != nil {
						t.Fatal(err)
					}
				}
				g.until("the second one is shown", func() bool { return slices.Contains(g.fake.Texts(direct("a")), "two") })
				if took := time.Since(began); took > time.Second {
					t.Errorf("a missing row held the chat up for %s", took)
				}
			})
		})
	}
}
