package command_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/channels/channeltest"
	"parley/router/routertest"
	"parley/router/settings"
	"parley/sessions"
)

// /compact sums up at once, behind the running turn, with an eye on what was asked for, and says how much; the transcript stays.
func TestCompactCommand(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, routertest.EachAlone, routertest.FewTools)
		routertest.Narrow(g, 100_000)
		g.Model.Set(func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
			if routertest.IsSummary(p) {
				return routertest.Text("they talked"), nil
			}
			channels.Sleep(ctx, time.Second)
			return routertest.Text("answer. " + routertest.Fill), nil
		})
		g.Say(routertest.Direct("a"), routertest.Guest, "/compact")
		if shown := g.Shown(1); shown[0].Out.Text != "⚙️ There is nothing to compact yet: 0 messages, "+between(shown[0].Out.Text, "messages, ", " tokens")+" tokens." {
			t.Errorf("of nothing: %q", shown[0].Out.Text)
		}
		g.Say(routertest.Direct("a"), routertest.Guest, "hello")
		g.Shown(2)
		g.Say(routertest.Direct("a"), routertest.Guest, "/compact nothing of this")
		if shown := g.Shown(3); !strings.Contains(shown[2].Out.Text, "nothing to compact yet: 2 messages") {
			t.Errorf("of little: %q", shown[2].Out.Text)
		}
		for i := range 10 {
			g.Say(routertest.Direct("a"), routertest.Guest, fmt.Sprintf("message %d. %s", i, routertest.Fill))
		}
		g.Say(routertest.Direct("a"), routertest.Guest, "/compact the numbers")
		shown := g.Shown(14)
		notice := shown[13].Out.Text
		if !strings.HasPrefix(notice, "⚙️ Compacted: 20 ") || !strings.Contains(notice, " messages, ") || !strings.Contains(notice, "k → ") {
			t.Errorf("the notice is %q", notice)
		}
		turns, summaries := g.Model.ByKind()
		if len(turns) != 11 || strings.Contains(strings.Join(shapesOf(turns[1]), "|"), "nothing of this") || len(summaries) != 1 || !strings.Contains(routertest.LastUser(summaries[0]), `"the numbers"`) {
			t.Fatalf("%d turns, %d summaries", len(turns), len(summaries))
		}
		g.Say(routertest.Direct("a"), routertest.Guest, "and now?")
		g.Shown(15)
		turns, _ = g.Model.ByKind()
		if p := turns[11]; !agent.IsSummary(p.Messages[0]) || len(p.Messages) > 5 || routertest.Last(p).Text() != "and now?" {
			t.Errorf("the turn after it is shown %q", shapesOf(p))
		}
		for _, m := range g.Transcript(routertest.GuestKey) {
			if strings.Contains(m.Text(), "the numbers") || strings.Contains(m.Text(), "nothing of this") || strings.Contains(m.Text(), "Compacted") {
				t.Errorf("the transcript has %q", m.Text())
			}
		}
		if s := g.Session(routertest.GuestKey); s.Turns != 12 {
			t.Errorf("%d turns are counted", s.Turns)
		}
	})
}

// between cuts out what is between two texts.
func between(s, from, to string) string {
	_, s, _ = strings.Cut(s, from)
	s, _, _ = strings.Cut(s, to)
	return s
}

// A summary that a person asked for and that fails is told.
func TestCompactCommandFails(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, routertest.FewTools)
		routertest.Narrow(g, 100_000)
		chat(g, 6)
		g.Model.Set(func(context.Context, agent.Prompt) (agent.Answer, error) {
			return agent.Answer{}, &agent.ModelError{Class: agent.Overloaded}
		})
		g.Say(routertest.Direct("a"), routertest.Guest, "/compact")
		if shown := g.Shown(7); !strings.Contains(shown[6].Out.Text, "had a problem") {
			t.Errorf("the chat reads %q", shown[6].Out.Text)
		}
	})
}

