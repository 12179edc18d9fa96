package whatsapptest

import "slices"

// Trim forgets what is long over, so that a server can be used for days: what it noted about the accounts, and all that people have
// seen but the newest. Nothing may be under way.
func (s *Server) Trim(keep int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.phones {
		p.log.stanzas, p.log.typed, p.log.read = nil, nil, nil
	}
	for _, p := range s.people {
		if n := len(p.seen) - keep; n > 0 {
			p.seen = slices.Clone(p.seen[n:])
		}
	}
}
