package turn

import (
	"context"
	"errors"
	"slices"

	"parley/agent"
	"parley/sessions"
	"parley/tools"
)

// outlast waits at the end of a sub-agent's turn for the sub-agents of its own. Its answer so far is kept first: the wait may be long.
func (w *Worker) outlast(ctx context.Context, c *tools.Caller, keep func() error) error {
	open, err := sessions.OpenChildren(ctx, w.store, c.Run.Key, 1)
	if err != nil || len(open) == 0 {
		return err
	}
	if err := keep(); err != nil {
		return err
	}
	return w.commit.Idle(ctx, *c)
}

// listen merges into a running turn what comes in meanwhile: a sub-agent's because it has one report, a person's where messages
// steer it.
func (w *Worker) listen(at *sessions.Run, c *tools.Caller, t *agent.Turn, told ended) {
	switch run := &c.Run; run.Kind {
	case sessions.ChildRun:
		t.Waiting = func(ctx context.Context, keep func() error) (bool, error) {
			if keep != nil { // it has one result, with those of its own sub-agents
				if err := w.outlast(ctx, c, keep); err != nil {
					return false, err
				}
			}
			return w.commit.Waiting(ctx, *run)
		}
		t.Take = func(ctx context.Context) ([]sessions.Message, error) {
			return w.absorb(ctx, *run, sessions.MergeQuery{Kind: run.Kind}, told)
		}
	case sessions.AskRun:
		var results []sessions.RunID
		t.Waiting = func(ctx context.Context, keep func() error) (more bool, err error) {
			if keep != nil {
				return false, nil
			}
			results, err = w.yieldedFor(ctx, *run)
			return len(results) > 0, err
		}
		t.Take = func(ctx context.Context) ([]sessions.Message, error) {
			return w.absorb(ctx, *run, sessions.MergeQuery{Kind: sessions.ResultRun, Only: results}, told)
		}
	case sessions.TurnRun:
		var next []sessions.RunID
		t.Waiting = func(ctx context.Context, keep func() error) (more bool, err error) {
			if keep != nil { // its answer is there: what comes now has the next one
				return false, nil
			}
			next, err = w.Merger.steerable(ctx, *run)
			return len(next) > 0, err
		}
		t.Take = func(ctx context.Context) ([]sessions.Message, error) {
			taken, err := w.absorb(ctx, *run, sessions.MergeQuery{Kind: run.Kind, Only: next}, told)
			replyToNewest(at, taken)
			return taken, err
		}
	}
}

// yieldedFor gives the results of sub-agents that wait in the session of an asked turn which has waited for them by sessions_yield: the turn
// words them, and they have no turns of their own (contract S16).
func (w *Worker) yieldedFor(ctx context.Context, run sessions.Run) (results []sessions.RunID, err error) {
	if sessions.IsSubagent(run.Key) {
		return nil, nil
	}
	queued, err := sessions.QueuedRuns(ctx, w.store, run.Key)
	for _, q := range queued {
		if q.Kind == sessions.ResultRun {
			results = append(results, q.ID)
		}
	}
	if err != nil || len(results) == 0 {
		return nil, err
	}
	steps, err := w.store.Steps(ctx, run.ID)
	if !slices.ContainsFunc(steps, func(m sessions.Message) bool { return m.ToolName == tools.Yield && !m.IsError }) {
		return nil, err
	}
	return results, err
}

// deleteTakenUp deletes the sub-agents whose results an asked turn has worded, where the spawn asked for it (contract N14). It comes before the
// commit of the turn's end: a turn that is resumed does it again.
func (w *Worker) deleteTakenUp(ctx context.Context, run sessions.Run) {
	if run.Kind != sessions.AskRun {
		return
	}
	taken, err := w.store.ListRuns(ctx, sessions.RunQuery{MergedInto: run.ID, Kind: sessions.ResultRun, Limit: sessions.MaxListed})
	for _, x := range taken {
		if x.Chain == nil || x.Chain.Cleanup != "delete" || err != nil {
			continue
		}
		_, err = w.commit.Submit(ctx, sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: x.Chain.Target}, Mode: sessions.Reference, Ops: []sessions.SessionOp{sessions.DeleteSession{}}}})
		if errors.Is(err, sessions.ErrNotFound) || errors.Is(err, sessions.ErrConflict) { // it is gone, or at something new
			err = nil
		}
	}
	if err != nil { // their sessions are archived later
		w.log.Warn("cannot delete finished sub-agents", keyRun, run.ID, keyErr, err)
	}
}

// ended are runs that it was told ended in a turn. An end that is not known yet is told of with the next one.
type ended map[sessions.RunID]bool

// absorb merges queued messages into the running turn, and notifies the waiters of each merged run once.
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
		w.log.Error("cannot list merged runs", keyRun, run.ID, keyErr, err)
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
