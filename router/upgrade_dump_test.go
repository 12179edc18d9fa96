package router_test

import (
	"cmp"
	"database/sql"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/cryptotest"
	"testing/synctest"
	"time"

	"parley/router/routertest"
)

var update = flag.Bool("update", false, "write the database of the current schema version anew")

// upgradeDir holds a database of each schema version, as SQL.
const upgradeDir = "../sessions/sqlstore/testdata/upgrade"

// TestFixture tells the story on the host as it is now. With -update its database becomes the one of the current schema version.
//
//	go test ./router -run '^TestFixture$' -update
func TestFixture(t *testing.T) {
	if *update {
		cryptotest.SetGlobalRandom(t, 1)
	}
	synctest.Test(t, func(t *testing.T) {
		g := storyRig(t)
		story(g)
		at := time.Now()
		storyHas(t, g)
		if *update {
			writeFixture(t, g.Dir, at)
		}
	})
}

// writeFixture writes the database of a state folder down as SQL, while the host is running.
func writeFixture(t *testing.T, dir string, at time.Time) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir, "parley.db"))
	routertest.Check(t, err)
	defer func() { _ = db.Close() }() // it only reads
	db.SetMaxOpenConns(1)
	version := column[int](t, db, "SELECT max(version_id) FROM goose_db_version")[0]
	var b strings.Builder
	fmt.Fprintf(&b, "-- Schema version %d. Taken at %s, while the host was at work.\n", version, at.UTC().Format(time.RFC3339))
	_, err = db.ExecContext(t.Context(), "BEGIN")
	routertest.Check(t, err)
	dump(t, db, &b)
	routertest.Check(t, os.MkdirAll(upgradeDir, 0o755))
	routertest.Check(t, os.WriteFile(filepath.Join(upgradeDir, fmt.Sprintf("v%05d.sql", version)), []byte(b.String()), 0o644))
}

// dump writes the schema as it is stored, each table with its rows.
func dump(t *testing.T, db *sql.DB, b *strings.Builder) {
	t.Helper()
	const objects = "SELECT coalesce(sql, '') FROM sqlite_schema WHERE sql <> '' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND "
	virtual := column[string](t, db, "SELECT name FROM sqlite_schema WHERE sql LIKE 'CREATE VIRTUAL%' ORDER BY rowid")
	shadow := func(table string) bool {
		return slices.ContainsFunc(virtual, func(v string) bool { return strings.HasPrefix(table, v+"_") })
	}
	b.WriteString("PRAGMA foreign_keys = OFF;\nBEGIN;\n")
	tables := column[string](t, db, "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY rowid")
	for _, table := range tables {
		if !shadow(table) && table != "sqlite_sequence" {
			fmt.Fprintf(b, "%s;\n", column[string](t, db, objects+"type = 'table' AND name = '"+table+"'")[0])
		}
	}
	for _, table := range tables {
		if !slices.Contains(virtual, table) {
			rows(t, db, b, table, shadow(table) || table == "sqlite_sequence")
		}
	}
	for _, q := range column[string](t, db, objects+"type <> 'table' ORDER BY rowid") {
		fmt.Fprintf(b, "%s;\n", q)
	}
	b.WriteString("COMMIT;\n")
}

// rows writes the rows of a table. A table that SQLite makes by itself has some of its own, which give way.
func rows(t *testing.T, db *sql.DB, b *strings.Builder, table string, made bool) {
	t.Helper()
	names := column[string](t, db, "SELECT name FROM pragma_table_info('"+table+"')")
	values := make([]string, len(names))
	for i, n := range names {
		values[i] = "quote(\"" + n + "\")"
		if n == "tstamp" {
			values[i] = "'''2000-01-01 00:00:00'''" // of the machine's clock
		}
	}
	if made {
		fmt.Fprintf(b, "DELETE FROM %s;\n", table)
	}
	all := column[string](t, db, "SELECT "+strings.Join(values, " || ',' || ")+" FROM \""+table+"\" ORDER BY 1")
	slices.SortStableFunc(all, func(a, b string) int { return cmp.Compare(rowNumber(a), rowNumber(b)) })
	for _, r := range all {
		fmt.Fprintf(b, "INSERT INTO %s VALUES(%s);\n", table, r)
	}
}

// rowNumber is what a row begins with, if that is a number.
func rowNumber(row string) (n int64) {
	_, _ = fmt.Sscanf(row, "%d", &n)
	return n
}

func column[T any](t *testing.T, db *sql.DB, q string) (out []T) {
	t.Helper()
	r, err := db.QueryContext(t.Context(), q)
	routertest.Check(t, err)
	defer func() { _ = r.Close() }()
	for r.Next() {
		var v T
		routertest.Check(t, r.Scan(&v))
		out = append(out, v)
	}
	routertest.Check(t, r.Err())
	return out
}
