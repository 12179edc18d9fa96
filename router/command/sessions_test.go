package command_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/agent"
	"parley/channels/channeltest"
	"parley/router/routertest"
	"parley/router/settings"
	"parley/sessions"
	"parley/tools"
)

// proves: N16, V4
func TestSubagentsCommandShows(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		x := routertest.Flock(t)
		sheep, cows := x.Task("sheep")[0], x.Task("cows")[0]
		for words, want := range map[string][]string{
			"/subagents list": {"- **1** run `" + string(cows.ID[:8]) + "` · running · 1m · 0 tokens · `cows`\n- **2** `my_goats` · running · 2m · 0 tokens · `goats`\n- **3** run `" +
				string(sheep.ID[:8]) + "` · done · 0s · 30 tokens · `sheep`\n"},
			"/subagents":                            {"- **1** run", "- **3** run"},
			"/subagents log 2":                      {"**Log** of sub-agent `my_goats`:\n\n- ", " user: `goats`\n", " assistant: calls `remember {\"text\":\"a fact\"}`\n"},
			"/subagents log my_goats tools 9":       {" result of `remember`: `{\"status\":\"ok\"}`\n"},
			"/subagents LOG last 1":                 {", the newest 1 message:\n\n- ", " assistant: calls"},
			"/subagents log last one":               {"⚙️ Usage: `/subagents list`"},
			"/subagents info " + string(sheep.ID):   {"- Session: `" + string(sheep.Key) + "`", "- Run: `" + string(sheep.ID) + "`", "- Status: done\n", "- Report: announced\n", "- Runtime: 0s\n", "- Agent: `main`, model `mock/m`\n", "Tokens: 20 in, 10 out", "- Task: `sheep`", ".jsonl`"},
			"/subagents info " + string(cows.Key):   {"- Status: running\n", "- Report: running\n"},
			"/subagents info":                       {"⚠️ a sub-agent is required: its number"},
			"/subagents log 7":                      {"⚠️ there is no sub-agent number 7; there are 3."},
			"/subagents info nobody":                {"⚠️ no sub-agent of this session has the label or run id `nobody`; there are 3."},
			"/subagents stop agent:main:subagent:x": {"⚠️ `agent:main:subagent:x` is not a sub-agent of this session."},
			"/subagents send 1":                     {"⚠️ The text is missing: `/subagents send ID TEXT`"},
			"/subagents dance":                      {"⚙️ Usage: `/subagents list`"},
		} {
			got := x.Asks(routertest.Group("a"), routertest.Owner, words)
			for _, w := range want {
				if !strings.Contains(got, w) {
					t.Errorf("%s was answered\n%s\nwant %q", words, got, w)
				}
			}
			if words == "/subagents log 2" && strings.Contains(got, "result of") {
				t.Errorf("%s was answered\n%s", words, got)
			}
		}
		if len(x.Runs()) != 6 { // the hello, three tasks, the announce and the post of one: commands are no turns
			t.Errorf("%s", routertest.Kinds(x.Runs()))
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
		"/subagents stop 3":        {"⚙️ No sub-agent is running.", nil},
		"/stop":                    {"⚙️ Stopped 2 sub-agents.", []string{"goats", "cows"}},
	} {
		t.Run(words, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				x := routertest.Flock(t)
				if got := x.Asks(routertest.Group("a"), routertest.Owner, words); got != c.answer {
					t.Errorf("%q, want %q", got, c.answer)
				}
				synctest.Wait()
				for _, task := range []string{"goats", "cows"} {
					want := sessions.Running
					if strings.Contains(strings.Join(c.ended, " "), task) {
						want = sessions.Stopped
					}
					if run := x.Task(task)[0]; run.Status != want {
						t.Errorf("%s: %s, want %s", task, run.Status, want)
					}
				}
				if n := len(x.Deliveries()); n != 3 { // stopped sub-agents report nothing
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
	routertest.Bubble(t, func(t *testing.T) {
		x := routertest.NewTree(t, 2, routertest.EachAlone)
		x.Does("inner", routertest.Slowly(time.Hour))
		x.Does("outer", routertest.Steps(routertest.Delegate("c1", "inner"), routertest.Resting("c2"), routertest.Text("done")))
		x.Spawn(tools.SpawnRequest{Source: "s", Task: "outer"})
		x.Spawn(tools.SpawnRequest{Source: "s2", Task: "quick"})
		<-time.After(time.Minute)
		x.Model.Set(func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
			if routertest.LastUser(p) == routertest.Guest+": work" {
				return routertest.Slowly(time.Hour)(ctx, p)
			}
			return x.Answer(ctx, p)
		})
		for _, w := range []string{"work", "and this", "and that"} {
			x.Say(routertest.Group("a"), routertest.Guest, w)
		}
		<-time.After(time.Second)
		if got, want := x.Asks(routertest.Group("a"), routertest.Guest, "/stop"), "⚙️ Agent was aborted. Dropped 2 messages that waited. Stopped 2 sub-agents. Write again if I should continue."; got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if got := x.Asks(routertest.Group("a"), routertest.Guest, "/stop"); got != "⚙️ Nothing is running here." {
			t.Errorf("once more: %q", got)
		}
	})
}

// TestStopEndsReports has a sub-agent whose report is being worded: a stop ends that too, and says so.
//
// source: openclaw/openclaw#122909
// proves: X1, X3, N15
func TestStopEndsReports(t *testing.T) {
	for _, words := range []string{"/stop", "/subagents stop all", "/subagents stop 1"} {
		t.Run(words, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g := routertest.Parent(t, routertest.Child{Announce: routertest.Slowly(time.Minute)})
				g.Spawn(tools.SpawnRequest{Source: "s"})
				<-time.After(time.Second)
				if got, want := g.Asks(routertest.Group("a"), routertest.Owner, words), "⚙️ Cancelled 1 report of sub-agents."; got != want {
					t.Errorf("%q, want %q", got, want)
				}
				<-time.After(2 * time.Minute)
				if d := g.Deliveries(); len(d) != 2 {
					t.Errorf("%d deliveries, want no report", len(d))
				}
			})
		})
	}
}

