package lane

import (
	"context"

	"parley/router/settings"
	"parley/sessions"
)

// Reservation is the lane of a session that had no work, kept with a slot for a run that is about to be queued: it is claimed by the
// commit that queues it, and no second one is waited for. A nil Reservation is none.
type Reservation struct {
	lanes *Executor
	key   sessions.Key
	lane  *lane
	turn  context.Context
}

// Reserve takes the lane that a change needs for its run, and has it claimed; nil when its session has work, or no slot is free.
func (l *Executor) Reserve(c *sessions.Change, set *settings.Snapshot) *Reservation {
	if c == nil || c.Run == nil || c.Run.Input.Provenance.AwaitsRest() {
		return nil
	}
	key := c.Run.Key
	if key == "" && c.Session != nil {
		key = c.Session.Key
	}
	who := set.Asker(key, &c.Run.Run)
	share := l.pool(key, who)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.isOver() || l.m[key] != nil || l.away[key] > 0 || !share.try() {
		return nil
	}
	l.wg.Add(1)
	v := &Reservation{lanes: l, key: key, lane: l.add(key, lane{who: who, share: share, parts: hasParts(&c.Run.Run)})}
	v.turn = l.enter(l.life, v.lane)
	claiming := *c.Run // the caller may submit its own again, when nothing is reserved
	claiming.Claim = true
	c.Run = &claiming
	return v
}

// End begins the run that the commit has claimed. Without one the lane does what it was woken for meanwhile, and is free again; so it does
// when the commit has failed: a rescue finds what it claimed all the same.
func (v *Reservation) End(acc sessions.Accepted, err error) {
	if v == nil {
		return
	}
	l := v.lanes
	defer l.wg.Done()
	if claimed := acc.Claimed; claimed != nil && err == nil {
		l.wg.Go(func() {
			more := l.work(v.turn, v.key, claimed)
			l.leave(v.lane)
			l.drain(l.life, v.key, v.lane, more)
			l.run(l.life, v.key, v.lane, l.continueOrEnd(v.key, v.lane))
		})
		return
	}
	l.leave(v.lane)
	v.lane.share.release()
	turn := l.continueOrEnd(v.key, v.lane)
	l.wg.Go(func() { l.run(l.life, v.key, v.lane, turn) })
}

// hasParts reports whether a plain message may belong to that of a run.
func hasParts(run *sessions.Run) bool {
	return run.Input.Provenance.AwaitsRest()
}
