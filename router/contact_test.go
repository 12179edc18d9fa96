package router_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"parley/agent"
	"parley/channels/channeltest"
	"parley/router/routertest"
	"parley/router/settings"
	"parley/sessions"
)

// An agent that nobody has written to is asked: the send makes its main session. One that is not configured is refused.
// source: openclaw/openclaw#81365
//
// proves: S17
func TestFirstContact(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, func(s *settings.Snapshot) {
			s.Agents.List = []agent.Entry{{ID: "main", Default: true}, {ID: "clerk"}}
			s.Tools.Sessions.Visibility, s.Tools.AgentToAgent.Enabled = sessions.SeeAll, true
		})
		g.Model.Set(func(_ context.Context, p agent.Prompt) (agent.Answer, error) {
			switch m := routertest.Last(p); {
			case strings.Contains(p.System, "comes from another session"):
				return routertest.Text("I am the clerk"), nil
			case strings.Contains(p.System, "reply step"):
				return routertest.Text("REPLY_SKIP"), nil
			case m.Role == sessions.ToolResult:
				return routertest.Text("told: " + m.Text()), nil
			default:
				return routertest.Call("c1", "sessions_send", map[string]any{"sessionKey": "agent:" + m.Text() + ":main", "message": "who are you?"}), nil
			}
		})
		if got := g.Asks(routertest.Direct("a"), routertest.Guest, "clerk"); !strings.Contains(got, `"status":"ok"`) || !strings.Contains(got, "I am the clerk") {
			t.Errorf("the clerk: %s", got)
		}
		if s := g.Session("agent:clerk:main"); s.Agent != "clerk" || s.ID == "" {
			t.Errorf("its session: %+v", s)
		}
		if got := g.Asks(routertest.Direct("a"), routertest.Guest, "nobody"); !strings.Contains(got, "Session not found") {
			t.Errorf("nobody: %s", got)
		}
	})
}

// Two sessions that ask each other at once: one of them is refused at once, and neither waits out its time.
//
// proves: S18
func TestMutualAsks(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		other := map[string]sessions.Key{"a": routertest.KeyB, "b": routertest.KeyA}
		g := routertest.TwoChats(t, func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
			switch m := routertest.Last(p); {
			case strings.Contains(p.System, "comes from another session"):
				return routertest.Text("fine"), nil
			case strings.Contains(p.System, "step"):
				return routertest.Text("REPLY_SKIP"), nil
			case m.Role == sessions.ToolResult:
				return routertest.Text("told: " + m.Text()), nil
			case strings.Contains(m.Text(), "ask from "):
				<-time.After(time.Second) // so that both are running
				return routertest.Call("c1", "sessions_send", map[string]any{"sessionKey": other[m.Text()[len(m.Text())-1:]], "message": "how are you?", "timeoutSeconds": 3600}), nil
			}
			return routertest.Text("hello"), nil
		})
		began := time.Now()
		g.Say(routertest.Group("a"), routertest.Guest, "ask from a")
		g.Say(routertest.Group("b"), routertest.Guest, "ask from b")
		var told []string
		for _, c := range g.Shown(4)[2:] {
			told = append(told, c.Out.Text)
		}
		all := strings.Join(told, "\n")
		if !strings.Contains(all, `"status":"ok"`) || !strings.Contains(all, `"status":"forbidden"`) || !strings.Contains(all, "That session already waits for this one") {
			t.Errorf("told: %s", all)
		}
		if took := time.Since(began); took > time.Minute {
			t.Errorf("it took %s", took)
		}
	})
}
