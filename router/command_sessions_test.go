package router

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
	"parley/sessions"
	"parley/tools"
)

// asks says something in a chat and gives the next text that goes there, as Markdown.
func (g *rig) asks(to channels.Address, from, words string) string {
	g.t.Helper()
	texts := func() (out []string) {
		for _, d := range g.deliveries() {
			if d.To == to && d.State == sessions.Sent {
				out = append(out, d.Text)
			}
		}
		return out
	}
	before := len(texts())
	g.say(to, from, words)
	g.until(fmt.Sprintf("%q is answered", words), func() bool { return len(texts()) > before })
	return texts()[before]
}

// flock is a chat with three sub-agents: the first is done, the second and third are at work until they are stopped or told more.
func flock(t *testing.T, fs ...func(*Settings)) *tree {
	t.Helper()
	x := newTree(t, 1, fs...)
	for i, task := range []string{"sheep", "goats", "cows"} {
		<-time.After(time.Minute)
		if task != "sheep" {
			x.does(task, func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
				if strings.HasPrefix(lastUser(p), "more") {
					return text("told " + lastUser(p)), nil
				}
				if n := len(p.Messages); n == 1 {
					return call("c1", "remember", map[string]any{"text": "a fact"}), nil
				}
				<-ctx.Done()
				return agent.Answer{}, ctx.Err()
			})
		}
		x.spawn(tools.SpawnRequest{Source: fmt.Sprint("s", i), Task: task, Label: map[string]string{"goats": "my_goats"}[task]})
	}
	<-time.After(time.Minute)
	x.shown(2) // the answer to hello, and the report about the sheep
	return x
}

// proves: N16, V4
func TestSubagentsCommandShows(t *testing.T) {
	bubble(t, func(t *testing.T) {
		x := flock(t)
		sheep, cows := x.task("sheep")[0], x.task("cows")[0]
		for words, want := range map[string][]string{
			"/subagents list": {"- **1** run `" + string(cows.ID[:8]) + "` · running · 1m · 0 tokens · `cows`\n- **2** `my_goats` · running · 2m · 0 tokens · `goats`\n- **3** run `" +
				string(sheep.ID[:8]) + "` · done · 0s · 30 tokens · `sheep`\n"},
			"/subagents":                            {"- **1** run", "- **3** run"},
			"/subagents log 2":                      {"**Log** of sub-agent `my_goats`:\n\n- ", " user: `goats`\n", " assistant: calls `remember {\"text\":\"a fact\"}`\n"},
			"/subagents log my_goats tools 9":       {" result of `remember`: `{\"status\":\"ok\"}`\n"},
			"/subagents LOG last 1":                 {", the newest 1 messages:\n\n- ", " assistant: calls"},
			"/subagents log last one":               {"⚙️ Usage: `/subagents list`"},
			"/subagents info " + string(sheep.ID):   {"- Session: `" + string(sheep.Key) + "`", "- Run: `" + string(sheep.ID) + "`", "- Status: done\n", "- Report: announced\n", "- Runtime: 0s\n", "- Agent: `main`, model `mock/m`\n", "Tokens: 20 in, 10 out", "- Task: `sheep`", ".jsonl`"},
			"/subagents info " + string(cows.Key):   {"- Status: running\n", "- Report: at work\n"},
			"/subagents info":                       {"⚠️ which sub-agent? Give its number"},
			"/subagents log 7":                      {"⚠️ there is no sub-agent number 7; there are 3."},
			"/subagents info nobody":                {"⚠️ no sub-agent of this session has the label or run id `nobody`; there are 3."},
			"/subagents stop agent:main:subagent:x": {"⚠️ `agent:main:subagent:x` is no sub-agent of this session."},
			"/subagents send 1":                     {"⚠️ What shall I tell it?"},
			"/subagents dance":                      {"⚙️ Usage: `/subagents list`"},
		} {
			got := x.asks(groupChat("a"), owner, words)
			for _, w := range want {
				if !strings.Contains(got, w) {
					t.Errorf("%s was answered\n%s\nwant %q", words, got, w)
				}
			}
			if words == "/subagents log 2" && strings.Contains(got, "result of") {
				t.Errorf("%s was answered\n%s", words, got)
			}
		}
		if len(x.runs()) != 6 { // the hello, three tasks, the announce and the post of one: commands are no turns
			t.Errorf("%s", kinds(x.runs()))
		}
	})
}

