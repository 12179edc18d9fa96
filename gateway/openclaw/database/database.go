package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	_ "modernc.org/sqlite" // the driver "sqlite"
)

// Names of the databases of a state folder.
const (
	Shared = "state/openclaw.sqlite"
	// Agent is the name of an agent's database below agents/<agent>/.
	Agent = "agent/openclaw-agent.sqlite"
)

// The bounds of Rows.
const (
	maxText  = 16 << 20 // of one value, in bytes
	maxTable = 64 << 20 // of all values, in bytes
	maxRows  = 100_000
)

// Folder has the databases of one state folder that were opened.
type Folder struct {
	root     *os.Root
	temp     string // "" before the first copy
	made     int    // copies so far; each has its own name
	open     map[string]*Database
	changing string // see Changing
}

// New returns a Folder without an open database. It keeps root, and does not close it.
func New(root *os.Root) *Folder { return &Folder{root: root, open: map[string]*Database{}} }

// Close closes the databases and removes the copies.
func (f *Folder) Close() error {
	var all error
	for _, d := range f.open {
		all = errors.Join(all, d.db.Close())
	}
	clear(f.open)
	if f.temp != "" {
		all = errors.Join(all, os.RemoveAll(f.temp))
		f.temp = ""
	}
	return all
}

// Open opens a database; name is relative to the state folder, with slashes. A second call returns the same. fs.ErrNotExist if there is none.
func (f *Folder) Open(ctx context.Context, name string) (*Database, error) {
	if d, ok := f.open[name]; ok {
		return d, nil
	}
	if _, err := f.root.Lstat(name); err != nil {
		return nil, err
	}
	if f.temp == "" {
		temp, err := os.MkdirTemp("", "parley-import-") // 0700
		if err != nil {
			return nil, err
		}
		f.temp = temp
	}
	f.made++
	path := filepath.Join(f.temp, strconv.Itoa(f.made)+".sqlite")
	if err := copyTo(f.root, name, path); err != nil {
		if errors.Is(err, ErrInUse) {
			f.changing = name
		}
		return nil, err
	}
	d, err := open(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	f.open[name] = d
	return d, nil
}

// Changing returns the name of a database that a program changed while it was copied; "" = there was none.
func (f *Folder) Changing() string { return f.changing }

// Release closes a database and removes its copy. The next Open copies the database as it is then.
func (f *Folder) Release(name string) error {
	d, ok := f.open[name]
	if !ok {
		return nil
	}
	err := d.db.Close()
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if bad := os.Remove(d.path + suffix); !errors.Is(bad, fs.ErrNotExist) {
			err = errors.Join(err, bad)
		}
	}
	delete(f.open, name)
	return err
}

// Rows returns columns of all rows of a table as texts; NULL is "". An absent database, table or column gives no rows and no error.
// It refuses texts over 16 MB, and tables with more than 64 MB or 100,000 rows.
func (f *Folder) Rows(ctx context.Context, name, table string, columns ...string) ([][]string, error) {
	d, err := f.Open(ctx, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil || !d.Has(table, columns...) {
		return nil, err
	}
	fields := make([]string, len(columns))
	for i, c := range columns {
		fields[i] = "CASE WHEN octet_length(" + Quote(c) + ") <= " + strconv.Itoa(maxText) + " OR " + Quote(c) + " IS NULL THEN CAST(coalesce(" + Quote(c) + ", '') AS TEXT) END"
	}
	var out [][]string
	size := 0
	err = d.Each(ctx, "SELECT "+strings.Join(fields, ", ")+" FROM "+Quote(table)+" LIMIT "+strconv.Itoa(maxRows+1), nil, func(scan func(...any) error) error {
		row, cells := make([]sql.NullString, len(columns)), make([]any, len(columns))
		for i := range row {
			cells[i] = &row[i]
		}
		if err := scan(cells...); err != nil {
			return err
		}
		if len(out) == maxRows {
			return fmt.Errorf("table %s has more than %d rows", table, maxRows)
		}
		texts := make([]string, len(columns))
		for i, c := range row {
			if !c.Valid {
				return fmt.Errorf("table %s: a value of column %s has more than %d MB", table, columns[i], maxText>>20)
			}
			texts[i] = c.String
			if size += len(c.String); size > maxTable {
				return fmt.Errorf("table %s has more than %d MB", table, maxTable>>20)
			}
		}
		out = append(out, texts)
		return nil
	})
	return out, err
}

// Database is an open copy.
type Database struct {
	db      *sql.DB
	path    string
	version int
	tables  map[string][]string // columns by table
}

func open(ctx context.Context, path string) (_ *Database, err error) {
	query := url.Values{"_pragma": {"trusted_schema(0)", "cell_size_check(1)", "mmap_size(0)", "query_only(1)"}}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath(), RawQuery: query.Encode()}).String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	d := &Database{db: db, path: path, tables: map[string][]string{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, db.Close())
		}
	}()
	if err := db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&d.version); err != nil {
		return nil, err
	}
	var names []string
	err = d.Each(ctx, "SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0", nil, func(scan func(...any) error) error {
		var name string
		err := scan(&name)
		names = append(names, name)
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		err := d.Each(ctx, "SELECT name FROM pragma_table_xinfo(?) WHERE hidden = 0", []any{name}, func(scan func(...any) error) error {
			var column string
			err := scan(&column)
			d.tables[name] = append(d.tables[name], column)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return d, nil
}

// Version returns the number of the schema, PRAGMA user_version.
func (d *Database) Version() int { return d.version }

// Has reports whether there is such a table with all of these columns.
func (d *Database) Has(table string, columns ...string) bool {
	have, ok := d.tables[table]
	return ok && !slices.ContainsFunc(columns, func(c string) bool { return !slices.Contains(have, c) })
}

// Each calls row for each row of a query, as long as row returns no error. row may run no other query.
func (d *Database) Each(ctx context.Context, query string, args []any, row func(scan func(...any) error) error) error {
	rows, err := d.db.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := row(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Quote writes a name for a query.
func Quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// Count returns the number of rows of a table.
func (d *Database) Count(ctx context.Context, table string) (n int64, err error) {
	err = d.db.QueryRowContext(ctx, "SELECT count(*) FROM "+Quote(table)).Scan(&n)
	return n, err
}
