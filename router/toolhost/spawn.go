package toolhost

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"parley/router/budget"
	"parley/router/chain"
	"parley/router/rights"
	"parley/router/settings"
	"parley/sessions"
	"parley/tools"
)

// Spawn implements tools.Host: it makes a child session with a queued run (contract N5, N6). The address that the announce goes
// to is captured now, whole.
func (h *Host) Spawn(ctx context.Context, q tools.SpawnRequest) (sessions.Run, error) {
	set := h.settings()
	from := q.From.Session
	if again, err := h.maySpawn(ctx, set, q.From, q.Source); err != nil || again.ID != "" {
		return again, err
	}
	parent, err := h.chainAbove(ctx, q.From)
	if err != nil {
		return sessions.Run{}, err
	}
	origin := q.From.Run.Reply
	switch {
	case !origin.IsZero():
	case q.From.Run.Chain != nil && (q.From.Run.Kind == sessions.JobRun || q.From.Run.Chain.Kind == chain.Relay):
		origin = q.From.Run.Chain.Origin
	case parent != nil:
		origin = parent.Origin
	default:
		if origin, err = h.gate.LastChat(ctx, from); err != nil {
			return sessions.Run{}, err
		}
	}
	id := sessions.RunID(sessions.IDFor(q.Source, "run"))
	key := sessions.SubagentKey(q.Agent, sessions.IDFor(q.Source, "session"))
	child := sessions.Session{Key: key, Agent: q.Agent, Label: q.Label, SpawnedBy: from.Key, Above: append([]sessions.AgentID{from.Agent}, from.Above...), Top: budget.BillingSession(from)}
	if n := set.Agents.Defaults.Subagents.ArchiveAfterMinutes; n > 0 {
		child.ArchiveAt = time.Now().Add(time.Duration(n) * time.Minute)
	}
	chain := &sessions.Chain{Kind: chain.Spawn, Root: id, Requester: from.Key, From: sessions.OriginOf(from, q.From.Run).Chat, Target: key, Request: q.Task, Label: q.Label, Hops: passed(q.From), Origin: origin, Cleanup: q.Cleanup, Parent: parent}
	if err := h.rights.StampOrigin(ctx, from, q.From.Run, chain); err != nil {
		return sessions.Run{}, err
	}
	acc, err := h.commit.Submit(ctx, sessions.Change{
		IdempotencyKey: q.Source,
		RequestedBy:    q.From.Run.ID,
		Session:        &sessions.Target{Session: child},
		Run: &sessions.Enqueue{Run: sessions.Run{ID: id, Kind: sessions.ChildRun, Key: key, Agent: q.Agent, Source: q.Source, Chain: chain, Label: q.Label,
			Model: cmp.Or(q.Model, set.Agents.Defaults.Subagents.Model), Timeout: time.Duration(q.Timeout) * time.Second,
			Input: sessions.Message{ID: uuid.NewString(), Role: sessions.User, Content: sessions.TextContent(q.Task), Time: time.Now(), Run: id,
				Provenance: &sessions.Provenance{Kind: sessions.InterSession, Source: from.Key, Channel: from.Last.Channel, Tool: "sessions_spawn"}}}},
	})
	if err == nil && acc.Run.ID == "" { // the same call again, after a crash: its sub-agent has ended and is deleted since
		acc.Run = sessions.Run{ID: id, Key: key}
	}
	return acc.Run, err
}

// passed are the sessions that a message has been through when it reaches a sub-agent of the caller: a chain of messages that
// comes back through a sub-agent is a loop as well (contract S12). What a person asked for has been through none.
func passed(c tools.Caller) []sessions.Key {
	hops := hopsOf(c.Run)
	if len(hops) > 0 && !slices.Contains(hops, c.Session.Key) {
		hops = append(hops, c.Session.Key)
	}
	return hops
}

func hopsOf(run sessions.Run) []sessions.Key {
	if run.Chain == nil {
		return nil
	}
	return slices.Clone(run.Chain.Hops)
}

// maySpawn holds a session to agents.defaults.subagents.maxSpawnDepth (contract N8), maxChildrenPerAgent (N16) and, in a turn that
// another agent caused, to session.agentToAgent.maxTurnsPerHour (S12). The same call again, after a crash, is refused nothing:
// again is what it made.
func (h *Host) maySpawn(ctx context.Context, set *settings.Snapshot, c tools.Caller, source string) (again sessions.Run, err error) {
	from := c.Session
	sub := set.Agents.Defaults.Subagents
	depth, most := settings.OrDefault(sub.MaxSpawnDepth, 1), settings.OrDefault(sub.MaxChildrenPerAgent, 5)
	refused := &tools.Refused{}
	if at := tools.Depth(from); at >= depth {
		refused.Reason = fmt.Sprintf("this sub-agent may not start sub-agents: its depth is %d, and agents.defaults.subagents.maxSpawnDepth is %d. Do the task yourself.", at, depth)
	} else if refused.Reason, err = h.Crowded(ctx, set, c, most); err != nil || refused.Reason == "" {
		return again, err
	}
	runs, err := h.store.ListRuns(ctx, sessions.RunQuery{Parent: from.Key, Limit: 200})
	if err != nil {
		return again, err
	}
	if i := slices.IndexFunc(runs, func(x sessions.Run) bool { return source != "" && x.Source == source }); i >= 0 {
		return runs[i], nil
	}
	return again, refused
}

