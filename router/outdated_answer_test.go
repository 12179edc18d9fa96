package router_test

import (
	"context"
	"testing"
	"time"

	"parley/channels"
	"parley/channels/channeltest"
	"parley/router/routertest"
	"parley/sessions"
)

// An edit that is committed right before the answer to the old words is no news for the next turn, and the old answer leaves nobody: the turn
// begins again, once, with the new words, although nothing had ended its try.
func TestAnswerToWordsThatWereChanged(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		late := &editing{}
		g := routertest.NewWith(t, channeltest.Options{}, nil, func(s sessions.Store) sessions.Store { late.Store = s; return late })
		to := routertest.Direct(routertest.Guest)
		asked := g.Say(to, routertest.Guest, "old words")
		g.Shown(1)
		g.Until("all is over", g.AllOver)
		if late.refused != 1 {
			t.Errorf("%d answers were refused", late.refused)
		}
		if got := written(g, to, routertest.Guest); got != "new words" {
			t.Errorf("the transcript has %q", got)
		}
		if d := g.Deliveries(); len(d) != 1 || d[0].Text != "echo: new words" || d[0].Created.After(asked.Time.Add(time.Second)) {
			t.Errorf("left: %v", d)
		}
	})
}

// editing is a store in which the first turn's message is edited right before its end.
type editing struct {
	sessions.Store
	done    bool
	refused int
}

func (s *editing) Finish(ctx context.Context, id sessions.RunID, o sessions.Outcome) (sessions.Accepted, error) {
	if !s.done {
		s.done = true
		run, err := s.GetRun(ctx, id)
		if err != nil {
			return sessions.Accepted{}, err
		}
		in := channels.Inbound{ID: "edit", Event: channels.Edited, Address: run.Reply, Target: channels.MessageID(run.Source)}
		if _, err := s.Accept(ctx, sessions.Arrival{In: in, Skip: &sessions.Skip{Reason: "an edit",
			Events: []sessions.SkipEvent{sessions.AmendRun{Run: id, Key: run.Key, By: id, Text: "new words"}}}}); err != nil {
			return sessions.Accepted{}, err
		}
	}
	acc, err := s.Store.Finish(ctx, id, o)
	if err != nil {
		s.refused++
	}
	return acc, err
}
