package router

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
	"parley/sessions"
)

// The commit happened and its answer did not arrive, as when a connection to PostgreSQL breaks during COMMIT.
func TestCommitWhoseAnswerIsLost(t *testing.T) {
	for _, op := range []string{"Accept", "Claim", "Record", "Finish", "Finish+begin", "PutPairing", "BeginSend", "PartSent+fake"} {
		t.Run(op, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				var once atomic.Bool
				g := rigWith(t, channeltest.Options{}, func(o, phase string) {
					if o == op && phase == "after-commit" && once.CompareAndSwap(false, true) {
						panic("connection lost")
					}
				}, nil, eachAlone, func(s *Settings) {
					a := s.Accounts[account]
					switch op {
					case "PutPairing":
						a.Access = policy.Access{DMPolicy: policy.DMPairing}
					case "Finish", "BeginSend": // the answer waits for its turn behind that to a command
						a.Pacing.PerChatPerSecond = 0.1
					}
					s.Accounts[account] = a
				})
				g.model.set(func(_ context.Context, p agent.Prompt) (agent.Answer, error) {
					if last(p).Role != sessions.ToolResult {
						return call("c1", "session_status", map[string]any{}), nil
					}
					return text("done"), nil
				})
				want := 1
				switch op {
				case "Finish", "BeginSend":
					g.say(direct("a"), guest, "/help")
					g.shown(1)
					want++
				case "Claim": // the commit that queues the first one claims it, too
					g.say(direct("a"), guest, "two")
					want++
				}
				g.say(direct("a"), guest, "one")
				<-time.After(50 * time.Minute)
				synctest.Wait()
				if !once.Load() {
					t.Errorf("no commit of %s", op)
				}
				if n := len(g.fake.Shown(channels.Address{})); n != want {
					for _, d := range g.deliveries() {
						t.Logf("delivery %s %s", d.Kind, d.State)
					}
					runs, _ := g.store.ListRuns(t.Context(), sessions.RunQuery{})
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
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{})
		to := groupChat("g")
		g.fake.Script(channeltest.Step{Err: &channels.Error{Class: channels.Limited, RetryAfter: 100 * time.Second, Err: errors.New("x")}})
		g.say(to, owner, "/send on")
		g.until("tried", func() bool { return len(g.fake.Calls(channeltest.OpSend)) == 1 })
		synctest.Wait()
		deny := policy.Deny
		if _, err := g.r.Patch(t.Context(), "agent:main:fake:group:g", sessions.Patch{SendPolicy: &deny}); err != nil {
			t.Fatal(err)
		}
		n := len(g.fake.Calls(channeltest.OpSend))
		<-time.After(10 * time.Minute)
		synctest.Wait()
		if m := len(g.fake.Calls(channeltest.OpSend)); m != n {
			t.Errorf("%d calls after an acknowledged deny: %q", m-n, g.fake.Calls(channeltest.OpSend)[n].Out.Text)
		}
	})
}

func TestMovedChatMeetsItsOwnRules(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{}, eachAlone, func(s *Settings) {
			s.Session.SendPolicy.Rules = []policy.SendRule{{Action: policy.Deny, Match: policy.SendMatch{To: "new"}}}
		})
		hold := make(chan struct{})
		g.fake.Script(channeltest.Step{Chat: "old", Wait: hold, Err: &channels.Error{Class: channels.Transient, Moved: "new", Err: errors.New("x")}})
		g.say(groupChat("old"), guest, "one")
		g.say(groupChat("old"), guest, "two")
		g.until("two", func() bool { return len(g.deliveries()) == 2 })
		close(hold)
		<-time.After(10 * time.Minute)
		synctest.Wait()
		for _, c := range g.fake.Shown(channels.Address{}) {
			t.Errorf("sent to %s in spite of deny to new: %q", c.To, c.Out.Text)
		}
	})
}

func TestAmbiguousSendsAreBounded(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{})
		g.fake.Script(channeltest.Step{Err: class(channels.Ambiguous), Arrives: true, Times: -1})
		g.say(direct("a"), guest, "one")
		<-time.After(2 * time.Hour)
		synctest.Wait()
		if n := len(g.fake.Shown(channels.Address{})); n > 3 {
			t.Errorf("the chat shows the answer %d times", n)
		}
	})
}

func TestLimitsChangeBetweenParts(t *testing.T) {
	bubble(t, func(t *testing.T) {
		chunk := func(n int) *Settings {
			return settingsFor(func(s *Settings) { a := s.Accounts[account]; a.Chunk = n; s.Accounts[account] = a })
		}
		for _, c := range [][2]int{{200, 1000}, {200, 100}} {
			g := newRig(t, channeltest.Options{}, func(s *Settings) { *s = *chunk(c[0]) })
			var words []string
			for i := range 60 {
				words = append(words, fmt.Sprintf("w%03d", i))
			}
			g.model.set(func(context.Context, agent.Prompt) (agent.Answer, error) { return text(strings.Join(words, " ")), nil })
			hold := make(chan struct{})
			g.fake.Script(channeltest.Step{Wait: hold})
			g.say(direct("a"), guest, "one")
			g.until("first", func() bool { d := g.deliveries(); return len(d) == 1 && d[0].State == sessions.Sending })
			go func() { _ = g.r.Apply(t.Context(), chunk(c[1])) }()
			synctest.Wait()
			close(hold)
			g.until("final", func() bool { return g.deliveries()[0].State.Final() })
			all := strings.Join(g.fake.Texts(channels.Address{}), " ")
			if all != strings.Join(words, " ") {
				t.Errorf("%v: state %s %q, shown %d words of %d", c, g.deliveries()[0].State, g.deliveries()[0].Error, len(strings.Fields(all)), len(words))
			}
			g.stop()
		}
	})
}

