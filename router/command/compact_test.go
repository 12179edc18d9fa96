package command_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
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

// chat fills a session with so many turns.
func chat(g *routertest.Rig, turns int) {
	g.T.Helper()
	before := len(g.Fake.Shown(routertest.Direct("a")))
	for i := range turns {
		g.Say(routertest.Direct("a"), routertest.Guest, fmt.Sprintf("message %d. %s", i, routertest.Fill))
		g.Shown(before + i + 1)
		time.Sleep(time.Second)
	}
}

// The older part of a session is summed up before the window is full: the summary stands in its place, with the host named as its
// source, its cost is in the ledger, the next one is made of it, and the transcript is as it was.
func TestSummaryStandsForTheOlderPart(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, routertest.FewTools)
		routertest.Narrow(g, 6000)
		n := 0
		g.Model.Set(func(_ context.Context, p agent.Prompt) (agent.Answer, error) {
			if routertest.IsSummary(p) {
				n++
				return routertest.Text(fmt.Sprintf("summary %d: they talked", n)), nil
			}
			return routertest.Text("answer. " + routertest.Fill), nil
		})
		chat(g, 30)
		turns, summaries := g.Model.ByKind()
		if len(summaries) < 2 || len(summaries) > 10 {
			t.Fatalf("%d summaries", len(summaries))
		}
		first := turns[len(turns)-1].Messages[0]
		want := fmt.Sprintf("summary %d: they talked", n)
		if p := first.Provenance; !agent.IsSummary(first) || !strings.Contains(first.Text(), want) || p.Kind != sessions.InternalSystem {
			t.Errorf("the last turn begins with %q of %+v", first.Text(), p)
		}
		if !strings.Contains(routertest.LastUser(summaries[1]), "summary 1: they talked") {
			t.Errorf("the second summary is made of %.200q", routertest.LastUser(summaries[1]))
		}
		for i, p := range turns {
			if tokens := agent.PromptTokens(p.System, p.Tools, p.Messages); tokens > 4800 {
				t.Errorf("prompt %d has %d tokens", i, tokens)
			}
			if newest := routertest.Last(p).Text(); !strings.HasPrefix(newest, fmt.Sprintf("message %d.", i)) {
				t.Errorf("turn %d ends with %.30q", i, newest)
			}
		}
		if all := g.Transcript(routertest.GuestKey); len(all) != 60 || slices.ContainsFunc(all, func(m sessions.Message) bool { return strings.Contains(m.Text(), "they talked") }) {
			t.Errorf("%d messages are in the transcript", len(all))
		}
		s := g.Session(routertest.GuestKey)
		days, err := g.Store.Spending(t.Context(), sessions.SpentQuery{BilledTo: s.Key}, time.UTC)
		if err != nil || len(days) != 1 || days[0].Calls != 30+n {
			t.Errorf("the ledger has %+v, %d summaries were made (%v)", days, n, err)
		}
	})
}

// A very long turn is summed up while it continues: the message that it answers stays, no call is shown without its result, and after a
// kill between the summary and the next step it continues where it stood.
func TestSummaryInsideOfATurn(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, routertest.FewTools)
		routertest.Narrow(g, 6000)
		hold := make(chan struct{})
		g.Model.Set(func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
			time.Sleep(time.Second)
			switch done, cut := strings.Count(fmt.Sprint(shapesOf(p)), "fact"), agent.IsSummary(p.Messages[0]); {
			case routertest.IsSummary(p):
				return routertest.Text("facts were noted"), nil
			case cut && hold != nil: // the first step after the summary
				close(hold)
				<-ctx.Done()
				return agent.Answer{}, ctx.Err()
			case cut && done > 4:
				return routertest.Text("all noted"), nil
			default:
				n := g.Model.Count()
				return routertest.Call(fmt.Sprint("c", n), "remember", map[string]any{"text": fmt.Sprintf("fact %d %s", n, routertest.Fill)}), nil
			}
		})
		g.Say(routertest.Direct("a"), routertest.Guest, "note all that you know")
		<-hold
		g.Stop()
		hold = nil
		_, before := g.Model.ByKind()
		g.Start()
		if shown := g.Shown(1); shown[0].Out.Text != "all noted" {
			t.Errorf("the answer is %q", shown[0].Out.Text)
		}
		turns, summaries := g.Model.ByKind()
		if len(before) == 0 || len(summaries) != len(before) {
			t.Errorf("%d summaries before the kill, %d in all", len(before), len(summaries))
		}
		for i, p := range turns {
			checkPairs(t, p)
			inputs := 0
			for _, m := range p.Messages {
				if m.Text() == "note all that you know" {
					inputs++
				}
			}
			if inputs != 1 {
				t.Errorf("prompt %d has its input %d times: %q", i, inputs, shapesOf(p))
			}
		}
		notes, err := g.Store.Notes(t.Context(), sessions.NoteQuery{Agent: "main", Limit: 1000})
		calls := 0
		for _, m := range g.Transcript(routertest.GuestKey) {
			calls += len(m.ToolCalls())
		}
		if err != nil || len(notes) != calls || calls < 10 {
			t.Errorf("%d notes of %d calls (%v)", len(notes), calls, err)
		}
	})
}

