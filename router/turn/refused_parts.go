package turn

import (
	"slices"
	"strings"

	"parley/agent"
	"parley/router/chain"
	"parley/sessions"
)

// hostModels begins the model of what the host itself writes into a transcript.
const hostModels = "parley/"

// turnPart is a piece of a transcript that a model is shown whole or not at all: the summary, a turn, a post of the host, or an imported
// message with its answers.
type turnPart struct {
	run   sessions.RunID
	post  bool      // the host posted it: it is likely to be harmless
	into  *turnPart // the part that it belongs to, since a later answer of its run; nil = it is one itself
	state partState // shown, unless its providers refused something
	taken bool      // the model had it in a request that was taken, since the provider refused nothing but such parts
	since bool      // it was taken since the search began: it is not the reason
}

type partState int

const (
	partShown   partState = iota
	partOnTrial           // left out of the next request, to find out whether it is the reason
	partOut               // found to be the reason
)

// whole returns the part that p belongs to.
func (p *turnPart) whole() *turnPart {
	for p.into != nil {
		p = p.into
	}
	return p
}

// judged is a transcript with what is known of its parts: which of them the provider of one model refused. All of it follows from the
// transcript, so it is the same after a restart.
//
// The messages of a run that the model's provider refused are left out for that model, with those that no model had read by then. Another
// model is shown them. An answer that was given alone (sessions.Message.Alone) says that something before its turn is the reason, for its
// model only. A search then finds it: first the next request leaves out the parts that the model never took, or the newest part; then half
// of what is left, and so on. Each request shows which half has the reason. So every message has its answer, each turn costs at most one
// refused request, and at the end only the reason is left out. Evidence from before the summary is in the summary
// (sessions.Judgement): most of the parts that it was about are summed up.
type judged struct {
	model    string
	msgs     []sessions.Message
	of       []*turnPart // of each message; nil = the model was refused its run
	sum      *turnPart   // the summary
	parts    []*turnPart
	byRun    map[sessions.RunID]*turnPart // the part of a run that a model has read
	unread   []*turnPart                  // parts that no model has read
	imported *turnPart                    // the newest imported part
	suspects []*turnPart                  // parts that have the reason among them, while a search is under way
	run      sessions.RunID               // of the newest answer
}

// judge finds out what a model is shown of a transcript.
func judge(x history, model string) *judged {
	j := &judged{model: model, msgs: x.Msgs, sum: &turnPart{}}
	refused := sessions.RefusedRunsOf(model, x.Msgs)
	known := slices.IndexFunc(x.Sum.Judged, func(k sessions.Judgement) bool { return k.Model == model })
	if refused == nil && known < 0 && !slices.ContainsFunc(x.Msgs, func(m sessions.Message) bool { return m.WithoutHistory() }) {
		return j
	}
	j.of, j.byRun = make([]*turnPart, len(x.Msgs)), make(map[sessions.RunID]*turnPart)
	if x.Sum.ID != "" {
		j.parts = append(j.parts, j.sum)
	}
	reached := make(map[sessions.RunID]bool) // refused runs whose model took an earlier step
	for i, m := range x.Msgs {
		answer := m.Role == sessions.Assistant && m.Model != "" && !strings.HasPrefix(m.Model, hostModels) && !m.IsRefusal() && !isEmpty(m)
		if !refused[m.Run] {
			j.of[i] = j.place(m)
		}
		isNew := !m.Time.Before(x.Sum.Time)
		if answer && isNew && known >= 0 {
			j.recall(x.Sum.Judged[known])
			known = -1
		}
		switch {
		case answer:
			reached[m.Run] = true
			j.answered(m, isNew)
		case refused[m.Run] && m.IsRefusal() && !reached[m.Run]:
			for _, p := range j.unread {
				if !p.post {
					p.state = partOut
				}
			}
			j.unread = slices.DeleteFunc(j.unread, func(p *turnPart) bool { return !p.post })
		}
	}
	if known >= 0 {
		j.recall(x.Sum.Judged[known])
	}
	return j
}

