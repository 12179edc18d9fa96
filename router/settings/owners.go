package settings

import (
	"parley/channels"
	"parley/policy"
	"parley/sessions"
)

// WithGranted returns the same settings with other owners of the store.
func (s *Snapshot) WithGranted(people []sessions.Admitted) *Snapshot {
	next := *s
	next.Granted = nil
	for _, p := range people {
		if entry, ok := policy.OwnerEntry(p.Channel, p.User); ok && p.Owner {
			next.Granted = append(next.Granted, entry)
		}
	}
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
