package prooftest

import "slices"

// logSpoilers break the rules about what the model was asked, what the host lists in the end, and the log itself.
var logSpoilers = []spoiler{
	{"the model is asked again", []FaultKind{AskedTwice}, func(w *world) ([]string, bool) {
		return w.askAgain(func(t left) bool { return t.lines > 0 })
	}, nil},
	{"the model is asked again about what was withheld", []FaultKind{AskedTwice}, func(w *world) ([]string, bool) {
		return w.askAgain(w.ended("withheld"))
	}, nil},
	{"the model is asked again about what was not sent", []FaultKind{AskedTwice}, func(w *world) ([]string, bool) {
		return w.askAgain(w.ended("failed", "expired", "held", "dropped"))
	}, nil},
	{"a delivery is not final", []FaultKind{Stuck}, func(w *world) ([]string, bool) {
		t, ok := w.pick(func(t left) bool { return len(t.tokens) > 0 })
		if ok {
			w.h.Listed[t.listed].State = []string{"pending", "sending", ""}[w.IntN(3)]
		}
		return t.tokens, ok
	}, nil},
	{"the delivery of a notice is not final", []FaultKind{Stuck}, func(w *world) ([]string, bool) {
		t, ok := w.pick(func(t left) bool { return len(t.tokens) == 0 && t.lines > 0 })
		if ok {
			w.h.Listed[t.listed].State = "pending"
		}
		return []string{""}, ok
	}, nil},
	{"a run is left", []FaultKind{Stuck}, func(w *world) ([]string, bool) {
		w.h.Unfinished = 1
		return []string{""}, true
	}, nil},
	{"a token is owed twice", []FaultKind{BadLog}, func(w *world) ([]string, bool) {
		s := w.message()
		s.Owes = append(s.Owes, Debt{Token: s.Token, Kind: Report, Place: s.Place})
		return []string{s.Token}, true
	}, nil},
	{"a token is none", []FaultKind{BadLog}, func(w *world) ([]string, bool) {
		s := w.message()
		token := []string{"", "two words", "a]", "[a", "ä"}[w.IntN(5)]
		s.Owes = append(s.Owes, Debt{Token: token, Kind: Report, Place: s.Place})
		return []string{token}, true
	}, nil},
	{"a debt of an unknown kind", []FaultKind{BadLog}, func(w *world) ([]string, bool) {
		s := w.message()
		s.Owes = append(s.Owes, Debt{Token: "zz", Kind: []Kind{"gift", command}[w.IntN(2)], Place: s.Place})
		return []string{"zz"}, true
	}, nil},
	{"an answer with another token than its message", []FaultKind{BadLog}, func(w *world) ([]string, bool) {
		s := w.message()
		s.Token = "zz"
		return []string{s.Owes[0].Token}, true
	}, losses},
	{"a message without its token", []FaultKind{BadLog}, func(w *world) ([]string, bool) {
		s := w.message()
		s.Text = "please " + s.Token
		return []string{s.Token}, true
	}, nil},
}

// message picks a message at random.
func (w *world) message() *Said {
	for {
		if s := &w.h.Said[w.IntN(len(w.h.Said))]; slices.Contains([]byte(s.Token), 'm') {
			return s
		}
	}
}

// askAgain has the model asked once more, by the same process, about a text for which a condition holds.
func (w *world) askAgain(is func(t left) bool) ([]string, bool) {
	t, ok := w.pick(func(t left) bool { return len(t.tokens) > 0 && is(t) })
	if !ok {
		return nil, false
	}
	for _, i := range w.Perm(len(w.h.Asked)) {
		if a := w.h.Asked[i]; a.Step != "reply" && slices.Contains(t.tokens, a.Token) {
			a.At = w.tick()
			w.h.Asked = append(w.h.Asked, a)
			return []string{a.Token}, true
		}
	}
	return nil, false
}
