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
// that was refused, and those since the newest answer before it, as no model had taken them by then. What the host posted there stays. After a
// second refusal in a row it goes too, with the newest answer, after a third one two answers more, then four: no session is refused for ever
// for something that an earlier model took. bare says that nothing was left when a further one was refused: then the summary is the reason.
// msgs stays as it is, and is given back when there is nothing to leave out.
func acceptable(msgs []sessions.Message) (out []sessions.Message, bare bool) {
	refused := sessions.RefusedRuns(msgs)
	if refused == nil {
		return msgs, false
	}
	k := kept{out: make([]sessions.Message, 0, len(msgs))}
	taken := make(map[sessions.RunID]bool)
	for _, m := range msgs {
		answer := m.Role == sessions.Assistant && m.Model != "" && !strings.HasPrefix(m.Model, hostModels)
		switch {
		case refused[m.Run] && answer: // its request was taken, with all that was there
			taken[m.Run] = true
			k.behind, k.inARow, k.bare = len(k.out), 0, false
		case refused[m.Run] && m.IsRefusal() && !taken[m.Run]:
			k.refuse()
		case refused[m.Run]:
		case answer:
			k.answers = append(k.answers, len(k.out))
			k.out = append(k.out, m)
			k.behind, k.inARow, k.bare = len(k.out), 0, false
		default:
			k.out = append(k.out, m)
		}
	}
	return slices.Clip(k.out), k.bare
}

// kept is what acceptable has left so far.
type kept struct {
	out     []sessions.Message
	answers []int // where in out the answers of models are
	behind  int   // where in out a model has taken all before
	inARow  int   // refusals since
	bare    bool
}

// refuse takes out what was likely to be the reason of a refusal.
func (k *kept) refuse() {
	k.inARow++
	switch {
	case k.inARow == 1:
		posts := slices.DeleteFunc(slices.Clone(k.out[k.behind:]), func(m sessions.Message) bool { return m.Model != postModel })
		k.out = append(k.out[:k.behind], posts...)
		return
	case len(k.out) == 0:
		k.bare = true
	}
	cut := 0
	if n := len(k.answers) - 1<<min(k.inARow-2, 20); n >= 0 {
		cut, k.answers = k.answers[n], k.answers[:n]
	} else {
		k.answers = nil
	}
	k.out, k.behind = k.out[:cut], cut
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
