package event

import "parley/sessions"

// Position is a place in the row of what happens at this host since it was started. A reader of the store takes the position first, and
// then watches since it: it misses nothing in between. Zero is none; one of an earlier process means nothing, Unknown stands for it.
type Position int64

// Unknown is a position that cannot be found again: a watcher since it is told to read the store again.
const Unknown Position = -1

// Position gives the place behind all that has happened.
func (b *Bus) Position() Position {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.past.position()
}

// maxPast is how many events can be looked back at. A watcher from before them is told to read again.
const maxPast = 1000

// past is what the newest events were about. The zero value is ready.
type past struct {
	n     Position // how many there were; the event n is at n % maxPast
	about [maxPast]struct {
		kind    string
		session sessions.Key
		run     sessions.RunID
	}
}

func (p *past) position() Position { return p.n + 1 }

// add remembers an event and gives the place behind it. Texts are not counted.
func (p *past) add(e Event) Position {
	if e.Kind == KindText {
		return 0
	}
	p.n++
	a := &p.about[p.n%maxPast]
	a.kind, a.session, a.run = e.Kind, e.Session, e.Run
	return p.position()
}

// missed reports whether something has happened since that w wants, or may have.
func (p *past) missed(w Filter) bool {
	if w.Since == 0 {
		return false
	}
	if w.Since < 0 || w.Since > p.position() || p.position()-w.Since > maxPast {
		return true
	}
	for n := w.Since; n <= p.n; n++ {
		if a := p.about[n%maxPast]; w.wants(Event{Kind: a.kind, Session: a.session, Run: a.run}) {
			return true
		}
	}
	return false
}
