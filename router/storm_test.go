package router

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"parley/agent"
	"parley/sessions"
	"parley/tools"
)

// TestLoopsThroughSubagents refuses a chain of messages that comes back to where it has been by way of a sub-agent. A sub-agent that
// a person's turn started may write to its requester.
//
// proves: S12
func TestLoopsThroughSubagents(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var results []string
		g := twoChats(t, nil, func(s *Settings) { s.Tools.Subagents.Tools = tools.Rights{Allow: []string{"*", "sessions_send"}} })
		g.model.set(func(_ context.Context, p agent.Prompt) (agent.Answer, error) {
			newest := last(p)
			switch {
			case strings.Contains(p.System, "announce step"), strings.Contains(p.System, "reply step"):
				return text("ANNOUNCE_SKIP"), nil
			case newest.Role == sessions.ToolResult && newest.ToolName == "sessions_send":
				results = append(results, newest.Text())
				return text("done"), nil
			case newest.Role == sessions.ToolResult:
				return text("started"), nil
			case strings.Contains(p.System, "You are a sub-agent"):
				return call("c2", "sessions_send", map[string]any{"sessionKey": keyA, "message": "again", "timeoutSeconds": 0}), nil
			case strings.Contains(lastUser(p), "delegate"):
				return call("c1", "sessions_spawn", map[string]any{"task": "write to a"}), nil
			}
			return text("fine"), nil
		})
		g.say(groupChat("a"), guest, "delegate it") // a person's: the sub-agent may ask a
		g.until("the sub-agent has written", func() bool { return len(results) == 1 })
		if !strings.Contains(results[0], `"status":"accepted"`) {
			t.Errorf("to its requester: %s", results[0])
		}
		g.deliveries()
		// a asks b, b's sub-agent writes to a: a loop.
		from := tools.Caller{Session: g.session(keyA), Run: sessions.Run{ID: "r"}}
		if _, err := g.r.Ask(t.Context(), tools.AskRequest{Source: "x", From: from, To: keyB, Message: "delegate it"}); err != nil {
			t.Fatal(err)
		}
		g.until("b's sub-agent has tried", func() bool { return len(results) == 2 })
		if !strings.Contains(results[1], `"status":"forbidden"`) || !strings.Contains(results[1], string(keyA)+" → "+string(keyB)) {
			t.Errorf("a loop through a sub-agent: %s", results[1])
		}
	})
}

// TestResultsThatDelegateAgain ends an agent that answers every result of a sub-agent with a further sub-agent.
//
// proves: S12, N16
func TestResultsThatDelegateAgain(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const most = 5
		n := 0
		g := twoChats(t, nil, toRequester, func(s *Settings) { s.Session.AgentToAgent.MaxTurnsPerHour = most })
		g.model.set(func(_ context.Context, p agent.Prompt) (agent.Answer, error) {
			switch newest := last(p); {
			case strings.Contains(p.System, "You are a sub-agent"):
				return text("done"), nil
			case newest.Role == sessions.ToolResult && strings.Contains(newest.Text(), "forbidden"):
				return text("enough: " + newest.Text()), nil
			case newest.Role == sessions.ToolResult:
				return text("started"), nil
			}
			if n++; n > 3*most {
				return text("enough: nobody stops me"), nil
			}
			return call(fmt.Sprint("c", n), "sessions_spawn", map[string]any{"task": "more"}), nil
		})
		g.say(groupChat("a"), guest, "go")
		var enough string
		g.until("it is refused", func() bool {
			for _, d := range g.deliveries() {
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
