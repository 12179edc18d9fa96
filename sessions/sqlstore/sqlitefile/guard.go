package sqlitefile

import (
	"context"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"parley/sessions/sqlstore/engine"
)

// Config says which database is guarded, and how.
type Config struct {
	Dir         string // state folder
	Logger      *slog.Logger
	CheckBudget time.Duration // how long Watch waits; 0 = 250 ms
	// HasContent reports whether a database is worth a copy before it is upgraded.
	HasContent func(ctx context.Context, c *engine.Conn) (bool, error)

	CheckpointPages int64                 // at so many pages the log is moved into the database in the next pause; 0 = 1,000
	BusyPages       int64                 // at so many at once; 0 = as CheckpointPages, 4,000 where that is 0 too
	Log             func(LogFile) LogFile // stands between the guard and the log; nil = nothing
	Plain           func(*os.File) File   // stands between the guard and the files that SQLite does not write; nil = nothing
}

// Guard cares for the file of a database that this process has open. It implements engine.Guard.
type Guard struct {
	conf Config
	file string    // the database
	was  diskState // what it said before anything was changed
	same func() error

	commits           *os.File // the number of the last commit
	number            int64    // of the last commit
	schema            int64    // the version
	sums              *pageChecksums
	checksumsDisabled bool         // they were given up
	look              *engine.Conn // looks into the database before anything else, and can change nothing
	plain             *os.File     // the database, from when it is compared until it is closed; may be nil

	comparing  atomic.Bool // it is compared with its checksums
	changed    atomic.Bool // it was found to be damaged while it was running
	damaged    chan error
	replaced   error // the writer's: its files are not where they were
	background sync.WaitGroup
}

var _ engine.Guard = (*Guard)(nil)

// New returns a guard that has looked at nothing yet. Inspect, Attach and Watch follow, in this order.
func New(conf Config) *Guard {
	if conf.CheckBudget <= 0 {
		conf.CheckBudget = checkBudget
	}
	if conf.BusyPages <= 0 {
		conf.BusyPages = conf.CheckpointPages
	}
	if conf.CheckpointPages <= 0 {
		conf.CheckpointPages, conf.BusyPages = logPages, busyLog*logPages
	}
	return &Guard{conf: conf, file: filepath.Join(conf.Dir, DatabaseFile), same: func() error { return nil }, damaged: make(chan error, 1)}
}

// DSN returns the data sources of the writer and of the readers of a database.
func DSN(path string) (write, read string) {
	base := (&url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(path)}).String() + "?_pragma=busy_timeout(5000)&_pragma=temp_store(2)&_pragma=wal_autocheckpoint(0)"
	// secure_delete: what was removed or replaced, such as a pairing code, is written over in its page.
	// FULL: a commit is on disk when it returns. The page caches add up to 7 MB.
	// The writer itself moves the log into the database, at 4 to 16 MB (see Guard.Checkpoint): the log then stays one file of that size, which is
	// written over and over. A second connection doing it behind the writer was measured to be slower: the log grows, and their syncs collide.
	write = base + "&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=secure_delete(FAST)&_pragma=cache_size(-4000)&_pragma=journal_size_limit(16777216)"
	read = base + "&_pragma=query_only(1)&_pragma=cache_size(-750)"
	return write, read
}

// Inspect refuses a database that is not as it was written, as far as that can be told without opening it for writing. It changes nothing of it.
func (g *Guard) Inspect(ctx context.Context) (err error) {
	if err := checkLost(g.conf.Dir, g.file); err != nil {
		return err
	}
	if err := checkHeader(g.file); err != nil {
		return err
	}
	if err := g.forgetGone(); err != nil {
		return err
	}
	engine.Private(g.file) // before SQLite has it open: closing any other file of the database ends its locks
	if g.was, err = checkCommits(ctx, g.conf.Dir, g.file); err != nil {
		return err
	}
	g.look = g.was.c
	if g.was.corruptCopy {
		g.conf.Logger.Warn("repaired one corrupt copy of the commit counter", "hint", "no data lost, no action needed", "file", filepath.Join(g.conf.Dir, CommitsFile))
	}
	if g.was.missing > 0 {
		g.conf.Logger.Warn("database was restored from a pre-upgrade copy", "hint", "later commits are not in the copy", "schema", g.was.schema, "commits", g.was.missing)
	}
	return nil
}

// Committing implements engine.Guard.
func (g *Guard) Committing() { g.settle(false) }

// Committed implements engine.Guard.
func (g *Guard) Committed(number int64) {
	g.number = number
	g.acknowledge()
	g.settle(true)
}

// Migrated implements engine.Guard.
func (g *Guard) Migrated(ctx context.Context, c *engine.Conn, from int64) error {
	if from == 0 {
		return g.syncLog()
	}
	g.settle(true)
	g.Checkpoint(ctx, c, true)
	return nil
}

// Wait returns when nothing of the guard's runs beside the writer any more. The context of Attach and Watch has ended.
func (g *Guard) Wait() { g.background.Wait() }

// Close ends SQLite's connections, the writer's too, which may be nil, and closes what is open beside them.
func (g *Guard) Close(writer *engine.Conn) error {
	err := g.disconnect(writer)
	g.closeFiles()
	return err
}

// closeFiles closes what is open beside SQLite's own files, after those.
func (g *Guard) closeFiles() {
	for _, f := range []*os.File{g.commits, g.plain} {
		if f != nil {
			_ = f.Close() // nothing of it is in a buffer
		}
	}
	if g.sums != nil {
		_ = g.sums.f.Close() // as above
	}
}

// Trusted reports whether Inspect found a number of commits that nothing but a program with page checksums has counted.
func (g *Guard) Trusted() bool { return g.was.trusted && !g.was.unknown }

// LogFrames returns how many frames the log has in commits. Only the writer's goroutine may call it.
func (g *Guard) LogFrames() int64 { return g.sums.log.frames }

// Moved reports whether all of the log was moved into the database. Only the writer's goroutine may call it.
func (g *Guard) Moved() bool { return g.sums.whole }
