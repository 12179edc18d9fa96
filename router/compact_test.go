package router

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/agent"
	"parley/channels/channeltest"
	"parley/sessions"
)

// sums reports whether a prompt asks for a summary.
func sums(p agent.Prompt) bool { return strings.HasPrefix(p.System, "You keep the memory") }

// counting is a model that counts its prompts.
type counting struct{ agent.Model }

func (c counting) Stream(ctx context.Context, p agent.Prompt) iter.Seq2[agent.Delta, error] {
	return func(yield func(agent.Delta, error) bool) {
		for d, err := range c.Model.Stream(ctx, p) {
			if d.Final != nil {
				d.Final.Usage = sessions.Usage{Input: agent.TextTokens(p.System) + agent.SpecTokens(p.Tools...) + agent.Tokens(p.Messages...), Output: 5}
			}
			if !yield(d, err) {
				return
			}
		}
	}
}

// narrow gives the script's model a window.
func narrow(g *rig, window int) {
	g.models = func(name string) (agent.Candidate, error) {
		return agent.Candidate{Model: counting{g.model}, Name: strings.TrimPrefix(name, "mock/"), Label: name, Facts: agent.ModelFacts{ContextWindow: window}}, nil
	}
}

func fewTools(s *Settings) { s.Tools.Allow = []string{"remember", "recall"} }

// prompts gives the prompts so far, those of summaries left out.
func (s *script) byKind() (turns, summaries []agent.Prompt) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.asked {
		if sums(p) {
			summaries = append(summaries, p)
		} else {
			turns = append(turns, p)
		}
	}
	return turns, summaries
}

var fill = strings.Repeat("many words ", 60) // about 220 tokens

// chat fills a session with so many turns.
func (g *rig) chat(turns int) {
	g.t.Helper()
	before := len(g.fake.Shown(direct("a")))
	for i := range turns {
		g.say(direct("a"), guest, fmt.Sprintf("message %d. %s", i, fill))
		g.shown(before + i + 1)
		time.Sleep(time.Second)
	}
}

const guestKey = sessions.Key("agent:main:fake:direct:" + guest)

// The older part of a session is summed up before the window is full: the summary stands in its place, with the host named as its
// source, its cost is in the ledger, the next one is made of it, and the transcript is as it was.
func TestSummaryStandsForTheOlderPart(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{}, fewTools)
		narrow(g, 6000)
		n := 0
		g.model.set(func(_ context.Context, p agent.Prompt) (agent.Answer, error) {
			if sums(p) {
				n++
				return text(fmt.Sprintf("summary %d: they talked", n)), nil
			}
			return text("answer. " + fill), nil
		})
		g.chat(30)
		turns, summaries := g.model.byKind()
		if len(summaries) < 2 || len(summaries) > 10 {
			t.Fatalf("%d summaries", len(summaries))
		}
		first := turns[len(turns)-1].Messages[0]
		want := fmt.Sprintf("summary %d: they talked", n)
		if p := first.Provenance; !agent.IsSummary(first) || !strings.Contains(first.Text(), want) || p.Kind != sessions.InternalSystem {
			t.Errorf("the last turn begins with %q of %+v", first.Text(), p)
		}
		if !strings.Contains(lastUser(summaries[1]), "summary 1: they talked") {
			t.Errorf("the second summary is made of %.200q", lastUser(summaries[1]))
		}
		for i, p := range turns {
			if tokens := agent.PromptTokens(p.System, p.Tools, p.Messages); tokens > 4800 {
				t.Errorf("prompt %d has %d tokens", i, tokens)
			}
			if newest := last(p).Text(); !strings.HasPrefix(newest, fmt.Sprintf("message %d.", i)) {
				t.Errorf("turn %d ends with %.30q", i, newest)
			}
		}
		if all := g.transcript(guestKey); len(all) != 60 || slices.ContainsFunc(all, func(m sessions.Message) bool { return strings.Contains(m.Text(), "they talked") }) {
			t.Errorf("%d messages are in the transcript", len(all))
		}
		s := g.session(guestKey)
		days, err := g.store.Spending(t.Context(), sessions.SpentQuery{Payer: s.Key}, time.UTC)
		if err != nil || len(days) != 1 || days[0].Calls != 30+n {
			t.Errorf("the ledger has %+v, %d summaries were made (%v)", days, n, err)
		}
	})
}

