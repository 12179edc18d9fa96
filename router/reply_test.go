package router_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/channels/channeltest"
	"parley/router/routertest"
	"parley/sessions"
)

// TestReplyReachesTheRequesterOnce looks at what the requester's first reply step is shown, when the tool call waited long enough
// and when it did not.
//
// proves: S13
func TestReplyReachesTheRequesterOnce(t *testing.T) {
	for name, late := range map[string]bool{"inline": false, "after the wait": true} {
		t.Run(name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g := routertest.New(t, channeltest.Options{})
				inner := pingPong(1, 5)
				var system string
				var shown []string
				g.Model.Set(func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
					if late && strings.Contains(p.System, "comes from another session") && !channels.Sleep(ctx, time.Minute) {
						return agent.Answer{}, ctx.Err()
					}
					if strings.Contains(p.System, "reply step") && system == "" {
						system, shown = p.System, routertest.WordsOf(p)
					}
					return inner(ctx, p)
				})
				g.Say(routertest.Group("b"), routertest.Guest, "make a session here")
				g.Shown(1)
				g.Say(routertest.Group("a"), routertest.Guest, "ask b")
				g.Shown(3)
				n := strings.Count(system, "round one")
				for _, m := range shown {
					if strings.Contains(m, "round one") && !strings.HasPrefix(m, "assistant") {
						n++
					}
				}
				if n != 1 {
					t.Errorf("the reply is %d times in the requester's context: %q", n, shown)
				}
				if told := strings.Contains(system, "the result of your tool call"); told == late {
					t.Errorf("told that the tool call returned the reply: %t", told)
				}
			})
		})
	}
}

// TestAskThatFailsUnwaited has the turn of another session fail when no caller waits for it: no further step follows, and its history tells who asked what happened.
//
// proves: S4, S9
func TestAskThatFailsUnwaited(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		g.Say(routertest.Group("b"), routertest.Guest, "make a session here")
		g.Shown(1)
		g.Model.Set(func(_ context.Context, p agent.Prompt) (agent.Answer, error) {
			switch newest := routertest.Last(p); {
			case strings.Contains(p.System, "comes from another session"):
				return agent.Answer{}, errors.New("it broke")
			case newest.Role == sessions.ToolResult:
				return routertest.Text(newest.Text()), nil
			case strings.Contains(newest.Text(), "ask b"):
				return routertest.Call("c1", "sessions_send", map[string]any{"sessionKey": routertest.KeyB, "message": "how are you?", "timeoutSeconds": 0}), nil
			}
			return routertest.Call("c2", "sessions_history", map[string]any{"sessionKey": routertest.KeyB}), nil
		})
		g.Say(routertest.Group("a"), routertest.Guest, "ask b")
		g.Shown(2)
		g.Until("it failed", func() bool {
			return slices.ContainsFunc(g.Runs(), func(r sessions.Run) bool { return r.Kind == sessions.AskRun && r.Status == sessions.Failed })
		})
		g.Say(routertest.Group("a"), routertest.Guest, "what does it say?")
		if calls := g.Shown(3); !strings.Contains(calls[2].Out.Text, "Something went wrong") || len(g.Runs()) != 4 {
			t.Errorf("after %d runs the history has %q", len(g.Runs()), calls[2].Out.Text)
		}
	})
}
