package prooftest

import (
	"cmp"
	"fmt"
	"slices"
)

// order finds answers that stand below one of a later message. A line with the same answers as the one before is its repeat.
func (c *check) order() {
	type foot struct {
		last *debt    // the latest message whose answer stands so far
		line []string // the tokens of the newest line with answers
	}
	feet := map[Place]*foot{}
	for _, l := range c.chats.lines {
		named := l.tokens
		if l.word != nil {
			named = l.word.For
		}
		var owed []*debt
		for _, t := range named {
			if d := c.byToken[t]; d != nil && d.Kind == Answer && d.Place == l.place {
				owed = append(owed, d)
			}
		}
		if l.word != nil { // a notice names nobody: those that it is about are all the same to it
			slices.SortFunc(owed, func(a, b *debt) int { return a.rank - b.rank })
		}
		if len(owed) == 0 {
			continue
		}
		f := feet[l.place]
		if f == nil {
			f = &foot{}
			feet[l.place] = f
		}
		if slices.Equal(f.line, named) {
			continue
		}
		f.line = named
		for _, d := range owed {
			if f.last != nil && d.rank < f.last.rank {
				c.fault(OutOfOrder, d, l.place, fmt.Sprintf("said before [%s], of %s, and answered below it", f.last.Token, clock(f.last.said.At)))
				continue
			}
			f.last = d
		}
	}
}

// denied finds calls that reached a place after a deny for it was acknowledged.
func (c *check) denied() {
	for i := range c.h.Shown {
		s := &c.h.Shown[i]
		p := c.chats.calls[i]
		since, denied := c.policies[p].deniedAt(s.At)
		if !denied {
			continue
		}
		d := &debt{}
		if t := tokens(s.Text); len(t) > 0 {
			if d = c.byToken[t[0]]; d == nil {
				d = &debt{Debt: Debt{Token: t[0]}}
			}
		}
		c.fault(PastDeny, d, p, fmt.Sprintf("%s, but a deny was acknowledged at %s", tellShown(s), clock(since)))
	}
}

// ambiguous holds the sends that may have been repeated against the moments in which that can happen.
func (c *check) ambiguous() {
	windows, kills := map[string]int{}, 0
	for _, k := range c.h.Kills {
		switch {
		case k.Sends != nil:
			for p, n := range k.Sends {
				windows[p] += n
			}
		case k.InSend:
			kills++
		}
	}
	for p, n := range c.h.Cut {
		windows[p] += n
	}
	c.v.Windows = kills
	for _, n := range windows {
		c.v.Windows += n
	}
	seen := map[string]int{}
	for i := range c.h.Listed {
		s := &c.h.Listed[i]
		n := c.times(s)
		if s.Repeat {
			c.v.Marked, c.v.Twice = c.v.Marked+1, c.v.Twice+max(0, n-1)
		}
		c.v.Times[s.ID] = n
		if n > 0 && s.unsent() {
			c.fault(Unlisted, c.debtOf(s), s.Place, "it is shown; the host lists it as not sent, and does not say that it may have arrived: "+tellListed(s))
		}
		if !s.Repeat && s.State != "held" {
			continue
		}
		p := s.Place.Platform
		if seen[p] += max(1, n-1); seen[p] > windows[p]+kills {
			c.fault(Unlisted, c.debtOf(s), s.Place, fmt.Sprintf("the sends with an unknown end are %d with this one, but kills and cuts explain only %d: %s",
				seen[p], windows[p]+kills, tellListed(s)))
		}
	}
}

// unsent reports whether the host says of a delivery that nothing of it is in its chat.
func (s *Listed) unsent() bool {
	return slices.Contains([]string{"withheld", "failed", "expired", "dropped"}, s.State) && !s.Unclear && !s.Repeat && len(s.Receipts) == 0
}

// debtOf is what is owed that a delivery is about, if it names that.
func (c *check) debtOf(s *Listed) *debt {
	for _, t := range append(tokens(s.Text), s.For...) {
		if d := cmp.Or(c.byToken[t], c.commands[t]); d != nil {
			return d
		}
	}
	return &debt{}
}

// times says how many messages of its chat show a delivery.
func (c *check) times(s *Listed) int {
	if w := c.own[s]; w != nil {
		return len(w.lines)
	}
	if all := tokens(s.Text); len(all) > 0 {
		if d := c.byToken[all[0]]; d != nil && d.Place == s.Place {
			return len(d.lines)
		}
	}
	return 0
}

// askedTwice finds steps of a turn that one process asked the model for more than once. What a requester says again in an exchange is
// not one of them: it may do so several times.
func (c *check) askedTwice() {
	type step struct {
		life       int
		session    string
		step       string
		token      string
		toolsShown int
	}
	times := map[step]int{}
	for i := range c.h.Asked {
		a := &c.h.Asked[i]
		d := c.byToken[a.Token]
		if d == nil || a.Step == "reply" || len(d.lines)+len(d.sends) == 0 {
			continue
		}
		k := step{a.Life, a.Session, a.Step, a.Token, a.Call}
		if times[k]++; times[k] == 2 {
			c.fault(AskedTwice, d, d.Place, fmt.Sprintf("process %d asked again for the %s of %s after %d tool results", a.Life, a.Step, a.Session, a.Call))
		}
	}
}

// stuck finds what is not at an end.
func (c *check) stuck() {
	for i := range c.h.Listed {
		s := &c.h.Listed[i]
		if s.final() {
			continue
		}
		named := false
		for _, t := range distinct(tokens(s.Text)) {
			if d := c.byToken[t]; d != nil {
				c.fault(Stuck, d, s.Place, "not final: "+tellListed(s))
				named = true
			}
		}
		if !named {
			c.fault(Stuck, &debt{}, s.Place, "not final: "+tellListed(s))
		}
	}
	if c.h.Unfinished > 0 {
		c.fault(Stuck, &debt{}, Place{}, fmt.Sprintf("%d runs are queued or at work", c.h.Unfinished))
	}
}

// count fills in the figures.
func (c *check) count() {
	v, h := c.v, c.h
	for i := range h.Said {
		switch s := &h.Said[i]; {
		case len(s.Owes) > 0:
			v.Said++
		case s.Command:
			v.Commands++
		}
	}
	for _, d := range slices.Concat(c.debts, c.orders) {
		t := v.tally(d.Kind)
		t.Owed++
		if n := map[debtEnd]*int{shown: &t.Shown, withheld: &t.Withheld, noticed: &t.Noticed, listed: &t.Listed, skipped: &t.Skipped, unbegun: &t.Unbegun}[d.end]; n != nil {
			*n++
		}
	}
	v.Calls = map[Verb]int{}
	for i := range h.Shown {
		v.Calls[h.Shown[i].Verb]++
	}
	for _, f := range h.Flips {
		if f.Deny {
			v.Denies++
		} else {
			v.Allows++
		}
		if f.Acked.IsZero() {
			v.Unacked++
		}
	}
	for _, k := range h.Kills {
		if k.InSend {
			v.InSend++
		}
	}
	v.Asked, v.Folded, v.Deliveries, v.Kills = len(h.Asked), c.chats.folded, len(h.Listed), len(h.Kills)
}
