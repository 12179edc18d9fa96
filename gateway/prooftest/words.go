package prooftest

import (
	"fmt"
	"slices"
)

// command is what a message owes that is for the host itself: one answer in its place, in words of the host's own.
const command Kind = "command"

// word is a delivery in the host's own words, without a token: a notice, or the answer to a command.
type word struct {
	*Listed
	at    int     // in the list
	lines []*line // that show it, in order
}

// label is what a platform calls one message.
type label struct {
	Place
	id string
}

// words finds the lines of each text that has no token, by the ids that the platform gave, and hands it to what it is about. What the
// host never learnt the id of, because a kill hid the answer, is known by its text, and by its neighbours: deliveries leave for a chat
// in the order of the list.
func (c *check) words() {
	ids, same := map[label]int{}, map[label][]*word{}
	var all []*word
	for i := range c.h.Listed {
		s := &c.h.Listed[i]
		for _, id := range s.Receipts {
			if _, there := ids[label{s.Place, id}]; !there {
				ids[label{s.Place, id}] = i
			}
		}
		if len(tokens(s.Text)) == 0 {
			w := &word{Listed: s, at: i}
			all, c.own[s] = append(all, w), w
			same[label{s.Place, s.Text}] = append(same[label{s.Place, s.Text}], w)
		}
	}
	var unknown []*line
	known := map[Place][]mark{}
	for _, l := range c.chats.lines {
		i, ok := ids[label{l.place, l.id}]
		if ok {
			known[l.place] = append(known[l.place], mark{l.pos, i})
		}
		switch {
		case l.gone, len(l.tokens) > 0: // it is judged by those
		case ok && c.own[&c.h.Listed[i]] != nil:
			c.own[&c.h.Listed[i]].add(l)
		default:
			unknown = append(unknown, l)
		}
	}
	for _, l := range unknown {
		from, to := around(known[l.place], l.pos, len(c.h.Listed))
		if w := c.owner(l, same[label{l.place, l.last().Text}], from, to); w != nil {
			w.add(l)
		} else if !c.spare(l) {
			c.fault(Foreign, &debt{}, l.place, "neither a notice nor the answer to a command: "+tell(l))
		}
	}
	for _, w := range all {
		c.about(w)
	}
}

// owner finds which of several equal texts a line without a known id is of; from and to are its neighbours in the list.
func (c *check) owner(l *line, equal []*word, from, to int) *word {
	for _, may := range []func(w *word) bool{
		func(w *word) bool { return w.at >= from && w.at <= to && !w.unsent() },
		func(w *word) bool { return len(w.lines) > 0 }, // the host's own words and those of a model that were listed at one instant may leave in either order
		(*word).unsent, // says that it is not there: a fault
	} {
		words := slices.DeleteFunc(slices.Clone(equal), func(w *word) bool { return !may(w) || !c.mayShow(w, l) })
		if len(words) > 0 {
			return slices.MinFunc(words, func(a, b *word) int { return a.claim() - b.claim() })
		}
	}
	return nil
}

// mark is a line of a place whose delivery is known.
type mark struct{ pos, delivery int }

// around gives the deliveries whose lines are next above and below a line; all is more than any.
func around(known []mark, pos, all int) (from, to int) {
	n, _ := slices.BinarySearchFunc(known, pos, func(m mark, pos int) int { return m.pos - pos })
	from, to = -1, all
	if n > 0 {
		from = known[n-1].delivery
	}
	if n < len(known) {
		to = known[n].delivery
	}
	return from, to
}

// add puts a line where it stands among those of a text.
func (w *word) add(l *line) {
	at, _ := slices.BinarySearchFunc(w.lines, l.pos, func(l *line, pos int) int { return l.pos - pos })
	w.lines = slices.Insert(w.lines, at, l)
	l.word = w
}

