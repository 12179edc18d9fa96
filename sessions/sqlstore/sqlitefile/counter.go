package sqlitefile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"parley/sessions"
	"parley/sessions/sqlstore/engine"
)

// CommitsFile is beside the SQLite database. It holds the number of the last commit that was acknowledged, which is in the database as
// well, and the version of the schema: SQLite takes a log that is gone, cut off or damaged for one that ends there, and opens without a word on the rest.
// A second and a third line have the number again: a program that does not know SumsFile counts in the first alone, and a bit may flip. They are
// written behind each commit and never synced: the number may be too low after a power cut, never too high.
const CommitsFile = DatabaseFile + "-commits"

// aside makes a change in a commit of its own before the writer begins. It counts like any other, or the sums of pages would be taken for those of what it left.
func aside(ctx context.Context, c *engine.Conn, query string, args ...any) error {
	_, err := c.Exec(ctx, "BEGIN")
	if err == nil {
		_, err = c.Exec(ctx, query, args...)
	}
	if err == nil {
		_, err = c.Exec(ctx, engine.CountOne)
	}
	if err == nil {
		_, err = c.Exec(ctx, "COMMIT")
	}
	if err != nil {
		_, _ = c.Exec(ctx, "ROLLBACK") // the first error counts
	}
	return err
}

// diskState is what a database and the number beside it say before anything is changed.
type diskState struct {
	c           *engine.Conn // looks into it and cannot change anything, nor move its log; nil = there is none
	commits     int64        // in it
	schema      int64        // its version
	trusted     bool         // nothing but a program that keeps SumsFile has counted
	unknown     bool         // the number beside it is gone
	corruptCopy bool         // the number beside it is damaged in one of its places
	missing     int64        // commits of a newer schema that the copy in its place does not have
}

func (l *diskState) close() {
	if l.c != nil {
		_ = l.c.Close() // it only reads
	}
	l.c = nil
}

// read asks the database.
func (l *diskState) read(ctx context.Context, c *engine.Conn) (err error) {
	if l.schema, err = c.Version(ctx); err == nil && l.schema > 0 {
		l.commits, err = c.Commits(ctx)
	}
	return err
}

// checkCommits refuses a database that has forgotten commits, or that was found to be damaged. It changes nothing. A database that is not there, or empty, has been
// spoken of by checkLost.
func checkCommits(ctx context.Context, dir, path string) (l diskState, err error) {
	beside := filepath.Join(dir, CommitsFile)
	if isAbsent(path) {
		return l, nil // SQLite would remove the log beside it, even when it only looks
	}
	b, err := os.ReadFile(beside)
	if errors.Is(err, fs.ErrNotExist) {
		l.unknown = true
		return l, nil
	}
	if err != nil {
		return l, fmt.Errorf("read the commit counter: %w", err)
	}
	was := parseCounter(b)
	if was.commits < 0 && !was.corruptCopy && !was.marked {
		l.unknown = true // a power cut tore it: it says nothing
		return l, nil
	}
	c, err := engine.SQLite.Connect(ctx, onlyLook(path))
	if err != nil {
		return l, err
	}
	err = l.read(ctx, c)
	switch e, ok := errors.AsType[*sqlite.Error](err); {
	case ok && e.Code()&0xff == sqlite3.SQLITE_READONLY:
		_ = c.Close() // it only reads
		return l, nil // there is a journal of the very first start, which has to be undone first: nothing was acknowledged before that
	case err != nil:
	case was.corruptCopy && was.commits < 0:
		err = errCounterCorrupt(path)
	case l.schema > 0 && l.schema < was.schema: // the copy from before an upgrade was put in its place: that is no accident
		l.missing = max(0, was.commits-l.commits)
	case l.commits < was.commits:
		err = errMissingCommits(path, was.commits-l.commits)
	case was.marked:
		err = errCorrupt(path, "an earlier start found a wrong checksum. "+howToGoOn(path))
	default:
		// A program that counts in the first line alone has gone on from the others: what seems to be a flipped bit may be its number.
		l.corruptCopy = was.corruptCopy
		l.trusted = was.summed || was.corruptCopy && l.commits <= was.commits+1
	}
	if err != nil {
		_ = c.Close() // it only reads
		return l, err
	}
	l.c = c
	return l, nil
}

// isAbsent reports whether there is no database, or an empty file.
func isAbsent(path string) bool {
	info, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0
}

// forgetGone removes the files beside a deleted database, before a new database is made.
func (g *Guard) forgetGone() error {
	if !isAbsent(g.file) {
		return nil
	}
	if err := os.Remove(filepath.Join(g.conf.Dir, CommitsFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the files of a deleted database: %w", err)
	}
	return nil
}

// onlyLook opens a database so that nothing in it can change: not even its log is moved into it when the connection ends.
func onlyLook(path string) string {
	return (&url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(path)}).String() + "?mode=ro&_pragma=busy_timeout(5000)&_pragma=query_only(1)" // nothing that would read it already
}

func errMissingCommits(path string, missing int64) error {
	at := "an unknown time"
	if info, err := os.Stat(path + "-commits"); err == nil {
		at = info.ModTime().Format(time.DateTime)
	}
	return fmt.Errorf("%w: %s: the newest commits are missing (%d, the last one of %s): the WAL, %s-wal, was removed, cut off or damaged, or an older copy has replaced the database. Nothing was changed. Put the earlier files back; or restore a backup with: parley restore FILE; or, to accept the database as it is, remove %s-commits",
		sessions.ErrDamaged, path, missing, at, path, path)
}

// Count opens the commit counter and continues from the number in the database. It implements engine.Guard.
func (g *Guard) Count(ctx context.Context, c *engine.Conn) (_ int64, err error) {
	var l diskState
	if err = l.read(ctx, c); err != nil {
		return 0, err
	}
	g.number, g.schema = l.commits, l.schema
	g.commits, err = os.OpenFile(filepath.Join(g.conf.Dir, CommitsFile), os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return 0, fmt.Errorf("open the commit counter: %w", err)
	}
	engine.Tighten(g.commits.Name())
	g.acknowledge()
	return g.number, nil
}

// acknowledge notes the number of the last commit. What cannot be written is noted with the next one: a number that is too low hides a
// loss, it makes none.
func (g *Guard) acknowledge() {
	b := fmt.Appendf(nil, firstLine, g.number, g.schema)
	switch {
	case g.changed.Load():
		b = append(b, damagedLine...)
	case !g.checksumsDisabled:
		b = fmt.Appendf(b, secondLine+thirdLine, g.number, g.number, g.schema)
	}
	_, _ = g.commits.WriteAt(b, 0) // see above
}

// mark has the next start refuse what this one found too late.
func (g *Guard) mark() error {
	g.changed.Store(true)
	f, err := os.OpenFile(filepath.Join(g.conf.Dir, CommitsFile), os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteAt([]byte(damagedLine), secondAt)
	return errors.Join(err, f.Sync(), f.Close())
}

// MissingCommits returns how many commits a copy from before an upgrade, put in the place of the newer database, does not have.
func MissingCommits(ctx context.Context, path string) int64 {
	l, err := checkCommits(ctx, filepath.Dir(path), path)
	l.close()
	if err != nil {
		return 0
	}
	return l.missing
}
