package router_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/agent"
	"parley/channels/channeltest"
	"parley/router/routertest"
	"parley/router/settings"
	"parley/sessions"
)

// stalled is a store that takes its time for two commits: the result of a call, and the end of what was asked.
type stalled struct {
	sessions.Store
	result, end func(context.Context)
}

func (s stalled) Record(ctx context.Context, id sessions.RunID, msgs ...sessions.Message) error {
	if msgs[0].Role == sessions.ToolResult {
		s.result(ctx)
	}
	return s.Store.Record(ctx, id, msgs...)
}

func (s stalled) Finish(ctx context.Context, id sessions.RunID, o sessions.Outcome) (sessions.Accepted, error) {
	if run, err := s.GetRun(ctx, id); err == nil && run.Kind == sessions.AskRun {
		s.end(ctx)
	}
	return s.Store.Finish(ctx, id, o)
}

// A call is out of time, and before that is stored the exchange ends, or is stopped: then the call says how it ended, and people are not told once more. What
// ends behind it is told by a follow-up, although its end was worked out before.
//
// proves: S5, S13, S15
func TestResultThatIsStoredTooLate(t *testing.T) {
	for name, c := range map[string]struct {
		wait   int           // of the call, in seconds
		takes  time.Duration // of the target
		fails  bool
		stop   func(g *routertest.Rig)
		gone   sessions.Key  // the target, which is deleted; "" = it is another one, and stays
		result time.Duration // of the commit of the call's result
		end    time.Duration // and of the commit of the end
		status string        // that the requester's agent reads
		told   bool
	}{
		"stopped by the target's people": {wait: 1, takes: time.Hour, stop: func(g *routertest.Rig) { g.Say(routertest.Group("b"), routertest.Owner, "/stop") }, result: 10 * time.Second, status: "error"},
		"stopped by an operator": {wait: 1, takes: time.Hour, stop: func(g *routertest.Rig) {
			for _, run := range g.Runs() {
				if run.Kind == sessions.AskRun {
					_, _, err := g.Router.CancelRun(g.T.Context(), "", run.ID)
					routertest.Check(g.T, err)
				}
			}
		}, result: 10 * time.Second, status: "error"},
		"started over by the target's people": {wait: 1, takes: time.Hour, stop: func(g *routertest.Rig) { g.Say(routertest.Group("b"), routertest.Owner, "/new") }, result: 10 * time.Second, status: "error"},
		"failed":                              {wait: 1, takes: 3 * time.Second, fails: true, result: 10 * time.Second, status: "error"},
		"answered":                            {wait: 1, takes: 3 * time.Second, result: 10 * time.Second, status: "ok"},
		"deleted":                             {wait: 1, takes: 3 * time.Second, gone: routertest.KeyB, result: 10 * time.Second, status: "error"},
		"a main session deleted":              {wait: 1, takes: 3 * time.Second, gone: "agent:main:main", result: 10 * time.Second, status: "error"},
		"deleted while the call waits":        {wait: 60, takes: time.Hour, gone: routertest.KeyB, status: "error"},
		"a main one, while the call waits":    {wait: 60, takes: time.Hour, gone: "agent:main:main", status: "error"},
		"failed, of a call that did not wait": {takes: 3 * time.Second, fails: true, result: 10 * time.Second, status: "accepted", told: true},
		"failed, and that is stored later":    {wait: 1, takes: 3 * time.Second, fails: true, result: 5 * time.Second, end: 4 * time.Second, status: "timeout", told: true},
	} {
		t.Run(name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				var mu sync.Mutex
				var read []string
				told, stalls := 0, true
				wait := func(ctx context.Context, d time.Duration) {
					select {
					case <-time.After(d):
					case <-ctx.Done():
					}
				}
				g := routertest.NewWith(t, channeltest.Options{}, nil, func(s sessions.Store) sessions.Store {
					return stalled{s, func(ctx context.Context) {
						if stalls { // the second time it is there again
							stalls = false
							wait(ctx, c.result)
						}
					}, func(ctx context.Context) { wait(ctx, c.end) }}
				}, func(s *settings.Snapshot) {
					s.Session.AgentToAgent.MaxPingPongTurns, s.Session.AgentToAgent.FollowUp = 0, true
				})
				g.Say(routertest.Group("a"), routertest.Guest, "hello")
				g.Say(routertest.Group("b"), routertest.Guest, "hello")
				g.Say(routertest.Direct(routertest.Owner), routertest.Owner, "hello")
				g.Idle(3)
				g.Model.Set(func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
					m := routertest.Last(p)
					mu.Lock()
					defer mu.Unlock()
					switch {
					case strings.Contains(p.System, "This turn follows on a question"):
						told++
						return routertest.Text("This came of it."), nil
					case strings.Contains(p.System, "announce step"):
						return routertest.Text("ANNOUNCE_SKIP"), nil
					case strings.Contains(p.System, "comes from another session"):
						mu.Unlock()
						a, err := routertest.Slowly(c.takes)(ctx, p)
						mu.Lock()
						if err == nil && c.fails {
							err = errors.New("scripted")
						}
						return a, err
					case m.Role == sessions.ToolResult:
						read = append(read, routertest.StatusOf(m.Text()))
						return routertest.Text("I asked."), nil
					case strings.Contains(m.Text(), "ask b"):
						return routertest.Call("c1", "sessions_send", map[string]any{"sessionKey": cmp.Or(c.gone, routertest.KeyB), "message": "the code?", "timeoutSeconds": c.wait}), nil
					}
					return routertest.Text("hello"), nil
				})
				g.Say(routertest.Group("a"), routertest.Guest, "ask b")
				<-time.After(5 * time.Second)
				if c.stop != nil {
					c.stop(g)
				}
				if c.gone != "" {
					routertest.Check(t, g.Store.Delete(t.Context(), c.gone))
				}
				<-time.After(10 * time.Minute)
				mu.Lock()
				defer mu.Unlock()
				if fmt.Sprint(read) != fmt.Sprint([]string{c.status}) || told > 1 || (told == 1) != c.told {
					t.Errorf("the agent reads %q, want %q, and people are told %d times", read, c.status, told)
				}
				asks := 0
				for _, run := range g.Runs() {
					if run.Kind == sessions.AskRun {
						asks++
					}
				}
				if asks > 1 || asks == 0 && c.gone == "" {
					t.Errorf("the target is asked %d times", asks)
				}
			})
		})
	}
}
