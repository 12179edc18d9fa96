package simtest

import (
	"cmp"
	"slices"

	"parley/channels"
	"parley/sessions"
	"parley/sessions/sqlstore"
)

// wrote is what a process has had its store write about a delivery, or the process's end.
type wrote struct {
	at   int // in events: when it was asked to begin, when it was told of an end
	what string
	host *host
	id   sessions.DeliveryID // "" at the end of a process
	part int                 // of a try that begins; -1 = it did not get to know
}

// What is written.
const (
	wroteBegin = "begin" // a try: it is on disk, or may be
	wroteEnd   = "end"   // of a try: it is on disk
	wroteLast  = "last"  // nothing more: the process has ended
)

// begins has a store write that a try begins. Whether that is on disk is not known where it ends in an error, unless the process ended before
// the commit: what it ended at may be the commit of something else, when this one was on disk and had not been answered.
func (h *host) begins(id sessions.DeliveryID, write func() (sessions.Delivery, error)) (sessions.Delivery, error) {
	x := wrote{at: h.w.clock(), what: wroteBegin, host: h, id: id, part: -1}
	d, err := write()
	switch {
	case h.isDead() && h.fell == sqlstore.BeforeCommit && h.begun.Load() < int64(x.at), err == nil && !h.isDead() && d.State != sessions.Sending:
		return d, err
	case err == nil && !h.isDead():
		x.part = d.Part
	}
	h.w.mu.Lock()
	defer h.w.mu.Unlock()
	h.w.wrote = append(h.w.wrote, x)
	return d, err
}

// ends has a store write what became of a try. It counts when it is on disk for sure: a process that has crashed may have left it or not.
func (h *host) ends(id sessions.DeliveryID, write func() error) error {
	err := write()
	if err == nil && !h.isDead() {
		at := h.w.clock()
		h.w.mu.Lock()
		defer h.w.mu.Unlock()
		h.w.wrote = append(h.w.wrote, wrote{at: at, what: wroteEnd, host: h, id: id})
	}
	return err
}

// doubts is how often a part of a delivery was tried so that nobody can know whether it arrived: a send with an unclear end, or one that was
// under way, or whose end was not written down, when its process ended; each once. What is looked up and is not there begins again.
type doubts struct {
	part int
	n    int
	ever bool // one, of any part
	late int  // of n: those since a try began whose part nobody got to know; it may be the next one

	// Of the newest try.
	open   bool // what became of it is not on disk
	blind  bool // nobody knows that
	vague  bool // nobody got to know which part it is of
	absent bool // the platform was asked last, and has nothing of it, nor of those before it
}

// settles counts the newest try.
func (x *doubts) settles() {
	switch {
	case x.absent:
		x.n, x.late = 0, 0
	case x.blind:
		x.n, x.ever = x.n+1, true
		if x.vague {
			x.late++
		}
	}
	x.open, x.blind, x.absent = false, false, false
}

// of turns to a part.
func (x *doubts) of(part int) {
	if part != x.part {
		x.part, x.n = part, x.late
	}
	x.late, x.vague = 0, false
}

// doubts counts those of a delivery, by what its platform and its store were asked. It is one more than the host can know of where a process
// crashed right behind the commit of what it had learned of a try.
func (r *rest) doubts(id sessions.DeliveryID, calls contacts) (x doubts) {
	var all []wrote
	for _, e := range r.w.wrote {
		if e.id == id || e.id == "" {
			all = append(all, e)
		}
	}
	for i, c := range calls {
		all = append(all, wrote{at: c.begin, what: c.what, part: i})
	}
	slices.SortStableFunc(all, func(a, b wrote) int { return cmp.Compare(a.at, b.at) })
	for _, e := range all {
		switch e.what {
		case wroteBegin:
			x.settles()
			if x.open, x.vague = true, true; e.part >= 0 {
				x.of(e.part)
			}
		case "send":
			c := calls[e.part]
			if x.blind || x.absent {
				x.settles()
			}
			x.of(c.part())
			x.open, x.blind = true, c.how == string(channels.Ambiguous) || c.how == howCut
		case "arrived":
			x.absent = calls[e.part].how == howAbsent
		case wroteEnd:
			x.settles()
		case wroteLast:
			x.blind = x.blind || x.open
		}
	}
	x.settles()
	return x
}
