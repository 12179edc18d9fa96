package engine

import (
	"context"
	"fmt"
	"sync"
	"time"

	"parley/sessions"
)

// readers are the connections for reading, opened when they are first needed. The one that was used last is taken first: those that are
// needed only now and then keep what they have read in no cache.
type readers struct {
	room  chan struct{} // one for each that is not in use
	lasts time.Duration // one that was idle for longer is not used again; 0 = for ever
	mu    sync.Mutex
	idle  []idle // the one that was used last behind
}

// idle is a connection that is open and not in use.
type idle struct {
	c     *Conn
	since time.Time
}

// ServerIdle is how long a connection to a server is used again after: servers, and what stands before them, end those that are idle for minutes.
const ServerIdle = time.Minute

func (r *readers) init(n int, lasts time.Duration) {
	r.lasts = lasts
	r.room = make(chan struct{}, n)
	for range n {
		r.room <- struct{}{}
	}
}

// take waits for room and gives a connection; nil when one must be opened. give has to be called with it.
func (r *readers) take(ctx context.Context) (c *Conn, err error) {
	select {
	case _, open := <-r.room:
		if !open {
			return nil, ErrClosed
		}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	c, old := r.newest()
	for _, x := range old {
		_ = x.c.Close() // it only reads, and may be broken
	}
	return c, nil
}

// newest takes the connection that was used last; when that is too long ago, all that are idle must be closed.
func (r *readers) newest() (c *Conn, old []idle) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := len(r.idle)
	switch {
	case n == 0:
	case r.lasts > 0 && time.Since(r.idle[n-1].since) > r.lasts:
		old, r.idle = r.idle, nil
	default:
		c, r.idle = r.idle[n-1].c, r.idle[:n-1]
	}
	return c, old
}

// drop closes the connections that are open and not in use.
func (r *readers) drop() {
	r.mu.Lock()
	old := r.idle
	r.idle = nil
	r.mu.Unlock()
	for _, x := range old {
		_ = x.c.Close() // it only reads, and may be broken
	}
}

// give takes a connection back; nil when there is none.
func (r *readers) give(c *Conn) {
	if c != nil {
		r.mu.Lock()
		r.idle = append(r.idle, idle{c, time.Now()})
		r.mu.Unlock()
	}
	r.room <- struct{}{}
}

// close waits for every connection and closes it. Later readers find no room and the channel closed.
func (r *readers) close() (err error) {
	for range cap(r.room) {
		<-r.room
	}
	for _, x := range r.idle {
		if e := x.c.Close(); err == nil {
			err = e
		}
	}
	close(r.room)
	return err
}

// Read runs fn on a connection that only reads. What it sees is at least what was committed before. fn may be called again, on a new connection,
// when the database is away: it sets its results again each time. Read waits awayTimeout for a database, and until ctx ends where that says so
// (sessions.WaitForStore).
func (db *DB) Read(ctx context.Context, fn func(*Conn) error) error {
	patient := sessions.WaitsForStore(ctx) && ctx.Done() != nil
	began := time.Now()
	for wait, again := 20*time.Millisecond, false; ; wait, again = min(2*wait, time.Second), true {
		isAway, err := readOnce(ctx, db, fn)
		if !isAway || ctx.Err() != nil || !patient && time.Since(began) >= awayTimeout {
			return err
		}
		if !again {
			db.conf.Logger.Info("reading again", "err", err)
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return err
		}
	}
}

func readOnce(ctx context.Context, db *DB, fn func(*Conn) error) (isAway bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	c, err := db.readers.take(ctx)
	if err != nil {
		return false, err
	}
	defer func() {
		if c != nil && c.gone {
			_ = c.Close() // it is broken
			c = nil
			db.readers.drop() // and so are, most likely, those that are older
		}
		db.readers.give(c)
	}()
	if c == nil {
		if c, err = db.conf.Dialect.Connect(ctx, db.conf.ReadDSN); err != nil {
			c = nil
			return away(err), fmt.Errorf("connect to the database: %w", err)
		}
	}
	if err := fn(c); err != nil {
		c.gone = c.gone || stale(err)
		return away(err) || db.conf.Dialect.Postgres && c.gone, db.conf.Guard.Failed(err)
	}
	return false, nil
}

// EachIdleReader calls fn with each connection for reading that is open and not in use. No reader can take one meanwhile.
func (db *DB) EachIdleReader(fn func(*Conn)) {
	db.readers.mu.Lock()
	defer db.readers.mu.Unlock()
	for _, x := range db.readers.idle {
		fn(x.c)
	}
}
