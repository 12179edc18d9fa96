package delivery_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/channels/channeltest"
	"parley/policy"
	"parley/router/routertest"
	"parley/router/settings"
	"parley/sessions"
)

// The commit happened and its answer did not arrive, as when a connection to PostgreSQL breaks during COMMIT.
func TestCommitWhoseAnswerIsLost(t *testing.T) {
	for _, op := range []string{"Accept", "Claim", "Record", "Finish", "Finish+begin", "PutPairing", "BeginSend", "PartSent+fake"} {
		t.Run(op, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				var once atomic.Bool
				g := routertest.NewWith(t, channeltest.Options{}, func(o, phase string) {
					if o == op && phase == "after-commit" && once.CompareAndSwap(false, true) {
						panic("connection lost")
					}
				}, nil, routertest.EachAlone, func(s *settings.Snapshot) {
					a := s.Accounts[routertest.Account]
					switch op {
					case "PutPairing":
						a.Access = policy.Access{DMPolicy: policy.DMPairing}
					case "Finish", "BeginSend": // the answer waits for its turn behind that to a command
						a.Pacing.PerChatPerSecond = 0.1
					}
					s.Accounts[routertest.Account] = a
				})
				g.Model.Set(func(_ context.Context, p agent.Prompt) (agent.Answer, error) {
					if routertest.Last(p).Role != sessions.ToolResult {
						return routertest.Call("c1", "session_status", map[string]any{}), nil
					}
					return routertest.Text("done"), nil
				})
				want := 1
				switch op {
				case "Finish", "BeginSend":
					g.Say(routertest.Direct("a"), routertest.Guest, "/help")
					g.Shown(1)
					want++
				case "Claim": // the commit that queues the first one claims it, too
					g.Say(routertest.Direct("a"), routertest.Guest, "two")
					want++
				}
				g.Say(routertest.Direct("a"), routertest.Guest, "one")
				<-time.After(50 * time.Minute)
				synctest.Wait()
				if !once.Load() {
					t.Errorf("no commit of %s", op)
				}
				if n := len(g.Fake.Shown(channels.Address{})); n != want {
					for _, d := range g.Deliveries() {
						t.Logf("delivery %s %s", d.Kind, d.State)
					}
					runs, _ := g.Store.ListRuns(t.Context(), sessions.RunQuery{})
					for _, r := range runs {
						t.Logf("run %s", r.Status)
					}
					t.Errorf("%d messages shown after 50 minutes", n)
				}
			})
		})
	}
}

func TestGrantedEndsWithTheNextDeny(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		to := routertest.Group("g")
		g.Fake.Script(channeltest.Step{Err: &channels.Error{Class: channels.Limited, RetryAfter: 100 * time.Second, Err: errors.New("x")}})
		g.Say(to, routertest.Owner, "/send on")
		g.Until("tried", func() bool { return len(g.Fake.Calls(channeltest.OpSend)) == 1 })
		synctest.Wait()
		deny := policy.Deny
		if _, err := g.Router.Patch(t.Context(), "agent:main:fake:group:g", sessions.Patch{SendPolicy: &deny}); err != nil {
			t.Fatal(err)
		}
		n := len(g.Fake.Calls(channeltest.OpSend))
		<-time.After(10 * time.Minute)
		synctest.Wait()
		if m := len(g.Fake.Calls(channeltest.OpSend)); m != n {
			t.Errorf("%d calls after an acknowledged deny: %q", m-n, g.Fake.Calls(channeltest.OpSend)[n].Out.Text)
		}
	})
}

func TestMovedChatMeetsItsOwnRules(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, routertest.EachAlone, func(s *settings.Snapshot) {
			s.Session.SendPolicy.Rules = []policy.SendRule{{Action: policy.Deny, Match: policy.SendMatch{To: "new"}}}
		})
		hold := make(chan struct{})
		g.Fake.Script(channeltest.Step{Chat: "old", Wait: hold, Err: &channels.Error{Class: channels.Transient, Moved: "new", Err: errors.New("x")}})
		g.Say(routertest.Group("old"), routertest.Guest, "one")
		g.Say(routertest.Group("old"), routertest.Guest, "two")
		g.Until("two", func() bool { return len(g.Deliveries()) == 2 })
		close(hold)
		<-time.After(10 * time.Minute)
		synctest.Wait()
		for _, c := range g.Fake.Shown(channels.Address{}) {
			t.Errorf("sent to %s in spite of deny to new: %q", c.To, c.Out.Text)
		}
	})
}

func TestAmbiguousSendsAreBounded(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		g.Fake.Script(channeltest.Step{Err: routertest.Class(channels.Ambiguous), Arrives: true, Times: -1})
		g.Say(routertest.Direct("a"), routertest.Guest, "one")
		<-time.After(2 * time.Hour)
		synctest.Wait()
		if n := len(g.Fake.Shown(channels.Address{})); n > 3 {
			t.Errorf("the chat shows the answer %d times", n)
		}
	})
}

