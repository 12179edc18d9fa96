package prooftest

import (
	"slices"
	"strings"
	"time"
)

// repeated reports whether a text stands in its chat more than once, from a marked delivery.
func (w *world) repeated(t left) bool { return len(t.tokens) > 0 && t.lines > 1 }

// doubleSpoilers show something once more than they should.
var doubleSpoilers = []spoiler{
	{"again, with another key and id", doubles, func(w *world) ([]string, bool) {
		t, ok := w.pick(func(t left) bool { return w.seen(t) && t.Platform != "telegram" })
		if ok {
			w.showAgain(t, func(s *Shown) { s.ID, s.Key = "x0", "k0" })
		}
		return t.tokens, ok
	}, nil},
	{"again, with the same key and another id", doubles, func(w *world) ([]string, bool) {
		t, ok := w.pick(func(t left) bool { return w.seen(t) && w.final(t).Key != "" })
		if ok {
			w.showAgain(t, func(s *Shown) { s.ID = "x0" })
		}
		return t.tokens, ok
	}, nil},
	{"again, with the same id and no key", doubles, func(w *world) ([]string, bool) {
		t, ok := w.pick(func(t left) bool { return w.seen(t) && w.final(t).Key != "" })
		if ok {
			w.showAgain(t, func(s *Shown) { s.Key = "" })
		}
		return t.tokens, ok
	}, nil},
	{"an edit of a message that was not posted", doubles, func(w *world) ([]string, bool) {
		t, ok := w.pick(func(t left) bool { return w.seen(t) && t.Platform != "telegram" })
		if ok {
			w.showAgain(t, func(s *Shown) { s.ID, s.Key, s.Verb = "x0", "", Edit })
		}
		return t.tokens, ok
	}, nil},
	{"twice in one text", doubles, func(w *world) ([]string, bool) {
		t, ok := w.pick(func(t left) bool { return len(t.tokens) == 1 && t.lines > 0 })
		if ok {
			w.h.Listed[t.listed].Repeat = true
			w.h.Cut[t.Platform] += 9
			w.reword(t, w.text(t)+" ["+t.tokens[0]+"]")
		}
		return t.tokens, ok
	}, []FaultKind{OtherWords}},
	{"again, by a second delivery", doubles, func(w *world) ([]string, bool) {
		t, ok := w.pick(func(t left) bool { return w.repeated(t) && len(t.tokens) == 1 })
		if ok {
			l := w.h.Listed[t.listed]
			l.ID, l.Repeat = "d0", false
			w.h.Listed = append(w.h.Listed, l)
		}
		return t.tokens, ok
	}, nil},
	{"a second delivery that is not shown", doubles, func(w *world) ([]string, bool) {
		t, ok := w.pick(w.seen)
		if ok {
			w.again(t, []string{"withheld", "failed", "expired", "held", "dropped"}[w.IntN(5)])
		}
		return t.tokens, ok
	}, []FaultKind{Unlisted}},
	{"two deliveries that are withheld", doubles, func(w *world) ([]string, bool) {
		t, ok := w.pick(w.ended("withheld"))
		if ok {
			w.again(t, "withheld")
		}
		return t.tokens, ok
	}, nil},
	{"four times", doubles, func(w *world) ([]string, bool) {
		t, ok := w.pick(func(t left) bool { return len(t.tokens) == 1 && t.lines > 0 && t.Platform == "telegram" })
		if ok {
			w.h.Listed[t.listed].Repeat = true
			w.h.Cut["telegram"] += 9
			for _, id := range []string{"x01", "x02", "x03"} {
				w.showAgain(t, func(s *Shown) { s.ID = id })
			}
		}
		return t.tokens, ok
	}, nil},
	{"again, without a mark", []FaultKind{Unlisted}, func(w *world) ([]string, bool) {
		t, ok := w.pick(func(t left) bool { return w.seen(t) && t.Platform == "telegram" && !w.h.Listed[t.listed].Repeat })
		if ok {
			w.showAgain(t, func(s *Shown) { s.ID = "x0" })
		}
		return t.tokens, ok
	}, nil},
	{"again, and the mark is gone", []FaultKind{Unlisted}, func(w *world) ([]string, bool) {
		t, ok := w.pick(w.repeated)
		if ok {
			w.h.Listed[t.listed].Repeat = false
		}
		return t.tokens, ok
	}, nil},
	{"again, and its delivery is not listed", []FaultKind{Unlisted}, func(w *world) ([]string, bool) {
		t, ok := w.pick(w.repeated)
		if ok {
			w.unlist(t)
		}
		return t.tokens, ok
	}, nil},
	{"shown, and its delivery is not listed", []FaultKind{Unlisted}, func(w *world) ([]string, bool) {
		t, ok := w.pick(func(t left) bool { return w.seen(t) && len(t.tokens) > 0 && t.lines == 1 })
		if ok {
			w.unlist(t)
		}
		return t.tokens, ok
	}, nil},
	{"again, and what is listed was withheld without a mark", []FaultKind{Unlisted}, func(w *world) ([]string, bool) {
		t, ok := w.pick(w.repeated)
		if ok {
			w.h.Listed[t.listed].State, w.h.Listed[t.listed].Repeat = "withheld", false
		}
		return t.tokens, ok
	}, nil},
	{"it is listed as withheld, and not as one that may have arrived", []FaultKind{Unlisted}, func(w *world) ([]string, bool) {
		t, ok := w.pick(func(t left) bool {
			return w.seen(t) && t.lines == 1 && len(t.tokens) == 1 && w.text(t) != "" && !t.notice()
		})
		if ok {
			l := &w.h.Listed[t.listed]
			l.State, l.Repeat, l.Receipts = "withheld", false, nil
		}
		return t.tokens, ok
	}, nil},
	{"a command's answer again, without a mark", []FaultKind{Foreign}, func(w *world) ([]string, bool) {
		t, ok := w.pick(func(t left) bool { return w.onlyCommands(t) && t.lines > 1 })
		if ok {
			w.h.Listed[t.listed].Repeat = false
		}
		return []string{""}, ok
	}, nil},
	{"a command's answer is shown, and listed as not sent", []FaultKind{Unlisted}, func(w *world) ([]string, bool) {
		t, ok := w.pick(func(t left) bool { return t.command() && w.said(t) && t.lines == 1 && w.alone(t) })
		if ok {
			w.end(t, []string{"withheld", "failed", "expired", "dropped"}[w.IntN(4)])
		}
		return t.about, ok
	}, nil},
	{"a repeat where no kill was inside a send", []FaultKind{Unlisted}, func(w *world) ([]string, bool) {
		for i := range w.h.Kills {
			w.h.Kills[i].InSend, w.h.Kills[i].Sends = false, nil
		}
		w.h.Cut = nil
		t, ok := w.pick(func(t left) bool { return w.h.Listed[t.listed].Repeat && len(t.tokens) > 0 })
		return t.tokens, ok
	}, nil},
	{"a held send where no kill was inside a send", []FaultKind{Unlisted}, func(w *world) ([]string, bool) {
		for i := range w.h.Kills {
			w.h.Kills[i].InSend, w.h.Kills[i].Sends = false, nil
		}
		w.h.Cut = nil
		t, ok := w.pick(func(t left) bool { return w.h.Listed[t.listed].State == "held" && len(t.tokens) > 0 })
		return t.tokens, ok
	}, nil},
	{"one cut less than repeats", []FaultKind{Unlisted}, func(w *world) ([]string, bool) {
		n, named, ok := w.unsure("telegram")
		w.h.Kills, w.h.Cut = nil, map[string]int{"telegram": n - 1, "discord": 99, "whatsapp": 99}
		return named, ok
	}, nil},
	{"one kill less than repeats", []FaultKind{Unlisted}, func(w *world) ([]string, bool) {
		n, named, ok := w.unsure("telegram")
		w.h.Kills, w.h.Cut = nil, map[string]int{"discord": 99, "whatsapp": 99}
		for range n - 1 {
			w.h.Kills = append(w.h.Kills, Kill{At: w.now, InSend: true})
		}
		return named, ok
	}, nil},
	{"one call under way less than repeats", []FaultKind{Unlisted}, func(w *world) ([]string, bool) {
		n, named, ok := w.unsure("telegram")
		w.h.Kills, w.h.Cut = []Kill{{At: w.now, InSend: true, Sends: map[string]int{"telegram": n - 1, "discord": 99, "whatsapp": 99}}}, nil
		return named, ok
	}, nil},
}

