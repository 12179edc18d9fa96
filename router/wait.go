package router

import (
	"context"
	"errors"
	"slices"
	"time"

	"parley/agent"
	"parley/router/lane"
	"parley/sessions"
	"parley/tools"
)

// lookAgainEvery is how often those who wait look into the store unasked: for ends that nobody told of.
const lookAgainEvery = 30 * time.Second

// Idle implements tools.Host.
func (r *Router) Idle(ctx context.Context, c tools.Caller) error {
	queued, cancel := r.ends.subscribe(string(c.Run.Key))
	defer cancel()
	for {
		if waits, err := r.waiting(ctx, c.Run); err != nil || waits {
			return err
		}
		open, err := sessions.OpenChildren(ctx, r.store, c.Run.Key, 1)
		if err != nil || len(open) == 0 {
			return err
		}
		if err := r.idleFor(ctx, queued, open[0].ID); err != nil {
			return err
		}
	}
}

// outlast waits at the end of a sub-agent's turn for the sub-agents of its own. Its answer so far is kept first: the wait may be long.
func (r *Router) outlast(ctx context.Context, c tools.Caller, keep func() error) error {
	open, err := sessions.OpenChildren(ctx, r.store, c.Run.Key, 1)
	if err != nil || len(open) == 0 {
		return err
	}
	if err := keep(); err != nil {
		return err
	}
	return r.Idle(ctx, c)
}

// idleFor waits until something is queued, a child's run may have ended, or ctx ends (then ctx's error).
func (r *Router) idleFor(ctx context.Context, queued <-chan struct{}, child sessions.RunID) error {
	ended, cancel := r.ends.subscribe(string(child))
	defer cancel()
	if now, err := r.store.GetRun(ctx, child); errors.Is(err, sessions.ErrNotFound) {
		return nil // deleted with its session
	} else if err != nil || now.Status.Final() {
		return err
	}
	return r.pause(ctx, queued, ended)
}

// pause waits for a wake-up without holding the caller's slot.
func (r *Router) pause(ctx context.Context, wake ...<-chan struct{}) (err error) {
	lane.WithoutSlot(ctx, func() {
		again := time.NewTimer(lookAgainEvery)
		defer again.Stop()
		select {
		case <-wake[0]:
		case <-wake[len(wake)-1]:
		case <-again.C:
		case <-ctx.Done():
		}
	})
	return ctx.Err()
}

// waiting reports whether there is something that a sub-agent's turn at work takes up: a result of a sub-agent of its own, a
// further message.
func (r *Router) waiting(ctx context.Context, run sessions.Run) (bool, error) {
	queued, err := r.store.ListRuns(ctx, sessions.RunQuery{Key: run.Key, Status: sessions.Queued, Limit: 100})
	return slices.ContainsFunc(queued, func(q sessions.Run) bool {
		return q.Kind == sessions.ChildRun && q.Session == run.Session && q.Attempt == 0 // what Absorb takes
	}), err
}

// listen has a turn at work take up what comes in meanwhile: a sub-agent's because it has one report, a person's where messages
// steer it.
func (r *Router) listen(at *sessions.Run, c tools.Caller, t *agent.Turn, told ended) {
	switch run := *at; run.Kind {
	case sessions.ChildRun:
		t.Waiting = func(ctx context.Context, keep func() error) (bool, error) {
			if keep != nil { // it has one result, with those of its own sub-agents
				if err := r.outlast(ctx, c, keep); err != nil {
					return false, err
				}
			}
			return r.waiting(ctx, run)
		}
		t.Take = func(ctx context.Context) ([]sessions.Message, error) {
			return r.absorb(ctx, run, sessions.AbsorbQuery{Kind: run.Kind}, told)
		}
	case sessions.TurnRun:
		var next []sessions.RunID
		t.Waiting = func(ctx context.Context, keep func() error) (more bool, err error) {
			if keep != nil { // its answer is there: what comes now has the next one
				return false, nil
			}
			next, err = r.steering(ctx, run)
			return len(next) > 0, err
		}
		t.Take = func(ctx context.Context) ([]sessions.Message, error) {
			taken, err := r.absorb(ctx, run, sessions.AbsorbQuery{Kind: run.Kind, Only: next}, told)
			replyToNewest(at, taken)
			return taken, err
		}
	}
}

// ended are runs of which it was told that they ended in a turn. An end that is unclear is told of with the next one.
type ended map[sessions.RunID]bool

// absorb has the turn at work take up what waits, and tells those who wait for the runs that end with it, of each once.
func (r *Router) absorb(ctx context.Context, run sessions.Run, q sessions.AbsorbQuery, told ended) ([]sessions.Message, error) {
	taken, err := r.store.Absorb(ctx, run.ID, q)
	if err != nil {
		r.histories.drop(run.Session) // it may be there all the same
		return nil, err
	}
	r.histories.add(run.Session, r.readMost(), taken...)
	r.watchers.Messages(run, taken...)
	takenUp, err := r.store.ListRuns(ctx, sessions.RunQuery{Batch: run.ID, Status: sessions.Done, Limit: sessions.MaxListed})
	if err != nil { // they look again themselves
		r.log.Error("cannot list the runs that were taken up", keyRun, run.ID, keyErr, err)
	}
	for _, x := range takenUp {
		if told[x.ID] {
			continue
		}
		told[x.ID] = true
		r.ends.tell(string(x.ID))
		r.watchers.Run(x, x.Status)
	}
	return taken, nil
}

// Wait implements tools.Host: it blocks until a run is final, without holding the caller's slot (contract S6).
func (r *Router) Wait(ctx context.Context, id sessions.RunID) (sessions.Run, error) {
	ended, cancel := r.ends.subscribe(string(id))
	defer cancel()
	for {
		run, err := r.store.GetRun(ctx, id)
		if err != nil || run.Status.Final() {
			return run, err
		}
		if err := r.pause(ctx, ended); err != nil {
			return run, err
		}
	}
}
