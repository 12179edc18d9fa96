package search

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"parley/sessions"
	"parley/sessions/sqlstore/column"
	"parley/sessions/sqlstore/engine"
)

const (
	indexBatch = 128 // at once, whoever waits
	indexSoon  = 64  // in the next pause

	// Delay is how long nothing comes before the last few messages are indexed.
	Delay = 500 * time.Millisecond
)

// Indexed is the query for the newest message that is indexed: its number must not come back.
const Indexed = "SELECT value FROM meta WHERE name = 'indexed'"

// entry is a message to index.
type entry struct {
	seq  int64
	text string // its words, separated by spaces
}

// Index has the words of messages. It implements engine.State.
type Index struct {
	db        *engine.DB
	unindexed []entry     // of earlier commits; the writer goroutine's own
	behind    atomic.Bool // unindexed is not empty

	mark
	saved mark // as it was before the current operation
}

// mark is what a transaction did to the index.
type mark struct {
	added   []entry // to be indexed after its commit
	flushed int     // entries of unindexed that are indexed now
}

// NewIndex returns the index of a database.
func NewIndex(db *engine.DB) *Index {
	x := &Index{db: db}
	db.Attach(x)
	return x
}

// Add has a new message indexed. words are Scoped. PostgreSQL has them in the message's own row.
func (x *Index) Add(seq int64, words []string) {
	if !x.db.Dialect().Postgres && len(words) > 0 {
		x.added = append(x.added, entry{seq: seq, text: strings.Join(words, " ")})
	}
}

// Replace replaces the words of a message in the index, or in what this transaction adds to it. What waits from earlier commits is indexed
// first: memory is not changed before this transaction is committed.
func (x *Index) Replace(t *engine.Tx, seq int64, words []string) error {
	text := strings.Join(words, " ")
	if i := slices.IndexFunc(x.added, func(e entry) bool { return e.seq == seq }); i >= 0 {
		x.added[i].text = text
		return nil
	}
	if err := x.Flush(t); err != nil {
		return err
	}
	if err := x.Remove(t, seq); err != nil || text == "" {
		return err
	}
	return x.insert(t, entry{seq, text})
}

// Remove takes a message that is indexed out of the index. PostgreSQL does so with the message's row.
func (x *Index) Remove(t *engine.Tx, seq int64) error {
	if t.Dialect.Postgres {
		return nil
	}
	_, err := t.Exec("DELETE FROM words WHERE rowid = ?", seq)
	return err
}

func (x *Index) insert(t *engine.Tx, e entry) error {
	_, err := t.Exec("INSERT INTO words (rowid, text) VALUES (?, ?)", e.seq, e.text)
	return err
}

// Flush indexes what is left from earlier commits.
func (x *Index) Flush(t *engine.Tx) error {
	todo := x.unindexed[x.flushed:] // the rest another operation of this transaction has indexed
	if len(todo) == 0 {
		return nil
	}
	for _, e := range todo {
		if err := x.insert(t, e); err != nil {
			return err
		}
	}
	x.flushed += len(todo)
	_, err := t.Exec("UPDATE meta SET value = ? WHERE name = 'indexed'", todo[len(todo)-1].seq)
	return err
}

// Waiting reports how much is not indexed: anything, enough for the next pause, enough for a query that waits.
func (x *Index) Waiting() (some, soon, now bool) {
	n := len(x.unindexed)
	return n > 0, n >= indexSoon, n >= indexBatch
}

// CatchUp finds the messages that were committed and not indexed when the process died.
func (x *Index) CatchUp(ctx context.Context, c *engine.Conn) error {
	if c.Dialect.Postgres {
		return nil
	}
	from, err := c.Number(ctx, Indexed)
	if err != nil {
		return err
	}
	defer func() { x.behind.Store(len(x.unindexed) > 0) }()
	return c.Each(ctx, "SELECT m.seq, m.body, t.key, t.agent FROM messages m JOIN transcripts t ON t.num = m.transcript WHERE m.seq > ? AND m.role <> 'toolResult' ORDER BY m.seq", []any{from}, func(r engine.Row) error {
		m, err := column.Message(r.Int(0), r.Str(1))
		if err != nil {
			return err
		}
		if w := Words(m.Readable().Text()); len(w) > 0 {
			x.unindexed = append(x.unindexed, entry{r.Int(0), strings.Join(Scoped(w, sessions.Key(r.Str(2)), sessions.AgentID(r.Str(3))), " ")})
		}
		return nil
	})
}

// Load implements engine.State. What is not indexed is known from the commits before.
func (x *Index) Load(context.Context, *engine.Conn) error { return nil }

// Begin implements engine.State.
func (x *Index) Begin() { x.mark = mark{added: x.added[:0]} }

// Save implements engine.State.
func (x *Index) Save() { x.saved = x.mark }

// Restore implements engine.State.
func (x *Index) Restore() { x.mark = x.saved }

// Rollback implements engine.State.
func (x *Index) Rollback() {}

// Committed implements engine.State: it takes over what a commit left to be indexed, and forgets what it indexed.
func (x *Index) Committed() {
	if x.flushed > 0 {
		x.unindexed = append(x.unindexed[:0], x.unindexed[x.flushed:]...)
	}
	x.unindexed = append(x.unindexed, x.added...)
	x.behind.Store(len(x.unindexed) > 0)
}