// unsure counts the sends of a platform that may have been repeated, and names the text of the last of them.
func (w *world) unsure(platform string) (n int, last []string, ok bool) {
	for _, t := range w.texts {
		if l := w.h.Listed[t.listed]; t.Platform == platform && (l.Repeat || l.State == "held") {
			last = t.tokens
			if n++; len(t.tokens) > 0 {
				n += max(0, t.lines-2)
			}
		}
	}
	return n, last, len(last) > 0
}

// onlyCommands reports whether a text answers a command, in a place where each command is answered.
func (w *world) onlyCommands(t left) bool {
	is := left.command
	return is(t) && !slices.ContainsFunc(w.texts, func(o left) bool { return is(o) && o.Place == t.Place && o.lines == 0 })
}

// ruleSpoilers break the other rules about what chats show.
var ruleSpoilers = []spoiler{
	{"in another place", misplace, func(w *world) ([]string, bool) {
		t, ok := w.pick(w.seen)
		if ok {
			p := w.elsewhere(t.Place)
			for i := t.from; i < t.to; i++ {
				w.h.Shown[i].Place = p
			}
		}
		return t.tokens, ok
	}, append([]FaultKind{PastDeny}, losses...)},
	{"the thread is lost", misplace, func(w *world) ([]string, bool) {
		t, ok := w.pick(func(t left) bool { return w.seen(t) && t.Thread != "" })
		for i := t.from; i < t.to; i++ {
			w.h.Shown[i].Place.Thread = ""
		}
		return t.tokens, ok
	}, append([]FaultKind{PastDeny}, losses...)},
	{"in another place too", misplace, func(w *world) ([]string, bool) {
		t, ok := w.pick(w.seen)
		if ok {
			w.append(Shown{Place: w.elsewhere(t.Place), ID: "x0", Verb: Post, Text: "by the way: [" + t.tokens[0] + "]"})
		}
		return t.tokens, ok
	}, nil},
	{"for a moment in another place", misplace, func(w *world) ([]string, bool) {
		t, ok := w.pick(w.seen)
		if ok {
			p := w.elsewhere(t.Place)
			w.append(Shown{Place: p, ID: "x0", Verb: Post, Text: w.text(t)}, Shown{Place: p, ID: "x0", Verb: Remove})
		}
		return t.tokens, ok
	}, nil},
	{"in another place, then written over", misplace, func(w *world) ([]string, bool) {
		t, ok := w.pick(w.seen)
		if ok {
			p := w.elsewhere(t.Place)
			w.append(Shown{Place: p, ID: "x0", Verb: Post, Text: w.text(t)}, Shown{Place: p, ID: "x0", Verb: Edit, Text: "oops"})
		}
		return t.tokens, ok
	}, []FaultKind{Foreign}},
	{"listed for another place", misplace, func(w *world) ([]string, bool) {
		t, ok := w.pick(func(t left) bool { return len(t.tokens) > 0 })
		if ok {
			w.h.Listed[t.listed].Place = w.elsewhere(t.Place)
		}
		return t.tokens, ok
	}, append([]FaultKind{Unlisted}, losses...)},
	{"a post after a deny", []FaultKind{PastDeny}, func(w *world) ([]string, bool) {
		return w.pass(func(p Place) (Shown, bool) { return Shown{Place: p, ID: "x0", Verb: Post, Text: "hello"}, true })
	}, []FaultKind{Foreign}},
	{"a repeated post after a deny", []FaultKind{PastDeny}, func(w *world) ([]string, bool) {
		return w.pass(func(p Place) (Shown, bool) {
			t, ok := w.pick(func(t left) bool { return t.Place == p && w.seen(t) && w.final(t).Key != "" })
			if !ok {
				return Shown{}, false
			}
			return w.final(t), true
		})
	}, nil},
	{"an edit after a deny", []FaultKind{PastDeny}, func(w *world) ([]string, bool) {
		return w.pass(func(p Place) (Shown, bool) {
			t, ok := w.pick(func(t left) bool { return t.Place == p && w.seen(t) })
			if !ok {
				return Shown{}, false
			}
			p.Thread = "" // it does not name it
			return Shown{Place: p, ID: w.final(t).ID, Verb: Edit, Text: w.text(t)}, true
		})
	}, nil},
	{"typing after a deny", []FaultKind{PastDeny}, func(w *world) ([]string, bool) {
		return w.pass(func(p Place) (Shown, bool) { return Shown{Place: p, Verb: Typing}, true })
	}, nil},
	{"a reaction after a deny", []FaultKind{PastDeny}, func(w *world) ([]string, bool) {
		return w.pass(func(p Place) (Shown, bool) { return Shown{Place: p, ID: "x", Verb: React, Text: "👍"}, true })
	}, nil},
	{"a preview that is removed after a deny", []FaultKind{PastDeny}, func(w *world) ([]string, bool) {
		return w.pass(func(p Place) (Shown, bool) { return Shown{Place: p, ID: "no such message", Verb: Remove}, true })
	}, nil},
	{"two answers change places", []FaultKind{OutOfOrder}, func(w *world) ([]string, bool) {
		a, ok := w.pick(func(t left) bool { return w.answers(t, t.Place) })
		i := slices.IndexFunc(w.texts, func(o left) bool { return w.answers(o, a.Place) && o.from >= a.to })
		if !ok || i < 0 {
			return nil, false
		}
		x, y := w.text(a), w.text(w.texts[i])
		w.reword(a, y)
		w.reword(w.texts[i], x)
		return a.tokens, true
	}, losses},
	{"two answers in one text change places", []FaultKind{OutOfOrder}, func(w *world) ([]string, bool) {
		t, ok := w.pick(func(t left) bool { return len(t.tokens) > 1 && t.lines > 0 })
		if ok {
			words := strings.Split(w.text(t), "\n")
			slices.Reverse(words)
			w.reword(t, strings.Join(words, "\n"))
			return t.tokens[:1], true
		}
		return nil, false
	}, []FaultKind{OtherWords}},
	{"a repeat below the answer to a later message", []FaultKind{OutOfOrder}, func(w *world) ([]string, bool) {
		a, ok := w.pick(func(t left) bool { return t.Platform == "telegram" && w.answers(t, t.Place) })
		i := slices.IndexFunc(w.texts, func(o left) bool { return w.answers(o, a.Place) && o.from >= a.to })
		if !ok || i < 0 {
			return nil, false
		}
		s, b := w.final(a), w.texts[i]
		s.At, s.ID, s.Verb, s.Place = w.h.Shown[b.to-1].At, "x0", Post, a.Place
		w.h.Shown = slices.Insert(w.h.Shown, b.to, s)
		w.h.Listed[a.listed].Repeat = true
		w.h.Cut["telegram"] += 9
		return a.tokens, true
	}, nil},
	{"a text with a token that nobody has", []FaultKind{Foreign}, func(w *world) ([]string, bool) {
		w.append(Shown{Place: w.spots[0].Place, ID: "x0", Verb: Post, Text: "hello [m1x]"})
		return []string{"m1x"}, true
	}, nil},
	{"a foreign text that is written over", []FaultKind{Foreign}, func(w *world) ([]string, bool) {
		p := w.spots[0].Place
		w.append(Shown{Place: p, ID: "x0", Verb: Post, Text: "hello [zz]"}, Shown{Place: p, ID: "x0", Verb: Edit, Text: "oops"})
		return []string{"zz"}, true
	}, []FaultKind{Foreign}},
	{"a text that an edit took the token from", []FaultKind{Foreign}, func(w *world) ([]string, bool) {
		t, ok := w.pick(w.seen)
		if ok {
			w.append(Shown{Place: t.Place, ID: "x0", Verb: Post, Text: w.text(t)}, Shown{Place: t.Place, ID: "x0", Verb: Edit, Text: "oops"})
		}
		return []string{""}, ok
	}, nil},
	{"a foreign text beside a token", []FaultKind{Foreign}, func(w *world) ([]string, bool) {
		t, ok := w.pick(w.seen)
		if ok {
			w.reword(t, w.text(t)+" [zz]")
		}
		return []string{"zz"}, ok
	}, nil},
	{"the model answers a command", []FaultKind{Foreign}, func(w *world) ([]string, bool) {
		i := slices.IndexFunc(w.h.Said, func(s Said) bool { return len(s.Owes) == 0 })
		if i < 0 {
			return nil, false
		}
		s := w.h.Said[i]
		w.append(Shown{Place: s.Place, ID: "x0", Verb: Post, Text: "echo: [" + s.Token + "]"})
		return []string{s.Token}, true
	}, nil},
	{"a text without a token", []FaultKind{Foreign}, func(w *world) ([]string, bool) {
		w.append(Shown{Place: w.spots[w.IntN(len(w.spots))].Place, ID: "x0", Verb: Post, Text: "hello"})
		return []string{""}, true
	}, nil},
	{"more answers than commands", []FaultKind{Foreign}, func(w *world) ([]string, bool) {
		t, ok := w.pick(func(t left) bool {
			return w.onlyCommands(t) && t.lines == 1 && !w.h.Listed[t.listed].Repeat && w.alone(t)
		})
		if ok {
			w.showAgain(t, func(s *Shown) { s.ID, s.Key = "x0", "" })
		}
		return []string{""}, ok
	}, nil},
}

// pass lets a call reach a place just after a deny was acknowledged, just before the next allow was asked for, or between.
func (w *world) pass(call func(p Place) (Shown, bool)) ([]string, bool) {
	if len(w.closed) == 0 {
		return nil, false
	}
	c := w.closed[w.IntN(len(w.closed))]
	s, ok := call(c.Place)
	if !ok {
		return nil, false
	}
	s.At = []time.Time{c.from.Add(1), c.to.Add(-1), c.from.Add(c.to.Sub(c.from) / 2)}[w.IntN(3)]
	w.h.Shown = append(w.h.Shown, s)
	if t := tokens(s.Text); len(t) > 0 {
		return t[:1], true
	}
	return []string{""}, true
}
