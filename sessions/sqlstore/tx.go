package sqlstore

import (
	"context"
	"time"
)

// tx is the transaction that operations write in. Only the writer goroutine touches it.
type tx struct {
	*Conn
	Ctx     context.Context
	s       *Store
	Now     time.Time
	dirty   bool   // something was written: an operation that fails now takes the transaction with it
	wrote   bool   // a row was written
	labels  string // besides what the operation is named after: see also
	commits int64  // number of the last one that wrote something
	term    int64  // PostgreSQL: of this connection, see beginTransaction
	mark
}

// mark is what has to be set back when a transaction is not committed.
type mark struct {
	n      numbers
	index  []entry // words to be indexed after the commit
	mirror []line  // lines for the mirror after the commit
	swept  bool    // a session was deleted: its messages are to be swept
	purged bool    // nothing of deleted sessions is left

	flushed int // entries of Store.unindexed that are indexed now
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

func readNumbers(ctx context.Context, c *Conn) (n numbers, err error) {
	for _, q := range numberQueries {
		if *q.of(&n), err = c.Number(ctx, "SELECT max("+q.column+") FROM "+q.table); err != nil {
			return n, err
		}
	}
	indexed, err := c.Number(ctx, "SELECT value FROM meta WHERE name = 'indexed'")
	n.message = max(n.message, indexed) // a number that was indexed and deleted must not come back
	return n, err
}