// proves: N15, N16
func TestSubagentsCommandStops(t *testing.T) {
	for words, c := range map[string]struct {
		answer string
		ended  []string
	}{
		"/subagents stop all":      {"⚙️ Stopped 2 sub-agents.", []string{"goats", "cows"}},
		"/subagents stop my_goats": {"⚙️ Stopped 1 sub-agent.", []string{"goats"}},
		"/subagents stop last":     {"⚙️ Stopped 1 sub-agent.", []string{"cows"}},
		"/subagents stop 3":        {"⚙️ No sub-agent is at work.", nil},
		"/stop":                    {"⚙️ Stopped 2 sub-agents.", []string{"goats", "cows"}},
	} {
		t.Run(words, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				x := flock(t)
				if got := x.asks(groupChat("a"), owner, words); got != c.answer {
					t.Errorf("%q, want %q", got, c.answer)
				}
				synctest.Wait()
				for _, task := range []string{"goats", "cows"} {
					want := sessions.Running
					if strings.Contains(strings.Join(c.ended, " "), task) {
						want = sessions.Stopped
					}
					if run := x.task(task)[0]; run.Status != want {
						t.Errorf("%s: %s, want %s", task, run.Status, want)
					}
				}
				if n := len(x.deliveries()); n != 3 { // stopped sub-agents report nothing
					t.Errorf("%d deliveries", n)
				}
			})
		})
	}
}

// TestStopCountsWhatItEnds has a chat at work with messages that wait and sub-agents below sub-agents.
//
// proves: N16
func TestStopCountsWhatItEnds(t *testing.T) {
	bubble(t, func(t *testing.T) {
		x := newTree(t, 2, eachAlone)
		x.does("inner", slowly(time.Hour))
		x.does("outer", steps(delegate("c1", "inner"), resting("c2"), text("done")))
		x.spawn(tools.SpawnRequest{Source: "s", Task: "outer"})
		x.spawn(tools.SpawnRequest{Source: "s2", Task: "quick"})
		<-time.After(time.Minute)
		x.model.set(func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
			if lastUser(p) == guest+": work" {
				return slowly(time.Hour)(ctx, p)
			}
			return x.answer(ctx, p)
		})
		for _, w := range []string{"work", "and this", "and that"} {
			x.say(groupChat("a"), guest, w)
		}
		<-time.After(time.Second)
		if got, want := x.asks(groupChat("a"), guest, "/stop"), "⚙️ Agent was aborted. Dropped 2 messages that waited. Stopped 2 sub-agents."; got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if got := x.asks(groupChat("a"), guest, "/stop"); got != "⚙️ Nothing is running here." {
			t.Errorf("once more: %q", got)
		}
	})
}

// TestStopCountsNoReports has a sub-agent whose report is being worded: a stop leaves that alone, and does not say otherwise.
//
// proves: N15
func TestStopCountsNoReports(t *testing.T) {
	for words, want := range map[string]string{"/stop": "⚙️ Nothing is running here.", "/subagents stop all": "⚙️ No sub-agent is at work.", "/subagents stop 1": "⚙️ No sub-agent is at work."} {
		t.Run(words, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				g := parent(t, child{announce: slowly(time.Minute)})
				g.spawn(tools.SpawnRequest{Source: "s"})
				<-time.After(time.Second)
				if got := g.asks(groupChat("a"), owner, words); got != want {
					t.Errorf("%q, want %q", got, want)
				}
				<-time.After(2 * time.Minute)
				if d := g.deliveries(); len(d) != 3 || d[2].Kind != sessions.Announce {
					t.Errorf("%d deliveries, want the report as well", len(d))
				}
			})
		})
	}
}

