package command_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/channels/channeltest"
	"parley/policy"
	"parley/router/routertest"
	"parley/router/settings"
	"parley/sessions"
	"parley/tools"
)

// use has the agent of a chat call one tool and gives the tool's result, decoded.
func use[T any](g *routertest.Rig, to channels.Address, tool string, args any) (v T) {
	g.T.Helper()
	var result string
	g.Model.Set(func(_ context.Context, p agent.Prompt) (agent.Answer, error) {
		if routertest.Last(p).Role != sessions.ToolResult {
			return routertest.Call("c1", tool, args), nil
		}
		result = routertest.Last(p).Text()
		return routertest.Text("used it"), nil
	})
	n := len(g.Runs())
	g.Say(to, routertest.Guest, "use it")
	g.Idle(n + 1)
	if err := json.Unmarshal([]byte(result), &v); err != nil {
		g.T.Fatalf("%s(%v): %s: %v", tool, args, result, err)
	}
	return v
}

type found struct {
	Status string
	Count  int
	Hits   []struct{ SessionKey, SessionID, Role, Snippet string }
}

// TestSearchFindsWhatWasSaid searches through the tool in the real store: the time before a reset and archived sessions included,
// tool results left out, other agents' and chats' sessions as far as the mode lets them be seen.
//
// proves: V1, V4
func TestSearchFindsWhatWasSaid(t *testing.T) {
	for mode, want := range map[tools.Visibility]int{tools.VisibleSelf: 2, tools.VisibleTree: 3, tools.VisibleAgent: 5} {
		t.Run(string(mode), func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g := routertest.New(t, channeltest.Options{}, func(s *settings.Snapshot) { s.Tools.Sessions.Visibility = mode })
				g.Asks(routertest.Group("a"), routertest.Guest, "the marmot is awake")
				g.Asks(routertest.Group("b"), routertest.Guest, "another marmot sleeps")
				g.Asks(routertest.Group("a"), routertest.Guest, "/new")
				use[found](g, routertest.Group("a"), "remember", map[string]any{"text": "a marmot likes flowers"}) // the word is in a tool call and its result alone
				g.Model.Set(func(context.Context, agent.Prompt) (agent.Answer, error) {
					return routertest.Text("ANNOUNCE_SKIP"), nil
				})
				run, err := g.Router.ToolHost.Spawn(t.Context(), tools.SpawnRequest{Source: "s", From: tools.Caller{Session: g.Session(routertest.KeyA)}, Agent: "main", Task: "watch the marmot"})
				if err != nil {
					t.Fatal(err)
				}
				<-time.After(time.Minute)
				if err := g.Store.Archive(t.Context(), run.Key); err != nil {
					t.Fatal(err)
				}
				r := use[found](g, routertest.Group("a"), "sessions_search", map[string]any{"query": "MARMOT", "limit": 25})
				if r.Count != want { // in each chat what a person said and its echo, in the sub-agent its task
					t.Errorf("%d hits, want %d: %+v", r.Count, want, r.Hits)
				}
				for _, h := range r.Hits {
					if h.SessionKey != string(routertest.KeyA) && mode == tools.VisibleSelf || h.SessionKey == string(routertest.KeyB) && mode != tools.VisibleAgent || h.Role == "toolResult" || !strings.Contains(h.Snippet, "marmot") {
						t.Errorf("%+v", h)
					}
				}
			})
		})
	}
}

// TestToolsByDepth has sub-agents that may have sub-agents of their own, and those that may not: the tools for it go with that.
//
// proves: N7, N8
func TestToolsByDepth(t *testing.T) {
	for most, want := range map[int]map[string]string{
		1: {"outer": "remember recall files fetch attachments"},
		2: {"outer": "sessions_spawn sessions_yield subagents agents_list remember recall files fetch attachments", "inner": "remember recall files fetch attachments"},
	} {
		t.Run(fmt.Sprint(most), func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				var mu sync.Mutex
				got := map[string]string{}
				g := routertest.New(t, channeltest.Options{}, func(s *settings.Snapshot) { s.Agents.Defaults.Subagents.MaxSpawnDepth = most })
				g.Asks(routertest.Group("a"), routertest.Guest, "hello")
				g.Model.Set(func(_ context.Context, p agent.Prompt) (agent.Answer, error) {
					if !strings.Contains(p.System, "You are a sub-agent") || len(p.Tools) == 0 {
						return routertest.Text("ANNOUNCE_SKIP"), nil
					}
					mu.Lock()
					defer mu.Unlock()
					var names []string
					for _, x := range p.Tools {
						names = append(names, x.Name)
					}
					got[routertest.TaskOf(p)] = strings.Join(names, " ")
					if routertest.TaskOf(p) == "outer" && len(p.Messages) == 1 && most > 1 {
						return routertest.Call("c1", "sessions_spawn", map[string]any{"task": "inner"}), nil
					}
					return routertest.Text("done"), nil
				})
				g.Spawn(tools.SpawnRequest{Source: "s", Task: "outer"})
				<-time.After(time.Minute)
				mu.Lock()
				defer mu.Unlock()
				if !maps.Equal(got, want) {
					t.Errorf("%v, want %v", got, want)
				}
			})
		})
	}
}

