package settings

import (
	"slices"

	"parley/channels"
	"parley/policy"
	"parley/sessions"
)

// WithGranted returns the same settings with the owners of the store.
func (s *Snapshot) WithGranted(people []sessions.Admitted) *Snapshot {
	var granted policy.Owners
	for _, p := range people {
		if entry, ok := policy.OwnerEntry(p.Channel, p.User); ok && p.Owner {
			granted = append(granted, entry)
		}
	}
	if slices.Equal(granted, s.Granted) {
		return s
	}
	next := *s
	next.Granted = granted
	return next.Prepare()
}

// Handover names the session that the sender's direct chat has, or would have, without owners, and the one that it has with the sender as an owner.
func (s *Snapshot) Handover(in channels.Inbound) (h sessions.Handover) {
	entry, ok := policy.OwnerEntry(in.Address.Channel, in.Sender.ID)
	if in.Address.Type != channels.Direct || !ok {
		return h
	}
	routes := s.Routes
	routes.Owners = nil
	h.From, _, _ = routes.Key(in)
	routes.Owners = policy.Owners{entry}
	h.To, _, _ = routes.Key(in)
	return h
}
