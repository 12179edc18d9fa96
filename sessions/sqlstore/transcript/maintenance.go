package transcript

import (
	"log/slog"
	"time"

	"parley/sessions/sqlstore/engine"
	"parley/sessions/sqlstore/search"
)

// The writer's chores are to sweep what deleted sessions left behind, to index messages, and to move the log into the database. Nobody waits for them, but
// what comes meanwhile does. So they are done where nothing comes, one at a time, and in the middle of work only when that does not happen.
const (
	// DefaultPause is how long nothing came then. What one message needs of the store comes closer together.
	DefaultPause = 20 * time.Millisecond
	// SweepBatch is behind how many batches there is a sweep in the middle of work.
	SweepBatch = 32

	// SweepName names the operation.
	SweepName = "Sweep"
	indexName = "Index"
)

// Maintenance does the writer's chores. It implements engine.Maintenance.
type Maintenance struct {
	log   *slog.Logger
	pause time.Duration
	rows  *Rows
}

// NewMaintenance returns the maintenance of rows. pause is how long nothing comes before it works; 0 = DefaultPause.
func NewMaintenance(log *slog.Logger, pause time.Duration, rows *Rows) *Maintenance {
	if pause <= 0 {
		pause = DefaultPause
	}
	return &Maintenance{log: log, pause: pause, rows: rows}
}

// Next implements engine.Maintenance.
func (m *Maintenance) Next(quiet, open, checkpoint bool) (string, engine.Operation) {
	g := &m.rows.garbage
	g.batches++
	some, soon, now := m.rows.index.Waiting()
	switch {
	case open && g.left && (quiet || g.batches > SweepBatch): // indexes as well
		g.batches = 0
		return SweepName, m.rows.Sweep
	case !open || now || quiet && (soon || some && !checkpoint): // what cannot be indexed at the end, the next start does
		return indexName, m.rows.index.Flush
	}
	return "", nil
}

// Wait implements engine.Maintenance. It is not for the log alone that nothing comes for so long as search.Delay.
func (m *Maintenance) Wait(quiet, checkpoint bool) time.Duration {
	some, soon, _ := m.rows.index.Waiting()
	switch {
	case m.rows.garbage.left, !quiet && (soon || checkpoint):
		return m.pause
	case some, checkpoint:
		return search.Delay
	}
	return time.Hour
}

// Done implements engine.Maintenance. An index that could not be written is tried again later.
func (m *Maintenance) Done(name string, err error) {
	if name == SweepName && err != nil {
		m.rows.garbage.left = false
		m.log.Error("cannot remove the messages of a deleted session; the next start tries again", "err", err)
	}
}
