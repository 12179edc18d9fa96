package router

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"parley/agent"
	"parley/channels/channeltest"
	"parley/sessions"
	"parley/tools"
)

// TestDeletedBeforeAMessage: a message to a sub-agent that is deleted before the commit does not bring it back without the rights of its parents.
//
// proves: N7, N14
func TestDeletedBeforeAMessage(t *testing.T) {
	bubble(t, func(t *testing.T) {
		x := newTree(t, 1, func(s *Settings) {
			s.Agents.List = []agent.Entry{{ID: "main", Tools: tools.Rights{Deny: []string{"remember"}}}, {ID: "free"}}
		})
		run := x.rig.spawn(tools.SpawnRequest{Source: "s", Task: "t", Agent: "free"})
		x.rig.idle(4)
		has := func() bool {
			s := x.session(run.Key)
			for _, tool := range x.rig.tools(s, sessions.Run{Key: run.Key, Agent: "free", Kind: sessions.AskRun}) {
				if tool.Spec().Name == "remember" {
					return true
				}
			}
			return false
		}
		before := has()
		e, err := x.r.followUp(t.Context(), tools.SteerRequest{Source: "f", From: x.session(keyA), Child: run.Key, Message: "more"})
		if err != nil {
			t.Fatal(err)
		}
		if err := x.store.Delete(t.Context(), run.Key); err != nil { // cleanup, between the look and the commit
			t.Fatal(err)
		}
		if _, err := x.r.Submit(t.Context(), e); err != nil {
			return // refused: that is what is right
		}
		x.rig.idle(4)
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
	bubble(t, func(t *testing.T) {
		var g *rig
		var child atomic.Pointer[sessions.Run]
		stopped := 0
		g = rigWith(t, channeltest.Options{}, nil, func(s sessions.Store) sessions.Store {
			return atFinish{s, func(id sessions.RunID, _ sessions.Outcome) {
				if run := child.Load(); run != nil && run.ID == id {
					n, err := g.r.Cancel(t.Context(), "cancel", run.Key)
					if stopped = len(n); err != nil {
						t.Error(err)
					}
				}
			}}
		})
		g.say(groupChat("a"), guest, "hello")
		g.shown(1)
		g.idle(1)
		g.model.set(func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
			sleep(ctx, time.Second)
			return text("done"), nil
		})
		run := g.spawn(tools.SpawnRequest{Source: "s"})
		child.Store(&run)
		g.idle(2)
		if list := g.deliveries(); stopped != 1 || len(list) != 1 {
			t.Errorf("%d run stopped, and yet reported: %s; runs %s, session aborted %v", stopped, list[len(list)-1].Text, kinds(g.runs()), g.session(run.Key).Aborted)
		}
	})
}

// TestDeletedStaysDeleted: a session that was deleted does not come back by a reply step.
//
// proves: N14, S9
func TestDeletedStaysDeleted(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := parent(t, child{})
		run := g.spawn(tools.SpawnRequest{Source: "s", Task: "compute"})
		g.idle(3)
		g.deliveries()
		asked := make(chan struct{})
		g.model.set(func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
			if strings.Contains(p.System, "You are the requester") {
				<-asked
				return text("thanks, and what else?"), nil
			}
			return text("fine"), nil
		})
		if _, err := g.r.Ask(t.Context(), tools.AskRequest{Source: "q", From: tools.Caller{Session: g.session(keyA)}, To: run.Key, Message: "how far are you?"}); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Second)
		if err := g.store.Delete(t.Context(), run.Key); err != nil { // as cleanup does when the sub-agent's report has been made
			t.Fatal(err)
		}
		close(asked)
		<-time.After(time.Minute)
		if s, err := g.store.Get(t.Context(), run.Key); !errors.Is(err, sessions.ErrNotFound) {
			t.Errorf("it is back: spawned by %q, above %v, archived at %v, depth %d", s.SpawnedBy, s.Above, s.ArchiveAt, tools.Depth(s))
		}
	})
}

// TestDeletedAfterASilentChild: a sub-agent that was to be deleted is, although the one below it ended in silence.
//
// proves: N14
func TestDeletedAfterASilentChild(t *testing.T) {
	bubble(t, func(t *testing.T) {
		x := newTree(t, 2)
		x.does("outer", steps(delegate("c1", "inner"), text("it works on")))
		x.does("inner", func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
			sleep(ctx, time.Minute)
			return text("ANNOUNCE_SKIP"), nil
		})
		run := x.spawn(tools.SpawnRequest{Source: "s", Task: "outer", Cleanup: "delete"})
		<-time.After(10 * time.Minute)
		if _, err := x.store.Get(t.Context(), run.Key); !errors.Is(err, sessions.ErrNotFound) {
			t.Errorf("it is still there: %s", kinds(x.runs()))
		}
	})
}
