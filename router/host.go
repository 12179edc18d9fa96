package router

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

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
	var hops []sessions.Key
	if c := q.From.Run.Chain; c != nil {
		hops = slices.Clone(c.Hops)
	}
	hops = append(hops, from.Key)
	id := sessions.RunID(uuid.NewString())
	chain := &sessions.Chain{Kind: chainAsk, Root: id, Requester: from.Key, From: from.Last, Target: q.To, Request: q.Message, Hops: hops, Origin: target.Last}
	acc, err := r.Submit(ctx, sessions.Effects{
		Source:  q.Source,
		Session: &sessions.Session{Key: q.To, Agent: target.Agent},
		Run: &sessions.Run{ID: id, Kind: sessions.AskRun, Key: q.To, Agent: target.Agent, Source: q.Source, Chain: chain,
			Input: sessions.Message{ID: uuid.NewString(), Role: sessions.User, Content: sessions.TextContent(q.Message), Time: time.Now(), Run: id,
				Provenance: &sessions.Provenance{Kind: sessions.InterSession, Source: from.Key, Channel: from.Last.Channel, Tool: "sessions_send"}}},
	})
	return acc.Run, err
}

// Spawn implements tools.Host: it makes a child session with a queued run (contract N5, N6). The address that the announce goes
// to is captured now, whole.
func (r *Router) Spawn(ctx context.Context, q tools.SpawnRequest) (sessions.Run, error) {
	set := r.settings.Load()
	from := q.From.Session
	if err := r.mayHaveChild(ctx, set, from.Key, q.Source); err != nil {
		return sessions.Run{}, err
	}
	id := sessions.RunID(uuid.NewString())
	key := sessions.SubagentKey(q.Agent, uuid.NewString())
	origin := q.From.Run.Reply
	if origin.IsZero() {
		origin = from.Last
	}
	child := &sessions.Session{Key: key, Agent: q.Agent, Label: q.Label, SpawnedBy: from.Key}
	if n := set.Agents.Defaults.Subagents.ArchiveAfterMinutes; n > 0 {
		child.ArchiveAt = time.Now().Add(time.Duration(n) * time.Minute)
	}
	chain := &sessions.Chain{Kind: chainSpawn, Root: id, Requester: from.Key, From: from.Last, Target: key, Request: q.Task, Origin: origin, Cleanup: q.Cleanup}
	acc, err := r.Submit(ctx, sessions.Effects{
		Source:  q.Source,
		Session: child,
		Run: &sessions.Run{ID: id, Kind: sessions.ChildRun, Key: key, Agent: q.Agent, Source: q.Source, Chain: chain, Label: q.Label,
			Model: firstOf(q.Model, set.Agents.Defaults.Subagents.Model), Timeout: time.Duration(q.Timeout) * time.Second,
			Input: sessions.Message{ID: uuid.NewString(), Role: sessions.User, Content: sessions.TextContent(q.Task), Time: time.Now(), Run: id,
				Provenance: &sessions.Provenance{Kind: sessions.InterSession, Source: from.Key, Channel: from.Last.Channel, Tool: "sessions_spawn"}}},
	})
	return acc.Run, err
}

// mayHaveChild holds a session to agents.defaults.subagents.maxChildrenPerAgent (contract N16).
func (r *Router) mayHaveChild(ctx context.Context, set *Settings, parent sessions.Key, source string) error {
	most := orDefault(set.Agents.Defaults.Subagents.MaxChildrenPerAgent, 5)
	open, err := r.openChildren(ctx, parent, most+1)
	if err != nil {
		return err
	}
	for _, run := range open {
		if run.Source == source {
			return nil // the same call again, after a crash: its child is there
		}
	}
	if len(open) >= most {
		return &tools.Refused{Reason: fmt.Sprintf("this session has %d sub-agents at work, the most it may have; wait until one has ended", len(open))}
	}
	return nil
}

// Steer implements tools.Host.
func (r *Router) Steer(ctx context.Context, q tools.SteerRequest) (sessions.Run, error) {
	e, err := r.followUp(ctx, q)
	if err != nil {
		return sessions.Run{}, err
	}
	acc, err := r.Submit(ctx, e)
	return acc.Run, err
}

// followUp is a further message to a sub-agent. Its chain is that of the child: what comes of it is reported like the first result.
func (r *Router) followUp(ctx context.Context, q tools.SteerRequest) (sessions.Effects, error) {
	child, err := r.store.Get(ctx, q.Child)
	if err != nil {
		return sessions.Effects{}, err
	}
	runs, err := r.store.ListRuns(ctx, sessions.RunQuery{Key: q.Child, Limit: 50})
	if err != nil {
		return sessions.Effects{}, err
	}
	i := slices.IndexFunc(runs, func(run sessions.Run) bool { return run.Kind == sessions.ChildRun && run.Chain != nil })
	if i < 0 {
		return sessions.Effects{}, &tools.Refused{Reason: "this session is no sub-agent's, or what it was asked for is not known any more"}
	}
	c := *runs[i].Chain
	c.Request = q.Message
	c.Status, c.Error, c.Latest, c.StartedMs, c.EndedMs, c.Usage = "", "", "", 0, 0, sessions.Usage{}
	id := sessions.RunID(uuid.NewString())
	return sessions.Effects{
		Source:  q.Source,
		Session: &sessions.Session{Key: child.Key, Agent: child.Agent},
		Run: &sessions.Run{ID: id, Kind: sessions.ChildRun, Key: child.Key, Agent: child.Agent, Source: q.Source, Chain: &c, Label: runs[i].Label,
			Model: runs[i].Model, Timeout: runs[i].Timeout,
			Input: sessions.Message{ID: uuid.NewString(), Role: sessions.User, Content: sessions.TextContent(q.Message), Time: time.Now(), Run: id,
				Provenance: &sessions.Provenance{Kind: sessions.InterSession, Source: q.From.Key, Channel: q.From.Last.Channel, Tool: "subagents"}}},
	}, nil
}

