package delivery_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/channels/channeltest"
	"parley/policy"
	"parley/router/event"
	"parley/router/routertest"
	"parley/router/settings"
	"parley/sessions"
)

// posts has a text go to a chat that no turn has made.
func posts(g *routertest.Rig, d sessions.Delivery) {
	g.T.Helper()
	d.Kind, d.Text = sessions.Posted, "posted"
	if d.ID == "" {
		d.ID = "posted"
	}
	if _, err := g.Router.Committer.Submit(g.T.Context(), sessions.Change{Ops: []sessions.Op{sessions.EnqueueDelivery(d)}}); err != nil {
		g.T.Error(err)
	}
}

// answerLost has the answer to the first commit that ends a turn be lost.
func answerLost(then func()) func(op, phase string) {
	var once atomic.Bool
	return func(op, phase string) {
		if strings.HasPrefix(op, "Finish") && phase == "after-commit" && once.CompareAndSwap(false, true) {
			if then != nil {
				then()
			}
			panic("connection lost")
		}
	}
}

// TestBookedForOneTry: a turn whose end the store refuses again and again keeps neither its chat nor a flip of the policy waiting.
//
// proves: P7
func TestBookedForOneTry(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		g.Model.Set(func(context.Context, agent.Prompt) (agent.Answer, error) {
			db, err := sql.Open("sqlite", filepath.Join(g.Dir, "parley.db"))
			if err == nil {
				_, err = db.Exec("UPDATE sessions SET usage = '{'") // its row cannot be read from now on
			}
			routertest.Check(t, err)
			routertest.Check(t, db.Close())
			return routertest.Text("done"), nil
		})
		g.Say(routertest.Direct("a"), routertest.Guest, "hello")
		<-time.After(time.Minute)
		posts(g, sessions.Delivery{To: routertest.Direct("a")})
		<-time.After(time.Minute)
		if got := g.Fake.Texts(routertest.Direct("a")); !slices.Equal(got, []string{"posted"}) {
			t.Errorf("the chat shows %q", got)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := g.Router.Apply(ctx, routertest.SettingsFor()); err != nil {
			t.Error(err)
		}
	})
}

// aroundLook is a store that has something happen in place of looking a delivery up.
type aroundLook struct {
	sessions.Store
	look func(sessions.DeliveryID) error
}

func (s aroundLook) GetDelivery(ctx context.Context, id sessions.DeliveryID) (sessions.Delivery, error) {
	if err := s.look(id); err != nil {
		return sessions.Delivery{}, err
	}
	return s.Store.GetDelivery(ctx, id)
}