// mayShow reports whether a line without a known id may be a text's: the first try of one that did not come to a receipt, or one more
// try of a text that is marked. Then it stands above what has the receipt.
func (c *check) mayShow(w *word, l *line) bool {
	switch {
	case len(w.lines) == 0:
		return w.State != "sent" || len(w.Receipts) == 0
	case !w.Repeat || !c.h.Repeats[w.Place.Platform] || len(w.lines) >= maxTries:
		return false
	}
	return len(w.Receipts) == 0 || l.pos < w.lines[len(w.lines)-1].pos
}

// claim says which of several texts a line belongs to that may be that of each: the lowest. One that is held has left once, as far as
// anybody knows; one more try of what is marked, and showing what may have arrived before it was listed as not sent, need one more kill.
func (w *word) claim() int {
	switch {
	case w.State == "held":
		return 0
	case w.Repeat:
		return 1
	}
	return 2
}

// about hands a text to what the host says that it is about: the command that it answers, or the debts that it stands for. What is
// about nothing may not be shown.
func (c *check) about(w *word) {
	known := false
	for _, t := range distinct(slices.Clone(w.For)) {
		d := c.commands[t]
		if d == nil && c.isNotice(w.Text) {
			d = c.byToken[t]
		}
		switch {
		case d == nil:
		case d.Place != w.Place:
			c.fault(WrongPlace, d, w.Place, "the host lists it for there: "+tellListed(w.Listed))
			known = true
		default:
			d.words = append(d.words, w)
			known = true
		}
	}
	if !known && len(w.lines) > 0 && !c.spare(w.lines[0]) {
		d := &debt{}
		if len(w.For) > 0 {
			d.Token = w.For[0]
		}
		c.fault(Foreign, d, w.Place, "neither a notice that is owed nor the answer to a command: "+tellListed(w.Listed)+"; "+tell(w.lines[0]))
	}
}

// spare reports whether a line may be what is said to a message that is owed nothing.
func (c *check) spare(l *line) bool {
	may := c.free[l.place]
	if len(may) == 0 || may[0].At.After(l.last().At) {
		return false
	}
	c.free[l.place] = may[1:]
	return true
}

// answered makes of the words about commands their answers: what holds for an answer of the model holds for them.
func (c *check) answered() {
	for _, d := range c.orders {
		for _, w := range d.words {
			d.lines, d.sends = append(d.lines, w.lines...), append(d.sends, w.Listed)
		}
		slices.SortStableFunc(d.lines, func(a, b *line) int { return a.pos - b.pos })
		c.settle(d)
		c.account(d)
	}
}

// notices lets the host's own words account for what has no answer. Each notice stands for those that the host says it is about and
// for nobody else, and a debt has one thing to account for it.
func (c *check) notices() {
	judged := map[*word]bool{}
	for _, d := range c.debts {
		for _, w := range d.words {
			if d.open() {
				c.notice(d, w)
			} else {
				c.fault(doubled[d.Kind], d, d.Place, "a notice is about it beside what accounts for it, be that a notice: "+tellListed(w.Listed))
			}
			if !judged[w] && len(w.lines) > 1 {
				c.again(d, w.lines, []*Listed{w.Listed})
			}
			judged[w] = true
		}
	}
}

// notice has one notice account for one debt.
func (c *check) notice(d *debt, w *word) {
	switch n := c.tries(w.Text); {
	case w.Broken < n:
		d.why = fmt.Sprintf("the host gave it up, which takes %d turns that are broken off, and %d were: %s", n, w.Broken, tellListed(w.Listed))
	case len(w.lines) == 0:
		if d.end, d.why = c.excuse(d, w.Listed); d.why != "" {
			d.why += ": " + tellListed(w.Listed)
		} else {
			d.end = listed // one that is not final is a fault of its own
		}
	case w.lines[0].last().At.Before(d.said.At):
		d.why = "its notice stood there before it was said: " + tell(w.lines[0])
	default:
		d.end = noticed
	}
}
