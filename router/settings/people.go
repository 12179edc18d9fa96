package settings

import (
	"parley/channels"
	"parley/sessions"
)

// What a host has is shared by people: turns, sub-agents and jobs count for the person who asked for them, in all sessions together.

// OfOwners stands for all owners.
const OfOwners = ""

// Asker names the person whose share a run of a session uses; OfOwners for owners. A run that no person asked for counts for its
// session.
func (s *Snapshot) Asker(key sessions.Key, run *sessions.Run) string {
	p := run.Input.Provenance
	switch c := run.Chain; {
	case c != nil && c.Owner, c == nil && p != nil && p.Owner:
		return OfOwners
	case c != nil && c.Asker != "":
		return c.Asker
	case c != nil && c.Requester != "":
		return s.AskerOf(c.Requester, c.People)
	case p != nil && p.Sender != "":
		return s.AskerOf(key, []sessions.Person{{Channel: p.Address.Channel, ID: channels.UserID(p.Sender)}})
	case p != nil:
		return s.AskerOf(key, p.People)
	}
	return s.AskerOf(key, nil)
}

// AskerOf names a guest: the first of the people who were asked for, or else the session.
func (s *Snapshot) AskerOf(key sessions.Key, people []sessions.Person) string {
	if len(people) == 0 || s == nil {
		return "session " + string(key)
	}
	return s.Routes.Person(people[0].Channel, people[0].ID)
}