// TestBegunAndLost loses the answer of the commit that ends a turn: its delivery is seen to its end as the commit has made it.
//
// proves: D4
func TestBegunAndLost(t *testing.T) {
	t.Run("behind another one", func(t *testing.T) {
		routertest.Bubble(t, func(t *testing.T) {
			var g *routertest.Rig
			var once sync.Once
			g = routertest.NewWith(t, channeltest.Options{}, answerLost(nil), func(s sessions.Store) sessions.Store {
				return aroundFinish{s, func() { once.Do(func() { posts(g, sessions.Delivery{To: routertest.Direct("a")}) }) }, nil}
			})
			g.Say(routertest.Direct("a"), routertest.Guest, "hello")
			g.Ended(2)
			if got, want := g.Fake.Texts(routertest.Direct("a")), []string{"posted", "echo: hello"}; !slices.Equal(got, want) {
				t.Errorf("%q, want %q", got, want)
			}
		})
	})
	t.Run("withheld, and those who watch are told", func(t *testing.T) {
		routertest.Bubble(t, func(t *testing.T) {
			g := routertest.NewWith(t, channeltest.Options{}, answerLost(nil), nil, func(s *settings.Snapshot) { s.Session.SendPolicy.Default = policy.Deny })
			events, cancel := g.Router.Watch(event.Filter{Kinds: []string{event.KindDelivery}})
			defer cancel()
			g.Say(routertest.Direct("a"), routertest.Guest, "hello")
			g.Ended(1)
			<-time.After(time.Minute) // the turn is ended once more before
			if n := countEvents(events); n != 1 {
				t.Errorf("told %d times", n)
			}
		})
	})
	t.Run("and the host stops", func(t *testing.T) {
		routertest.Bubble(t, func(t *testing.T) {
			var g *routertest.Rig
			g = routertest.NewWith(t, channeltest.Options{}, answerLost(func() { g.End() }), nil, held)
			g.Say(routertest.Direct("a"), routertest.Guest, "hello")
			g.Until("its turn is over", func() bool { return len(g.Runs()) == 1 && g.Runs()[0].Status == sessions.Done })
			g.Stop()
			g.Start()
			g.WantOnce()
		})
	})
	t.Run("and the store cannot be read for a while", func(t *testing.T) {
		routertest.Bubble(t, func(t *testing.T) {
			var looks atomic.Int64
			g := routertest.NewWith(t, channeltest.Options{}, answerLost(nil), func(s sessions.Store) sessions.Store {
				return aroundLook{s, func(sessions.DeliveryID) error {
					if looks.Add(1) < 4 {
						return errors.New("no descriptors left")
					}
					return nil
				}}
			}, held)
			g.Say(routertest.Direct("a"), routertest.Guest, "hello")
			g.WantOnce()
		})
	})
}

// TestBookedAndPaced: what was booked leaves at the pace of its account, however long its commit takes; what does not leave takes no turn of others.
func TestBookedAndPaced(t *testing.T) {
	slowly := func(perSecond float64) func(*settings.Snapshot) {
		return func(s *settings.Snapshot) {
			a := s.Accounts[routertest.Account]
			a.Pacing = channels.Pacing{PerSecond: perSecond}
			s.Accounts[routertest.Account] = a
		}
	}
	t.Run("the store stands still", func(t *testing.T) {
		routertest.Bubble(t, func(t *testing.T) {
			release := make(chan struct{})
			g := routertest.NewWith(t, channeltest.Options{}, nil, func(s sessions.Store) sessions.Store {
				return aroundFinish{s, func() { <-release }, nil}
			}, routertest.EachAlone, slowly(1))
			for i := range 10 {
				g.Say(routertest.Direct(fmt.Sprint("c", i)), fmt.Sprint("40", i), "hello")
				<-time.After(2 * time.Second)
			}
			close(release)
			began := time.Now()
			g.Shown(10)
			if took := time.Since(began); took < 8900*time.Millisecond {
				t.Errorf("10 messages left within %s, 1 a second may", took)
			}
			for _, d := range g.Ended(10) {
				if d.Repeat || d.Ambiguous {
					t.Errorf("marked: %+v", d)
				}
			}
		})
	})
	t.Run("withheld", func(t *testing.T) {
		routertest.Bubble(t, func(t *testing.T) {
			g := routertest.New(t, channeltest.Options{}, routertest.EachAlone, slowly(0.1), func(s *settings.Snapshot) {
				s.Session.SendPolicy = policy.SendPolicy{Default: policy.Allow, Rules: []policy.SendRule{{Match: policy.SendMatch{To: "b"}, Action: policy.Deny}}}
			})
			g.Say(routertest.Direct("b"), "3003", "denied")
			g.Ended(1)
			began := time.Now()
			g.Say(routertest.Direct("a"), routertest.Guest, "hello")
			g.Shown(1)
			if took := time.Since(began); took > time.Second {
				t.Errorf("it took %s", took)
			}
		})
	})
}

