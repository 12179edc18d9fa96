package router_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"parley/agent"
	"parley/policy"
	"parley/router/routertest"
	"parley/router/settings"
	"parley/sessions"
	"parley/tools"
)

func saying(s string) func(context.Context, agent.Prompt) (agent.Answer, error) {
	return func(context.Context, agent.Prompt) (agent.Answer, error) { return routertest.Text(s), nil }
}

// proves: N10, N11, N12, N15
func TestWhatAChildReports(t *testing.T) {
	failed := func(context.Context, agent.Prompt) (agent.Answer, error) {
		return agent.Answer{}, errors.New("dial 10.1.2.3")
	}
	noted := func(end string) func(context.Context, agent.Prompt) (agent.Answer, error) {
		return func(_ context.Context, p agent.Prompt) (agent.Answer, error) {
			if routertest.Last(p).Role == sessions.ToolResult {
				return routertest.Text(end), nil
			}
			return routertest.Call("c1", "remember", map[string]any{"text": "a fact"}), nil
		}
	}
	for name, c := range map[string]struct {
		child routertest.Child
		want  []string // what the post says; nil = silence
		steps int
	}{
		"success":                {routertest.Child{}, []string{"Status: success", "Result:\nfine", "Notes:\n- (none)"}, 3},
		"skipped by the child":   {routertest.Child{Work: saying("ANNOUNCE_SKIP")}, nil, 1},
		"skipped by the step":    {routertest.Child{Announce: saying("\nANNOUNCE_SKIP ")}, nil, 2},
		"the child fails":        {routertest.Child{Work: failed}, []string{"Status: error", "Result:\nfine", "- Error: Something went wrong"}, 3},
		"both fail":              {routertest.Child{Work: failed, Announce: failed}, []string{"Status: error", "Result:\n(not available)", "- Error: Something went wrong"}, 3},
		"an empty answer":        {routertest.Child{Work: noted(""), Announce: saying("")}, []string{"Status: success", `{"status":"ok"}`}, 3},
		"a tool and words":       {routertest.Child{Work: noted("noted"), Announce: failed}, []string{"Status: success", "Result:\nnoted"}, 3},
		"notes and an error":     {routertest.Child{Work: failed, Announce: saying("Result: none\nNotes: sorry")}, []string{"Notes:\nsorry\n- Error: "}, 3},
		"words without sections": {routertest.Child{Announce: saying("just words")}, []string{"Result:\njust words\n"}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g := routertest.Parent(t, c.child)
				run := g.Spawn(tools.SpawnRequest{Source: "s"})
				<-time.After(time.Minute)
				if list := g.Idle(1 + c.steps); len(list) != 1+c.steps {
					t.Errorf("%d steps, want %d", len(list)-1, c.steps)
				}
				posts := g.Deliveries()[1:]
				if len(c.want) == 0 {
					if len(posts) != 0 {
						t.Errorf("posted: %s", posts[0].Text)
					}
					return
				}
				if len(posts) != 1 || posts[0].To != routertest.Group("a") || posts[0].Kind != sessions.Announce || posts[0].Session != routertest.KeyA {
					t.Fatalf("%+v", posts)
				}
				for _, want := range append(c.want, string(run.Key), "• runtime") {
					if !strings.Contains(posts[0].Text, want) {
						t.Errorf("the post does not say %q:\n%s", want, posts[0].Text)
					}
				}
				if strings.Contains(posts[0].Text, "10.1.2.3") {
					t.Errorf("details of the host in the post:\n%s", posts[0].Text)
				}
			})
		})
	}
}

