package engine

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/pressly/goose/v3"
)

func (d Dialect) folder() string {
	if d.Postgres {
		return "postgres"
	}
	return "sqlite"
}

// Latest returns the migrations of a dialect, out of the folder migrations that has one for each, and the newest schema version that they make.
func (d Dialect) Latest(migrations fs.FS) (fs.FS, int64, error) {
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

// Version reads the schema version of a database; 0 = it is new.
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

// Migrate brings the schema up to date. One query tells that there is nothing to do.
func (db *DB) Migrate(ctx context.Context) error {
	dir, newest, err := db.conf.Dialect.Latest(db.conf.Migrations)
	if err != nil {
		return err
	}
	have, err := db.writer.Version(ctx)
	if err != nil {
		return fmt.Errorf("read the schema version of the store in %s: %w", db.conf.Name, err)
	}
	if have > newest {
		return fmt.Errorf("the store in %s has schema version %d, and this program supports versions up to %d: run the newer parley that used the store", db.conf.Name, have, newest)
	}
	if have > 0 {
		if err := db.conf.CheckSchema(ctx, db.writer, db.conf.Name, have); err != nil {
			return err
		}
	}
	if have == newest {
		return db.conf.Guard.Upgraded(ctx, db.writer) // it may have been interrupted at its very end
	}
	if have > 0 {
		if err := db.conf.Guard.Upgrading(ctx, db.writer, have, newest); err != nil {
			return err
		}
	}
	if err := db.raise(ctx, dir, have, newest); err != nil {
		return err
	}
	return db.conf.Guard.Upgraded(ctx, db.writer)
}

// raise makes the newest schema: by a script in a new SQLite database, otherwise by the migrations that the database has not had yet, each in
// a transaction of its own.
func (db *DB) raise(ctx context.Context, dir fs.FS, have, newest int64) error {
	used := db.conf.Dialect.Postgres
	if !used {
		changes, err := db.writer.Number(ctx, "PRAGMA schema_version")
		if err != nil {
			return err
		}
		used = changes > 0 // perhaps by the first start of an older program, which was killed
	}
	var err error
	switch {
	case have > 0:
		err = db.migrate(ctx, dir, func(p *goose.Provider) error {
			for {
				if _, err := p.UpByOne(ctx); err != nil {
					return err
				}
				if err := db.conf.Guard.Migrated(ctx, db.writer, have); err != nil { // the log is moved between them
					return err
				}
			}
		})
	case used:
		err = db.migrate(ctx, dir, func(p *goose.Provider) error { _, err := p.Up(ctx); return err })
	default:
		err = db.create(ctx)
	}
	if err == nil && have == 0 {
		err = db.conf.Guard.Migrated(ctx, db.writer, have)
	}
	if err != nil && !errors.Is(err, goose.ErrNoNextVersion) {
		return NotUpgraded(db.conf.Name, have, newest, err)
	}
	return nil
}

func (db *DB) migrate(ctx context.Context, dir fs.FS, up func(*goose.Provider) error) error {
	name, dialect := "sqlite", goose.DialectSQLite3
	if db.conf.Dialect.Postgres {
		name, dialect = "pgx", goose.DialectPostgres
	}
	pool, err := sql.Open(name, db.conf.WriteDSN)
	if err != nil {
		return err
	}
	defer func() { _ = pool.Close() }()
	pool.SetMaxOpenConns(1)
	p, err := goose.NewProvider(dialect, pool, dir, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return fmt.Errorf("migrate the store: %w", err)
	}
	return up(p)
}

// create makes the newest schema in a new SQLite database, in one transaction. It need not wait for the disk: the guard syncs what was
// made, and one that was torn before that is an empty database.
func (db *DB) create(ctx context.Context) error {
	c, err := db.conf.Dialect.Connect(ctx, db.conf.WriteDSN+"&_pragma=synchronous(OFF)")
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }() // what it has not committed is gone
	for _, q := range []string{"BEGIN IMMEDIATE", db.conf.Newest, "COMMIT"} {
		if _, err := c.Exec(ctx, q); err != nil {
			return err
		}
	}
	return nil
}

// NotUpgraded says that a migration failed and what there is to do.
func NotUpgraded(name string, have, newest int64, err error) error {
	if Full(err) {
		err = fmt.Errorf("%w. Free disk space and start again: the upgrade continues where it stopped", err)
	}
	return fmt.Errorf("upgrade the store in %s from schema version %d to %d: %w", name, have, newest, err)
}
