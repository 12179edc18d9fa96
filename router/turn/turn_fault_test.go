package turn_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/channels/channeltest"
	"parley/router/chain"
	"parley/router/routertest"
	"parley/router/settings"
	"parley/sessions"
)

type noSecondRecord struct {
	sessions.Store
	n *atomic.Int32
}

func (s noSecondRecord) Record(ctx context.Context, id sessions.RunID, m ...sessions.Message) error {
	if m[0].Role == sessions.ToolResult {
		s.n.Store(2)
		<-ctx.Done()
		return ctx.Err()
	}
	return s.Store.Record(ctx, id, m...)
}

func TestHistoryKeepsTheInputOfFailedTurns(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		g.Say(routertest.Direct("a"), routertest.Guest, "one")
		g.Shown(1)
		bad, good := "nope/x", ""
		key := sessions.Key("agent:main:fake:direct:" + routertest.Guest)
		_, _ = g.Router.Patch(t.Context(), key, sessions.Patch{Model: &bad})
		g.Say(routertest.Direct("a"), routertest.Guest, "two")
		g.Shown(2)
		_, _ = g.Router.Patch(t.Context(), key, sessions.Patch{Model: &good})
		g.Say(routertest.Direct("a"), routertest.Guest, "three")
		g.Shown(3)
		cached := g.LastPrompt()
		s, _ := g.Store.Get(t.Context(), key)
		msgs, _ := g.Store.Tail(t.Context(), s.ID, sessions.TailQuery{IncludeTool: true})
		var stored []string
		for _, m := range msgs[:len(msgs)-1] {
			stored = append(stored, string(m.Role)+":"+m.Text())
		}
		if fmt.Sprint(cached) != fmt.Sprint(stored) {
			t.Errorf("the model was shown\n%q\nthe store holds\n%q", cached, stored)
		}
	})
}

func TestStopSparesTheNextRun(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		hold := make(chan struct{})
		g := routertest.NewWith(t, channeltest.Options{}, nil, func(s sessions.Store) sessions.Store {
			return routertest.Slow{Store: s, OnAccept: func(a sessions.Arrival) {
				if a.In.Text == "/stop" {
					<-hold
				}
			}}
		}, func(s *settings.Snapshot) { s.Agents.Defaults.MaxConcurrent = 1 })
		g.Model.Set(routertest.Slowly(time.Minute))
		// the owner's two chats share the session main. A run of another session holds the only slot, "work" waits in the queue.
		g.Say(routertest.Group("busy"), routertest.Guest, "busy")
		g.Until("busy", func() bool { return g.Model.Count() == 1 })
		g.Say(routertest.Direct("phone"), routertest.Owner, "work")
		synctest.Wait()
		g.Say(routertest.Direct("phone"), routertest.Owner, "/stop") // committed, its answer is on the way
		synctest.Wait()
		g.Say(routertest.Direct("desk"), routertest.Owner, "new question")
		g.Until("the new question is at work", func() bool { return g.Model.Count() == 2 })
		close(hold)
		<-time.After(30 * time.Minute)
		synctest.Wait()
		if n := len(g.Fake.Shown(routertest.Direct("desk"))); n != 1 {
			t.Errorf("the question after the /stop got %d answers", n)
		}
	})
}

func TestSpawnWithoutTimeout(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		g.Model.Set(func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
			switch m := routertest.Last(p); {
			case strings.Contains(p.System, "announce step"):
				return routertest.Text("Result: fine"), nil
			case strings.Contains(p.System, "sub-agent"):
				if !channels.Sleep(ctx, 30*time.Minute) {
					return agent.Answer{}, ctx.Err()
				}
				return routertest.Text("done"), nil
			case m.Role == sessions.ToolResult:
				return routertest.Text("NO_REPLY"), nil
			}
			return routertest.Call("c1", "sessions_spawn", map[string]any{"task": "compute", "runTimeoutSeconds": 0}), nil
		})
		g.Say(routertest.Direct("a"), routertest.Guest, "go")
		if got := g.Shown(1)[0].Out.Text; !strings.Contains(got, "Status: success") {
			t.Errorf("%s", got)
		}
	})
}

