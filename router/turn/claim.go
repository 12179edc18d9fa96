package turn

import (
	"context"
	"errors"
	"slices"

	"parley/router/delivery"
	"parley/router/lane"
	"parley/sessions"
)

// Finish commits the end of a run. It is false when the host stops before that, and when the run's words were changed behind its last try: its lane
// is at it once more then. Only the first try begins to send what it makes.
func (w *Worker) Finish(ctx context.Context, run sessions.Run, out sessions.Outcome, reserved *delivery.Reservation) (acc sessions.Accepted, ok bool) {
	var ended error
	out.Revised = run.Revised
	ok = w.retry.Do(ctx, "finish", func(ctx context.Context) (err error) {
		if acc, err = w.commit.Finish(ctx, run.ID, out); err != nil {
			reserved.Release()
			out.Begin = nil
		}
		if ended = err; errors.Is(err, sessions.ErrConflict) || errors.Is(err, sessions.ErrNotFound) {
			return nil // ended by a person meanwhile, or deleted with its session
		}
		return err
	})
	if !ok || ended != nil {
		acc = sessions.Accepted{}
		reserved.End(w.lanes.Host(ctx))
		w.budgets.KeepUnrecorded(ctx, run, out.Messages...)
	}
	switch {
	case !ok:
	case errors.Is(ended, sessions.ErrRevised):
		w.Transcripts.Forget(run.Session)
		w.lanes.Recheck(run.Key, w.settings().Asker(run.Key, &run))
		ok = false
	case ended == nil:
		w.Transcripts.add(run.Session, out.Messages...)
	default: // or ended by a commit whose answer was lost: what it made is in the store
		w.Transcripts.Forget(run.Session)
		_ = w.commit.Rescue(ctx) // it says what fails
	}
	return acc, ok
}

// next gives the run that a session's lane is at now.
func (w *Worker) next(ctx context.Context, key sessions.Key, claimed *sessions.Run) (run sessions.Run, ok bool) {
	switch {
	case claimed != nil:
		return *claimed, true
	case w.lanes.IsAway(key):
		return run, false
	}
	recheck := w.lanes.NeedsRecheck(key)
	if !recheck && !w.Merger.awaitDebounce(ctx, key) {
		return run, false
	}
	return w.claim(ctx, key, recheck)
}

// claim takes the next run of a session. The lane is the only one that claims there, with what is accepted for it: a run that is running
// although the lane is not is its own, from a commit whose answer was lost.
func (w *Worker) claim(ctx context.Context, key sessions.Key, recheck bool) (run sessions.Run, ok bool) {
	tries := 0
	if recheck {
		tries++
	}
	if !w.retry.Do(ctx, "claim", func(ctx context.Context) (err error) {
		tries++
		run, ok, err = w.store.Claim(ctx, key)
		return err
	}) {
		return run, false
	}
	if ok || tries == 1 {
		return run, ok
	}
	var runs []sessions.Run
	if !w.retry.Do(ctx, "claim", func(ctx context.Context) (err error) {
		runs, err = w.store.ListRuns(ctx, sessions.RunQuery{Key: key, Status: sessions.Running, Limit: sessions.MaxListed})
		return err
	}) {
		return run, false
	}
	runs = slices.DeleteFunc(runs, func(x sessions.Run) bool { return x.Home() != "" && x.Home() != key && w.lanes.Busy(x.Home()) }) // that lane's
	if len(runs) == 0 {
		return run, false
	}
	if run = runs[0]; run.Stopping { // while no lane knew of it
		why := lane.ErrStopped
		if run.MergedInto != "" {
			why = lane.ErrInterrupted
		}
		w.lanes.Abort([]sessions.StoppedRun{{Key: key, ID: run.ID, Home: run.Home()}}, why)
	}
	return run, true
}
