package tools

import (
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
		if !slices.Contains(own, id) && d.seesAgent(c, id) {
			own = append(own, id)
		}
	}
	return own
}

// seesAgent reports whether a caller sees all sessions of an agent.
func (d Deps) seesAgent(c Caller, id sessions.AgentID) bool {
	ok, _ := d.Rules().See(d.viewer(c), sessions.Session{Key: sessions.MainKey(id), Agent: id})
	return ok
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