func TestSpawnRepeatedAtTheLimit(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		var once atomic.Bool
		g := routertest.NewWith(t, channeltest.Options{}, nil, nil, func(s *settings.Snapshot) { s.Agents.Defaults.Subagents.MaxChildrenPerAgent = 1 })
		_ = once.Load()
		g.Model.Set(func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
			switch m := routertest.Last(p); {
			case strings.Contains(p.System, "sub-agent"):
				channels.Sleep(ctx, time.Hour)
				return routertest.Text("done"), nil
			case m.Role == sessions.ToolResult:
				return routertest.Text("tool said: " + m.Text()), nil
			}
			return routertest.Call("c1", "sessions_spawn", map[string]any{"task": "compute"}), nil
		})
		g.Look(func(string, string) {})
		g.Stop()
		// the process dies between the spawn's commit and the record of its result
		var rec atomic.Int32
		g.Wrap = func(s sessions.Store) sessions.Store { return noSecondRecord{s, &rec} }
		g.Start()
		g.Say(routertest.Direct("a"), routertest.Guest, "go")
		g.Until("spawned", func() bool { return rec.Load() >= 2 })
		g.Stop()
		g.Wrap = nil
		g.Start()
		for _, c := range g.Shown(1) {
			if strings.Contains(c.Out.Text, "forbidden") {
				t.Errorf("the repeated call was told: %s", c.Out.Text)
			}
		}
	})
}

// Any control word of the step is silence, also when the sub-agent itself ended with one, and the run says which.
// source: openclaw/openclaw#27531
// proves: W3, N15
func TestAnnounceStepSaysNothing(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		g.Model.Set(func(_ context.Context, p agent.Prompt) (agent.Answer, error) {
			switch m := routertest.Last(p); {
			case strings.Contains(p.System, "announce step"):
				return routertest.Text("NO_REPLY"), nil
			case strings.Contains(p.System, "sub-agent"):
				return routertest.Text("done"), nil
			case m.Role == sessions.ToolResult:
				return routertest.Text("NO_REPLY"), nil
			}
			return routertest.Call("c1", "sessions_spawn", map[string]any{"task": "compute"}), nil
		})
		g.Say(routertest.Direct("a"), routertest.Guest, "go")
		g.Until("over", func() bool { return g.Model.Count() == 4 })
		g.Until("the step is over", func() bool { runs := g.Runs(); return len(runs) == 3 && runs[2].Status.Final() })
		if d := g.Deliveries(); len(d) != 0 {
			t.Errorf("%d deliveries after a step of silence", len(d))
		}
		if word := chain.Silence(g.Runs()[2]); word != agent.NoReply {
			t.Errorf("the run says %q", word)
		}
	})
}

func TestTimeoutStatus(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		g.Model.Set(func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
			switch m := routertest.Last(p); {
			case strings.Contains(p.System, "announce step"):
				return routertest.Text("Result: fine"), nil
			case strings.Contains(p.System, "sub-agent"):
				channels.Sleep(ctx, 30*time.Minute)
				return agent.Answer{}, ctx.Err()
			case m.Role == sessions.ToolResult:
				return routertest.Text("NO_REPLY"), nil
			}
			return routertest.Call("c1", "sessions_spawn", map[string]any{"task": "compute", "runTimeoutSeconds": 60}), nil
		})
		g.Say(routertest.Direct("a"), routertest.Guest, "go")
		if got := g.Shown(1)[0].Out.Text; !strings.Contains(got, "Status: timeout") {
			t.Errorf("%s", got)
		}
	})
}

