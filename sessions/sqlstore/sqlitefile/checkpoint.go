package sqlitefile

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"parley/sessions/sqlstore/engine"
)

const (
	// logPages is how many pages the log has when it is moved into the database in the next pause: 4 MB.
	logPages = 1000
	// busyLog is how many times as long it is when it is moved though others wait for their commits meanwhile.
	busyLog = 4
)

// Attach finds out what is known of the database's pages, and begins to compare them: that goes on until ctx ends. Nothing was written before.
func (g *Guard) Attach(ctx context.Context, c *engine.Conn) (err error) {
	l := g.was
	if l.c == nil {
		if err := l.read(ctx, c); err != nil {
			return err
		}
		if l.c, err = engine.SQLite.Connect(ctx, onlyLook(g.file)); err != nil {
			return err
		}
		g.look = l.c
	}
	name := filepath.Join(g.conf.Dir, SumsFile)
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("open the page checksums: %w", err)
	}
	engine.Tighten(name)
	x := &pageChecksums{f: g.plainly(f), log: WAL{wrap: g.conf.Log}, settled: true}
	g.sums = x
	if err := x.begin(ctx, l, g.file); err != nil {
		return err
	}
	if !x.fits(l) {
		switch info, err := f.Stat(); {
		case l.unknown && l.commits > 0:
			g.conf.Logger.Warn("commit counter missing; rebuilding page checksums", "hint", "cannot verify that the latest commits are present", "file", filepath.Join(g.conf.Dir, CommitsFile))
		case err == nil && info.Size() > 0:
			g.conf.Logger.Warn("page checksums do not match; rebuilding them", "hint", "another program wrote to the database, or an earlier checksum write failed; no action needed")
		case l.trusted && l.commits > 0:
			g.conf.Logger.Warn("page checksums missing; rebuilding them", "hint", "no action needed", "file", name)
		}
		if err := x.forget(l); err != nil { // another file may do
			_, _ = x.f.Close(), os.Remove(name) // the error that counts comes from opening it
			if f, err = os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600); err == nil {
				x.f = g.plainly(f)
				err = x.forget(l)
			}
			if err != nil {
				return fmt.Errorf("create the page checksums: %w", err)
			}
		}
	}
	g.same, err = g.compare(ctx)
	return err
}

// compare reads the database beside the start. A snapshot keeps others from moving the log into it meanwhile. same waits for the end of that
// and gives what is wrong.
func (g *Guard) compare(ctx context.Context) (same func() error, err error) {
	if _, err = g.look.Exec(ctx, "BEGIN"); err == nil {
		_, err = g.look.Number(ctx, "SELECT count(*) FROM sqlite_schema")
	}
	if err == nil {
		// It is closed after SQLite's own files: closing any other file of the database would end its locks.
		g.plain, err = os.OpenFile(g.file, os.O_RDWR, 0)
	}
	if err != nil {
		return nil, err
	}
	x := &pageChecksums{f: g.sums.f, page: g.sums.page, log: WAL{size: g.sums.log.size, pages: maps.Clone(g.sums.log.pages)}}
	result := make(chan error, 1)
	g.comparing.Store(true)
	g.background.Go(func() {
		bad, without, err := x.compare(g.plain, true, ctx.Err)
		if _, e := g.look.Exec(ctx, "COMMIT"); err == nil {
			err = e
		}
		g.comparing.Store(false)
		switch {
		case len(bad) > 0:
			result <- notAsWritten(g.file, bad)
			return
		case err != nil && ctx.Err() == nil: // the disk fails: nothing is known
			g.conf.Logger.Warn("checksum verification did not finish", "err", err)
			result <- fmt.Errorf("%w: %w", errNotCompared, err)
			return
		case err != nil: // stopped meanwhile
		case without > 0:
			g.conf.Logger.Debug("pages of the database had no checksum", "pages", without)
		}
		result <- nil
	})
	return sync.OnceValue(func() error { return <-result }), nil
}

// errNotCompared: whether the database is as it was written is not known.
var errNotCompared = errors.New("verify the page checksums")

func (g *Guard) plainly(f *os.File) File {
	if g.conf.Plain != nil {
		return g.conf.Plain(f)
	}
	return f
}

