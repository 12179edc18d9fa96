package router_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/channels/channeltest"
	"parley/router/routertest"
	"parley/router/settings"
	"parley/sessions"
	"parley/tools"
)

// byTheClock is a store whose times are those of a computer's clock that is set: the store below has the time of the bubble.
type byTheClock struct {
	sessions.Store
	c *setClock

	mu    sync.Mutex
	turns []turning
}

// turning is one setting of a clock.
type turning struct {
	at time.Time // of the bubble
	by time.Duration
}

// turn sets the clock.
func (s *byTheClock) turn(by time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turns = append(s.turns, turning{time.Now(), by})
	s.c.turn(by)
}

// off is how far the clock was ahead of the bubble at a time of the bubble.
func (s *byTheClock) off(at time.Time) (by time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, x := range s.turns {
		if !at.Before(x.at.Truncate(time.Millisecond)) { // as the store has times
			by += x.by
		}
	}
	return by
}

func (s *byTheClock) shown(at time.Time) time.Time {
	if at.IsZero() {
		return at
	}
	return at.Add(s.off(at))
}

func (s *byTheClock) run(r sessions.Run) sessions.Run {
	if !r.Deadline.IsZero() {
		r.Deadline = r.Deadline.Add(s.off(r.Started))
	}
	r.Created, r.Started, r.Ended = s.shown(r.Created), s.shown(r.Started), s.shown(r.Ended)
	return r
}

func (s *byTheClock) Get(ctx context.Context, ref sessions.Key) (sessions.Session, error) {
	x, err := s.Store.Get(ctx, ref)
	x.LastInput = s.shown(x.LastInput)
	return x, err
}

func (s *byTheClock) Claim(ctx context.Context, key sessions.Key) (sessions.Run, bool, error) {
	r, ok, err := s.Store.Claim(ctx, key)
	return s.run(r), ok, err
}

func (s *byTheClock) Accept(ctx context.Context, a sessions.Arrival) (sessions.Accepted, error) {
	acc, err := s.Store.Accept(ctx, a)
	return s.claimed(acc), err
}

func (s *byTheClock) Submit(ctx context.Context, e sessions.Change) (sessions.Accepted, error) {
	acc, err := s.Store.Submit(ctx, e)
	return s.claimed(acc), err
}

func (s *byTheClock) Finish(ctx context.Context, run sessions.RunID, o sessions.Outcome) (sessions.Accepted, error) {
	acc, err := s.Store.Finish(ctx, run, o)
	return s.claimed(acc), err
}

func (s *byTheClock) claimed(acc sessions.Accepted) sessions.Accepted {
	if acc.Claimed != nil {
		*acc.Claimed = s.run(*acc.Claimed)
	}
	return acc
}

func (s *byTheClock) GetRun(ctx context.Context, id sessions.RunID) (sessions.Run, error) {
	r, err := s.Store.GetRun(ctx, id)
	return s.run(r), err
}

func (s *byTheClock) ListRuns(ctx context.Context, q sessions.RunQuery) ([]sessions.Run, error) {
	list, err := s.Store.ListRuns(ctx, q)
	for i := range list {
		list[i] = s.run(list[i])
	}
	return list, err
}

func (s *byTheClock) CountByAgents(ctx context.Context, key sessions.Key, since time.Time, most int) (n int, err error) {
	list, err := s.ListRuns(ctx, sessions.RunQuery{Key: key, Limit: 1000})
	for _, r := range list {
		if r.Kind.ByAgent() && r.Created.After(since) && n < most {
			n++
		}
	}
	return n, err
}

// setRig is a rig whose router and store have the time of a clock that is set.
func setRig(t *testing.T, fs ...func(*settings.Snapshot)) (*routertest.Rig, *byTheClock) {
	t.Helper()
	s := &byTheClock{c: &setClock{}}
	g := &routertest.Rig{T: t, Dir: routertest.Folder(t), Settings: routertest.SettingsFor(fs...), Fake: channeltest.NewFake(channeltest.Options{}), Model: &routertest.Script{}, Clock: s.c.now, Wall: s.c.now,
		Wrap: func(below sessions.Store) sessions.Store { s.Store = below; return s }}
	g.Start()
	return g, s
}

