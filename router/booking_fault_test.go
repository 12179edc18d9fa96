package router

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
	"parley/sessions"
)

// posts has a text go to a chat that no turn has made.
func (g *rig) posts(d sessions.Delivery) {
	g.t.Helper()
	d.Kind, d.Text = sessions.Posted, "posted"
	if d.ID == "" {
		d.ID = "posted"
	}
	if _, err := g.r.Submit(g.t.Context(), sessions.Effects{Deliveries: []sessions.Delivery{d}}); err != nil {
		g.t.Error(err)
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
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{})
		g.model.set(func(context.Context, agent.Prompt) (agent.Answer, error) {
			db, err := sql.Open("sqlite", filepath.Join(g.dir, "parley.db"))
			if err == nil {
				_, err = db.Exec("UPDATE sessions SET usage = '{'") // its row cannot be read from now on
			}
			check(t, err)
			check(t, db.Close())
			return text("done"), nil
		})
		g.say(direct("a"), guest, "hello")
		<-time.After(time.Minute)
		g.posts(sessions.Delivery{To: direct("a")})
		<-time.After(time.Minute)
		if got := g.fake.Texts(direct("a")); !slices.Equal(got, []string{"posted"}) {
			t.Errorf("the chat shows %q", got)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := g.r.Apply(ctx, settingsFor()); err != nil {
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
		bubble(t, func(t *testing.T) {
			var g *rig
			var once sync.Once
			g = rigWith(t, channeltest.Options{}, answerLost(nil), func(s sessions.Store) sessions.Store {
				return aroundFinish{s, func() { once.Do(func() { g.posts(sessions.Delivery{To: direct("a")}) }) }, nil}
			})
			g.say(direct("a"), guest, "hello")
			g.ended(2)
			if got, want := g.fake.Texts(direct("a")), []string{"posted", "echo: hello"}; !slices.Equal(got, want) {
				t.Errorf("%q, want %q", got, want)
			}
		})
	})
	t.Run("withheld, and those who watch are told", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			g := rigWith(t, channeltest.Options{}, answerLost(nil), nil, func(s *Settings) { s.Session.SendPolicy.Default = policy.Deny })
			events, cancel := g.r.Watch(Watching{Kinds: []string{EventDelivery}})
			defer cancel()
			g.say(direct("a"), guest, "hello")
			g.ended(1)
			<-time.After(time.Minute) // the turn is ended once more before
			if got := drainEvents(events); len(got) != 1 {
				t.Errorf("told %d times", len(got))
			}
		})
	})
	t.Run("and the host stops", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			var g *rig
			g = rigWith(t, channeltest.Options{}, answerLost(func() { g.end() }), nil, held)
			g.say(direct("a"), guest, "hello")
			g.until("its turn is over", func() bool { return len(g.runs()) == 1 && g.runs()[0].Status == sessions.Done })
			g.stop()
			g.start()
			g.wantOnce()
		})
	})
	t.Run("and the store cannot be read for a while", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			var looks atomic.Int64
			g := rigWith(t, channeltest.Options{}, answerLost(nil), func(s sessions.Store) sessions.Store {
				return aroundLook{s, func(sessions.DeliveryID) error {
					if looks.Add(1) < 4 {
						return errors.New("no descriptors left")
					}
					return nil
				}}
			}, held)
			g.say(direct("a"), guest, "hello")
			g.wantOnce()
		})
	})
}

