package prooftest

import (
	"fmt"
	"slices"
	"sort"
	"time"
)

// mostTries is how often a host may send one text when each try may have arrived.
const mostTries = 3

// final reports whether nothing more will happen to a delivery by itself.
func (s *Listed) final() bool {
	switch s.State {
	case "sent", "withheld", "failed", "expired", "held", "dropped":
		return true
	}
	return false
}

// settle finds what became of a debt, as far as its own chat and its own delivery say.
func (c *check) settle(d *debt) {
	if len(d.lines) > 0 {
		d.end = shown
		return
	}
	for _, s := range d.sends {
		switch {
		case !s.final():
			d.end = stuck
		case s.State == "sent":
			d.end, d.why = missing, "the host says that it was sent"
			return
		case s.State != "withheld":
			d.end = max(d.end, listed)
		case c.policies[d.Place].mayDeny(d.said.At):
			d.end = max(d.end, withheld)
		default:
			d.why = "the host withheld it, but no deny could have been in force"
		}
	}
	if d.end != missing || d.why != "" {
		return
	}
	for _, s := range c.skips[d.said.Token] {
		if s.Place == d.said.Place && s.Reason != "" {
			d.end = skipped
			return
		}
		d.why = "it is listed as skipped, but without a reason or in another place"
	}
}

// open reports whether a notice may account for a debt: nothing else does, and nothing contradicts it.
func (d *debt) open() bool { return d.end == missing && d.why == "" }

// notices lets the host's own words account for what has no answer.
func (c *check) notices() {
	said := map[Place][]*line{}
	for _, l := range c.chats.lines {
		if !l.gone && len(l.tokens) == 0 && c.isNotice(l.last().Text) {
			said[l.place] = append(said[l.place], l)
		}
	}
	unsaid := map[Place][]*Listed{}
	for i := range c.h.Listed {
		if s := &c.h.Listed[i]; s.State != "sent" && s.final() && len(tokens(s.Text)) == 0 && c.isNotice(s.Text) && c.couldStand(s, time.Time{}) {
			unsaid[s.Place] = append(unsaid[s.Place], s)
		}
	}
	for p, owed := range c.answers {
		c.noticedInOrder(owed, said[p])
		c.noticedUnsaid(owed, unsaid[p])
	}
	// An announcement and a report stand anywhere below their message, each for itself. Whether a notice is about them or about an
	// answer cannot be seen: it may account for one of each.
	next := map[Place]int{}
	for _, d := range c.debts {
		if d.Kind == Answer || !d.open() || c.neverBegun(d) {
			continue
		}
		p := d.Place
		for next[p] < len(said[p]) && said[p][next[p]].last().At.Before(d.said.At) {
			next[p]++
		}
		if next[p] < len(said[p]) {
			d.end = noticed
			next[p]++
		} else if left := unsaid[p]; len(left) > 0 {
			d.end, unsaid[p] = listed, left[1:]
		}
	}
}

// noticedInOrder accounts for the answers of one place: a notice counts when it stands where the answer would have stood, below the
// answers of earlier messages and above those of later ones. Several messages that were taken up in one turn share one.
func (c *check) noticedInOrder(owed []*debt, said []*line) {
	if len(said) == 0 {
		return
	}
	before := make([]int, len(owed)+1) // the end of what stands above: of the answers to earlier messages
	before[0] = -1
	for i, d := range owed {
		before[i+1] = before[i]
		if d.end == shown {
			before[i+1] = max(before[i], d.lines[0].pos)
		}
	}
	after := len(c.chats.lines)
	for i, d := range slices.Backward(owed) {
		if d.end == shown {
			after = min(after, d.lines[0].pos)
		}
		if !d.open() {
			continue
		}
		n := sort.Search(len(said), func(n int) bool { return said[n].pos > before[i] })
		for n < len(said) && said[n].pos < after && said[n].last().At.Before(d.said.At) {
			n++
		}
		if n < len(said) && said[n].pos < after {
			d.end = noticed
		}
	}
}

// couldStand reports whether a notice that was not sent may be about something said at a time.
func (c *check) couldStand(s *Listed, said time.Time) bool {
	return s.State != "withheld" || c.policies[s.Place].mayDeny(said)
}

// noticedUnsaid accounts for answers in whose stead there is a notice that the host lists as not sent: one for each stretch of messages
// without an answer.
func (c *check) noticedUnsaid(owed []*debt, unsaid []*Listed) {
	unsaid = slices.Clone(unsaid)
	var inside *Listed
	for _, d := range owed {
		if !d.open() {
			inside = nil
			continue
		}
		if inside != nil && c.couldStand(inside, d.said.At) {
			d.end = listed
			continue
		}
		if i := slices.IndexFunc(unsaid, func(s *Listed) bool { return c.couldStand(s, d.said.At) }); i >= 0 {
			inside, d.end = unsaid[i], listed
			unsaid = slices.Delete(unsaid, i, i+1)
		}
	}
}

// neverBegun reports whether a debt beside the answer is not owed after all.
func (c *check) neverBegun(d *debt) bool {
	a := c.byToken[d.said.Token]
	return a != nil && a != d && (a.end == noticed || a.end == skipped || a.end == listed && len(a.sends) == 0) && len(c.asks[d.Token]) == 0
}

// begun releases the debts that never came to be. A message that was skipped carries only those.
func (c *check) begun() {
	for _, d := range c.debts {
		switch {
		case d.Kind == Answer:
		case d.end == skipped && !c.neverBegun(d):
			d.end, d.why = missing, "its message is listed as skipped, but the model was asked about it"
		case d.end == skipped, d.open() && c.neverBegun(d):
			d.end = unbegun
		}
	}
}

// account reports a debt that nothing accounts for, or that is shown too often.
func (c *check) account(d *debt) {
	switch {
	case d.end == missing:
		c.fault(lost[d.Kind], d, d.Place, "nothing accounts for it; "+d.why)
	case len(d.lines) > 1:
		c.again(d)
	}
}

// again judges a debt that is shown more than once.
func (c *check) again(d *debt) {
	var sent []*Listed
	for _, s := range d.sends {
		if s.State != "withheld" && s.State != "dropped" {
			sent = append(sent, s)
		}
	}
	n := len(d.lines)
	switch {
	case len(slices.Compact(slices.Clone(d.lines))) < n:
		c.fault(doubled[d.Kind], d, d.Place, "shown twice in one text")
	case !c.h.Repeats[d.Place.Platform]:
		c.fault(doubled[d.Kind], d, d.Place, fmt.Sprintf("shown %d times, on a platform that shows a repeated send once", n))
	case len(sent) > 1:
		c.fault(doubled[d.Kind], d, d.Place, fmt.Sprintf("shown %d times, by %d deliveries", n, len(sent)))
	case n > mostTries:
		c.fault(doubled[d.Kind], d, d.Place, fmt.Sprintf("shown %d times; a repeat is sent at most %d times", n, mostTries))
	case len(sent) == 0 || !sent[0].Repeat:
		c.fault(Unlisted, d, d.Place, fmt.Sprintf("shown %d times, and no delivery is marked as possibly repeated", n))
	default:
		c.v.Twice += n - 1
	}
}
