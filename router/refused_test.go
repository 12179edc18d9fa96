package router_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/channels/channeltest"
	"parley/router"
	"parley/router/routertest"
	"parley/router/settings"
	"parley/sessions"
	"parley/tools"
)

// filtered is a model whose provider refuses each prompt that has the word poison in it, wherever it stands, as filters of content do.
// source: https://learn.microsoft.com/azure/ai-services/openai/concepts/content-filter, openclaw/openclaw#71455
func filtered(class agent.ErrorClass) func(context.Context, agent.Prompt) (agent.Answer, error) {
	return func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
		if strings.HasSuffix(routertest.LastUser(p), "is it down?") { // and so it has not read it
			return agent.Answer{}, &agent.ModelError{Class: agent.Unreachable, Provider: "mock", Tries: 3, Err: errors.New("down")}
		}
		if strings.HasSuffix(routertest.LastUser(p), "wait") {
			<-ctx.Done()
			return agent.Answer{}, ctx.Err()
		}
		if b, _ := json.Marshal(p.Messages); strings.Contains(p.System+string(b), "poison") {
			if class == "" { // it says so as an answer
				return agent.Answer{Stop: agent.StopFilter, Usage: sessions.Usage{Input: 10}}, nil
			}
			return agent.Answer{}, &agent.ModelError{Class: class, Provider: "mock", Status: 400, Tries: 1, Said: "content_filter", Err: errors.New("content_filter")}
		}
		switch newest := routertest.Last(p); {
		case routertest.IsSummary(p):
			return routertest.Text("they talked"), nil
		case newest.Role == sessions.ToolResult:
			return routertest.Text("the tool is done"), nil
		case strings.HasSuffix(newest.Text(), "note it"):
			return routertest.Call("c1", "remember", map[string]any{"text": "poi" + "son"}), nil
		}
		return routertest.Text("echo: " + routertest.LastUser(p)), nil
	}
}

// TestRefusedTurnIsLeftOut has a turn refused in each way, and wants the next turns to be answered: from memory, after a restart, and behind
// a compaction, whose own prompt has nothing of it. The transcript keeps what was said, and marks the notice.
func TestRefusedTurnIsLeftOut(t *testing.T) {
	for name, c := range map[string]struct {
		class agent.ErrorClass
		say   []string // in turn; none of them is echoed
	}{
		"a message":        {class: agent.Refused, say: []string{"this is poison"}},
		"a bad request":    {class: agent.BadRequest, say: []string{"this is poison"}},
		"a call of a tool": {class: agent.BadRequest, say: []string{"note it"}},
		"twice":            {class: agent.Refused, say: []string{"this is poison", "this is poison, too"}},
	} {
		t.Run(name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g := routertest.New(t, channeltest.Options{}, routertest.FewTools)
				chat := routertest.Direct("a")
				g.Model.Set(filtered(c.class))
				answered := func(words string) {
					t.Helper()
					if got := g.Asks(chat, routertest.Guest, words); got != "echo: "+strings.TrimSpace(words) {
						t.Errorf("%q is answered %q", words, got)
					}
					if p := strings.Join(g.LastPrompt(), "\n"); strings.Contains(p, "poison") {
						t.Errorf("the prompt of %q:\n%s", words, p)
					}
				}
				answered("hello. " + routertest.Fill)
				for _, words := range c.say {
					if got := g.Asks(chat, routertest.Guest, words); strings.HasPrefix(got, "echo") {
						t.Fatalf("%q is answered %q", words, got)
					}
				}
				answered("from memory. " + routertest.Fill)
				if p := strings.Join(g.LastPrompt(), "\n"); !strings.Contains(p, "hello. ") {
					t.Errorf("what was answered is not shown either:\n%s", p)
				}
				g.Stop()
				g.Start()
				answered("after a restart. " + routertest.Fill)
				if got := g.Asks(chat, routertest.Guest, "/compact"); !strings.Contains(got, "Compacted") {
					t.Errorf("/compact: %q", got)
				}
				answered("behind a compaction")
				g.Stop()
				g.Start()
				answered("after all of it")

				all, _ := json.Marshal(g.Transcript(routertest.GuestKey))
				marked := 0
				for _, m := range g.Transcript(routertest.GuestKey) {
					if m.IsRefusal() {
						marked++
					}
				}
				if marked == 0 || name != "a call of a tool" && !strings.Contains(string(all), "poison") {
					t.Errorf("%d notices are marked, in %s", marked, all)
				}
			})
		})
	}
}

