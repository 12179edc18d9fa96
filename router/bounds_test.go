package router_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/channels/channeltest"
	"parley/router/routertest"
	"parley/router/settings"
	"parley/sessions"
	"parley/tools"
)

// TestSubagentsThatDelegateAgain: a sub-agent that answers every result with a further sub-agent is ended.
//
// proves: S12
func TestSubagentsThatDelegateAgain(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		x := routertest.NewTree(t, 2, func(s *settings.Snapshot) {
			s.Session.AgentToAgent.MaxTurnsPerHour = 5
			s.Agents.Defaults.HistoryLimit = 10000
		})
		var n atomic.Int64
		x.Does("outer", func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
			if n.Load() > 60 {
				return routertest.Text("ANNOUNCE_SKIP"), nil
			}
			if routertest.Last(p).Role == sessions.ToolResult {
				return routertest.Text("started one more: " + routertest.Last(p).Text()), nil
			}
			n.Add(1)
			return routertest.Delegate("c", "inner"), nil
		})
		x.Does("inner", func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
			channels.Sleep(ctx, 10*time.Second)
			return routertest.Text("done inner"), nil
		})
		x.Spawn(tools.SpawnRequest{Source: "s", Task: "outer"})
		<-time.After(59 * time.Minute)
		if got := n.Load(); got > 20 {
			t.Errorf("%d sub-agents started by one sub-agent in turns that results caused, %d posts into the chat within the hour; the cap is 5", got, len(x.Deliveries())-1)
		}
	})
}

// TestFiguresOfATimeout: what a sub-agent used until its time was over is in the figures of its report.
//
// proves: N13
func TestFiguresOfATimeout(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		x := routertest.NewTree(t, 1)
		x.Does("long", func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
			if len(p.Messages) == 1 {
				return routertest.Call("c1", "agents_list", map[string]any{}), nil
			}
			<-ctx.Done()
			return agent.Answer{}, ctx.Err()
		})
		x.Spawn(tools.SpawnRequest{Source: "s", Task: "long", Timeout: 60})
		x.Rig.Idle(4)
		<-time.After(time.Second)
		d := x.Deliveries()
		if got := d[len(d)-1].Text; strings.Contains(got, "tokens 0 ") {
			t.Errorf("%s", got)
		}
	})
}

// TestHopsOnce: a turn that a result began has its own session among the hops already: it is not one hop more.
//
// proves: S12
func TestHopsOnce(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.TwoChats(t, nil)
		from := tools.Caller{Session: g.Session(routertest.KeyA), Run: sessions.Run{ID: "r", Kind: sessions.ResultRun, Key: routertest.KeyA, Chain: &sessions.Chain{Kind: "spawn", Hops: []sessions.Key{"agent:main:main", routertest.KeyA}}}}
		run, err := g.Router.ToolHost.Ask(t.Context(), tools.AskRequest{Source: "q", From: from, To: routertest.KeyB, Message: "hi"})
		if err != nil || len(run.Chain.Hops) != 2 {
			t.Errorf("hops %v, %v", run.Chain.Hops, err)
		}
	})
}

// lateSubmit is a store that takes its time with the tool call that is repeated after a restart.

type lateSubmit struct {
	sessions.Store
	wait func(source string)
}

func (s lateSubmit) Submit(ctx context.Context, e sessions.Change) (sessions.Accepted, error) {
	s.wait(e.IdempotencyKey)
	return s.Store.Submit(ctx, e)
}

// TestReplyOnceAfterARestart: the host dies while a sessions_send waits. After the start the target is done before the requester's call is repeated.
//
// proves: S13
func TestReplyOnceAfterARestart(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		var second atomic.Bool
		g := routertest.NewWith(t, channeltest.Options{}, nil, func(s sessions.Store) sessions.Store {
			return lateSubmit{s, func(source string) {
				if second.Load() && strings.HasPrefix(source, "tool:") {
					<-time.After(time.Minute) // virtual time
				}
			}}
		})
		inner := pingPong(1, 600)
		var system string
		var shown []string
		g.Model.Set(func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
			if !second.Load() && strings.Contains(p.System, "comes from another session") {
				<-ctx.Done()
				return agent.Answer{}, ctx.Err()
			}
			if strings.Contains(p.System, "reply step") && system == "" {
				system, shown = p.System, routertest.WordsOf(p)
			}
			return inner(ctx, p)
		})
		g.Say(routertest.Group("b"), routertest.Guest, "make a session here")
		g.Shown(1)
		g.Say(routertest.Group("a"), routertest.Guest, "ask b")
		<-time.After(time.Second)
		g.Stop()
		second.Store(true)
		g.Start()
		g.Idle(4)
		n := strings.Count(system, "round one")
		for _, m := range shown {
			if strings.Contains(m, "round one") && !strings.HasPrefix(m, "assistant") {
				n++
			}
		}
		if n != 1 {
			t.Errorf("the reply is %d times in the requester's context: %q", n, shown)
		}
	})
}

// TestSteerKeepsHops: a loop through a message to a sub-agent is a loop.
//
// proves: S12
func TestSteerKeepsHops(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.TwoChats(t, routertest.Slowly(time.Hour))
		run := g.Spawn(tools.SpawnRequest{Source: "s", Task: "compute"})
		g.Model.Set(func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
			if strings.Contains(p.System, "comes from another session") && routertest.Last(p).Role != sessions.ToolResult {
				return routertest.Call("c1", "subagents", map[string]any{"action": "steer", "id": "last", "message": "ask b"}), nil
			}
			return routertest.Slowly(time.Hour)(ctx, p)
		})
		if _, err := g.Router.ToolHost.Ask(t.Context(), tools.AskRequest{Source: "q", From: tools.Caller{Session: g.Session(routertest.KeyB)}, To: routertest.KeyA, Message: "have your sub-agent ask me"}); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Minute)
		for _, r := range g.Runs() {
			if r.Key == run.Key && r.Input.Text() == "ask b" {
				if len(r.Chain.Hops) == 0 {
					t.Error("what b asked has been through no session when it reaches the sub-agent: it may send to b again")
				}
				return
			}
		}
		t.Error("not steered")
	})
}

// TestMessagesAreNoSubagents: messages to one sub-agent are no further sub-agents.
//
// proves: N16
func TestMessagesAreNoSubagents(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		x := routertest.NewTree(t, 1)
		x.Does("long", routertest.Slowly(time.Hour))
		x.Spawn(tools.SpawnRequest{Source: "s", Task: "long"})
		for _, w := range []string{"1", "2", "3", "4"} {
			x.Steer("long", w)
		}
		if _, err := x.Router.ToolHost.Spawn(t.Context(), tools.SpawnRequest{Source: "s2", From: tools.Caller{Session: x.Session(routertest.KeyA)}, Agent: "main", Task: "second"}); err != nil {
			t.Errorf("one sub-agent is at work: %v", err)
		}
	})
}
