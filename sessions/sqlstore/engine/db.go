package engine

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// Config says what an engine runs on, and who works with it.
type Config struct {
	Dialect           Dialect
	Name              string // of the database, without its password, for people
	WriteDSN, ReadDSN string
	Readers           int           // most connections that read at the same time
	ReaderIdle        time.Duration // one that was idle for longer is not used again; 0 = for ever
	// Pragmas are what the writer's next connection to SQLite has besides, as the end of its DSN; nil = nothing.
	Pragmas     func() string
	Logger      *slog.Logger
	Trace       func(op, phase string)                                               // see sqlstore.Config
	Migrations  fs.FS                                                                // a folder migrations, with one for each dialect
	Newest      string                                                               // makes in a new SQLite database what all migrations make
	CheckSchema func(ctx context.Context, c *Conn, name string, version int64) error // refuses a schema that no release had
	Guard       Guard                                                                // nil = the server cares for its files itself
}

// Guard is the care for the files of a database. Only the writer's goroutine calls it, and who opens the database; Failed is called by
// readers too.
type Guard interface {
	// Check is called before a transaction; an error refuses it: the files are not in their place.
	Check(ctx context.Context, c *Conn) error
	// Committing is called before the COMMIT of a transaction that writes.
	Committing()
	// Committed is called behind a commit with its number.
	Committed(number int64)
	// Failed turns an error of the database's into one that says what is damaged, and reports it.
	Failed(err error) error
	// Checkpoint is called behind each batch. idle: nothing came for a pause.
	Checkpoint(ctx context.Context, c *Conn, idle bool)
	// Due reports whether a checkpoint waits for the next pause.
	Due() bool
	// Upgrading is called before the first migration of a database that has a schema.
	Upgrading(ctx context.Context, c *Conn, from, to int64) error
	// Migrated is called behind the migrations of a new database (from = 0), and behind each one of another.
	Migrated(ctx context.Context, c *Conn, from int64) error
	// Upgraded is called when the schema is the newest, at each start.
	Upgraded(ctx context.Context, c *Conn) error
	// Count starts to count commits, and returns the number of the last one.
	Count(ctx context.Context, c *Conn) (int64, error)
}

// Maintenance is the work that no caller waits for. What comes meanwhile does, so it is done where nothing comes, one piece at a time, and
// in the middle of work only when that does not happen. Only the writer's goroutine calls it.
type Maintenance interface {
	// Next returns what is done behind a batch, in the same transaction; nil when there is nothing. quiet: the batch is empty, as nothing came
	// for a pause. open: the queue is not closed. checkpoint: one waits for a pause.
	Next(quiet, open, checkpoint bool) (name string, work Operation)
	// Wait is how long nothing comes before the next piece. quiet: one was just done, or could not be.
	Wait(quiet, checkpoint bool) time.Duration
	// Done tells how a piece went.
	Done(name string, err error)
}

// DB is a database that this process owns.
type DB struct {
	conf Config

	queue   chan *op
	closing sync.RWMutex // held for reading while an operation enters the queue
	closed  bool
	written chan struct{} // closed when the writer has ended

	// The writer goroutine's own.
	writer      *Conn
	tx          Tx
	states      states
	maintenance Maintenance
	uncertain   *uncertain // a commit whose answer was lost; nil = every one is known

	trouble atomic.Pointer[error]
	readers readers
}

// New returns an engine that has opened nothing yet. Attach and Maintain follow, then Connect, Migrate and Load, and then Run.
func New(conf Config) *DB {
	if conf.Guard == nil {
		conf.Guard = noGuard{}
	}
	db := &DB{conf: conf, queue: make(chan *op, 4*maxBatch), written: make(chan struct{})}
	db.readers.init(conf.Readers, conf.ReaderIdle)
	db.tx.traced = conf.Trace != nil
	return db
}

// Attach has the writer tell a State what becomes of its transactions, behind those that were attached before. It is called before Load.
func (db *DB) Attach(s State) { db.states = append(db.states, s) }

// Maintain has the writer do the work that no caller waits for. It is called before Run.
func (db *DB) Maintain(m Maintenance) { db.maintenance = m }

// Dialect tells one engine from the other.
func (db *DB) Dialect() Dialect { return db.conf.Dialect }

// Writer returns the writer's connection; nil before Connect. It is the caller's only while Run does not run.
func (db *DB) Writer() *Conn { return db.writer }

// Connect opens the writer's connection, and owns a database on a server.
func (db *DB) Connect(ctx context.Context) (err error) {
	if db.writer, err = db.connectWriter(ctx); err != nil {
		return fmt.Errorf("open the store in %s: %w", db.conf.Name, err)
	}
	return nil
}

// Load makes this connection the only one that can commit, and reads what is kept of the database in memory.
func (db *DB) Load(ctx context.Context) error {
	if err := db.takeTerm(ctx, db.writer); err != nil {
		return err
	}
	if err := db.states.Load(ctx, db.writer); err != nil {
		return err
	}
	if db.conf.Dialect.Postgres {
		return nil
	}
	n, err := db.conf.Guard.Count(ctx, db.writer)
	db.tx.commits = n
	return err
}

// Stop refuses further operations and waits until the writer has ended those that it has. It is false when that was done before.
func (db *DB) Stop() bool {
	db.closing.Lock()
	if db.closed {
		db.closing.Unlock()
		return false
	}
	db.closed = true
	close(db.queue)
	db.closing.Unlock()
	return true
}

// Wait returns when the writer has ended.
func (db *DB) Wait() { <-db.written }

// Waiting returns how many operations are in the queue.
func (db *DB) Waiting() int { return len(db.queue) }

// CloseReaders waits for every connection that reads, and closes it.
func (db *DB) CloseReaders() error { return db.readers.close() }

// noGuard is the guard of a database that a server cares for.
type noGuard struct{}

func (noGuard) Check(context.Context, *Conn) error                   { return nil }
func (noGuard) Committing()                                          {}
func (noGuard) Committed(int64)                                      {}
func (noGuard) Failed(err error) error                               { return err }
func (noGuard) Checkpoint(context.Context, *Conn, bool)              {}
func (noGuard) Due() bool                                            { return false }
func (noGuard) Upgrading(context.Context, *Conn, int64, int64) error { return nil }
func (noGuard) Migrated(context.Context, *Conn, int64) error         { return nil }
func (noGuard) Upgraded(context.Context, *Conn) error                { return nil }
func (noGuard) Count(context.Context, *Conn) (int64, error)          { return 0, nil }
