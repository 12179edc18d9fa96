package simtest

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"parley/channels"
	"parley/router/routertest"
	"parley/sessions"
)

// spot is where a message stands: its session, which of that one's transcripts, and the place there.
type spot struct {
	key      sessions.Key
	part, at int
}

// spots finds messages by their ids.
func (r *rest) spots() map[string]spot {
	out := map[string]spot{}
	for key, parts := range r.parts {
		for i, msgs := range parts {
			for j, m := range msgs {
				out[m.ID] = spot{key, i, j}
			}
		}
	}
	return out
}

// judgePrompts: each call of the model is shown what was said in its session before, in order, each message once and from whom it was, and
// nothing of any other session. No world has so much said in it that it is summed up or cut. What stands in transcripts is judged by itself: a
// call is shown that from its beginning, never less than the one before it, and all that stands before its own answer.
func (r *rest) judgePrompts() {
	where, flows := r.spots(), r.flows()
	least := map[spot]int{} // that the next call must be shown, by transcript
	for _, t := range r.w.thoughts {
		key, msgs := t.key(), t.prompt.Messages
		r.judgeSpeakers(t)
		if x := flows.foreign(t); x != "" {
			r.wrong("prompt", "the model is shown %s of %s in %s", x, flows.by[x], key)
		}
		if len(msgs) == 0 {
			r.wrong("prompt", "the model is shown nothing in %s", key)
			continue
		}
		if alone := func(m sessions.Message) bool { return m.WithoutHistory() }; strings.HasPrefix(msgs[0].ID, "left-out-") || slices.ContainsFunc(msgs, alone) {
			continue // after two failed turns a model is shown less: what it is shown then has tests of its own
		}
		of, ok := where[msgs[0].ID]
		if !ok || of.key != key || of.at != 0 {
			r.wrong("prompt", "the model is shown %q first in %s, and nothing there begins so", msgs[0].Text(), key)
			continue
		}
		all := r.parts[key][of.part]
		n, strange := r.along(all, msgs)
		if strange != nil {
			r.wrong("prompt", "the model is shown %q as message %d of %s, and something else stands there", strange.Text(), n, key)
			continue
		}
		if n < least[of] {
			r.wrong("prompt", "the model is shown %d messages in %s, after it was shown %d", n, key, least[of])
		}
		own := sessions.Message{Role: sessions.Assistant, Content: t.answer.Content}
		at := slices.IndexFunc(all, func(m sessions.Message) bool {
			return m.Role == sessions.Assistant && routertest.Mark("", m) == routertest.Mark("", own)
		})
		known := t.err == nil && at >= 0 && len(wordsIn(routertest.Mark("", own))) > 0 // control words are said more than once
		if known && n != at {
			r.wrong("prompt", "the model is shown %d messages in %s for %s, and %d stand before that", n, key, routertest.Mark("", own), at)
		}
		if least[of] = max(least[of], n); known {
			least[of] = at + 1
		}
	}
}

// along gives the place behind the last message, or the first message that stands elsewhere in a transcript.
func (r *rest) along(all, msgs []sessions.Message) (n int, strange *sessions.Message) {
	for n, m := range msgs {
		if n >= len(all) || all[n].ID != m.ID || all[n].Role != m.Role || routertest.Mark(all[n].ToolCallID, all[n]) != routertest.Mark(m.ToolCallID, m) && !r.revised(all[n], m) {
			return n, &msgs[n]
		}
	}
	return len(msgs), nil
}

// judgeSpeakers: a call of the model is shown what people wrote as they wrote it, from whom it was, and once.
func (r *rest) judgeSpeakers(t thought) {
	ids, letters := map[string]bool{}, map[string]letter{}
	for _, l := range r.w.plan.letters {
		letters[string(l.id)] = l
	}
	for _, m := range t.prompt.Messages {
		if ids[m.ID] {
			r.wrong("prompt", "the model is shown %q twice in %s", m.Text(), t.key())
		}
		ids[m.ID] = true
		if why := r.misquoted(m, letters); why != "" {
			r.wrong("prompt", "the model is shown %q in %s, %s", m.Text(), t.key(), why)
		}
	}
}

