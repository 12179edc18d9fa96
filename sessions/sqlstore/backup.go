package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"parley/sessions/sqlstore/engine"
	"parley/sessions/sqlstore/schema"
	"parley/sessions/sqlstore/sqlitefile"
)

// ErrElsewhere says that the database is a server's: its own tools copy it.
var ErrElsewhere = errors.New("the store is a PostgreSQL database: back it up with pg_dump, and restore it with pg_restore")

// Backup copies the database, as it is at one moment, into a file that is not there yet. Nobody waits for it: commits go on beside it.
func (s *Store) Backup(ctx context.Context, to string) error {
	if s.guard == nil {
		return ErrElsewhere
	}
	return s.guard.Failed(sqlitefile.Copy(ctx, filepath.Join(s.conf.Dir, DatabaseFile), to))
}

// Inside says what a database holds.
type Inside struct {
	Schema   int64     `json:"schema"` // version
	Sessions int64     `json:"sessions"`
	Messages int64     `json:"messages"`
	Last     time.Time `json:"last,omitzero"`    // of the newest event or message
	Queued   int64     `json:"queued"`           // runs that wait or were running
	Unsent   int64     `json:"unsent"`           // deliveries that wait, or were being sent
	Missing  int64     `json:"missing,omitzero"` // commits that were made since: it is a copy from before an upgrade, put in the place of the newer one
}

// Inspect looks into a store's SQLite database that no host uses, without changing it. It refuses a schema that is newer than this program's.
func Inspect(ctx context.Context, path string) (in Inside, err error) {
	if info, err := os.Stat(path); err != nil {
		return in, err
	} else if info.Size() == 0 {
		return in, fmt.Errorf("%s is empty", path) // SQLite would remove a log beside it
	}
	_, newest, err := schema.Latest(engine.SQLite)
	if err != nil {
		return in, err
	}
	c, err := engine.SQLite.Connect(ctx, sqlitefile.ReadOnly(path))
	if err != nil {
		return in, fmt.Errorf("opening %s: %w", path, err)
	}
	defer func() { _ = c.Close() }() // it only reads
	if in.Schema, err = c.Version(ctx); err != nil {
		return in, fmt.Errorf("reading %s: %w", path, err)
	}
	if in.Schema == 0 {
		return in, fmt.Errorf("%s is not a database of parley", path)
	}
	if in.Schema > newest {
		return in, fmt.Errorf("%s has schema version %d, and this program supports versions up to %d: use the newer parley that wrote the file", path, in.Schema, newest)
	}
	var last int64
	for _, q := range []struct {
		of  *int64
		sql string
	}{
		{&in.Sessions, "SELECT count(*) FROM sessions WHERE archived = 0"},
		{&in.Messages, "SELECT count(*) FROM messages"},
		{&last, "SELECT max((SELECT coalesce(max(at), 0) FROM seen), (SELECT coalesce(max(updated), 0) FROM sessions))"},
		{&in.Queued, "SELECT count(*) FROM runs WHERE status IN ('queued', 'running')"},
		{&in.Unsent, "SELECT count(*) FROM deliveries WHERE state IN ('pending', 'sending')"},
	} {
		if *q.of, err = c.Number(ctx, q.sql); err != nil {
			return in, fmt.Errorf("reading %s: %w", path, err)
		}
	}
	in.Last = engine.FromMs(last)
	if filepath.Base(path) == DatabaseFile {
		in.Missing = sqlitefile.MissingCommits(ctx, path)
	}
	return in, nil
}

// Hold takes a state folder as a host would, so that no host starts on it meanwhile. The error wraps ErrInUse when a process has it.
func Hold(dir string) (release func() error, err error) {
	f, err := engine.Own(dir)
	if err != nil {
		return nil, err
	}
	return f.Release, nil
}
