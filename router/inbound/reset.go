package inbound

import (
	"context"

	"parley/channels"
	"parley/router/settings"
	"parley/sessions"
)

// autoReset has a session start over with the message that finds it stale, unless something is running or waits in it, or a sub-agent of
// it is running: that belongs to what was said before. When two messages find it stale at once, the first one starts it over.
func (r *Receiver) autoReset(ctx context.Context, set *settings.Snapshot, s sessions.Session, at channels.Address, c *sessions.Change) error {
	if s.ID == "" || s.LastInput.IsZero() {
		return nil
	}
	now := r.ages.Now()
	if !set.Session.ResetRule(at).Stale(now, now.Add(-r.ages.Age(s.LastInput))) { // by the clock as it stands now
		return nil
	}
	busy, err := sessions.OpenRuns(ctx, r.store, sessions.RunQuery{Key: s.Key, Limit: 1})
	if err != nil || len(busy) > 0 {
		return err
	}
	if busy, err = sessions.OpenChildren(ctx, r.store, s.Key, 1); err != nil || len(busy) > 0 {
		return err
	}
	c.Session.Ops = append(c.Session.Ops, sessions.ResetSession{IfID: s.ID})
	r.log.Info("session reset", keySession, s.Key, keyReason, set.Session.ResetRule(at).Mode)
	return nil
}
