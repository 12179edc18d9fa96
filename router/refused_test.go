package router

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
	"parley/sessions"
	"parley/tools"
)

// filtered is a model whose provider refuses each prompt that has the word poison in it, wherever it stands, as filters of content do.
// source: https://learn.microsoft.com/azure/ai-services/openai/concepts/content-filter, openclaw/openclaw#71455
func filtered(class agent.ErrorClass) func(context.Context, agent.Prompt) (agent.Answer, error) {
	return func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
		if strings.HasSuffix(lastUser(p), "is it down?") { // and so it has not read it
			return agent.Answer{}, &agent.ModelError{Class: agent.Unreachable, Provider: "mock", Tries: 3, Err: errors.New("down")}
		}
		if strings.HasSuffix(lastUser(p), "wait") {
			<-ctx.Done()
			return agent.Answer{}, ctx.Err()
		}
		if b, _ := json.Marshal(p.Messages); strings.Contains(p.System+string(b), "poison") {
			if class == "" { // it says so as an answer
				return agent.Answer{Stop: agent.StopFilter, Usage: sessions.Usage{Input: 10}}, nil
			}
			return agent.Answer{}, &agent.ModelError{Class: class, Provider: "mock", Status: 400, Tries: 1, Said: "content_filter", Err: errors.New("content_filter")}
		}
		switch newest := last(p); {
		case sums(p):
			return text("they talked"), nil
		case newest.Role == sessions.ToolResult:
			return text("the tool is done"), nil
		case strings.HasSuffix(newest.Text(), "note it"):
			return call("c1", "remember", map[string]any{"text": "poi" + "son"}), nil
		}
		return text("echo: " + lastUser(p)), nil
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
			bubble(t, func(t *testing.T) {
				g := newRig(t, channeltest.Options{}, fewTools)
				chat := direct("a")
				g.model.set(filtered(c.class))
				answered := func(words string) {
					t.Helper()
					if got := g.asks(chat, guest, words); got != "echo: "+strings.TrimSpace(words) {
						t.Errorf("%q is answered %q", words, got)
					}
					if p := strings.Join(g.lastPrompt(), "\n"); strings.Contains(p, "poison") {
						t.Errorf("the prompt of %q:\n%s", words, p)
					}
				}
				answered("hello. " + fill)
				for _, words := range c.say {
					if got := g.asks(chat, guest, words); strings.HasPrefix(got, "echo") {
						t.Fatalf("%q is answered %q", words, got)
					}
				}
				answered("from memory. " + fill)
				if p := strings.Join(g.lastPrompt(), "\n"); !strings.Contains(p, "hello. ") {
					t.Errorf("what was answered is not shown either:\n%s", p)
				}
				g.stop()
				g.start()
				answered("after a restart. " + fill)
				if got := g.asks(chat, guest, "/compact"); !strings.Contains(got, "Compacted") {
					t.Errorf("/compact: %q", got)
				}
				answered("behind a compaction")
				g.stop()
				g.start()
				answered("after all of it")

				all, _ := json.Marshal(g.transcript(guestKey))
				marked := 0
				for _, m := range g.transcript(guestKey) {
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
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{}, fewTools)
		g.model.set(filtered(agent.BadRequest))
		chat := direct("a")
		g.asks(chat, guest, "hello")
		g.say(chat, guest, "poison, wait")
		g.until("it is at work", func() bool { return g.model.count() == 2 })
		g.asks(chat, guest, "/stop")
		for _, words := range []string{"now?", "and again"} {
			if got := g.asks(chat, guest, words); got != "echo: "+words {
				t.Errorf("%q is answered %q", words, got)
			}
		}
	})
}

