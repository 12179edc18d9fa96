package sqlstore

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"parley/sessions"
	"parley/sessions/sqlstore/engine"
	"parley/sessions/sqlstore/job"
	"parley/sessions/sqlstore/ledger"
	"parley/sessions/sqlstore/lesson"
	"parley/sessions/sqlstore/move"
	"parley/sessions/sqlstore/schema"
	"parley/sessions/sqlstore/search"
	"parley/sessions/sqlstore/sendlog"
	"parley/sessions/sqlstore/session"
	"parley/sessions/sqlstore/sqlitefile"
	"parley/sessions/sqlstore/trace"
	"parley/sessions/sqlstore/transcript"
	"parley/sessions/sqlstore/transcriptfile"
)

// Config says where the store is.
type Config struct {
	Dir    string       // state folder: the database, the owner lock, the transcript files
	DSN    string       // postgres://…; empty = SQLite in <Dir>/parley.db
	Logger *slog.Logger // nil = nothing is logged

	Readers     int           // most connections that read at the same time; 0 = 4
	CheckBudget time.Duration // how long Open waits for the check of the file; 0 = 250 ms
	// Trace is called before and after each commit for each operation in it, in the writer's goroutine: a place for tests to fail
	// or to kill the process. phase is BeforeCommit or AfterCommit, op what the operation is, with a + before each further thing that
	// it does: "Accept+reset" (see engine.Tx.Label). A panic before the commit rolls back; after it, the callers
	// get an error although the facts are on disk.
	Trace func(op, phase string)
	// TraceCall is the same for what is noted of calls to platforms (CallsFile), "Call+telegram" and "Answer+telegram". It is called by who sends.
	TraceCall func(op, phase string)

	logPages   int64                                       // at so many pages the log is moved into the database in the next pause; 0 = 1,000
	busyPages  int64                                       // at so many at once; 0 = as logPages, 4,000 where that is 0 too
	pause      time.Duration                               // idle time before the writer's maintenance; 0 = 20 ms
	readerIdle time.Duration                               // see engine.Config
	pragmas    func() string                               // what the writer's next connection has besides; nil = nothing
	boot       string                                      // in place of the system's own
	plain      func(*os.File) sqlitefile.File              // stands between the store and the files that SQLite does not write; nil = nothing
	log        func(sqlitefile.LogFile) sqlitefile.LogFile // the same for SQLite's log, which is only read
	callsFile  func(sendlog.File) sendlog.File             // the same for CallsFile
}

// Store implements sessions.Store: it is its repositories, opened and closed together.
type Store struct {
	repository
	*ledgerStore
	*transcriptStore
	*sessionStore
	*jobStore
	*lessonStore
	chats
	inbox
	*moveStore
	deliveries
	people
	runs
	retention
	changes
	*traceStore

	conf            Config
	folder          *engine.Folder
	guard           *sqlitefile.Guard // nil on PostgreSQL
	transcriptFiles *transcriptfile.Writer
	index           *search.Index
	notes           *search.Notes
	transcripts     *transcript.Rows
	cancel          context.CancelFunc
	rest            func() // moves the WAL into the database after its last use
}

// The repositories that have a package of their own, embedded under names that are not public.
type (
	ledgerStore     = ledger.Store
	jobStore        = job.Store
	lessonStore     = lesson.Store
	transcriptStore = transcript.Store
	sessionStore    = session.Store
	traceStore      = trace.Store
	moveStore       = move.Store
)

var _ sessions.Store = (*Store)(nil)

// Open opens the store and takes the state folder. The error wraps ErrInUse when another process has it, and ErrDamaged when the
// database is damaged; both say what to do. What goes on in the background lives until Close, not until ctx ends.
func Open(ctx context.Context, conf Config) (*Store, error) {
	s := &Store{conf: conf}
	if conf.Logger == nil {
		s.conf.Logger = slog.New(slog.DiscardHandler)
	}
	var err error
	if s.conf.Dir, err = filepath.Abs(conf.Dir); err != nil {
		return nil, fmt.Errorf("state folder %q: %w", conf.Dir, err)
	}
	if s.folder, err = engine.Own(s.conf.Dir); err != nil {
		return nil, err
	}
	s.assemble()
	var life context.Context
	life, s.cancel = context.WithCancel(context.WithoutCancel(ctx))
	if err := s.open(ctx, life); err != nil {
		s.cancel()
		if s.guard != nil {
			s.guard.Wait()
			err = s.guard.Diagnose(err)
		}
		_ = s.disconnect() // the first error counts
		_ = s.folder.Release()
		return nil, err
	}
	return s, nil
}

