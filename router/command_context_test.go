package router

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/agent"
	"parley/channels/channeltest"
	"parley/sessions"
)

// /compact sums up at once, behind the turn at work, with an eye on what was asked for, and says how much; the transcript stays.
func TestCompactCommand(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{}, eachAlone, fewTools)
		narrow(g, 100_000)
		g.model.set(func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
			if sums(p) {
				return text("they talked"), nil
			}
			sleep(ctx, time.Second)
			return text("answer. " + fill), nil
		})
		g.say(direct("a"), guest, "/compact")
		if shown := g.shown(1); shown[0].Out.Text != "⚙️ There is nothing to compact yet: 0 messages, "+between(shown[0].Out.Text, "messages, ", " tokens")+" tokens." {
			t.Errorf("of nothing: %q", shown[0].Out.Text)
		}
		g.say(direct("a"), guest, "hello")
		g.shown(2)
		g.say(direct("a"), guest, "/compact nothing of this")
		if shown := g.shown(3); !strings.Contains(shown[2].Out.Text, "nothing to compact yet: 2 messages") {
			t.Errorf("of little: %q", shown[2].Out.Text)
		}
		for i := range 10 {
			g.say(direct("a"), guest, fmt.Sprintf("message %d. %s", i, fill))
		}
		g.say(direct("a"), guest, "/compact the numbers")
		shown := g.shown(14)
		notice := shown[13].Out.Text
		if !strings.HasPrefix(notice, "⚙️ Compacted: 20 ") || !strings.Contains(notice, " messages, ") || !strings.Contains(notice, "k → ") {
			t.Errorf("the notice is %q", notice)
		}
		turns, summaries := g.model.byKind()
		if len(turns) != 11 || strings.Contains(strings.Join(shapesOf(turns[1]), "|"), "nothing of this") || len(summaries) != 1 || !strings.Contains(lastUser(summaries[0]), `"the numbers"`) {
			t.Fatalf("%d turns, %d summaries", len(turns), len(summaries))
		}
		g.say(direct("a"), guest, "and now?")
		g.shown(15)
		turns, _ = g.model.byKind()
		if p := turns[11]; !agent.IsSummary(p.Messages[0]) || len(p.Messages) > 5 || last(p).Text() != "and now?" {
			t.Errorf("the turn after it is shown %q", shapesOf(p))
		}
		for _, m := range g.transcript(guestKey) {
			if strings.Contains(m.Text(), "the numbers") || strings.Contains(m.Text(), "nothing of this") || strings.Contains(m.Text(), "Compacted") {
				t.Errorf("the transcript has %q", m.Text())
			}
		}
		if s := g.session(guestKey); s.Turns != 12 {
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
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{}, fewTools)
		narrow(g, 100_000)
		g.chat(6)
		g.model.set(func(context.Context, agent.Prompt) (agent.Answer, error) {
			return agent.Answer{}, &agent.ModelError{Class: agent.Overloaded}
		})
		g.say(direct("a"), guest, "/compact")
		if shown := g.shown(7); !strings.Contains(shown[6].Out.Text, "had a problem") {
			t.Errorf("the chat reads %q", shown[6].Out.Text)
		}
	})
}

// /context says what fills the window, also while a turn is at work, and changes nothing.
func TestContextCommand(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{}, fewTools)
		narrow(g, 6000)
		if got := g.asks(direct("a"), guest, "/context"); got != "Nothing has been said in this session yet." {
			t.Errorf("of nothing: %q", got)
		}
		g.chat(14)
		for _, c := range []struct {
			words string
			want  []string
			not   string
		}{
			{"/context", []string{"of 6.0k tokens", "System prompt: ", "Tools (2): ", "Summary of ", "Messages (", "above 4.8k tokens or 400 messages"}, "`recall`"},
			{"/context list", []string{"Tools (2): "}, "`recall`"},
			{"/context detail", []string{"  - `recall`: ", "  - `of people and sessions` (", "  - `of the agent` ("}, "Usage"},
			{"/context more", []string{"Usage: /context"}, "Tools"},
		} {
			got := g.asks(direct("a"), guest, c.words)
			for _, want := range c.want {
				if !strings.Contains(got, want) {
					t.Errorf("%s: %q is not in %q", c.words, want, got)
				}
			}
			if strings.Contains(got, c.not) {
				t.Errorf("%s: %q", c.words, got)
			}
		}
		if turns, _ := g.model.byKind(); len(turns) != 14 {
			t.Errorf("%d turns", len(turns))
		}
	})
}

// A session starts over with the message that finds it stale, in one commit: its settings stay, the old transcript stays readable. It
// does not while something is at work in it, or below it.
func TestSessionStartsOver(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{}, eachAlone, func(s *Settings) {
			s.Session.Reset = sessions.ResetRule{Mode: "idle", IdleMinutes: 60}
			s.Agents.Defaults.TimeoutSeconds = 86400
		})
		g.model.set(func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
			switch q := lastUser(p); {
			case strings.Contains(p.System, "sub-agent"), q == "slow":
				sleep(ctx, 3*time.Hour)
			case q == "spawn" && last(p).Role != sessions.ToolResult:
				return call("s1", "sessions_spawn", map[string]any{"task": "x"}), nil
			}
			return text("yes"), nil
		})
		says := func(words string, n int) sessions.Session {
			g.say(direct("a"), guest, words)
			g.shown(n)
			synctest.Wait()
			return g.session(guestKey)
		}
		first := says("one", 1)
		model := "mock/other"
		if _, err := g.r.Patch(t.Context(), guestKey, sessions.Patch{Model: &model}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(59 * time.Minute)
		if s := says("two", 2); s.ID != first.ID {
			t.Error("it started over too early")
		}
		time.Sleep(61 * time.Minute)
		second := says("three", 3)
		if second.ID == first.ID || second.Settings.Model != model || len(g.lastPrompt()) != 1 {
			t.Errorf("%s, then %+v; the model is shown %q", first.ID, second, g.lastPrompt())
		}
		if old, err := g.store.Tail(t.Context(), first.ID, sessions.TailQuery{}); err != nil || len(old) != 4 {
			t.Errorf("%d messages are in the old transcript (%v)", len(old), err)
		}
		g.say(direct("a"), guest, "slow")
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
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{})
		g.asks(direct(owner), owner, "hello")
		gone := "gone/model"
		if _, err := g.store.Patch(t.Context(), "agent:main:main", sessions.Patch{Model: &gone}); err != nil {
			t.Fatal(err)
		}
		if got := g.asks(direct(owner), owner, "/context"); !strings.HasPrefix(got, "⚠️ The model of this session, `gone/model`, cannot be used.") {
			t.Errorf("/context: %q", got)
		}
		for _, cmd := range []string{"/status", "/model", "/usage", "/compact", "/queue", "/think", "/new", "hello"} {
			g.asks(direct(owner), owner, cmd)
		}
	})
}
