package turn

import (
	"context"
	"fmt"

	"parley/agent"
	"parley/router/lane"
	"parley/router/settings"
	"parley/sessions"
)

// thinkUntil runs a turn's loop, again when what it answers has changed or more belongs to it before it has said or done anything.
func (w *Worker) thinkUntil(ctx context.Context, set *settings.Snapshot, run *sessions.Run) (out agent.Outcome, err error) {
	for n := 0; ; n++ {
		try, end := context.WithCancelCause(ctx)
		if revised := w.lanes.BeginTry(run.Key, run.ID, end); revised || n > 0 {
			if err := w.reread(ctx, run, revised); err != nil {
				end(nil)
				return out, err
			}
		}
		if n == lane.MaxRestarts {
			if w.lanes.FixInput(ctx, run.Key, run.ID); try.Err() != nil { // something came in a moment before
				end(nil)
				try, end = context.WithCancelCause(ctx)
				if err := w.reread(ctx, run, true); err != nil {
					end(nil)
					return out, err
				}
			}
		}
		out, err = w.think(try, set, run, n > 0)
		open := !w.lanes.FixInput(try, run.Key, run.ID)
		end(nil)
		if !open {
			return out, err
		}
		if err == nil {
			w.budgets.KeepUnrecorded(ctx, *run, out.Final) // paid for, but not kept
		}
		w.log.Debug("a turn starts again", keyRun, run.ID, keySession, run.Key)
	}
}

// reread updates a running run from the store, and reports whether its message was edited.
func (w *Worker) reread(ctx context.Context, run *sessions.Run, revised bool) error {
	now, err := w.store.GetRun(ctx, run.ID)
	if err != nil {
		return fmt.Errorf("read the run: %w", err)
	}
	*run = now
	w.Transcripts.Forget(run.Session)
	if revised {
		w.watchers.Messages(*run, run.Input)
	}
	return nil
}