// assemble makes the parts of the store. Nothing is opened yet.
func (s *Store) assemble() {
	name := filepath.Join(s.conf.Dir, DatabaseFile)
	c := engine.Config{
		Dialect: engine.SQLite, Name: name, Readers: engine.Limit(s.conf.Readers, 4), ReaderIdle: s.conf.readerIdle, Logger: s.conf.Logger, Trace: s.conf.Trace,
		Migrations: schema.Migrations, Newest: schema.Newest, CheckSchema: schema.CheckReleased, Pragmas: s.conf.pragmas,
	}
	if s.conf.DSN == "" {
		c.WriteDSN, c.ReadDSN = sqlitefile.DSN(name)
		s.guard = sqlitefile.New(sqlitefile.Config{
			Dir: s.conf.Dir, Logger: s.conf.Logger, CheckBudget: s.conf.CheckBudget, HasContent: schema.HasContent,
			CheckpointPages: s.conf.logPages, BusyPages: s.conf.busyPages, Plain: s.conf.plain, Log: s.conf.log,
		})
		c.Guard = s.guard
	} else {
		c.Dialect, c.Name, c.WriteDSN, c.ReadDSN = engine.Postgres, nameOf(s.conf.DSN), s.conf.DSN, s.conf.DSN
		c.ReaderIdle = engine.ServerIdle
	}
	s.repository = repository{db: engine.New(c), log: s.conf.Logger}
	s.transcriptFiles = transcriptfile.New(s.conf.Logger, transcriptSource{transcript.Source{DB: s.db}}, s.conf.Dir)
	s.join()
}

// join makes the repositories. Each knows those that stand before it in the order of this function, and calls no other.
func (s *Store) join() {
	r, db, files := s.repository, s.db, transcriptfile.NewPending(s.db, s.transcriptFiles)
	spends := ledger.NewRows(db)
	s.ledgerStore = ledger.New(db, spends)
	s.index, s.notes = search.NewIndex(db), search.NewNotes(db)
	s.transcripts = transcript.NewRows(db, r.log, spends, s.index, files)
	s.transcriptStore = transcript.New(db, s.transcripts)
	rows := session.NewRows(db, s.transcripts)
	s.sessionStore = session.New(db, rows)
	lines := session.NewContextLines(db, rows)
	jobs := job.NewRows(db)
	s.jobStore = job.New(db)
	s.lessonStore = lesson.New(db)
	s.chats = chats{repository: r, receipts: db.Sequence("SELECT max(num) FROM receipts")}
	s.inbox = inbox{repository: r, seen: db.Sequence("SELECT max(num) FROM seen"), skips: db.Sequence("SELECT max(num) FROM skipped")}
	moves := move.NewRows(rows, jobs, s.transcripts)
	s.moveStore = move.New(db, moves)
	s.deliveries = deliveries{repository: r, numbers: db.Sequence("SELECT max(seq) FROM deliveries"), files: files, trace: s.conf.TraceCall, sessions: rows, chats: &s.chats, moves: moves, inbox: &s.inbox, lines: lines}
	s.people = people{repository: r, numbers: db.Sequence("SELECT max(num) FROM pairings"), inbox: &s.inbox, deliveries: &s.deliveries}
	s.runs = runs{repository: r, numbers: db.Sequence("SELECT max(seq) FROM runs"), transcripts: s.transcripts, sessions: rows, lines: lines, files: files, moves: moves, deliveries: &s.deliveries}
	s.retention = retention{repository: r, ledger: spends}
	s.changes = changes{repository: r, ledger: spends, transcripts: s.transcripts, sessions: rows, lines: lines, jobs: jobs, notes: s.notes,
		chats: &s.chats, inbox: &s.inbox, moves: moves, deliveries: &s.deliveries, people: &s.people, runs: &s.runs}
	s.traceStore = trace.New(db)
	db.Maintain(transcript.NewMaintenance(r.log, s.conf.pause, s.transcripts))
}

