package toolhost

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"parley/channels"
	"parley/policy"
	"parley/router/chain"
	"parley/router/settings"
	"parley/sessions"
	"parley/tools"
)

// Ask implements tools.Host: it queues a message from one session as a run in another (contract S2, S7, S8).
func (h *Host) Ask(ctx context.Context, q tools.AskRequest) (sessions.Run, error) {
	target, err := h.store.Get(ctx, q.To)
	if errors.Is(err, sessions.ErrNotFound) && h.isMain(q.To) { // that agent has no messages yet
		target, err = sessions.Session{Key: q.To, Agent: q.To.Agent()}, nil
	}
	if err != nil {
		return sessions.Run{}, err
	}
	from := q.From.Session
	hops := passed(q.From)
	if !slices.Contains(hops, from.Key) {
		hops = append(hops, from.Key)
	}
	id := sessions.RunID(uuid.NewString())
	chat, err := h.gate.LastChat(ctx, target)
	if err != nil {
		return sessions.Run{}, err
	}
	chain := &sessions.Chain{Kind: chain.Ask, Root: id, Requester: from.Key, From: from.Last, Target: q.To, Request: q.Message, Hops: hops, Origin: chat, Waited: q.Waits}
	if h.settings().Session.AgentToAgent.FollowUp {
		if chain.Back, err = h.backTo(ctx, q.From, q.Source); err != nil {
			return sessions.Run{}, err
		}
	}
	if err := h.rights.StampOrigin(ctx, from, q.From.Run, chain); err != nil {
		return sessions.Run{}, err
	}
	acc, err := h.commit.Submit(ctx, sessions.Change{
		IdempotencyKey: q.Source,
		RequestedBy:    q.From.Run.ID,
		Session:        &sessions.Target{Session: sessions.Session{Key: q.To, Agent: target.Agent}},
		Run: &sessions.Enqueue{Run: sessions.Run{ID: id, Kind: sessions.AskRun, Key: q.To, Agent: target.Agent, Source: q.Source, Chain: chain,
			Input: sessions.Message{ID: uuid.NewString(), Role: sessions.User, Content: sessions.TextContent(q.Message), Time: time.Now(), Run: id,
				Provenance: &sessions.Provenance{Kind: sessions.InterSession, Source: from.Key, Channel: from.Last.Channel, Tool: "sessions_send"}}}},
	})
	if err == nil && acc.Run.ID == "" { // a repeated call: its run was deleted with its session
		err = fmt.Errorf("%w: the session was deleted", sessions.ErrNotFound)
	}
	return acc.Run, err
}

// backTo is the chat that hears of a reply that comes too late for the turn that asks: where that turn's own answer goes. A sub-agent, an
// external agent and what goes nowhere have none; without one people are not told.
func (h *Host) backTo(ctx context.Context, c tools.Caller, source string) (channels.Address, error) {
	switch up := c.Run.Chain; {
	case !strings.HasPrefix(source, "tool:") || sessions.IsSubagent(c.Session.Key):
		return channels.Address{}, nil
	case !c.Run.Reply.IsZero():
		return c.Run.Reply, nil
	case up != nil && (c.Run.Kind == sessions.JobRun || up.Kind == chain.Relay):
		return up.Origin, nil
	case c.Run.Kind == sessions.AskRun:
		return h.gate.LastChat(ctx, c.Session)
	}
	return channels.Address{}, nil
}

// isMain reports whether a session is a configured agent's main one.
func (h *Host) isMain(key sessions.Key) bool {
	ids, _ := h.settings().Agents.IDs()
	return key == sessions.MainKey(key.Agent()) && slices.Contains(ids, key.Agent())
}

// Cancel implements tools.Host.
func (h *Host) Cancel(ctx context.Context, source string, child sessions.Key) ([]sessions.StoppedRun, error) {
	acc, err := h.commit.Submit(ctx, sessions.Change{IdempotencyKey: source, Ops: []sessions.Op{sessions.StopSessions{Keys: []sessions.Key{child}, By: sessions.ByParent}}})
	return acc.Stopped, err
}

// postedAs returns the session whose send policy a post goes by, and the verdict that the caller is told: by that of the session that is
// meant, else by that of one that the caller sees, without the name and rule of one that it does not see (contract V4).
func (h *Host) postedAs(ctx context.Context, set *settings.Snapshot, c tools.Caller, meant sessions.Session, to channels.Address) (sessions.Session, policy.Verdict, error) {
	decide := h.settings().SendPolicyTo(to)
	denying, err := h.chain.Denying(ctx, meant, to)
	if err != nil || len(denying) == 0 {
		return meant, decide(meant), err
	}
	viewer := sessions.Viewer{Key: c.Session.Key, Agent: c.Session.Agent, Sandboxed: c.Sandboxed}
	for _, s := range denying {
		if ok, _ := set.Visibility().See(viewer, s); ok {
			return s, decide(s), nil
		}
	}
	return denying[0], policy.Verdict{Action: policy.Deny, Reason: "the send policy does not allow messages to that chat"}, nil
}

// Agents implements tools.Host.
func (h *Host) Agents() []tools.AgentInfo {
	set := h.settings()
	ids, _ := set.Agents.IDs()
	out := make([]tools.AgentInfo, 0, len(ids))
	for _, id := range ids {
		e := set.Entry(id)
		out = append(out, tools.AgentInfo{ID: id, Name: e.Name, Model: e.Model})
	}
	return out
}

// ModelKnown implements tools.Host.
func (h *Host) ModelKnown(name string) error {
	_, err := h.model(name)
	return err
}