// TestNeverRead: what came while the provider was down is left out once it was refused.
func TestNeverRead(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{}, fewTools)
		g.model.set(filtered(agent.Refused))
		chat := direct("a")
		for _, words := range []string{"hello", "poison: is it down?", "and now?", "and again"} {
			if got := g.asks(chat, guest, words); strings.HasPrefix(got, "echo") == strings.Contains(words, "poison") {
				t.Errorf("%q is answered %q", words, got)
			}
		}
		if p := strings.Join(g.lastPrompt(), "\n"); !strings.Contains(p, "hello") || !strings.Contains(p, "and now?") || strings.Contains(p, "poison") {
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
			bubble(t, func(t *testing.T) {
				g := newRig(t, channeltest.Options{}, fewTools)
				chat, asked := direct("a"), 0
				g.asks(chat, guest, "this was poison")
				for i := range behind {
					g.asks(chat, guest, fmt.Sprintf("harmless %d", i))
				}
				strict := filtered(agent.Refused)
				g.model.set(func(ctx context.Context, p agent.Prompt) (agent.Answer, error) { asked++; return strict(ctx, p) })
				refused := 0
				for i := range 6 {
					before, words := asked, fmt.Sprintf("question %d", i)
					if i == 2 {
						g.stop()
						g.start()
					}
					if got := g.asks(chat, guest, words); got != "echo: "+words {
						t.Errorf("%q is answered %q", words, got)
					}
					refused += asked - before - 1
				}
				if refused < 1 || refused > 4 {
					t.Errorf("%d requests were refused", refused)
				}
				if p := strings.Join(g.lastPrompt(), "\n"); !strings.Contains(p, "question 4") {
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
			bubble(t, func(t *testing.T) {
				g := newRig(t, channeltest.Options{}, func(s *Settings) { s.Agents.Defaults.Subagents.Announce = mode })
				g.say(groupChat("a"), guest, "hello")
				g.shown(1)
				g.idle(1)
				g.model.set(filtered(agent.Refused))
				g.spawn(tools.SpawnRequest{Source: "s", Task: "the task is poison", From: tools.Caller{Session: g.session(keyA), Run: sessions.Run{Reply: groupChat("a")}}})
				calls := g.shown(2)
				if got := calls[1].Out.Text; mode == "" && !strings.Contains(got, "Status: error") || strings.Contains(got, "poison") {
					t.Errorf("reported: %q", got)
				}
				for _, r := range g.idle(3)[2:] {
					if r.Status != sessions.Done {
						t.Errorf("the %s step is %s: %s", r.Kind, r.Status, r.Error)
					}
				}
				if got := g.asks(groupChat("a"), guest, "and now?"); !strings.HasPrefix(got, "echo") {
					t.Errorf("the requester says %q", got)
				}
			})
		})
	}
}

// TestRefusedExchangeAndJob: another session's question and a job that are refused leave their sessions as they were.
func TestRefusedExchangeAndJob(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := twoChats(t, filtered(agent.Refused))
		ask := func(source, words string) sessions.Run {
			t.Helper()
			run, err := g.r.Ask(t.Context(), tools.AskRequest{Source: source, From: tools.Caller{Session: g.session(keyA)}, To: keyB, Message: words})
			if err != nil {
				t.Fatal(err)
			}
			g.until("it has ended", func() bool { r, err := g.store.GetRun(t.Context(), run.ID); return err == nil && r.Status.Final() })
			run, err = g.store.GetRun(t.Context(), run.ID)
			check(t, err)
			return run
		}
		if r := ask("1", "poison"); r.Status != sessions.Failed {
			t.Fatalf("%s: %s", r.Status, r.Error)
		}
		if r := ask("2", "fine"); r.Status != sessions.Done {
			t.Errorf("what is asked next is %s: %s", r.Status, r.Error)
		}
		if got := g.asks(groupChat("b"), guest, "and here?"); !strings.HasPrefix(got, "echo") {
			t.Errorf("the session that was asked says %q", got)
		}
		if got := g.asks(groupChat("a"), guest, "and there?"); !strings.HasPrefix(got, "echo") {
			t.Errorf("the session that asked says %q", got)
		}
	})
}

