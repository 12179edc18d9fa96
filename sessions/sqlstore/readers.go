package sqlstore

import (
	"context"
	"fmt"
	"sync"
)

// readers are the connections for reading, opened when they are first needed. The one that was used last is taken first: those that are
// needed only now and then keep what they have read in no cache.
type readers struct {
	room chan struct{} // one for each that is not in use
	mu   sync.Mutex
	idle []*conn // open and not in use, the one that was used last behind
}

func (r *readers) init(n int) {
	r.room = make(chan struct{}, n)
	for range n {
		r.room <- struct{}{}
	}
}

// take waits for room and gives a connection; nil when one is to be opened. give has to be called with it.
func (r *readers) take(ctx context.Context) (c *conn, err error) {
	select {
	case _, open := <-r.room:
		if !open {
			return nil, errClosed
		}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if n := len(r.idle); n > 0 {
		c, r.idle = r.idle[n-1], r.idle[:n-1]
	}
	return c, nil
}

// give takes a connection back; nil when there is none.
func (r *readers) give(c *conn) {
	if c != nil {
		r.mu.Lock()
		r.idle = append(r.idle, c)
		r.mu.Unlock()
	}
	r.room <- struct{}{}
}

// close waits for every connection and closes it. Later readers find no room and the channel closed.
func (r *readers) close() (err error) {
	for range cap(r.room) {
		<-r.room
	}
	for _, c := range r.idle {
		if e := c.Close(); err == nil {
			err = e
		}
	}
	close(r.room)
	return err
}

// read runs fn on a connection that only reads. What it sees is at least what was committed before.
func (s *Store) read(ctx context.Context, fn func(*conn) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c, err := s.readers.take(ctx)
	if err != nil {
		return err
	}
	defer func() {
		if c != nil && c.gone {
			_ = c.Close() // it is broken
			c = nil
		}
		s.readers.give(c)
	}()
	if c == nil {
		if c, err = s.d.connect(ctx, s.readDSN); err != nil {
			c = nil
			return fmt.Errorf("connecting to the database: %w", err)
		}
	}
	if err := fn(c); err != nil {
		return s.damage(err)
	}
	return nil
}
