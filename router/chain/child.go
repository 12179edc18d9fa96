package chain

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"parley/agent"
	"parley/router/settings"
	"parley/sessions"
)

// onChildDone decides where a sub-agent's result goes (contract N10, N15, N16): to the sub-agent that asked for it, to the agent of
// the session that asked for it, or, worded by the sub-agent itself, into the chat there. Of its own words only ANNOUNCE_SKIP is silence.
func (a *Advancer) onChildDone(ctx context.Context, set *settings.Snapshot, run sessions.Run, c sessions.Chain, out agent.Outcome, notice string, o *sessions.Outcome) bool {
	c.Status, c.Error = o.Status, notice
	c.Latest = cmp.Or(out.Text, out.Newest)
	if slices.ContainsFunc(o.Messages, sessions.Message.IsRefusal) {
		c.Request = refusedRequest
	}
	began := run.Started
	if run.Attempt > 1 { // a restart began it again
		began = run.Created
	}
	c.StartedMs, c.EndedMs, c.Usage = began.UnixMilli(), began.Add(a.clock.Age(began)).UnixMilli(), o.Usage
	if out.Control == agent.AnnounceSkip {
		return a.cleanup(ctx, run, c, o)
	}
	if c.Parent != nil {
		return a.toParent(ctx, run, c, o)
	}
	_, found, ok := a.find(ctx, c.Requester)
	switch {
	case !ok:
		return false
	case found && isExternal(c.Requester):
		o.Next = a.toExternal(run, c, a.Report(c, run, c.Latest), fromChild(c))
		return a.cleanup(ctx, run, c, o)
	case found && (c.Origin.IsZero() || set.Agents.Defaults.Subagents.Announce == "requester"):
		o.Next = a.step(run, c.Requester, sessions.ResultRun, c, a.Report(c, run, c.Latest), fromChild(c))
		o.Next.Run.Reply = c.Origin
	case c.Origin.IsZero():
		a.unreported(run, o, "the session that asked for it does not exist any more, and there is no chat to report to")
	default:
		o.Next = a.announceStep(run, c)
	}
	return true
}

// toParent hands a result to the sub-agent that asked for it: its turn at work takes it up, otherwise a further one begins. That
// one's result is reported like its first.
func (a *Advancer) toParent(ctx context.Context, run sessions.Run, c sessions.Chain, o *sessions.Outcome) bool {
	parent, found, ok := a.find(ctx, c.Requester)
	stopped := false
	if ok && found && parent.Aborted { // it may have begun something new since it was stopped
		ok = a.retry.Do(ctx, "list runs", func(ctx context.Context) error {
			open, err := sessions.OpenRuns(ctx, a.store, sessions.RunQuery{Key: c.Requester, Limit: 50})
			stopped = !slices.ContainsFunc(open, func(x sessions.Run) bool { return x.Kind == sessions.ChildRun })
			return err
		})
	}
	switch {
	case !ok:
		return false
	case !found:
		a.unreported(run, o, "the sub-agent that asked for it does not exist any more")
		return true
	case stopped:
		a.unreported(run, o, "the sub-agent that asked for it was stopped")
		return true
	}
	var first sessions.Run // of the parent: what holds for its further runs as well
	if !a.retry.Do(ctx, "get run", func(ctx context.Context) (err error) {
		if first, err = a.store.GetRun(ctx, c.Parent.Root); errors.Is(err, sessions.ErrNotFound) {
			return nil
		}
		return err
	}) {
		return false
	}
	o.Next = a.step(run, c.Requester, sessions.ChildRun, *c.Parent, a.Report(c, run, c.Latest), fromChild(c))
	o.Next.Session.SpawnedBy, o.Next.Session.Above, o.Next.Session.Top = parent.SpawnedBy, parent.Above, parent.Top
	next := o.Next.Run
	next.Model, next.Label, next.Timeout = first.Model, first.Label, first.Timeout
	if !c.Parent.Until.IsZero() {
		next.Timeout = max(a.LeftAbove(*c.Parent), time.Millisecond)
		if first.Timeout > 0 {
			next.Timeout = min(next.Timeout, first.Timeout)
		}
	}
	return a.cleanup(ctx, run, c, o)
}

// fromChild is where a sub-agent's report comes from.
func fromChild(c sessions.Chain) *sessions.Provenance {
	return &sessions.Provenance{Kind: sessions.InterSession, Source: c.Target, Tool: "sessions_spawn", Owner: c.Owner, People: c.People}
}

// unreported ends a sub-agent's run whose result nobody is there to have: it is listed with the reason (contract N15). Its session
// stays, or there would be nothing to list.
func (a *Advancer) unreported(run sessions.Run, o *sessions.Outcome, why string) {
	a.log.Warn("a sub-agent's result is not reported", keyRun, run.ID, keySession, run.Key, keyReason, why)
	if o.Status == sessions.Done {
		o.Status = sessions.Stopped
	}
	o.Error = strings.TrimPrefix(o.Error+"; not reported: "+why, "; ")
}

