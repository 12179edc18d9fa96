package sessions

import "context"

// QueuedRuns lists the runs that wait in a session, oldest first.
func QueuedRuns(ctx context.Context, store Runs, key Key) ([]Run, error) {
	return store.ListRuns(ctx, RunQuery{Key: key, Status: Queued, Oldest: true, Limit: MaxListed})
}

// MaxListed bounds how many runs that wait are read at once.
const MaxListed = 5000

// IsFresh reports whether a run is a message of a person whose turn was never begun.
func IsFresh(run Run) bool { return run.Kind == TurnRun && run.Attempt == 0 }

// OpenChildren lists the runs of a session's sub-agents that have not ended, up to most of each status.
func OpenChildren(ctx context.Context, store Runs, parent Key, most int) ([]Run, error) {
	return OpenRuns(ctx, store, RunQuery{Parent: parent, Limit: most})
}

// OpenRuns lists the runs of a query that have not ended, up to its limit of each status.
func OpenRuns(ctx context.Context, store Runs, q RunQuery) (open []Run, err error) {
	seen := make(map[RunID]bool) // a run that begins between the two looks is one
	for _, q.Status = range []RunStatus{Queued, Running} {
		runs, err := store.ListRuns(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, run := range runs {
			if !seen[run.ID] {
				seen[run.ID], open = true, append(open, run)
			}
		}
	}
	return open, nil
}