// TestAcceptable: what is left of transcripts. A word is a message: who (u a person, a the model, t a tool, p a post of the host, n a notice),
// the run, and ! where the notice says that the provider refused; A is an answer that was given without what came before, b and B are
// answers of another model, and s is the summary.
func TestAcceptable(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ all, want string }{
		{"u1 a1 u2 a2", "u1 a1 u2 a2"},
		{"u1 a1 u2 n2", "u1 a1 u2 n2"},             // it failed for another reason
		{"u1 a1 u2 n2! u3 a3", "u1 a1 u3 a3"},      // a message
		{"u1 a1 u2 a2 t2 n2! u3", "u1 a1 u3"},      // what a tool said
		{"u1 a1 u2 a2 t2 u2 n2! u3", "u1 a1 u3"},   // a message taken up
		{"u1 a1 u2 u3 n3! u4", "u1 a1 u4"},         // u2 was stopped before it was answered
		{"u1 a1 u2 n2 u3 n3! u4", "u1 a1 u4"},      // the provider was down
		{"u1 a1 t1 u2 n2! u3", "u1 a1 u3"},         // t1 was stopped before the next step
		{"u1 a1 p2 u3 n3! u4", "u1 a1 p2 u4"},      // a post is likely to be harmless
		{"u1 a1 u2 n2! u3 n3! u4", "u1 a1 u4"},     // two that are refused by themselves: nothing before them is to blame
		{"u1 a1 p2 u3 A3 u4", "p2 u3 A3 u4"},       // nothing else was untaken: the newest turn goes, with its question
		{"u1 a1 u2 a2 u3 A3 u4", "u1 a1 u3 A3 u4"}, // the answer itself is what is refused, or its question
		{"u1 a1 u2 a2 t2 a2 u3 A3 u4", "u1 a1 u3 A3 u4"},
		{"u1 a1 u2 n2 u3 A3 u4", "u1 a1 u3 A3 u4"}, // u2 was never read
		{"u1 a1 u2 n2 p2 u3 A3 u4", "u1 a1 p2 u3 A3 u4"},
		{"u1 a1 u2 a2 u3 a3 u4 a4 u5 A5 u6", "u1 a1 u2 a2 u3 a3 u5 A5 u6"},                               // the newest turn first
		{"u1 a1 u2 a2 u3 a3 u4 a4 u5 A5 u6 A6 u7", "u2 a2 u3 a3 u5 A5 u6 A6 u7"},                         // then half of the others
		{"u1 a1 u2 a2 u3 a3 u4 a4 u5 A5 u6 A6 u7 A7 u8", "u3 a3 u5 A5 u6 A6 u7 A7 u8"},                   // then half of that
		{"u1 a1 u2 a2 u3 a3 u4 a4 u5 A5 u6 A6 u7 A7 u8 a8", "u1 a1 u3 a3 u4 a4 u5 A5 u6 A6 u7 A7 u8 a8"}, // it was the second turn: all others are shown
		{"u1 a1 u2 a2 u3 a3 u4 a4 u5 A5 u6 A6 u7 a7", "u2 a2 u3 a3 u4 a4 u5 A5 u6 A6 u7 a7"},             // it was the first one
		{"u1 b1 u2 b2 u3 A3 u4 a4 u5", "u1 b1 u3 A3 u4 a4 u5"},                                           // another model took it
		{"u1 a1 u2 a2 u3 B3 u4", "u1 a1 u2 a2 u3 B3 u4"},                                                 // another model did not take it: this one did
		{"u1 a1 u2 b2 u3 b3 u4 A4 u5", "u1 a1 u4 A4 u5"},                                                 // what came since another model was asked
		{"u1 a1 u2 b2 u3 b3 u4 A4 u5 a5", "u1 a1 u3 b3 u4 A4 u5 a5"},                                     // half of that
		{"u1 a1 u2 b2 u3 b3 u4 A4 u5 A5 u6", "u2 b2 u3 b3 u4 A4 u5 A5 u6"},                               // it was what it had taken
		{"u1 a1 u2 a2 u3 A3 u4 a4 u5 A5 u6", "u1 a1 u3 A3 u5 A5 u6"},                                     // not in a row: the newest turn that was not taken alone
		{"u1 a1 u2 A2 u3 A3 u4", "u3 A3 u4"},                                                             // what was answered alone is the reason itself
		{"u1 a1 u2 A2 u3 A3 u4 A4 u5", "u4 A4 u5"},
		{"s u1 A1 u2", "u1 A1 u2"}, // the summary
		{"s u1 a1 u2 A2 u3 A3 u4", "u1 a1 u2 A2 u3 A3 u4"},
		{"u1 A1 u2", "u1 A1 u2"},       // nothing that could be it
		{"u0 a0 u1 A1 u2", "u1 A1 u2"}, // imported: no run
		{"u0 a0 u1 a1 u2 A2 u3 A3 u4", "u1 a1 u2 A2 u3 A3 u4"},
		{"u0 a0 u0 a0 u0 a0 u1 A1 u2 A2 u3 a3", "u0 a0 u0 a0 u1 A1 u2 A2 u3 a3"}, // one of several that were imported
		{"u1 a1 u2 A2 t2 A2 u3 a3", "u2 A2 t2 A2 u3 a3"},
		{"u1 a1 u2 A2 t2 a2 u3", "u2 A2 t2 a2 u3"},
		{"u1 a1 u2 A2 t2 n2! u3", "u3"}, // both what came before and the tool's result
		{"u1 n1! u2 n2! u3", "u3"},
		{"u1 n1! u2 n2! u3 a3", "u3 a3"},
		{"u1 a1 u2 n2! u3 a3 u4 n4! u5", "u1 a1 u3 a3 u5"}, // not in a row
		{"u1 a1 u2 u3 a3 t3 n3! u4", "u1 a1 u2 u4"},        // u2 was taken with a3
		{"n1! u2", "u2"}, // the beginning is summed up
		{"u1 a1 u2 a2 t2 n2! u3 n3! u4 a4", "u1 a1 u4 a4"},             // the step was taken
		{"u1 a1 u2 n2! p3 u4 a4", "u1 a1 p3 u4 a4"},                    // a post behind it
		{"u1 a1 u0 a0 n0! u2", "u1 a1 u0 a0 n0! u2"},                   // imported: no run
		{"u1 a1 u2 nold u3", "u1 a1 u3"},                               // by an earlier version
		{"u1 a1 u2 a2 t2 u3 a3 t3 n3! u4 n4! u5", "u1 a1 u2 a2 t2 u5"}, // t2 was taken with a3
	} {
		var x history
		for i, w := range strings.Fields(c.all) {
			if w == "s" {
				x.sum = sessions.Summary{ID: "s", Text: "s"}
				continue
			}
			m := sessions.Message{ID: fmt.Sprint(i), Role: sessions.User, Run: sessions.RunID(strings.Trim(w[1:], "!")), Content: sessions.TextContent(w), Refused: strings.HasSuffix(w, "!")}
			switch w[0] {
			case 'a', 'A':
				m.Role, m.Model, m.Alone = sessions.Assistant, "mock/m", w[0] == 'A'
			case 'b', 'B':
				m.Role, m.Model, m.Alone = sessions.Assistant, "mock/b", w[0] == 'B'
			case 't':
				m.Role = sessions.ToolResult
			case 'p':
				m.Role, m.Model = sessions.Assistant, postModel
			case 'n':
				m.Role, m.Model = sessions.Assistant, sessions.NoticeModel
			}
			switch m.Run {
			case "0":
				m.Run = ""
			case "old":
				m.Run, m.Error = "2", (&agent.ModelError{Class: agent.BadRequest, Provider: "p", Tries: 1, Status: 400, Err: errors.New("no")}).Error()
			}
			m.Time = time.Unix(1, 0)
			x.msgs = append(x.msgs, m)
		}
		var got []string
		j := judge(x, "mock/m")
		if x.sum.ID != "" && j.sum.state == partShown {
			got = append(got, "s")
		}
		for _, m := range j.shown() {
			got = append(got, m.Text())
		}
		if g := strings.Join(got, " "); g != c.want {
			t.Errorf("%s: %s, want %s", c.all, g, c.want)
		}
	}
}

