package router

import (
	"context"
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
	open := make(map[sessions.RunID]bool) // a run that begins between the two looks is one
	for _, status := range []sessions.RunStatus{sessions.Queued, sessions.Running} {
		runs, err := r.store.ListRuns(ctx, sessions.RunQuery{Parent: parent, Status: status, Limit: most + 1})
		if err != nil {
			return err
		}
		for _, run := range runs {
			if run.Source == source {
				return nil // the same call again, after a crash: its child is there
			}
			open[run.ID] = true
		}
	}
	if len(open) >= most {
		return &tools.Refused{Reason: fmt.Sprintf("this session has %d sub-agents at work, the most it may have; wait until one has ended", len(open))}
	}
	return nil
}

// Wait implements tools.Host: it blocks until a run is final, without holding the caller's slot (contract S6).
func (r *Router) Wait(ctx context.Context, id sessions.RunID) (sessions.Run, error) {
	ended, cancel := r.ends.subscribe(id)
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
		out = append(out, tools.AgentInfo{ID: id, Name: set.entry(id).Name})
	}
	return out
}

// ModelKnown implements tools.Host.
func (r *Router) ModelKnown(name string) error {
	_, _, err := r.deps.Model(name)
	return err
}