// TestRefusedBehindAStop: what a stopped turn was asked was never taken by the provider: the next turn is answered without it, and it stays out.
func TestRefusedBehindAStop(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, routertest.FewTools)
		g.Model.Set(filtered(agent.BadRequest))
		chat := routertest.Direct("a")
		g.Asks(chat, routertest.Guest, "hello")
		g.Say(chat, routertest.Guest, "poison, wait")
		g.Until("it is at work", func() bool { return g.Model.Count() == 2 })
		g.Asks(chat, routertest.Guest, "/stop")
		for _, words := range []string{"now?", "and again"} {
			if got := g.Asks(chat, routertest.Guest, words); got != "echo: "+words {
				t.Errorf("%q is answered %q", words, got)
			}
		}
	})
}

// TestNeverRead: what came while the provider was down is left out once it was refused.
func TestNeverRead(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, routertest.FewTools)
		g.Model.Set(filtered(agent.Refused))
		chat := routertest.Direct("a")
		for _, words := range []string{"hello", "poison: is it down?", "and now?", "and again"} {
			if got := g.Asks(chat, routertest.Guest, words); strings.HasPrefix(got, "echo") == strings.Contains(words, "poison") {
				t.Errorf("%q is answered %q", words, got)
			}
		}
		if p := strings.Join(g.LastPrompt(), "\n"); !strings.Contains(p, "hello") || !strings.Contains(p, "and now?") || strings.Contains(p, "poison") {
			t.Errorf("the prompt:\n%s", p)
		}
	})
}

// TestStricterModel: each harmless message is answered when a model refuses what an earlier one took, however far back it was said, over a
// restart; each costs at most one refused request, and after a few of them none.
//
// source: https://learn.microsoft.com/azure/ai-services/openai/concepts/content-filter, the whole prompt is judged; Azure/azure-sdk-for-net#43837
func TestStricterModel(t *testing.T) {
	for behind := range 6 { // harmless turns since
		t.Run(fmt.Sprint(behind), func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g := routertest.New(t, channeltest.Options{}, routertest.FewTools)
				chat, asked := routertest.Direct("a"), 0
				g.Asks(chat, routertest.Guest, "this was poison")
				for i := range behind {
					g.Asks(chat, routertest.Guest, fmt.Sprintf("harmless %d", i))
				}
				strict := filtered(agent.Refused)
				g.Model.Set(func(ctx context.Context, p agent.Prompt) (agent.Answer, error) { asked++; return strict(ctx, p) })
				refused := 0
				for i := range 6 {
					before, words := asked, fmt.Sprintf("question %d", i)
					if i == 2 {
						g.Stop()
						g.Start()
					}
					if got := g.Asks(chat, routertest.Guest, words); got != "echo: "+words {
						t.Errorf("%q is answered %q", words, got)
					}
					refused += asked - before - 1
				}
				if refused < 1 || refused > 4 {
					t.Errorf("%d requests were refused", refused)
				}
				if p := strings.Join(g.LastPrompt(), "\n"); !strings.Contains(p, "question 4") {
					t.Errorf("what was answered since is not shown:\n%s", p)
				}
			})
		})
	}
}

