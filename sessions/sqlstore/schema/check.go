package schema

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"

	"parley/sessions/sqlstore/engine"
	"parley/sessions/sqlstore/sqlitefile"

	"github.com/pressly/goose/v3"
)

// ErrSchema says that a database has another schema than the program that wrote it made. A schema is code: triggers and views act, and
// expressions are evaluated, when the database is used.
var ErrSchema = errors.New("its schema is not parley's own")

// schemaQuery lists the objects of a schema. A table's place in the file does not matter.
const schemaQuery = "SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_schema ORDER BY type, name"

// Check compares the schema of a store's SQLite database, which this process has not open, with the one that the migrations up to its version make. The error
// wraps ErrSchema when they differ. A version that no migration has is for Inspect to refuse.
func Check(ctx context.Context, path string) error {
	c, err := engine.SQLite.Connect(ctx, sqlitefile.ReadOnly(path))
	if err != nil {
		return fmt.Errorf("open %s: %w", path, err)
	}
	defer func() { _ = c.Close() }() // it only reads
	if err := refuseAny(ctx, c, "trigger or view", "SELECT count(*) FROM sqlite_schema WHERE type NOT IN ('table', 'index')"); err != nil {
		return err // before any other query: it would be carried out
	}
	for _, number := range []string{"user_version", "application_id"} {
		if n, err := c.Number(ctx, "PRAGMA "+number); err != nil {
			return err
		} else if n != 0 {
			return fmt.Errorf("%w: its header has %s %d instead of 0: restore the backup with the parley version that wrote the database", ErrSchema, number, n)
		}
	}
	version, err := c.Version(ctx)
	_, newest, err2 := Latest(engine.SQLite)
	if err = errors.Join(err, err2); err != nil || version == 0 || version > newest {
		return err
	}
	want, err := schemaAt(ctx, version)
	if err != nil {
		return err
	}
	var strange []string
	err = c.Each(ctx, schemaQuery, nil, func(r engine.Row) error {
		o := object{r.Str(0), r.Str(1), r.Str(2), r.Str(3)}
		if known := want[o.name]; known != o && !o.statistics() {
			strange = append(strange, o.kind+" "+o.name)
		}
		delete(want, o.name)
		return nil
	})
	switch {
	case err != nil:
		return err
	case len(strange) > 0:
		return fmt.Errorf("%w: %.100q", ErrSchema, strange[0])
	case len(want) > 0:
		return fmt.Errorf("%w: %d tables and indexes are missing", ErrSchema, len(want))
	}
	return nil
}

// object is one of a schema.
type object struct{ kind, name, table, sql string }

// statistics reports whether SQLite itself makes the table, for ANALYZE.
func (o object) statistics() bool {
	switch o.name {
	case "sqlite_stat1":
		return o.kind == "table" && o.sql == "CREATE TABLE sqlite_stat1(tbl,idx,stat)"
	case "sqlite_stat4":
		return o.kind == "table" && o.sql == "CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)"
	}
	return false
}

// schemaAt makes a schema of a version in memory.
func schemaAt(ctx context.Context, version int64) (map[string]object, error) {
	dir, _, err := Latest(engine.SQLite)
	if err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return nil, err
	}
	defer func() { _ = db.Close() }() // it is in memory only
	db.SetMaxOpenConns(1)
	p, err := goose.NewProvider(goose.DialectSQLite3, db, dir, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return nil, err
	}
	if _, err := p.UpTo(ctx, version); err != nil {
		return nil, fmt.Errorf("make schema version %d: %w", version, err)
	}
	rows, err := db.QueryContext(ctx, schemaQuery)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // rows.Err tells
	all := map[string]object{}
	for rows.Next() {
		var o object
		if err := rows.Scan(&o.kind, &o.name, &o.table, &o.sql); err != nil {
			return nil, err
		}
		all[o.name] = o
	}
	return all, rows.Err()
}

// CheckPlain refuses a database of a library, whose schema this program does not know, that has more than tables and indexes of
// columns. The error wraps ErrSchema.
func CheckPlain(ctx context.Context, path string) error {
	if info, err := os.Stat(path); err != nil || info.Size() == 0 {
		return err
	}
	c, err := engine.SQLite.Connect(ctx, sqlitefile.ReadOnly(path))
	if err != nil {
		return fmt.Errorf("open %s: %w", path, err)
	}
	defer func() { _ = c.Close() }() // it only reads
	var indexes, tables, strange []string
	err = c.Each(ctx, schemaQuery, nil, func(r engine.Row) error {
		o := object{r.Str(0), r.Str(1), r.Str(2), r.Str(3)}
		switch words := strings.Fields(strings.ToUpper(o.sql)); {
		case o.kind == "index":
			indexes = append(indexes, o.name)
		case o.kind != "table", len(words) > 1 && words[1] == "VIRTUAL":
			strange = append(strange, o.kind+" "+o.name)
		default:
			tables = append(tables, o.name)
		}
		return nil
	})
	if err == nil && len(strange) > 0 {
		return fmt.Errorf("%w: %.100q", ErrSchema, strange[0])
	}
	for _, name := range indexes { // -2: an expression
		if err == nil {
			err = refuseAny(ctx, c, "index of an expression: "+name, "SELECT count(*) FROM pragma_index_xinfo(?) WHERE cid = -2", name)
		}
	}
	for _, name := range tables { // 2 and 3: generated
		if err == nil {
			err = refuseAny(ctx, c, "table with generated columns: "+name, "SELECT count(*) FROM pragma_table_xinfo(?) WHERE hidden IN (2, 3)", name)
		}
	}
	return err
}

// refuseAny refuses what a query counts any of.
func refuseAny(ctx context.Context, c *engine.Conn, what, query string, args ...any) error {
	n, err := c.Number(ctx, query, args...)
	if err == nil && n > 0 {
		err = fmt.Errorf("%w: %.100q", ErrSchema, what)
	}
	return err
}