// TestBookedAndPaced: what was booked leaves at the pace of its account, however long its commit takes; what does not leave takes no turn of others.
func TestBookedAndPaced(t *testing.T) {
	slowly := func(perSecond float64) func(*Settings) {
		return func(s *Settings) {
			a := s.Accounts[account]
			a.Pacing = channels.Pacing{PerSecond: perSecond}
			s.Accounts[account] = a
		}
	}
	t.Run("the store stands still", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			release := make(chan struct{})
			g := rigWith(t, channeltest.Options{}, nil, func(s sessions.Store) sessions.Store {
				return aroundFinish{s, func() { <-release }, nil}
			}, eachAlone, slowly(1))
			for i := range 10 {
				g.say(direct(fmt.Sprint("c", i)), fmt.Sprint("40", i), "hello")
				<-time.After(2 * time.Second)
			}
			close(release)
			began := time.Now()
			g.shown(10)
			if took := time.Since(began); took < 8900*time.Millisecond {
				t.Errorf("10 messages left within %s, 1 a second may", took)
			}
			for _, d := range g.ended(10) {
				if d.Repeat || d.Unclear {
					t.Errorf("marked: %+v", d)
				}
			}
		})
	})
	t.Run("withheld", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			g := newRig(t, channeltest.Options{}, eachAlone, slowly(0.1), func(s *Settings) {
				s.Session.SendPolicy = policy.SendPolicy{Default: policy.Allow, Rules: []policy.SendRule{{Match: policy.SendMatch{To: "b"}, Action: policy.Deny}}}
			})
			g.say(direct("b"), "3003", "denied")
			g.ended(1)
			began := time.Now()
			g.say(direct("a"), guest, "hello")
			g.shown(1)
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
	bubble(t, func(t *testing.T) {
		old, now := groupChat("-5"), groupChat("-1005")
		hold := make(chan struct{})
		var armed atomic.Bool
		g := rigWith(t, channeltest.Options{}, nil, func(s sessions.Store) sessions.Store {
			return aroundFinish{s, nil, func() {
				if armed.CompareAndSwap(true, false) {
					<-hold
				}
			}}
		}, eachAlone)
		g.fake.Script(channeltest.Step{Err: &channels.Error{Class: channels.Transient, Err: context.DeadlineExceeded}, Times: -1})
		g.posts(sessions.Delivery{To: old, Expires: time.Now().Add(24 * time.Hour)})
		<-time.After(time.Second)
		armed.Store(true)
		g.say(now, guest, "hello")
		<-time.After(time.Second)
		g.happens(channels.Inbound{Event: channels.Moved, Address: old, MovedTo: now.Chat})
		<-time.After(time.Second)
		close(hold)
		<-time.After(time.Second)
		runs := g.runs()
		at := slices.IndexFunc(runs, func(r sessions.Run) bool { return strings.Contains(string(r.Key), "1005") })
		if at < 0 {
			t.Fatal("no turn in the new chat")
		}
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Hour)
		defer cancel()
		if _, err := g.r.Patch(ctx, runs[at].Key, sessions.Patch{SendPolicy: new(policy.Deny)}); err != nil || time.Since(began) > time.Minute {
			t.Errorf("the flip took %s: %v", time.Since(began), err)
		}
	})
}

// TestMostBooked: where many turns end at once, the others begin to send in a commit of their own. What waits for hours is not on its way.
func TestMostBooked(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var made commits
		release := make(chan struct{})
		g := rigWith(t, channeltest.Options{}, made.trace, func(s sessions.Store) sessions.Store {
			return aroundFinish{s, func() { <-release }, nil}
		})
		for i := range 20 {
			g.posts(sessions.Delivery{ID: sessions.DeliveryID(fmt.Sprint("p", i)), To: direct(fmt.Sprint("o", i)), NotBefore: time.Now().Add(20 * time.Hour)})
		}
		for i := range mostBooked + 3 {
			g.say(direct(fmt.Sprint("c", i)), fmt.Sprint("40", i), "hello")
		}
		synctest.Wait()
		close(release)
		g.shown(mostBooked + 3)
		if n := len(made.of("Finish+begin")); n != mostBooked {
			t.Errorf("%d began with their end, %d may", n, mostBooked)
		}
		g.say(direct("a"), guest, "hello")
		g.shown(mostBooked + 4)
		if n := len(made.of("Finish+begin")); n != mostBooked+1 {
			t.Error("one that is alone does not begin with its end")
		}
	})
}

// TestBookedBesideMore: a chat is not booked while more waits in the store than the gate holds: some of it may be for that chat.
func TestBookedBesideMore(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{})
		out := &sessions.Outcome{Deliveries: []sessions.Delivery{{ID: "d", To: direct("b")}}}
		g.r.gate.Mu.Lock()
		g.r.gate.Overflow = true
		g.r.gate.Mu.Unlock()
		if b := g.r.gate.Reserve(out); b != nil {
			b.End(t.Context())
			t.Error("booked")
		}
	})
}

// TestPutBackByOne loses the answer to the commit that puts a delivery back, and has the gate look for what waits right then: nobody else takes it up.
//
// proves: D4
func TestPutBackByOne(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var g *rig
		var once atomic.Bool
		lose := answerLost(nil)
		g = rigWith(t, channeltest.Options{}, func(op, phase string) {
			if op == "Retry" && phase == "after-commit" && once.CompareAndSwap(false, true) {
				check(t, g.r.gate.Refill(t.Context()))
				panic("connection lost")
			}
			lose(op, phase)
		}, nil)
		slow := make(chan struct{})
		time.AfterFunc(10*time.Second, func() { close(slow) })
		g.fake.Script(channeltest.Step{Wait: slow})
		g.say(direct("a"), guest, "hello")
		<-time.After(5 * time.Minute)
		g.wantOnce()
		if !once.Load() {
			t.Error("nothing was put back")
		}
	})
}
