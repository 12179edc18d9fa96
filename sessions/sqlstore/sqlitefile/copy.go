package sqlitefile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"modernc.org/sqlite"

	"parley/sessions"
	"parley/sessions/sqlstore/engine"
)

// DatabaseFile is the name of the SQLite database in the state folder.
const DatabaseFile = "parley.db"

// copyPages is how many pages are copied between two looks at the context: 4 MB.
const copyPages = 1024

// Copy copies a SQLite database, as it is at one moment, into a file that is not there yet. Other connections, of other processes
// too, may write meanwhile. Pages are copied as they are. (A file that this process has open through SQLite must not be read in any
// other way: closing it would end SQLite's locks.)
func Copy(ctx context.Context, from, to string) (err error) {
	if _, err := os.Stat(from); err != nil {
		return err
	}
	f, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			removeDatabase(to)
		}
	}()
	c, err := engine.SQLite.Connect(ctx, ReadOnly(from))
	if err != nil {
		return fmt.Errorf("opening %s: %w", from, err)
	}
	defer func() { _ = c.Close() }() // it only reads
	// The snapshot is fixed by the first read, and held until the end: otherwise every commit of others would begin the copy again.
	if _, err := c.Exec(ctx, "BEGIN"); err != nil {
		return fmt.Errorf("copying %s: %w", from, err)
	}
	if _, err := c.Number(ctx, "SELECT count(*) FROM sqlite_schema"); err != nil {
		return fmt.Errorf("copying %s: %w", from, err)
	}
	b, err := c.Driver().(interface {
		NewBackup(to string) (*sqlite.Backup, error)
	}).NewBackup(to)
	if err != nil {
		return fmt.Errorf("copying %s: %w", from, err)
	}
	for more := true; more && err == nil; {
		if more, err = b.Step(copyPages); err == nil {
			err = ctx.Err()
		}
	}
	if e := b.Finish(); err == nil {
		err = e
	}
	if err != nil {
		return fmt.Errorf("copying %s: %w", from, err)
	}
	return nil
}

func removeDatabase(path string) {
	for _, end := range []string{"", "-wal", "-shm", "-journal"} {
		_ = os.Remove(path + end) // most of them are not there
	}
}

// ReadOnly opens a database for reading. A log that a killed host left is not moved into it.
func ReadOnly(path string) string {
	if info, err := os.Stat(path + "-wal"); err == nil && info.Size() > 0 {
		return onlyLook(path)
	}
	return (&url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(path)}).String() + "?_pragma=busy_timeout(5000)&_pragma=query_only(1)&_pragma=cache_size(-2000)"
}

// CheckFile runs SQLite's quick_check on any SQLite database that exists and that this process has not open, and holds a store's own against
// what is noted beside it, as a start does. The error wraps ErrDamaged when it is damaged.
func CheckFile(ctx context.Context, path string) error {
	stores := filepath.Base(path) == DatabaseFile
	if stores {
		if err := checkLost(filepath.Dir(path), path); err != nil {
			return err
		}
	}
	if info, err := os.Stat(path); err != nil || info.Size() == 0 {
		return err // SQLite would make it, and remove a log beside it
	}
	if err := checkHeader(path); err != nil {
		return err
	}
	if stores {
		if err := checkClosed(ctx, path); err != nil {
			return err
		}
	}
	return check(ctx, path, ReadOnly(path))
}

// CopyStopped copies the database of a state folder that no host uses, unless a start would refuse it.
func CopyStopped(ctx context.Context, dir, to string) error {
	path := filepath.Join(dir, DatabaseFile)
	err := CheckUnfinished(dir)
	if err == nil {
		err = checkLost(dir, path)
	}
	if err == nil {
		err = checkHeader(path)
	}
	if err == nil {
		err = checkClosed(ctx, path)
	}
	if err != nil {
		return err
	}
	return Copy(ctx, path, to)
}

// UnfinishedFile is in a state folder while a restore changes it. Its text says where the state before is.
const UnfinishedFile = "restore.unfinished"

// CheckUnfinished refuses a folder in which a restore was interrupted: a part of it is of the one state, a part of the other.
func CheckUnfinished(dir string) error {
	b, err := os.ReadFile(filepath.Join(dir, UnfinishedFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look for an unfinished restore: %w", err)
	}
	return fmt.Errorf("%w: a restore into %s was interrupted: run parley restore FILE again. The earlier files are in %s", sessions.ErrDamaged, dir, strings.TrimSpace(string(b)))
}
