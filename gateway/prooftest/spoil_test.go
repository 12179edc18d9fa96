package prooftest

import (
	"slices"
	"testing"
	"time"
)

// spoiler puts one fault into a good history and gives the tokens that may be named for it: "" when no text is concerned. ok is false
// when the history has no place for such a fault.
type spoiler struct {
	name  string
	kinds []FaultKind // the one that must be found, or one for each kind of debt
	spoil func(w *world) (tokens []string, ok bool)
	also  []FaultKind // what follows from it, in some histories
}

// the kinds that go by the kind of the debt
var (
	losses   = []FaultKind{Lost, AnnounceLost, ReportLost}
	doubles  = []FaultKind{AnsweredTwice, AnnounceDoubled, ReportDoubled}
	misplace = []FaultKind{WrongPlace}
)

// TestSpoiltHistories puts each kind of fault into good histories, at random: the checker names its kind and its token, and nothing
// that does not follow from it.
func TestSpoiltHistories(t *testing.T) {
	t.Parallel()
	for _, s := range slices.Concat(lossSpoilers, wordSpoilers, spokenSpoilers, doubleSpoilers, ruleSpoilers, logSpoilers) {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			found := map[FaultKind]int{}
			seeds := times(40, 500)
			for seed := range seeds {
				w := newWorld(seed, 60)
				named, ok := s.spoil(w)
				if !ok {
					continue
				}
				v := Check(&w.h)
				hit := slices.IndexFunc(v.Faults, func(f Fault) bool { return slices.Contains(s.kinds, f.Kind) && slices.Contains(named, f.Token) })
				if hit < 0 {
					t.Fatalf("seed %d: no fault %q names %q: %s", seed, s.kinds, named, v)
				}
				found[v.Faults[hit].Kind]++
				for _, f := range v.Faults {
					if !slices.Contains(s.kinds, f.Kind) && !slices.Contains(s.also, f.Kind) {
						t.Fatalf("seed %d: of %q follows no %q: %s", seed, named, f.Kind, v)
					}
				}
			}
			for _, k := range s.kinds {
				if found[k] < int(seeds)/30 {
					t.Errorf("%d seeds: only %d faults of the kind %q", seeds, found[k], k)
				}
			}
		})
	}
}

// pick gives a text of a world at random for which a condition holds.
func (w *world) pick(is func(t left) bool) (left, bool) {
	for _, i := range w.Perm(len(w.texts)) {
		if is(w.texts[i]) {
			return w.texts[i], true
		}
	}
	return left{}, false
}

// seen reports whether a text stands in its chat once, because its delivery was sent.
func (w *world) seen(t left) bool {
	return len(t.tokens) > 0 && t.lines == 1 && w.h.Listed[t.listed].State == "sent"
}

// ended gives a condition: a text is not shown, because its delivery ended in one of some states.
func (w *world) ended(states ...string) func(t left) bool {
	return func(t left) bool {
		return len(t.tokens) > 0 && t.lines == 0 && slices.Contains(states, w.h.Listed[t.listed].State)
	}
}

// text gives what a text says.
func (w *world) text(t left) string { return w.h.Listed[t.listed].Text }

// hide takes the calls of a text out of the log.
func (w *world) hide(t left) {
	w.h.Shown = slices.Delete(w.h.Shown, t.from, t.to)
}

// end has a delivery end in another state, with all that goes with it, but for what makes it legal.
func (w *world) end(t left, state string) {
	l := &w.h.Listed[t.listed]
	l.State, l.Reason, l.Rule, l.Receipts, l.Repeat = state, "it is so", "session override", nil, false
}

// withhold has a text not be shown, as the policy denies it, at the time at which it was shown.
func (w *world) withhold(t left) {
	w.h.Listed[t.listed].Ended = w.final(t).At
	w.end(t, "withheld")
	w.hide(t)
}

// again lists a delivery once more, with another end.
func (w *world) again(t left, state string) {
	l := w.h.Listed[t.listed]
	l.ID, l.State, l.Reason, l.Receipts, l.Repeat = "d0", state, "it is so", nil, false
	w.h.Listed = append(w.h.Listed, l)
}

// unflipped reports whether the policy of a place never changed.
func (w *world) unflipped(p Place) bool {
	return !slices.ContainsFunc(w.h.Flips, func(f Flip) bool { return f.Place == p })
}

// unlist takes a delivery out of the list.
func (w *world) unlist(t left) {
	w.h.Listed = slices.Delete(w.h.Listed, t.listed, t.listed+1)
}

// final gives the call after which a text stood in its chat.
func (w *world) final(t left) Shown {
	for _, s := range slices.Backward(w.h.Shown[t.from:t.to]) {
		if s.Text == w.text(t) {
			return s
		}
	}
	panic("it was not shown")
}

// showAgain adds a call just behind those of a text: a post of what it says, changed as wished.
func (w *world) showAgain(t left, change func(s *Shown)) {
	s := w.final(t)
	s.At, s.Place, s.Verb = w.h.Shown[t.to-1].At, t.Place, Post
	change(&s)
	w.h.Shown = slices.Insert(w.h.Shown, t.to, s)
}

// append adds calls at the end of the log, but at a time before every flip.
func (w *world) append(calls ...Shown) {
	for _, s := range calls {
		s.At = w.h.Said[0].At.Add(-time.Minute)
		w.h.Shown = append(w.h.Shown, s)
	}
}

// reword changes a text in all calls that say it.
func (w *world) reword(t left, text string) {
	was := w.text(t)
	for i := t.from; i < t.to; i++ {
		if w.h.Shown[i].Text == was {
			w.h.Shown[i].Text = text
		}
	}
}

// elsewhere gives another place.
func (w *world) elsewhere(p Place) Place {
	for {
		if s := w.spots[w.IntN(len(w.spots))]; s.Place != p {
			return s.Place
		}
	}
}

// owing gives the message that a debt is owed for.
func (w *world) owing(token string) *Said {
	for i := range w.h.Said {
		for _, d := range w.h.Said[i].Owes {
			if d.Token == token {
				return &w.h.Said[i]
			}
		}
	}
	panic("nobody owes " + token)
}

// oneNotice picks a notice, on a condition.
func (w *world) oneNotice(is func(t left) bool) (left, bool) {
	return w.pick(func(t left) bool { return t.notice() && is(t) })
}

// alone reports whether no other text in a place says the same.
func (w *world) alone(t left) bool {
	return !slices.ContainsFunc(w.texts, func(o left) bool { return o.Place == t.Place && o.listed != t.listed && w.text(o) == w.text(t) })
}