func TestChildRightsInAsk(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, func(s *settings.Snapshot) {
			s.Agents.List = []agent.Entry{{ID: "main", Default: true}, {ID: "helper"}}
			s.Agents.List[0].Tools.Deny = []string{"remember"}
			s.Agents.List[0].Subagents.AllowAgents = []string{"helper"}
		})
		child := sessions.SubagentKey("helper", "2957bd2a-0b79-45c1-9e6b-900b3c827dfe")
		for _, kind := range []sessions.RunKind{sessions.ChildRun, sessions.AskRun} {
			c := &sessions.Chain{Kind: "spawn", Requester: "agent:main:main"}
			if kind == sessions.AskRun {
				c.Kind = "ask"
			}
			for _, x := range g.ToolsFor(sessions.Session{Key: child, SpawnedBy: "agent:main:main"}, sessions.Run{Kind: kind, Key: child, Agent: "helper", Chain: c}) {
				if x.Spec().Name == "remember" {
					t.Errorf("%s run of the child has a tool that its parent is denied", kind)
				}
			}
		}
	})
}

func TestErrorDetailsStayOut(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		g.Model.Set(func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
			switch m := routertest.Last(p); {
			case strings.Contains(p.System, "announce step"):
				return routertest.Text("Result: failed"), nil
			case strings.Contains(p.System, "sub-agent"):
				return agent.Answer{}, &agent.ModelError{Class: agent.Unreachable, Provider: "mock", Err: errors.New("dial tcp 10.1.2.3:443: refused")}
			case m.Role == sessions.ToolResult:
				return routertest.Text("NO_REPLY"), nil
			}
			return routertest.Call("c1", "sessions_spawn", map[string]any{"task": "compute"}), nil
		})
		g.Say(routertest.Group("a"), routertest.Guest, "go")
		if got := g.Shown(1)[0].Out.Text; strings.Contains(got, "10.1.2.3") {
			t.Errorf("%s", got)
		}
	})
}

func TestHistoryOfRunsThatCameTooLate(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		g.Settings.Delivery.ReplyTTL = time.Minute
		g.Model.Set(routertest.Slowly(2 * time.Minute))
		g.Say(routertest.Direct("a"), routertest.Guest, "one")
		g.Say(routertest.Direct("a"), routertest.Guest, "two") // waits longer than a reply may be late: its input is in the store, not in the cache
		<-time.After(10 * time.Minute)
		g.Model.Set(nil)
		n := len(g.Fake.Shown(channels.Address{}))
		g.Say(routertest.Direct("a"), routertest.Guest, "three")
		g.Shown(n + 1)
		if !strings.Contains(fmt.Sprint(g.LastPrompt()), "two") {
			t.Errorf("the model was not shown what the store holds: %q (%d shown before)", g.LastPrompt(), n)
		}
	})
}

// lostRecord is a store that writes a turn's first message down, and whose answer to that is lost.
type lostRecord struct {
	sessions.Store
	lost *atomic.Int32
}

func (s lostRecord) Record(ctx context.Context, id sessions.RunID, m ...sessions.Message) error {
	err := s.Store.Record(ctx, id, m...)
	if err == nil && s.lost.Add(1) == 1 {
		return errors.New("the connection broke after the commit")
	}
	return err
}

// TestHistoryAfterALostAnswer loses the answer to a commit of what a turn says, which ends with it. The next turn of the same process is shown what is in the store.
//
// proves: T1
func TestHistoryAfterALostAnswer(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		var lost atomic.Int32
		g := routertest.NewWith(t, channeltest.Options{}, nil, func(s sessions.Store) sessions.Store { return lostRecord{s, &lost} })
		g.Model.Set(func(_ context.Context, p agent.Prompt) (agent.Answer, error) {
			if routertest.Last(p).Role == sessions.User && routertest.Last(p).Text() == "look" {
				a := routertest.Call("c1", "sessions_list", map[string]any{})
				a.Content = append(sessions.TextContent("I look."), a.Content...)
				return a, nil
			}
			return routertest.Text("answered"), nil
		})
		g.Say(routertest.Direct("a"), routertest.Guest, "hello")
		g.Shown(1)
		g.Say(routertest.Direct("a"), routertest.Guest, "look")
		g.Shown(2)
		g.Say(routertest.Direct("a"), routertest.Guest, "and now?")
		g.Shown(3)
		shown := g.LastPrompt()
		if lost.Load() != 1 || !slices.Contains(shown, "assistant:I look.") {
			t.Errorf("%d answers lost; the next turn is shown %q", lost.Load(), shown)
		}
	})
}