// TestFaultClockReset sets the clock between two messages of a minute: the chat goes on. It starts over when its time has really come,
// and not years later.
func TestFaultClockReset(t *testing.T) {
	for name, turns := range clockTurns {
		for _, rule := range []sessions.ResetRule{{Mode: "daily", AtHour: 4}, {Mode: "idle", IdleMinutes: 40}} {
			t.Run(name+"/"+rule.Mode, func(t *testing.T) {
				routertest.Bubble(t, func(t *testing.T) {
					g, s := setRig(t, func(s *settings.Snapshot) { s.Session.Reset = rule })
					if rule.Mode == "daily" { // two minutes before the hour
						midnight := time.Date(2000, 1, 2, 0, 0, 0, 0, time.Local)
						<-time.After(time.Until(midnight.Add(3*time.Hour + 58*time.Minute)))
					}
					g.Say(routertest.Direct("a"), routertest.Guest, "one")
					g.Shown(1)
					was := g.Session(routertest.GuestKey).ID
					for i, by := range turns {
						<-time.After(time.Second)
						if rule.Mode == "idle" || by > 0 { // the day of a clock that is set back may begin once more, rightly
							s.turn(by)
						}
						<-time.After(time.Minute)
						if rule.Mode == "daily" && i > 0 {
							continue // the day may really begin
						}
						g.Say(routertest.Direct("a"), routertest.Guest, fmt.Sprint("message ", i))
						g.Until("it is answered", func() bool { return len(g.Deliveries()) == i+2 })
						if g.Session(routertest.GuestKey).ID != was {
							t.Fatalf("it starts over %s after the last message, the clock set by %s", time.Minute, by)
						}
					}
					later := 26 * time.Hour
					if rule.Mode == "idle" {
						later = 2 * time.Hour
					}
					<-time.After(later)
					g.Say(routertest.Direct("a"), routertest.Guest, "much later")
					synctest.Wait()
					if g.Session(routertest.GuestKey).ID == was {
						t.Errorf("%s later it does not start over", later)
					}
				})
			})
		}
	}
}

// TestFaultClockTurnsByAgents sets the clock when agents have had their turns of the hour: there are no more of them now, and an hour later
// there are.
//
// proves: S12
func TestFaultClockTurnsByAgents(t *testing.T) {
	const most = 3
	for name, turns := range clockTurns {
		t.Run(name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g, s := setRig(t, func(s *settings.Snapshot) {
					s.Session.AgentToAgent.MaxTurnsPerHour, s.Session.AgentToAgent.MaxPingPongTurns = most, 0
				})
				for _, chat := range []string{"a", "b"} {
					g.Say(routertest.Group(chat), routertest.Guest, "hello")
				}
				g.Idle(2)
				g.Model.Set(func(_ context.Context, p agent.Prompt) (agent.Answer, error) {
					switch newest := routertest.Last(p); {
					case strings.Contains(p.System, "announce step"):
						return routertest.Text("ANNOUNCE_SKIP"), nil
					case newest.Role == sessions.ToolResult:
						return routertest.Text("it says " + newest.Text()), nil
					case strings.Contains(newest.Text(), "ask b"):
						return routertest.Call(fmt.Sprint("c", len(p.Messages)), "sessions_send", map[string]any{"sessionKey": routertest.KeyB, "message": "how are you?", "timeoutSeconds": 0}), nil
					}
					return routertest.Text("fine"), nil
				})
				ask := func(want string) {
					t.Helper()
					n := len(g.Deliveries())
					g.Say(routertest.Group("a"), routertest.Guest, "ask b")
					g.Until("it is answered", func() bool { return len(g.Deliveries()) > n })
					synctest.Wait()
					list := g.Deliveries()
					if got := list[len(list)-1].Text; !strings.Contains(got, `"status":"`+want+`"`) {
						t.Fatalf("%s, want %s", got, want)
					}
				}
				for range most {
					ask("accepted")
				}
				for _, by := range turns {
					<-time.After(time.Minute)
					s.turn(by)
					ask("forbidden")
				}
				<-time.After(4 * time.Hour) // a clock that is set back shows an hour twice, and which of them it was cannot be told
				ask("accepted")
			})
		})
	}
}

