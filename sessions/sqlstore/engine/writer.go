package engine

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

// op is one operation that waits for the writer.
type op struct {
	name   string
	do     Operation
	labels string      // for the trace: see Tx.Label
	taken  atomic.Bool // by the writer, or by a caller that gave up
	err    error
	done   chan struct{}
}

// ErrPanic is wrapped by the error of an operation that panicked.
var ErrPanic = errors.New("panic in a store operation")

// ErrClosed says that the database is closed.
var ErrClosed = errors.New("the store is closed")

// Write has an operation run in a transaction and returns after its commit. When ctx ends before the writer took it up, it is not run at
// all; once taken up, Write waits for the end, so that its answer is true.
func (db *DB) Write(ctx context.Context, name string, do Operation) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	o := &op{name: name, do: do, done: make(chan struct{})}
	db.closing.RLock()
	if db.closed {
		db.closing.RUnlock()
		return fmt.Errorf("%s: %w", name, ErrClosed)
	}
	select {
	case db.queue <- o:
		db.closing.RUnlock()
	case <-ctx.Done():
		db.closing.RUnlock()
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
	if unfit(o.err) && !errors.Is(o.err, sessions.ErrInvalid) {
		return fmt.Errorf("%s: %w: %w", name, sessions.ErrInvalid, o.err)
	}
	if o.err != nil {
		return fmt.Errorf("%s: %w", name, o.err)
	}
	return nil
}

// Run is the writer: it takes what waits, commits it together and answers. It ends when Stop was called. ctx lives until then.
func (db *DB) Run(ctx context.Context) {
	defer close(db.written)
	guard, maintenance := db.conf.Guard, db.maintenance
	idle := time.NewTimer(maintenance.Wait(false, guard.Due()))
	defer idle.Stop()
	batch := make([]*op, 0, maxBatch)
	for open := true; open; {
		quiet := false
		if batch, open = db.take(batch[:0]); len(batch) == 0 && open {
			select { // whichever comes first, the queue is looked at before anything else is done
			case o, ok := <-db.queue:
				if open = ok; ok {
					batch, open = db.take(appendTaken(batch, o))
				}
			case <-idle.C:
				batch, open = db.take(batch)
				quiet = len(batch) == 0
			}
		}
		var task *op
		if name, work := maintenance.Next(quiet, open, guard.Due()); work != nil {
			task = &op{name: name, do: work, done: make(chan struct{})}
			batch = append(batch, task)
		}
		db.commit(ctx, batch)
		for _, o := range batch {
			close(o.done)
		}
		if task != nil {
			maintenance.Done(task.name, task.err)
		}
		guard.Checkpoint(ctx, db.writer, quiet && task == nil)
		idle.Reset(maintenance.Wait(quiet, guard.Due()))
	}
}

