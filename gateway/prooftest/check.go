package prooftest

import (
	"slices"
	"strings"
)

// Check holds the parts of a history against each other. These are its rules:
//
// Every debt is shown exactly once, in its place and nowhere else, or something allowed accounts for it: the host withheld it by a rule
// while a deny could have been in force, said a notice about it, lists its delivery as held, or as failed or dropped where a platform
// refuses, or as expired in due time, or lists the message as skipped; each with a reason. It has one delivery, whatever became of that.
// What an edit leaves there is what counts: a text that an edit left without its tokens is judged by what it says then. What was shown for
// a moment in a wrong place counts as well. A debt of a message that was noticed or skipped is owed only when the model was asked about
// it, or was shown what came of the calls that begin it. A command is owed one answer of the host's, by the same rules.
//
// A notice that says that the host gave up is one about a turn that was broken off so many times.
//
// What the host says in its own words belongs to the delivery that has its id, or has that text when a kill hid the id; and each such
// delivery to the command that it answers, or to the messages in whose stead it is a notice: as the host's own list says, and to nothing
// else. A notice is the only thing that accounts for what it is about, and a debt has one. What is about nothing may not be shown, but
// for one text in the place of each message that is neither a command nor owes anything.
//
// What is shown with a token has the words that the model said with it, and no others, but for the frame that the host puts around a
// report; a text that quotes a message quotes the one that it is owed to; what stood there before an edit, or was removed, is a beginning of such words. A log without what the model said is not
// judged by this.
//
// The model is shown a person's message once, in its words and from whom it is; the answers that it gave there before; as its own words
// none that it did not say; and nothing of another chat. A log without what the model was shown is not judged by this.
//
// A text is shown again only on a platform of Repeats, from one delivery, marked by the host, at most three times. On each platform
// there are no more such sends than kills (and cuts) inside a send window. A repeated post with a key and an id that are there already
// shows nothing.
//
// Answers, and notices in the stead of answers, stand in a place in the order in which their messages were said there, within one text
// too. Nothing reaches a place between the acknowledgement of a deny and the next time that an allow is asked for. No text is shown that
// nobody was owed. One process asks the model once for each step of a turn whose answer is shown or kept. In the end each delivery is
// final, and no run is left.
func Check(h *History) *Verdict {
	c := newCheck(h)
	c.badLog()
	c.places()
	for _, d := range c.debts {
		c.settle(d)
	}
	c.words()
	c.spoken()
	c.quoted()
	c.prompts()
	c.answered()
	c.notices()
	c.begun()
	for _, d := range c.debts {
		c.account(d)
	}
	c.order()
	c.denied()
	c.ambiguous()
	c.askedTwice()
	c.stuck()
	c.count()
	return c.v
}

// debtEnd is what became of a debt.
type debtEnd int

const (
	unaccounted debtEnd = iota // nothing accounts for it
	shown
	withheld
	noticed
	listed
	skipped
	unbegun
	stuck // its delivery is not final: a fault of its own
)

// debt is one text that is owed, with all that was seen of it.
type debt struct {
	Debt
	said  *Said
	rank  int       // of its message among all that were said
	lines []*line   // in its place, in order; twice when the text has the token twice
	sends []*Listed // to its place
	words []*word   // of the host's own, about it
	end   debtEnd
	why   string // why nothing accounts for it, when something looked as if it did
}

// check is one check at work.
type check struct {
	h        *History
	v        *Verdict
	chats    *chats
	policies map[Place]*policy
	debts    []*debt // in the order of Said
	byToken  map[string]*debt
	orders   []*debt // the commands, in the order of Said
	commands map[string]*debt
	free     map[Place][]*Said // what is owed nothing, and may have one text each
	own      map[*Listed]*word // the deliveries in the host's own words
	skips    map[string][]*Skipped
	asks     map[string][]*Asked
}

