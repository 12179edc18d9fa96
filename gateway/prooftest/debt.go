package prooftest

import (
	"fmt"
	"slices"
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
		c.again(d, d.lines, d.sends)
	}
}

// again judges a debt that is shown more than once, by some lines that some deliveries account for.
func (c *check) again(d *debt, lines []*line, sends []*Listed) {
	var sent []*Listed
	for _, s := range sends {
		if s.Repeat || s.State != "withheld" && s.State != "dropped" { // a denied one that is marked may have been shown before the deny
			sent = append(sent, s)
		}
	}
	n := len(lines)
	switch {
	case len(slices.Compact(slices.Clone(lines))) < n:
		c.fault(doubled[d.Kind], d, d.Place, "shown twice in one text")
	case !c.h.Repeats[d.Place.Platform]:
		c.fault(doubled[d.Kind], d, d.Place, fmt.Sprintf("shown %d times, on a platform that shows a repeated send once", n))
	case len(sent) > 1:
		c.fault(doubled[d.Kind], d, d.Place, fmt.Sprintf("shown %d times, by %d deliveries", n, len(sent)))
	case n > mostTries:
		c.fault(doubled[d.Kind], d, d.Place, fmt.Sprintf("shown %d times; a repeat is sent at most %d times", n, mostTries))
	case len(sent) == 0 || !sent[0].Repeat:
		c.fault(Unlisted, d, d.Place, fmt.Sprintf("shown %d times, and no delivery is marked as possibly repeated", n))
	}
}
