package sqlstore

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/pressly/goose/v3"
)

// The schema changes, numbered, forward only, one folder for each engine with the same numbers.
//
//go:embed migrations
var migrations embed.FS

func (d Dialect) folder() string {
	if d.Postgres {
		return "postgres"
	}
	return "sqlite"
}

// latest gives the newest schema version that this program knows.
func (d Dialect) latest() (fs.FS, int64, error) {
	dir, err := fs.Sub(migrations, "migrations/"+d.folder())
	if err != nil {
		return nil, 0, err
	}
	names, err := fs.Glob(dir, "*.sql")
	if err != nil {
		return nil, 0, err
	}
	newest := int64(0)
	for _, name := range names {
		number, _, _ := strings.Cut(name, "_")
		v, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return nil, 0, fmt.Errorf("migration %s: its name begins with no number", name)
		}
		newest = max(newest, v)
	}
	return dir, newest, nil
}

// version reads the schema version of a database; 0 = it is new.
func (c *Conn) Version(ctx context.Context) (int64, error) {
	q := "SELECT count(*) FROM sqlite_schema WHERE name = 'goose_db_version'"
	if c.Dialect.Postgres {
		q = "SELECT count(*) FROM information_schema.tables WHERE table_schema = current_schema() AND table_name = 'goose_db_version'"
	}
	n, err := c.Number(ctx, q)
	if err != nil || n == 0 {
		return 0, err
	}
	return c.Number(ctx, "SELECT max(version_id) FROM goose_db_version")
}

// migrate brings the schema up to date, when same says that the database is as it was written. One query tells that there is nothing to do.
func (s *Store) migrate(ctx context.Context, same func() error) error {
	dir, newest, err := s.d.latest()
	if err != nil {
		return err
	}
	have, err := s.writer.Version(ctx)
	if err != nil {
		return fmt.Errorf("reading the schema version of the store in %s: %w", s.where(), err)
	}
	if have > newest {
		return fmt.Errorf("the store in %s has schema version %d, this program knows versions up to %d: it was used by a newer parley; run that one", s.where(), have, newest)
	}
	if have > 0 {
		if err := s.checkReleased(ctx, have); err != nil {
			return err
		}
	}
	if have == newest {
		return s.upgraded(ctx) // it may have been interrupted at its very end
	}
	if have > 0 && !s.d.Postgres {
		if err := same(); err != nil {
			return err
		}
		if err := s.keepBefore(ctx, have, newest); err != nil {
			return err
		}
	}
	if err := s.raise(ctx, dir, have, newest); err != nil {
		return err
	}
	return s.upgraded(ctx)
}

// raise carries the migrations out that a database has not had yet, each in a transaction of its own.
func (s *Store) raise(ctx context.Context, dir fs.FS, have, newest int64) error {
	name, engine, dsn := "sqlite", goose.DialectSQLite3, s.writeDSN
	if have == 0 {
		// The log is synced once, at the end, and one that was torn before that leaves an older schema, which is none: so a new store
		// need not wait for the disk at every step.
		dsn += "&_pragma=synchronous(OFF)"
	}
	if s.d.Postgres {
		name, engine, dsn = "pgx", goose.DialectPostgres, s.conf.DSN
	}
	db, err := sql.Open(name, dsn)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	db.SetMaxOpenConns(1)
	p, err := goose.NewProvider(engine, db, dir, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return fmt.Errorf("migrating the store: %w", err)
	}
	if have == 0 {
		if _, err = p.Up(ctx); err == nil && !s.d.Postgres {
			err = s.syncLog()
		}
	}
	for have > 0 && err == nil { // the log is moved between them
		if _, err = p.UpByOne(ctx); err == nil {
			s.settle(true)
			s.tendLog(ctx, true)
		}
	}
	if err != nil && !errors.Is(err, goose.ErrNoNextVersion) {
		return s.notUpgraded(have, newest, err)
	}
	return nil
}
