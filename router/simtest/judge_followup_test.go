package simtest

import (
	"slices"
	"strings"

	"parley/router/routertest"
	"parley/sessions"
)

// judgeFollowUp: the people who asked are told once of a reply, a failure or a stop that came after the call had answered without it, and never of
// what the call has answered (S15). It gives the steps of the exchange itself.
func (r *rest) judgeFollowUp(steps []sessions.Run) []sessions.Run {
	ask := steps[0]
	isFollowUp := func(run sessions.Run) bool { return run.Kind == sessions.FollowUpRun }
	rest := slices.DeleteFunc(slices.Clone(steps), isFollowUp)
	told := slices.DeleteFunc(slices.Clone(steps), func(run sessions.Run) bool { return !isFollowUp(run) })
	answer, _ := r.answerOf(ask, rest[len(rest)-1])
	switch {
	case len(told) > 1:
		r.wrong("S15", "people are told %d times of the exchange %s", len(told), ask.ID)
	case len(told) == 1:
		r.judgeTold(ask, rest[len(rest)-1], told[0], answer)
	case r.mustTell(rest):
		r.wrong("S15", "nobody is told of the exchange %s, whose call answered %s", ask.ID, answer)
	}
	return rest
}

// judgeTold looks at a follow-up: it comes last, in the session that asked, and what it says goes to the chat of that session.
func (r *rest) judgeTold(ask, last, run sessions.Run, answer string) {
	r.w.tally("follow-ups")
	switch {
	case last.Status == sessions.Stopped:
		r.w.tally("follow-ups after a stop")
	case run.Chain.Error != "":
		r.w.tally("follow-ups on a failure")
	}
	if answer == "ok" || answer == "error" || !r.w.plan.tells {
		r.wrong("S15", "people are told of the exchange %s, whose call answered %s; switched on %v", ask.ID, answer, r.w.plan.tells)
	}
	if run.Key != ask.Chain.Requester || last.Status != sessions.Stopped && run.Created.Before(last.Ended) {
		r.wrong("S15", "people are told of the exchange %s in %s at %s", ask.ID, run.Key, run.Created)
	}
	if r.byPartner(last, ask.Chain.Requester) && !r.byPartner(last, ask.Chain.Target) {
		r.wrong("S15", "people are told of the exchange %s, which they have stopped", ask.ID)
	}
	posts := r.by[run.ID]
	// An empty answer and a failure are told with a notice.
	if speaks := run.Status != sessions.Stopped && (run.Status != sessions.Done || run.Result == "" || !silent(run)); len(posts) > 1 || speaks != (len(posts) == 1) {
		r.wrong("S15", "the follow-up %s of the exchange %s says %q in %d deliveries", run.Status, ask.ID, run.Result, len(posts))
	}
	for _, d := range posts {
		if d.Kind != sessions.Reply || d.Session != run.Key || r.w.keys[d.To] != run.Key {
			r.wrong("S15", "the exchange %s is told of in %s, for %s", ask.ID, d.To, d.Session)
		}
	}
}

// byPartner reports whether a run was stopped, and may have been in a session.
func (r *rest) byPartner(run sessions.Run, key sessions.Key) bool {
	return run.Status == sessions.Stopped && r.stoppedBy(run, key)
}

// answerOf is the status that the call which began an exchange was answered with, "" when it broke off, and whether that was before the end.
func (r *rest) answerOf(ask, last sessions.Run) (status string, inTime bool) {
	run, call, _ := strings.Cut(strings.TrimPrefix(ask.Source, "tool:"), ":")
	for _, m := range r.texts[ask.Chain.Requester] {
		if m.Role == sessions.ToolResult && string(m.Run) == run && m.ToolCallID == call {
			return routertest.StatusOf(m.Text()), m.Time.Before(last.Ended)
		}
	}
	return "", false
}

// mustTell reports whether people have to be told of an exchange: its call had answered without a reply, they have a chat, and nobody stopped
// anything there since it began. What is too late to be said is not.
func (r *rest) mustTell(steps []sessions.Run) bool {
	ask, last := steps[0], steps[len(steps)-1]
	if answer, inTime := r.answerOf(ask, last); !inTime || answer != "accepted" && answer != "timeout" {
		return false
	}
	whole := ask
	whole.Error, whole.Ended = "", last.Ended
	if asker, ok := r.byID[sessions.RunID(strings.SplitN(strings.TrimPrefix(ask.Source, "tool:"), ":", 2)[0])]; ok {
		whole.Created = asker.Created
	}
	stopped := slices.ContainsFunc(append(slices.Clone(ask.Chain.Hops), ask.Chain.Requester), func(k sessions.Key) bool { return r.stoppedBy(whole, k) })
	return r.w.plan.tells && !ask.Chain.Back.IsZero() && !stopped && !strings.HasSuffix(last.Error, "would be too late")
}
