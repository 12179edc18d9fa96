package turn

import (
	"context"

	"parley/agent"
	"parley/sessions"
	"parley/tools"
)

// outlast waits at the end of a sub-agent's turn for the sub-agents of its own. Its answer so far is kept first: the wait may be long.
func (r *Worker) outlast(ctx context.Context, c tools.Caller, keep func() error) error {
	open, err := sessions.OpenChildren(ctx, r.store, c.Run.Key, 1)
	if err != nil || len(open) == 0 {
		return err
	}
	if err := keep(); err != nil {
		return err
	}
	return r.commit.Idle(ctx, c)
}

// listen has a turn at work take up what comes in meanwhile: a sub-agent's because it has one report, a person's where messages
// steer it.
func (r *Worker) listen(at *sessions.Run, c tools.Caller, t *agent.Turn, told ended) {
	switch run := *at; run.Kind {
	case sessions.ChildRun:
		t.Waiting = func(ctx context.Context, keep func() error) (bool, error) {
			if keep != nil { // it has one result, with those of its own sub-agents
				if err := r.outlast(ctx, c, keep); err != nil {
					return false, err
				}
			}
			return r.commit.Waiting(ctx, run)
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
func (r *Worker) absorb(ctx context.Context, run sessions.Run, q sessions.AbsorbQuery, told ended) ([]sessions.Message, error) {
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
		r.commit.Waiters.Notify(string(x.ID))
		r.watchers.Run(x, x.Status)
	}
	return taken, nil
}