// A very long turn is summed up while it goes on: the message that it answers stays, no call is shown without its result, and after a
// kill between the summary and the next step it goes on where it stood.
func TestSummaryInsideOfATurn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{}, fewTools)
		narrow(g, 6000)
		hold := make(chan struct{})
		g.model.set(func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
			time.Sleep(time.Second)
			switch done, cut := strings.Count(fmt.Sprint(shapesOf(p)), "fact"), agent.IsSummary(p.Messages[0]); {
			case sums(p):
				return text("facts were noted"), nil
			case cut && hold != nil: // the first step after the summary
				close(hold)
				<-ctx.Done()
				return agent.Answer{}, ctx.Err()
			case cut && done > 4:
				return text("all noted"), nil
			default:
				n := g.model.count()
				return call(fmt.Sprint("c", n), "remember", map[string]any{"text": fmt.Sprintf("fact %d %s", n, fill)}), nil
			}
		})
		g.say(direct("a"), guest, "note all that you know")
		<-hold
		g.stop()
		hold = nil
		_, before := g.model.byKind()
		g.start()
		if shown := g.shown(1); shown[0].Out.Text != "all noted" {
			t.Errorf("the answer is %q", shown[0].Out.Text)
		}
		turns, summaries := g.model.byKind()
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
		notes, err := g.store.Notes(t.Context(), sessions.NoteQuery{Agent: "main", Limit: 1000})
		calls := 0
		for _, m := range g.transcript(guestKey) {
			calls += len(m.ToolCalls())
		}
		if err != nil || len(notes) != calls || calls < 10 {
			t.Errorf("%d notes of %d calls (%v)", len(notes), calls, err)
		}
	})
}

// What a turn has taken up is to be answered: it stays, in its order and once, when the turn is summed up while it goes on, also after
// a kill.
func TestSummaryKeepsWhatWasTakenUp(t *testing.T) {
	for mode, want := range map[sessions.QueueMode][]string{
		sessions.Collect: {"second question", "third question"}, // the first one has a turn of its own
		sessions.Steer:   {"first question", "second question", "third question"},
	} {
		t.Run(string(mode), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				g := newRig(t, channeltest.Options{}, fewTools, rule(sessions.Queue{Mode: mode}))
				narrow(g, 6000)
				hold := make(chan struct{})
				g.model.set(func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
					sleep(ctx, time.Second)
					cut := agent.IsSummary(p.Messages[0])
					switch {
					case sums(p):
						return text("they talked"), nil
					case cut && hold != nil:
						close(hold)
						<-ctx.Done()
						return agent.Answer{}, ctx.Err()
					case cut, mode == sessions.Collect && g.model.count() == 1:
						return text("done"), nil
					}
					return call(fmt.Sprint("c", g.model.count()), "remember", map[string]any{"text": strings.Repeat(fill, 3)}), nil
				})
				g.say(direct("a"), guest, "first question")
				for _, more := range []string{"second question", "third question"} {
					<-time.After(100 * time.Millisecond)
					g.say(direct("a"), guest, more)
				}
				<-hold
				g.stop()
				hold = nil
				g.start()
				g.shown(4 - len(want)) // answers
				turns, _ := g.model.byKind()
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
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{}, eachAlone, func(s *Settings) { s.Agents.Defaults.HistoryLimit = 6 })
		g.model.set(func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
			switch {
			case sums(p):
				return text("a summary"), nil
			case strings.Contains(p.System, "sub-agent"):
				<-ctx.Done()
				return agent.Answer{}, ctx.Err()
			case lastUser(p) == "spawn":
				if last(p).Role == sessions.ToolResult {
					return text("started"), nil
				}
				return call("s1", "sessions_spawn", map[string]any{"task": "count `the` sheep", "label": "shepherd"}), nil
			case strings.HasPrefix(lastUser(p), "slow"):
				sleep(ctx, time.Minute)
			}
			return text("yes"), nil
		})
		g.say(direct("a"), guest, "spawn")
		g.shown(1)
		if _, err := g.r.Submit(t.Context(), sessions.Effects{Job: &sessions.Job{ID: "j1", Name: "tea", Agent: "main", Every: time.Hour, Message: "make tea", From: guestKey,
			Next: time.Now().Add(24 * time.Hour)}}); err != nil {
			t.Fatal(err)
		}
		for i := range 4 {
			g.say(direct("a"), guest, fmt.Sprint("hello ", i))
			g.shown(i + 2)
		}
		g.say(direct("a"), guest, "slow")
		synctest.Wait()
		g.say(direct("a"), guest, "next")
		g.say(direct("a"), guest, "and one more")
		g.shown(8)
		turns, summaries := g.model.byKind()
		if len(summaries) == 0 {
			t.Fatal("no summary")
		}
		i := slices.IndexFunc(turns, func(p agent.Prompt) bool { return last(p).Text() == "next" })
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
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{}, fewTools)
		narrow(g, 6000)
		fails := true
		g.model.set(func(_ context.Context, p agent.Prompt) (agent.Answer, error) {
			if sums(p) && fails {
				return agent.Answer{}, &agent.ModelError{Class: agent.Overloaded, Err: errors.New("scripted")}
			}
			return text("answer. " + fill), nil
		})
		g.chat(14)
		s := g.session(guestKey)
		if _, ok, err := g.store.Summary(t.Context(), s.ID); ok || err != nil {
			t.Errorf("a summary is kept (%v)", err)
		}
		turns, tried := g.model.byKind()
		if p := turns[len(turns)-1]; len(tried) < 2 || agent.PromptTokens(p.System, p.Tools, p.Messages) > 4800 || !agent.IsSummary(p.Messages[0]) {
			t.Errorf("%d tries, the last prompt is %q", len(tried), shapesOf(p))
		}
		fails = false
		g.chat(1)
		if sum, ok, err := g.store.Summary(t.Context(), s.ID); !ok || sum.Messages < 15 {
			t.Errorf("then: %+v (%v)", sum, err)
		}
	})
}