// recall takes in what was known of the parts behind the summary when it was made: a search continues with those of its suspects that are
// not summed up.
func (j *judged) recall(known sessions.Judgement) {
	var suspects []*turnPart
	for i, m := range j.msgs {
		if j.of[i] == nil {
			continue
		}
		switch p := j.of[i].whole(); {
		case slices.Contains(known.Out, m.ID):
			p.state = partOut
		case slices.Contains(known.Suspects, m.ID) && !slices.Contains(suspects, p):
			suspects = append(suspects, p)
		}
	}
	if len(suspects) == 0 {
		return
	}
	for _, p := range j.parts {
		p.taken = p != j.sum && !slices.Contains(suspects, p)
	}
	j.try(suspects, suspects[:(len(suspects)+1)/2])
}

// judgements returns what is known of the messages behind a summary of the first ones, for each model that refused something.
func judgements(x history, first int) (all []sessions.Judgement) {
	var models []string
	for _, k := range x.Sum.Judged {
		models = append(models, k.Model)
	}
	for _, m := range x.Msgs {
		if m.WithoutHistory() && !slices.Contains(models, m.Model) {
			models = append(models, m.Model)
		}
	}
	for _, model := range models {
		j, k := judge(x, model), sessions.Judgement{Model: model}
		seen := make(map[*turnPart]bool)
		for i := first; i < len(x.Msgs); i++ {
			if j.of[i] == nil || seen[j.of[i].whole()] {
				continue
			}
			p := j.of[i].whole()
			seen[p] = true
			switch {
			case p.state == partOut:
				k.Out = append(k.Out, x.Msgs[i].ID)
			case slices.Contains(j.suspects, p):
				k.Suspects = append(k.Suspects, x.Msgs[i].ID)
			}
		}
		if len(k.Out)+len(k.Suspects) > 0 {
			all = append(all, k)
		}
	}
	return all
}

// isEmpty reports whether an answer has neither words nor calls, although it was not cut off: it does not say that the model took the request.
func isEmpty(m sessions.Message) bool {
	return m.Stop != agent.StopLength && len(m.ToolCalls()) == 0 && strings.TrimSpace(m.Text()) == ""
}

// isFailing reports whether the next turn of a session may fail because of content before it: the newest turn before run failed, or a
// search is under way.
func (j *judged) isFailing(run sessions.RunID) bool {
	if len(j.suspects) > 0 {
		return true
	}
	for _, m := range slices.Backward(j.msgs) {
		if m.Role == sessions.Assistant && m.Run != run && m.Model != chain.PostModel {
			return m.Model == sessions.NoticeModel || m.Model != "" && !strings.HasPrefix(m.Model, hostModels) && isEmpty(m)
		}
	}
	return false
}

// place returns the part of a message that no model has read yet.
func (j *judged) place(m sessions.Message) *turnPart {
	post := m.Model == chain.PostModel
	if m.Run == "" && m.Role != sessions.User && j.imported != nil {
		return j.imported
	}
	if m.Run != "" {
		for _, p := range slices.Backward(j.unread) {
			if p.run == m.Run && p.post == post {
				return p
			}
		}
	}
	p := &turnPart{run: m.Run, post: post}
	j.parts, j.unread = append(j.parts, p), append(j.unread, p)
	if m.Run == "" {
		j.imported = p
	}
	return p
}

// answered takes in what an answer says: about the parts before it, and that a model has read them. Only the first answer of a run counts,
// as the later ones are shown the same parts.
func (j *judged) answered(m sessions.Message, counts bool) {
	first := m.Run != j.run
	j.run = m.Run
	own := func(p *turnPart) bool { return p.run == m.Run && m.Run != "" }
	if first && counts && m.Model == j.model && m.Run != "" {
		if m.WithoutHistory() {
			j.refuse(own)
		} else {
			j.take()
		}
	}
	for _, p := range j.unread {
		if m.WithoutHistory() && !own(p) {
			continue
		}
		if is := j.byRun[p.run]; is != nil && !p.post && p.run != "" {
			p.into = is
		} else if !p.post {
			j.byRun[p.run] = p
		}
		if own(p) && m.Model == j.model {
			w := p.whole()
			w.taken, w.since = true, len(j.suspects) > 0
		}
	}
	j.unread = slices.DeleteFunc(j.unread, func(p *turnPart) bool { return !m.WithoutHistory() || own(p) })
}

// open returns the parts that the next request has.
func (j *judged) open() (ps []*turnPart) {
	for _, p := range j.parts {
		if p.into == nil && p.state == partShown {
			ps = append(ps, p)
		}
	}
	return ps
}