// TestBookedInAChatThatMoves: a group gets a new id right behind the commit that ends a turn there, while something that is refused for now waits
// under the old one. Who denies the session does not wait for that.
//
// proves: P7
func TestBookedInAChatThatMoves(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		old, now := routertest.Group("-5"), routertest.Group("-1005")
		hold := make(chan struct{})
		var armed atomic.Bool
		g := routertest.NewWith(t, channeltest.Options{}, nil, func(s sessions.Store) sessions.Store {
			return aroundFinish{s, nil, func() {
				if armed.CompareAndSwap(true, false) {
					<-hold
				}
			}}
		}, routertest.EachAlone)
		g.Fake.Script(channeltest.Step{Err: &channels.Error{Class: channels.Transient, Err: context.DeadlineExceeded}, Times: -1})
		posts(g, sessions.Delivery{To: old, Expires: time.Now().Add(24 * time.Hour)})
		<-time.After(time.Second)
		armed.Store(true)
		g.Say(now, routertest.Guest, "hello")
		<-time.After(time.Second)
		g.Happens(channels.Inbound{Event: channels.Moved, Address: old, MovedTo: now.Chat})
		<-time.After(time.Second)
		close(hold)
		<-time.After(time.Second)
		runs := g.Runs()
		at := slices.IndexFunc(runs, func(r sessions.Run) bool { return strings.Contains(string(r.Key), "1005") })
		if at < 0 {
			t.Fatal("no turn in the new chat")
		}
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Hour)
		defer cancel()
		if _, err := g.Router.Patch(ctx, runs[at].Key, sessions.Patch{SendPolicy: new(policy.Deny)}); err != nil || time.Since(began) > time.Minute {
			t.Errorf("the flip took %s: %v", time.Since(began), err)
		}
	})
}

// TestMostBooked: where many turns end at once, the others begin to send in a commit of their own. What waits for hours is not on its way.
func TestMostBooked(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		var made routertest.Commits
		release := make(chan struct{})
		g := routertest.NewWith(t, channeltest.Options{}, made.Trace, func(s sessions.Store) sessions.Store {
			return aroundFinish{s, func() { <-release }, nil}
		})
		for i := range 20 {
			posts(g, sessions.Delivery{ID: sessions.DeliveryID(fmt.Sprint("p", i)), To: routertest.Direct(fmt.Sprint("o", i)), NotBefore: time.Now().Add(20 * time.Hour)})
		}
		for i := range mostBooked + 3 {
			g.Say(routertest.Direct(fmt.Sprint("c", i)), fmt.Sprint("40", i), "hello")
		}
		synctest.Wait()
		close(release)
		g.Shown(mostBooked + 3)
		if n := len(made.Of("Finish+begin")); n != mostBooked {
			t.Errorf("%d began with their end, %d may", n, mostBooked)
		}
		g.Say(routertest.Direct("a"), routertest.Guest, "hello")
		g.Shown(mostBooked + 4)
		if n := len(made.Of("Finish+begin")); n != mostBooked+1 {
			t.Error("one that is alone does not begin with its end")
		}
	})
}

// TestPutBackByOne loses the answer to the commit that puts a delivery back, and has the gate look for what waits right then: nobody else takes it up.
//
// proves: D4
func TestPutBackByOne(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		var g *routertest.Rig
		var once atomic.Bool
		lose := answerLost(nil)
		g = routertest.NewWith(t, channeltest.Options{}, func(op, phase string) {
			if op == "Retry" && phase == "after-commit" && once.CompareAndSwap(false, true) {
				routertest.Check(t, g.Router.Gate.Refill(t.Context()))
				panic("connection lost")
			}
			lose(op, phase)
		}, nil)
		slow := make(chan struct{})
		time.AfterFunc(10*time.Second, func() { close(slow) })
		g.Fake.Script(channeltest.Step{Wait: slow})
		g.Say(routertest.Direct("a"), routertest.Guest, "hello")
		<-time.After(5 * time.Minute)
		g.WantOnce()
		if !once.Load() {
			t.Error("nothing was put back")
		}
	})
}

// countEvents counts what has happened until nothing does any more.
func countEvents(events <-chan event.Event) (n int) {
	for {
		synctest.Wait()
		select {
		case <-events:
			n++
		default:
			return n
		}
	}
}
