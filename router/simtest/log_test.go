package simtest

import (
	"time"

	"parley/channels"
	"parley/sessions"
)

// How contacts end that end in no error, and those that nobody was left to see the end of.
const (
	howTaken  = "taken"
	howThere  = "there"
	howAbsent = "absent"
	howCut    = "cut"
)

// stretch is a time, and its place among the events. Its end is zero as long as it lasts.
type stretch struct {
	from, to    time.Time
	first, last int
}

// meets reports whether it may have a moment of the time from a to b. The store has times in milliseconds, cut off.
func (x stretch) meets(a, b time.Time) bool {
	return !x.from.After(b.Add(time.Millisecond)) && (x.to.IsZero() || !x.to.Before(a))
}

// wish is a change of a session's send policy that somebody asks for, until it is acknowledged.
type wish struct {
	stretch
	key  sessions.Key
	deny bool
	void bool // it is none: another command, or there is no such session
}

// begins opens a stretch.
func (w *world) begins() stretch { return stretch{from: time.Now(), first: w.clock()} }

// closes ends a stretch that lasts.
func (w *world) closes(x *stretch) {
	at := w.clock()
	w.mu.Lock()
	defer w.mu.Unlock()
	if x.to.IsZero() {
		x.to, x.last = time.Now(), at
	}
}

// asks writes down that somebody begins to ask for a change of a policy.
func (w *world) asks(key sessions.Key, deny bool) *wish {
	x := &wish{stretch: w.begins(), key: key, deny: deny}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.changes = append(w.changes, x)
	return x
}

// mayDeny reports whether a deny may have held for a session at some moment: one was asked for before, and nobody who asked for the contrary
// after its end was told that it is done. At is as the store has it. old: it is about the session that the chat had before it moved to another one.
func (w *world) mayDeny(key sessions.Key, at time.Time, old bool) bool {
	for _, d := range w.changes {
		if d.void || !d.deny || d.key != key || d.from.After(at.Add(time.Millisecond)) {
			continue
		}
		lifted := false
		for _, x := range w.changes {
			if !x.void && !x.deny && x.key == key && !(old && w.isApart(d, x)) && d.last > 0 && x.first > d.last && x.last > 0 && x.to.Before(at) {
				lifted = true
			}
		}
		if !lifted {
			return true
		}
	}
	return false
}

// isApart reports whether a deny was of the session that a chat had, and a later change of the one that it has: the old one, for which a report
// may still come, stays denied.
func (w *world) isApart(deny, change *wish) bool {
	m := w.plan.moved
	return m != nil && deny.key == w.keys[m.from] && deny.from.Before(w.moved) && change.to.After(w.moved)
}

// trouble writes down that the store fails or stands still for a time, or that a process has ended.
func (w *world) trouble(d time.Duration) {
	x := w.begins()
	x.to = x.from.Add(d)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.troubles = append(w.troubles, x)
}

// troubled reports whether there was trouble in the time from a to b.
func (w *world) troubled(a, b time.Time) bool {
	for _, x := range w.troubles {
		if x.meets(a, b) {
			return true
		}
	}
	return false
}

// receives writes down that a process knows the receipt of a message to be on disk.
func (w *world) receives(id channels.MessageID) {
	at := w.clock()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.receipts[id] == 0 {
		w.receipts[id] = at
	}
}
