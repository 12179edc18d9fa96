package router_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"parley/agent"
	"parley/channels/channeltest"
	"parley/router/routertest"
	"parley/router/settings"
	"parley/sessions"
)

// TestStopWherever stops a session wherever its work is: at once, for good, and with all that waits.
func TestStopWherever(t *testing.T) {
	waits := routertest.Call("c1", "sessions_send", map[string]any{"sessionKey": string(routertest.KeyB), "message": "hurry", "timeoutSeconds": 3600})
	for name, c := range map[string]struct {
		answer func(ctx context.Context, p agent.Prompt) (agent.Answer, error) // of the first call
		others int                                                             // messages behind the first one
		after  time.Duration                                                   // when it is stopped
		full   bool                                                            // another session has the only slot
	}{
		"in a model call":     {routertest.Slowly(time.Hour), 2, time.Minute, false},
		"in a tool":           {func(context.Context, agent.Prompt) (agent.Answer, error) { return waits, nil }, 2, time.Minute, false},
		"in the quiet time":   {routertest.Slowly(10 * time.Second), 2, 20 * time.Second, false},
		"before it has begun": {routertest.Slowly(time.Hour), 2, time.Minute, true},
	} {
		t.Run(name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g := routertest.New(t, channeltest.Options{}, routertest.WithQueue(sessions.Queue{DebounceMs: new(60_000)}), func(s *settings.Snapshot) {
					if c.full {
						s.Agents.Defaults.MaxConcurrent = 1
					}
				})
				g.Say(routertest.Group("b"), routertest.Guest, "hello")
				g.Shown(1)
				first := true
				g.Model.Set(func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
					if first {
						first = false
						return c.answer(ctx, p)
					}
					return routertest.Slowly(time.Hour)(ctx, p)
				})
				if c.full {
					g.Say(routertest.Group("b"), routertest.Guest, "work")
					g.Until("it is at work", func() bool { return g.Model.Count() == 2 })
				}
				began := time.Now()
				for i := range 1 + c.others {
					g.Say(routertest.Group("a"), routertest.Guest, fmt.Sprint("m", i))
					<-time.After(time.Second)
				}
				<-time.After(time.Until(began.Add(c.after)))
				asked := g.Model.Count()
				at := time.Now()
				g.Asks(routertest.Group("a"), routertest.Guest, "/stop")
				if took := time.Since(at); took > 100*time.Millisecond {
					t.Errorf("/stop took %s", took)
				}
				g.Until("all are ended", func() bool { return endedIn(g, routertest.KeyA) })
				if took := time.Since(at); took > 100*time.Millisecond {
					t.Errorf("the work ended after %s", took)
				}
				g.Stop()
				g.Start()
				<-time.After(10 * time.Minute)
				n := 0
				for _, r := range g.Runs() {
					if r.Key == routertest.KeyA && r.Status == sessions.Stopped && r.Error == "stopped by a person" && r.MergedInto == "" {
						n++
					}
				}
				want := 1 + c.others
				if name == "in the quiet time" {
					want-- // the first one was answered
				}
				if more := g.Model.Count() - asked; n != want || more > map[bool]int{true: 1}[c.full || name == "in a tool"] { // the other session's turn is resumed
					t.Errorf("%d runs are stopped, want %d; %d model calls afterwards", n, want, more)
				}
			})
		})
	}
}

// endedIn reports whether a session has nothing at work and nothing queued.
func endedIn(g *routertest.Rig, key sessions.Key) bool {
	for _, r := range g.Runs() {
		if r.Key == key && !r.Status.Final() {
			return false
		}
	}
	return true
}

// TestStopWords writes what people write in a hurry: it stops what is running, and is text when nothing is.
func TestStopWords(t *testing.T) {
	for word, stops := range map[string]bool{
		"stop": true, "STOP!": true, "Stop…": true, " wait. ": true, "esc": true, "abort": true, "exit": true, "Interrupt!!": true,
		"stop it": false, "wait a moment": false, "stops": false, "ok": false, "…": false,
	} {
		t.Run(word, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g := routertest.New(t, channeltest.Options{})
				g.Say(routertest.Direct("a"), routertest.Guest, word)
				if got := g.Shown(1)[0].Out.Text; got == "⚙️ Nothing is running here." {
					t.Error("it is no text when nothing is at work")
				}
				g.Model.Set(routertest.Repeating(time.Minute))
				g.Say(routertest.Direct("a"), routertest.Guest, "work")
				<-time.After(10 * time.Second)
				g.Say(routertest.Direct("a"), routertest.Guest, "more")
				g.Say(routertest.Direct("a"), routertest.Guest, word)
				want := "work"
				if stops {
					want = "⚙️ Agent was aborted. Dropped 1 message that waited. Write again if I should continue."
				}
				if got := g.Shown(2)[1].Out.Text; got != want {
					t.Errorf("%q, want %q", got, want)
				}
			})
		})
	}
}

// The end of a run that was interrupted or stopped is kept although the store fails at first: otherwise it is running for ever, and
// nothing behind it begins.
func TestEndThatTheStoreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		mode sessions.QueueMode
		by   string // what ends the first turn
		want int    // messages shown
	}{
		"interrupted": {sessions.Interrupt, "two", 1},
		"stopped":     {sessions.Collect, "/stop", 1},
	} {
		t.Run(name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				refused := 3
				g := routertest.NewWith(t, channeltest.Options{}, nil, func(s sessions.Store) sessions.Store { return refusing{s, &refused} }, routertest.WithMode(c.mode))
				g.Model.Set(routertest.Repeating(10 * time.Second))
				g.Say(routertest.Direct("a"), routertest.Guest, "one")
				<-time.After(2 * time.Second)
				g.Say(routertest.Direct("a"), routertest.Guest, c.by)
				g.Shown(c.want)
				g.Say(routertest.Direct("a"), routertest.Guest, "three")
				g.Shown(c.want + 1)
				if first := g.Said()["one"]; first.Status != sessions.Stopped || refused > 0 {
					t.Errorf("the first turn is %s; %d refusals left", first.Status, refused)
				}
			})
		})
	}
}

// refusing is a store that refuses the first ends of runs that were stopped.
type refusing struct {
	sessions.Store
	left *int
}

func (s refusing) Finish(ctx context.Context, id sessions.RunID, o sessions.Outcome) (sessions.Accepted, error) {
	if *s.left > 0 && o.Status == sessions.Stopped {
		*s.left--
		return sessions.Accepted{}, errors.New("the connection is gone")
	}
	return s.Store.Finish(ctx, id, o)
}
