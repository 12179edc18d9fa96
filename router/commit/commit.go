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
func (c *Committer) NoteUncertain(ctx context.Context, err error) {
	untried := ctx.Err() != nil && errors.Is(err, ctx.Err())
	if !untried && !errors.Is(err, sessions.ErrNotFound) && !errors.Is(err, sessions.ErrConflict) && !c.Uncertain.Swap(true) {
		_ = c.Rescue(ctx) // Uncertain stays set until a write works
	}
}

// Rescue sets in motion what the store holds and no worker has. There should be none: it is for commits whose answer was lost. Whoever
// asked for the commit may have gone away meanwhile.
func (c *Committer) Rescue(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rescueTimeout)
	defer cancel()
	c.people(ctx)
	late, set := c.gate.Refill(ctx), c.settings()
	if late != nil && !c.lanes.IsClosing() {
		c.log.Error("cannot list pending deliveries", keyErr, late)
	}
	runs, err := c.store.ListRuns(ctx, sessions.RunQuery{Status: sessions.Queued, Limit: 1000})
	if err != nil && !c.lanes.IsClosing() {
		c.log.Error("cannot list queued runs", keyErr, err)
	}
	for _, run := range runs {
		c.lanes.Wake(run.Key, set.Asker(run.Key, &run))
	}
	atWork, err2 := c.store.ListRuns(ctx, sessions.RunQuery{Status: sessions.Running, Limit: 10_000})
	if err2 != nil && !c.lanes.IsClosing() {
		c.log.Error("cannot list running runs", keyErr, err2)
	}
	for _, run := range atWork {
		if home := run.Home(); home != "" {
			c.lanes.MoveRun(home, run.ID, run.Key)
		}
		if !c.lanes.IsAt(run.Key, run.ID) {
			c.lanes.Recheck(run.Key, set.Asker(run.Key, &run))
		}
	}
	return errors.Join(late, err, err2)
}

// rescueTimeout is how long a store may take to say what waits.
const rescueTimeout = 5 * time.Second

// Accept commits what an event of a platform causes. The caller shows the person that it came, and then calls Abort and AfterCommit; after
// an error that is its last, it calls NoteUncertain.
func (c *Committer) Accept(ctx context.Context, a sessions.Arrival) (sessions.Accepted, error) {
	return c.store.Accept(ctx, a)
}

// Finish commits the end of a run. The caller tries again until it works, and then calls AfterCommit.
func (c *Committer) Finish(ctx context.Context, id sessions.RunID, o sessions.Outcome) (sessions.Accepted, error) {
	return c.store.Finish(ctx, id, o)
}

// Fire commits a time of a scheduled job, and begins what it made.
func (c *Committer) Fire(ctx context.Context, f sessions.Firing) (acc sessions.Accepted, err error) {
	if acc, err = c.store.Fire(ctx, f); err == nil {
		c.AfterCommit(ctx, acc)
	}
	return acc, err
}

// Submit queues work that comes from no platform: the API, cron, hooks, session tools. It is durable when it returns.
func (c *Committer) Submit(ctx context.Context, change sessions.Change) (acc sessions.Accepted, err error) {
	lane := c.lanes.Reserve(&change, c.settings())
	defer func() { lane.End(acc, err) }()
	if acc, err = c.store.Submit(ctx, change); err != nil {
		c.NoteUncertain(ctx, err)
		return acc, err
	}
	c.watchers.Change(change, acc)
	c.Abort(change, acc)
	c.AfterCommit(ctx, acc)
	return acc, nil
}

// Abort ends the current runs that a commit has stopped for another reason than a person's stop.
func (c *Committer) Abort(change sessions.Change, acc sessions.Accepted) {
	_, reset := sessions.FindOp[sessions.ResetSession](change)
	switch {
	case change.Run != nil && change.Run.Interrupt:
		for _, s := range acc.Stopped {
			if s.Home != "" { // what it was to answer is in this session's transcript now
				c.drop(acc.Session.ID)
			}
		}
		c.lanes.Abort(acc.Stopped, lane.ErrInterrupted)
	case reset:
		c.lanes.Abort(acc.Stopped, lane.ErrReset)
	}
}

// AfterCommit sets in motion what a commit made, behind what those before it may have made that failed.
func (c *Committer) AfterCommit(ctx context.Context, acc sessions.Accepted) {
	if c.Uncertain.Load() && c.Uncertain.Swap(false) && c.Rescue(ctx) != nil {
		c.Uncertain.Store(true)
	}
	if acc.Decided != nil {
		c.people(ctx)
	}
	if len(acc.Stopped) > 0 {
		c.lanes.Abort(acc.Stopped, lane.ErrStopped)
		for _, s := range acc.Stopped {
			c.Waiters.Notify(string(s.ID))
			c.gate.RemoveReactions(s.ID)
			if c.lanes.IsAt(s.Key, s.ID) { // its end is told when it has come
				continue
			}
			c.watchers.Publish(event.Event{Kind: event.KindRun, Session: s.Key, Run: s.ID, Status: sessions.Stopped})
			if s.Home != "" { // what waits there has waited for it
				c.lanes.Wake(s.Home, c.settings().AskerOf(s.Home, nil))
			}
		}
	}
	c.gate.Withdraw(acc.Withdrawn...)
	if len(acc.Deliveries) > 0 {
		c.gate.Enqueue(acc.Deliveries...)
	}
	for _, run := range acc.FollowUps {
		c.watchers.Run(run, sessions.Queued)
		c.lanes.WakeFor(&run, c.settings().Asker(run.Key, &run))
		c.Waiters.Notify(string(run.Key))
	}
	if acc.Run.ID != "" && !acc.Run.Status.Final() {
		if !acc.Duplicate {
			c.watchers.Run(acc.Run, sessions.Queued)
		}
		if acc.Claimed == nil { // otherwise its lane is reserved
			c.lanes.WakeFor(&acc.Run, c.settings().Asker(acc.Run.Key, &acc.Run))
		}
		c.Waiters.Notify(string(acc.Run.Key))
	}
}
