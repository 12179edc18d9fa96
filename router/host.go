package router

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"

	"parley/channels"
	"parley/sessions"
	"parley/tools"
)

// Ask implements tools.Host: it queues a message from one session as a run in another (contract S2, S7, S8).
func (r *Router) Ask(ctx context.Context, q tools.AskRequest) (sessions.Run, error) {
	target, err := r.store.Get(ctx, q.To)
	if err != nil {
		return sessions.Run{}, err
	}
	from := q.From.Session
	hops := passed(q.From)
	if !slices.Contains(hops, from.Key) {
		hops = append(hops, from.Key)
	}
	id := sessions.RunID(uuid.NewString())
	chain := &sessions.Chain{Kind: chainAsk, Root: id, Requester: from.Key, From: from.Last, Target: q.To, Request: q.Message, Hops: hops, Origin: target.Last, Waited: q.Waits}
	if err := r.begins(ctx, from, q.From.Run, chain); err != nil {
		return sessions.Run{}, err
	}
	acc, err := r.Submit(ctx, sessions.Effects{
		Source:  q.Source,
		By:      q.From.Run.ID,
		Session: &sessions.Session{Key: q.To, Agent: target.Agent},
		Run: &sessions.Run{ID: id, Kind: sessions.AskRun, Key: q.To, Agent: target.Agent, Source: q.Source, Chain: chain,
			Input: sessions.Message{ID: uuid.NewString(), Role: sessions.User, Content: sessions.TextContent(q.Message), Time: time.Now(), Run: id,
				Provenance: &sessions.Provenance{Kind: sessions.InterSession, Source: from.Key, Channel: from.Last.Channel, Tool: "sessions_send"}}},
	})
	return acc.Run, err
}

// Cancel implements tools.Host.
func (r *Router) Cancel(ctx context.Context, source string, child sessions.Key) (int, error) {
	acc, err := r.Submit(ctx, sessions.Effects{Source: source, Stop: []sessions.Key{child}})
	return len(acc.Stopped), err
}

// Post implements tools.Host. Two sessions have a say: the caller's own policy is asked now, that of the chat at delivery.
func (r *Router) Post(ctx context.Context, q tools.PostRequest) (tools.PostResult, error) {
	set := r.settings.Load()
	target, err := r.store.Get(ctx, q.Session)
	if err != nil {
		return tools.PostResult{}, err
	}
	// The call's own id, so that the same call again, after a crash, names the delivery that it made the first time.
	id := sessions.DeliveryID(uuid.NewSHA1(uuid.NameSpaceOID, []byte(q.Source)).String())
	if _, err = r.store.GetDelivery(ctx, id); err == nil {
		return tools.PostResult{Delivery: id, Verdict: r.gate.decide(q.To)(target)}, nil
	} else if !errors.Is(err, sessions.ErrNotFound) {
		return tools.PostResult{}, err
	}
	own, err := r.store.Get(ctx, q.From.Session.Key) // as it stands now: an owner may have said /send off since the turn began
	if err != nil {
		return tools.PostResult{}, err
	}
	if v := r.gate.decide(q.To)(own); !v.Allowed() {
		return tools.PostResult{Verdict: v}, nil
	}
	if target, err = r.strictest(ctx, target, q.To); err != nil {
		return tools.PostResult{}, err
	}
	files, err := r.postedFiles(ctx, q.Files, r.gate.decide(q.To)(target).Allowed())
	if err != nil {
		return tools.PostResult{}, err
	}
	e := postedBy(r.posted(target.Key, target.Agent, q.Source, postedText(q.Text, files)), q.From.Session.Key, "message")
	e.Source, e.By = q.Source, q.From.Run.ID
	e.Deliveries = []sessions.Delivery{{ID: id, Kind: sessions.Posted, Session: target.Key, Run: q.From.Run.ID, Message: e.Run.Input.ID,
		To: q.To, Text: q.Text, Files: files, Expires: time.Now().Add(set.Delivery.ttl(sessions.Posted))}}
	_, err = r.Submit(ctx, *e)
	return tools.PostResult{Delivery: id, Verdict: r.gate.decide(q.To)(target)}, err
}

// strictest gives, of the sessions that a chat has written to, one whose policy lets nothing out there, else the one that is meant: a
// chat that is denied in one of them is not reached by way of another.
func (r *Router) strictest(ctx context.Context, meant sessions.Session, to channels.Address) (sessions.Session, error) {
	keys, err := r.store.Known(ctx, to)
	if err != nil {
		return meant, err
	}
	decide := r.gate.decide(to)
	for _, key := range keys {
		s, err := r.store.Get(ctx, key)
		if err != nil && !errors.Is(err, sessions.ErrNotFound) {
			return meant, err
		}
		if err == nil && !decide(s).Allowed() {
			return s, nil
		}
	}
	return meant, nil
}

// Agents implements tools.Host.
func (r *Router) Agents() []tools.AgentInfo {
	set := r.settings.Load()
	ids, _ := set.Agents.IDs()
	out := make([]tools.AgentInfo, 0, len(ids))
	for _, id := range ids {
		e := set.entry(id)
		out = append(out, tools.AgentInfo{ID: id, Name: e.Name, Model: e.Model})
	}
	return out
}

// ModelKnown implements tools.Host.
func (r *Router) ModelKnown(name string) error {
	_, err := r.deps.Model(name)
	return err
}
