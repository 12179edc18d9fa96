package sqlstore

import (
	"errors"
	"slices"

	"github.com/google/uuid"

	"parley/sessions"
	"parley/sessions/sqlstore/row"
)

// late reports whether people are told of the stop of an exchange by a follow-up in the session that asked (contract S15): the stop is neither
// on that side nor of a session that it asks for, and the call had answered without a reply.
func (x *stoppable) late(run sessions.Run) (bool, error) {
	if run.Chain.Back.IsZero() || run.Kind == sessions.FollowUpRun {
		return false, nil
	}
	for _, k := range append([]sessions.Key{run.Chain.Requester}, run.Chain.Hops...) {
		if in, err := x.within(k); err != nil || in {
			return false, err
		}
	}
	call, err := x.callOf(run)
	return !call.waits && !call.told && !call.stopped, err
}

// withChats leaves out the exchanges whose requester no longer exists or is archived. A requester that its people stopped has no open exchange.
func (s *runs) withChats(t *tx, ends []sessions.Run) (out []sessions.Run, err error) {
	for _, run := range ends {
		at, err := s.sessions.Get(t, run.Chain.Requester)
		if err != nil && !errors.Is(err, sessions.ErrNotFound) {
			return nil, err
		}
		if err == nil && !at.Archived {
			out = append(out, run)
		}
	}
	return out, nil
}

// followUp queues the turn that tells the people who asked that their exchange was stopped, in the commit of the stop.
func (s *runs) followUp(t *tx, run sessions.Run, why string, acc *sessions.Accepted) error {
	c := *run.Chain
	at, err := s.sessions.Get(t, c.Requester)
	if err != nil {
		return err
	}
	if notBegun := run.Kind == sessions.ReplyRun && c.Turn == 1 && run.Attempt == 0; run.Kind == sessions.AskRun || c.Unread || notBegun { // no transcript of the requester has the reply
		c.Status, c.Unread = sessions.Stopped, false
	}
	c.Error, c.Hops = why, append(slices.Clip(c.Hops), c.Requester)
	next := sessions.Run{ID: sessions.RunID(uuid.NewString()), Kind: sessions.FollowUpRun, Key: at.Key, Agent: at.Agent, Chain: &c, Source: run.Source, Reply: c.Back}
	next.Input = sessions.Message{ID: uuid.NewString(), Role: sessions.User, Content: sessions.TextContent("The exchange was " + why + "."), Time: t.Now, Run: next.ID,
		Provenance: &sessions.Provenance{Kind: sessions.InternalSystem, Source: c.Target, Tool: "sessions_send"}}
	body, err := row.EncodeRun(next)
	if err != nil {
		return err
	}
	if next, err = s.enqueue(t, at, next, body); err == nil {
		acc.FollowUps = append(acc.FollowUps, next)
	}
	return err
}
