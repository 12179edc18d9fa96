package sqlstore

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
)

// CommitsFile is beside the SQLite database. It holds the number of the last commit that was acknowledged, which is in the database as
// well, and the version of the schema: SQLite takes a log that is gone, cut off or damaged for one that ends there, and opens without a word on the rest. The number is
// written behind each commit and never synced: it may be too low after a power cut, never too high.
const CommitsFile = DatabaseFile + "-commits"

// setCommits puts the number of a commit into its transaction.
const setCommits = "INSERT INTO meta (name, value) VALUES ('commits', ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value"

const getCommits = "SELECT value FROM meta WHERE name = 'commits'"

// checkCommits refuses a database that has forgotten commits. It looks through a connection that cannot change anything, so that what
// is left stays as it is, and gives the sum of a database that was closed in order. A database that is not there has been spoken of by
// checkLost: the number goes with it.
func checkCommits(ctx context.Context, dir, path string) (left sum, err error) {
	beside := filepath.Join(dir, CommitsFile)
	if info, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0 {
		if err := os.Remove(beside); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return left, fmt.Errorf("removing what is left of a database that is gone: %w", err)
		}
		return left, nil
	}
	b, err := os.ReadFile(beside)
	if errors.Is(err, fs.ErrNotExist) {
		return left, nil
	}
	if err != nil {
		return left, fmt.Errorf("looking for the number of the last commit: %w", err)
	}
	var want, schema int64
	if _, err := fmt.Sscanf(string(b), "%d %d\n", &want, &schema); err != nil {
		return left, nil // a power cut tore it: it says nothing
	}
	c, err := sqliteDialect.connect(ctx, (&url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(path)}).String()+"?mode=ro&_pragma=busy_timeout(5000)&_pragma=query_only(1)")
	if err != nil {
		return left, err
	}
	defer func() { _ = c.Close() }() // it only reads
	version, err := c.version(ctx)
	if e, ok := errors.AsType[*sqlite.Error](err); ok && e.Code()&0xff == sqlite3.SQLITE_READONLY {
		return left, nil // there is a journal of the very first start, which has to be undone first: nothing was acknowledged before that
	}
	if err != nil {
		return left, err
	}
	if version > 0 && version < schema {
		return left, nil // the copy from before an upgrade was put in its place: that is no accident
	}
	have := int64(0)
	if version > 0 {
		if have, err = c.number(ctx, getCommits); err != nil {
			return left, err
		}
	}
	if have >= want {
		left, err = readSum(b, path)
		left.known = left.known && left.commits == have && left.schema == version
		return left, err
	}
	at := "a time that is not known"
	if info, err := os.Stat(beside); err == nil {
		at = info.ModTime().Format(time.DateTime)
	}
	return left, fmt.Errorf("%w: %s: its last %d commits are missing, the newest of %s: its log, %s-wal, was removed, cut off or damaged, or an older copy was put in its place. Nothing was changed. Put a backup in its place with: parley restore; or, to go on with what is there, remove %s",
		sessions.ErrDamaged, path, want-have, at, path, beside)
}

// count opens the file of the number and goes on from the one in the database.
func (s *Store) count(ctx context.Context) (err error) {
	if s.tx.commits, err = s.writer.number(ctx, getCommits); err != nil {
		return err
	}
	if s.schema, err = s.writer.version(ctx); err != nil {
		return err
	}
	s.commits, err = os.OpenFile(filepath.Join(s.conf.Dir, CommitsFile), os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("opening the file of the last commit's number: %w", err)
	}
	tighten(s.commits.Name())
	s.acknowledge()
	return nil
}

// commitsLine is the length of the first line.
const commitsLine = 20 + 1 + 6 + 1

// acknowledge notes the number of the last commit. What cannot be written is noted with the next one: a number that is too low hides a
// loss, it makes none.
func (s *Store) acknowledge() {
	_, _ = s.commits.WriteAt(fmt.Appendf(nil, "%020d %06d\n", s.tx.commits, s.schema), 0) // see above
}