// What a turn has merged needs an answer: it stays, in its order and once, when the turn is summed up while it continues, also after
// a kill.
func TestSummaryKeepsWhatWasTakenUp(t *testing.T) {
	for mode, want := range map[sessions.QueueMode][]string{
		sessions.Collect: {"second question", "third question"}, // the first one has a turn of its own
		sessions.Steer:   {"first question", "second question", "third question"},
	} {
		t.Run(string(mode), func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g := routertest.New(t, channeltest.Options{}, routertest.FewTools, routertest.WithQueue(sessions.Queue{Mode: mode}))
				routertest.Narrow(g, 6000)
				hold := make(chan struct{})
				g.Model.Set(func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
					channels.Sleep(ctx, time.Second)
					cut := agent.IsSummary(p.Messages[0])
					switch {
					case routertest.IsSummary(p):
						return routertest.Text("they talked"), nil
					case cut && hold != nil:
						close(hold)
						<-ctx.Done()
						return agent.Answer{}, ctx.Err()
					case cut, mode == sessions.Collect && g.Model.Count() == 1:
						return routertest.Text("done"), nil
					}
					return routertest.Call(fmt.Sprint("c", g.Model.Count()), "remember", map[string]any{"text": strings.Repeat(routertest.Fill, 3)}), nil
				})
				g.Say(routertest.Direct("a"), routertest.Guest, "first question")
				for _, more := range []string{"second question", "third question"} {
					<-time.After(100 * time.Millisecond)
					g.Say(routertest.Direct("a"), routertest.Guest, more)
				}
				<-hold
				g.Stop()
				hold = nil
				g.Start()
				g.Shown(4 - len(want)) // answers
				turns, _ := g.Model.ByKind()
				cuts := 0
				for _, p := range turns {
					if !agent.IsSummary(p.Messages[0]) {
						continue
					}
					cuts++
					var asked []string
					for _, m := range p.Messages {
						if m.Role == sessions.User && strings.HasSuffix(m.Text(), "question") {
							asked = append(asked, m.Text())
						}
					}
					if !slices.Equal(asked, want) {
						t.Errorf("a turn that answers %q is shown %q", want, asked)
					}
				}
				if cuts < 2 {
					t.Errorf("%d prompts with a summary", cuts)
				}
			})
		})
	}
}

// shapesOf is a prompt in short.
func shapesOf(p agent.Prompt) (out []string) {
	for _, m := range p.Messages {
		line := string(m.Role) + " " + m.ToolCallID + " " + m.Text()[:min(len(m.Text()), 40)]
		for _, c := range m.ToolCalls() {
			line += " " + c.ID + string(c.Arguments[:min(len(c.Arguments), 20)])
		}
		out = append(out, line)
	}
	return out
}