// A model whose window is smaller than was thought refuses the prompt; it is shown less, and answers. What is one message alone is
// cut for it.
func TestPromptTooLong(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{}, fewTools)
		narrow(g, 200_000)
		g.model.set(func(_ context.Context, p agent.Prompt) (agent.Answer, error) {
			if agent.TextTokens(p.System)+agent.SpecTokens(p.Tools...)+agent.Tokens(p.Messages...) > 5000 {
				return agent.Answer{}, &agent.ModelError{Class: agent.TooLong, Err: errors.New("scripted")}
			}
			return text("answer. " + fill), nil
		})
		g.chat(14)
		g.say(direct("a"), guest, "read this: "+strings.Repeat(fill, 40)+" the end")
		shown := g.shown(15)
		for _, c := range shown {
			if !strings.HasPrefix(c.Out.Text, "answer.") {
				t.Errorf("the chat reads %.100q", c.Out.Text)
			}
		}
		turns, summaries := g.model.byKind()
		newest := last(turns[len(turns)-1]).Text()
		if len(summaries) == 0 || !strings.HasPrefix(newest, "read this") || !strings.HasSuffix(newest, "the end") || !strings.Contains(newest, "bytes left out here") {
			t.Errorf("%d summaries, the model reads %.60q … %q", len(summaries), newest, newest[len(newest)-20:])
		}
	})
}

// A summary is written by the model that is configured for it, and by the session's when that cannot be used.
func TestModelOfSummaries(t *testing.T) {
	bubble(t, func(t *testing.T) {
		for _, c := range []struct{ model, want string }{{"mock/cheap", "cheap"}, {"", "m"}, {"other/gone", "m"}} {
			g := newRig(t, channeltest.Options{}, fewTools, func(s *Settings) { s.Agents.Defaults.Compaction.Model = c.model })
			narrow(g, 6000)
			g.chat(14)
			if _, summaries := g.model.byKind(); len(summaries) == 0 || summaries[0].Model != c.want {
				t.Errorf("%q: %d summaries", c.model, len(summaries))
			}
			g.stop()
		}
	})
}

// A budget that is used up pays no summary: the turn ends as any turn does whose call may not be made.
func TestSummaryWithoutBudget(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{}, fewTools, func(s *Settings) { s.Agents.Defaults.Compaction.Model = "mock/cheap" })
		narrow(g, 6000)
		g.chat(5)
		g.set.Models.DayTokens = 1
		g.say(direct("a"), guest, strings.Repeat(fill, 20))
		shown := g.shown(6)
		if _, summaries := g.model.byKind(); len(summaries) > 0 || !strings.Contains(shown[5].Out.Text, "budget") {
			t.Errorf("%d summaries, the chat reads %q", len(summaries), shown[5].Out.Text)
		}
	})
}

// Where no model sums up, where a session's view begins costs no commit of its own: the end of the turn keeps it.
func TestLeftOutWithTheEnd(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var made commits
		g := rigWith(t, channeltest.Options{}, made.trace, nil, eachAlone, func(s *Settings) { s.Agents.Defaults.HistoryLimit, s.Agents.Defaults.Compaction.Off = 4, true })
		g.chat(12)
		g.idle(12)
		sum, ok, err := g.store.Summary(t.Context(), g.session(guestKey).ID)
		if check(t, err); !ok || sum.Number < 4 || sum.Text != "" || sum.Messages < 16 {
			t.Errorf("of 24 messages %+v stands for the older ones", sum)
		}
		if ops := made.of("Compact"); len(ops) != 0 {
			t.Errorf("commits %q", ops)
		}
	})
}