// proves: N16, S8
func TestSubagentsCommandSends(t *testing.T) {
	bubble(t, func(t *testing.T) {
		x := flock(t)
		if got := x.asks(groupChat("a"), owner, "/subagents send 3 more  grass"); got != "⚙️ Sent to sub-agent run `"+string(x.task("sheep")[0].ID[:8])+"`. What comes of it is reported." {
			t.Errorf("%q", got)
		}
		x.until("it is reported", func() bool { return len(x.fake.Texts(groupChat("a"))) == 4 })
		runs := x.task("sheep")
		var told []sessions.Run
		for _, run := range runs {
			if run.Kind == sessions.ChildRun {
				told = append(told, run)
			}
		}
		if len(told) != 2 || told[1].Input.Text() != "more  grass" || told[1].Input.Provenance.Kind != sessions.InterSession || told[1].Input.Provenance.Source != keyA || told[1].Status != sessions.Done {
			t.Errorf("%+v", told)
		}
		if s := x.session(keyA); s.Turns != 1 {
			t.Errorf("%d turns of the chat's session, want that of hello", s.Turns)
		}
		if err := x.store.Archive(t.Context(), told[0].Key); err != nil {
			t.Fatal(err)
		}
		if got := x.asks(groupChat("a"), owner, "/subagents send "+string(told[0].Key)+" more"); !strings.Contains(got, "It is archived") {
			t.Errorf("an archived one: %q", got)
		}
	})
}

// TestSubagentsOfOthersAreOutOfReach asks in one chat for the sub-agents of another, in a mode in which their sessions can be seen.
//
// proves: V4, N16
func TestSubagentsOfOthersAreOutOfReach(t *testing.T) {
	bubble(t, func(t *testing.T) {
		x := flock(t)
		goats := x.task("goats")[0]
		for _, id := range []string{"1", "last", "my_goats", string(goats.ID), string(goats.Key)} {
			for _, words := range []string{"log %s", "info %s", "stop %s", "send %s more"} {
				if got := x.asks(groupChat("b"), owner, "/subagents "+fmt.Sprintf(words, id)); !strings.HasPrefix(got, "⚠️ this session has no sub-agents") && !strings.HasPrefix(got, "⚠️ `"+string(goats.Key)+"` is no sub-agent of this session") {
					t.Errorf("%s by %q: %q", words, id, got)
				}
			}
		}
		for words, want := range map[string]string{"/subagents": "This session has no sub-agents.", "/subagents stop all": "⚙️ No sub-agent is at work."} {
			if got := x.asks(groupChat("b"), owner, words); got != want {
				t.Errorf("%s: %q", words, got)
			}
		}
		if run := x.task("goats"); len(run) != 1 || run[0].Status != sessions.Running {
			t.Errorf("%s", kinds(run))
		}
	})
}

func TestOnlyOwnersDirectSubagents(t *testing.T) {
	bubble(t, func(t *testing.T) {
		x := flock(t)
		for _, words := range []string{"/subagents", "/subagents stop all", "/subagents send 1 more", "/sessions", "/sessions fake"} {
			name, _, _ := strings.Cut(words, " ")
			if got, want := x.asks(groupChat("a"), guest, words), "Only an owner can use "+name+"."; got != want {
				t.Errorf("%s: %q, want %q", words, got, want)
			}
		}
		if run := x.task("cows"); len(run) != 1 || run[0].Status != sessions.Running {
			t.Errorf("%s", kinds(run))
		}
	})
}

// proves: V1, V3, V4, K1, L6
func TestSessionsCommand(t *testing.T) {
	for name, c := range map[string]struct {
		mode    tools.Visibility
		sandbox string
		words   string
		want    []string
		not     string
	}{
		"tree":      {tools.VisibleTree, "", "/sessions", []string{"is `tree`", "- `agent:main:fake:group:a` `fake:a` · group · fake · 4m ago · 15 tokens\n", "- `agent:main:subagent:", "`my_goats` · other · unknown · "}, "group:b"},
		"self":      {tools.VisibleSelf, "", "/sessions", []string{"is `self`", "- `agent:main:fake:group:a`"}, "subagent"},
		"agent":     {tools.VisibleAgent, "", "/sessions", []string{"is `agent`", "- `main` · main · fake · ", "- `agent:main:fake:group:b`", "`my_goats`"}, "agent:main:main"},
		"sandboxed": {tools.VisibleAgent, "all", "/sessions", []string{"is `tree`", "- `agent:main:fake:group:a`"}, "group:b"},
		"searched":  {tools.VisibleAgent, "", "/sessions GROUP:b", []string{"with `GROUP:b`:\n\n- `agent:main:fake:group:b` `fake:b` · group"}, "group:a"},
		"none":      {tools.VisibleTree, "", "/sessions group:b", []string{"None."}, "- `"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				x := flock(t, func(s *Settings) { s.Tools.Sessions.Visibility, s.Agents.Defaults.Sandbox.Mode = c.mode, c.sandbox })
				x.asks(groupChat("b"), guest, "hello")
				x.asks(direct(owner), owner, "hello")
				<-time.After(time.Minute)
				got := x.asks(groupChat("a"), owner, c.words)
				for _, w := range c.want {
					if !strings.Contains(got, w) {
						t.Errorf("%s\nwant %q", got, w)
					}
				}
				if strings.Contains(got, c.not) {
					t.Errorf("%s\nwant no %q", got, c.not)
				}
			})
		})
	}
}

