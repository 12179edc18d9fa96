package router

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
	"parley/channels/channeltest"
	"parley/policy"
	"parley/sessions"
	"parley/tools"
)

// child is what the sub-agent and its announce step say; nil says "done" and "fine".
type child struct {
	work, announce func(context.Context, agent.Prompt) (agent.Answer, error)
}

func (c child) answer(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
	switch {
	case strings.Contains(p.System, "announce step"):
		if c.announce == nil {
			return text("Result: fine"), nil
		}
		return c.announce(ctx, p)
	case strings.Contains(p.System, "sub-agent"):
		if c.work == nil {
			return text("done"), nil
		}
		return c.work(ctx, p)
	}
	return text("echo: " + lastUser(p)), nil
}

func saying(s string) func(context.Context, agent.Prompt) (agent.Answer, error) {
	return func(context.Context, agent.Prompt) (agent.Answer, error) { return text(s), nil }
}

// parent makes the session a, from which tests spawn.
func parent(t *testing.T, c child, fs ...func(*Settings)) *rig {
	t.Helper()
	g := newRig(t, channeltest.Options{}, fs...)
	g.say(groupChat("a"), guest, "hello")
	g.shown(1)
	g.idle(1)
	g.model.set(c.answer)
	return g
}

func (g *rig) spawn(q tools.SpawnRequest) sessions.Run {
	g.t.Helper()
	if q.From.Session.Key == "" {
		q.From.Session = g.session(keyA)
	}
	q.Task = firstOf(q.Task, "compute")
	if q.Agent == "" {
		q.Agent = "main"
	}
	run, err := g.r.Spawn(g.t.Context(), q)
	if err != nil {
		g.t.Fatal(err)
	}
	return run
}

// proves: N10, N11, N12, N15
func TestWhatAChildReports(t *testing.T) {
	failed := func(context.Context, agent.Prompt) (agent.Answer, error) {
		return agent.Answer{}, errors.New("dial 10.1.2.3")
	}
	noted := func(end string) func(context.Context, agent.Prompt) (agent.Answer, error) {
		return func(_ context.Context, p agent.Prompt) (agent.Answer, error) {
			if last(p).Role == sessions.ToolResult {
				return text(end), nil
			}
			return call("c1", "remember", map[string]any{"text": "a fact"}), nil
		}
	}
	for name, c := range map[string]struct {
		child child
		want  []string // what the post says; nil = silence
		steps int
	}{
		"success":                {child{}, []string{"Status: success", "Result:\nfine", "Notes:\n- (none)"}, 3},
		"skipped by the child":   {child{work: saying("ANNOUNCE_SKIP")}, nil, 1},
		"skipped by the step":    {child{announce: saying("\nANNOUNCE_SKIP ")}, nil, 2},
		"the child fails":        {child{work: failed}, []string{"Status: error", "Result:\nfine", "- Error: Something went wrong"}, 3},
		"both fail":              {child{work: failed, announce: failed}, []string{"Status: error", "Result:\n(not available)", "- Error: Something went wrong"}, 3},
		"an empty answer":        {child{work: noted(""), announce: saying("")}, []string{"Status: success", `{"status":"ok"}`}, 3},
		"a tool and words":       {child{work: noted("noted"), announce: failed}, []string{"Status: success", "Result:\nnoted"}, 3},
		"notes and an error":     {child{work: failed, announce: saying("Result: none\nNotes: sorry")}, []string{"Notes:\nsorry\n- Error: "}, 3},
		"words without sections": {child{announce: saying("just words")}, []string{"Result:\njust words\n"}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				g := parent(t, c.child)
				run := g.spawn(tools.SpawnRequest{Source: "s"})
				<-time.After(time.Minute)
				if list := g.idle(1 + c.steps); len(list) != 1+c.steps {
					t.Errorf("%d steps, want %d", len(list)-1, c.steps)
				}
				posts := g.deliveries()[1:]
				if len(c.want) == 0 {
					if len(posts) != 0 {
						t.Errorf("posted: %s", posts[0].Text)
					}
					return
				}
				if len(posts) != 1 || posts[0].To != groupChat("a") || posts[0].Kind != sessions.Announce || posts[0].Session != keyA {
					t.Fatalf("%+v", posts)
				}
				for _, want := range append(c.want, string(run.Key), "Stats: runtime") {
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
			bubble(t, func(t *testing.T) {
				g := parent(t, child{work: slowly(time.Minute)}, func(s *Settings) {
					s.Agents.Defaults.Subagents.ArchiveAfterMinutes = c.minutes
					s.Agents.Defaults.Subagents.Model = "mock/child"
				})
				began := time.Now()
				run := g.spawn(tools.SpawnRequest{Source: "tool:r1:c1", Label: "sums", Timeout: 300, Cleanup: c.cleanup})
				if again := g.spawn(tools.SpawnRequest{Source: "tool:r1:c1"}); again.ID != run.ID || again.Key != run.Key {
					t.Errorf("the same call made %s and %s", run.Key, again.Key)
				}
				p := run.Input.Provenance
				if p == nil || p.Kind != sessions.InterSession || p.Source != keyA || p.Channel != fakeKind || p.Tool != "sessions_spawn" || run.Input.Text() != "compute" {
					t.Errorf("the task %q comes from %+v", run.Input.Text(), p)
				}
				if !run.Reply.IsZero() || run.Model != "mock/child" || run.Timeout != 5*time.Minute || run.Chain.Origin != groupChat("a") || run.Chain.Requester != keyA {
					t.Errorf("%+v, chain %+v", run, run.Chain)
				}
				x := g.session(run.Key)
				due := x.ArchiveAt.Sub(began).Round(time.Second)
				if x.SpawnedBy != keyA || x.Label != "sums" || c.minutes == 0 && !x.ArchiveAt.IsZero() || c.minutes > 0 && due != time.Duration(c.minutes)*time.Minute {
					t.Errorf("%+v, archived after %s", x, due)
				}
				g.ended(2)
				x, err := g.store.Get(t.Context(), run.Key)
				if gone := errors.Is(err, sessions.ErrNotFound); gone != (c.cleanup == "delete") || x.Archived {
					t.Errorf("after the announce: %+v (%v)", x, err)
				}
				if c.cleanup == "delete" {
					return
				}
				<-time.After(2 * time.Hour)
				archived, err := g.store.List(t.Context(), sessions.Query{SpawnedBy: keyA, Archived: true})
				if err != nil || (len(archived) == 1) != (c.minutes > 0) {
					t.Errorf("two hours later %d are archived (%v)", len(archived), err)
				}
			})
		})
	}
}