// proves: N16, S8
func TestSubagentsCommandSends(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		x := routertest.Flock(t)
		if got := x.Asks(routertest.Group("a"), routertest.Owner, "/subagents send 3 more  grass"); got != "⚙️ Sent to sub-agent run `"+string(x.Task("sheep")[0].ID[:8])+"`. I will report the result." {
			t.Errorf("%q", got)
		}
		x.Until("it is reported", func() bool { return len(x.Fake.Texts(routertest.Group("a"))) == 4 })
		runs := x.Task("sheep")
		var told []sessions.Run
		for _, run := range runs {
			if run.Kind == sessions.ChildRun {
				told = append(told, run)
			}
		}
		if len(told) != 2 || told[1].Input.Text() != "more  grass" || told[1].Input.Provenance.Kind != sessions.InterSession || told[1].Input.Provenance.Source != routertest.KeyA || told[1].Status != sessions.Done {
			t.Errorf("%+v", told)
		}
		if s := x.Session(routertest.KeyA); s.Turns != 1 {
			t.Errorf("%d turns of the chat's session, want that of hello", s.Turns)
		}
		if err := x.Store.Archive(t.Context(), told[0].Key); err != nil {
			t.Fatal(err)
		}
		if got := x.Asks(routertest.Group("a"), routertest.Owner, "/subagents send "+string(told[0].Key)+" more"); !strings.Contains(got, "This sub-agent is archived") {
			t.Errorf("an archived one: %q", got)
		}
	})
}

// TestSubagentsOfOthersAreOutOfReach asks in one chat for the sub-agents of another, in a mode in which their sessions can be seen.
//
// proves: V4, N16
func TestSubagentsOfOthersAreOutOfReach(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		x := routertest.Flock(t)
		goats := x.Task("goats")[0]
		for _, id := range []string{"1", "last", "my_goats", string(goats.ID), string(goats.Key)} {
			for _, words := range []string{"log %s", "info %s", "stop %s", "send %s more"} {
				if got := x.Asks(routertest.Group("b"), routertest.Owner, "/subagents "+fmt.Sprintf(words, id)); !strings.HasPrefix(got, "⚠️ this session has no sub-agents") && !strings.HasPrefix(got, "⚠️ `"+string(goats.Key)+"` is not a sub-agent of this session") {
					t.Errorf("%s by %q: %q", words, id, got)
				}
			}
		}
		for words, want := range map[string]string{"/subagents": "This session has no sub-agents.", "/subagents stop all": "⚙️ No sub-agent is running."} {
			if got := x.Asks(routertest.Group("b"), routertest.Owner, words); got != want {
				t.Errorf("%s: %q", words, got)
			}
		}
		if run := x.Task("goats"); len(run) != 1 || run[0].Status != sessions.Running {
			t.Errorf("%s", routertest.Kinds(run))
		}
	})
}

