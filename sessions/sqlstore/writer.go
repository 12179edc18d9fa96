package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"parley/sessions"
)

// The phases that Config.Trace is told.
const (
	BeforeCommit = "before-commit"
	AfterCommit  = "after-commit"
)

// maxBatch bounds the operations that are committed together.
const maxBatch = 256

// op is one operation that waits for the writer. fn may be called twice (alone, after the batch that it was in failed and was not
// committed), so it sets its results anew each time.
type op struct {
	name  string
	fn    func(*tx) error
	did   string      // for the trace: see tx.also
	taken atomic.Bool // by the writer, or by a caller that gave up
	err   error
	done  chan struct{}
}

func (t *tx) Exec(q string, args ...any) (int64, error) {
	t.dirty = true
	n, err := t.Conn.Exec(t.Ctx, q, args...)
	t.wrote = t.wrote || n > 0
	return n, err
}

func (t *tx) One(q string, args []any, f func(Row) error) (bool, error) {
	return t.Conn.One(t.Ctx, q, args, f)
}

func (t *tx) Each(q string, args []any, f func(Row) error) error {
	return t.Conn.Each(t.Ctx, q, args, f)
}

var ErrPanic = errors.New("panic in a store operation")

var ErrClosed = errors.New("the store is closed")

// write has fn run in a transaction and returns after its commit. When ctx ends before the writer took it up, it is not run at
// all; once taken up, write waits for the end, so that its answer is true.
func (s *Store) write(ctx context.Context, name string, fn func(*tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	o := &op{name: name, fn: fn, done: make(chan struct{})}
	s.closing.RLock()
	if s.closed {
		s.closing.RUnlock()
		return fmt.Errorf("%s: %w", name, ErrClosed)
	}
	select {
	case s.queue <- o:
		s.closing.RUnlock()
	case <-ctx.Done():
		s.closing.RUnlock()
		return ctx.Err()
	}
	select {
	case <-o.done:
	case <-ctx.Done():
		if o.taken.CompareAndSwap(false, true) {
			return ctx.Err()
		}
		<-o.done
	}
	if said, ok := errors.AsType[*UserError](o.err); ok {
		return said
	}
	if errors.Is(o.err, sessions.ErrNotFound) || errors.Is(o.err, sessions.ErrConflict) {
		return o.err // words for people: which write it was says nothing to them
	}
	if unfit(o.err) && !errors.Is(o.err, sessions.ErrUnfit) {
		return fmt.Errorf("%s: %w: %w", name, sessions.ErrUnfit, o.err)
	}
	if o.err != nil {
		return fmt.Errorf("%s: %w", name, o.err)
	}
	return nil
}

// run is the writer: it takes what waits, commits it together and answers. It ends when the queue is closed.
func (s *Store) run(ctx context.Context) {
	idle := time.NewTimer(s.untilChore(false))
	defer idle.Stop()
	batch := make([]*op, 0, maxBatch)
	for open := true; open; {
		quiet := false
		if batch, open = s.take(batch[:0]); len(batch) == 0 && open {
			select { // whichever comes first, the queue is looked at before anything else is done
			case o, ok := <-s.queue:
				if open = ok; ok {
					batch, open = s.take(appendTaken(batch, o))
				}
			case <-idle.C:
				batch, open = s.take(batch)
				quiet = len(batch) == 0
			}
		}
		chore := s.chore(quiet, open)
		if chore != nil {
			batch = append(batch, chore)
		}
		s.commit(ctx, batch)
		for _, o := range batch {
			close(o.done)
		}
		s.choreDone(chore)
		s.tendLog(ctx, quiet && chore == nil)
		idle.Reset(s.untilChore(quiet))
	}
}

// take adds all that waits now to a batch. It is false when the queue is closed and nothing is left in it.
func (s *Store) take(batch []*op) (_ []*op, open bool) {
	for len(batch) < maxBatch {
		select {
		case o, ok := <-s.queue:
			if !ok {
				return batch, false
			}
			batch = appendTaken(batch, o)
		default:
			return batch, true
		}
	}
	return batch, true
}

func appendTaken(batch []*op, o *op) []*op {
	if o.taken.CompareAndSwap(false, true) {
		return append(batch, o)
	}
	close(o.done) // the caller gave up; nobody reads it
	return batch
}

// commit runs the operations in one transaction. When one fails after it has written something, all of it is rolled back and each
// operation gets a transaction of its own, so that a bad one harms no other. Nothing is run again that may have been committed.
func (s *Store) commit(ctx context.Context, batch []*op) {
	if len(batch) == 0 {
		return
	}
	err := s.together(ctx, batch)
	if errors.Is(err, errNotCommitted) { // the connection is a new one
		err = s.together(ctx, batch)
	}
	if err == nil {
		return
	}
	if len(batch) == 1 || errors.Is(err, sessions.ErrUncertain) {
		for _, o := range batch {
			o.err = err
		}
		return
	}
	for i := range batch {
		if err := s.together(ctx, batch[i:i+1]); err != nil {
			batch[i].err = err
		}
	}
}

// together runs operations in one transaction. It returns an error when nothing of them was committed. An operation that fails
// without having written keeps its error to itself.
func (s *Store) together(ctx context.Context, batch []*op) error {
	limited, cancel := s.deadline(ctx)
	defer cancel()
	s.tx.wrote = false
	open := s.uncertain
	err := s.transact(limited, batch)
	if s.uncertain != open && s.uncertain != nil {
		if err = s.settleUncertain(ctx); err == nil {
			s.traceAfter(batch)
		}
	}
	s.note(s.tx.wrote, err)
	return err
}

func (s *Store) transact(ctx context.Context, batch []*op) (err error) {
	if err := s.ready(ctx); err != nil {
		return err
	}
	if err := s.inPlace(ctx); err != nil {
		return err
	}
	t := &s.tx
	t.Conn, t.Ctx, t.s, t.Now, t.dirty = s.writer, ctx, s, time.Now(), false
	t.mark = mark{n: t.n, index: t.index[:0], mirror: t.mirror[:0]}
	before := t.n
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", ErrPanic, p)
		}
		if err != nil {
			if s.uncertain == nil {
				t.n = before
			}
			_ = t.rollback(ctx) // the first error counts; SQLite may have rolled back by itself
			err = s.damage(err)
			s.writer.gone = s.writer.gone || stale(err)
		}
	}()
	if err := t.beginTransaction(ctx); err != nil {
		return err
	}
	for _, o := range batch {
		m, dirty := t.mark, t.dirty
		t.dirty, t.failing, t.labels = false, false, ""
		o.err = o.fn(t)
		if o.did = t.labels; o.err != nil {
			if t.dirty || t.failing {
				return o.err
			}
			t.mark = m
		}
		t.dirty = t.dirty || dirty
	}
	number := t.wrote && !t.Dialect.Postgres
	if number {
		if _, err := t.Conn.Exec(ctx, setCommits, t.commits+1); err != nil {
			return err
		}
	}
	s.trace(batch, BeforeCommit)
	if number {
		s.settle(false)
	}
	if possible, err := t.endTransaction(ctx); err != nil {
		if possible {
			s.uncertain, s.writer.gone = &uncertain{t.commits + 1, before, err}, s.d.Postgres
		}
		return err
	}
	if t.wrote {
		t.commits++
	}
	s.committed(t, number)
	before = t.n
	s.traceAfter(batch)
	return nil
}