// /context says what fills the window, also while a turn is running, and changes nothing.
func TestContextCommand(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, routertest.FewTools)
		routertest.Narrow(g, 6000)
		if got := g.Asks(routertest.Direct("a"), routertest.Guest, "/context"); got != "This session has no messages yet." {
			t.Errorf("of nothing: %q", got)
		}
		chat(g, 14)
		for _, c := range []struct {
			words string
			want  []string
			not   string
		}{
			{"/context", []string{"of 6.0k tokens", "System prompt: ", "Tools (2): ", "Summary of ", "Messages (", "Above 4.8k tokens or 400 messages"}, "`recall`"},
			{"/context list", []string{"Tools (2): "}, "`recall`"},
			{"/context detail", []string{"  - `recall`: ", "  - `of people and sessions` (", "  - `of the agent` ("}, "Usage"},
			{"/context more", []string{"Usage: /context"}, "Tools"},
		} {
			got := g.Asks(routertest.Direct("a"), routertest.Guest, c.words)
			for _, want := range c.want {
				if !strings.Contains(got, want) {
					t.Errorf("%s: %q is not in %q", c.words, want, got)
				}
			}
			if strings.Contains(got, c.not) {
				t.Errorf("%s: %q", c.words, got)
			}
		}
		if turns, _ := g.Model.ByKind(); len(turns) != 14 {
			t.Errorf("%d turns", len(turns))
		}
	})
}

// A session starts over with the message that finds it stale, in one commit: its settings stay, the old transcript stays readable. It
// does not while something is running in it, or below it.
func TestSessionStartsOver(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, routertest.EachAlone, func(s *settings.Snapshot) {
			s.Session.Reset = sessions.ResetRule{Mode: "idle", IdleMinutes: 60}
			s.Agents.Defaults.TimeoutSeconds = 86400
		})
		g.Model.Set(func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
			switch q := routertest.LastUser(p); {
			case strings.Contains(p.System, "sub-agent"), q == "slow":
				channels.Sleep(ctx, 3*time.Hour)
			case q == "spawn" && routertest.Last(p).Role != sessions.ToolResult:
				return routertest.Call("s1", "sessions_spawn", map[string]any{"task": "x"}), nil
			}
			return routertest.Text("yes"), nil
		})
		says := func(words string, n int) sessions.Session {
			g.Say(routertest.Direct("a"), routertest.Guest, words)
			g.Shown(n)
			synctest.Wait()
			return g.Session(routertest.GuestKey)
		}
		first := says("one", 1)
		model := "mock/other"
		if _, err := g.Router.Patch(t.Context(), routertest.GuestKey, sessions.Patch{Model: &model}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(59 * time.Minute)
		if s := says("two", 2); s.ID != first.ID {
			t.Error("it started over too early")
		}
		time.Sleep(61 * time.Minute)
		second := says("three", 3)
		if second.ID == first.ID || second.Settings.Model != model || len(g.LastPrompt()) != 1 {
			t.Errorf("%s, then %+v; the model is shown %q", first.ID, second, g.LastPrompt())
		}
		if old, err := g.Store.Tail(t.Context(), first.ID, sessions.TailQuery{}); err != nil || len(old) != 4 {
			t.Errorf("%d messages are in the old transcript (%v)", len(old), err)
		}
		g.Say(routertest.Direct("a"), routertest.Guest, "slow")
		time.Sleep(2 * time.Hour)
		if s := says("while it is slow", 5); s.ID != second.ID {
			t.Error("it started over while a turn was at work")
		}
		says("spawn", 6)
		time.Sleep(2 * time.Hour)
		if s := says("while a sub-agent is at work", 7); s.ID != second.ID {
			t.Error("it started over while a sub-agent was at work")
		}
	})
}

// A session whose model is configured no more has an answer to each command: one that could not be taken would come again for ever.
func TestCommandsWithoutTheModel(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		g.Asks(routertest.Direct(routertest.Owner), routertest.Owner, "hello")
		gone := "gone/model"
		if _, err := g.Store.Patch(t.Context(), "agent:main:main", sessions.Patch{Model: &gone}); err != nil {
			t.Fatal(err)
		}
		if got := g.Asks(routertest.Direct(routertest.Owner), routertest.Owner, "/context"); !strings.HasPrefix(got, "⚠️ The model of this session, `gone/model`, cannot be used.") {
			t.Errorf("/context: %q", got)
		}
		for _, cmd := range []string{"/status", "/model", "/usage", "/compact", "/queue", "/think", "/new", "hello"} {
			g.Asks(routertest.Direct(routertest.Owner), routertest.Owner, cmd)
		}
	})
}
