package turn

import (
	"context"

	"parley/agent"
	"parley/sessions"
	"parley/tools"
)

// outlast waits at the end of a sub-agent's turn for the sub-agents of its own. Its answer so far is kept first: the wait may be long.
func (w *Worker) outlast(ctx context.Context, c tools.Caller, keep func() error) error {
	open, err := sessions.OpenChildren(ctx, w.store, c.Run.Key, 1)
	if err != nil || len(open) == 0 {
		return err
	}
	if err := keep(); err != nil {
		return err
	}
	return w.commit.Idle(ctx, c)
}

// listen has a turn at work take up what comes in meanwhile: a sub-agent's because it has one report, a person's where messages
// steer it.
func (w *Worker) listen(at *sessions.Run, c tools.Caller, t *agent.Turn, told ended) {
	switch run := *at; run.Kind {
	case sessions.ChildRun:
		t.Waiting = func(ctx context.Context, keep func() error) (bool, error) {
			if keep != nil { // it has one result, with those of its own sub-agents
				if err := w.outlast(ctx, c, keep); err != nil {
					return false, err
				}
			}
			return w.commit.Waiting(ctx, run)
		}
		t.Take = func(ctx context.Context) ([]sessions.Message, error) {
			return w.absorb(ctx, run, sessions.MergeQuery{Kind: run.Kind}, told)
		}
	case sessions.TurnRun:
		var next []sessions.RunID
		t.Waiting = func(ctx context.Context, keep func() error) (more bool, err error) {
			if keep != nil { // its answer is there: what comes now has the next one
				return false, nil
			}
			next, err = w.Merger.steerable(ctx, run)
			return len(next) > 0, err
		}
		t.Take = func(ctx context.Context) ([]sessions.Message, error) {
			taken, err := w.absorb(ctx, run, sessions.MergeQuery{Kind: run.Kind, Only: next}, told)
			replyToNewest(at, taken)
			return taken, err
		}
	}
}

// ended are runs of which it was told that they ended in a turn. An end that is unclear is told of with the next one.
type ended map[sessions.RunID]bool

// absorb has the turn at work take up what waits, and tells those who wait for the runs that end with it, of each once.
func (w *Worker) absorb(ctx context.Context, run sessions.Run, q sessions.MergeQuery, told ended) ([]sessions.Message, error) {
	taken, err := w.store.MergeQueued(ctx, run.ID, q)
	if err != nil {
		w.Transcripts.Forget(run.Session) // it may be there all the same
		return nil, err
	}
	w.Transcripts.add(run.Session, taken...)
	w.watchers.Messages(run, taken...)
	takenUp, err := w.store.ListRuns(ctx, sessions.RunQuery{MergedInto: run.ID, Status: sessions.Done, Limit: sessions.MaxListed})
	if err != nil { // they look again themselves
		w.log.Error("cannot list the runs that were taken up", keyRun, run.ID, keyErr, err)
	}
	for _, x := range takenUp {
		if told[x.ID] {
			continue
		}
		told[x.ID] = true
		w.commit.Waiters.Notify(string(x.ID))
		w.watchers.Run(x, x.Status)
	}
	return taken, nil
}
