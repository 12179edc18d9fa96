// Package sqlstore is the store of sessions on SQLite and on PostgreSQL: one code, two dialects.
//
// One goroutine writes. It takes all operations that wait, runs them in one transaction and answers them after its commit, so that
// the price of a durable commit is shared by whoever is there. Readers have a few connections beside it. A user's message goes
// into the transcript when its run is claimed for the first time: behind the answer of the turn before it, whatever was accepted
// meanwhile; until then it is on the run's row.
package sqlstore

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"parley/sessions"
)

// Config says where the store is.
type Config struct {
	Dir    string       // state folder: the database, the owner lock, the mirror
	DSN    string       // postgres://…; empty = SQLite in <Dir>/parley.db
	Logger *slog.Logger // nil = nothing is logged

	Readers     int           // most connections that read at the same time; 0 = 4
	CheckBudget time.Duration // how long Open waits for the check of the file; 0 = 250 ms
	// Trace is called before and after each commit for each operation in it, in the writer's goroutine: a place for tests to fail
	// or to kill the process. phase is BeforeCommit or AfterCommit, op what the operation is, with a + before each further thing that
	// it does: "Accept+reset" (see also). A panic before the commit rolls back; after it, the callers
	// get an error although the facts are on disk.
	Trace func(op, phase string)
	// TraceCall is the same for what is noted of calls to platforms (CallsFile), "Call+telegram" and "Answer+telegram". It is called by who sends.
	TraceCall func(op, phase string)

	logPages  int64                    // at so many pages the log is moved into the database in the next pause; 0 = 1,000
	busyPages int64                    // at so many at once; 0 = as logPages, 4,000 where that is 0 too
	pause     time.Duration            // when nothing came for so long, the writer does its chores; 0 = 20 ms
	boot      string                   // in place of the system's own
	plain     func(*os.File) plainFile // stands between the store and the files that SQLite does not write; nil = nothing
}

// Store implements sessions.Store.
type Store struct {
	conf     Config
	d        Dialect
	file     string // SQLite: the database file
	writeDSN string
	readDSN  string
	folder   *Folder

	queue   chan *op
	closing sync.RWMutex // held for reading while an operation enters the queue
	closed  bool
	written chan struct{} // closed when the writer has ended

	// The writer goroutine's own.
	writer    *Conn
	tx        tx
	uncertain *uncertain // a commit whose answer was lost; nil = every one is known
	unindexed []entry
	sweeping  bool      // a deleted session may have left something behind
	unswept   int       // batches since the last sweep, or since there is something to be swept
	commits   *os.File  // SQLite: the number of the last commit
	schema    int64     // SQLite: the version
	sums      *pageSums // SQLite: the checksums of its pages
	unsummed  bool      // SQLite: they were given up

	calls      *calls      // what is noted of calls to platforms
	guard      *Conn       // SQLite: looks into the database before anything else, and can change nothing
	plain      *os.File    // SQLite: the database, from when it is compared until it is closed; may be nil
	comparing  atomic.Bool // SQLite: it is compared with its checksums
	changed    atomic.Bool // SQLite: it was found to be damaged while it was at work
	behind     atomic.Bool // unindexed is not empty
	trouble    atomic.Pointer[error]
	readers    readers
	places     places
	mirror     *mirror
	damaged    chan error
	dropped    dropLog
	displaced  error // the writer's: its files are not where they were
	background sync.WaitGroup
	cancel     context.CancelFunc
	rest       func() // moves the log into the database when nobody uses it any more
}

var _ sessions.Store = (*Store)(nil)

// Open opens the store and takes the state folder. The error wraps ErrOwned when another process has it, and ErrDamaged when the
// database is damaged; both say what to do. What goes on in the background lives until Close, not until ctx ends.
func Open(ctx context.Context, conf Config) (*Store, error) {
	s := &Store{conf: conf, d: SQLite, queue: make(chan *op, 4*maxBatch), written: make(chan struct{}), damaged: make(chan error, 1)}
	if conf.DSN != "" {
		s.d = Postgres
	}
	if conf.Logger == nil {
		s.conf.Logger = slog.New(slog.DiscardHandler)
	}
	if conf.CheckBudget <= 0 {
		s.conf.CheckBudget = checkBudget
	}
	if conf.pause <= 0 {
		s.conf.pause = defaultPause
	}
	if conf.busyPages <= 0 {
		s.conf.busyPages = conf.logPages
	}
	if conf.logPages <= 0 {
		s.conf.logPages, s.conf.busyPages = logPages, busyLog*logPages
	}
	lasts := time.Duration(0)
	if s.d.Postgres {
		lasts = serverIdle
	}
	s.readers.init(orDefault(conf.Readers, 4), lasts)
	var err error
	if s.conf.Dir, err = filepath.Abs(conf.Dir); err != nil {
		return nil, fmt.Errorf("state folder %q: %w", conf.Dir, err)
	}
	s.file = filepath.Join(s.conf.Dir, DatabaseFile)
	s.writeDSN, s.readDSN = s.dsn()
	if s.folder, err = Own(s.conf.Dir); err != nil {
		return nil, err
	}
	var life context.Context
	life, s.cancel = context.WithCancel(context.WithoutCancel(ctx))
	if err := s.open(ctx, life); err != nil {
		s.cancel()
		s.background.Wait()
		_ = s.disconnect() // the first error counts
		s.closeFiles()
		_ = s.folder.Release()
		return nil, s.diagnose(err)
	}
	return s, nil
}

