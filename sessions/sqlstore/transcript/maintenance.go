package transcript

import (
	"log/slog"
	"time"

	"parley/sessions/sqlstore/engine"
	"parley/sessions/sqlstore/search"
)

// Maintenance collects the messages of deleted sessions, indexes messages, and checkpoints the WAL. Each task blocks incoming writes. So it
// runs one task at a time, when the queue is idle, and between batches only when the queue never is.
const (
	// DefaultPause is how long the queue is empty before maintenance. The writes of one message come closer together.
	DefaultPause = 20 * time.Millisecond
	// CollectAfterBatches is after how many batches a collection runs although the queue is not idle.
	CollectAfterBatches = 32

	// CollectName names the operation in traces.
	CollectName = "Sweep"
	indexName   = "Index"
)

// Maintenance chooses the next maintenance task of the writer. It implements engine.Maintenance.
type Maintenance struct {
	log   *slog.Logger
	pause time.Duration
	rows  *Rows
}

// NewMaintenance returns the maintenance of rows. pause is how long the queue is empty before a task; 0 = DefaultPause.
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
	case open && g.left && (quiet || g.batches > CollectAfterBatches): // indexes as well
		g.batches = 0
		return CollectName, m.rows.Collect
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
	if name == CollectName && err != nil {
		m.rows.garbage.left = false
		m.log.Error("cannot remove messages of a deleted session", "hint", "the next start tries again", "err", err)
	}
}