// take takes in that the model took a request with all open parts.
func (j *judged) take() {
	for _, p := range j.open() {
		p.taken, p.since = true, len(j.suspects) > 0
	}
	if len(j.suspects) > 0 {
		j.narrow(slices.DeleteFunc(slices.Clone(j.suspects), func(p *turnPart) bool { return p.state == partShown }))
	}
}

// refuse takes in that the model's provider refused a request with all open parts, and took it with its own alone.
func (j *judged) refuse(own func(*turnPart) bool) {
	open := slices.DeleteFunc(j.open(), own)
	suspects := slices.DeleteFunc(slices.Clone(open), func(p *turnPart) bool { return p.taken || p.post })
	rest := len(suspects) > 0 && len(suspects) < len(open)
	if len(suspects) == 0 { // it took all of them once, and is stricter now
		suspects = slices.DeleteFunc(slices.Clone(open), func(p *turnPart) bool { return p.since })
		if len(suspects) == 0 {
			suspects = open
		}
		for _, p := range suspects {
			p.taken, p.since = false, false
		}
	}
	searching := len(j.suspects) > 0
	switch {
	case len(suspects) == 0:
	case searching, len(suspects) == 1 && !rest:
		j.narrow(suspects)
	case rest:
		j.try(suspects, suspects)
	default:
		newest := suspects[len(suspects)-1]
		for _, p := range slices.Backward(suspects) {
			if !p.post {
				newest = p
				break
			}
		}
		j.try(suspects, []*turnPart{newest})
	}
}

// narrow continues with a search: one of these parts is the reason.
func (j *judged) narrow(suspects []*turnPart) {
	if len(suspects) > 1 {
		j.try(suspects, suspects[:len(suspects)/2])
		return
	}
	for _, p := range suspects {
		p.state = partOut
	}
	for _, p := range j.parts { // they are harmless, or found with another search
		p.since = false
		if p.state == partOnTrial {
			p.state = partShown
		}
	}
	j.suspects = nil
}

// try has the next request leave out some of the suspects.
func (j *judged) try(suspects, without []*turnPart) {
	for _, p := range suspects {
		p.state = partShown
	}
	for _, p := range without {
		p.state = partOnTrial
	}
	j.suspects = suspects
}

// is reports whether the part of message i has one of the states. Messages of runs that the model was refused have none.
func (j *judged) is(i int, states ...partState) bool {
	if j.of == nil {
		return slices.Contains(states, partShown)
	}
	return j.of[i] != nil && slices.Contains(states, j.of[i].whole().state)
}

// Shown returns the messages that the model is shown, in their order. If that is all of them, they are not copied.
func (j *judged) Shown() []sessions.Message {
	return j.those(partShown)
}

// isShown reports whether the model is shown message i as it is.
func (j *judged) isShown(i int) bool { return j.is(i, partShown) }

// those returns the messages of parts in one of the states. A call that is among them has its result, or a sentence in the place of one that
// is not: without it a model would read that the call was interrupted.
func (j *judged) those(states ...partState) []sessions.Message {
	if j.of == nil {
		return sessions.LeaveOut(j.msgs, sessions.Without(j.msgs))
	}
	type call struct {
		run sessions.RunID
		id  string
	}
	msgs, calls := make([]sessions.Message, 0, len(j.msgs)), make(map[call]bool)
	var without []string
	for i, m := range j.msgs {
		is := j.is(i, states...)
		if !is && (m.Role != sessions.ToolResult || !calls[call{m.Run, m.ToolCallID}]) {
			continue
		}
		if msgs = append(msgs, m); !is {
			without = append(without, m.ID)
		}
		for _, c := range m.ToolCalls() {
			calls[call{m.Run, c.ID}] = true
		}
	}
	return sessions.LeaveOut(msgs, append(without, sessions.Without(msgs)...))
}

// toSumUp returns those of a history's oldest messages that a summary is made of, and the text of the summary before them. Parts that are
// on trial are among them: the summary is their last chance.
func toSumUp(x history, oldest int, model string) (msgs []sessions.Message, before string) {
	j := judge(x, model)
	if j.sum.state != partOut {
		before = x.Sum.Text
	}
	stay := make(map[string]bool, len(x.Msgs))
	for _, m := range x.Msgs[:oldest] {
		stay[m.ID] = true
	}
	return slices.DeleteFunc(slices.Clone(j.those(partShown, partOnTrial)), func(m sessions.Message) bool { return !stay[m.ID] }), before
}
