package sqlstore

import (
	"context"

	"parley/sessions/sqlstore/engine"
	"parley/sessions/sqlstore/transcriptfile"
)

// tx is the transaction that operations write in: the engine's, and what the repositories keep of it in memory. It implements engine.State.
// Only the writer goroutine touches it.
type tx struct {
	*engine.Tx
	index       *searchIndex
	files       *transcriptfile.Writer
	maintenance *maintenance
	mark
	saved  mark    // as it was before the operation at work
	before numbers // as they were before the transaction
}

// mark is what has to be set back when a transaction is not committed.
type mark struct {
	n      numbers
	words  []entry               // words to be indexed after the commit
	lines  []transcriptfile.Line // lines for their files after the commit
	swept  bool                  // a session was deleted: its messages are to be swept
	purged bool                  // nothing of deleted sessions is left

	flushed int // entries of searchIndex.unindexed that are indexed now
}

// operation is what the store runs in a transaction.
type operation func(*tx) error

// Do implements engine.Operation.
func (f operation) Do(t *engine.Tx) error { return f(t.State.(*tx)) }

// Load implements engine.State.
func (t *tx) Load(ctx context.Context, c *engine.Conn) (err error) {
	t.n, err = readNumbers(ctx, c)
	return err
}

// Begin implements engine.State.
func (t *tx) Begin() {
	t.mark = mark{n: t.n, words: t.words[:0], lines: t.lines[:0]}
	t.before = t.n
}

// Save implements engine.State.
func (t *tx) Save() { t.saved = t.mark }

// Restore implements engine.State.
func (t *tx) Restore() { t.mark = t.saved }

// Rollback implements engine.State.
func (t *tx) Rollback() { t.n = t.before }

// Committed implements engine.State: it hands on what follows a commit.
func (t *tx) Committed() {
	t.index.committed(t.flushed, t.words)
	t.files.Append(t.lines)
	t.maintenance.committed(t.swept, t.purged)
}

// numbers are the last ones given. There is one writer, so it counts by itself.
type numbers struct{ transcript, session, message, run, delivery, seen, skipped, pairing, note, spend, summary, overheard, receipt, occurrence int64 }

var numberQueries = []struct {
	table, column string
	of            func(*numbers) *int64
}{
	{"transcripts", "num", func(n *numbers) *int64 { return &n.transcript }},
	{"sessions", "num", func(n *numbers) *int64 { return &n.session }},
	{"messages", "seq", func(n *numbers) *int64 { return &n.message }},
	{"runs", "seq", func(n *numbers) *int64 { return &n.run }},
	{"deliveries", "seq", func(n *numbers) *int64 { return &n.delivery }},
	{"seen", "num", func(n *numbers) *int64 { return &n.seen }},
	{"skipped", "num", func(n *numbers) *int64 { return &n.skipped }},
	{"pairings", "num", func(n *numbers) *int64 { return &n.pairing }},
	{"notes", "num", func(n *numbers) *int64 { return &n.note }},
	{"spends", "num", func(n *numbers) *int64 { return &n.spend }},
	{"summaries", "num", func(n *numbers) *int64 { return &n.summary }},
	{"overheard", "seq", func(n *numbers) *int64 { return &n.overheard }},
	{"receipts", "num", func(n *numbers) *int64 { return &n.receipt }},
	{"occurrences", "num", func(n *numbers) *int64 { return &n.occurrence }},
}

func readNumbers(ctx context.Context, c *engine.Conn) (n numbers, err error) {
	for _, q := range numberQueries {
		if *q.of(&n), err = c.Number(ctx, "SELECT max("+q.column+") FROM "+q.table); err != nil {
			return n, err
		}
	}
	indexed, err := c.Number(ctx, "SELECT value FROM meta WHERE name = 'indexed'")
	n.message = max(n.message, indexed) // a number that was indexed and deleted must not come back
	return n, err
}