// TestStatusDuringATurn looks at the session from inside its own turn.
func TestStatusDuringATurn(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		g.Asks(routertest.Group("a"), routertest.Guest, "hello")
		type status struct {
			Key, Agent, Model, SessionID, Now  string
			TokensIn, TokensOut, Turns, Queued int
			Running                            struct {
				RunID string
				Since int64
			}
		}
		r := use[status](g, routertest.Group("a"), "session_status", map[string]any{})
		if r.Key != string(routertest.KeyA) || r.Agent != "main" || r.Model != "mock/m" || r.TokensIn != 10 || r.TokensOut != 5 || r.Turns != 1 || r.Queued != 0 || r.Running.RunID == "" || r.Running.Since <= 0 || r.Now == "" {
			t.Errorf("%+v", r)
		}
	})
}

// TestMessageReachesAnotherChat posts through the tool into the chat of another session, whose agent then knows it; not where
// nobody has written from, and not past a policy.
//
// proves: P4, P5, V4
func TestMessageReachesAnotherChat(t *testing.T) {
	type posted struct{ Status, To, Rule, Error string }
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		g.Asks(routertest.Group("a"), routertest.Guest, "hello")
		g.Asks(routertest.Group("b"), routertest.Guest, "hello")
		post := func(to string) posted {
			return use[posted](g, routertest.Group("a"), "message", map[string]any{"to": to, "text": "from a"})
		}
		for _, to := range []string{string(routertest.KeyB), routertest.Group("b").String()} {
			before := len(g.Fake.Texts(routertest.Group("b")))
			if r := post(to); r.Status != "queued" || r.To != routertest.Group("b").String() {
				t.Errorf("to %s: %+v", to, r)
			}
			if got := g.Fake.Texts(routertest.Group("b")); len(got) != before+1 || got[before] != "from a" {
				t.Errorf("to %s: the chat reads %q", to, got)
			}
		}
		if msgs := g.Transcript(routertest.KeyB); routertest.Last(agent.Prompt{Messages: msgs}).Text() != "from a" || routertest.Last(agent.Prompt{Messages: msgs}).Role != sessions.Assistant {
			t.Errorf("the transcript ends with %+v", routertest.Last(agent.Prompt{Messages: msgs}))
		}
		if r := post(routertest.Group("c").String()); r.Status != "error" || !strings.Contains(r.Error, "has a message from") {
			t.Errorf("where nobody has written from: %+v", r)
		}
		shown := len(g.Fake.Texts(routertest.Group("b")))
		deny := policy.Deny
		if _, err := g.Router.Patch(t.Context(), routertest.KeyB, sessions.Patch{SendPolicy: &deny}); err != nil {
			t.Fatal(err)
		}
		if r := post(string(routertest.KeyB)); r.Status != "withheld" || r.Rule == "" {
			t.Errorf("against the policy there: %+v", r)
		}
		if _, err := g.Router.Patch(t.Context(), routertest.KeyA, sessions.Patch{SendPolicy: &deny}); err != nil {
			t.Fatal(err)
		}
		if r := post(string(routertest.KeyB)); r.Status != "forbidden" || r.Rule == "" {
			t.Errorf("against the own policy: %+v", r)
		}
		if got := g.Fake.Texts(routertest.Group("b")); len(got) != shown {
			t.Errorf("denied, and the chat reads %q", got[shown:])
		}
	})
}

// TestSubagentsToolDirects steers and cancels through the tool, on the real host.
//
// proves: N16, S14
func TestSubagentsToolDirects(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		x := routertest.Flock(t)
		type done struct {
			Status, ChildSessionKey, RunID string
			Stopped                        int
		}
		goats, cows := x.Task("goats")[0], x.Task("cows")[0]
		all := x.Router.Rights.Tools
		subagents := all[slices.IndexFunc(all, func(t tools.Tool) bool { return t.Spec().Name == "subagents" })]
		direct := func(args map[string]any) (r done) {
			t.Helper()
			raw, err := json.Marshal(args)
			if err != nil {
				t.Fatal(err)
			}
			for range 2 { // the same call twice, as after a crash: one effect
				out, err := subagents.Call(t.Context(), tools.Call{ID: "c1-" + args["action"].(string), Args: raw,
					Caller: tools.Caller{Session: x.Session(routertest.KeyA), Run: sessions.Run{ID: "r1"}}})
				if err != nil {
					t.Fatal(err)
				}
				if r.Status == "" {
					if err := json.Unmarshal([]byte(out.Text), &r); err != nil {
						t.Fatal(err)
					}
				}
			}
			return r
		}
		if r := direct(map[string]any{"action": "cancel", "id": "my_goats"}); r.Status != "canceled" || r.Stopped != 1 || r.ChildSessionKey != string(goats.Key) {
			t.Errorf("cancel: %+v", r)
		}
		if r := direct(map[string]any{"action": "steer", "id": string(cows.ID), "message": "more grass"}); r.Status != "accepted" || r.ChildSessionKey != string(cows.Key) {
			t.Errorf("steer: %+v", r)
		}
		<-time.After(time.Second)
		if got := routertest.Kinds(x.Task("goats")); got != "child aborted" {
			t.Errorf("the canceled one: %s", got)
		}
		if got := x.Task("cows"); len(got) != 2 || got[1].Input.Text() != "more grass" {
			t.Errorf("the steered one: %s", routertest.Kinds(got))
		}
	})
}
