package simtest

import (
	"slices"
	"strings"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/router/routertest"
	"parley/sessions"
)

// shownTo changes what one call of the model was shown, where it is of a kind.
func (r *rest) shownTo(is func(t thought) bool, change func(p *agent.Prompt)) bool {
	for i := range r.w.thoughts {
		if t := &r.w.thoughts[i]; is(*t) {
			t.prompt.Messages = slices.Clone(t.prompt.Messages)
			change(&t.prompt)
			return true
		}
	}
	return false
}

// afterTalk reports whether a call answers a person, in a session where something was said before.
func afterTalk(t thought) bool {
	n := len(t.prompt.Messages)
	return t.Kind == "turn" && n > 2 && t.prompt.Messages[n-1].Role == sessions.User && t.prompt.Messages[n-2].Role == sessions.Assistant
}

// shownMore reports whether the model was shown more than the first message of a transcript before a call of it.
func (r *rest) shownMore(t thought) bool {
	return slices.ContainsFunc(r.w.thoughts, func(before thought) bool {
		msgs := before.prompt.Messages
		return before.began.Before(t.began) && len(msgs) > 1 && msgs[0].ID == t.prompt.Messages[0].ID
	})
}

// saidElsewhere finds an answer of another session.
func (r *rest) saidElsewhere(key sessions.Key) string {
	for _, t := range r.w.thoughts {
		m := sessions.Message{Content: t.answer.Content}
		if t.Kind == "turn" && t.key() != key && strings.HasPrefix(m.Text(), "a") {
			return m.Text()
		}
	}
	return ""
}

// keepAs changes how a transcript keeps the message that a delivery carries.
func (r *rest) keepAs(kind sessions.DeliveryKind, change func(msgs []sessions.Message, at int) []sessions.Message) bool {
	d := r.some(kind, func(d sessions.Delivery) bool { return !r.deleted[r.byID[d.Run].Key] })
	if d == nil {
		return false
	}
	x, ok := r.spots()[d.Message]
	if ok {
		r.parts[x.key] = slices.Clone(r.parts[x.key])
		r.parts[x.key][x.part] = change(slices.Clone(r.parts[x.key][x.part]), x.at)
	}
	return ok
}

// inGroup reports whether a delivery is for several people.
func inGroup(d sessions.Delivery) bool { return d.To.Type.Several() && d.ReplyTo != "" }

