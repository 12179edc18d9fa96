package prooftest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// world makes a good history: of a host that keeps its promises, on three platforms, killed and told to be silent meanwhile. It tells
// the checker nothing but the history; what it meant is in ends.
type world struct {
	*rand.Rand
	h      History
	now    time.Time
	life   int
	ids    int
	spots  []*spot
	queued []Debt // announces and reports that are on their way
	ends   map[string]debtEnd
	texts  []left
	closed []closed
	vague  bool // whether a text that is held was shown cannot be told, when another one beside it says the same
}

// left is one text that was to leave.
type left struct {
	Place
	tokens   []string // in it
	about    []string // of the debts that it is for: for a notice those that it stands for, for an answer to a command that one
	listed   int      // its delivery
	from, to int      // its calls, if it was shown
	lines    int      // how often it stands there
}

// command reports whether it answers a command.
func (t left) command() bool { return len(t.tokens) == 0 && strings.HasPrefix(t.about[0], "c") }

// notice reports whether it stands for debts.
func (t left) notice() bool { return len(t.tokens) == 0 && !t.command() }

// closed is a time in which nothing may reach a place.
type closed struct {
	Place
	from, to time.Time
}

// spot is a place with what waits there.
type spot struct {
	Place
	must, may bool // a deny is acknowledged; one may be in force
	since     time.Time
	allowed   time.Time // when a deny was certainly over
	waiting   []int
}

const (
	failedWord = "⚠️ The model could not be reached."
	statusWord = "Status: failed"
	givenUp    = "⚠️ I have tried too often."
	tries      = 3 // before that is said
)

// newWorld plays so many messages.
func newWorld(seed uint64, messages int) *world {
	w := &world{
		Rand: rand.New(rand.NewPCG(seed, 1)), now: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC), life: 1, ends: map[string]debtEnd{},
		h: History{Notices: []Notice{{Text: failedWord}, {Text: statusWord}, {givenUp, tries}}, Repeats: map[string]bool{"telegram": true}, Cut: map[string]int{},
			Lasts: time.Millisecond, Frames: []string{`^Status: (?P<status>completed|late)\nResult: (.*)\nNotes: none$`},
		},
	}
	for _, p := range []string{"telegram", "discord", "whatsapp"} {
		for i := range 3 {
			w.spots = append(w.spots, &spot{Place: Place{Platform: p, Chat: fmt.Sprint(p[:1], i)}})
		}
	}
	w.spots[0].Thread = "7" // a topic of the chat that is the next
	w.spots[1].Chat = w.spots[0].Chat
	for said := 0; said < messages; {
		switch n := w.IntN(100); {
		case n < 45:
			w.say(fmt.Sprint("m", said))
			said++
		case n < 75:
			w.take(w.spots[w.IntN(len(w.spots))])
		case n < 90:
			w.pay()
		case n < 94:
			w.flip(w.spots[w.IntN(len(w.spots))])
		case n < 97:
			w.command(w.spots[w.IntN(len(w.spots))])
		case n < 98:
			w.kill(nil)
		default:
			if s := w.spots[w.IntN(len(w.spots))]; !s.must {
				w.call(s.Place, "", Typing, "", "")
			}
		}
	}
	for _, s := range w.spots {
		for len(s.waiting) > 0 {
			w.take(s)
		}
	}
	for len(w.queued) > 0 {
		w.pay()
	}
	for _, s := range w.spots {
		if w.tick(); s.must {
			w.closed = append(w.closed, closed{s.Place, s.since, w.now})
		}
	}
	return w
}

// chance reports true so many times of a hundred.
func (w *world) chance(n int) bool { return w.IntN(100) < n }

// tick lets time pass and gives the time.
func (w *world) tick() time.Time {
	w.now = w.now.Add(time.Duration(1+w.IntN(400)) * time.Millisecond)
	return w.now
}

// id gives a new id.
func (w *world) id(prefix string) string {
	w.ids++
	return fmt.Sprint(prefix, w.ids)
}

// say is a message of a person.
func (w *world) say(token string) {
	s := w.spots[w.IntN(len(w.spots))]
	m := Said{Token: token, At: w.tick(), Place: s.Place, Text: fmt.Sprintf("please [%s] and more", token), Owes: []Debt{{Token: token, Kind: Answer, Place: s.Place}}}
	if w.chance(25) {
		m.Owes = append(m.Owes, Debt{Token: token + ".a", Kind: Announce, Place: w.spots[w.IntN(len(w.spots))].Place})
	}
	for i := range w.IntN(3) * w.IntN(2) {
		m.Owes = append(m.Owes, Debt{Token: fmt.Sprint(token, ".r", i), Kind: Report, Place: s.Place, Ends: "completed"})
	}
	s.waiting = append(s.waiting, len(w.h.Said))
	w.h.Said = append(w.h.Said, m)
}

