package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"parley/sessions/sqlstore/engine"
	"parley/sessions/sqlstore/sqlitefile"
)

// A fixture is the database of an earlier schema version, as the program of that time left it while it was running.
type fixture struct {
	version int64
	db      []byte
	raw     contents
	schema  []string
}

// contents are the rows of a database by table: what an older program knows of each, in its columns, in no order of its own.
type contents map[string]tableRows

type tableRows struct {
	columns []string
	rows    []string
}

// ownTables are kept by SQLite, its index of words, the tool that migrates and the writer; rows of them change.
func ownTables(name string) bool {
	return strings.HasPrefix(name, "sqlite_") || strings.HasPrefix(name, "words") || strings.HasPrefix(name, "note_words") || name == "goose_db_version" || name == "meta" || name == "owners"
}

var fixtures = sync.OnceValues(func() (all []fixture, err error) {
	names, err := filepath.Glob(filepath.Join("testdata", "upgrade", "v*.sql"))
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "parley-test-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	for _, name := range names {
		f := fixture{}
		if _, err := fmt.Sscanf(filepath.Base(name), "v%d.sql", &f.version); err != nil {
			return nil, err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		path := filepath.Join(dir, filepath.Base(name)+".db")
		if err := script(path, string(text)); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if f.raw, f.schema, err = look(path, nil); err != nil {
			return nil, err
		}
		if f.db, err = os.ReadFile(path); err != nil {
			return nil, err
		}
		all = append(all, f)
	}
	return all, nil
})

func script(path, text string) error {
	db, err := sql.Open("sqlite", path)
	if err != nil {
		return err
	}
	if _, err := db.Exec(text); err != nil {
		_ = db.Close() // the first error counts
		return err
	}
	return db.Close()
}

func allFixtures(t *testing.T) []fixture {
	t.Helper()
	all, err := fixtures()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) == 0 {
		t.Fatal("no database of an earlier version is there")
	}
	return all
}

// folder makes a state folder that holds it.
func (f fixture) folder(t testing.TB) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, DatabaseFile), f.db, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// look reads the rows and the schema of a database past the store: the columns of as, or all.
func look(path string, as contents) (contents, []string, error) {
	db, err := sql.Open("sqlite", sqlitefile.ReadOnly(path))
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = db.Close() }() // it only reads
	db.SetMaxOpenConns(1)
	schema, err := list(db, "SELECT type || ' ' || name || ' on ' || tbl_name || ': ' || coalesce(sql, '') FROM sqlite_schema ORDER BY type, name")
	if err != nil {
		return nil, nil, err
	}
	tables, err := list(db, "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
	if err != nil {
		return nil, nil, err
	}
	c := contents{}
	for _, table := range tables {
		if ownTables(table) {
			continue
		}
		if _, known := as[table]; as != nil && !known {
			continue
		}
		r := tableRows{columns: as[table].columns}
		if as == nil {
			if r.columns, err = list(db, "SELECT name FROM pragma_table_info('"+table+"') ORDER BY cid"); err != nil {
				return nil, nil, err
			}
		}
		if r.rows, err = list(db, "SELECT quote("+strings.Join(r.columns, ") || ',' || quote(")+") FROM "+table+" ORDER BY 1"); err != nil {
			return nil, nil, err
		}
		c[table] = r
	}
	return c, schema, nil
}

func list(db *sql.DB, q string) (out []string, err error) {
	rows, err := db.QueryContext(context.Background(), q)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var v string
		if err := rows.Scan(&v); err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, rows.Err()
}

// same fails unless what the fixture holds is in the database, row by row and word by word, and nothing else in its tables.
func (f fixture) same(t *testing.T, path string) {
	t.Helper()
	now, _, err := look(path, f.raw)
	if err != nil {
		t.Fatal(err)
	}
	for table, was := range f.raw {
		if got := now[table].rows; !slices.Equal(got, was.rows) {
			t.Errorf("version %d: table %s has %d rows instead of %d, or others: %.300s\ninstead of %.300s", f.version, table, len(got), len(was.rows), fmt.Sprint(without(got, was.rows)), fmt.Sprint(without(was.rows, got)))
		}
	}
}

// without gives the rows of a that are not in b.
func without(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(s string) bool { return slices.Contains(b, s) })
}

// freshSchema is that of a store that this program makes.
var freshSchema = sync.OnceValues(func() ([]string, error) {
	dir, err := os.MkdirTemp("", "parley-test-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	s, err := Open(context.Background(), Config{Dir: dir})
	if err != nil {
		return nil, err
	}
	if err := s.Close(); err != nil {
		return nil, err
	}
	_, schema, err := look(filepath.Join(dir, DatabaseFile), nil)
	return schema, err
})

// isNewest fails unless the database has the schema that a new one has.
func isNewest(t *testing.T, path string) {
	t.Helper()
	want, err := freshSchema()
	if err != nil {
		t.Fatal(err)
	}
	_, got, err := look(path, contents{})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, want) {
		t.Errorf("the schema is another one than that of a new store:\n%s\ninstead of\n%s", strings.Join(without(got, want), "\n"), strings.Join(without(want, got), "\n"))
	}
}

// versionOf reads the schema version of a database that no store has open.
func versionOf(t *testing.T, path string) int64 {
	t.Helper()
	c, err := engine.SQLite.Connect(t.Context(), sqlitefile.ReadOnly(path))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }() // it only reads
	v, err := c.Version(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// up opens a store on a folder and closes it again.
func up(t *testing.T, dir string) {
	t.Helper()
	s, err := Open(t.Context(), Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}
