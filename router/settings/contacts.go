package settings

import (
	"time"

	"parley/router/clock"
	"parley/sessions"
)

// FirstContactQuota returns how many direct chats an account may still write to for the first time: its pacing's newChatsPerDay, counted from
// midnight, the host's time. The store decides by it in the commit that claims the delivery, so nothing gets past the bound.
func (s *Snapshot) FirstContactQuota(ref AccountRef, now time.Time) sessions.FirstContactQuota {
	since, until := clock.Day(now)
	return sessions.FirstContactQuota{Limit: s.Accounts[ref].Pacing.NewChatsPerDay, Since: since, Until: until}
}