func TestDetachedWhilePaced(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{}, eachAlone, func(s *Settings) {
			a := s.Accounts[account]
			a.Pacing = channels.Pacing{PerGroupPerMinute: 1}
			s.Accounts[account] = a
		})
		g.say(groupChat("g"), guest, "one")
		g.say(groupChat("g"), guest, "two")
		g.shown(1)
		g.until("two", func() bool { return len(g.deliveries()) == 2 })
		g.r.Attach(account, nil)
		n := len(g.fake.Calls(channeltest.OpSend))
		<-time.After(10 * time.Minute)
		synctest.Wait()
		if m := len(g.fake.Calls(channeltest.OpSend)); m != n {
			t.Errorf("%d sends on a detached channel", m-n)
		}
	})
}

func TestRetryWhileEnding(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var g *rig
		var once atomic.Bool
		g = rigWith(t, channeltest.Options{}, nil, func(s sessions.Store) sessions.Store {
			return slow{Store: s, end: func(id sessions.DeliveryID) {
				if once.CompareAndSwap(false, true) {
					if _, err := g.r.RetryDelivery(t.Context(), id); err != nil {
						t.Error(err)
					}
				}
			}}
		})
		g.fake.Script(channeltest.Step{Err: class(channels.Rejected)})
		g.say(direct("a"), guest, "one")
		<-time.After(50 * time.Minute)
		synctest.Wait()
		if d := g.deliveries()[0]; d.State != sessions.Sent {
			t.Errorf("after a retry by hand it is %s for 50 minutes", d.State)
		}
	})
}

func TestRetryAfterHoldsTheWholeChat(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{})
		g.fake.Script(channeltest.Step{Err: &channels.Error{Class: channels.Limited, RetryAfter: 100 * time.Second, Err: errors.New("x")}},
			channeltest.Step{Delay: 5 * time.Second, Times: -1})
		a, b := groupChat("g"), groupChat("g")
		a.Thread, b.Thread = "1", "2"
		began := time.Now()
		g.say(a, guest, "one")
		g.until("limited", func() bool { return len(g.fake.Calls(channeltest.OpSend)) == 1 })
		g.say(b, guest, "two")
		g.say(groupChat("g"), guest, "three")
		for _, c := range g.shown(3) {
			if d := c.At.Sub(began); d < 100*time.Second {
				t.Errorf("%s was called %s after the chat asked for 100 s", c.To, d)
			}
		}
		if o := g.fake.Overlaps(); len(o) > 0 {
			t.Errorf("overlaps: %v", o)
		}
	})
}

func TestPairingNoticeMeetsKeyRules(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{}, func(s *Settings) {
			a := s.Accounts[account]
			a.Access = policy.Access{DMPolicy: policy.DMPairing}
			s.Accounts[account] = a
			s.Session.SendPolicy.Rules = []policy.SendRule{{Action: policy.Deny, Match: policy.SendMatch{KeyPrefix: "fake:direct:"}}}
		})
		g.say(direct(guest), guest, "hello")
		<-time.After(time.Minute)
		synctest.Wait()
		if n := len(g.fake.Calls(channeltest.OpSend)); n != 0 {
			t.Errorf("%d calls for a session that is denied", n)
		}
	})
}

func TestPanicInTyping(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{})
		g.r.Attach(account, badTyper{g.fake})
		g.model.set(slowly(10 * time.Second))
		g.say(direct("a"), guest, "one")
		g.shown(1)
	})
}

func TestDeniedTakesNoTurn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{}, func(s *Settings) {
			a := s.Accounts[account]
			a.Pacing = channels.Pacing{PerSecond: 1}
			s.Accounts[account] = a
			s.Session.SendPolicy.Rules = []policy.SendRule{{Action: policy.Deny, Match: policy.SendMatch{ChatType: channels.Group}}}
		})
		began := time.Now()
		for i := range 60 {
			g.say(groupChat(fmt.Sprint("q", i)), guest, "x")
		}
		g.until("queued", func() bool { return len(g.deliveries()) >= 60 })
		g.say(direct("a"), guest, "one")
		c := g.shown(1)[0]
		if d := c.At.Sub(began); d > 5*time.Second {
			t.Errorf("an answer waited %s behind messages that never leave", d)
		}
	})
}

func TestOverflowKeepsOrder(t *testing.T) {
	const most = 4
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{})
		g.r.gate.Mu.Lock()
		g.r.gate.Most = most
		g.r.gate.Mu.Unlock()
		hold, hold2 := make(chan struct{}), make(chan struct{})
		g.fake.Script(channeltest.Step{Chat: "q0", Wait: hold})
		for i := range most {
			if i > 0 {
				g.fake.Script(channeltest.Step{Chat: channels.ChatID(fmt.Sprint("q", i)), Wait: hold2})
			}
			g.say(direct(fmt.Sprint("q", i)), guest, "x")
		}
		g.until("full", func() bool { return len(g.deliveries()) == most })
		g.say(direct("a"), guest, "/whoami")
		g.until("full", func() bool { return len(g.deliveries()) == most+1 })
		close(hold)
		g.shown(1)
		g.say(direct("a"), guest, "/help")
		<-time.After(time.Minute)
		close(hold2)
		<-time.After(time.Minute)
		synctest.Wait()
		got := g.fake.Texts(direct("a"))
		if len(got) != 2 || !strings.Contains(got[0], "You are") {
			t.Errorf("order in the chat: %.60q", got)
		}
	})
}