// Cancel implements tools.Host.
func (r *Router) Cancel(ctx context.Context, source string, child sessions.Key) (int, error) {
	acc, err := r.Submit(ctx, sessions.Effects{Source: source, Stop: []sessions.Key{child}})
	return len(acc.Stopped), err
}

// Post implements tools.Host. Two sessions have a say: the caller's own policy is asked now, that of the chat at delivery.
func (r *Router) Post(ctx context.Context, q tools.PostRequest) (tools.PostResult, error) {
	set := r.settings.Load()
	own := r.gate.decide(q.To)(q.From.Session)
	if !own.Allowed() {
		return tools.PostResult{Verdict: own}, nil
	}
	target, err := r.store.Get(ctx, q.Session)
	if err != nil {
		return tools.PostResult{}, err
	}
	e := r.posted(target.Key, target.Agent, q.Text)
	d := sessions.Delivery{ID: sessions.DeliveryID(uuid.NewString()), Kind: sessions.Posted, Session: target.Key, Run: q.From.Run.ID, To: q.To, Text: q.Text,
		Expires: time.Now().Add(set.Delivery.ttl(sessions.Posted))}
	e.Source, e.Deliveries = q.Source, []sessions.Delivery{d}
	_, err = r.Submit(ctx, *e)
	return tools.PostResult{Delivery: d.ID, Verdict: r.gate.decide(q.To)(target)}, err
}

// posted puts a text into a session's transcript as its agent's words: people in its chat read it there, so the agent must know it.
func (r *Router) posted(key sessions.Key, agentID sessions.AgentID, text string) *sessions.Effects {
	id := sessions.RunID(uuid.NewString())
	return &sessions.Effects{
		Session: &sessions.Session{Key: key, Agent: agentID},
		Run: &sessions.Run{ID: id, Kind: sessions.PostRun, Key: key, Agent: agentID,
			Input: sessions.Message{ID: uuid.NewString(), Role: sessions.Assistant, Content: sessions.TextContent(text), Time: time.Now(), Run: id, Model: "parley/post", Stop: "stop"}},
	}
}

// Idle implements tools.Host.
func (r *Router) Idle(ctx context.Context, c tools.Caller) error {
	key := c.Session.Key
	queued, cancel := r.ends.subscribe(string(key))
	defer cancel()
	for {
		if waits, err := r.waiting(ctx, key); err != nil || waits {
			return err
		}
		open, err := r.openChildren(ctx, key, 1)
		if err != nil || len(open) == 0 {
			return err
		}
		ended, done := r.ends.subscribe(string(open[0].ID))
		if now, err := r.store.GetRun(ctx, open[0].ID); err != nil || now.Status.Final() {
			done()
			if err != nil && !errors.Is(err, sessions.ErrNotFound) {
				return err
			}
			continue
		}
		unslotted(ctx, func() {
			select {
			case <-queued:
			case <-ended:
			case <-ctx.Done():
				err = ctx.Err()
			}
		})
		done()
		if err != nil {
			return err
		}
	}
}

// waiting reports whether there is something that a sub-agent's turn at work takes up: a result of a sub-agent of its own, a
// further message.
func (r *Router) waiting(ctx context.Context, key sessions.Key) (bool, error) {
	runs, err := r.store.ListRuns(ctx, sessions.RunQuery{Key: key, Status: sessions.Queued, Limit: 50})
	return slices.ContainsFunc(runs, func(q sessions.Run) bool { return q.Kind == sessions.ChildRun }), err
}

// openChildren lists the runs of a session's sub-agents that have not ended, up to most of each status.
func (r *Router) openChildren(ctx context.Context, parent sessions.Key, most int) (open []sessions.Run, err error) {
	seen := make(map[sessions.RunID]bool) // a run that begins between the two looks is one
	for _, status := range []sessions.RunStatus{sessions.Queued, sessions.Running} {
		runs, err := r.store.ListRuns(ctx, sessions.RunQuery{Parent: parent, Status: status, Limit: most})
		if err != nil {
			return nil, err
		}
		for _, run := range runs {
			if !seen[run.ID] {
				seen[run.ID], open = true, append(open, run)
			}
		}
	}
	return open, nil
}

// Wait implements tools.Host: it blocks until a run is final, without holding the caller's slot (contract S6).
func (r *Router) Wait(ctx context.Context, id sessions.RunID) (sessions.Run, error) {
	ended, cancel := r.ends.subscribe(string(id))
	defer cancel()
	for {
		run, err := r.store.GetRun(ctx, id)
		if err != nil || run.Status.Final() {
			return run, err
		}
		unslotted(ctx, func() {
			select {
			case <-ended:
			case <-ctx.Done():
				err = ctx.Err()
			}
		})
		if err != nil {
			return run, err
		}
	}
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
	_, _, err := r.deps.Model(name)
	return err
}
