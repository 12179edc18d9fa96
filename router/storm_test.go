package router_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"parley/agent"
	"parley/router/routertest"
	"parley/router/settings"
	"parley/sessions"
	"parley/tools"
)

// TestLoopsThroughSubagents refuses a chain of messages that comes back to where it has been by way of a sub-agent. A sub-agent that
// a person's turn started may write to its requester.
//
// proves: S12
func TestLoopsThroughSubagents(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		var results []string
		g := routertest.TwoChats(t, nil, func(s *settings.Snapshot) {
			s.Tools.Subagents.Tools = tools.Rights{Allow: []string{"*", "sessions_send"}}
		})
		g.Model.Set(func(_ context.Context, p agent.Prompt) (agent.Answer, error) {
			newest := routertest.Last(p)
			switch {
			case strings.Contains(p.System, "announce step"), strings.Contains(p.System, "reply step"):
				return routertest.Text("ANNOUNCE_SKIP"), nil
			case newest.Role == sessions.ToolResult && newest.ToolName == "sessions_send":
				results = append(results, newest.Text())
				return routertest.Text("done"), nil
			case newest.Role == sessions.ToolResult:
				return routertest.Text("started"), nil
			case strings.Contains(p.System, "You are a sub-agent"):
				return routertest.Call("c2", "sessions_send", map[string]any{"sessionKey": routertest.KeyA, "message": "again", "timeoutSeconds": 0}), nil
			case strings.Contains(routertest.LastUser(p), "delegate"):
				return routertest.Call("c1", "sessions_spawn", map[string]any{"task": "write to a"}), nil
			}
			return routertest.Text("fine"), nil
		})
		g.Say(routertest.Group("a"), routertest.Guest, "delegate it") // a person's: the sub-agent may ask a
		g.Until("the sub-agent has written", func() bool { return len(results) == 1 })
		if !strings.Contains(results[0], `"status":"accepted"`) {
			t.Errorf("to its requester: %s", results[0])
		}
		g.Deliveries()
		// a asks b, b's sub-agent writes to a: a loop.
		from := tools.Caller{Session: g.Session(routertest.KeyA), Run: sessions.Run{ID: "r"}}
		if _, err := g.Router.ToolHost.Ask(t.Context(), tools.AskRequest{Source: "x", From: from, To: routertest.KeyB, Message: "delegate it"}); err != nil {
			t.Fatal(err)
		}
		g.Until("b's sub-agent has tried", func() bool { return len(results) == 2 })
		if !strings.Contains(results[1], `"status":"forbidden"`) || !strings.Contains(results[1], string(routertest.KeyA)+" → "+string(routertest.KeyB)) {
			t.Errorf("a loop through a sub-agent: %s", results[1])
		}
	})
}

// TestResultsThatDelegateAgain ends an agent that answers every result of a sub-agent with a further sub-agent.
//
// proves: S12, N16
func TestResultsThatDelegateAgain(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		const most = 5
		n := 0
		g := routertest.TwoChats(t, nil, toRequester, func(s *settings.Snapshot) { s.Session.AgentToAgent.MaxTurnsPerHour = most })
		g.Model.Set(func(_ context.Context, p agent.Prompt) (agent.Answer, error) {
			switch newest := routertest.Last(p); {
			case strings.Contains(p.System, "You are a sub-agent"):
				return routertest.Text("done"), nil
			case newest.Role == sessions.ToolResult && strings.Contains(newest.Text(), "forbidden"):
				return routertest.Text("enough: " + newest.Text()), nil
			case newest.Role == sessions.ToolResult:
				return routertest.Text("started"), nil
			}
			if n++; n > 3*most {
				return routertest.Text("enough: nobody stops me"), nil
			}
			return routertest.Call(fmt.Sprint("c", n), "sessions_spawn", map[string]any{"task": "more"}), nil
		})
		g.Say(routertest.Group("a"), routertest.Guest, "go")
		var enough string
		g.Until("it is refused", func() bool {
			for _, d := range g.Deliveries() {
				if strings.HasPrefix(d.Text, "enough: ") {
					enough = d.Text
				}
			}
			return enough != ""
		})
		<-time.After(10 * time.Minute)
		if n != 1+most || !strings.Contains(enough, "maxTurnsPerHour") {
			t.Errorf("%d attempts, want %d: %s", n, 1+most, enough)
		}
	})
}
