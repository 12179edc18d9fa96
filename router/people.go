package router

import (
	"parley/channels"
	"parley/sessions"
)

// What a host has is shared by people: turns, sub-agents and jobs count for the person who asked for them, in all sessions together.

// ofOwners stands for all owners.
const ofOwners = ""

// asker names the person whose share a run of a session uses; ofOwners for owners. A run that nobody in particular asked for counts for its
// session.
func (s *Settings) asker(key sessions.Key, run *sessions.Run) string {
	p := run.Input.Provenance
	switch c := run.Chain; {
	case c != nil && c.Owner, c == nil && p != nil && p.Owner:
		return ofOwners
	case c != nil && c.Asker != "":
		return c.Asker
	case c != nil && c.Requester != "":
		return s.askerOf(c.Requester, c.People)
	case p != nil && p.Sender != "":
		return s.askerOf(key, []sessions.Person{{Channel: p.Address.Channel, ID: channels.UserID(p.Sender)}})
	case p != nil:
		return s.askerOf(key, p.People)
	}
	return s.askerOf(key, nil)
}

// askerOf names a guest: the first of the people who were asked for, or else the session.
func (s *Settings) askerOf(key sessions.Key, people []sessions.Person) string {
	if len(people) == 0 || s == nil {
		return "session " + string(key)
	}
	return s.routes.Person(people[0].Channel, people[0].ID)
}

// askerAmong is asker for what a run does once it answers further people: a guest among them, where it began for owners.
func (s *Settings) askerAmong(a whom, key sessions.Key, run *sessions.Run) string {
	switch who := s.asker(key, run); {
	case a.owner:
		return ofOwners
	case who != ofOwners:
		return who
	}
	for i, p := range a.people {
		if !s.Owners.Is(p.Channel, s.person(p.Channel, channels.Sender{ID: p.ID, Username: p.User})) {
			return s.askerOf(key, a.people[i:])
		}
	}
	return s.askerOf(key, nil)
}