func TestOnlyOwnersDirectSubagents(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		x := routertest.Flock(t)
		for _, words := range []string{"/subagents", "/subagents stop all", "/subagents send 1 more", "/sessions", "/sessions fake"} {
			name, _, _ := strings.Cut(words, " ")
			if got, want := x.Asks(routertest.Group("a"), routertest.Guest, words), "Only an owner can use "+name+". Send me `/whoami` in a direct chat to read how to become one."; got != want {
				t.Errorf("%s: %q, want %q", words, got, want)
			}
		}
		if run := x.Task("cows"); len(run) != 1 || run[0].Status != sessions.Running {
			t.Errorf("%s", routertest.Kinds(run))
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
			routertest.Bubble(t, func(t *testing.T) {
				x := routertest.Flock(t, func(s *settings.Snapshot) {
					s.Tools.Sessions.Visibility, s.Agents.Defaults.Sandbox.Mode = c.mode, c.sandbox
				})
				x.Asks(routertest.Group("b"), routertest.Guest, "hello")
				x.Asks(routertest.Direct(routertest.Owner), routertest.Owner, "hello")
				<-time.After(time.Minute)
				got := x.Asks(routertest.Group("a"), routertest.Owner, c.words)
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
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		for i := range 22 {
			g.Asks(routertest.Group(fmt.Sprintf("c%02d", i)), routertest.Guest, "hello")
			<-time.After(time.Second)
		}
		got := g.Asks(routertest.Group("c00"), routertest.Owner, "/sessions")
		if n := strings.Count(got, "\n- `"); n != 20 || !strings.Contains(got, "There are more") || !strings.Contains(got, "group:c21`") || strings.Contains(got, "group:c01`") {
			t.Errorf("%d rows:\n%s", n, got)
		}
	})
}

// proves: N1, N3
func TestAgentsCommand(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, func(s *settings.Snapshot) {
			s.Agents.List = []agent.Entry{{ID: "main", Default: true}, {ID: "helper", Name: "The `Helper`", Model: "mock/h"}, {ID: "hidden"}}
			s.Agents.List[0].Subagents.AllowAgents = []string{"helper"}
		})
		got := g.Asks(routertest.Group("a"), routertest.Guest, "/agents")
		want := "**Agents** that this one may start as sub-agents, itself first:\n\n- `main` · `mock/m`\n- `helper` `The 'Helper'` · `mock/h`\n"
		if strings.TrimSpace(got) != strings.TrimSpace(want) {
			t.Errorf("%q, want %q", got, want)
		}
		if got := g.Asks(routertest.Group("a"), routertest.Guest, "/agents are people too"); !strings.HasPrefix(got, "echo: ") {
			t.Errorf("text that looks like the command: %q", got)
		}
	})
}

// TestLogFitsOneAnswer shows a long transcript, with text that is Markdown itself.
func TestLogFitsOneAnswer(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		x := routertest.NewTree(t, 1, func(s *settings.Snapshot) { s.Agents.Defaults.MaxSteps = 200 })
		x.Does("talk", func(_ context.Context, p agent.Prompt) (agent.Answer, error) {
			if n := len(p.Messages); n < 150 {
				return agent.Answer{Content: append(sessions.TextContent(fmt.Sprintf("%d `*bold*`\n# %s", n, strings.Repeat("long ", 100))), routertest.Call(fmt.Sprint("c", n), "recall", map[string]any{}).Content...), Stop: "toolUse"}, nil
			}
			return routertest.Text("done"), nil
		})
		x.Spawn(tools.SpawnRequest{Source: "s", Task: "talk"})
		<-time.After(time.Minute)
		got := x.Asks(routertest.Group("a"), routertest.Owner, "/subagents log 1 200")
		lines := strings.Split(strings.TrimSpace(got), "\n")[2:]
		if len(got) > 13_000 || len(lines) < 20 || !strings.Contains(got, fmt.Sprintf("the newest %d messages", len(lines))) || !strings.Contains(lines[len(lines)-1], "done") && !strings.Contains(got, "`done`") {
			t.Errorf("%d bytes, %d lines: %.300s", len(got), len(lines), got)
		}
		for _, l := range lines {
			if strings.Contains(l, "*bold*") && !strings.Contains(l, " '*bold*' # long") || len([]rune(l)) > 2*300 {
				t.Errorf("%s", l)
			}
		}
	})
}