// TestSessionsCommandShowsTheNewestTwenty has more sessions than one answer shows.
func TestSessionsCommandShowsTheNewestTwenty(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{})
		for i := range 22 {
			g.asks(groupChat(fmt.Sprintf("c%02d", i)), guest, "hello")
			<-time.After(time.Second)
		}
		got := g.asks(groupChat("c00"), owner, "/sessions")
		if n := strings.Count(got, "\n- `"); n != 20 || !strings.Contains(got, "There are more") || !strings.Contains(got, "group:c21`") || strings.Contains(got, "group:c01`") {
			t.Errorf("%d rows:\n%s", n, got)
		}
	})
}

// proves: N1, N3
func TestAgentsCommand(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{}, func(s *Settings) {
			s.Agents.List = []agent.Entry{{ID: "main", Default: true}, {ID: "helper", Name: "The `Helper`", Model: "mock/h"}, {ID: "hidden"}}
			s.Agents.List[0].Subagents.AllowAgents = []string{"helper"}
		})
		got := g.asks(groupChat("a"), guest, "/agents")
		want := "**Agents** that this one may start as sub-agents, itself first:\n\n- `main` · `mock/m`\n- `helper` `The 'Helper'` · `mock/h`\n"
		if strings.TrimSpace(got) != strings.TrimSpace(want) {
			t.Errorf("%q, want %q", got, want)
		}
		if got := g.asks(groupChat("a"), guest, "/agents are people too"); !strings.HasPrefix(got, "echo: ") {
			t.Errorf("text that looks like the command: %q", got)
		}
	})
}

// TestLogFitsOneAnswer shows a long transcript, with text that is Markdown itself.
func TestLogFitsOneAnswer(t *testing.T) {
	bubble(t, func(t *testing.T) {
		x := newTree(t, 1, func(s *Settings) { s.Agents.Defaults.MaxSteps = 200 })
		x.does("talk", func(_ context.Context, p agent.Prompt) (agent.Answer, error) {
			if n := len(p.Messages); n < 150 {
				return agent.Answer{Content: append(sessions.TextContent(fmt.Sprintf("%d `*bold*`\n# %s", n, strings.Repeat("long ", 100))), call(fmt.Sprint("c", n), "recall", map[string]any{}).Content...), Stop: "toolUse"}, nil
			}
			return text("done"), nil
		})
		x.spawn(tools.SpawnRequest{Source: "s", Task: "talk"})
		<-time.After(time.Minute)
		got := x.asks(groupChat("a"), owner, "/subagents log 1 200")
		lines := strings.Split(strings.TrimSpace(got), "\n")[2:]
		if len(got) > 13_000 || len(lines) < 20 || !strings.Contains(got, fmt.Sprintf("the newest %d messages", len(lines))) || !strings.Contains(lines[len(lines)-1], "done") && !strings.Contains(got, "`done`") {
			t.Errorf("%d bytes, %d lines: %.300s", len(got), len(lines), got)
		}
		for _, l := range lines {
			if strings.Contains(l, "*bold*") && !strings.Contains(l, " '*bold*' # long") || len([]rune(l)) > 2*lineMost {
				t.Errorf("%s", l)
			}
		}
	})
}