// TestFaultClockMoreChildren sets the clock when a sub-agent has started as many of its own as it may in an hour.
//
// proves: S12
func TestFaultClockMoreChildren(t *testing.T) {
	for name, turns := range clockTurns {
		t.Run(name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g, s := setRig(t, func(s *settings.Snapshot) { s.Session.AgentToAgent.MaxTurnsPerHour = 2 })
				g.Say(routertest.Group("a"), routertest.Guest, "hello")
				g.Shown(1)
				for _, source := range []string{"1", "2"} {
					g.Spawn(tools.SpawnRequest{Source: source})
				}
				g.Idle(5)
				caller := tools.Caller{Session: g.Session(routertest.KeyA), Run: sessions.Run{Kind: sessions.ChildRun}}
				crowded := func(want bool) {
					t.Helper()
					if why, err := g.Router.ToolHost.Crowded(t.Context(), g.Router.Settings(), caller, 10); err != nil || (why != "") != want {
						t.Fatalf("refused: %q (%v), want %v", why, err, want)
					}
				}
				for _, by := range turns {
					<-time.After(time.Minute)
					s.turn(by)
					crowded(true)
				}
				<-time.After(4 * time.Hour) // as above
				crowded(false)
			})
		})
	}
}

// TestFaultClockFurtherTurns sets the clock while a sub-agent waits for its own: its further turn has what is left of its time, no less
// and no more.
//
// proves: N9
func TestFaultClockFurtherTurns(t *testing.T) {
	for name, turns := range clockTurns {
		for second, want := range map[time.Duration]sessions.RunStatus{20 * time.Minute: sessions.Done, 90 * time.Minute: sessions.TimedOut} {
			t.Run(fmt.Sprint(name, "/", want), func(t *testing.T) {
				routertest.Bubble(t, func(t *testing.T) {
					x := routertest.NewTree(t, 2)
					s := &byTheClock{c: &setClock{}}
					x.Stop()
					x.Clock, x.Wall, x.Wrap = s.c.now, s.c.now, func(below sessions.Store) sessions.Store { s.Store = below; return s }
					x.Start()
					x.Does("outer", func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
						if len(p.Messages) > 4 && !channels.Sleep(ctx, second) {
							return agent.Answer{}, ctx.Err()
						}
						return fails(routertest.Delegate("c1", "inner"))(ctx, p)
					})
					x.Does("inner", routertest.Slowly(30*time.Minute))
					began := time.Now()
					x.Spawn(tools.SpawnRequest{Source: "s", Task: "outer", Timeout: 3600})
					for _, by := range turns {
						<-time.After(time.Minute)
						s.turn(by)
					}
					<-time.After(62*time.Minute - time.Since(began))
					runs := x.Task("outer")
					took := min(30*time.Minute+second, time.Hour)
					if len(runs) < 4 || runs[2].Status != want || !around(runs[2].Ended.Sub(began), took) {
						t.Fatalf("%s, %s, ended after %s", routertest.Kinds(runs), runs[2].Status, runs[2].Ended.Sub(began))
					}
				})
			})
		}
	}
}

// TestFaultClockRuntime sets the clock while a sub-agent is working: its report says how long it really took.
//
// proves: N13
func TestFaultClockRuntime(t *testing.T) {
	for name, turns := range clockTurns {
		t.Run(name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g, s := setRig(t)
				g.Say(routertest.Group("a"), routertest.Guest, "hello")
				g.Shown(1)
				g.Model.Set(routertest.Child{Work: routertest.Slowly(30 * time.Minute)}.Answer)
				g.Spawn(tools.SpawnRequest{Source: "s"})
				for _, by := range turns {
					<-time.After(time.Minute)
					s.turn(by)
				}
				<-time.After(time.Hour)
				if list := g.Deliveries(); len(list) != 2 || !strings.Contains(list[1].Text, "runtime 30m0s") {
					t.Errorf("%+v", list)
				}
			})
		})
	}
}