// take adds all that waits now to a batch. It is false when the queue is closed and nothing is left in it.
func (db *DB) take(batch []*op) (_ []*op, open bool) {
	for len(batch) < maxBatch {
		select {
		case o, ok := <-db.queue:
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
	close(o.done) // the caller gave up and does not read it
	return batch
}

// commit runs the operations in one transaction. When one fails after it has written something, all of it is rolled back and each
// operation gets a transaction of its own, so that a bad one harms no other. Nothing is run again that may have been committed.
func (db *DB) commit(ctx context.Context, batch []*op) {
	if len(batch) == 0 {
		return
	}
	err := runSure(ctx, db, batch)
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
		if err := runSure(ctx, db, batch[i:i+1]); err != nil {
			batch[i].err = err
		}
	}
}

// runSure runs operations in one transaction, and once more on a new connection where it is sure that nothing of them was committed.
func runSure(ctx context.Context, db *DB, batch []*op) error {
	had := !db.writer.gone
	err := db.runBatch(ctx, batch)
	if errors.Is(err, errNotCommitted) || err != nil && had && lostEarly(db, err) {
		err = db.runBatch(ctx, batch)
	}
	return err
}

// lostEarly reports whether a transaction failed because PostgreSQL's connection was lost before COMMIT was sent, so that nothing was committed.
func lostEarly(db *DB, err error) bool {
	return lost(db.writer.dc) && db.uncertain == nil && !errors.Is(err, sessions.ErrUncertain) && !errors.Is(err, context.DeadlineExceeded)
}

// runBatch runs operations in one transaction. It returns an error when nothing of them was committed. An operation that fails
// without having written keeps its error to itself.
func (db *DB) runBatch(ctx context.Context, batch []*op) error {
	limited, cancel := db.deadline(ctx)
	defer cancel()
	db.tx.wrote = false
	open := db.uncertain
	err := db.runTx(limited, batch)
	if db.uncertain != open && db.uncertain != nil {
		if err = db.settleUncertain(ctx); err == nil {
			db.traceAfter(batch)
		}
	}
	db.note(db.tx.wrote, err)
	return err
}

func (db *DB) runTx(ctx context.Context, batch []*op) (err error) {
	if err := db.ready(ctx); err != nil {
		return err
	}
	if err := db.conf.Guard.Check(ctx, db.writer); err != nil {
		return err
	}
	t, state, made := &db.tx, db.states, false
	t.Conn, t.Ctx, t.Now, t.dirty = db.writer, ctx, time.Now(), false
	state.Begin()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", ErrPanic, p)
		}
		if err != nil {
			if db.uncertain == nil && !made {
				state.Rollback()
			}
			_ = t.rollback(ctx) // the first error counts; SQLite may have rolled back on its own
			err = db.conf.Guard.Failed(err)
			db.writer.gone = db.writer.gone || stale(err)
		}
	}()
	if err := t.beginTransaction(ctx); err != nil {
		return err
	}
	for _, o := range batch {
		dirty := t.dirty
		state.Save()
		t.dirty, t.failing, t.labels = false, false, ""
		o.err = o.do(t)
		if o.labels = t.labels; o.err != nil {
			if t.dirty || t.failing {
				return o.err
			}
			state.Restore()
		}
		t.dirty = t.dirty || dirty
	}
	number := t.wrote && !t.Dialect.Postgres
	if number {
		if _, err := t.Conn.Exec(ctx, setCommits, t.commits+1); err != nil {
			return err
		}
	}
	db.trace(batch, BeforeCommit)
	if number {
		db.conf.Guard.Committing()
	}
	if possible, err := t.endTransaction(ctx); err != nil {
		if possible {
			db.uncertain, db.writer.gone = &uncertain{t.commits + 1, err}, db.conf.Dialect.Postgres
		}
		return err
	}
	if t.wrote {
		t.commits++
	}
	db.onCommit(number)
	made = true
	db.traceAfter(batch)
	return nil
}

func (db *DB) trace(batch []*op, phase string) {
	if db.conf.Trace == nil {
		return
	}
	for _, o := range batch {
		if o.err == nil {
			db.conf.Trace(o.name+o.labels, phase)
		}
	}
}

// traceAfter lets a hook that panics look to the callers like a commit whose answer was lost.
func (db *DB) traceAfter(batch []*op) {
	defer func() {
		if p := recover(); p != nil {
			for _, o := range batch {
				o.err = fmt.Errorf("%w: panic after the commit: %v", sessions.ErrUncertain, p)
			}
		}
	}()
	db.trace(batch, AfterCommit)
}

// deadline bounds a transaction on a server that may hang. A local file does not hang, and a context that may end costs a
// goroutine for each statement there.
func (db *DB) deadline(ctx context.Context) (context.Context, context.CancelFunc) {
	if !db.conf.Dialect.Postgres {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, 30*time.Second)
}

// onCommit hands on what follows a commit, and notes its number where it has one beside the database.
func (db *DB) onCommit(counted bool) {
	if counted {
		db.conf.Guard.Committed(db.tx.commits)
	}
	db.states.Committed()
}

// ready makes sure that there is a connection that owns the database, and that every commit before is known to be made or not.
func (db *DB) ready(ctx context.Context) error {
	if db.writer.gone {
		if err := db.reconnect(ctx); err != nil {
			return err
		}
	}
	if db.uncertain != nil {
		return db.learn(ctx)
	}
	return nil
}

func (db *DB) reconnect(ctx context.Context) error {
	c, err := db.connectWriter(ctx)
	if err != nil {
		return fmt.Errorf("reconnect to the database: %w", err)
	}
	_ = db.writer.Close() // it is broken
	db.writer = c
	if err := db.takeTerm(ctx, c); err != nil {
		return err
	}
	if err = db.states.Load(ctx, c); err != nil {
		c.gone = true
	}
	return err
}
