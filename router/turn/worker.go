package turn

import (
	"context"
	"errors"
	"time"

	"parley/agent"
	"parley/router/lane"
	"parley/sessions"
)

// Process claims the next run of a session, unless one is claimed already, and brings it to its end. It reports whether there may be
// more. When ctx ends because the host stops, the run stays claimed in the store and the next process takes it up where it stood.
func (r *Worker) Process(ctx context.Context, key sessions.Key, claimed *sessions.Run) (more bool) {
	if r.context != nil {
		ctx = r.context(ctx, key)
	}
	run, ok := r.next(ctx, key, claimed)
	if !ok {
		return false
	}
	r.lanes.SetRunning(key, run.ID, r.settings().Asker(key, &run))
	r.lanes.EnterHome(ctx, key, run.Home)
	r.watchers.Run(run, sessions.Running)
	switch {
	case run.Attempt > 1:
		r.histories.drop(run.Session)
	case run.Kind != sessions.CompactRun: // whose input is no message
		r.histories.add(run.Session, r.readMost(), run.Input)
		r.watchers.Messages(run, run.Input)
	}
	began := time.Now()
	out := &sessions.Outcome{Status: sessions.Done} // of a post: its input is all that there is to it
	if run.Kind != sessions.PostRun {
		if out = r.stopped(ctx, run, r.turn(ctx, run)); out == nil {
			return false // handed over
		}
	} else if !r.chain.Advance(ctx, r.settings(), run, agent.Outcome{}, "", out) {
		return false
	}
	r.lanes.MarkIdle(key)
	out.Summary = r.histories.takeOwed(run.Session)
	var acc sessions.Accepted
	lane := r.lanes.Reserve(out.Next, r.settings())
	defer func() { lane.End(acc, nil) }()
	booking := r.gate.Reserve(out)
	defer booking.End(r.lanes.Host(ctx))
	if acc, ok = r.Finish(ctx, run, *out, booking); !ok {
		return false
	}
	if run.Kind != sessions.PostRun { // which is no turn
		r.metrics.ran(run.Kind, out.Status, time.Since(began))
	}
	r.log.Debug("run ended", keyRun, run.ID, keySession, key, keyState, out.Status)
	r.commit.Waiters.Notify(string(run.ID))
	r.watchers.End(run, *out, acc)
	look, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second) // the gate looks again when this fails
	r.gate.RetractPreview(look, run.ID)
	cancel()
	if len(acc.Deliveries) == 0 { // otherwise they are seen first
		r.gate.RemoveReactions(run.ID)
	}
	r.commit.AfterCommit(ctx, acc)
	return true
}

// stopped makes the outcome of a run that a person stopped, or a newer message interrupted. An answer that was ready leaves all the
// same; a sub-agent that was stopped reports nothing, whatever it had.
func (r *Worker) stopped(ctx context.Context, run sessions.Run, out *sessions.Outcome) *sessions.Outcome {
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
	case run.Kind == sessions.ChildRun:
		out.Status, out.Error, out.Next, out.Delete = sessions.Stopped, why.Error(), nil, nil
	}
	return out
}