func TestLimitsChangeBetweenParts(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		chunk := func(n int) *settings.Snapshot {
			return routertest.SettingsFor(func(s *settings.Snapshot) {
				a := s.Accounts[routertest.Account]
				a.Chunk = n
				s.Accounts[routertest.Account] = a
			})
		}
		for _, c := range [][2]int{{200, 1000}, {200, 100}} {
			g := routertest.New(t, channeltest.Options{}, func(s *settings.Snapshot) { *s = *chunk(c[0]) })
			var words []string
			for i := range 60 {
				words = append(words, fmt.Sprintf("w%03d", i))
			}
			g.Model.Set(func(context.Context, agent.Prompt) (agent.Answer, error) {
				return routertest.Text(strings.Join(words, " ")), nil
			})
			hold := make(chan struct{})
			g.Fake.Script(channeltest.Step{Wait: hold})
			g.Say(routertest.Direct("a"), routertest.Guest, "one")
			g.Until("first", func() bool { d := g.Deliveries(); return len(d) == 1 && d[0].State == sessions.Sending })
			go func() { _ = g.Router.Apply(t.Context(), chunk(c[1])) }()
			synctest.Wait()
			close(hold)
			g.Until("final", func() bool { return g.Deliveries()[0].State.Final() })
			all := strings.Join(g.Fake.Texts(channels.Address{}), " ")
			if all != strings.Join(words, " ") {
				t.Errorf("%v: state %s %q, shown %d words of %d", c, g.Deliveries()[0].State, g.Deliveries()[0].Error, len(strings.Fields(all)), len(words))
			}
			g.Stop()
		}
	})
}

func TestDetachedWhilePaced(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, routertest.EachAlone, func(s *settings.Snapshot) {
			a := s.Accounts[routertest.Account]
			a.Pacing = channels.Pacing{PerGroupPerMinute: 1}
			s.Accounts[routertest.Account] = a
		})
		g.Say(routertest.Group("g"), routertest.Guest, "one")
		g.Say(routertest.Group("g"), routertest.Guest, "two")
		g.Shown(1)
		g.Until("two", func() bool { return len(g.Deliveries()) == 2 })
		g.Router.Attach(routertest.Account, nil)
		n := len(g.Fake.Calls(channeltest.OpSend))
		<-time.After(10 * time.Minute)
		synctest.Wait()
		if m := len(g.Fake.Calls(channeltest.OpSend)); m != n {
			t.Errorf("%d sends on a detached channel", m-n)
		}
	})
}

func TestRetryWhileEnding(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		var g *routertest.Rig
		var once atomic.Bool
		g = routertest.NewWith(t, channeltest.Options{}, nil, func(s sessions.Store) sessions.Store {
			return routertest.Slow{Store: s, OnEnd: func(id sessions.DeliveryID) {
				if once.CompareAndSwap(false, true) {
					if _, err := g.Router.RetryDelivery(t.Context(), id); err != nil {
						t.Error(err)
					}
				}
			}}
		})
		g.Fake.Script(channeltest.Step{Err: routertest.Class(channels.Rejected)})
		g.Say(routertest.Direct("a"), routertest.Guest, "one")
		<-time.After(50 * time.Minute)
		synctest.Wait()
		if d := g.Deliveries()[0]; d.State != sessions.Sent {
			t.Errorf("after a retry by hand it is %s for 50 minutes", d.State)
		}
	})
}

func TestRetryAfterHoldsTheWholeChat(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		g.Fake.Script(channeltest.Step{Err: &channels.Error{Class: channels.Limited, RetryAfter: 100 * time.Second, Err: errors.New("x")}},
			channeltest.Step{Delay: 5 * time.Second, Times: -1})
		a, b := routertest.Group("g"), routertest.Group("g")
		a.Thread, b.Thread = "1", "2"
		began := time.Now()
		g.Say(a, routertest.Guest, "one")
		g.Until("limited", func() bool { return len(g.Fake.Calls(channeltest.OpSend)) == 1 })
		g.Say(b, routertest.Guest, "two")
		g.Say(routertest.Group("g"), routertest.Guest, "three")
		for _, c := range g.Shown(3) {
			if d := c.At.Sub(began); d < 100*time.Second {
				t.Errorf("%s was called %s after the chat asked for 100 s", c.To, d)
			}
		}
		if o := g.Fake.Overlaps(); len(o) > 0 {
			t.Errorf("overlaps: %v", o)
		}
	})
}

func TestPairingNoticeMeetsKeyRules(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, func(s *settings.Snapshot) {
			a := s.Accounts[routertest.Account]
			a.Access = policy.Access{DMPolicy: policy.DMPairing}
			s.Accounts[routertest.Account] = a
			s.Session.SendPolicy.Rules = []policy.SendRule{{Action: policy.Deny, Match: policy.SendMatch{KeyPrefix: "fake:direct:"}}}
		})
		g.Say(routertest.Direct(routertest.Guest), routertest.Guest, "hello")
		<-time.After(time.Minute)
		synctest.Wait()
		if n := len(g.Fake.Calls(channeltest.OpSend)); n != 0 {
			t.Errorf("%d calls for a session that is denied", n)
		}
	})
}

func TestPanicInTyping(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		g.Router.Attach(routertest.Account, routertest.BadTyper{Fake: g.Fake})
		g.Model.Set(routertest.Slowly(10 * time.Second))
		g.Say(routertest.Direct("a"), routertest.Guest, "one")
		g.Shown(1)
	})
}

func TestDeniedTakesNoTurn(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, func(s *settings.Snapshot) {
			a := s.Accounts[routertest.Account]
			a.Pacing = channels.Pacing{PerSecond: 1}
			s.Accounts[routertest.Account] = a
			s.Session.SendPolicy.Rules = []policy.SendRule{{Action: policy.Deny, Match: policy.SendMatch{ChatType: channels.Group}}}
		})
		began := time.Now()
		for i := range 60 {
			g.Say(routertest.Group(fmt.Sprint("q", i)), routertest.Guest, "x")
		}
		g.Until("queued", func() bool { return len(g.Deliveries()) >= 60 })
		g.Say(routertest.Direct("a"), routertest.Guest, "one")
		c := g.Shown(1)[0]
		if d := c.At.Sub(began); d > 5*time.Second {
			t.Errorf("an answer waited %s behind messages that never leave", d)
		}
	})
}