// misquoted says what is wrong with a message as one of a person; "" when nothing is, or when it is none.
func (r *rest) misquoted(m sessions.Message, letters map[string]letter) string {
	p := m.Provenance
	if m.Role != sessions.User || p == nil || p.Kind != sessions.ExternalUser {
		if m.Role == sessions.User && len(tokensOf([]string{m.Text()}, "w")) > 0 {
			return "not as a message of a person"
		}
		return ""
	}
	l, ok := letters[p.Message]
	ahead, own := r.w.plan.brought(m)
	switch {
	case !ok || l.isCommand() || !r.w.plan.says(l, own) || slices.ContainsFunc(ahead, func(a letter) bool { return a.by != l.by || a.to != l.to }):
		return "which nobody wrote"
	case p.Sender != l.by && (r.w.plan.moved == nil || p.Sender != r.w.plan.moved.now) || p.Name != l.by || p.Owner != (l.by == routertest.Owner):
		return "from " + p.Sender + " " + p.Name + ", and it was " + l.by
	case r.w.home(p.Address) != l.to:
		return "out of another chat: " + p.Address.String()
	}
	return ""
}

// flows are the words that are nowhere else, and which sessions may know of words of which others.
type flows struct {
	by    map[string]sessions.Key // where it was said first
	knows map[[2]sessions.Key]bool
}

// flows gathers them from what people wrote and the model said. Words go to those that are written to with a tool, and back; between a
// sub-agent and those above it; nowhere else.
func (r *rest) flows() flows {
	f := flows{map[string]sessions.Key{}, map[[2]sessions.Key]bool{}}
	above := map[sessions.Key]sessions.Key{}
	for _, l := range slices.Concat(r.w.plan.letters, r.w.plan.deeds) {
		for _, x := range wordsIn(l.text) {
			f.by[x] = r.w.keys[l.to]
		}
	}
	for _, t := range r.w.thoughts {
		key := t.key()
		for _, m := range t.prompt.Messages {
			if by, ok := f.by[m.Text()]; ok && m.Role == sessions.User && sessions.IsSubagent(key) && above[key] == "" && m.Text()[0] == 'c' {
				above[key] = by
			}
		}
		said := sessions.Message{Content: t.answer.Content}
		for _, x := range wordsIn(routertest.Mark("", said)) {
			if _, ok := f.by[x]; !ok {
				f.by[x] = key
			}
		}
		for _, c := range said.ToolCalls() {
			if to := targetOf(c); to != "" {
				f.join(key, to)
			}
		}
	}
	for key, up := range above {
		for ; up != ""; up = above[up] {
			f.join(key, up)
		}
	}
	return f
}

// targetOf is the session that a tool call writes to; "" = none, or its own.
func targetOf(c sessions.Block) sessions.Key {
	var v struct{ SessionKey, To sessions.Key }
	if err := json.Unmarshal(c.Arguments, &v); err != nil || v.To == "current" {
		return ""
	}
	return v.SessionKey + v.To
}

func (f flows) join(a, b sessions.Key) {
	f.knows[[2]sessions.Key{a, b}], f.knows[[2]sessions.Key{b, a}] = true, true
}

// private are the kinds of words that are for the people of one session, or for that session itself: no tool shows them to another one.
const private = "waulfeh"

// foreign finds a word of another session that a call of the model is shown, and must not be; "" = none.
func (f flows) foreign(t thought) string {
	texts := []string{t.prompt.System}
	for _, m := range t.prompt.Messages {
		texts = append(append(texts, routertest.Mark("", m)), heardIn(m)...)
	}
	for _, text := range texts {
		for _, x := range wordsIn(text) {
			by, ok := f.by[x]
			if ok && by != t.key() && (strings.Contains(private, x[:1]) || !f.knows[[2]sessions.Key{by, t.key()}]) {
				return x
			}
		}
	}
	return ""
}

var uuids = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// wordsIn finds the words in a text that are nowhere else.
func wordsIn(text string) []string { return tokens.FindAllString(uuids.ReplaceAllString(text, ""), -1) }

