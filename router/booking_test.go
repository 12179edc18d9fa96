package router

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"parley/channels/channeltest"
	"parley/policy"
	"parley/sessions"
)

// aroundFinish is a store that has something happen right before and right after the commit that ends a run.
type aroundFinish struct {
	sessions.Store
	before, after func()
}

func (s aroundFinish) Finish(ctx context.Context, id sessions.RunID, o sessions.Outcome) (sessions.Accepted, error) {
	if s.before != nil {
		s.before()
	}
	acc, err := s.Store.Finish(ctx, id, o)
	if s.after != nil {
		s.after()
	}
	return acc, err
}

// held is an account of whose sends nobody knows whether they arrived, and whose owner wants to decide about those.
func held(s *Settings) { s.Delivery.Hold = true }

// wantOnce looks for one answer, sent once, of which nobody doubts that.
func (g *rig) wantOnce() {
	g.t.Helper()
	d := g.ended(1)[0]
	if d.State != sessions.Sent || d.Repeat || d.Unclear || len(g.fake.Calls(channeltest.OpSend)) != 1 {
		g.t.Errorf("%s %q, repeat %t, unclear %t, after %d calls", d.State, d.Error, d.Repeat, d.Unclear, len(g.fake.Calls(channeltest.OpSend)))
	}
}

// TestBegunWithItsEnd: the commit that ends a turn begins to send its answer where nothing else is on its way.
func TestBegunWithItsEnd(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var made commits
		g := rigWith(t, channeltest.Options{}, made.trace, nil)
		g.say(direct("a"), guest, "hello")
		g.wantOnce()
		if ops, want := made.of("Accept", "Claim", "Finish", "BeginSend", "PartSent"), []string{"Accept", "Finish+begin", "PartSent+fake"}; !slices.Equal(ops, want) {
			t.Errorf("commits %q, want %q", ops, want)
		}
	})
}

// TestBegunInItsTurn has another session post to a chat while the commit is under way that ends a turn there: what was made first comes
// first.
func TestBegunInItsTurn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var g *rig
		var once sync.Once
		g = rigWith(t, channeltest.Options{}, nil, func(s sessions.Store) sessions.Store {
			return aroundFinish{s, func() {
				once.Do(func() {
					e := sessions.Effects{Deliveries: []sessions.Delivery{{ID: "posted", Kind: sessions.Posted, To: direct("a"), Text: "posted"}}}
					if _, err := g.r.Submit(t.Context(), e); err != nil {
						t.Error(err)
					}
				})
			}, nil}
		})
		g.say(direct("a"), guest, "hello")
		g.ended(2)
		if got, want := g.fake.Texts(direct("a")), []string{"posted", "echo: hello"}; !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	})
}

// TestBegunAndNotTried ends the host, takes the account away, or loses the answer, behind the commit that begins to send and before anything
// is sent. Nobody wonders whether it arrived.
//
// proves: D4
func TestBegunAndNotTried(t *testing.T) {
	for name, c := range map[string]struct{ then, next func(g *rig) }{
		"the host stops":         {func(g *rig) { g.end() }, func(g *rig) { g.stop(); g.start() }},
		"the account is away":    {func(g *rig) { g.r.Attach(account, nil) }, func(g *rig) { g.r.Attach(account, g.fake.Full()) }},
		"the account is another": {func(g *rig) { g.r.Attach(account, g.fake.Full()) }, func(*rig) {}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				var g *rig
				var once sync.Once
				g = rigWith(t, channeltest.Options{}, nil, func(s sessions.Store) sessions.Store {
					return aroundFinish{s, nil, func() { once.Do(func() { c.then(g) }) }}
				}, held)
				g.say(direct("a"), guest, "hello")
				g.until("its turn is over", func() bool { return len(g.runs()) == 1 && g.runs()[0].Status == sessions.Done })
				c.next(g)
				g.wantOnce()
			})
		})
	}
	t.Run("the answer is lost", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			var once atomic.Bool
			g := rigWith(t, channeltest.Options{}, func(op, phase string) {
				if strings.HasPrefix(op, "Finish+begin") && phase == "after-commit" && once.CompareAndSwap(false, true) {
					panic("connection lost")
				}
			}, nil, held)
			g.say(direct("a"), guest, "hello")
			g.wantOnce()
		})
	})
}