// spoiledMinds are ways to spoil what the model was shown, what is kept of it, and what it comes with.
var spoiledMinds = []spoil{
	{"the model is shown nothing but the newest message", "and nothing there begins so", func(r *rest) bool {
		return r.shownTo(afterTalk, func(p *agent.Prompt) { p.Messages = p.Messages[len(p.Messages)-1:] })
	}},
	{"the model is shown the newest message twice", "twice in", func(r *rest) bool {
		return r.shownTo(afterTalk, func(p *agent.Prompt) { p.Messages = append(p.Messages, p.Messages[len(p.Messages)-1]) })
	}},
	{"the model is not shown the newest message", "stand before that", func(r *rest) bool {
		return r.shownTo(func(t thought) bool { return afterTalk(t) && t.err == nil && r.kept(t) }, func(p *agent.Prompt) { p.Messages = p.Messages[:len(p.Messages)-1] })
	}},
	{"the model is not shown the newest answer", "and something else stands there", func(r *rest) bool {
		return r.shownTo(afterTalk, func(p *agent.Prompt) {
			p.Messages = slices.Delete(p.Messages, len(p.Messages)-2, len(p.Messages)-1)
		})
	}},
	{"the model is shown less than before, and fails", "after it was shown", func(r *rest) bool {
		return r.shownTo(func(t thought) bool { return afterTalk(t) && t.err != nil && r.shownMore(t) }, func(p *agent.Prompt) { p.Messages = p.Messages[:1] })
	}},
	{"the model is shown two messages in the place of one another", "and something else stands there", func(r *rest) bool {
		return r.shownTo(func(t thought) bool { return len(t.prompt.Messages) > 3 }, func(p *agent.Prompt) { p.Messages[1], p.Messages[2] = p.Messages[2], p.Messages[1] })
	}},
	{"the model is shown another answer than it gave", "and something else stands there", func(r *rest) bool {
		return r.shownTo(afterTalk, func(p *agent.Prompt) {
			p.Messages[len(p.Messages)-2].Content = sessions.TextContent("(gone)")
		})
	}},
	{"the model is shown a message as somebody else's", "from 666", func(r *rest) bool {
		return r.shownTo(afterTalk, func(p *agent.Prompt) {
			m := &p.Messages[len(p.Messages)-1]
			from := *m.Provenance
			from.Sender, from.Name = "666", "Mallory"
			m.Provenance = &from
		})
	}},
	{"the model is shown an answer of another session in its instructions", "the model is shown a", func(r *rest) bool {
		elsewhere := ""
		return r.shownTo(func(t thought) bool {
			elsewhere = r.saidElsewhere(t.key())
			return elsewhere != ""
		}, func(p *agent.Prompt) { p.System += "\n\n" + elsewhere })
	}},
	{"a transcript keeps something else than the answer that is shown", "of what is shown as", func(r *rest) bool {
		return r.keepAs(sessions.Reply, func(msgs []sessions.Message, at int) []sessions.Message {
			msgs[at].Content = sessions.TextContent("(gone)")
			return msgs
		})
	}},
	{"a transcript keeps what the model never said", "which the model did not say", func(r *rest) bool {
		return r.keepAs(sessions.Reply, func(msgs []sessions.Message, at int) []sessions.Message {
			m := msgs[at]
			m.ID, m.Content = "another", sessions.TextContent("I was never asked")
			return append(msgs, m)
		})
	}},
	{"a transcript keeps an answer twice", "which the model did not say there then", func(r *rest) bool {
		return r.keepAs(sessions.Reply, func(msgs []sessions.Message, at int) []sessions.Message {
			m := msgs[at]
			m.ID = "another"
			return append(msgs, m)
		})
	}},
	{"a transcript lacks an answer", "stands in no transcript", func(r *rest) bool {
		return r.keepAs(sessions.Reply, func(msgs []sessions.Message, at int) []sessions.Message { return slices.Delete(msgs, at, at+1) })
	}},
	{"a transcript lacks what was announced", "stands in no transcript", func(r *rest) bool {
		return r.keepAs(sessions.Announce, func(msgs []sessions.Message, at int) []sessions.Message { return slices.Delete(msgs, at, at+1) })
	}},
	{"a transcript lacks the message that was answered", "stands 0 times", func(r *rest) bool {
		return r.keepAs(sessions.Reply, func(msgs []sessions.Message, _ int) []sessions.Message {
			return slices.DeleteFunc(msgs, func(m sessions.Message) bool {
				return m.Provenance != nil && m.Provenance.Kind == sessions.ExternalUser
			})
		})
	}},
	{"an answer is one to an earlier message", "reply to: the reply", func(r *rest) bool {
		earlier := channels.MessageID("")
		d := r.some(sessions.Reply, func(d sessions.Delivery) bool {
			for _, l := range r.w.plan.letters {
				if l.to == d.To && l.id != d.ReplyTo {
					earlier = l.id
				}
				if l.id == d.ReplyTo {
					break
				}
			}
			return inGroup(d) && earlier != ""
		})
		if d != nil {
			p, i := r.at(*d)
			d.ReplyTo, p.shown[i].out.ReplyTo = earlier, earlier
		}
		return d != nil
	}},
	{"an answer is one to no message", "reply to: the reply", func(r *rest) bool {
		d := r.some(sessions.Reply, inGroup)
		if d != nil {
			d.ReplyTo = ""
		}
		return d != nil
	}},
	{"an answer is shown as one to no message", "as one to", func(r *rest) bool {
		d := r.some(sessions.Reply, inGroup)
		if d != nil {
			p, i := r.at(*d)
			p.shown[i].out.ReplyTo = ""
		}
		return d != nil
	}},
	{"an answer has two minutes", "D8: ", func(r *rest) bool { return r.lasts(sessions.Reply, 2*time.Minute) }},
	{"an answer has a minute less than it is to have", "D8: ", func(r *rest) bool { return r.lasts(sessions.Reply, 59*time.Minute) }},
	{"an answer has a day", "D8: ", func(r *rest) bool { return r.lasts(sessions.Reply, 24*time.Hour) }},
	{"an announcement has an hour", "D8: ", func(r *rest) bool { return r.lasts(sessions.Announce, time.Hour) }},
	{"an answer is sent after its time", "and had time until", func(r *rest) bool {
		d := r.some(sessions.Reply, whichever)
		if d != nil {
			for _, c := range r.contacts(d.ID) {
				c.on = d.Expires.Add(2 * time.Minute)
			}
		}
		return d != nil
	}},
	{"a report says error of a sub-agent that ended well", "says error", func(r *rest) bool { return r.restate("success", "error") }},
	{"a report says success of a sub-agent that did not end well", "says success", func(r *rest) bool { return r.restate("error", "success") || r.restate("timeout", "success") }},
	{"a turn waits forty minutes", "late: the turn run", func(r *rest) bool {
		for i := range r.runs {
			if run := &r.runs[i]; run.Kind == sessions.TurnRun && run.Status == sessions.Done && run.MergedInto == "" {
				run.Created = run.Created.Add(-40 * time.Minute)
				return true
			}
		}
		return false
	}},
	{"an answer waits forty minutes", "late: the reply", func(r *rest) bool {
		d := r.some(sessions.Reply, whichever)
		if d != nil {
			d.Created = d.Created.Add(-40 * time.Minute)
		}
		return d != nil
	}},
}

// kept reports whether what a call of the model answered stands in a transcript, and is nowhere else.
func (r *rest) kept(t thought) bool {
	words := routertest.Mark("", sessions.Message{Content: t.answer.Content})
	return len(wordsIn(words)) > 0 && slices.ContainsFunc(r.texts[t.key()], func(m sessions.Message) bool { return routertest.Mark("", m) == words })
}

// lasts gives a delivery some time from when it was made.
func (r *rest) lasts(kind sessions.DeliveryKind, d time.Duration) bool {
	x := r.some(kind, func(d sessions.Delivery) bool { return !r.w.troubled(d.Created.Add(-time.Hour), d.Created) })
	if x != nil {
		x.Expires = x.Expires.Add(d - livesFor(kind))
	}
	return x != nil
}

// restate changes the word of a report.
func (r *rest) restate(from, to string) bool {
	d := r.some(sessions.Announce, func(d sessions.Delivery) bool { return strings.HasPrefix(d.Text, "Status: "+from) })
	if d != nil {
		d.Text = "Status: " + to + strings.TrimPrefix(d.Text, "Status: "+from)
	}
	return d != nil
}
