package router_test

import (
	"context"
	"errors"
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

// proves: N5, N6, N10, N11, N13
func TestSpawnAnnounces(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		g.Model.Set(func(_ context.Context, p agent.Prompt) (agent.Answer, error) {
			switch m := routertest.Last(p); {
			case strings.Contains(p.System, "announce step"):
				return routertest.Text("Status: wonderful\nResult: forty-two\nNotes: it took a while"), nil
			case strings.Contains(p.System, "sub-agent"):
				return routertest.Text("the answer is 42"), nil
			case m.Role == sessions.ToolResult:
				return routertest.Text("started: " + m.Text()), nil
			}
			return routertest.Call("c1", "sessions_spawn", map[string]any{"task": "compute"}), nil
		})
		to := routertest.Group("g")
		to.Thread = "7"
		g.Say(to, routertest.Guest, "compute in the background")
		calls := g.Shown(2)
		announce := calls[0].Out.Text
		if strings.HasPrefix(announce, "started") {
			announce = calls[1].Out.Text
		}
		for _, want := range []string{"Status: success", "Result:\nforty-two", "Notes:\nit took a while", "• runtime", "sessionKey", ".jsonl"} {
			if !strings.Contains(announce, want) {
				t.Errorf("the announce does not say %q:\n%s", want, announce)
			}
		}
		if strings.Contains(announce, "wonderful") {
			t.Error("the status is the model's, not the host's")
		}
		for _, c := range calls {
			if c.To != to {
				t.Errorf("sent to %s, not to %s", c.To, to)
			}
		}
	})
}

// TestThinkingIsNotReported: what a model thinks in tags, also behind words, is neither in the report of its sub-agent, nor in an answer, nor in
// what another session reads. source: openclaw/openclaw#89473
//
// proves: W4
func TestThinkingIsNotReported(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		g.Model.Set(func(_ context.Context, p agent.Prompt) (agent.Answer, error) {
			switch m := routertest.Last(p); {
			case strings.Contains(p.System, "announce step"):
				return routertest.Text("Status: success\nResult: forty-two\n<think>SECRET</think>\nNotes: it took a while"), nil
			case strings.Contains(p.System, "sub-agent"):
				return routertest.Text("Found it.\n<think>SECRET</think>\nIt is 42."), nil
			case m.Role == sessions.ToolResult:
				return routertest.Text("Started! <think >SECRET</think >Wait a moment."), nil
			}
			return routertest.Call("c1", "sessions_spawn", map[string]any{"task": "compute"}), nil
		})
		g.Say(routertest.Direct("a"), routertest.Guest, "go")
		shown := ""
		for _, c := range g.Shown(2) {
			shown += c.Out.Text + "\n"
		}
		if strings.Contains(shown, "SECRET") || strings.Contains(shown, "think") {
			t.Errorf("the chat shows thinking:\n%s", shown)
		}
		for _, want := range []string{"forty-two", "it took a while", "Started! Wait a moment."} {
			if !strings.Contains(shown, want) {
				t.Errorf("the chat does not show %q:\n%s", want, shown)
			}
		}
	})
}

// proves: N11, N12
func TestAnnounceStepFails(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		g.Model.Set(func(_ context.Context, p agent.Prompt) (agent.Answer, error) {
			switch m := routertest.Last(p); {
			case strings.Contains(p.System, "announce step"):
				return agent.Answer{}, errors.New("the announce step broke")
			case strings.Contains(p.System, "sub-agent"):
				return routertest.Text("stored result"), nil
			case m.Role == sessions.ToolResult:
				return routertest.Text("NO_REPLY"), nil
			}
			return routertest.Call("c1", "sessions_spawn", map[string]any{"task": "compute"}), nil
		})
		g.Say(routertest.Direct("a"), routertest.Guest, "go")
		if got := g.Shown(1)[0].Out.Text; !strings.Contains(got, "Status: success") || !strings.Contains(got, "stored result") {
			t.Errorf("the host posted:\n%s", got)
		}
	})
}

// proves: N10
func TestAnnounceSkip(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		g.Model.Set(func(_ context.Context, p agent.Prompt) (agent.Answer, error) {
			switch m := routertest.Last(p); {
			case strings.Contains(p.System, "announce step"):
				return routertest.Text(" ANNOUNCE_SKIP\n"), nil
			case strings.Contains(p.System, "sub-agent"):
				return routertest.Text("done"), nil
			case m.Role == sessions.ToolResult:
				return routertest.Text("NO_REPLY"), nil
			}
			return routertest.Call("c1", "sessions_spawn", map[string]any{"task": "compute"}), nil
		})
		g.Say(routertest.Direct("a"), routertest.Guest, "go")
		g.Until("the announce step is over", func() bool { return g.Model.Count() == 4 })
		if d := g.Deliveries(); len(d) != 0 {
			t.Errorf("%d deliveries, want silence", len(d))
		}
	})
}

