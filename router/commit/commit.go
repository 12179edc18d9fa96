package commit

import (
	"context"
	"errors"
	"time"

	"parley/router/event"
	"parley/router/lane"
	"parley/sessions"
)

// NoteUncertain sets in motion what a write may have made although it failed: what is made later must not overtake it. In a store that goes on
// failing it looks once; what comes of the rest is looked for before the next write that works is followed. A write whose caller had gone
// away before it was begun has made nothing.
func (r *Committer) NoteUncertain(ctx context.Context, err error) {
	untried := ctx.Err() != nil && errors.Is(err, ctx.Err())
	if !untried && !errors.Is(err, sessions.ErrNotFound) && !errors.Is(err, sessions.ErrConflict) && !r.Uncertain.Swap(true) {
		_ = r.Rescue(ctx) // the doubt stays until a write works
	}
}

// Rescue sets in motion what the store holds and nobody works on. There should be none: it is for commits whose answer was lost. Whoever
// asked for the commit may have gone away meanwhile.
func (r *Committer) Rescue(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rescueTimeout)
	defer cancel()
	late, set := r.gate.Refill(ctx), r.settings()
	if late != nil && !r.lanes.IsClosing() {
		r.log.Error("cannot list the deliveries that wait", keyErr, late)
	}
	runs, err := r.store.ListRuns(ctx, sessions.RunQuery{Status: sessions.Queued, Limit: 1000})
	if err != nil && !r.lanes.IsClosing() {
		r.log.Error("cannot list the runs that wait", keyErr, err)
	}
	for _, run := range runs {
		r.lanes.Wake(run.Key, set.Asker(run.Key, &run))
	}
	atWork, err2 := r.store.ListRuns(ctx, sessions.RunQuery{Status: sessions.Running, Limit: 10_000})
	if err2 != nil && !r.lanes.IsClosing() {
		r.log.Error("cannot list the runs that are at work", keyErr, err2)
	}
	for _, run := range atWork {
		if run.Home != "" {
			r.lanes.Take(run.Home, run.ID, run.Key)
		}
		if !r.lanes.IsAt(run.Key, run.ID) {
			r.lanes.Recheck(run.Key, set.Asker(run.Key, &run))
		}
	}
	return errors.Join(late, err, err2)
}

// rescueTimeout is how long a store may take to say what waits.
const rescueTimeout = 5 * time.Second

// Submit queues work that comes from no platform: the API, cron, hooks, session tools. It is durable when it returns.
func (r *Committer) Submit(ctx context.Context, c sessions.Change) (acc sessions.Accepted, err error) {
	lane := r.lanes.Reserve(&c, r.settings())
	defer func() { lane.End(acc, err) }()
	if acc, err = r.store.Submit(ctx, c); err != nil {
		r.NoteUncertain(ctx, err)
		return acc, err
	}
	r.watchers.Change(c, acc)
	r.Abort(c, acc)
	r.AfterCommit(ctx, acc)
	return acc, nil
}

// Abort ends the runs at work that a commit has stopped for another reason than that somebody stopped them.
func (r *Committer) Abort(c sessions.Change, acc sessions.Accepted) {
	_, reset := sessions.FindOp[sessions.ResetSession](c)
	switch {
	case c.Run != nil && c.Run.Interrupt:
		for _, s := range acc.Stopped {
			if s.Home != "" { // what it was to answer is in this session's transcript now
				r.drop(acc.Session.ID)
			}
		}
		r.lanes.Abort(acc.Stopped, lane.ErrInterrupted)
	case reset:
		r.lanes.Abort(acc.Stopped, lane.ErrReset)
	}
}

// AfterCommit sets in motion what a commit made, behind what those before it may have made that failed.
func (r *Committer) AfterCommit(ctx context.Context, acc sessions.Accepted) {
	if r.Uncertain.Load() && r.Uncertain.Swap(false) && r.Rescue(ctx) != nil {
		r.Uncertain.Store(true)
	}
	if len(acc.Stopped) > 0 {
		r.lanes.Abort(acc.Stopped, lane.ErrStopped)
		for _, s := range acc.Stopped {
			r.Waiters.Notify(string(s.ID))
			r.gate.RemoveReactions(s.ID)
			if !r.lanes.IsAt(s.Key, s.ID) { // otherwise its end is told when it has come
				r.watchers.Publish(event.Event{Kind: event.KindRun, Session: s.Key, Run: s.ID, Status: sessions.Stopped})
			}
		}
	}
	if len(acc.Deliveries) > 0 {
		r.gate.Enqueue(acc.Deliveries...)
	}
	if acc.Run.ID != "" && !acc.Run.Status.Final() {
		if !acc.Duplicate {
			r.watchers.Run(acc.Run, sessions.Queued)
		}
		if acc.Claimed == nil { // otherwise its lane is reserved
			r.lanes.WakeFor(&acc.Run, r.settings().Asker(acc.Run.Key, &acc.Run))
		}
		r.Waiters.Notify(string(acc.Run.Key))
	}
}
