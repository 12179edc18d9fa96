package router_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"parley/agent"
	"parley/router/routertest"
	"parley/router/settings"
	"parley/sessions"
)

// What comes after the call had answered without it reaches the people who asked, in their own chat, once; what came in time does not come again.
// source: openclaw/openclaw#76443, openclaw/openclaw#68387 (late replies), openclaw/openclaw#25198 (failures)
//
// proves: S13, S15, W2
func TestPeopleAreToldLater(t *testing.T) {
	for name, c := range map[string]struct {
		wait   int
		fails  bool
		turns  int
		off    bool
		says   string // of the follow-up
		told   string // in chat a, at last; "" = nothing more than the turn's answer
		input  string // what the follow-up answers
		inTool int    // how often "4711" stands in the follow-up's messages of other sessions
	}{
		"a late reply":                {wait: 1, turns: 5, says: "The code is 4711.", told: "The code is 4711.", input: "The exchange is over.", inTool: 1},
		"a late reply, no exchange":   {wait: 1, says: "The code is 4711.", told: "The code is 4711.", input: "door code 4711", inTool: 1},
		"accepted":                    {wait: 0, says: "The code is 4711.", told: "The code is 4711.", input: "door code 4711", inTool: 1},
		"a late failure":              {wait: 1, turns: 5, fails: true, says: "It failed.", told: "It failed.", input: "Your sessions_send call has no reply: "},
		"nothing to tell":             {wait: 1, says: "NO_REPLY", input: "door code 4711", inTool: 1},
		"words above a word":          {wait: 1, says: "The code is 4711.\n\nNO_REPLY", told: "The code is 4711.", input: "door code 4711", inTool: 1},
		"words below a word":          {wait: 1, says: "NO_REPLY\n\nThe code is 4711.", told: "The code is 4711.", input: "door code 4711", inTool: 1},
		"words above a reason":        {wait: 1, says: "The code is 4711.\nNO_REPLY — told", told: "The code is 4711.", input: "door code 4711", inTool: 1},
		"in time":                     {wait: 30, turns: 5, says: "again"},
		"a failure in time":           {wait: 30, turns: 5, fails: true, says: "again"},
		"switched off":                {wait: 1, off: true, says: "again"},
		"switched off, and a failure": {wait: 1, off: true, fails: true, says: "again"},
	} {
		t.Run(name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				followUps := 0
				g := routertest.TwoChats(t, func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
					m := routertest.Last(p)
					switch {
					case strings.Contains(p.System, "This turn follows on a question"):
						followUps++
						had := 0
						for _, x := range p.Messages {
							if x.Provenance != nil && x.Provenance.Kind == sessions.InterSession {
								had += strings.Count(x.Text(), "4711")
							}
						}
						if !strings.Contains(m.Text(), c.input) || had != c.inTool || len(p.Tools) == 0 {
							t.Errorf("the follow-up answers %q, with %d replies and %d tools", m.Text(), had, len(p.Tools))
						}
						return routertest.Text(c.says), nil
					case strings.Contains(p.System, "reply step"):
						return routertest.Text("REPLY_SKIP"), nil
					case strings.Contains(p.System, "announce step"):
						return routertest.Text("ANNOUNCE_SKIP"), nil
					case strings.Contains(p.System, "comes from another session"):
						<-time.After(4 * time.Second)
						if c.fails {
							return agent.Answer{}, errors.New("scripted")
						}
						return routertest.Text("door code 4711"), nil
					case m.Role == sessions.ToolResult:
						return routertest.Text("I asked."), nil
					case strings.Contains(m.Text(), "ask b"):
						return routertest.Call("c1", "sessions_send", map[string]any{"sessionKey": routertest.KeyB, "message": "the code?", "timeoutSeconds": c.wait}), nil
					}
					return routertest.Text("hello"), nil
				}, func(s *settings.Snapshot) {
					s.Session.AgentToAgent.MaxPingPongTurns, s.Session.AgentToAgent.FollowUp = c.turns, !c.off
				})
				g.Say(routertest.Group("a"), routertest.Guest, "ask b")
				<-time.After(10 * time.Minute)
				var shown []string
				for _, d := range g.Deliveries()[2:] {
					if shown = append(shown, d.Text); d.To != routertest.Group("a") || d.Session != routertest.KeyA || d.State != sessions.Sent {
						t.Errorf("%s of %s: %q is %s", d.To, d.Session, d.Text, d.State)
					}
				}
				want := []string{"I asked."}
				if c.told != "" {
					want = append(want, c.told)
				}
				if fmt.Sprint(shown) != fmt.Sprint(want) || (followUps == 1) != (c.input != "") || followUps > 1 {
					t.Errorf("chat a reads %q, want %q, after %d follow-ups", shown, want, followUps)
				}
			})
		})
	}
}

