package sqlitefile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"parley/sessions"
	"parley/sessions/sqlstore/engine"
)

// RescuedFile is the file that a store is copied to when its own files were removed or replaced under it. A second one has a number behind its name.
const RescuedFile = DatabaseFile + "-rescued"

// Check reports ErrDamaged when another program has removed or replaced the database, or its log, while it is in use: what is written then is in
// files without a name, and gone when the process ends. What was written before is copied out of them, once. It implements engine.Guard.
func (g *Guard) Check(ctx context.Context, c *engine.Conn) error {
	if g.replaced != nil || g.plain == nil {
		return g.replaced
	}
	for _, x := range []struct {
		path string
		f    *os.File
	}{{g.file, g.plain}, {g.file + "-wal", g.logFile()}} {
		if x.f == nil { // there was none yet
			continue
		}
		now, err := os.Stat(x.path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			continue // the disk fails, which is told otherwise
		}
		mine, failed := x.f.Stat()
		if failed != nil || err == nil && os.SameFile(now, mine) {
			continue
		}
		g.replaced = g.salvage(ctx, c, x.path)
		g.report(g.replaced)
		return g.replaced
	}
	return nil
}

// LogFile is the log that the store follows; nil when there was none yet.
func (g *Guard) logFile() *os.File {
	if g.sums == nil {
		return nil
	}
	f, _ := g.sums.log.f.(*os.File)
	return f
}

// copyPages writes the database as it was at the last commit, out of the files that are open, page by page. It needs no connection.
func (g *Guard) copyPages(ctx context.Context, to string) (err error) {
	if g.sums == nil || !g.sums.settled || g.sums.failing {
		return errors.New("the WAL was not read up to the last commit")
	}
	_ = os.Remove(to) // files of the first try
	f, err := os.OpenFile(to, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	l, b := &g.sums.log, make([]byte, g.sums.page)
	pages := int64(l.size)
	if info, e := g.plain.Stat(); pages == 0 && e == nil { // the log has no commit
		pages = info.Size() / int64(len(b))
	}
	for at := int64(0); at < pages && err == nil; at++ {
		if p, ok := l.pages[uint32(at+1)]; ok { //nolint:gosec // as the sizes of databases
			err = l.content(b, p)
		} else {
			_, err = g.plain.ReadAt(b, at*int64(len(b)))
		}
		if err == nil {
			_, err = f.Write(b)
		}
	}
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = CheckFile(ctx, to)
	}
	return err
}

// salvage copies the data that the connection still sees; its error says how to use the copy.
func (g *Guard) salvage(ctx context.Context, c *engine.Conn, path string) error {
	first := filepath.Join(g.conf.Dir, RescuedFile)
	to := first
	for n := 2; !isAbsent(to); n++ { // an earlier one may be all that there is of something
		to = fmt.Sprintf("%s-%d", first, n)
	}
	_, err := c.Exec(ctx, "VACUUM INTO ?", to)
	if err != nil { // who opens what is in its place now may spoil the memory that SQLite's connections share
		if e := g.copyPages(ctx, to); e == nil {
			err = nil
		} else {
			err = errors.Join(err, e)
		}
	}
	what := fmt.Errorf("%w: %s was removed or replaced while the host was running", sessions.ErrDamaged, path)
	if err != nil {
		return fmt.Errorf("%w. The host could not copy its data (%w). Restore a backup with: parley restore FILE", what, err)
	}
	engine.Tighten(to)
	return fmt.Errorf("%w. All of its data is in %s. To use that copy: move %s, and the files with -wal, -shm, -commits and -sums behind that name, away, and rename %s to %s", what, to, g.file, to, g.file)
}