// judgeTranscripts: a transcript keeps what the model said there, in order, and what was to be shown as it was to be shown; and what people
// wrote that was answered, once.
func (r *rest) judgeTranscripts() {
	said := map[string][]int{} // by session and words: when
	for i, t := range r.w.thoughts {
		k := routertest.Mark(string(t.key()), sessions.Message{Content: t.answer.Content})
		said[k] = append(said[k], i)
	}
	carried, where := map[string]string{}, r.spots()
	for _, d := range r.deliveries {
		_, there := where[d.Message]
		switch {
		case there:
			carried[d.Message] = d.Text
		case d.State == sessions.DeliveryStopped && d.Part == 0 && !d.Ambiguous && d.Kind != sessions.Reply: // nobody has read it
		case d.Kind == sessions.Reply, d.Message != "" && !r.deleted[r.byID[d.Run].Key]:
			r.wrong("transcript", "the %s %q to %s stands in no transcript", d.Kind, d.Text, d.To)
		}
	}
	heard := map[string]int{}
	for key, parts := range r.parts {
		for _, msgs := range parts {
			last := -1
			for _, m := range msgs {
				if p := m.Provenance; p != nil && p.Kind == sessions.ExternalUser {
					heard[string(key)+" "+p.Message]++
				}
				if m.Role == sessions.Assistant {
					last = r.judgeKept(key, m, carried, said, last)
				}
			}
		}
	}
	r.judgeHeard(heard)
}

// judgeKept looks at one answer in a transcript. last is which call of the model the one before it came from; it gives that of this one.
func (r *rest) judgeKept(key sessions.Key, m sessions.Message, carried map[string]string, said map[string][]int, last int) int {
	shown, there := carried[m.ID]
	if there && shown != strings.TrimSpace(m.Text()) {
		r.wrong("transcript", "%s keeps %q of what is shown as %q", key, m.Text(), shown)
	}
	if m.Model == "parley/notice" || m.Model == "parley/post" {
		if m.Model == "parley/post" && !there {
			r.wrong("transcript", "%s keeps %q as posted, and nobody posted it", key, m.Text())
		}
		return last
	}
	for _, i := range said[routertest.Mark(string(key), m)] {
		if i > last {
			return i
		}
	}
	r.wrong("transcript", "%s keeps %s, which the model did not say there then", key, routertest.Mark("", m))
	return last
}

// judgeHeard: what has an answer stands once in a transcript of its session; what has none does at most. What a turn was interrupted in whose
// chat became another session's stands in that one's, too.
func (r *rest) judgeHeard(heard map[string]int) {
	done, most := map[string]bool{}, map[string]int{}
	for _, run := range r.runs {
		if by := r.byID[run.MergedInto]; run.Home() != "" && run.Status == sessions.Stopped || by.Home() != "" && by.Status == sessions.Stopped {
			most[run.Source] = 1
		}
		if run.Kind == sessions.TurnRun && run.Status == sessions.Done {
			done[run.Source] = true
		}
	}
	for _, l := range r.w.plan.letters {
		n := heard[string(r.w.keys[l.to])+" "+string(l.id)]
		delete(heard, string(r.w.keys[l.to])+" "+string(l.id))
		if n > 1+most[string(l.id)] || n == 0 && done[string(l.id)] && !l.isCommand() {
			r.wrong("transcript", "%s %q stands %d times in the transcripts of its session", l.id, l.text, n)
		}
	}
	for at := range heard {
		r.wrong("transcript", "a message that nobody wrote there: %s", at)
	}
}

// letterOf is the newest message of a person that a call of the model is shown.
func (r *rest) letterOf(t thought) channels.MessageID {
	for _, m := range slices.Backward(t.prompt.Messages) {
		_, own := r.w.plan.brought(m)
		for _, l := range r.w.plan.letters {
			if word := strings.Fields(l.text)[0]; m.Role == sessions.User && slices.Contains(tokensOf([]string{own}, "w"), word) {
				return l.id
			}
		}
	}
	return ""
}
