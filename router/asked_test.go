package router_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"parley/agent"
	"parley/router/routertest"
	"parley/router/settings"
	"parley/sessions"
)

// An asked turn that yields for its sub-agent is waited for: `ok` has the words that came of the sub-agent's result, which stands in the transcript
// once and has no turn of its own. Where results are posted by the host the turn is told so, and `ok` has its words.
// source: openclaw/openclaw#97739, openclaw/openclaw#82599
//
// proves: S16
func TestAskedTurnThatYields(t *testing.T) {
	for announce, want := range map[string]string{"requester": `"reply":"It found forty-two."`, "direct": `"reply":"I have started something."`} {
		t.Run(announce, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g := routertest.TwoChats(t, func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
					m := routertest.Last(p)
					switch {
					case strings.Contains(p.System, "announce step"):
						return routertest.Text("ANNOUNCE_SKIP"), nil
					case strings.Contains(p.System, "reply step"):
						return routertest.Text("REPLY_SKIP"), nil
					case strings.Contains(p.System, "A sub-agent that this session started has ended"):
						t.Error("the result has a turn of its own")
						return routertest.Text("NO_REPLY"), nil
					case strings.Contains(p.System, "comes from another session"):
						switch {
						case strings.Contains(m.Text(), "forty-two"):
							return routertest.Text("It found forty-two."), nil
						case strings.Contains(m.Text(), "they do not wake you"):
							return routertest.Text("I have started something."), nil
						case m.Role == sessions.ToolResult:
							return routertest.Call("y1", "sessions_yield", map[string]any{}), nil
						}
						return routertest.Call("s1", "sessions_spawn", map[string]any{"task": "compute", "cleanup": "delete"}), nil
					case strings.Contains(p.System, "sub-agent"):
						<-time.After(2 * time.Second)
						return routertest.Text("forty-two"), nil
					case m.Role == sessions.ToolResult:
						return routertest.Text("told: " + m.Text()), nil
					case strings.Contains(m.Text(), "ask b"):
						return routertest.Call("c1", "sessions_send", map[string]any{"sessionKey": routertest.KeyB, "message": "how many?", "timeoutSeconds": 60}), nil
					}
					return routertest.Text("hello"), nil
				}, func(s *settings.Snapshot) { s.Agents.Defaults.Subagents.Announce = announce })
				if got := g.Asks(routertest.Group("a"), routertest.Guest, "ask b"); !strings.Contains(got, `"status":"ok"`) || !strings.Contains(got, want) {
					t.Errorf("chat a reads: %s\nwant %s", got, want)
				}
				g.Idle(6)
				results := 0
				for _, m := range g.Transcript(routertest.KeyB) {
					if m.Role != sessions.Assistant && strings.Contains(m.Text(), "forty-two") {
						results++
					}
				}
				if results != map[string]int{"requester": 1}[announce] {
					t.Errorf("the result stands in the transcript %d times", results)
				}
				below, err := g.Store.List(t.Context(), sessions.Query{SpawnedBy: routertest.KeyB})
				if err != nil || len(below) > 0 {
					t.Errorf("the sub-agent is not deleted: %v, %v", below, err)
				}
			})
		})
	}
}

// An asked turn that ends without a word, also when it is asked again, is an error with the reason, and never `ok` with an empty reply. A
// control word is silence: `ok` says which.
// source: openclaw/openclaw#115041
//
// proves: N12
func TestAskedTurnWithoutWords(t *testing.T) {
	for says, want := range map[string]string{"": `"status":"error"`, "NO_REPLY": `"silent":"NO_REPLY"`} {
		t.Run(says, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g := routertest.TwoChats(t, func(_ context.Context, p agent.Prompt) (agent.Answer, error) {
					switch m := routertest.Last(p); {
					case strings.Contains(p.System, "comes from another session"):
						return routertest.Text(says), nil
					case strings.Contains(p.System, "step"):
						return routertest.Text("ANNOUNCE_SKIP"), nil
					case m.Role == sessions.ToolResult:
						return routertest.Text("told: " + m.Text()), nil
					case strings.Contains(m.Text(), "ask b"):
						return routertest.Call("c1", "sessions_send", map[string]any{"sessionKey": routertest.KeyB, "message": "how many?"}), nil
					}
					return routertest.Text("hello"), nil
				})
				got := g.Asks(routertest.Group("a"), routertest.Guest, "ask b")
				if !strings.Contains(got, want) || says == "" && !strings.Contains(got, "The language model gave an empty answer.") {
					t.Errorf("%q: chat a reads %s, want %s", says, got, want)
				}
			})
		})
	}
}