func (s *Store) open(ctx, life context.Context) (err error) {
	if err := sqlitefile.CheckUnfinished(s.conf.Dir); err != nil {
		return err
	}
	if s.guard != nil {
		if err := s.guard.Inspect(ctx); err != nil {
			return err
		}
	}
	if err := s.db.Connect(life); err != nil {
		return err
	}
	if s.guard != nil {
		if err := s.guard.Attach(life, s.db.Writer()); err != nil {
			return err
		}
	}
	if err := s.db.Migrate(ctx); err != nil {
		return err
	}
	if s.guard != nil {
		if err := s.guard.Watch(life); err != nil {
			return err
		}
	}
	if err := s.db.Load(life); err != nil {
		return err
	}
	if s.deliveries.calls, err = sendlog.Open(s.conf.Dir, cmp.Or(s.conf.boot, sendlog.Boot()), s.conf.callsFile); err != nil {
		s.conf.Logger.Warn("cannot write the send log", "hint", "messages in flight during a crash count as possibly delivered", "file", filepath.Join(s.conf.Dir, CallsFile), "err", err)
	}
	writer := s.db.Writer()
	for _, catchUp := range []func(context.Context, *engine.Conn) error{s.index.CatchUp, s.notes.CatchUp, s.transcripts.CatchUp} {
		if err := catchUp(life, writer); err != nil {
			return err
		}
	}
	work := context.WithoutCancel(life)
	s.rest = func() {
		if s.guard != nil {
			s.guard.LastCheckpoint(work, s.db.Writer())
		}
	}
	go s.transcriptFiles.Run(work)
	go s.db.Run(work)
	return nil
}

// nameOf names a database of PostgreSQL's without its password.
func nameOf(dsn string) string {
	if u, err := url.Parse(dsn); err == nil && u.Host != "" {
		return u.Host + u.Path
	}
	return "PostgreSQL"
}

// Close waits for what was begun, writes the rest of the transcript files and releases the folder.
func (s *Store) Close() error {
	if !s.db.Stop() {
		return engine.ErrClosed
	}
	s.cancel()
	s.db.Wait()
	s.transcriptFiles.Close()
	if s.guard != nil {
		s.guard.Wait()
	}
	err := s.db.CloseReaders()
	s.rest()
	if e := s.disconnect(); err == nil {
		err = e
	}
	if e := s.folder.Release(); err == nil {
		err = e
	}
	return err
}

// disconnect ends the connections that are left and closes the files beside the database.
func (s *Store) disconnect() (err error) {
	if s.guard != nil {
		err = s.guard.Close(s.db.Writer())
	} else if w := s.db.Writer(); w != nil {
		err = w.Close()
	}
	if s.deliveries.calls != nil {
		s.deliveries.calls.Close()
	}
	return err
}

// Search finds messages that have all the words, newest first.
func (s *Store) Search(ctx context.Context, q sessions.SearchQuery) ([]sessions.Hit, error) {
	return s.index.Search(ctx, q)
}

// Notes returns the notes of an agent that have all words of the query, newest first.
func (s *Store) Notes(ctx context.Context, q sessions.NoteQuery) ([]sessions.Note, error) {
	return s.notes.Notes(ctx, q)
}

// Describe writes the address on which this host's API listens, and the name of its socket, into the owner file, for the commands that
// look for it.
func (s *Store) Describe(address, socket string) error { return s.folder.Describe(address, socket) }

// RebuildTranscriptFile writes the file of a transcript again from the store.
func (s *Store) RebuildTranscriptFile(ctx context.Context, id sessions.ID) error {
	return s.transcriptFiles.Rebuild(ctx, id)
}

// FlushTranscriptFiles blocks until the transcript files have all that was committed before the call.
func (s *Store) FlushTranscriptFiles() { s.transcriptFiles.Flush() }

// TranscriptPath returns the path of the file with a copy of a session's transcript (contract T1).
func (s *Store) TranscriptPath(agent sessions.AgentID, id sessions.ID) string {
	return s.transcriptFiles.Path(agent, id)
}

// Trouble gives the error of the last commit that failed for a reason of the store (a full disk, an I/O error, a read-only file, a
// lost connection) when nothing was written after it; nil otherwise. It asks no server and never blocks: Probe finds out whether it
// still holds.
func (s *Store) Trouble() error { return s.db.Trouble() }

// Probe commits something tiny. When that works, Trouble is over; otherwise the error says why not. It returns when ctx ends, even
// when a server hangs.
func (s *Store) Probe(ctx context.Context) error { return s.db.Probe(ctx) }

// Damaged tells about damage that was found after Open: by the check that goes on in the background, or by an operation. It is nil on PostgreSQL.
func (s *Store) Damaged() <-chan error {
	if s.guard == nil {
		return nil
	}
	return s.guard.Damaged()
}
