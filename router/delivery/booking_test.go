package delivery_test

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
	"parley/router/routertest"
	"parley/router/settings"
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

// held is an account of whose sends it is unknown whether they arrived, and whose owner wants to decide about those.
func held(s *settings.Snapshot) { s.Delivery.Hold = true }

// TestBegunWithItsEnd: the commit that ends a turn begins to send its answer where nothing else is on its way.
func TestBegunWithItsEnd(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		var made routertest.Commits
		g := routertest.NewWith(t, channeltest.Options{}, made.Trace, nil)
		g.Say(routertest.Direct("a"), routertest.Guest, "hello")
		g.WantOnce()
		if ops, want := made.Of("Accept", "Claim", "Finish", "BeginSend", "PartSent"), []string{"Accept", "Finish+begin", "PartSent+fake"}; !slices.Equal(ops, want) {
			t.Errorf("commits %q, want %q", ops, want)
		}
	})
}

// TestBegunInItsTurn has another session post to a chat while the commit is under way that ends a turn there: what was made first comes
// first.
func TestBegunInItsTurn(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		var g *routertest.Rig
		var once sync.Once
		g = routertest.NewWith(t, channeltest.Options{}, nil, func(s sessions.Store) sessions.Store {
			return aroundFinish{s, func() {
				once.Do(func() {
					e := sessions.Change{Ops: []sessions.Op{sessions.EnqueueDelivery{ID: "posted", Kind: sessions.Posted, To: routertest.Direct("a"), Text: "posted"}}}
					if _, err := g.Router.Committer.Submit(t.Context(), e); err != nil {
						t.Error(err)
					}
				})
			}, nil}
		})
		g.Say(routertest.Direct("a"), routertest.Guest, "hello")
		g.Ended(2)
		if got, want := g.Fake.Texts(routertest.Direct("a")), []string{"posted", "echo: hello"}; !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	})
}

// TestBegunAndNotTried ends the host, takes the account away, or loses the answer, behind the commit that begins to send and before anything
// is sent. Nobody wonders whether it arrived.
//
// proves: D4
func TestBegunAndNotTried(t *testing.T) {
	for name, c := range map[string]struct{ then, next func(g *routertest.Rig) }{
		"the host stops":         {func(g *routertest.Rig) { g.End() }, func(g *routertest.Rig) { g.Stop(); g.Start() }},
		"the account is away":    {func(g *routertest.Rig) { g.Router.Attach(routertest.Account, nil) }, func(g *routertest.Rig) { g.Router.Attach(routertest.Account, g.Fake.Full()) }},
		"the account is another": {func(g *routertest.Rig) { g.Router.Attach(routertest.Account, g.Fake.Full()) }, func(*routertest.Rig) {}},
	} {
		t.Run(name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				var g *routertest.Rig
				var once sync.Once
				g = routertest.NewWith(t, channeltest.Options{}, nil, func(s sessions.Store) sessions.Store {
					return aroundFinish{s, nil, func() { once.Do(func() { c.then(g) }) }}
				}, held)
				g.Say(routertest.Direct("a"), routertest.Guest, "hello")
				g.Until("its turn is over", func() bool { return len(g.Runs()) == 1 && g.Runs()[0].Status == sessions.Done })
				c.next(g)
				g.WantOnce()
			})
		})
	}
	t.Run("the answer is lost", func(t *testing.T) {
		routertest.Bubble(t, func(t *testing.T) {
			var once atomic.Bool
			g := routertest.NewWith(t, channeltest.Options{}, func(op, phase string) {
				if strings.HasPrefix(op, "Finish+begin") && phase == "after-commit" && once.CompareAndSwap(false, true) {
					panic("connection lost")
				}
			}, nil, held)
			g.Say(routertest.Direct("a"), routertest.Guest, "hello")
			g.WantOnce()
		})
	})
}

// TestDeniedBeforeItBegins denies a session while the commit is under way that ends its turn. What comes of it does not leave, and who denied
// it waits until that is decided.
//
// proves: P4, P5, P7
func TestDeniedBeforeItBegins(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		var g *routertest.Rig
		var once sync.Once
		flipped := make(chan error, 1)
		early := true
		g = routertest.NewWith(t, channeltest.Options{}, nil, func(s sessions.Store) sessions.Store {
			return aroundFinish{s, func() {
				once.Do(func() {
					key := g.Runs()[0].Key
					go func() {
						_, err := g.Router.Patch(t.Context(), key, sessions.Patch{SendPolicy: new(policy.Deny)})
						flipped <- err
					}()
					<-time.After(time.Millisecond) // on virtual time that is when it is committed, and waits
					early = len(flipped) > 0 || g.Session(key).Settings.SendPolicy != policy.Deny
				})
			}, nil}
		})
		g.Say(routertest.Direct("a"), routertest.Guest, "hello")
		d := g.Ended(1)[0]
		if d.State != sessions.Withheld || d.Attempt != 0 || d.Ambiguous || len(g.Fake.Calls(channeltest.OpSend)) != 0 {
			t.Errorf("%s, %d attempts, %d calls", d.State, d.Attempt, len(g.Fake.Calls(channeltest.OpSend)))
		}
		if err := <-flipped; err != nil || early {
			t.Errorf("the flip returned before what had begun was decided: %t, %v", early, err)
		}
	})
}
