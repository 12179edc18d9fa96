package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

const (
	// logPages is how many pages the log has when it is moved into the database in the next pause: 4 MB.
	logPages = 1000
	// busyLog is how many times as long it is when it is moved though others wait for their commits meanwhile.
	busyLog = 4
)

// openSums finds out what is known of the database's pages, and begins to compare them. same waits for the end of that and gives what is
// wrong. Nothing was written before.
func (s *Store) openSums(ctx context.Context, l left) (same func() error, err error) {
	if l.c == nil {
		if err := l.read(ctx, s.writer); err != nil {
			return nil, err
		}
		if l.c, err = s.d.Connect(ctx, onlyLook(s.file)); err != nil {
			return nil, err
		}
		s.guard = l.c
	}
	name := filepath.Join(s.conf.Dir, SumsFile)
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the sums of the database's pages: %w", err)
	}
	Tighten(name)
	x := &pageSums{f: s.plainly(f), settled: true}
	s.sums = x
	if err := x.begin(ctx, l, s.file); err != nil {
		return nil, err
	}
	if !x.fits(l) {
		switch info, err := f.Stat(); {
		case l.unknown && l.commits > 0:
			s.conf.Logger.Warn("the number of the database's commits is gone: nobody can tell whether the newest ones are there. The pages are taken as they are and get new checksums", "file", filepath.Join(s.conf.Dir, CommitsFile))
		case err == nil && info.Size() > 0:
			s.conf.Logger.Warn("the checksums of the database's pages are not of what is there: another program opened the database, or they could not be written. The pages are taken as they are and get new checksums: nothing is to be done")
		case l.trusted && l.commits > 0:
			s.conf.Logger.Warn("the checksums of the database's pages are gone. The pages are taken as they are and get new checksums: nothing is to be done", "file", name)
		}
		if err := x.forget(l); err != nil { // another file may do
			_, _ = x.f.Close(), os.Remove(name) // the error that counts comes from opening it
			if f, err = os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600); err == nil {
				x.f = s.plainly(f)
				err = x.forget(l)
			}
			if err != nil {
				return nil, fmt.Errorf("beginning the sums of the database's pages: %w", err)
			}
		}
	}
	return s.compare(ctx)
}

// compare reads the database beside the start. A snapshot keeps others from moving the log into it meanwhile.
func (s *Store) compare(ctx context.Context) (same func() error, err error) {
	if _, err = s.guard.Exec(ctx, "BEGIN"); err == nil {
		_, err = s.guard.Number(ctx, "SELECT count(*) FROM sqlite_schema")
	}
	if err == nil {
		// It is closed after SQLite's own files: closing any other file of the database would end its locks.
		s.plain, err = os.OpenFile(s.file, os.O_RDWR, 0)
	}
	if err != nil {
		return nil, err
	}
	x := &pageSums{f: s.sums.f, page: s.sums.page, log: walLog{size: s.sums.log.size, pages: maps.Clone(s.sums.log.pages)}}
	result := make(chan error, 1)
	s.comparing.Store(true)
	s.background.Go(func() {
		bad, without, err := x.compare(s.plain, true, ctx.Err)
		if _, e := s.guard.Exec(ctx, "COMMIT"); err == nil {
			err = e
		}
		s.comparing.Store(false)
		switch {
		case len(bad) > 0:
			result <- notAsWritten(s.file, bad)
			return
		case err != nil && ctx.Err() == nil: // the disk fails: nothing is known
			s.conf.Logger.Warn("the database was not compared with its checksums to the end", "err", err)
			result <- fmt.Errorf("%w: %w", errNotCompared, err)
			return
		case err != nil: // stopped meanwhile
		case without > 0:
			s.conf.Logger.Debug("pages of the database had no checksum", "pages", without)
		}
		result <- nil
	})
	return sync.OnceValue(func() error { return <-result }), nil
}

// errNotCompared: whether the database is as it was written is not known.
var errNotCompared = errors.New("comparing the database with its checksums")

func (s *Store) plainly(f *os.File) plainFile {
	if s.conf.plain != nil {
		return s.conf.plain(f)
	}
	return f
}

