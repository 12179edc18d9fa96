package router

import (
	"errors"
	"slices"
	"strings"

	"parley/agent"
	"parley/sessions"
)

// hostModels begins the model of what the host itself writes into a transcript.
const hostModels = "parley/"

// refusedRequest stands for the task of a sub-agent in later steps, when the provider refused it.
const refusedRequest = "(left out: the model's provider refused it)"

// isRefused reports whether a run failed because the provider refused what it asked: a later prompt with the same words would be refused too.
func isRefused(run sessions.Run, err error) bool {
	e, ok := errors.AsType[*agent.ModelError](err)
	return ok && (e.Class == agent.Refused || e.Class == agent.BadRequest) && run.Kind != sessions.CompactRun // whose input is no message
}

// acceptable leaves out of a transcript what a provider refused, so that prompts made of it are not refused again: the messages of each run
// that was refused, and those since the newest answer before it, as no model had taken them by then. What the host posted there stays.
//
// An answer that was given alone (sessions.Message.Alone) says that something before it is the reason: what no model had taken goes, else the
// newest turn, at the next such answer two turns more, then four. So each message is answered, and no session is refused for ever for
// something that an earlier model took. bare says that nothing was left when a further one was refused: then the summary is the reason.
// msgs stays as it is, and is given back when there is nothing to leave out.
func acceptable(msgs []sessions.Message) (out []sessions.Message, bare bool) {
	refused := sessions.RefusedRuns(msgs)
	if refused == nil && !slices.ContainsFunc(msgs, func(m sessions.Message) bool { return m.Alone }) {
		return msgs, false
	}
	k := kept{out: make([]sessions.Message, 0, len(msgs))}
	reached := make(map[sessions.RunID]bool) // refused runs of which a model took an earlier step
	for _, m := range msgs {
		answer := m.Role == sessions.Assistant && m.Model != "" && !strings.HasPrefix(m.Model, hostModels) && !m.IsRefusal()
		switch {
		case answer && m.Alone && m.Run != k.run:
			k.blame(m.Run)
			if reached[m.Run] = true; !refused[m.Run] {
				k.alone = append(k.alone, m)
			}
		case answer && m.Run == k.run && len(k.alone) > 0 && !refused[m.Run]: // a further step of a turn that was answered alone
			k.alone, k.fresh = append(append(k.alone, k.fresh...), m), nil
		case refused[m.Run] && answer: // its request was taken, with all that was there
			if !reached[m.Run] {
				reached[m.Run] = true
				k.take(m.Run)
			}
		case refused[m.Run] && m.IsRefusal() && !reached[m.Run]:
			k.fresh = posts(k.fresh)
		case refused[m.Run]:
		case answer:
			k.take(m.Run)
			k.out = append(k.out, m)
		default:
			k.fresh = append(k.fresh, m)
		}
	}
	return slices.Concat(k.out, k.alone, k.fresh), k.bare
}

// kept is what acceptable has left so far.
type kept struct {
	out   []sessions.Message // what a model has taken
	turns []int              // where in out its turns begin
	alone []sessions.Message // turns behind out that were answered alone
	fresh []sessions.Message // what came since
	run   sessions.RunID     // of the newest answer
	times int                // how often turns of out were blamed in a row
	bare  bool
}

// take has a model have taken all that there is.
func (k *kept) take(run sessions.RunID) {
	if run != k.run {
		k.turns = append(k.turns, len(k.out))
	}
	k.out = append(append(k.out, k.alone...), k.fresh...)
	k.alone, k.fresh, k.run, k.times = nil, nil, run, 0
}

// blame takes out what was likely to be the reason why a run could only be answered alone.
func (k *kept) blame(run sessions.RunID) {
	own := func(m sessions.Message) bool { return m.Run == run }
	before := slices.DeleteFunc(slices.Clone(k.fresh), own)
	stay := posts(before)
	switch n := len(k.turns) - 1<<min(k.times, 20); {
	case len(stay) < len(before): // no model had taken them
	case len(k.out) > 0:
		if n < 0 || len(k.turns) == 0 { // what was imported belongs to no turn
			k.out, k.turns = nil, nil
		} else {
			k.out, k.turns = k.out[:k.turns[n]], k.turns[:n]
		}
		k.times++
	case len(k.alone)+len(stay) > 0:
		k.alone, stay = nil, nil
	default:
		k.bare = true
	}
	k.alone = append(append(k.alone, stay...), slices.DeleteFunc(k.fresh, func(m sessions.Message) bool { return !own(m) })...)
	k.fresh, k.run = nil, run
}

// posts gives those of the messages that the host has posted: they are likely to be harmless.
func posts(msgs []sessions.Message) []sessions.Message {
	return slices.DeleteFunc(slices.Clone(msgs), func(m sessions.Message) bool { return m.Model != postModel })
}

// acceptableOf gives those of a history's oldest messages that are in what acceptable leaves of it, and the text of the summary before them.
func acceptableOf(x history, oldest int) (msgs []sessions.Message, before string) {
	all, bare := acceptable(x.msgs)
	if before = x.sum.Text; bare {
		before = ""
	}
	stay := make(map[string]bool, len(all))
	for _, m := range all {
		stay[m.ID] = true
	}
	return slices.DeleteFunc(slices.Clone(x.msgs[:oldest]), func(m sessions.Message) bool { return !stay[m.ID] }), before
}
