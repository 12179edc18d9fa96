package router

import (
	"time"

	"parley/sessions"
)

// opening is how many direct chats an account may still write to for the first time: its pacing's newChatsPerDay, counted from
// midnight, the host's time. The store decides by it in the commit that claims the delivery, so nothing gets past the bound.
func (s *Settings) opening(ref AccountRef, now time.Time) sessions.Opening {
	since, until := today(now)
	return sessions.Opening{Most: s.Accounts[ref].Pacing.NewChatsPerDay, Since: since, Until: until}
}
