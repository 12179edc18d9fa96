package rights

import (
	"parley/channels"
	"parley/router/settings"
	"parley/sessions"
)

// askerAmong is asker for what a run does once it answers further people: a guest among them, where it began for owners.
func askerAmong(s *settings.Snapshot, a Requesters, key sessions.Key, run *sessions.Run) string {
	switch who := s.Asker(key, run); {
	case a.Owner:
		return settings.OfOwners
	case who != settings.OfOwners:
		return who
	}
	for i, p := range a.People {
		if !s.Owners.Is(p.Channel, s.Person(p.Channel, channels.Sender{ID: p.ID, Username: p.User})) {
			return s.AskerOf(key, a.People[i:])
		}
	}
	return s.AskerOf(key, nil)
}