// newCheck reads a history.
func newCheck(h *History) *check {
	c := &check{
		h: h, v: &Verdict{Times: map[string]int{}}, chats: read(h.Shown), policies: policies(h.Flips), byToken: map[string]*debt{}, commands: map[string]*debt{}, free: map[Place][]*Said{}, own: map[*Listed]*word{},
		skips: map[string][]*Skipped{}, asks: map[string][]*Asked{},
	}
	for i := range h.Said {
		s := &h.Said[i]
		for _, o := range s.Owes {
			d := &debt{Debt: o, said: s, rank: i}
			if c.byToken[o.Token] != nil || !isToken(o.Token) || lost[o.Kind] == "" || o.Kind == command {
				c.fault(BadLog, d, o.Place, "its token is owed twice, or is none, or its kind is unknown")
				continue
			}
			c.debts = append(c.debts, d)
			c.byToken[o.Token] = d
		}
		switch {
		case s.Command:
			d := &debt{Debt: Debt{Token: s.Token, Kind: command, Place: s.Place}, said: s, rank: i}
			if c.commands[s.Token] != nil || !isToken(s.Token) || len(s.Owes) > 0 {
				c.fault(BadLog, d, s.Place, "a command's token is that of another one, or is none, or it owes something")
				continue
			}
			c.orders = append(c.orders, d)
			c.commands[s.Token] = d
		case len(s.Owes) == 0:
			c.free[s.Place] = append(c.free[s.Place], s)
		}
	}
	for i := range h.Skipped {
		for _, t := range distinct(tokens(h.Skipped[i].Text)) {
			c.skips[t] = append(c.skips[t], &h.Skipped[i])
		}
	}
	for i := range h.Asked {
		if t := h.Asked[i].Token; t != "" {
			c.asks[t] = append(c.asks[t], &h.Asked[i])
		}
	}
	return c
}

// distinct leaves each word once.
func distinct(words []string) []string {
	if len(words) < 2 {
		return words
	}
	slices.Sort(words)
	return slices.Compact(words)
}

// badLog finds messages whose answers could not be told from others.
func (c *check) badLog() {
	for _, d := range c.debts {
		if d.Kind == Answer && d.Token != d.said.Token {
			c.fault(BadLog, d, d.Place, "an answer has the token of its message")
		}
		if d.Token == d.said.Token && !slices.Contains(tokens(d.said.Text), d.Token) {
			c.fault(BadLog, d, d.Place, "the text of a message holds its token")
		}
	}
}

// places hands each line and each delivery to the debts whose tokens it has, and finds those that are in a wrong place.
func (c *check) places() {
	for _, l := range c.chats.lines {
		for _, t := range l.tokens {
			if d := c.byToken[t]; d != nil && d.Place == l.place {
				d.lines = append(d.lines, l)
			}
		}
		var strangers []string
		for _, v := range l.versions {
			strangers = append(strangers, tokens(v.Text)...)
		}
		for _, t := range distinct(strangers) {
			switch d := c.byToken[t]; {
			case d == nil:
				c.fault(Foreign, &debt{Debt: Debt{Token: t}}, l.place, "nobody was owed this: "+tell(l))
			case d.Place != l.place:
				c.fault(WrongPlace, d, l.place, "shown there: "+tell(l))
			}
		}
	}
	for i := range c.h.Listed {
		s := &c.h.Listed[i]
		for _, t := range distinct(tokens(s.Text)) {
			switch d := c.byToken[t]; {
			case d == nil: // if it was shown, that is a fault
			case d.Place != s.Place:
				c.fault(WrongPlace, d, s.Place, "the host lists it for there: "+tellListed(s))
			default:
				d.sends = append(d.sends, s)
			}
		}
	}
}

// isNotice reports whether a text is one that the host says on its own.
func (c *check) isNotice(text string) bool {
	return slices.ContainsFunc(c.h.Notices, func(n Notice) bool { return n.in(text) })
}

// in reports whether a text has the words of a notice.
func (n Notice) in(text string) bool { return n.Text != "" && strings.Contains(text, n.Text) }

// tries is how many turns have to have been broken off before a text is said.
func (c *check) tries(text string) (n int) {
	for _, x := range c.h.Notices {
		if x.in(text) {
			n = max(n, x.Tries)
		}
	}
	return n
}
