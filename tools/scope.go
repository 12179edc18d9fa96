package tools

import (
	"context"
	"slices"
	"strings"

	"parley/sessions"
)

// The store is asked for what the caller may see and for nothing else: whatever counts, cuts, orders or ends a result then counts
// visible rows alone, and no answer tells of others (contract V4).

// agents returns the agents whose sessions a caller may see, its own first; nil = those of every agent. Where patterns choose among the
// agents, sessions of one that is no longer configured are listed when tools.agentToAgent.allow has its name.
func (d Deps) agents(c Caller) []sessions.AgentID {
	own := []sessions.AgentID{c.Session.Agent}
	rules := d.Rules()
	switch {
	case d.mode(c) != VisibleAll || !rules.A2AEnabled:
		return own
	case len(rules.A2AAllow) == 0:
		return nil
	}
	var ids []sessions.AgentID
	for _, a := range d.Host.Agents() {
		ids = append(ids, a.ID)
	}
	for _, a := range rules.A2AAllow {
		if a = strings.TrimSpace(a); a != "" && !strings.Contains(a, "*") {
			ids = append(ids, sessions.AgentID(a))
		}
	}
	for _, id := range ids {
		if !slices.Contains(own, id) && d.sees(c, sessions.Session{Key: sessions.MainKey(id), Agent: id}) {
			own = append(own, id)
		}
	}
	return own
}

// kids lists what a session spawned, as far as the caller sees it.
func (d Deps) kids(ctx context.Context, c Caller, parent sessions.Key, archived bool) ([]sessions.Session, error) {
	if parent == "" {
		return nil, nil
	}
	kids, err := d.Store.List(ctx, sessions.Query{SpawnedBy: parent, Agents: d.agents(c), Archived: archived, Limit: treeMost})
	return slices.DeleteFunc(kids, func(s sessions.Session) bool { return !d.sees(c, s) }), err
}

// notesOf selects the notes that a caller may see: those made in sessions that it sees.
func (d Deps) notesOf(c Caller) sessions.NoteQuery {
	q := sessions.NoteQuery{Agent: c.Session.Agent}
	switch d.mode(c) {
	case VisibleSelf:
		q.Of = c.Session.Key
	case VisibleTree:
		q.Of, q.Children = c.Session.Key, true
	}
	return q
}