// onAnnounceDone posts what the announce step says. A control word is silence (contract W3, N15): when the step failed or said nothing,
// the host posts the stored result (N11).
func (a *Advancer) onAnnounceDone(ctx context.Context, set *settings.Snapshot, run sessions.Run, c sessions.Chain, out agent.Outcome, o *sessions.Outcome) bool {
	if out.Control != agent.Speak {
		return a.cleanup(ctx, run, c, o)
	}
	text := ""
	if o.Status == sessions.Done {
		text = out.Text
	}
	requester, found, ok := a.find(ctx, c.Requester)
	if !ok {
		return false
	}
	// What becomes of the post is marked in the requester's transcript: that is where people and its agent look. The announce
	// step's own message has a mark only when there is no such transcript any more.
	d := a.announce(set, run, c, o.Messages[len(o.Messages)-1].ID, a.Report(c, run, text))
	if found {
		voice, ok := a.Voice(ctx, requester, c.Origin)
		if !ok {
			return false
		}
		o.Next = PostedBy(a.Posted(voice.Key, voice.Agent, run.Source, d.Text), run.Key, "sessions_spawn")
		d.Session, d.Message = voice.Key, o.Next.Run.Input.ID
	}
	o.Deliveries = append(o.Deliveries, d)
	return a.cleanup(ctx, run, c, o)
}

// onResultDone posts what the requester's agent says about a sub-agent's result. When its step failed or said nothing, the host
// posts the report (contract N11). Without a chat the agent is all there is to tell.
func (a *Advancer) onResultDone(ctx context.Context, set *settings.Snapshot, run sessions.Run, c sessions.Chain, out agent.Outcome, o *sessions.Outcome) bool {
	switch {
	case c.Origin.IsZero(), out.Control != agent.Speak:
	case o.Status == sessions.Done && spoke(out):
		o.Deliveries = append(o.Deliveries, a.announce(set, run, c, out.Final.ID, out.Text))
	default:
		msg := postedMessage(run.ID, run.Input.Text())
		o.Messages = append(o.Messages, msg)
		o.Deliveries = append(o.Deliveries, a.announce(set, run, c, msg.ID, msg.Text()))
	}
	if len(o.Deliveries) > 0 && c.Requester.Kind() == sessions.KindCron { // people read it in a chat of another session
		voice, ok := a.Voice(ctx, sessions.Session{Key: c.Requester, Agent: run.Agent}, c.Origin)
		if !ok {
			return false
		}
		d := &o.Deliveries[len(o.Deliveries)-1]
		o.Next = a.Posted(voice.Key, voice.Agent, run.Source, d.Text)
		d.Session, d.Message = voice.Key, o.Next.Run.Input.ID
	}
	return a.cleanup(ctx, run, c, o)
}

// cleanup deletes a sub-agent's session when the spawn asked for it (contract N14). The store leaves it as long as further runs of
// it wait, and it is left as long as sub-agents below it are at work: what their results cause deletes it. What a person stopped
// meanwhile is left to be listed (N15).
func (a *Advancer) cleanup(ctx context.Context, run sessions.Run, c sessions.Chain, o *sessions.Outcome) bool {
	if c.Cleanup != "delete" {
		return true
	}
	child, _, ok := a.find(ctx, c.Target)
	if !ok {
		return false
	}
	busy := false
	if !a.retry.Do(ctx, "list runs", func(ctx context.Context) (err error) {
		busy, err = a.busyBelow(ctx, c.Target, 0)
		return err
	}) {
		return false
	}
	if !busy && (!child.Aborted || run.Kind == sessions.ChildRun) {
		o.Delete = &c.Target
	}
	return true
}

// DeleteLate deletes a sub-agent's session when the spawn asked for it and a run of its chain was past its time (contract N14). What is
// left is a report that expires at once, which lists it (N15); where there is no chat for one, the session stays to be listed.
func (a *Advancer) DeleteLate(ctx context.Context, set *settings.Snapshot, run sessions.Run, c sessions.Chain, o *sessions.Outcome) bool {
	if c.Kind != Spawn || c.Cleanup != "delete" || c.Origin.IsZero() {
		return true
	}
	if c.Status == "" {
		c.Status, c.Error = o.Status, o.Error
	}
	d := a.announce(set, run, c, "", a.Report(c, run, ""))
	d.Expires = time.Now() // not by when it was made: the clock may have been set back since
	o.Deliveries = append(o.Deliveries, d)
	return a.cleanup(ctx, run, c, o)
}

// deepest bounds how far down sub-agents are followed.
const deepest = 16

// busyBelow reports whether a sub-agent below a session is at work.
func (a *Advancer) busyBelow(ctx context.Context, key sessions.Key, depth int) (bool, error) {
	if open, err := sessions.OpenChildren(ctx, a.store, key, 1); err != nil || len(open) > 0 || depth == deepest {
		return len(open) > 0, err
	}
	for _, archived := range []bool{false, true} {
		below, err := a.store.List(ctx, sessions.Query{SpawnedBy: key, Archived: archived, Limit: 1000})
		if err != nil {
			return false, err
		}
		for _, s := range below {
			if busy, err := a.busyBelow(ctx, s.Key, depth+1); err != nil || busy {
				return busy, err
			}
		}
	}
	return false, nil
}

// refusedRequest stands for the task of a sub-agent in later steps, when the provider refused it.
const refusedRequest = "(left out: the model's provider refused it)"
