package simtest

import (
	"slices"
	"strings"

	"parley/channels"
	"parley/sessions"
)

// lines are what agents are told with a turn of theirs, by the messages that bring it along, and what waits to be told.
func (r *rest) lines() (out []sessions.ContextLine) {
	for _, run := range r.runs {
		ahead, _ := r.w.plan.brought(run.Input)
		for _, l := range ahead {
			r.w.tally("talk that a message brings along")
			out = append(out, sessions.ContextLine{Key: run.Key, Message: l.id, Text: l.text})
		}
		for _, b := range run.Input.Content {
			for _, l := range b.ContextLines() {
				l.Key = run.Key
				out = append(out, l)
			}
		}
	}
	for _, key := range r.w.homes() {
		out = append(out, r.heard[key]...)
	}
	return out
}

// hasWord reports whether a text has a word.
func hasWord(text, word string) bool { return slices.Contains(wordsIn(text), word) }

// judgeDeeds: what people do besides writing is lost as little as what they write, and counts once. A changed message is answered as it is then,
// or the change is told with a later turn, never both; what is written by hand, and talk that no turn answers, is told once; nothing of it is
// told in another session.
func (r *rest) judgeDeeds() {
	lines := r.lines()
	count := func(of letter, word string, is func(l sessions.ContextLine) bool) (n int) {
		for _, l := range lines {
			if !hasWord(l.Text, word) || !is(l) {
				continue
			}
			if n++; l.Key != r.w.keys[of.to] {
				r.wrong("deed", "%s %q is told in %s", of.id, of.text, l.Key)
			}
		}
		return n
	}
	for _, d := range r.w.plan.deeds {
		if d.event == channels.Moved || d.event == denied {
			continue
		}
		if d.byHand {
			moved := r.w.plan.moved != nil && d.to == r.w.plan.moved.from // the new place numbers its messages again: the ids of the old one are cleared
			byHand := func(l sessions.ContextLine) bool {
				return l.Event == sessions.ByHand && (l.Message == d.id || moved && l.Message == "")
			}
			if n := count(d, strings.Fields(d.text)[0], byHand); n > 1 || n == 0 && !r.forgotten(d.to, d.id) {
				r.wrong("deed", "%s %q, written by hand, is told %d times", d.id, d.text, n)
			}
			r.w.tally("written by hand")
			continue
		}
		word := tokensOf([]string{d.text}, "e")[0]
		r.judgeEdit(d, word, count(d, word, func(sessions.ContextLine) bool { return true }))
	}
	for _, l := range r.w.plan.letters {
		n := count(l, strings.Fields(l.text)[0], func(x sessions.ContextLine) bool { return x.Event == "" })
		if n > 0 && n != r.talked(l) || n < r.talked(l) && !r.forgotten(l.to, l.id) {
			r.wrong("deed", "%s %q is told as talk %d times, not %d", l.id, l.text, n, r.talked(l))
		}
	}
}

// talked is how often a message must be told as talk among people: once where it was, and none of its own turns answers it.
func (r *rest) talked(l letter) int {
	if !l.quiet || len(r.own(l)) > 0 || r.refusedOne(l) {
		return 0
	}
	r.w.tally("talk")
	return 1
}

// own are the runs that a message has caused.
func (r *rest) own(l letter) (out []sessions.Run) {
	for _, run := range r.runs {
		if run.Kind == sessions.TurnRun && run.Source == string(l.id) {
			out = append(out, run)
		}
	}
	return out
}

func (r *rest) refusedOne(l letter) bool {
	return slices.ContainsFunc(r.skipped, func(x sessions.SkippedEvent) bool { return x.ID == l.id })
}

// judgeEdit: an edit is told so many times, and stands in the message that it changed, or a later edit does.
func (r *rest) judgeEdit(d letter, word string, told int) {
	replaced, closed := false, false // closed: its message stands in the transcript of a session whose chat another one has, as after /new
	for _, run := range r.runs {
		closed = closed || run.Source == string(d.target) && run.Home() != ""
		if run.Source == string(d.target) && hasWord(run.Input.Text(), word) {
			replaced = true
			if run.Revised {
				r.w.tally("edits of what is being answered")
			} else {
				r.w.tally("edits of what waits")
			}
		}
	}
	later := slices.ContainsFunc(r.w.plan.edits(d.target), func(x letter) bool { return r.w.acked[x.id] > r.w.acked[d.id] })
	switch {
	case told > 1, told == 1 && replaced:
		r.wrong("deed", "the edit %q is told %d times, in the message itself %v", d.text, told, replaced)
	case told == 0 && !replaced && !later && !closed && !r.forgotten(d.to, d.target):
		r.wrong("deed", "the edit %q is lost", d.text)
	}
	if told == 1 {
		r.w.tally("edits told later")
	}
}

// forgotten reports whether a session may have started over since one of its messages was offered first: what waited to be told is forgotten
// then, and nobody is told of changes of what was said before.
func (r *rest) forgotten(to channels.Address, id channels.MessageID) bool {
	since := r.w.asked[id]
	return slices.ContainsFunc(r.w.plan.letters, func(l letter) bool {
		return l.text == "/new" && r.w.keys[l.to] == r.w.keys[to] && since != nil && since.first < r.w.acked[l.id]
	})
}

// judgeEdited: who changed a message before it was answered is answered as it is then. A batch that took the place of one that was interrupted
// need not know what that one was at.
func (r *rest) judgeEdited(run, lead sessions.Run, answer string) {
	for _, word := range tokensOf([]string{run.Input.Text()}, "e") {
		if !slices.Contains(tokensOf([]string{answer}, "e"), word) {
			r.wrong("deed", "the answer %q does not know the edit %s of the message that it answers, in the turn %s", answer, word, lead.ID)
		}
	}
}

// judgeGestures counts those that were one turn.
func (r *rest) judgeGestures() {
	for _, run := range r.runs {
		if with, ok := r.byID[run.With()]; ok && r.lead(run).ID == r.lead(with).ID {
			r.w.tally("gestures in one turn")
		}
	}
}

// homes are the sessions of chats.
func (w *world) homes() (out []sessions.Key) {
	for _, h := range haunts() {
		if key := w.keys[h.to]; !slices.Contains(out, key) {
			out = append(out, key)
		}
	}
	return out
}

// heardIn are the lines that a message brings along, as texts.
func heardIn(m sessions.Message) (out []string) {
	for _, b := range m.Content {
		for _, l := range b.ContextLines() {
			out = append(out, l.Text, l.About)
		}
	}
	return out
}

// revised reports whether two texts are the same message of a person, before it was changed and after.
func (r *rest) revised(a, b sessions.Message) bool {
	p := a.Provenance
	if a.Role != sessions.User || p == nil || p.Kind != sessions.ExternalUser {
		return false
	}
	i := slices.IndexFunc(r.w.plan.letters, func(l letter) bool { return string(l.id) == p.Message })
	aheadOfA, ownA := r.w.plan.brought(a)
	aheadOfB, ownB := r.w.plan.brought(b)
	return i >= 0 && len(r.w.plan.edits(channels.MessageID(p.Message))) > 0 && len(aheadOfA) == len(aheadOfB) &&
		r.w.plan.says(r.w.plan.letters[i], ownA) && r.w.plan.says(r.w.plan.letters[i], ownB)
}
