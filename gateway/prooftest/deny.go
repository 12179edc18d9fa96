package prooftest

import (
	"sort"
	"time"
)

// span is a stretch of time; a zero end is none.
type span struct{ from, to time.Time }

// policy is what is known of a place's send policy.
type policy struct {
	closed []span // a deny was acknowledged and no allow asked for: nothing may reach the place
	maybe  []span // a deny was asked for and no allow acknowledged: the host may withhold
}

// policies reads the flips, place by place in the order of the log.
func policies(flips []Flip) map[Place]*policy {
	all := map[Place]*policy{}
	open := func(spans []span) bool { return len(spans) > 0 && spans[len(spans)-1].to.IsZero() }
	for _, f := range flips {
		p := all[f.Place]
		if p == nil {
			p = &policy{}
			all[f.Place] = p
		}
		acked := !f.Acked.IsZero()
		switch {
		case f.Deny:
			if !open(p.maybe) {
				p.maybe = append(p.maybe, span{from: f.Asked})
			}
			if acked && !open(p.closed) {
				p.closed = append(p.closed, span{from: f.Acked})
			}
		default:
			if acked && open(p.maybe) {
				p.maybe[len(p.maybe)-1].to = f.Acked
			}
			if open(p.closed) {
				p.closed[len(p.closed)-1].to = f.Asked
			}
		}
	}
	return all
}

// deniedAt gives when the deny was acknowledged that nothing may pass at a time.
func (p *policy) deniedAt(at time.Time) (since time.Time, denied bool) {
	if p == nil {
		return since, false
	}
	i := sort.Search(len(p.closed), func(i int) bool { return !p.closed[i].from.Before(at) }) - 1
	if i < 0 {
		return since, false
	}
	s := p.closed[i]
	return s.from, s.to.IsZero() || at.Before(s.to)
}

// slack is how far the clocks of the host's list and of the driver may be apart.
const slack = 100 * time.Millisecond

// mayDeny reports whether a deny could have been in force at a time of the host's list: one was asked for before it, and no allow was
// acknowledged between.
func (p *policy) mayDeny(at time.Time) bool {
	if p == nil {
		return false
	}
	i := sort.Search(len(p.maybe), func(i int) bool { return p.maybe[i].from.After(at.Add(slack)) }) - 1
	return i >= 0 && (p.maybe[i].to.IsZero() || !p.maybe[i].to.Before(at.Add(-slack)))
}