// checkPairs wants every call of a prompt to have its result behind it, and every result its call before it.
func checkPairs(t *testing.T, p agent.Prompt) {
	t.Helper()
	open := make(map[string]bool)
	for _, m := range p.Messages {
		for _, c := range m.ToolCalls() {
			open[c.ID] = true
		}
		if m.Role == sessions.ToolResult {
			if !open[m.ToolCallID] {
				t.Errorf("result %s without its call in %q", m.ToolCallID, shapesOf(p))
			}
			delete(open, m.ToolCallID)
		}
	}
	if len(open) > 0 {
		t.Errorf("calls %v without result in %q", open, shapesOf(p))
	}
}

// After a summary the agent is told what the store says is under way: sub-agents, messages that wait, jobs.
func TestOpenWorkIsRestated(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, routertest.EachAlone, func(s *settings.Snapshot) { s.Agents.Defaults.HistoryLimit = 6 })
		g.Model.Set(func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
			switch {
			case routertest.IsSummary(p):
				return routertest.Text("a summary"), nil
			case strings.Contains(p.System, "sub-agent"):
				<-ctx.Done()
				return agent.Answer{}, ctx.Err()
			case routertest.LastUser(p) == "spawn":
				if routertest.Last(p).Role == sessions.ToolResult {
					return routertest.Text("started"), nil
				}
				return routertest.Call("s1", "sessions_spawn", map[string]any{"task": "count `the` sheep", "label": "shepherd"}), nil
			case strings.HasPrefix(routertest.LastUser(p), "slow"):
				channels.Sleep(ctx, time.Minute)
			}
			return routertest.Text("yes"), nil
		})
		g.Say(routertest.Direct("a"), routertest.Guest, "spawn")
		g.Shown(1)
		if _, err := g.Router.Committer.Submit(t.Context(), sessions.Change{Ops: []sessions.Op{sessions.PutJob{ID: "j1", Name: "tea", Agent: "main", Every: time.Hour, Message: "make tea", From: routertest.GuestKey,
			Next: time.Now().Add(24 * time.Hour)}}}); err != nil {
			t.Fatal(err)
		}
		for i := range 4 {
			g.Say(routertest.Direct("a"), routertest.Guest, fmt.Sprint("hello ", i))
			g.Shown(i + 2)
		}
		g.Say(routertest.Direct("a"), routertest.Guest, "slow")
		synctest.Wait()
		g.Say(routertest.Direct("a"), routertest.Guest, "next")
		g.Say(routertest.Direct("a"), routertest.Guest, "and one more")
		g.Shown(8)
		turns, summaries := g.Model.ByKind()
		if len(summaries) == 0 {
			t.Fatal("no summary")
		}
		i := slices.IndexFunc(turns, func(p agent.Prompt) bool { return routertest.Last(p).Text() == "next" })
		msgs := turns[i].Messages
		open := msgs[len(msgs)-2]
		for _, want := range []string{"`shepherd`", "count 'the' sheep", "answered after this turn: 1", "`j1`", "make tea"} {
			if p := open.Provenance; p == nil || p.Kind != sessions.InternalSystem || !strings.Contains(open.Text(), want) {
				t.Errorf("%q is not in %q", want, open.Text())
			}
		}
	})
}

// Where no summary can be had, older messages are left out of that turn, nothing is kept of it, and the next turn tries again.
func TestSummaryThatFails(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, routertest.FewTools)
		routertest.Narrow(g, 6000)
		fails := true
		g.Model.Set(func(_ context.Context, p agent.Prompt) (agent.Answer, error) {
			if routertest.IsSummary(p) && fails {
				return agent.Answer{}, &agent.ModelError{Class: agent.Overloaded, Err: errors.New("scripted")}
			}
			return routertest.Text("answer. " + routertest.Fill), nil
		})
		chat(g, 14)
		s := g.Session(routertest.GuestKey)
		if _, ok, err := g.Store.Summary(t.Context(), s.ID); ok || err != nil {
			t.Errorf("a summary is kept (%v)", err)
		}
		turns, tried := g.Model.ByKind()
		if p := turns[len(turns)-1]; len(tried) < 2 || agent.PromptTokens(p.System, p.Tools, p.Messages) > 4800 || !agent.IsSummary(p.Messages[0]) {
			t.Errorf("%d tries, the last prompt is %q", len(tried), shapesOf(p))
		}
		fails = false
		chat(g, 1)
		if sum, ok, err := g.Store.Summary(t.Context(), s.ID); !ok || sum.Messages < 15 {
			t.Errorf("then: %+v (%v)", sum, err)
		}
	})
}

