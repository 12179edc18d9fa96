package sqlstore

import (
	"log/slog"
	"time"

	"parley/sessions/sqlstore/engine"
)

// The writer's chores are to sweep what deleted sessions left behind, to index messages, and to move the log into the database. Nobody waits for them, but
// what comes meanwhile does. So they are done where nothing comes, one at a time, and in the middle of work only when that does not happen.
const (
	// defaultPause is how long nothing came then. What one message needs of the store comes closer together.
	defaultPause = 20 * time.Millisecond
	// sweepBatch is behind how many batches there is a sweep in the middle of work.
	sweepBatch = 32

	sweepName = "Sweep"
	indexName = "Index"
)

// maintenance does the writer's chores. It implements engine.Maintenance.
type maintenance struct {
	log              *slog.Logger
	pause            time.Duration
	index            *searchIndex
	sweepOp, indexOp operation

	sweeping bool // a deleted session may have left something behind
	unswept  int  // batches since the last sweep, or since there is something to be swept
}

func newMaintenance(log *slog.Logger, pause time.Duration, index *searchIndex, r *retention) *maintenance {
	sweep := func(t *tx) error { // a little at a time
		more, err := r.purge(t)
		t.purged = !more
		return err
	}
	if pause <= 0 {
		pause = defaultPause
	}
	return &maintenance{log: log, pause: pause, index: index, sweepOp: sweep, indexOp: index.flushIndex}
}

// Next implements engine.Maintenance.
func (m *maintenance) Next(quiet, open, checkpoint bool) (string, engine.Operation) {
	m.unswept++
	waiting := len(m.index.unindexed)
	switch {
	case open && m.sweeping && (quiet || m.unswept > sweepBatch): // indexes as well
		m.unswept = 0
		return sweepName, m.sweepOp
	case !open || waiting >= indexBatch || quiet && (waiting >= indexSoon || waiting > 0 && !checkpoint): // what cannot be indexed at the end, the next start does
		return indexName, m.indexOp
	}
	return "", nil
}

// Wait implements engine.Maintenance. It is not for the log alone that nothing comes for so long as indexDelay.
func (m *maintenance) Wait(quiet, checkpoint bool) time.Duration {
	waiting := len(m.index.unindexed)
	switch {
	case m.sweeping, !quiet && (waiting >= indexSoon || checkpoint):
		return m.pause
	case waiting > 0, checkpoint:
		return indexDelay
	}
	return time.Hour
}

// Done implements engine.Maintenance. An index that could not be written is tried again later.
func (m *maintenance) Done(name string, err error) {
	if name == sweepName && err != nil {
		m.sweeping = false
		m.log.Error("cannot remove the messages of a deleted session; the next start tries again", "err", err)
	}
}

// committed notes that a transaction deleted a session, or found nothing left of any.
func (m *maintenance) committed(deleted, purged bool) {
	m.sweeping = m.sweeping && !purged
	if deleted && !m.sweeping {
		m.sweeping, m.unswept = true, 0
	}
}
