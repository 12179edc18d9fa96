package prooftest

import (
	"cmp"
	"fmt"
	"slices"
)

// maxTries is how often a host may send one text when each try may have arrived.
const maxTries = 3

// final reports whether nothing more will happen to a delivery automatically.
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
		d.end, d.why = c.excuse(d, s)
	}
	if d.end != unaccounted || d.why != "" {
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

// excuse says what a delivery that is not shown accounts for, or why it accounts for nothing.
func (c *check) excuse(d *debt, s *Listed) (as debtEnd, why string) {
	refused := func(r Refusal) bool { return r.Place == s.Place && !s.Ended.Before(r.Since.Add(-slack)) }
	switch {
	case !s.final(): // a fault of its own
		return stuck, ""
	case s.State == "sent":
		return unaccounted, "the host says that it was sent"
	case s.Reason == "":
		return unaccounted, "the host does not say why it was not sent"
	case s.State == "withheld" && s.Rule == "":
		return unaccounted, "the host withheld it by no rule"
	case s.State == "withheld" && !c.policies[s.Place].mayDeny(s.Ended):
		return unaccounted, "the host withheld it, but no deny could have been in force at " + clock(s.Ended)
	case s.State == "withheld":
		return withheld, ""
	case s.State == "expired" && (c.h.Lasts == 0 || s.Ended.Before(d.said.At.Add(c.h.Lasts))):
		return unaccounted, "it expired before its time, at " + clock(s.Ended)
	case (s.State == "failed" || s.State == "dropped") && !slices.ContainsFunc(c.h.Refused, refused):
		return unaccounted, "it failed, or was dropped, and nothing was made to refuse it"
	}
	return listed, ""
}

// open reports whether a notice may account for a debt: nothing else does, and nothing contradicts it.
func (d *debt) open() bool { return d.end == unaccounted && d.why == "" }

// neverBegun reports whether a debt beside the answer is not owed after all: its message has no answer, and the model was neither asked
// about it nor shown what came of the call that begins it.
func (c *check) neverBegun(d *debt) bool {
	a := c.byToken[d.said.Token]
	if a == nil || a == d || len(c.asks[d.Token]) > 0 || a.end != noticed && a.end != skipped && (a.end != listed || len(a.sends) > 0) {
		return false
	}
	return !slices.ContainsFunc(c.asks[cmp.Or(d.By, d.said.Token)], func(a *Asked) bool { return a.Call > 0 })
}

// begun releases the debts that never came to be. A message that was skipped carries only those.
func (c *check) begun() {
	for _, d := range c.debts {
		switch {
		case d.Kind == Answer:
		case d.end == skipped && !c.neverBegun(d):
			d.end, d.why = unaccounted, "its message is listed as skipped, but it was begun"
		case d.end == skipped, d.open() && c.neverBegun(d):
			d.end = unbegun
		}
	}
}

// account reports a debt that nothing accounts for, or that is shown too often, or has more than one delivery: what became of the others
// is no excuse, as only one of them was owed.
func (c *check) account(d *debt) {
	switch {
	case len(d.sends) > 1:
		c.fault(doubled[d.Kind], d, d.Place, fmt.Sprintf("%d deliveries are of it", len(d.sends)))
	case d.end == unaccounted:
		c.fault(lost[d.Kind], d, d.Place, "nothing accounts for it; "+d.why)
	case len(d.lines) > 1:
		c.again(d, d.lines, d.sends)
	case len(d.lines) > 0 && len(d.sends) == 0:
		c.fault(Unlisted, d, d.Place, "shown, and the host lists no delivery of it")
	}
}

// again judges a debt that is shown more than once, by some lines that a delivery accounts for.
func (c *check) again(d *debt, lines []*line, sends []*Listed) {
	n := len(lines)
	switch {
	case len(slices.Compact(slices.Clone(lines))) < n:
		c.fault(doubled[d.Kind], d, d.Place, "shown twice in one text")
	case !c.h.Repeats[d.Place.Platform]:
		c.fault(doubled[d.Kind], d, d.Place, fmt.Sprintf("shown %d times, on a platform that shows a repeated send once", n))
	case n > maxTries:
		c.fault(doubled[d.Kind], d, d.Place, fmt.Sprintf("shown %d times; a repeat is sent at most %d times", n, maxTries))
	case len(sends) == 0 || !sends[0].Repeat:
		c.fault(Unlisted, d, d.Place, fmt.Sprintf("shown %d times, and no delivery is marked as possibly repeated", n))
	}
}