// syncLog has the log on disk.
func (g *Guard) syncLog() error {
	f, err := os.OpenFile(g.file+"-wal", os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(g.plainly(f).Sync(), f.Close())
}

// Checkpoint takes up what was committed, and moves the log into the database when it is long, in a pause (quiet), or when it is very long.
// It implements engine.Guard.
func (g *Guard) Checkpoint(ctx context.Context, c *engine.Conn, quiet bool) {
	if g.sums == nil || !g.sums.news && !(quiet && g.Due() && g.mayMove(ctx, c)) {
		return
	}
	g.sums.news = false
	pages := g.conf.CheckpointPages
	if !quiet {
		pages = g.conf.BusyPages
	}
	err := g.checkpointFrom(ctx, c, max(g.sums.trying, pages))
	if err != nil && !g.sums.failing {
		g.conf.Logger.Warn("WAL checkpoint failed", "hint", "the WAL grows until a checkpoint succeeds", "err", err)
	}
	g.sums.failing = err != nil
}

// Due reports whether the log must be moved in the next pause. It implements engine.Guard.
func (g *Guard) Due() bool {
	return g.sums != nil && !g.sums.whole && g.sums.log.frames >= max(g.sums.trying, g.conf.CheckpointPages)
}

// mayMove reports whether the log is the one that the last commit was written to, and has nothing that may not have been committed.
func (g *Guard) mayMove(ctx context.Context, c *engine.Conn) bool {
	return g.sums.settled && !c.Gone() && g.Check(ctx, c) == nil
}

// checkpointFrom moves the log when it has so many frames.
func (g *Guard) checkpointFrom(ctx context.Context, c *engine.Conn, frames int64) error {
	x := g.sums
	before := x.log.frames
	anew, err := x.log.Follow(g.file + "-wal")
	x.stale = x.stale || anew && !x.whole // something else moved it, such as the sqlite3 program
	x.whole = x.whole && !anew && x.log.frames == before
	if anew {
		x.trying, x.kept, x.moved, x.torn = 0, 0, 0, false
	}
	if err != nil { // that the log began again is not said again
		return err
	}
	if g.comparing.Load() || !x.stale && (x.whole || x.log.frames < frames) {
		return nil
	}
	var l diskState
	if err := l.read(ctx, c); err != nil {
		return err
	}
	if x.stale {
		g.conf.Logger.Warn("another program wrote to the database", "hint", "the next start accepts its pages once and rebuilds their checksums")
		err := x.forget(l)
		x.stale = err != nil
		return err
	}
	x.trying = x.log.frames + g.conf.CheckpointPages/4
	if err := g.keepSums(l); err != nil {
		return err
	}
	if x.torn {
		if err := g.moveAgain(); err != nil {
			return err
		}
	}
	return g.runCheckpoint(ctx, c)
}

// maxLog is how many times as long as it should be the log gets at most because the sums cannot be written.
const maxLog = 16

// keepSums has the sums of the pages in the log on disk. When that does not work for long it gives them up, on disk as well: the next start takes the pages as
// they are, and the log does not fill the disk.
func (g *Guard) keepSums(l diskState) error {
	if g.checksumsDisabled {
		return nil
	}
	err := g.sums.keep(l)
	if err == nil || g.sums.log.frames < maxLog*g.conf.CheckpointPages {
		return err
	}
	g.checksumsDisabled = true
	g.acknowledge()
	if e := errors.Join(g.commits.Truncate(secondAt), g.commits.Sync()); e != nil {
		g.checksumsDisabled = false
		return errors.Join(err, e)
	}
	g.conf.Logger.Warn("page checksums disabled until restart", "err", err)
	return nil
}

// runCheckpoint has SQLite move the log, as far as no reader needs pages as they were.
func (g *Guard) runCheckpoint(ctx context.Context, c *engine.Conn) error {
	x, frames, moved := g.sums, int64(0), int64(0)
	_, err := c.One(ctx, "PRAGMA wal_checkpoint(PASSIVE)", nil, func(r engine.Row) error { frames, moved = r.Int(1), r.Int(2); return nil })
	x.torn = err != nil
	x.moved = max(x.moved, moved) // negative: another process moves it
	x.whole = err == nil && frames == x.log.frames && moved == frames
	return err
}

// moveAgain writes again what was moved in part, after a move that failed. SQLite syncs the database when all is moved, and writes the rest only when that sync
// fails; but Linux takes all that it could not sync for clean, and no later sync puts it on the disk.
func (g *Guard) moveAgain() error {
	x := g.sums
	b, db := make([]byte, x.page), g.plainly(g.plain)
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

// LastCheckpoint moves the WAL into the database after its last use.
func (g *Guard) LastCheckpoint(ctx context.Context, c *engine.Conn) {
	if g.sums == nil || !g.sums.settled {
		return
	}
	if err := g.checkpointFrom(ctx, c, 1); err != nil {
		g.conf.Logger.Warn("final WAL checkpoint failed", "hint", "the next start repeats the checkpoint", "err", err)
	}
}

// disconnect ends SQLite's connections. The last one moves the log into the database and removes it; where its sums are not kept that is left to the next
// start: the one that only looks is the last, which can do neither.
func (g *Guard) disconnect(writer *engine.Conn) (err error) {
	ends := []*engine.Conn{g.look, writer}
	if x := g.sums; x == nil {
		slices.Reverse(ends) // they could not be opened
	} else {
		if _, err := x.log.Follow(g.file + "-wal"); x.settled && (err != nil || x.log.size > 0 && !x.whole) {
			slices.Reverse(ends)
		}
		x.log.Close()
	}
	for _, c := range ends {
		if c != nil {
			err = errors.Join(err, c.Close())
		}
	}
	return err
}

// settle notes how a commit went.
func (g *Guard) settle(worked bool) {
	if g.sums != nil {
		g.sums.settled, g.sums.news = worked, worked
	}
}