// pingPong scripts a session a that asks a session b, which answers; both then go on until one skips.
func pingPong(skipAt int, timeout int) func(context.Context, agent.Prompt) (agent.Answer, error) {
	turns := 0
	return func(_ context.Context, p agent.Prompt) (agent.Answer, error) {
		m := routertest.Last(p)
		switch {
		case strings.Contains(p.System, "announce step"):
			return routertest.Text("announced to b"), nil
		case strings.Contains(p.System, "reply step"):
			if turns++; turns == skipAt {
				return routertest.Text("REPLY_SKIP"), nil
			}
			return routertest.Text(fmt.Sprintf("turn %d", turns)), nil
		case strings.Contains(p.System, "comes from another session"):
			return routertest.Text("round one"), nil
		case m.Role == sessions.ToolResult:
			return routertest.Text("b said " + m.Text()), nil
		case strings.Contains(m.Text(), "ask b"):
			return routertest.Call("c1", "sessions_send", map[string]any{"sessionKey": "agent:main:fake:group:b", "message": "how are you?", "timeoutSeconds": timeout}), nil
		}
		return routertest.Text("hello"), nil
	}
}

// proves: S3, S7, S9, S10
func TestSendPingPong(t *testing.T) {
	for _, c := range []struct{ skipAt, replies int }{{skipAt: 1, replies: 1}, {skipAt: 3, replies: 3}, {skipAt: 99, replies: 5}} {
		t.Run(fmt.Sprint(c.skipAt), func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g := routertest.New(t, channeltest.Options{})
				g.Model.Set(pingPong(c.skipAt, 30))
				g.Say(routertest.Group("b"), routertest.Guest, "make a session here")
				g.Shown(1)
				g.Say(routertest.Group("a"), routertest.Guest, "ask b")
				calls := g.Shown(3)
				byChat := map[string][]string{}
				for _, x := range calls {
					byChat[string(x.To.Chat)] = append(byChat[string(x.To.Chat)], x.Out.Text)
				}
				if a := byChat["a"]; len(a) != 1 || !strings.Contains(a[0], "round one") || !strings.Contains(a[0], `"ok"`) {
					t.Errorf("chat a reads %q", a)
				}
				if b := byChat["b"]; len(b) != 2 || b[1] != "announced to b" {
					t.Errorf("chat b reads %q", b)
				}
				runs, err := g.Store.ListRuns(t.Context(), sessions.RunQuery{Limit: 100})
				if err != nil {
					t.Fatal(err)
				}
				replies := map[sessions.Key]int{}
				for _, r := range runs {
					if r.Kind == sessions.ReplyRun {
						replies[r.Key]++
					}
				}
				if got := replies["agent:main:fake:group:a"] + replies["agent:main:fake:group:b"]; got != c.replies || replies["agent:main:fake:group:a"] < replies["agent:main:fake:group:b"] {
					t.Errorf("reply steps by session: %v, want %d in all, the requester first", replies, c.replies)
				}
			})
		})
	}
}

// proves: S2, S6
func TestSendWithoutWaiting(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		g.Model.Set(pingPong(1, 0))
		g.Say(routertest.Group("b"), routertest.Guest, "make a session here")
		g.Shown(1)
		g.Say(routertest.Group("a"), routertest.Guest, "ask b")
		accepted := false
		for _, c := range g.Shown(3) {
			accepted = accepted || strings.Contains(c.Out.Text, `"accepted"`)
		}
		if !accepted {
			t.Error("the tool did not say accepted")
		}
		runs, err := g.Store.ListRuns(t.Context(), sessions.RunQuery{Key: "agent:main:fake:group:b", Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range runs {
			if r.Kind == sessions.AskRun {
				if got, err := g.Router.Committer.Wait(t.Context(), r.ID); err != nil || got.Result != "round one" {
					t.Errorf("waiting for a finished run: %+v, %v", got, err)
				}
			}
		}
	})
}

// TestWaitingHoldsNoSlot has as many askers as there are slots: all of them get their answers.
func TestWaitingHoldsNoSlot(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, func(s *settings.Snapshot) { s.Agents.Defaults.MaxConcurrent = 1 })
		g.Model.Set(pingPong(1, 30))
		g.Say(routertest.Group("b"), routertest.Guest, "make a session here")
		g.Shown(1)
		began := time.Now()
		g.Say(routertest.Group("a"), routertest.Guest, "ask b")
		g.Shown(3)
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("it took %s of the 30 s deadline", took)
		}
	})
}
