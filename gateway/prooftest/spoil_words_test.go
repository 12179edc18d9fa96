package prooftest

import "slices"

// wordSpoilers break the rules about what the host says in its own words: answers to commands, and notices.
var wordSpoilers = []spoiler{
	{"a notice names another message", answerOrReport, func(w *world) ([]string, bool) {
		t, ok := w.oneNotice(func(t left) bool { return len(t.about) == 1 })
		o, has := w.pick(func(o left) bool { return w.answers(o, t.Place) })
		if !ok || !has {
			return nil, false
		}
		w.h.Listed[t.listed].For = o.tokens
		return t.about, true
	}, append([]FaultKind{AnsweredTwice, OutOfOrder}, losses...)},
	{"a notice names nobody", answerOrReport, func(w *world) ([]string, bool) {
		t, ok := w.oneNotice(func(left) bool { return true })
		if ok {
			w.h.Listed[t.listed].For = nil
		}
		return t.about, ok
	}, append([]FaultKind{Foreign}, losses...)},
	{"a text of the host's that is no notice", losses[:1], func(w *world) ([]string, bool) {
		t, ok := w.oneNotice(func(t left) bool { return w.said(t) && !isReport(t) })
		if ok {
			w.reword(t, "No.")
			w.h.Listed[t.listed].Text = "No."
		}
		return t.about, ok
	}, append([]FaultKind{Foreign, OtherWords}, losses...)},
	{"a command's answer is listed as sent and not shown", losses[:1], func(w *world) ([]string, bool) {
		t, ok := w.pick(func(t left) bool { return t.command() && w.said(t) })
		if ok {
			w.hide(t)
		}
		return t.about, ok
	}, nil},
	{"a command's answer stands there by another id", losses[:1], func(w *world) ([]string, bool) {
		t, ok := w.pick(func(t left) bool { return t.command() && w.said(t) && t.lines == 1 && w.alone(t) })
		for i := t.from; i < t.to; i++ {
			w.h.Shown[i].ID += "0"
		}
		return t.about, ok
	}, []FaultKind{Foreign}},
	{"a command's answer is neither shown nor listed", losses[:1], func(w *world) ([]string, bool) {
		t, ok := w.pick(left.command)
		if ok {
			w.hide(t)
			w.unlist(t)
		}
		return t.about, ok
	}, nil},
	{"a command's answer is withheld where there was never a deny", losses[:1], func(w *world) ([]string, bool) {
		t, ok := w.pick(func(t left) bool { return t.command() && w.said(t) && w.unflipped(t.Place) })
		if ok {
			w.withhold(t)
		}
		return t.about, ok
	}, nil},
	{"two answers for one command, none for another", losses[:1], func(w *world) ([]string, bool) {
		t, ok := w.pick(left.command)
		o, has := w.pick(func(o left) bool { return o.command() && o.Place == t.Place && o.listed != t.listed })
		if !ok || !has {
			return nil, false
		}
		w.h.Listed[t.listed].For = o.about
		return t.about, true
	}, []FaultKind{AnsweredTwice}},
	{"a second delivery answers a command", doubles[:1], func(w *world) ([]string, bool) {
		t, ok := w.pick(left.command)
		if ok {
			l := w.h.Listed[t.listed]
			l.ID, l.State, l.Receipts, l.Repeat = "d0", []string{"sent", "withheld", "failed"}[w.IntN(3)], []string{"x0"}, false
			w.h.Listed = append(w.h.Listed, l)
		}
		return t.about, ok
	}, nil},
	{"a command's answer again, with the same id", doubles[:1], func(w *world) ([]string, bool) {
		t, ok := w.pick(func(t left) bool { return t.command() && w.said(t) && t.lines == 1 && t.Platform != "telegram" })
		if ok {
			w.showAgain(t, func(s *Shown) { s.Key, s.ID = "", w.h.Listed[t.listed].Receipts[0] })
		}
		return t.about, ok
	}, nil},
	{"a command's answer four times", []FaultKind{Foreign}, func(w *world) ([]string, bool) {
		t, ok := w.pick(func(t left) bool { return t.command() && w.said(t) && t.Platform == "telegram" && w.alone(t) })
		if ok {
			w.h.Listed[t.listed].Repeat = true
			w.h.Cut["telegram"] += 9
			s := w.final(t)
			s.Verb, s.Place = Post, t.Place
			for _, id := range []string{"x01", "x02", "x03"} {
				s.ID = id
				w.h.Shown = slices.Insert(w.h.Shown, t.from, s)
			}
		}
		return []string{""}, ok
	}, nil},
	{"a notice again, with the same id", []FaultKind{AnsweredTwice, ReportDoubled}, func(w *world) ([]string, bool) {
		t, ok := w.oneNotice(func(t left) bool { return w.said(t) && t.lines == 1 && t.Platform != "telegram" })
		if ok {
			w.showAgain(t, func(s *Shown) { s.Key, s.ID = "", w.h.Listed[t.listed].Receipts[0] })
		}
		return t.about, ok
	}, nil},
	{"a notice again, without a mark", []FaultKind{Foreign}, func(w *world) ([]string, bool) {
		t, ok := w.oneNotice(func(t left) bool { return w.said(t) && w.alone(t) && !w.h.Listed[t.listed].Repeat })
		if ok {
			w.showAgain(t, func(s *Shown) { s.ID, s.Key = "x0", "" })
		}
		return []string{""}, ok
	}, nil},
	{"a notice again, and the mark is gone", []FaultKind{Foreign}, func(w *world) ([]string, bool) {
		t, ok := w.oneNotice(func(t left) bool { return t.lines > 1 && w.alone(t) })
		if ok {
			w.h.Listed[t.listed].Repeat = false
		}
		return []string{""}, ok
	}, nil},
	{"a notice again, below what has the receipt", []FaultKind{Foreign}, func(w *world) ([]string, bool) {
		t, ok := w.oneNotice(func(t left) bool { return w.said(t) && w.alone(t) && t.Platform == "telegram" })
		if ok {
			w.h.Listed[t.listed].Repeat = true
			w.h.Cut["telegram"] += 9
			w.showAgain(t, func(s *Shown) { s.ID, s.Key = "x0", "" })
		}
		return []string{""}, ok
	}, nil},
	{"a notice again, marked, on a platform with keys", []FaultKind{Foreign}, func(w *world) ([]string, bool) {
		t, ok := w.oneNotice(func(t left) bool { return w.said(t) && w.alone(t) && t.Platform != "telegram" })
		if ok {
			w.h.Listed[t.listed].Repeat = true
			w.h.Cut[t.Platform] += 9
			s := w.final(t)
			s.Verb, s.Place, s.ID, s.Key = Post, t.Place, "x0", ""
			w.h.Shown = slices.Insert(w.h.Shown, t.from, s)
		}
		return []string{""}, ok
	}, nil},
	{"a second notice for the same message", []FaultKind{AnsweredTwice, ReportDoubled}, func(w *world) ([]string, bool) {
		t, ok := w.oneNotice(func(left) bool { return true })
		if ok {
			l := w.h.Listed[t.listed]
			l.ID, l.Receipts, l.State = "d0", nil, "failed"
			w.h.Listed = append(w.h.Listed, l)
		}
		return t.about, ok
	}, []FaultKind{Unlisted}},
	{"a notice beside the answer", doubles[:1], func(w *world) ([]string, bool) {
		t, ok := w.pick(func(t left) bool { return w.answers(t, t.Place) })
		if ok {
			w.h.Listed = append(w.h.Listed, Listed{ID: "d0", Place: t.Place, State: "failed", Text: failedWord, For: t.tokens[:1]})
		}
		return t.tokens, ok
	}, nil},
	{"a command's answer listed for another place", misplace, func(w *world) ([]string, bool) {
		t, ok := w.pick(left.command)
		if ok {
			w.h.Listed[t.listed].Place = w.elsewhere(t.Place)
		}
		return t.about, ok
	}, []FaultKind{Lost, Foreign, Unlisted}},
	{"a command without a token of its own", []FaultKind{BadLog}, func(w *world) ([]string, bool) {
		i := slices.IndexFunc(w.h.Said, func(s Said) bool { return s.Command })
		if i < 0 {
			return nil, false
		}
		s := w.h.Said[i]
		if w.chance(30) {
			s.Token = ""
		} else if w.chance(50) {
			s.Token, s.Owes = "zz", []Debt{{Token: "zy", Kind: Report, Place: s.Place}}
		}
		w.h.Said = append(w.h.Said, s)
		return []string{s.Token}, true
	}, losses},
}