func (s *Store) open(ctx, life context.Context) (err error) {
	var was left
	same := func() error { return nil } // whether the database is as it was written
	if err := checkUnfinished(s.conf.Dir); err != nil {
		return err
	}
	if !s.d.Postgres {
		if err := checkLost(s.conf.Dir, s.file); err != nil {
			return err
		}
		if err := checkHeader(s.file); err != nil {
			return err
		}
		if err := s.forgetGone(); err != nil {
			return err
		}
		Private(s.file) // before SQLite has it open: closing any other file of the database ends its locks
		if was, err = checkCommits(ctx, s.conf.Dir, s.file); err != nil {
			return err
		}
		s.guard = was.c
		if was.spoiled {
			s.conf.Logger.Warn("the number of the database's commits was damaged in one of the places where it stands; the other places agree: nothing is missing, and nothing is to be done", "file", filepath.Join(s.conf.Dir, CommitsFile))
		}
		if was.missing > 0 {
			s.conf.Logger.Warn("a copy from before an upgrade was put in the place of the database: what came after it is not in it", "schema", was.schema, "commits", was.missing)
		}
	}
	if s.writer, err = s.connectWriter(life); err != nil {
		return fmt.Errorf("opening the store in %s: %w", s.where(), err)
	}
	if !s.d.Postgres {
		if same, err = s.openSums(life, was); err != nil {
			return err
		}
	}
	if err := s.migrate(ctx, same); err != nil {
		return err
	}
	if !s.d.Postgres {
		if err := s.watch(life, same); err != nil {
			return err
		}
	}
	if err := s.takeTerm(life, s.writer); err != nil {
		return err
	}
	if s.tx.n, err = readNumbers(life, s.writer); err != nil {
		return err
	}
	if !s.d.Postgres {
		if err := s.count(life); err != nil {
			return err
		}
	}
	if s.calls, err = openCalls(s.conf.Dir, cmp.Or(s.conf.boot, boot())); err != nil {
		s.conf.Logger.Warn("it cannot be noted which messages leave: what is being sent when the host is killed counts as unknown", "file", filepath.Join(s.conf.Dir, CallsFile), "err", err)
	}
	if err := s.catchUp(life); err != nil {
		return err
	}
	if err := s.indexNotes(life); err != nil {
		return err
	}
	s.behind.Store(len(s.unindexed) > 0)
	gone, err := s.writer.Number(life, "SELECT num FROM transcripts WHERE gone = 1 LIMIT 1")
	if err != nil {
		return err
	}
	s.sweeping = gone != 0
	s.mirror = newMirror(s.conf.Logger, s.read, s.TranscriptPath)
	work := context.WithoutCancel(life)
	s.rest = func() { s.lastMove(work) }
	go s.mirror.run(work)
	go func() {
		defer close(s.written)
		s.run(work)
	}()
	return nil
}

// where names the database without its password.
func (s *Store) where() string {
	if !s.d.Postgres {
		return s.file
	}
	if u, err := url.Parse(s.conf.DSN); err == nil && u.Host != "" {
		return u.Host + u.Path
	}
	return "PostgreSQL"
}

// dsn gives the data sources of the writer and of the readers.
func (s *Store) dsn() (write, read string) {
	if s.d.Postgres {
		return s.conf.DSN, s.conf.DSN
	}
	base := (&url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(s.file)}).String() + "?_pragma=busy_timeout(5000)&_pragma=temp_store(2)&_pragma=wal_autocheckpoint(0)"
	// secure_delete: what was removed or replaced, such as a pairing code, is written over in its page.
	// FULL: a commit is on disk when it returns. The page caches add up to 7 MB.
	// The writer itself moves the log into the database, at 4 to 16 MB (see tendLog): the log then stays one file of that size, which is
	// written over and over. A second connection doing it behind the writer was measured to be slower: the log grows, and their syncs collide.
	write = base + "&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=secure_delete(FAST)&_pragma=cache_size(-4000)&_pragma=journal_size_limit(16777216)"
	read = base + "&_pragma=query_only(1)&_pragma=cache_size(-750)"
	return write, read
}

// Close waits for what was begun, writes the rest of the mirror and gives the folder back.
func (s *Store) Close() error {
	s.closing.Lock()
	if s.closed {
		s.closing.Unlock()
		return ErrClosed
	}
	s.closed = true
	close(s.queue)
	s.closing.Unlock()
	s.cancel()
	<-s.written
	close(s.mirror.stop)
	<-s.mirror.done
	s.background.Wait()
	err := s.readers.close()
	s.rest()
	if e := s.disconnect(); err == nil {
		err = e
	}
	s.closeFiles()
	if e := s.folder.Release(); err == nil {
		err = e
	}
	return err
}

// closeFiles closes what is open beside SQLite's own files, after those.
func (s *Store) closeFiles() {
	for _, f := range []*os.File{s.commits, s.plain} {
		if f != nil {
			_ = f.Close() // nothing of it is in a buffer
		}
	}
	if s.sums != nil {
		_ = s.sums.f.Close() // as above
	}
	if s.calls != nil {
		s.calls.close()
	}
}

// Describe writes the address on which this host's API listens, and the name of its socket, into the owner file, for the commands that
// look for it.
func (s *Store) Describe(address, socket string) error { return s.folder.Describe(address, socket) }

// RebuildMirror writes the mirror file of a transcript anew from the store.
func (s *Store) RebuildMirror(ctx context.Context, id sessions.ID) error {
	j := job{id: id, done: make(chan error, 1)}
	select {
	case s.mirror.jobs <- j:
		return <-j.done
	case <-s.mirror.done:
		return fmt.Errorf("rebuilding the mirror of session %s: %w", id, ErrClosed)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// SyncMirror returns when all that was committed before is in the mirror files.
func (s *Store) SyncMirror() { s.mirror.settled() }