// proves: P4, P5, N15
func TestAnnounceOfAChildMeetsItsRequestersPolicy(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := parent(t, child{})
		deny := policy.Deny
		if _, err := g.r.Patch(t.Context(), keyA, sessions.Patch{SendPolicy: &deny}); err != nil {
			t.Fatal(err)
		}
		g.spawn(tools.SpawnRequest{Source: "s", Cleanup: "delete"})
		if d := g.ended(2)[1]; d.State != sessions.Withheld || d.Verdict == nil {
			t.Errorf("%s", d.State)
		}
	})
}

// proves: N16
func TestMaxChildren(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := parent(t, child{work: slowly(time.Minute)}, func(s *Settings) {
			s.Agents.Defaults.Subagents.MaxChildrenPerAgent = 2
			s.Agents.Defaults.Subagents.MaxConcurrent = 1 // one at work, one that waits
		})
		for i := range 2 {
			g.spawn(tools.SpawnRequest{Source: fmt.Sprint("s", i)})
		}
		q := tools.SpawnRequest{Source: "s2", From: tools.Caller{Session: g.session(keyA)}, Agent: "main", Task: "compute"}
		_, err := g.r.Spawn(t.Context(), q)
		var no *tools.Refused
		if !errors.As(err, &no) || !strings.Contains(no.Reason, "2 sub-agents") {
			t.Errorf("the third child: %v", err)
		}
		g.idle(5)
		if _, err := g.r.Spawn(t.Context(), q); err != nil {
			t.Errorf("after the others have ended: %v", err)
		}
	})
}

// proves: N7
func TestToolsOfAChild(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var asked atomic.Pointer[agent.Prompt]
		g := parent(t, child{work: func(_ context.Context, p agent.Prompt) (agent.Answer, error) {
			asked.Store(&p)
			return text("done"), nil
		}, announce: func(_ context.Context, p agent.Prompt) (agent.Answer, error) {
			if len(p.Tools) > 0 {
				t.Errorf("the announce step has %d tools", len(p.Tools))
			}
			return text("ANNOUNCE_SKIP"), nil
		}}, func(s *Settings) {
			s.Agents.List = []agent.Entry{{ID: "main", Default: true}, {ID: "helper"}}
			s.Agents.List[0].Tools.Deny = []string{"remember"}
		})
		for _, id := range []sessions.AgentID{"main", "helper"} {
			n := len(g.runs())
			g.spawn(tools.SpawnRequest{Source: string(id), Agent: id})
			g.idle(n + 2)
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