// A newer message that interrupts the turn that asked is no stop: the reply that comes after it is told all the same.
// source: openclaw/openclaw#76443
//
// proves: S15
func TestPeopleAreToldAfterAnInterruption(t *testing.T) {
	for name, c := range map[string]struct{ fails, stopped, busy bool }{
		"a reply": {}, "a failure": {fails: true}, "the target is stopped": {stopped: true}, "a reply while the newer turn is at work": {busy: true},
		"the target is stopped while the newer turn is at work": {stopped: true, busy: true},
	} {
		t.Run(name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g := routertest.TwoChats(t, func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
					m := routertest.Last(p)
					switch {
					case strings.Contains(p.System, "This turn follows on a question"):
						return routertest.Text("This came of it."), nil
					case strings.Contains(p.System, "announce step"):
						return routertest.Text("ANNOUNCE_SKIP"), nil
					case strings.Contains(p.System, "comes from another session"):
						if a, err := routertest.Slowly(time.Minute)(ctx, p); err != nil {
							return a, err
						}
						if c.fails {
							return agent.Answer{}, errors.New("scripted")
						}
						return routertest.Text("door code 4711"), nil
					case m.Role == sessions.ToolResult:
						return routertest.Slowly(time.Hour)(ctx, p)
					case strings.Contains(m.Text(), "hurry") && c.busy:
						return routertest.Slowly(2*time.Minute)(ctx, p)
					case strings.Contains(m.Text(), "ask b"):
						return routertest.Call("c1", "sessions_send", map[string]any{"sessionKey": routertest.KeyB, "message": "the code?", "timeoutSeconds": 0}), nil
					}
					return routertest.Text("hello"), nil
				}, routertest.WithMode(sessions.Interrupt), func(s *settings.Snapshot) {
					s.Session.AgentToAgent.MaxPingPongTurns, s.Session.AgentToAgent.FollowUp = 0, true
				})
				g.Say(routertest.Group("a"), routertest.Guest, "ask b")
				<-time.After(10 * time.Second)
				g.Say(routertest.Group("a"), routertest.Guest, "hurry")
				<-time.After(10 * time.Second)
				if c.stopped {
					g.Say(routertest.Group("b"), routertest.Owner, "/stop")
				}
				<-time.After(10 * time.Minute)
				times := 0
				for _, d := range g.Deliveries() {
					if d.Text == "This came of it." && d.To == routertest.Group("a") {
						times++
					}
				}
				if times != 1 {
					t.Errorf("people are told %d times what came of the question", times)
				}
			})
		})
	}
}

// The line of a message from another session of the same agent has the name that tools take, in prompts and in sessions_history.
// source: https://docs.openclaw.ai/concepts/session-tool (sessionKey accepts "main")
//
// proves: K1
func TestSourceHasTheNameOfTools(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		line := ""
		g := routertest.TwoChats(t, func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
			m := routertest.Last(p)
			switch {
			case strings.Contains(p.System, "comes from another session") && m.Role == sessions.User:
				line = agent.Origin(m)
				return routertest.Call("h1", "sessions_history", map[string]any{"sessionKey": routertest.KeyB}), nil
			case strings.Contains(p.System, "comes from another session"):
				return routertest.Text(m.Text()), nil
			case m.Role == sessions.ToolResult:
				return routertest.Text("told: " + m.Text()), nil
			case strings.Contains(m.Text(), "ask b"):
				return routertest.Call("c1", "sessions_send", map[string]any{"sessionKey": routertest.KeyB, "message": "how many?", "timeoutSeconds": 60}), nil
			}
			return routertest.Text("hello"), nil
		}, func(s *settings.Snapshot) { s.Session.AgentToAgent.MaxPingPongTurns = 0 })
		got := g.Asks(routertest.Direct(routertest.Owner), routertest.Owner, "ask b")
		if !strings.Contains(line, "from main on fake") {
			t.Errorf("the line is %q", line)
		}
		if !strings.Contains(got, `\"sourceSessionKey\":\"main\"`) {
			t.Errorf("sessions_history says %s", got)
		}
	})
}
