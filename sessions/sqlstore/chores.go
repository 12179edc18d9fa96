package sqlstore

import "time"

// The writer's chores are to sweep what deleted sessions left behind, to index messages, and to move the log into the database. Nobody waits for them, but
// what comes meanwhile does. So they are done where nothing comes, one at a time, and in the middle of work only when that does not happen.
const (
	// defaultPause is how long nothing came then. What one message needs of the store comes closer together.
	defaultPause = 20 * time.Millisecond
	// sweepBatch is behind how many batches there is a sweep in the middle of work.
	sweepBatch = 32

	sweepName = "Sweep"
)

// chore is what the writer does behind a batch, in the same transaction; nil when there is nothing. quiet: the batch is empty, as nothing came for a pause.
func (s *Store) chore(quiet, open bool) *op {
	s.unswept++
	switch {
	case open && s.sweeping && (quiet || s.unswept > sweepBatch): // indexes as well
		s.unswept = 0
		return s.sweepOp()
	case !open || len(s.unindexed) >= indexBatch || quiet && s.indexes(): // what cannot be indexed at the end, the next start does
		return s.indexOp()
	}
	return nil
}

// indexes reports whether it is time to index: there is enough for it, or nothing came for so long that it was not for the log alone.
func (s *Store) indexes() bool {
	return len(s.unindexed) >= indexSoon || len(s.unindexed) > 0 && !s.longLog()
}

// untilChore is how long nothing comes before the next chore. quiet: one was just done, or could not be.
func (s *Store) untilChore(quiet bool) time.Duration {
	switch {
	case s.sweeping, !quiet && (len(s.unindexed) >= indexSoon || s.longLog()):
		return s.conf.pause
	case len(s.unindexed) > 0, s.longLog():
		return indexDelay
	}
	return time.Hour
}

func (s *Store) indexOp() *op {
	return &op{name: "Index", fn: (*tx).flushIndex, done: make(chan struct{})}
}

// sweepOp deletes some of what deleted sessions left behind: a little at a time.
func (s *Store) sweepOp() *op {
	return &op{name: sweepName, done: make(chan struct{}), fn: func(t *tx) error {
		more, err := t.purge()
		t.purged = !more
		return err
	}}
}

// choreDone looks at how a chore went. An index that could not be written is tried again later.
func (s *Store) choreDone(o *op) {
	if o != nil && o.name == sweepName && o.err != nil {
		s.sweeping = false
		s.conf.Logger.Error("cannot remove the messages of a deleted session; the next start tries again", "err", o.err)
	}
}