// TestProviderWords: who reads what the provider said of a failure.
func TestProviderWords(t *testing.T) {
	for name, c := range map[string]struct {
		to   channels.Address
		from string
		want string
	}{
		"an owner in a direct chat": {direct("a"), owner, "\n\nThe provider says: `no *access* with [hidden] to 'm'`"},
		"a guest":                   {direct("a"), guest, ""},
		"an owner in a group":       {groupChat("a"), owner, ""},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				e := &agent.ModelError{Class: agent.BadKey, Provider: "mock", Tries: 1, Said: "no *access*\nwith sk-secret to `m`", Err: errors.New("401")}
				g := rigWith(t, channeltest.Options{}, nil, nil)
				g.r.kit.Redact = func(s string) string { return strings.ReplaceAll(s, "sk-secret", "[hidden]") }
				g.model.set(func(context.Context, agent.Prompt) (agent.Answer, error) { return agent.Answer{}, e })
				if got, want := g.asks(c.to, c.from, "hello"), e.Notice()+c.want; got != want {
					t.Errorf("%q, want %q", got, want)
				}
				<-time.After(time.Second)
				long := *e
				long.Said = strings.Repeat("x", 1000)
				g.model.set(func(context.Context, agent.Prompt) (agent.Answer, error) { return agent.Answer{}, &long })
				if got := g.asks(c.to, c.from, "hello"); len(got) > len(e.Notice())+330 {
					t.Errorf("%d bytes", len(got))
				}
			})
		})
	}
}