// syncLog has the log on disk.
func (s *Store) syncLog() error {
	f, err := os.OpenFile(s.file+"-wal", os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(s.plainly(f).Sync(), f.Close())
}

// tendLog takes up what was committed, and moves the log into the database when it is long, in a pause (quiet), or when it is very long.
// Only the writer calls it, or who comes before or after it.
func (s *Store) tendLog(ctx context.Context, quiet bool) {
	if s.sums == nil || !s.sums.news && !(quiet && s.longLog() && s.mayMove(ctx)) {
		return
	}
	s.sums.news = false
	pages := s.conf.logPages
	if !quiet {
		pages = s.conf.busyPages
	}
	err := s.moveFrom(ctx, max(s.sums.trying, pages))
	if err != nil && !s.sums.failing {
		s.conf.Logger.Warn("cannot move the log into the database, with the checksums of its pages; it grows until that works", "err", err)
	}
	s.sums.failing = err != nil
}

// longLog reports whether the log is to be moved in the next pause.
func (s *Store) longLog() bool {
	return s.sums != nil && !s.sums.whole && s.sums.log.frames >= max(s.sums.trying, s.conf.logPages)
}

// mayMove reports whether the log is the one that the last commit was written to, and has nothing that may not have been committed.
func (s *Store) mayMove(ctx context.Context) bool {
	return s.sums.settled && !s.writer.gone && s.inPlace(ctx) == nil
}

// moveFrom moves the log when it has so many frames.
func (s *Store) moveFrom(ctx context.Context, frames int64) error {
	x := s.sums
	before := x.log.frames
	anew, err := x.log.follow(s.file + "-wal")
	x.stale = x.stale || anew && !x.whole // something else moved it, such as the sqlite3 program
	x.whole = x.whole && !anew && x.log.frames == before
	if anew {
		x.trying, x.kept, x.moved, x.torn = 0, 0, 0, false
	}
	if err != nil { // that the log began anew is not said again
		return err
	}
	if s.comparing.Load() || !x.stale && (x.whole || x.log.frames < frames) {
		return nil
	}
	var l left
	if err := l.read(ctx, s.writer); err != nil {
		return err
	}
	if x.stale {
		s.conf.Logger.Warn("another program wrote to the database while the host runs: at the next start its pages are taken as they are, once, and get new checksums")
		err := x.forget(l)
		x.stale = err != nil
		return err
	}
	x.trying = x.log.frames + s.conf.logPages/4
	if err := s.keepSums(l); err != nil {
		return err
	}
	if x.torn {
		if err := s.moveAgain(); err != nil {
			return err
		}
	}
	return s.moveLog(ctx)
}

// mostLog is how many times as long as it should be the log gets at most because the sums cannot be written.
const mostLog = 16

// keepSums has the sums of the pages in the log on disk. When that does not work for long it gives them up, on disk as well: the next start takes the pages as
// they are, and the log does not fill the disk.
func (s *Store) keepSums(l left) error {
	if s.unsummed {
		return nil
	}
	err := s.sums.keep(l)
	if err == nil || s.sums.log.frames < mostLog*s.conf.logPages {
		return err
	}
	s.unsummed = true
	s.acknowledge()
	if e := errors.Join(s.commits.Truncate(secondAt), s.commits.Sync()); e != nil {
		s.unsummed = false
		return errors.Join(err, e)
	}
	s.conf.Logger.Warn("the checksums of the database's pages cannot be written for long: until the next start it has none", "err", err)
	return nil
}

// moveLog has SQLite move the log, as far as no reader needs pages as they were.
func (s *Store) moveLog(ctx context.Context) error {
	x, frames, moved := s.sums, int64(0), int64(0)
	_, err := s.writer.One(ctx, "PRAGMA wal_checkpoint(PASSIVE)", nil, func(r Row) error { frames, moved = r.Int(1), r.Int(2); return nil })
	x.torn = err != nil
	x.moved = max(x.moved, moved) // negative: another process moves it
	x.whole = err == nil && frames == x.log.frames && moved == frames
	return err
}

// moveAgain writes anew what was moved in part, after a move that failed. SQLite syncs the database when all is moved, and writes the rest only when that sync
// fails; but Linux takes all that it could not sync for clean, and no later sync puts it on the disk.
func (s *Store) moveAgain() error {
	x := s.sums
	b, db := make([]byte, x.page), s.plainly(s.plain)
	for number, p := range x.log.pages {
		if p.frame > x.moved || number > x.log.size {
			continue
		}
		err := x.log.content(b, p)
		if err == nil {
			_, err = db.WriteAt(b, int64(number-1)*int64(x.page))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// lastMove moves the log into the database at the end.
func (s *Store) lastMove(ctx context.Context) {
	if s.sums == nil || !s.sums.settled {
		return
	}
	if err := s.moveFrom(ctx, 1); err != nil {
		s.conf.Logger.Warn("cannot move the log into the database: the next start does it", "err", err)
	}
}

// disconnect ends SQLite's connections. The last one moves the log into the database and removes it; where its sums are not kept that is left to the next
// start: the guard is the last, which can do neither.
func (s *Store) disconnect() (err error) {
	ends := []*Conn{s.guard, s.writer}
	if x := s.sums; x == nil {
		slices.Reverse(ends) // they could not be opened
	} else {
		if _, err := x.log.follow(s.file + "-wal"); x.settled && (err != nil || x.log.size > 0 && !x.whole) {
			slices.Reverse(ends)
		}
		x.log.close()
	}
	for _, c := range ends {
		if c != nil {
			err = errors.Join(err, c.Close())
		}
	}
	return err
}

// settle notes how a commit went.
func (s *Store) settle(worked bool) {
	if s.sums != nil {
		s.sums.settled, s.sums.news = worked, worked
	}
}