// Crowded says why a session may not start one more sub-agent now; "" when it may.
func (h *Host) Crowded(ctx context.Context, set *settings.Snapshot, c tools.Caller, most int) (why string, err error) {
	open, err := sessions.OpenChildren(ctx, h.store, c.Session.Key, 1000)
	if err != nil {
		return "", err
	}
	atWork := map[sessions.Key]bool{} // messages to one sub-agent are no further sub-agents
	for _, run := range open {
		atWork[run.Key] = true
	}
	if len(atWork) >= most {
		return fmt.Sprintf("this session has %d running sub-agents, the maximum; wait until one has ended", most), nil
	}
	turns := settings.OrDefault(set.Session.AgentToAgent.MaxTurnsPerHour, 120)
	if c.Run.Kind == sessions.ChildRun { // results may have it start more and more
		had, err := h.store.ListRuns(ctx, sessions.RunQuery{Parent: c.Session.Key, Limit: turns})
		if err != nil || len(had) < turns || h.ages.Age(had[turns-1].Created) > time.Hour {
			return "", err
		}
		return fmt.Sprintf("this sub-agent has started %d sub-agents within an hour, the limit of session.agentToAgent.maxTurnsPerHour. Answer with what you have.", turns), nil
	}
	if !c.Run.Kind.ByAgent() {
		return "", nil
	}
	n, err := h.chain.ByAgents(ctx, c.Session.Key, turns)
	if err != nil || n < turns {
		return "", err
	}
	return fmt.Sprintf("other agents have started %d turns of this session within an hour, the limit of session.agentToAgent.maxTurnsPerHour, so this turn may not start sub-agents. Answer with what you have.", n), nil
}

// chainAbove is what the result of a sub-agent's own sub-agent continues with: the chain of its caller, nil when that is no sub-agent.
func (h *Host) chainAbove(ctx context.Context, c tools.Caller) (*sessions.Chain, error) {
	if !sessions.IsSubagent(c.Session.Key) {
		return nil, nil
	}
	run := c.Run
	if run.Kind != sessions.ChildRun || run.Chain == nil { // another session has asked it something
		var err error
		if run, err = h.rights.NewestTask(ctx, c.Session.Key); err != nil || run.Chain == nil {
			return nil, err
		}
	}
	up := afresh(*run.Chain)
	if !run.Status.Final() && !run.Deadline.IsZero() {
		up.Until, up.StartedMs = run.Deadline, run.Started.UnixMilli()
	}
	return &up, nil
}

// afresh is a sub-agent's chain without what an earlier run of it has left there.
func afresh(c sessions.Chain) sessions.Chain {
	c.Status, c.Error, c.Latest, c.StartedMs, c.EndedMs, c.Usage, c.Until = "", "", "", 0, 0, sessions.Usage{}, time.Time{}
	return c
}

// Steer implements tools.Host.
func (h *Host) Steer(ctx context.Context, q tools.SteerRequest) (sessions.Run, error) {
	e, err := h.FollowUp(ctx, q)
	if err != nil {
		return sessions.Run{}, err
	}
	acc, err := h.commit.Submit(ctx, e)
	if err == nil && acc.Run.ID == "" {
		err = &tools.Refused{Reason: "this call was already made, and the session of its sub-agent is deleted"}
	}
	return acc.Run, err
}

// FollowUp is a further message to a sub-agent. Its chain is that of the child: what comes of it is reported like the first result.
// As a run of its own it has the child's whole time limit again.
func (h *Host) FollowUp(ctx context.Context, q tools.SteerRequest) (sessions.Change, error) {
	child, err := h.store.Get(ctx, q.Child)
	if err != nil {
		return sessions.Change{}, err
	}
	task, err := h.rights.NewestTask(ctx, q.Child)
	if err != nil {
		return sessions.Change{}, err
	}
	if task.Chain == nil {
		return sessions.Change{}, &tools.Refused{Reason: "this is not the session of a sub-agent, or its task is no longer known"}
	}
	c := afresh(*task.Chain)
	c.Request, c.Hops = q.Message, passed(tools.Caller{Session: q.From, Run: q.Run})
	var asks sessions.Chain
	if err := h.rights.StampOrigin(ctx, q.From, q.Run, &asks); err != nil {
		return sessions.Change{}, err
	}
	all := rights.Requesters{Owner: c.Owner && asks.Owner, People: c.People}
	all.Join(asks.People)
	c.Owner, c.People, c.Places = all.Owner, all.People, rights.Origins(slices.Clone(c.Places), &asks)
	if root, err := h.store.GetRun(ctx, c.Root); err == nil {
		task.Timeout = root.Timeout
	} else if !errors.Is(err, sessions.ErrNotFound) {
		return sessions.Change{}, err
	}
	if c.Parent != nil { // whose time may have run out, or begun again
		up, err := h.chainAbove(ctx, tools.Caller{Session: sessions.Session{Key: c.Requester}})
		if err != nil {
			return sessions.Change{}, err
		}
		if up != nil {
			c.Parent = up
		}
	}
	id := sessions.RunID(uuid.NewString())
	return sessions.Change{
		IdempotencyKey: q.Source,
		RequestedBy:    q.Run.ID,
		Session:        &sessions.Target{Session: sessions.Session{Key: child.Key, Agent: child.Agent}, Mode: sessions.Require},
		Run: &sessions.Enqueue{Run: sessions.Run{ID: id, Kind: sessions.ChildRun, Key: child.Key, Agent: child.Agent, Source: q.Source, Chain: &c, Label: task.Label,
			Model: task.Model, Timeout: task.Timeout,
			Input: sessions.Message{ID: uuid.NewString(), Role: sessions.User, Content: sessions.TextContent(q.Message), Time: time.Now(), Run: id,
				Provenance: &sessions.Provenance{Kind: sessions.InterSession, Source: q.From.Key, Channel: q.From.Last.Channel, Tool: "subagents", Owner: asks.Owner, People: asks.People}}}},
	}, nil
}