// proves: N6, N14, S8, S14
func TestWhatASpawnStores(t *testing.T) {
	for name, c := range map[string]struct {
		minutes int
		cleanup string
	}{"kept for a while": {30, "keep"}, "kept": {0, "keep"}, "deleted": {30, "delete"}} {
		t.Run(name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g := routertest.Parent(t, routertest.Child{Work: routertest.Slowly(time.Minute)}, func(s *settings.Snapshot) {
					s.Agents.Defaults.Subagents.ArchiveAfterMinutes = c.minutes
					s.Agents.Defaults.Subagents.Model = "mock/child"
				})
				began := time.Now()
				run := g.Spawn(tools.SpawnRequest{Source: "tool:r1:c1", Label: "sums", Timeout: 300, Cleanup: c.cleanup})
				if again := g.Spawn(tools.SpawnRequest{Source: "tool:r1:c1"}); again.ID != run.ID || again.Key != run.Key {
					t.Errorf("the same call made %s and %s", run.Key, again.Key)
				}
				p := run.Input.Provenance
				if p == nil || p.Kind != sessions.InterSession || p.Source != routertest.KeyA || p.Channel != routertest.Kind || p.Tool != "sessions_spawn" || run.Input.Text() != "compute" {
					t.Errorf("the task %q comes from %+v", run.Input.Text(), p)
				}
				if !run.Reply.IsZero() || run.Model != "mock/child" || run.Timeout != 5*time.Minute || run.Chain.Origin != routertest.Group("a") || run.Chain.Requester != routertest.KeyA {
					t.Errorf("%+v, chain %+v", run, run.Chain)
				}
				x := g.Session(run.Key)
				due := x.ArchiveAt.Sub(began).Round(time.Second)
				if x.SpawnedBy != routertest.KeyA || x.Label != "sums" || c.minutes == 0 && !x.ArchiveAt.IsZero() || c.minutes > 0 && due != time.Duration(c.minutes)*time.Minute {
					t.Errorf("%+v, archived after %s", x, due)
				}
				g.Ended(2)
				x, err := g.Store.Get(t.Context(), run.Key)
				if gone := errors.Is(err, sessions.ErrNotFound); gone != (c.cleanup == "delete") || x.Archived {
					t.Errorf("after the announce: %+v (%v)", x, err)
				}
				if c.cleanup == "delete" {
					return
				}
				<-time.After(2 * time.Hour)
				archived, err := g.Store.List(t.Context(), sessions.Query{SpawnedBy: routertest.KeyA, Archived: true})
				if err != nil || (len(archived) == 1) != (c.minutes > 0) {
					t.Errorf("two hours later %d are archived (%v)", len(archived), err)
				}
			})
		})
	}
}

// proves: P4, P5, N15
func TestAnnounceOfAChildMeetsItsRequestersPolicy(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.Parent(t, routertest.Child{})
		deny := policy.Deny
		if _, err := g.Router.Patch(t.Context(), routertest.KeyA, sessions.Patch{SendPolicy: &deny}); err != nil {
			t.Fatal(err)
		}
		g.Spawn(tools.SpawnRequest{Source: "s", Cleanup: "delete"})
		if d := g.Ended(2)[1]; d.State != sessions.Withheld || d.Verdict == nil {
			t.Errorf("%s", d.State)
		}
	})
}

// proves: N16
func TestMaxChildren(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.Parent(t, routertest.Child{Work: routertest.Slowly(time.Minute)}, func(s *settings.Snapshot) {
			s.Agents.Defaults.Subagents.MaxChildrenPerAgent = 2
			s.Agents.Defaults.Subagents.MaxConcurrent = 1 // one at work, one that waits
		})
		for i := range 2 {
			g.Spawn(tools.SpawnRequest{Source: fmt.Sprint("s", i)})
		}
		q := tools.SpawnRequest{Source: "s2", From: tools.Caller{Session: g.Session(routertest.KeyA)}, Agent: "main", Task: "compute"}
		_, err := g.Router.ToolHost.Spawn(t.Context(), q)
		var no *tools.Refused
		if !errors.As(err, &no) || !strings.Contains(no.Reason, "2 running sub-agents") {
			t.Errorf("the third child: %v", err)
		}
		g.Idle(5)
		if _, err := g.Router.ToolHost.Spawn(t.Context(), q); err != nil {
			t.Errorf("after the others have ended: %v", err)
		}
	})
}

// proves: N7
func TestToolsOfAChild(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		var asked atomic.Pointer[agent.Prompt]
		g := routertest.Parent(t, routertest.Child{Work: func(_ context.Context, p agent.Prompt) (agent.Answer, error) {
			asked.Store(&p)
			return routertest.Text("done"), nil
		}, Announce: func(_ context.Context, p agent.Prompt) (agent.Answer, error) {
			if len(p.Tools) > 0 {
				t.Errorf("the announce step has %d tools", len(p.Tools))
			}
			return routertest.Text("ANNOUNCE_SKIP"), nil
		}}, func(s *settings.Snapshot) {
			s.Agents.List = []agent.Entry{{ID: "main", Default: true}, {ID: "helper"}}
			s.Agents.List[0].Tools.Deny = []string{"remember"}
		})
		for _, id := range []sessions.AgentID{"main", "helper"} {
			n := len(g.Runs())
			g.Spawn(tools.SpawnRequest{Source: string(id), Agent: id})
			g.Idle(n + 2)
			var names []string
			for _, x := range asked.Load().Tools {
				names = append(names, x.Name)
			}
			if slices.Contains(names, "remember") || !slices.Contains(names, "recall") || slices.Contains(names, "sessions_send") {
				t.Errorf("a child of agent %s has the tools %v", id, names)
			}
		}
	})
}
