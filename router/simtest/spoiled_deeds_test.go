package simtest

import (
	"slices"
	"strings"

	"parley/channels"
	"parley/sessions"
)

// retell changes a line that a turn brought along, where there is one of a kind: to none, or to several.
func (r *rest) retell(is func(l sessions.ContextLine) bool, change func(l sessions.ContextLine) []sessions.ContextLine) bool {
	for i := range r.runs {
		for j, b := range r.runs[i].Input.Content {
			lines := b.ContextLines()
			at := slices.IndexFunc(lines, is)
			if at < 0 {
				continue
			}
			lines = slices.Replace(lines, at, at+1, change(lines[at])...)
			m := &r.runs[i].Input
			m.Content = slices.Clone(m.Content)
			m.Content[j] = sessions.NewContextBlock(lines)
			return true
		}
	}
	return false
}

func twice(l sessions.ContextLine) []sessions.ContextLine { return []sessions.ContextLine{l, l} }
func noLines(sessions.ContextLine) []sessions.ContextLine { return nil }
func isEdit(l sessions.ContextLine) bool                  { return l.Event == channels.Edited }
func isByHand(l sessions.ContextLine) bool                { return l.Event == sessions.ByHand }
func isTalk(l sessions.ContextLine) bool                  { return l.Event == "" }
func (r *rest) onlyEdit(l sessions.ContextLine) bool {
	return isEdit(l) && len(r.w.plan.edits(l.Message)) == 1 && !r.anyNew()
}
func (r *rest) anyNew() bool {
	return slices.ContainsFunc(r.w.plan.letters, func(l letter) bool { return l.text == "/new" })
}
func (r *rest) replaced(is func(sessions.Run) bool) *sessions.Run {
	for i := range r.runs {
		if run := &r.runs[i]; run.Kind == sessions.TurnRun && len(tokensOf([]string{run.Input.Text()}, "e")) > 0 && is(*run) {
			return run
		}
	}
	return nil
}

// answeredAlone reports whether a run has an answer that is its own.
func (r *rest) answeredAlone(run sessions.Run) bool {
	return run.Status == sessions.Done && run.MergedInto == "" && slices.ContainsFunc(r.by[run.ID], func(d sessions.Delivery) bool { return d.Kind == sessions.Reply })
}

