package router_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"parley/agent"
	"parley/channels/channeltest"
	"parley/router/routertest"
	"parley/router/settings"
	"parley/sessions"
)

// A model that calls a tool in every step, or says nothing, is asked at most twice a step: the reply ends the exchange, the announce is silent.
// source: openclaw/openclaw#121661
//
// proves: S19
func TestStepsCostTwoAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		step  func(n int) agent.Answer
		steps int    // answers asked for in steps
		told  string // of the latest reply, in the announce step
	}{
		"a call each time": {func(n int) agent.Answer {
			return routertest.Call(fmt.Sprint("c", n), "message", map[string]any{"text": "x"})
		}, 4, `Latest reply: "fine"`},
		"words beside a call": {func(n int) agent.Answer { return beside("words", routertest.Call(fmt.Sprint("c", n), "message", nil)) }, 4, `Latest reply: "words"`},
		"nothing":             {func(int) agent.Answer { return routertest.Text("") }, 4, `Latest reply: "fine"`},
		"a call once, then ok": {func(n int) agent.Answer {
			if n%2 == 1 {
				return routertest.Call(fmt.Sprint("c", n), "message", nil)
			}
			return routertest.Text("ok")
		}, 12, `Latest reply: "ok"`},
	} {
		t.Run(name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				asked, announce := 0, ""
				g := routertest.TwoChats(t, func(_ context.Context, p agent.Prompt) (agent.Answer, error) {
					if strings.Contains(p.System, "announce step") {
						announce = p.System
					}
					if !strings.Contains(p.System, "announce step") && !strings.Contains(p.System, "reply step") {
						return routertest.Text("fine"), nil
					}
					asked++
					return c.step(asked), nil
				}, func(s *settings.Snapshot) { s.Session.AgentToAgent.MaxPingPongTurns = 5 })
				askB(g, "x")
				<-time.After(time.Minute)
				if asked != c.steps || !strings.Contains(announce, c.told) {
					t.Errorf("%d answers of steps, want %d; the announce step is told:\n%s", asked, c.steps, announce)
				}
				silent := c.steps == 4
				if n := len(g.Deliveries()) - 2; (n == 0) != silent {
					t.Errorf("%d deliveries", n)
				}
			})
		})
	}
}

// beside puts words in front of a tool call.
func beside(words string, a agent.Answer) agent.Answer {
	a.Content = append(sessions.TextContent(words), a.Content...)
	return a
}

// A report step that calls tools is asked twice, then the host posts what is stored.
//
// proves: S19
func TestReportStepCostsTwoAnswers(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		asked := 0
		g.Model.Set(func(_ context.Context, p agent.Prompt) (agent.Answer, error) {
			switch m := routertest.Last(p); {
			case strings.Contains(p.System, "announce step"):
				asked++
				return routertest.Call(fmt.Sprint("c", asked), "message", map[string]any{"text": "x"}), nil
			case strings.Contains(p.System, "sub-agent"):
				return routertest.Text("stored result"), nil
			case m.Role == sessions.ToolResult:
				return routertest.Text("NO_REPLY"), nil
			}
			return routertest.Call("c1", "sessions_spawn", map[string]any{"task": "compute"}), nil
		})
		g.Say(routertest.Direct("a"), routertest.Guest, "go")
		if got := g.Shown(1)[0].Out.Text; asked != 2 || !strings.Contains(got, "Status: success\n\nResult:\nstored result") {
			t.Errorf("after %d answers the host posted:\n%s", asked, got)
		}
	})
}
