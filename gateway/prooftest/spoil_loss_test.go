package prooftest

import (
	"slices"
	"time"
)

// lossSpoilers take away what a debt was accounted for by.
var lossSpoilers = []spoiler{
	{"not shown, though listed as sent", losses, func(w *world) ([]string, bool) {
		t, ok := w.pick(w.seen)
		if ok {
			w.hide(t)
		}
		return t.tokens, ok
	}, nil},
	{"neither shown nor listed", losses, func(w *world) ([]string, bool) {
		t, ok := w.pick(w.seen)
		if ok {
			w.hide(t)
			w.unlist(t)
		}
		return t.tokens, ok
	}, nil},
	{"removed in the end", losses, func(w *world) ([]string, bool) {
		t, ok := w.pick(w.seen)
		if ok {
			w.append(Shown{Place: t.Place, ID: w.final(t).ID, Verb: Remove})
		}
		return t.tokens, ok
	}, []FaultKind{OtherWords}},
	{"written over in the end", losses, func(w *world) ([]string, bool) {
		t, ok := w.pick(w.seen)
		if ok {
			w.append(Shown{Place: t.Place, ID: w.final(t).ID, Verb: Edit, Text: "oops"})
		}
		return t.tokens, ok
	}, []FaultKind{Foreign, OtherWords}},
	{"only a longer token is shown", losses, func(w *world) ([]string, bool) {
		t, ok := w.pick(func(t left) bool { return w.seen(t) && len(t.tokens) == 1 })
		if ok {
			w.reword(t, "echo: ["+t.tokens[0]+"0] "+t.tokens[0])
		}
		return t.tokens, ok
	}, []FaultKind{Foreign, AnsweredTwice, AnnounceDoubled, ReportDoubled, WrongPlace, OutOfOrder, Unlisted}},
	{"withheld where there was never a deny", losses, func(w *world) ([]string, bool) {
		t, ok := w.pick(func(t left) bool { return w.seen(t) && w.unflipped(t.Place) })
		if ok {
			w.withhold(t)
		}
		return t.tokens, ok
	}, nil},
	{"withheld after a deny was over", losses, func(w *world) ([]string, bool) {
		t, ok := w.pick(func(t left) bool {
			s := w.spot(t.Place)
			return w.seen(t) && !s.may && !s.allowed.IsZero() && w.final(t).At.After(s.allowed.Add(slack))
		})
		if ok {
			w.withhold(t)
		}
		return t.tokens, ok
	}, nil},
	{"withheld before there was a deny", losses, func(w *world) ([]string, bool) {
		t, ok := w.pick(func(t left) bool { return w.seen(t) && w.unflipped(t.Place) })
		if ok {
			w.withhold(t)
			w.tick()
			w.h.Flips = append(w.h.Flips, Flip{Place: t.Place, Deny: true, Asked: w.now.Add(2 * slack), Acked: w.now.Add(3 * slack)})
		}
		return t.tokens, ok
	}, nil},
	{"withheld by no rule", losses, func(w *world) ([]string, bool) {
		t, ok := w.pick(w.ended("withheld"))
		if ok {
			w.h.Listed[t.listed].Rule = ""
		}
		return t.tokens, ok
	}, nil},
	{"ended without a reason", losses, func(w *world) ([]string, bool) {
		t, ok := w.pick(func(t left) bool { return len(t.tokens) > 0 && t.lines == 0 })
		if ok {
			w.h.Listed[t.listed].Reason = ""
		}
		return t.tokens, ok
	}, nil},
	{"failed where nothing was refused", losses, func(w *world) ([]string, bool) {
		t, ok := w.pick(w.ended("failed", "dropped"))
		if ok {
			w.h.Refused = slices.DeleteFunc(w.h.Refused, func(r Refusal) bool { return r.Place == t.Place })
		}
		return t.tokens, ok
	}, losses},
	{"failed before anything was refused", losses, func(w *world) ([]string, bool) {
		t, ok := w.pick(w.ended("failed", "dropped"))
		if ok {
			i := slices.IndexFunc(w.h.Refused, func(r Refusal) bool { return r.Place == t.Place })
			w.h.Refused[i].Since = w.h.Listed[t.listed].Ended.Add(2 * slack)
		}
		return t.tokens, ok
	}, losses},
	{"expired before its time", losses, func(w *world) ([]string, bool) {
		t, ok := w.pick(w.ended("expired"))
		if ok {
			w.h.Listed[t.listed].Ended = w.owing(t.tokens[0]).At
		}
		return t.tokens, ok
	}, nil},
	{"given up before it was tried so often", losses[:1], func(w *world) ([]string, bool) {
		t, ok := w.oneNotice(func(t left) bool { return w.text(t) == givenUp })
		if ok {
			w.h.Listed[t.listed].Broken = w.IntN(tries)
		}
		return t.about, ok
	}, losses},
	{"withheld, and not listed", losses, func(w *world) ([]string, bool) {
		t, ok := w.pick(w.ended("withheld"))
		if ok {
			w.unlist(t)
		}
		return t.tokens, ok
	}, nil},
	{"ended otherwise, and not listed", losses, func(w *world) ([]string, bool) {
		t, ok := w.pick(w.ended("failed", "expired", "held", "dropped"))
		if ok {
			w.unlist(t)
		}
		return t.tokens, ok
	}, nil},
	{"a notice is not shown", losses[:1], func(w *world) ([]string, bool) {
		t, ok := w.oneNotice(func(t left) bool { return w.said(t) && !isReport(t) })
		if ok {
			w.hide(t)
		}
		return t.about, ok
	}, losses},
	{"a report's notice is not shown", losses[2:], func(w *world) ([]string, bool) {
		t, ok := w.oneNotice(func(t left) bool { return w.said(t) && isReport(t) })
		if ok {
			w.hide(t)
		}
		return t.about, ok
	}, nil},
	{"a report's notice is from before its message", losses[2:], func(w *world) ([]string, bool) {
		t, ok := w.oneNotice(func(t left) bool { return w.said(t) && isReport(t) })
		for i := t.from; i < t.to; i++ {
			w.h.Shown[i].At = w.h.Said[0].At.Add(-time.Minute)
		}
		return t.about, ok
	}, nil},
	{"a loss beside a notice too many", losses, func(w *world) ([]string, bool) {
		t, ok := w.pick(func(t left) bool { return w.seen(t) && w.said(t) })
		n, has := w.pick(func(n left) bool { return n.notice() && n.Place == t.Place && w.said(n) && n.lines == 1 })
		if !ok || !has {
			return nil, false
		}
		l := w.h.Listed[n.listed]
		l.ID, l.Receipts, l.Repeat = "d0", []string{"x0"}, false
		w.h.Listed = append(w.h.Listed, l)
		w.hide(t)
		s := w.h.Shown[0]
		s.Place, s.ID, s.Verb, s.Text, s.Key, s.At = t.Place, "x0", Post, w.text(n), "", w.now
		w.h.Shown = append(w.h.Shown, s)
		return t.tokens, true
	}, append([]FaultKind{AnsweredTwice, ReportDoubled, OutOfOrder, PastDeny}, losses...)},
	{"a notice from before its message", losses[:1], func(w *world) ([]string, bool) {
		t, ok := w.oneNotice(func(t left) bool { return w.said(t) && !isReport(t) })
		for i := t.from; i < t.to; i++ {
			w.h.Shown[i].At = w.h.Said[0].At.Add(-time.Minute)
		}
		return t.about, ok
	}, losses},
	{"a notice below the answer to a later message", []FaultKind{OutOfOrder}, func(w *world) ([]string, bool) {
		t, ok := w.oneNotice(func(t left) bool {
			return w.said(t) && !isReport(t) && slices.ContainsFunc(w.texts, func(o left) bool { return w.answers(o, t.Place) && o.from >= t.to })
		})
		if ok {
			calls := slices.Clone(w.h.Shown[t.from:t.to])
			w.hide(t)
			w.h.Shown = append(w.h.Shown, calls...)
		}
		return t.about, ok
	}, append([]FaultKind{Foreign}, losses...)},
	{"a notice above the answer to an earlier message", []FaultKind{OutOfOrder}, func(w *world) ([]string, bool) {
		t, ok := w.oneNotice(func(t left) bool {
			return w.said(t) && !isReport(t) && slices.ContainsFunc(w.texts, func(o left) bool { return w.answers(o, t.Place) && o.to <= t.from })
		})
		if ok {
			calls := slices.Clone(w.h.Shown[t.from:t.to])
			w.hide(t)
			w.h.Shown = append(calls, w.h.Shown...)
		}
		var below []string
		for _, o := range w.texts {
			if w.answers(o, t.Place) && o.to <= t.from {
				below = append(below, o.tokens...)
			}
		}
		return below, ok
	}, append([]FaultKind{Foreign}, losses...)},
	{"a notice that was not sent is not listed", answerOrReport, func(w *world) ([]string, bool) {
		t, ok := w.oneNotice(func(t left) bool { return t.lines == 0 })
		if ok {
			w.unlist(t)
		}
		return t.about, ok
	}, losses},
	{"a notice that is listed as sent is not shown", answerOrReport, func(w *world) ([]string, bool) {
		t, ok := w.oneNotice(func(t left) bool { return t.lines == 0 })
		if ok {
			w.h.Listed[t.listed].State = "sent"
		}
		return t.about, ok
	}, losses},
	{"a notice is withheld where there was never a deny", answerOrReport, func(w *world) ([]string, bool) {
		t, ok := w.oneNotice(func(t left) bool { return w.said(t) && w.unflipped(t.Place) })
		if ok {
			w.withhold(t)
		}
		return t.about, ok
	}, losses},
	{"one notice that was not sent for two turns", losses[:1], func(w *world) ([]string, bool) {
		t, ok := w.oneNotice(func(t left) bool { return t.lines == 0 && !isReport(t) })
		if !ok {
			return nil, false
		}
		first := func(t left) int {
			return slices.IndexFunc(w.h.Said, func(s Said) bool { return s.Token == t.about[0] })
		}
		between := func(a, b left) bool { // an answer that is shown lies between them
			from, to := min(first(a), first(b)), max(first(a), first(b))
			return slices.ContainsFunc(w.texts, func(o left) bool { return w.answers(o, t.Place) && from < first(o) && first(o) < to })
		}
		o, ok := w.pick(func(o left) bool { return w.answers(o, t.Place) && between(o, t) })
		if ok {
			w.hide(o)
			w.unlist(o)
		}
		return slices.Concat(t.about, o.about), ok
	}, losses},
	{"skipped without a reason", losses[:1], func(w *world) ([]string, bool) {
		return w.skip(func(s *Skipped) bool { s.Reason = ""; return true })
	}, losses},
	{"skipped in another place", losses[:1], func(w *world) ([]string, bool) {
		return w.skip(func(s *Skipped) bool { s.Place = w.elsewhere(s.Place); return true })
	}, losses},
	{"skipped, and not listed", losses[:1], func(w *world) ([]string, bool) {
		return w.skip(func(s *Skipped) bool { s.Text = ""; return true })
	}, losses},
	{"skipped, but its sub-agent or its exchange was begun", losses[1:], func(w *world) ([]string, bool) {
		for _, i := range w.Perm(len(w.h.Said)) {
			if s := w.h.Said[i]; w.ends[s.Token] == skipped && len(s.Owes) > 1 {
				token := s.Owes[1+w.IntN(len(s.Owes)-1)].Token
				w.h.Asked = append(w.h.Asked, Asked{Step: "child", Token: token, Life: w.life})
				return []string{token}, true
			}
		}
		return nil, false
	}, nil},
	{"noticed, but the model was shown what came of its calls", losses[1:], func(w *world) ([]string, bool) {
		for _, i := range w.Perm(len(w.h.Said)) {
			s := w.h.Said[i]
			for _, d := range s.Owes {
				if w.ends[s.Token] == noticed && w.ends[d.Token] == unbegun {
					w.h.Asked = append(w.h.Asked, Asked{Step: "turn", Token: s.Token, Call: 1 + w.IntN(2), Life: w.life})
					return []string{d.Token}, true
				}
			}
		}
		return nil, false
	}, nil},
	{"noticed, but its exchange or sub-agent was begun", losses[1:], func(w *world) ([]string, bool) {
		for _, i := range w.Perm(len(w.h.Said)) {
			s := w.h.Said[i]
			for _, d := range s.Owes {
				if w.ends[s.Token] == noticed && w.ends[d.Token] == unbegun {
					w.h.Asked = append(w.h.Asked, Asked{Step: "ask", Token: d.Token, Life: w.life})
					return []string{d.Token}, true
				}
			}
		}
		return nil, false
	}, nil},
}

// answerOrReport are the losses that a notice can prevent here.
var answerOrReport = []FaultKind{Lost, ReportLost}

// said reports whether a notice stands in its chat because its delivery was sent.
func (w *world) said(t left) bool { return t.lines > 0 && w.h.Listed[t.listed].State == "sent" }

// isReport reports whether a text is a report, or the notice in the stead of one.
func isReport(t left) bool { return len(t.about) == 1 && slices.Contains([]byte(t.about[0]), 'r') }

// answers reports whether a text answers messages, in a place, and is seen.
func (w *world) answers(t left, p Place) bool {
	return t.Place == p && w.seen(t) && w.owing(t.tokens[0]).Token == t.tokens[0]
}

// skip changes the entry of a message that was skipped.
func (w *world) skip(change func(s *Skipped) bool) ([]string, bool) {
	for _, i := range w.Perm(len(w.h.Skipped)) {
		named := tokens(w.h.Skipped[i].Text)
		if change(&w.h.Skipped[i]) {
			return named, true
		}
	}
	return nil, false
}