// TestDeniedBeforeItBegins denies a session while the commit is under way that ends its turn. What comes of it does not leave, and who denied
// it waits until that is decided.
//
// proves: P4, P5, P7
func TestDeniedBeforeItBegins(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var g *rig
		var once sync.Once
		flipped := make(chan error, 1)
		early := true
		g = rigWith(t, channeltest.Options{}, nil, func(s sessions.Store) sessions.Store {
			return aroundFinish{s, func() {
				once.Do(func() {
					key := g.runs()[0].Key
					go func() {
						_, err := g.r.Patch(t.Context(), key, sessions.Patch{SendPolicy: new(policy.Deny)})
						flipped <- err
					}()
					<-time.After(time.Millisecond) // on virtual time that is when it is committed, and waits
					early = len(flipped) > 0 || g.session(key).Settings.SendPolicy != policy.Deny
				})
			}, nil}
		})
		g.say(direct("a"), guest, "hello")
		d := g.ended(1)[0]
		if d.State != sessions.Withheld || d.Attempt != 0 || d.Unclear || len(g.fake.Calls(channeltest.OpSend)) != 0 {
			t.Errorf("%s, %d attempts, %d calls", d.State, d.Attempt, len(g.fake.Calls(channeltest.OpSend)))
		}
		if err := <-flipped; err != nil || early {
			t.Errorf("the flip returned before what had begun was decided: %t, %v", early, err)
		}
	})
}

// TestWaitsForItsTurn: what cannot leave at once is not begun by the commit that makes it.
func TestWaitsForItsTurn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{}, held)
		one := func(d sessions.Delivery) *sessions.Outcome {
			d.ID, d.To = "d", direct("b")
			return &sessions.Outcome{Deliveries: []sessions.Delivery{d}}
		}
		two := one(sessions.Delivery{})
		two.Deliveries = append(two.Deliveries, two.Deliveries...)
		for name, out := range map[string]*sessions.Outcome{
			"nothing": {}, "several": two, "later": one(sessions.Delivery{NotBefore: g.r.ages.Now()}), "granted": one(sessions.Delivery{Granted: &policy.Verdict{}}),
		} {
			if b := g.r.gate.Reserve(out); b != nil || out.Begin != nil {
				t.Errorf("%s: booked", name)
				b.End(t.Context())
			}
		}
		release, _ := g.r.gate.Hold(g.r.gate.Outlets[account], "b")
		if out := one(sessions.Delivery{}); g.r.gate.Reserve(out) != nil {
			t.Error("booked a chat that shows a preview")
		}
		release()
		first, second := one(sessions.Delivery{}), one(sessions.Delivery{})
		b := g.r.gate.Reserve(first)
		if b == nil || first.Begin == nil || g.r.gate.Reserve(second) != nil {
			t.Error("a chat is booked by one at a time")
		}
		b.End(t.Context())
		b.End(t.Context())
		g.until("the chat is free again", func() bool {
			g.r.gate.Mu.Lock()
			defer g.r.gate.Mu.Unlock()
			return len(g.r.gate.Outlets[account].Queues) == 0 && len(g.r.gate.Known) == 0 && len(g.r.gate.Reserved) == 0
		})
		if len(g.r.gate.Flights.Keys()) > 0 {
			t.Error("a flight that does not land")
		}
		g.r.Attach(account, nil)
		if g.r.gate.Reserve(one(sessions.Delivery{})) != nil {
			t.Error("booked for an account that is away")
		}
	})
}
