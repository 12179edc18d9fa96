package sqlstore

import (
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

// maintenance is the writer's chores. It implements engine.Maintenance.
type maintenance struct{ s *Store }

// Next implements engine.Maintenance.
func (m maintenance) Next(quiet, open, checkpoint bool) (string, engine.Operation) {
	s := m.s
	s.unswept++
	switch {
	case open && s.sweeping && (quiet || s.unswept > sweepBatch): // indexes as well
		s.unswept = 0
		return sweepName, s.sweepOp
	case !open || len(s.unindexed) >= indexBatch || quiet && m.indexes(checkpoint): // what cannot be indexed at the end, the next start does
		return indexName, s.indexOp
	}
	return "", nil
}

// indexes reports whether it is time to index: there is enough for it, or nothing came for so long that it was not for the log alone.
func (m maintenance) indexes(checkpoint bool) bool {
	return len(m.s.unindexed) >= indexSoon || len(m.s.unindexed) > 0 && !checkpoint
}

// Wait implements engine.Maintenance.
func (m maintenance) Wait(quiet, checkpoint bool) time.Duration {
	s := m.s
	switch {
	case s.sweeping, !quiet && (len(s.unindexed) >= indexSoon || checkpoint):
		return s.conf.pause
	case len(s.unindexed) > 0, checkpoint:
		return indexDelay
	}
	return time.Hour
}

// Done implements engine.Maintenance. An index that could not be written is tried again later.
func (m maintenance) Done(name string, err error) {
	if name == sweepName && err != nil {
		m.s.sweeping = false
		m.s.conf.Logger.Error("cannot remove the messages of a deleted session; the next start tries again", "err", err)
	}
}

// sweep deletes some of what deleted sessions left behind: a little at a time.
func sweep(t *tx) error {
	more, err := t.purge()
	t.purged = !more
	return err
}
