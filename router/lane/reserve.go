package lane

import (
	"context"

	"parley/router/settings"
	"parley/sessions"
)

// Reservation is the lane of a session that had no work, kept with a slot for a run that is about to be queued: it is claimed by the
// commit that queues it, and nobody waits for a second one. A nil reservation is none.
type Reservation struct {
	lanes *Set
	key   sessions.Key
	lane  *lane
	turn  context.Context
}

// Reserve takes the lane that effects need for their run, and has it claimed; nil when its session has work, or no slot is free.
func (l *Set) Reserve(e *sessions.Effects, set *settings.Snapshot) *Reservation {
	if e == nil || e.Run == nil || e.Run.Input.Provenance.AwaitsRest() {
		return nil
	}
	key := e.Run.Key
	if key == "" && e.Session != nil {
		key = e.Session.Key
	}
	who := set.Asker(key, e.Run)
	share := l.pool(key, who)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over() || l.m[key] != nil || l.away[key] > 0 || !share.try() {
		return nil
	}
	l.wg.Add(1)
	v := &Reservation{lanes: l, key: key, lane: l.add(key, lane{who: who, share: share, parts: hasParts(e.Run)})}
	v.turn = l.enter(l.life, v.lane)
	e.Claim = true
	return v
}

// End begins the run that the commit has claimed. Without one the lane does what it was woken for meanwhile, and is free again; so it does
// when the commit has failed: what it claimed all the same is found by heal.
func (v *Reservation) End(acc sessions.Accepted, err error) {
	if v == nil {
		return
	}
	l := v.lanes
	defer l.wg.Done()
	if acc.Claimed != nil && err == nil {
		l.wg.Go(func() {
			more := l.work(v.turn, v.key, acc.Claimed)
			l.leave(v.lane)
			l.drain(l.life, v.key, v.lane, more)
			l.run(l.life, v.key, v.lane, l.goOn(v.key, v.lane))
		})
		return
	}
	l.leave(v.lane)
	v.lane.share.release()
	turn := l.goOn(v.key, v.lane)
	l.wg.Go(func() { l.run(l.life, v.key, v.lane, turn) })
}

// hasParts reports whether a plain message may belong to that of a run.
func hasParts(run *sessions.Run) bool {
	p := run.Input.Provenance
	return p != nil && (p.AwaitsRest() || p.Forwarded)
}