// spoiledDeeds are ways to spoil what came of what people did besides writing.
var spoiledDeeds = []spoil{
	{"a change of a message is told twice", "is told 2 times", func(r *rest) bool { return r.retell(isEdit, twice) }},
	{"a change of a message is lost", "is lost", func(r *rest) bool { return r.retell(r.onlyEdit, noLines) }},
	{"a change of a message that waited is lost", "is lost", func(r *rest) bool {
		run := r.replaced(func(run sessions.Run) bool {
			return len(r.w.plan.edits(channels.MessageID(run.Source))) == 1 && !run.Revised && !r.anyNew()
		})
		if run != nil {
			run.Input.Content = sessions.TextContent(tokensOf([]string{run.Input.Text()}, "w")[0] + " please")
		}
		return run != nil
	}},
	{"a change of a message that was being answered is told with the next turn, too", "is told 1 times, in the message itself true", func(r *rest) bool {
		run := r.replaced(func(run sessions.Run) bool { return run.Revised })
		if run != nil {
			line := sessions.ContextLine{Key: run.Key, Event: channels.Edited, Message: channels.MessageID(run.Source), Text: run.Input.Text()}
			r.heard[run.Key] = append(slices.Clone(r.heard[run.Key]), line)
		}
		return run != nil
	}},
	{"an answer is one to the message as it was before it was changed", "does not know the edit", func(r *rest) bool {
		run := r.replaced(r.answeredAlone)
		if run == nil {
			return false
		}
		for i := range r.deliveries {
			if d := &r.deliveries[i]; d.Run == run.ID && d.Kind == sessions.Reply {
				d.Text, _, _ = strings.Cut(d.Text, " e")
			}
		}
		return true
	}},
	{"the model reads a message as nobody wrote or changed it", "which nobody wrote", func(r *rest) bool {
		run := r.replaced(func(sessions.Run) bool { return true })
		for i := range r.w.thoughts {
			p := &r.w.thoughts[i].prompt
			at := slices.IndexFunc(p.Messages, func(m sessions.Message) bool { return run != nil && m.ID == run.Input.ID })
			if at < 0 {
				continue
			}
			p.Messages = slices.Clone(p.Messages)
			p.Messages[at].Content = sessions.TextContent(p.Messages[at].Text() + " and more")
			return true
		}
		return false
	}},
	{"what was written by hand is told twice", "written by hand, is told 2 times", func(r *rest) bool { return r.retell(isByHand, twice) }},
	{"what was written by hand is lost", "written by hand, is told 0 times", func(r *rest) bool { return !r.anyNew() && r.retell(isByHand, noLines) }},
	{"a line of a chat that had two sessions is lost", " 0 times", func(r *rest) bool {
		return r.split && !r.anyNew() && r.retell(func(l sessions.ContextLine) bool {
			return (isByHand(l) || isTalk(l)) && slices.ContainsFunc(slices.Concat(r.w.plan.letters, r.w.plan.deeds), func(x letter) bool {
				return x.to == r.w.plan.moved.from && hasWord(l.Text, strings.Fields(x.text)[0])
			})
		}, noLines)
	}},
	{"what was written by hand is told in another session", "is told in", func(r *rest) bool {
		var line sessions.ContextLine
		if !r.retell(isByHand, func(l sessions.ContextLine) []sessions.ContextLine { line = l; return nil }) {
			return false
		}
		from := r.w.plan.deeds[slices.IndexFunc(r.w.plan.deeds, func(d letter) bool { return d.id == line.Message })].to
		line.Key = r.w.keys[r.elsewhere(from)]
		r.heard[line.Key] = append(slices.Clone(r.heard[line.Key]), line)
		return true
	}},
	{"what was forwarded without a mention is told twice", "is told as talk 2 times", func(r *rest) bool { return r.retell(isTalk, twice) }},
	{"what was forwarded without a mention is lost", "is told as talk 0 times", func(r *rest) bool { return !r.anyNew() && r.retell(isTalk, noLines) }},
	{"the second part of a gesture is lost", "became 0 runs", func(r *rest) bool {
		n := len(r.runs)
		at := slices.IndexFunc(r.runs, func(run sessions.Run) bool {
			return run.With() != "" && !slices.ContainsFunc(r.w.plan.letters, func(l letter) bool { return l.quiet && string(l.id) == run.Source })
		})
		if at >= 0 {
			r.runs = slices.Delete(r.runs, at, at+1)
		}
		return len(r.runs) < n
	}},
	{"the second part of a gesture is answered twice", "became 2 runs", func(r *rest) bool {
		at := slices.IndexFunc(r.runs, func(run sessions.Run) bool { return run.With() != "" })
		if at >= 0 {
			again := r.runs[at]
			again.ID, again.MergedInto = "another", ""
			r.runs = append(r.runs, again)
		}
		return at >= 0
	}},
	{"something is sent to the old id of a chat that has moved", "moved: ", func(r *rest) bool { return r.toOldID("send") }},
	{"a sign is shown at the old id of a chat that has moved", "moved: ", func(r *rest) bool { return r.toOldID("typing") }},
	{"what waited in a chat that moved is lost", "became 0 runs", func(r *rest) bool {
		m, n := r.w.plan.moved, len(r.runs)
		if m != nil {
			r.runs = slices.DeleteFunc(r.runs, func(run sessions.Run) bool {
				return run.Kind == sessions.TurnRun && run.Reply == m.from && !slices.ContainsFunc(r.w.plan.letters, func(l letter) bool { return l.quiet && string(l.id) == run.Source })
			})
		}
		return len(r.runs) < n
	}},
	{"what was to be sent to a chat that moved is lost", "has 0 replies", func(r *rest) bool {
		d := r.some(sessions.Reply, func(d sessions.Delivery) bool {
			return r.w.plan.moved != nil && d.To == r.w.plan.moved.from && r.byID[d.Run].Status == sessions.Done
		})
		if d != nil {
			r.lose(*d)
		}
		return d != nil
	}},
}

// toOldID has a call go to the old id of a chat that has moved.
func (r *rest) toOldID(what string) bool {
	m, since := r.w.plan.moved, r.w.acked[movedID]
	for _, c := range r.w.called {
		if m != nil && c.what == what && c.to == m.from && c.begin > since {
			c.raw = m.from
			return true
		}
	}
	return false
}