// A model whose window is smaller than was thought refuses the prompt; it is shown less, and answers. What is one message alone is
// cut for it.
func TestPromptTooLong(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, routertest.FewTools)
		routertest.Narrow(g, 200_000)
		g.Model.Set(func(_ context.Context, p agent.Prompt) (agent.Answer, error) {
			if agent.TextTokens(p.System)+agent.SpecTokens(p.Tools...)+agent.Tokens(p.Messages...) > 5000 {
				return agent.Answer{}, &agent.ModelError{Class: agent.TooLong, Err: errors.New("scripted")}
			}
			return routertest.Text("answer. " + routertest.Fill), nil
		})
		chat(g, 14)
		g.Say(routertest.Direct("a"), routertest.Guest, "read this: "+strings.Repeat(routertest.Fill, 40)+" the end")
		shown := g.Shown(15)
		for _, c := range shown {
			if !strings.HasPrefix(c.Out.Text, "answer.") {
				t.Errorf("the chat reads %.100q", c.Out.Text)
			}
		}
		turns, summaries := g.Model.ByKind()
		newest := routertest.Last(turns[len(turns)-1]).Text()
		if len(summaries) == 0 || !strings.HasPrefix(newest, "read this") || !strings.HasSuffix(newest, "the end") || !strings.Contains(newest, "bytes left out here") {
			t.Errorf("%d summaries, the model reads %.60q … %q", len(summaries), newest, newest[len(newest)-20:])
		}
	})
}

// A summary is written by the model that is configured for it, and by the session's when that cannot be used.
func TestModelOfSummaries(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		for _, c := range []struct{ model, want string }{{"mock/cheap", "cheap"}, {"", "m"}, {"other/gone", "m"}} {
			g := routertest.New(t, channeltest.Options{}, routertest.FewTools, func(s *settings.Snapshot) { s.Agents.Defaults.Compaction.Model = c.model })
			routertest.Narrow(g, 6000)
			chat(g, 14)
			if _, summaries := g.Model.ByKind(); len(summaries) == 0 || summaries[0].Model != c.want {
				t.Errorf("%q: %d summaries", c.model, len(summaries))
			}
			g.Stop()
		}
	})
}

// A budget that is used up pays no summary: the turn ends as any turn does whose call may not be made.
func TestSummaryWithoutBudget(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, routertest.FewTools, func(s *settings.Snapshot) { s.Agents.Defaults.Compaction.Model = "mock/cheap" })
		routertest.Narrow(g, 6000)
		chat(g, 5)
		g.Settings.Models.DayTokens = 1
		g.Say(routertest.Direct("a"), routertest.Guest, strings.Repeat(routertest.Fill, 20))
		shown := g.Shown(6)
		if _, summaries := g.Model.ByKind(); len(summaries) > 0 || !strings.Contains(shown[5].Out.Text, "budget") {
			t.Errorf("%d summaries, the chat reads %q", len(summaries), shown[5].Out.Text)
		}
	})
}

// Where no model sums up, where a session's view begins costs no commit of its own: the end of the turn keeps it.
func TestLeftOutWithTheEnd(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		var made routertest.Commits
		g := routertest.NewWith(t, channeltest.Options{}, made.Trace, nil, routertest.EachAlone, func(s *settings.Snapshot) { s.Agents.Defaults.HistoryLimit, s.Agents.Defaults.Compaction.Off = 4, true })
		chat(g, 12)
		g.Idle(12)
		sum, ok, err := g.Store.Summary(t.Context(), g.Session(routertest.GuestKey).ID)
		if routertest.Check(t, err); !ok || sum.Number < 4 || sum.Text != "" || sum.Messages < 16 {
			t.Errorf("of 24 messages %+v stands for the older ones", sum)
		}
		if ops := made.Of("Compact"); len(ops) != 0 {
			t.Errorf("commits %q", ops)
		}
	})
}