// take ends the oldest message that waits in a place, or several in one turn.
func (w *world) take(s *spot) {
	if len(s.waiting) == 0 {
		return
	}
	n := 1
	if w.chance(20) {
		n = min(len(s.waiting), 1+w.IntN(3))
	}
	var all []Said
	var group, texts []string
	for _, i := range s.waiting[:n] {
		all = append(all, w.h.Said[i])
		group = append(group, w.h.Said[i].Token)
		texts = append(texts, "echo: ["+w.h.Said[i].Token+"]")
	}
	s.waiting = s.waiting[n:]
	begun, session := true, "agent:main:"+s.String()
	switch k := w.IntN(100); {
	case k < 4:
		for _, m := range all {
			w.h.Skipped = append(w.h.Skipped, Skipped{Place: s.Place, Text: m.Text, Reason: "too old"})
			w.ends[m.Token] = skipped
		}
		begun = false
	case k < 10:
		if begun = w.chance(30); begun {
			w.ask(session, "turn", group[n-1], 1, "")
		}
		for _, t := range group {
			w.ends[t] = noticed
		}
		if !w.deliver(s, "notice", []string{failedWord, givenUp}[w.IntN(2)], group...) {
			for _, t := range group {
				w.ends[t] = listed
			}
		}
	default:
		w.ask(session, "turn", group[n-1], 1+w.IntN(3), strings.Join(texts, "\n"))
		w.deliver(s, "reply", strings.Join(texts, "\n"), group...)
	}
	for _, m := range all {
		for _, d := range m.Owes[1:] {
			if w.ends[d.Token] = unbegun; begun {
				w.queued = append(w.queued, d)
			}
		}
	}
}

// pay shows an announcement or a report that is on its way.
func (w *world) pay() {
	if len(w.queued) == 0 {
		return
	}
	i := w.IntN(len(w.queued))
	d := w.queued[i]
	w.queued = append(w.queued[:i], w.queued[i+1:]...)
	s := w.spot(d.Place)
	if d.Kind == Announce {
		w.ask("agent:other:"+s.String(), "ask", d.Token, 1, "they asked me")
		for range 3 {
			w.ask("agent:main:x", "reply", d.Token, 1, "and I them") // the same words again are no fault
		}
		w.ask("agent:other:"+s.String(), "announce", d.Token, 1, "They told me: ["+d.Token+"]")
		w.deliver(s, "announce", "They told me: ["+d.Token+"]", d.Token)
		return
	}
	w.ask("agent:main:subagent:"+d.Token, "child", d.Token, 1+w.IntN(2), "I have it")
	if w.chance(8) {
		if w.ends[d.Token] = noticed; !w.deliver(s, "announce", statusWord+"\nNotes: none", d.Token) {
			w.ends[d.Token] = listed
		}
		return
	}
	w.ask("agent:main:subagent:"+d.Token, "report", d.Token, 1, "["+d.Token+"]")
	w.deliver(s, "announce", "Status: completed\nResult: ["+d.Token+"]\nNotes: none", d.Token)
}

// spot finds a place.
func (w *world) spot(p Place) *spot {
	for _, s := range w.spots {
		if s.Place == p {
			return s
		}
	}
	return nil
}

// ask is a turn of the model, which may be cut by a kill and begun again by the next process. The last call says something.
func (w *world) ask(session, step, token string, calls int, says string) {
	for n := range calls {
		a := Asked{At: w.tick(), Session: session, Step: step, Token: token, Call: n, Life: w.life}
		if n == calls-1 {
			a.Says = says
		}
		w.h.Asked = append(w.h.Asked, a)
		if w.chance(3) {
			w.kill(nil)
			a.At, a.Life = w.tick(), w.life
			w.h.Asked = append(w.h.Asked, a)
		}
	}
}

// kill ends the process; in tells the platform that a call was with, if one was.
func (w *world) kill(in *string) {
	k := Kill{At: w.tick(), Life: w.life, Where: "random"}
	if in != nil {
		switch k.InSend = true; w.IntN(3) {
		case 0:
			k.Sends = map[string]int{*in: 1}
		case 1: // it was no kill
			w.h.Cut[*in]++
			return
		}
	}
	w.life++
	w.h.Kills = append(w.h.Kills, k)
}

// flip changes the policy of a place, or asks for it in vain.
func (w *world) flip(s *spot) {
	f := Flip{Place: s.Place, Deny: w.chance(50), Asked: w.tick()}
	if f.Deny {
		s.may = true
	} else {
		w.open(s)
	}
	if w.chance(30) && !s.must { // what comes meanwhile may pass or not
		w.take(s)
	}
	if before := s.must; w.chance(80) {
		f.Acked = w.tick()
		s.must, s.may = f.Deny, f.Deny
		if f.Deny && !before {
			s.since = w.now
		} else if !f.Deny {
			s.allowed = w.now
		}
		if f.Deny && !before && w.chance(50) { // begun before it, and just there
			w.h.Shown = append(w.h.Shown, Shown{At: w.now, Place: s.Place, Verb: Typing})
		}
	} else {
		w.kill(nil)
	}
	w.h.Flips = append(w.h.Flips, f)
}

