package toolhost_test

import (
	"context"
	"errors"
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

// TestDeletedBeforeAMessage: a message to a sub-agent that is deleted before the commit does not bring it back without the rights of its parents.
//
// proves: N7, N14
func TestDeletedBeforeAMessage(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		x := routertest.NewTree(t, 1, func(s *settings.Snapshot) {
			s.Agents.List = []agent.Entry{{ID: "main", Tools: tools.Rights{Deny: []string{"remember"}}}, {ID: "free"}}
		})
		run := x.Rig.Spawn(tools.SpawnRequest{Source: "s", Task: "t", Agent: "free"})
		x.Rig.Idle(4)
		has := func() bool {
			s := x.Session(run.Key)
			for _, tool := range x.Rig.ToolsFor(s, sessions.Run{Key: run.Key, Agent: "free", Kind: sessions.AskRun}) {
				if tool.Spec().Name == "remember" {
					return true
				}
			}
			return false
		}
		before := has()
		e, err := x.Router.ToolHost.FollowUp(t.Context(), tools.SteerRequest{Source: "f", From: x.Session(routertest.KeyA), Child: run.Key, Message: "more"})
		if err != nil {
			t.Fatal(err)
		}
		if err := x.Store.Delete(t.Context(), run.Key); err != nil { // cleanup, between the look and the commit
			t.Fatal(err)
		}
		if _, err := x.Router.Committer.Submit(t.Context(), e); err != nil {
			return // refused: that is what is right
		}
		x.Rig.Idle(4)
		if after := has(); before || after {
			t.Errorf("it may use what its parent's agent is denied: before %v, after it came back %v", before, after)
		}
	})
}

// atFinish is a store that has something happen right before a run's end is committed.

type atFinish struct {
	sessions.Store
	do func(sessions.RunID, sessions.Outcome)
}

func (s atFinish) Finish(ctx context.Context, id sessions.RunID, o sessions.Outcome) (sessions.Accepted, error) {
	s.do(id, o)
	return s.Store.Finish(ctx, id, o)
}

// TestStopBeforeTheEnd: a stop that is committed before the end of a sub-agent's run stops it.
//
// proves: N15
func TestStopBeforeTheEnd(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		var g *routertest.Rig
		var child atomic.Pointer[sessions.Run]
		stopped := 0
		g = routertest.NewWith(t, channeltest.Options{}, nil, func(s sessions.Store) sessions.Store {
			return atFinish{s, func(id sessions.RunID, _ sessions.Outcome) {
				if run := child.Load(); run != nil && run.ID == id {
					n, err := g.Router.ToolHost.Cancel(t.Context(), "cancel", run.Key)
					if stopped = len(n); err != nil {
						t.Error(err)
					}
				}
			}}
		})
		g.Say(routertest.Group("a"), routertest.Guest, "hello")
		g.Shown(1)
		g.Idle(1)
		g.Model.Set(func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
			channels.Sleep(ctx, time.Second)
			return routertest.Text("done"), nil
		})
		run := g.Spawn(tools.SpawnRequest{Source: "s"})
		child.Store(&run)
		g.Idle(2)
		if list := g.Deliveries(); stopped != 1 || len(list) != 1 {
			t.Errorf("%d run stopped, and yet reported: %s; runs %s, session aborted %v", stopped, list[len(list)-1].Text, routertest.Kinds(g.Runs()), g.Session(run.Key).Aborted)
		}
	})
}

// TestDeletedStaysDeleted: a session that was deleted does not come back by a reply step.
//
// proves: N14, S9
func TestDeletedStaysDeleted(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.Parent(t, routertest.Child{})
		run := g.Spawn(tools.SpawnRequest{Source: "s", Task: "compute"})
		g.Idle(3)
		g.Deliveries()
		asked := make(chan struct{})
		g.Model.Set(func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
			if strings.Contains(p.System, "You are the requester") {
				<-asked
				return routertest.Text("thanks, and what else?"), nil
			}
			return routertest.Text("fine"), nil
		})
		if _, err := g.Router.ToolHost.Ask(t.Context(), tools.AskRequest{Source: "q", From: tools.Caller{Session: g.Session(routertest.KeyA)}, To: run.Key, Message: "how far are you?"}); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Second)
		if err := g.Store.Delete(t.Context(), run.Key); err != nil { // as cleanup does when the sub-agent's report has been made
			t.Fatal(err)
		}
		close(asked)
		<-time.After(time.Minute)
		if s, err := g.Store.Get(t.Context(), run.Key); !errors.Is(err, sessions.ErrNotFound) {
			t.Errorf("it is back: spawned by %q, above %v, archived at %v, depth %d", s.SpawnedBy, s.Above, s.ArchiveAt, tools.Depth(s))
		}
	})
}

// TestDeletedAfterASilentChild: a sub-agent that was to be deleted is, although the one below it ended in silence.
//
// proves: N14
func TestDeletedAfterASilentChild(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		x := routertest.NewTree(t, 2)
		x.Does("outer", routertest.Steps(routertest.Delegate("c1", "inner"), routertest.Text("it works on")))
		x.Does("inner", func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
			channels.Sleep(ctx, time.Minute)
			return routertest.Text("ANNOUNCE_SKIP"), nil
		})
		run := x.Spawn(tools.SpawnRequest{Source: "s", Task: "outer", Cleanup: "delete"})
		<-time.After(10 * time.Minute)
		if _, err := x.Store.Get(t.Context(), run.Key); !errors.Is(err, sessions.ErrNotFound) {
			t.Errorf("it is still there: %s", routertest.Kinds(x.Runs()))
		}
	})
}