// TestRefusedSubAgent: a task that the provider refused is reported as failed, and neither the report nor what is asked later is refused for it.
func TestRefusedSubAgent(t *testing.T) {
	for name, mode := range map[string]string{"announced": "", "told to the requester": "requester"} {
		t.Run(name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g := routertest.New(t, channeltest.Options{}, func(s *settings.Snapshot) { s.Agents.Defaults.Subagents.Announce = mode })
				g.Say(routertest.Group("a"), routertest.Guest, "hello")
				g.Shown(1)
				g.Idle(1)
				g.Model.Set(filtered(agent.Refused))
				g.Spawn(tools.SpawnRequest{Source: "s", Task: "the task is poison", From: tools.Caller{Session: g.Session(routertest.KeyA), Run: sessions.Run{Reply: routertest.Group("a")}}})
				calls := g.Shown(2)
				if got := calls[1].Out.Text; mode == "" && !strings.Contains(got, "Status: error") || strings.Contains(got, "poison") {
					t.Errorf("reported: %q", got)
				}
				for _, r := range g.Idle(3)[2:] {
					if r.Status != sessions.Done {
						t.Errorf("the %s step is %s: %s", r.Kind, r.Status, r.Error)
					}
				}
				if got := g.Asks(routertest.Group("a"), routertest.Guest, "and now?"); !strings.HasPrefix(got, "echo") {
					t.Errorf("the requester says %q", got)
				}
			})
		})
	}
}

// TestRefusedExchangeAndJob: another session's question and a job that are refused leave their sessions as they were.
func TestRefusedExchangeAndJob(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.TwoChats(t, filtered(agent.Refused))
		ask := func(source, words string) sessions.Run {
			t.Helper()
			run, err := g.Router.ToolHost.Ask(t.Context(), tools.AskRequest{Source: source, From: tools.Caller{Session: g.Session(routertest.KeyA)}, To: routertest.KeyB, Message: words})
			if err != nil {
				t.Fatal(err)
			}
			g.Until("it has ended", func() bool { r, err := g.Store.GetRun(t.Context(), run.ID); return err == nil && r.Status.Final() })
			run, err = g.Store.GetRun(t.Context(), run.ID)
			routertest.Check(t, err)
			return run
		}
		if r := ask("1", "poison"); r.Status != sessions.Failed {
			t.Fatalf("%s: %s", r.Status, r.Error)
		}
		if r := ask("2", "fine"); r.Status != sessions.Done {
			t.Errorf("what is asked next is %s: %s", r.Status, r.Error)
		}
		if got := g.Asks(routertest.Group("b"), routertest.Guest, "and here?"); !strings.HasPrefix(got, "echo") {
			t.Errorf("the session that was asked says %q", got)
		}
		if got := g.Asks(routertest.Group("a"), routertest.Guest, "and there?"); !strings.HasPrefix(got, "echo") {
			t.Errorf("the session that asked says %q", got)
		}
	})
}

// TestProviderWords: who reads what the provider said of a failure.
func TestProviderWords(t *testing.T) {
	for name, c := range map[string]struct {
		to   channels.Address
		from string
		want string
	}{
		"an owner in a direct chat": {routertest.Direct("a"), routertest.Owner, "\n\nThe provider says: `no *access* with [hidden] to 'm'`\n\nSet `api` at this provider."},
		"a guest":                   {routertest.Direct("a"), routertest.Guest, ""},
		"an owner in a group":       {routertest.Group("a"), routertest.Owner, ""},
	} {
		t.Run(name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				e := &agent.ModelError{Class: agent.BadKey, Provider: "mock", Tries: 1, Said: "no *access*\nwith sk-secret to `m`", Hint: "Set `api` at this provider.", Err: errors.New("401")}
				hide := func(d *router.Deps) {
					d.Redact = func(s string) string { return strings.ReplaceAll(s, "sk-secret", "[hidden]") }
				}
				g := routertest.With(t, hide, channeltest.Options{})
				g.Model.Set(func(context.Context, agent.Prompt) (agent.Answer, error) { return agent.Answer{}, e })
				if got, want := g.Asks(c.to, c.from, "hello"), e.Notice()+c.want; got != want {
					t.Errorf("%q, want %q", got, want)
				}
				<-time.After(time.Second)
				long := *e
				long.Said = strings.Repeat("x", 1000)
				g.Model.Set(func(context.Context, agent.Prompt) (agent.Answer, error) { return agent.Answer{}, &long })
				if got := g.Asks(c.to, c.from, "hello"); len(got) > len(e.Notice())+360 {
					t.Errorf("%d bytes", len(got))
				}
			})
		})
	}
}