// open ends the time in which nothing may reach a place.
func (w *world) open(s *spot) {
	if s.must {
		w.closed = append(w.closed, closed{s.Place, s.since, w.now})
	}
	s.must = false
}

// command is one for the host, which answers it.
func (w *world) command(s *spot) {
	token := w.id("c")
	w.h.Said = append(w.h.Said, Said{Token: token, At: w.tick(), Place: s.Place, Text: "/status", Command: true})
	w.deliver(s, "notice", "⚙️ All is well"+strings.Repeat(".", w.IntN(2)), token) // many answers are the same
}

// call is one call that a platform took.
func (w *world) call(p Place, id string, v Verb, text, key string) {
	w.h.Shown = append(w.h.Shown, Shown{At: w.tick(), Place: p, ID: id, Verb: v, Text: text, Key: key})
}

// deliver lets a text leave, or end otherwise, as the policy and chance will, and reports whether it was shown.
func (w *world) deliver(s *spot, kind, text string, about ...string) (there bool) {
	t := left{Place: s.Place, tokens: tokens(text), about: about, listed: len(w.h.Listed), from: len(w.h.Shown)}
	l := Listed{ID: w.id("d"), Place: s.Place, Kind: kind, Text: text, State: "sent", Ended: w.tick(), Rule: "session override"}
	if text == givenUp {
		l.Broken = tries + w.IntN(2)
	}
	if len(t.tokens) == 0 {
		l.For = about
	}
	as := shown
	switch {
	case s.must || s.may && w.chance(50):
		l.State, l.Reason, as = "withheld", "deny", withheld
	case w.chance(8):
		l.State, l.Reason, as = []string{"failed", "expired", "held", "dropped"}[w.IntN(4)], "it is so", listed
		if !slices.ContainsFunc(w.h.Refused, func(r Refusal) bool { return r.Place == s.Place }) {
			w.h.Refused = append(w.h.Refused, Refusal{s.Place, l.Ended})
		}
		if l.State == "held" {
			w.vague = w.vague || len(t.tokens) == 0
			if w.kill(&s.Platform); w.chance(50) {
				w.call(s.Place, w.id("x"), Post, text, "")
				as = shown
			}
		}
	default:
		l.Receipts = w.show(s, text, &l.Repeat)
	}
	t.to = len(w.h.Shown)
	for i := t.from; i < t.to; i++ {
		if s := w.h.Shown[i]; s.Text == text && !(i > t.from && s.Key != "" && s.Key == w.h.Shown[i-1].Key) {
			t.lines++
		}
	}
	w.texts = append(w.texts, t)
	w.h.Listed = append(w.h.Listed, l)
	named := t.tokens
	if t.command() {
		named = about
	}
	for _, t := range named {
		w.ends[t] = as
	}
	return as == shown
}

// show lets a text leave: with a preview, at once, or again and again.
func (w *world) show(s *spot, text string, repeat *bool) []string {
	if w.chance(20) {
		draft := ""
		if strings.HasPrefix(text, "echo") {
			draft = text[:6]
		}
		w.call(s.Place, "", Typing, draft, "")
	}
	id, at := w.id("x"), s.Place
	switch {
	case w.chance(15):
		w.call(at, id, Post, text[:min(len(text), 9)], "")
		at.Thread = "" // an edit does not name it
		w.call(at, id, Edit, text[:len(text)/2+1], "")
		w.call(at, id, Edit, text, "")
	case w.chance(5): // the preview goes, the text comes
		w.call(at, id, Post, "…", "")
		w.call(at, id, Remove, "", "")
		id = w.id("x")
		w.call(at, id, Post, text, "")
	case w.chance(15) && s.Platform == "telegram":
		*repeat = true
		w.call(at, id, Post, text, "")
		w.kill(&s.Platform)
		for n := 0; n < w.IntN(3); n++ { // none: what was marked as possibly repeated came once
			if n > 0 {
				w.kill(&s.Platform)
			}
			id = w.id("x")
			w.call(at, id, Post, text, "")
		}
	case s.Platform == "telegram":
		w.call(at, id, Post, text, "")
	default:
		key := w.id("k")
		if s.Platform == "whatsapp" {
			key = id
		}
		w.call(at, id, Post, text, key)
		if w.chance(10) {
			w.kill(nil)
			w.call(at, id, Post, text, key)
		}
	}
	if w.chance(10) {
		w.call(s.Place, id, React, "👍", "")
	}
	return []string{id}
}
