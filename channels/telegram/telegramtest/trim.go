package telegramtest

// Trim forgets what is long over, so that a server can be used for days: the logs (see Forget), and of each chat all messages but the
// newest.
func (s *Server) Trim(keep int) {
	s.Forget()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drafts, s.deliveries = nil, nil
	for _, c := range s.chats {
		for id := range c.messages {
			if id <= c.lastID-int64(keep) {
				delete(c.messages, id)
			}
		}
		for at := range c.reactions {
			if at[0] <= c.lastID-int64(keep) {
				delete(c.reactions, at)
			}
		}
	}
}
