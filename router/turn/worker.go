package turn

import (
	"context"
	"errors"
	"slices"
	"time"

	"parley/agent"
	"parley/router/lane"
	"parley/sessions"
)

// Process claims the next run of a session, unless one is claimed already, and brings it to its end. It reports whether there may be
// more. When ctx ends because the host stops, the run stays claimed in the store and the next process takes it up where it stood.
func (w *Worker) Process(ctx context.Context, key sessions.Key, claimed *sessions.Run) (more bool) {
	if w.context != nil {
		ctx = w.context(ctx, key)
	}
	run, ok := w.next(ctx, key, claimed)
	if !ok {
		return false
	}
	w.lanes.SetRunning(key, run.ID, w.settings().Asker(key, &run))
	w.lanes.EnterHome(ctx, key, run.Home())
	w.watchers.Run(run, sessions.Running)
	switch {
	case run.Attempt > 1:
		w.Transcripts.Forget(run.Session)
	case run.Kind != sessions.CompactRun: // whose input is no message
		w.Transcripts.add(run.Session, run.Input)
		w.watchers.Messages(run, run.Input)
	}
	began, unanswered := time.Now(), false
	defer func() { w.gate.EndDraft(context.WithoutCancel(ctx), run, unanswered) }()
	out := &sessions.Outcome{Status: sessions.Done} // of a post: its input is all that there is to it
	if run.Kind != sessions.PostRun {
		if out = w.stopped(ctx, run, w.turn(ctx, &run)); out == nil {
			return false // handed over
		}
	} else if !w.chain.Complete(ctx, w.settings(), run, agent.Outcome{}, "", out) {
		return false
	}
	w.lanes.MarkIdle(key)
	out.Summary = w.Transcripts.cache.takePendingSummary(run.Session)
	var acc sessions.Accepted
	lane := w.lanes.Reserve(out.Next, w.settings())
	defer func() { lane.End(acc, nil) }()
	reserved := w.gate.Reserve(out)
	defer reserved.End(w.lanes.Host(ctx))
	if acc, ok = w.Finish(ctx, run, *out, reserved); !ok {
		return false
	}
	if run.Kind != sessions.PostRun { // which is no turn
		w.metrics.ran(run.Kind, out.Status, time.Since(began))
	}
	w.log.Debug("run ended", keyRun, run.ID, keySession, key, keyState, out.Status)
	if slices.ContainsFunc(acc.Stopped, func(s sessions.StoppedRun) bool { return s.ID == run.ID }) { // the stop was committed before its end
		out = &sessions.Outcome{Status: sessions.Stopped, Error: sessions.ByPerson.Words()}
		w.Transcripts.Forget(run.Session)
	}
	w.commit.Waiters.Notify(string(run.ID))
	w.watchers.End(run, *out, acc)
	look, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second) // the gate looks again when this fails
	w.gate.RetractPreview(look, run.ID)
	cancel()
	unanswered = len(acc.Deliveries) == 0
	if unanswered { // otherwise they are seen first
		w.gate.RemoveReactions(run.ID)
	}
	w.commit.AfterCommit(ctx, acc)
	return true
}

// stopped makes the outcome of a run that a person stopped, or a newer message interrupted. An answer that was ready leaves all the
// same when it was interrupted; of what was stopped nothing is posted or handed on, whatever it had: the store sees to that.
func (w *Worker) stopped(ctx context.Context, run sessions.Run, out *sessions.Outcome) *sessions.Outcome {
	why := lane.EndedBy(ctx)
	switch {
	case why == nil:
		return out
	case out == nil || out.Status != sessions.Done:
		stopped := &sessions.Outcome{Status: sessions.Stopped, Error: why.Error()}
		if out != nil {
			stopped.Usage = out.Usage
		}
		if errors.Is(why, lane.ErrStopped) && run.Kind != sessions.CompactRun { // whose input is no message
			stopped.Messages = []sessions.Message{sessions.StoppedMessage(run.ID, time.Now())}
		}
		return stopped
	}
	return out
}
