package sqlstore

import (
	"context"
	"fmt"
)

// readers are the connections for reading, opened when they are first needed.
type readers struct {
	free chan *conn // nil = one that is not open
}

func (r *readers) init(n int) {
	r.free = make(chan *conn, n)
	for range n {
		r.free <- nil
	}
}

// close takes every connection back and closes it. Later readers find the channel empty and closed.
func (r *readers) close() (err error) {
	for range cap(r.free) {
		if c := <-r.free; c != nil {
			if e := c.Close(); err == nil {
				err = e
			}
		}
	}
	close(r.free)
	return err
}

// read runs fn on a connection that only reads. What it sees is at least what was committed before.
func (s *Store) read(ctx context.Context, fn func(*conn) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	var c *conn
	var open bool
	select {
	case c, open = <-s.readers.free:
		if !open {
			return errClosed
		}
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() {
		if c != nil && c.gone {
			_ = c.Close() // it is broken
			c = nil
		}
		s.readers.free <- c
	}()
	if c == nil {
		var err error
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