func (s *Store) trace(batch []*op, phase string) {
	if s.conf.Trace == nil {
		return
	}
	for _, o := range batch {
		if o.err == nil {
			s.conf.Trace(o.name+o.did, phase)
		}
	}
}

// traceAfter lets a hook that panics look to the callers like a commit whose answer was lost.
func (s *Store) traceAfter(batch []*op) {
	defer func() {
		if p := recover(); p != nil {
			for _, o := range batch {
				o.err = fmt.Errorf("%w: panic after the commit: %v", sessions.ErrUncertain, p)
			}
		}
	}()
	s.trace(batch, AfterCommit)
}

// deadline bounds a transaction on a server that may hang. A local file does not hang, and a context that may end costs a
// goroutine for each statement there.
func (s *Store) deadline(ctx context.Context) (context.Context, context.CancelFunc) {
	if !s.d.Postgres {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, 30*time.Second)
}

// committed hands on what follows a commit, and notes its number where it has one beside the database.
func (s *Store) committed(t *tx, counted bool) {
	if counted {
		s.acknowledge()
		s.settle(true)
	}
	if t.flushed > 0 {
		s.unindexed = append(s.unindexed[:0], s.unindexed[t.flushed:]...)
	}
	s.unindexed = append(s.unindexed, t.index...)
	s.behind.Store(len(s.unindexed) > 0)
	s.mirror.add(t.mirror)
	s.sweeping = s.sweeping && !t.purged
	if t.swept && !s.sweeping {
		s.sweeping, s.unswept = true, 0
	}
}

// ready makes sure that there is a connection that owns the database, and that every commit before is known to be made or not.
func (s *Store) ready(ctx context.Context) error {
	if s.writer.gone {
		if err := s.reconnect(ctx); err != nil {
			return err
		}
	}
	if s.uncertain != nil {
		return s.learn(ctx)
	}
	return nil
}

func (s *Store) reconnect(ctx context.Context) error {
	c, err := s.connectWriter(ctx)
	if err != nil {
		return fmt.Errorf("reconnecting to the database: %w", err)
	}
	_ = s.writer.Close() // it is broken
	s.writer = c
	if err := s.takeTerm(ctx, c); err != nil {
		return err
	}
	s.tx.n, err = readNumbers(ctx, c)
	if err != nil {
		c.gone = true
	}
	return err
}
