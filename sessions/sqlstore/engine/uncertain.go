package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"parley/sessions"
)

// A connection that breaks at COMMIT leaves open whether the commit was made. Each transaction that writes therefore counts, in itself, in
// a row of the database: SQLite's is meta.commits, PostgreSQL's owners.seq. Nothing of a batch is run again, and nothing else is written,
// before a connection has read that row after the end of the old transaction.

// The row that counts SQLite's commits.
const (
	setCommits = "INSERT INTO meta (name, value) VALUES ('commits', ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value"
	getCommits = "SELECT value FROM meta WHERE name = 'commits'"
	// CountOne counts a commit of SQLite's that is made beside the writer.
	CountOne = "INSERT INTO meta (name, value) VALUES ('commits', 1) ON CONFLICT (name) DO UPDATE SET value = meta.value + 1"
)

// Commits returns the number of the last commit of a SQLite database.
func (c *Conn) Commits(ctx context.Context) (int64, error) { return c.Number(ctx, getCommits) }

// uncertain is a commit whose answer was lost. What follows it if it was made is in Config.State.
type uncertain struct {
	number int64 // of the commit
	err    error
}

// Uncertain reports whether a commit's answer was lost and is not known yet.
func (db *DB) Uncertain() bool { return db.uncertain != nil }

// errNotCommitted is wrapped when PostgreSQL says that a commit was not made whose answer was lost.
var errNotCommitted = errors.New("the connection was lost before the commit")

// uncertainTimeout bounds how long the writer waits for a server to say whether a commit was made, before its callers are told that nobody
// knows. A failover takes 5 to 8 seconds.
const uncertainTimeout = 10 * time.Second

// beginTransaction begins a transaction. PostgreSQL hears of it with the first statement. The same round trip counts the transaction and locks
// the row until it ends: a connection that was replaced meanwhile has an old term and is refused, and one that takes a new term waits for this
// transaction.
func (t *Tx) beginTransaction(ctx context.Context) error {
	if t.Dialect.Postgres {
		t.Conn.start.pending = true
		return nil
	}
	_, err := t.Conn.Exec(ctx, "BEGIN IMMEDIATE")
	return err
}

// rollback drops a transaction. One of PostgreSQL's may not have begun.
func (t *Tx) rollback(ctx context.Context) error {
	if t.Conn.start.pending {
		t.Conn.start.pending = false
		return nil
	}
	_, err := t.Conn.Exec(ctx, "ROLLBACK")
	return err
}

// endTransaction commits a transaction, or drops one of PostgreSQL's that wrote nothing but its number. possible says that the commit may have been
// made although there is an error.
func (t *Tx) endTransaction(ctx context.Context) (possible bool, err error) {
	if !t.Dialect.Postgres {
		_, err := t.Conn.Exec(ctx, "COMMIT")
		return err != nil && t.wrote, err
	}
	if t.Conn.gone {
		return false, errors.New("COMMIT: the transaction did not begin")
	}
	t.wrote = t.wrote && !t.Conn.start.pending // without a statement nothing was counted
	if !t.wrote {
		return false, t.rollback(ctx)
	}
	t.Conn.notice = nil
	r, err := t.Conn.script(ctx, "COMMIT")
	if err != nil {
		// The word of a server that goes on is certain. One that ends the connection may have committed before.
		said, ok := errors.AsType[*pgconn.PgError](err)
		return !ok || said.SeverityUnlocalized != "ERROR", err
	}
	if len(r) != 1 || r[0].CommandTag.String() != "COMMIT" {
		return false, errors.New("COMMIT: a statement of the transaction had failed")
	}
	// A server that gives up waiting for its standby commits with a warning: others see what a failover would lose.
	if n := t.Conn.notice; n != nil {
		return true, fmt.Errorf("COMMIT: %s (SQLSTATE %s)", n.Message, n.Code)
	}
	return false, nil
}

// takeTerm makes this connection the only one that can commit, behind the end of every transaction that the one before it has begun, and
// gives the number of the last commit. Its own commit is acknowledged behind those that it saw.
func (db *DB) takeTerm(ctx context.Context, c *Conn) error {
	if !db.conf.Dialect.Postgres {
		return nil
	}
	_, err := c.One(ctx, "INSERT INTO owners (name, host, term, seq) VALUES ('writer', ?, 1, 0) ON CONFLICT (name) DO UPDATE SET host = excluded.host, term = owners.term + 1 RETURNING term, seq",
		[]any{applicationName()}, func(r Row) error { db.tx.term, db.tx.commits = r.Int(0), r.Int(1); return nil })
	if err == nil {
		err = c.prepareStart(ctx, db.tx.term)
	}
	if err != nil {
		c.gone = true
	}
	return err
}

// learn finds out whether the uncertain commit was made. The connection is one that can know: it was opened behind it, or is SQLite's.
func (db *DB) learn(ctx context.Context) error {
	u := db.uncertain
	if !db.conf.Dialect.Postgres {
		n, err := db.writer.Number(ctx, getCommits)
		if err != nil {
			return err
		}
		db.tx.commits = n
	}
	db.uncertain = nil
	if db.tx.commits != u.number {
		if !db.conf.Dialect.Postgres { // otherwise they were read again
			db.states.Rollback()
		}
		db.conf.Logger.Info("lost the reply to a commit; not committed", "err", u.err)
		return nil
	}
	db.conf.Logger.Info("lost the reply to a commit; committed", "err", u.err)
	db.onCommit(!db.conf.Dialect.Postgres)
	return nil
}

// settleUncertain waits until the database says whether the commit was made that has just failed. nil = it was; the commit's own error =
// it was not; ErrUncertain = the database does not say, and nothing is written until it does.
func (db *DB) settleUncertain(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, uncertainTimeout)
	defer cancel()
	u := db.uncertain
	for wait := 20 * time.Millisecond; ; wait = min(2*wait, time.Second) {
		err := db.ready(ctx)
		if db.uncertain == nil {
			if err == nil && db.tx.commits == u.number {
				return nil
			}
			if db.conf.Dialect.Postgres {
				return fmt.Errorf("%w: %w", errNotCommitted, u.err)
			}
			return u.err
		}
		again := time.NewTimer(wait)
		if !db.conf.Dialect.Postgres {
			again.Reset(0) // a disk that fails has failed
		}
		select {
		case <-again.C:
			if db.conf.Dialect.Postgres {
				continue
			}
		case <-ctx.Done():
			again.Stop()
		}
		return fmt.Errorf("%w: %w; and then: %w", sessions.ErrUncertain, u.err, err)
	}
}

// endOwn ends the connection that the writer had before, where the server still holds it: no worker has its other end. PostgreSQL first ends
// the transaction that it is in.
func (db *DB) endOwn(ctx context.Context, c *Conn) error {
	if db.writer == nil {
		return nil
	}
	old, ok := db.writer.dc.(*stdlib.Conn)
	if !ok {
		return nil
	}
	_, err := c.Number(ctx, "SELECT count(CASE WHEN pg_terminate_backend(pid) THEN 1 END) FROM pg_stat_activity WHERE pid = ? AND application_name = ?",
		int64(old.Conn().PgConn().PID()), applicationName())
	return err
}
