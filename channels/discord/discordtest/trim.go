package discordtest

import (
	"maps"
	"slices"
	"time"
)

// Trim forgets what is long over, so that a server can be used for days: the logs (see Forget), nonces that no longer count, and of
// each channel all messages but the newest.
func (s *Server) Trim(keep int) {
	s.Forget()
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.nonces, func(_ string, used nonceUse) bool { return time.Since(used.at) > s.window })
	for _, c := range s.channels {
		if n := len(c.messages) - keep; n > 0 {
			c.messages = slices.Clone(c.messages[n:])
		}
	}
}
