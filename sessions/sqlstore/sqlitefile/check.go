package sqlitefile

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"parley/sessions"
	"parley/sessions/sqlstore/engine"
)

// checkBudget is how long Open waits for the check of the database. What takes longer continues after the work.
const checkBudget = 250 * time.Millisecond

// errCorrupt returns the error for a damaged database file, with the commands that help.
func errCorrupt(path, what string) error {
	return fmt.Errorf("%w: %s: %s. Nothing was changed. Keep a copy of %s, and of %s-wal if that exists; then restore a backup with: parley restore FILE",
		sessions.ErrDamaged, path, what, path, path)
}

const sqliteMagic = "SQLite format 3\x00"

// checkLost refuses a folder whose transcripts are there and whose database is not: a new store in its place would forget everything
// in silence. An empty file without transcripts is what a crash at the very first start leaves.
func checkLost(dir, path string) error {
	found := "it is missing"
	if info, err := os.Stat(path); err == nil && info.Size() > 0 {
		return nil
	} else if err == nil {
		found = "it is empty"
	} else if !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("open the store: %w", err)
	}
	agents, err := os.ReadDir(filepath.Join(dir, "agents"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("look for transcripts: %w", err)
	}
	for _, a := range agents {
		folder := filepath.Join(dir, "agents", a.Name(), "sessions")
		files, err := os.ReadDir(folder)
		if err != nil && !errors.Is(err, os.ErrNotExist) && a.IsDir() {
			return fmt.Errorf("look for transcripts: %w", err)
		}
		for _, f := range files {
			if strings.HasSuffix(f.Name(), ".jsonl") {
				return fmt.Errorf("%w: %s: %s, but the state folder was in use: it has transcripts, such as %s. Nothing was changed. Restore a backup with: parley restore FILE; or, to start with an empty store, move the folder %s away",
					sessions.ErrDamaged, path, found, filepath.Join(folder, f.Name()), filepath.Join(dir, "agents"))
			}
		}
	}
	return nil
}

// checkHeader looks at what a whole file must have: it is a SQLite database, its pages are all there. No file, or an empty one, is
// fine here.
func checkHeader(path string) error {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("open the store: %w", err)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("open the store: %w", err)
	}
	size := info.Size()
	if size == 0 {
		return nil
	}
	var h [100]byte
	if n, err := io.ReadFull(f, h[:]); err != nil {
		return errCorrupt(path, fmt.Sprintf("the file ends after %d bytes, inside its header", n))
	}
	if string(h[:16]) != sqliteMagic {
		return errCorrupt(path, "the file is not a SQLite database")
	}
	page := int64(binary.BigEndian.Uint16(h[16:]))
	if page == 1 {
		page = 65536
	}
	if page < 512 || page&(page-1) != 0 {
		return errCorrupt(path, fmt.Sprintf("the header has the page size %d", page))
	}
	if info, err := os.Stat(path + "-wal"); err == nil && info.Size() > 0 {
		return nil // the log may hold the pages that the file has not got yet
	}
	want := int64(binary.BigEndian.Uint32(h[28:])) * page
	if valid := binary.BigEndian.Uint32(h[24:]) == binary.BigEndian.Uint32(h[92:]); valid && size < want {
		return errCorrupt(path, fmt.Sprintf("the file is cut off: it has %d of the %d bytes in its header", size, want))
	}
	return nil
}

// check runs SQLite's quick_check table by table on a connection of its own, so that it never keeps a snapshot open for long. It
// returns nil, what is wrong, or the error that ended it early.
func check(ctx context.Context, path, dsn string) error {
	c, err := engine.SQLite.Connect(ctx, dsn)
	if err != nil {
		return diagnose(path, err)
	}
	defer func() { _ = c.Close() }()
	c.Interruptible = true
	var tables []string
	if err := c.Each(ctx, "SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0 ORDER BY name", nil, func(r engine.Row) error {
		tables = append(tables, r.Str(0))
		return nil
	}); err != nil {
		return diagnose(path, err)
	}
	for _, t := range tables {
		var found []string
		err := c.Each(ctx, "PRAGMA quick_check('"+t+"')", nil, func(r engine.Row) error {
			if v := r.Str(0); v != "ok" && len(found) < 3 {
				found = append(found, v)
			}
			return nil
		})
		if err != nil {
			return diagnose(path, err)
		}
		if len(found) > 0 {
			return errCorrupt(path, "table "+t+": "+strings.Join(found, "; "))
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// Watch checks the database and returns what was found within the budget; later findings go to Damaged. The check ends with ctx.
func (g *Guard) Watch(ctx context.Context) error {
	result := make(chan error, 1)
	g.background.Go(func() {
		_, read := DSN(g.file)
		err := check(ctx, g.file, read)
		if e := g.same(); e != nil && !errors.Is(e, errNotCompared) {
			err = e // it says more
		}
		result <- err
	})
	budget := time.NewTimer(g.conf.CheckBudget)
	defer budget.Stop()
	select {
	case err := <-result:
		return err
	case <-budget.C:
	}
	g.background.Go(func() {
		if err := <-result; err != nil && ctx.Err() == nil {
			if e := g.same(); e != nil && !errors.Is(e, errNotCompared) { // it is being written to
				err = errors.Join(err, g.mark())
			}
			g.report(err)
		}
	})
	return nil
}

// report tells that the store is damaged. Only the first finding is kept until somebody reads it.
func (g *Guard) report(err error) {
	select {
	case g.damaged <- err:
	default:
	}
}

// Damaged tells about damage that was found after Watch: by the check that goes on in the background, or by an operation.
func (g *Guard) Damaged() <-chan error { return g.damaged }

// diagnose turns an engine's word for damage into ErrDamaged.
func diagnose(path string, err error) error {
	e, ok := errors.AsType[*sqlite.Error](err)
	if !ok || errors.Is(err, sessions.ErrDamaged) {
		return err
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return errCorrupt(path, err.Error())
	}
	return err
}

// Diagnose turns an error of the start into one that says what is damaged: also where a table or a column has another name than the schema, whose
// version was looked at, gives it.
func (g *Guard) Diagnose(err error) error {
	if e, ok := errors.AsType[*sqlite.Error](err); ok && e.Code()&0xff == sqlite3.SQLITE_ERROR && (strings.Contains(e.Error(), "no such column") || strings.Contains(e.Error(), "no such table")) {
		return errCorrupt(g.file, err.Error())
	}
	return diagnose(g.file, err)
}

// Failed does the same for an operation, and reports it. It implements engine.Guard.
func (g *Guard) Failed(err error) error {
	d := diagnose(g.file, err)
	if errors.Is(d, sessions.ErrDamaged) {
		g.report(d)
	}
	return d
}
