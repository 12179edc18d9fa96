package database

import (
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"parley/gateway/filesystem"
)

// folder makes a state folder with the shared database. The last rows are only in its write-ahead log; done ends the writing process.
func folder(t *testing.T, statements ...string) (dir string, root *os.Root) {
	t.Helper()
	dir = t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "state"), 0o700); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", filepath.Join(dir, filepath.FromSlash(Shared)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	db.SetMaxOpenConns(1)
	for _, s := range append([]string{"PRAGMA journal_mode = WAL", "PRAGMA wal_autocheckpoint = 0"}, statements...) {
		if _, err := db.ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	root, err = os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	return dir, root
}

// Rows that are only in the log are read, also from a folder that cannot be written. The originals stay as they are, and the copies go.
// source: https://www.sqlite.org/wal.html#read_only_databases
func TestRowsOfTheLog(t *testing.T) {
	dir, root := folder(t, "CREATE TABLE pairs(a TEXT, b BLOB, c INTEGER) STRICT", "INSERT INTO pairs VALUES ('x', NULL, 1), ('y', x'00ff', 2)", "PRAGMA user_version = 17")
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	if err := os.Chmod(filepath.Join(dir, "state"), 0o500); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.Chmod(filepath.Join(dir, "state"), 0o700) }()
	before := files(t, dir)
	f := New(root)
	got, err := f.Rows(t.Context(), Shared, "pairs", "c", "a")
	if err != nil || !slices.EqualFunc(got, [][]string{{"1", "x"}, {"2", "y"}}, slices.Equal) {
		t.Errorf("%q, %v", got, err)
	}
	for _, absent := range [][]string{{Shared, "nothing", "a"}, {Shared, "pairs", "d"}, {"state/nothing.sqlite", "pairs", "a"}} {
		if rows, err := f.Rows(t.Context(), absent[0], absent[1], absent[2]); rows != nil || err != nil {
			t.Errorf("%q: %q, %v", absent, rows, err)
		}
	}
	if d, err := f.Open(t.Context(), Shared); err != nil || d.Version() != 17 {
		t.Errorf("%+v, %v", d, err)
	}
	if left, err := filepath.Glob(filepath.Join(temp, "*")); err != nil || len(left) != 1 {
		t.Errorf("%q, %v", left, err)
	} else if info, err := os.Stat(left[0]); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if left, err := filepath.Glob(filepath.Join(temp, "*")); err != nil || len(left) > 0 {
		t.Errorf("left: %q, %v", left, err)
	}
	if after := files(t, dir); before != after {
		t.Errorf("was %s\nis  %s", before, after)
	}
}

func files(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || strings.HasSuffix(path, "-shm") {
			return err
		}
		info, err := e.Info()
		if err == nil {
			b.WriteString(path + " " + info.ModTime().String() + "\n")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Nothing but a regular database file of the folder is read: no link inside or outside, no folder, no other file, no view and no virtual table.
func TestOnlyDatabases(t *testing.T) {
	t.Parallel()
	dir, root := folder(t, "CREATE TABLE real(a TEXT)", "CREATE VIEW seen AS SELECT a FROM real", "CREATE VIRTUAL TABLE words USING fts5(a)",
		"CREATE TABLE computed(a TEXT, b TEXT GENERATED ALWAYS AS (a || a) VIRTUAL)")
	outside, _ := folder(t, "CREATE TABLE real(a TEXT)")
	state := filepath.Join(dir, "state")
	if err := errors.Join(os.Symlink(filepath.Join(outside, filepath.FromSlash(Shared)), filepath.Join(state, "out.sqlite")),
		os.Symlink("openclaw.sqlite", filepath.Join(state, "in.sqlite")), os.Mkdir(filepath.Join(state, "folder.sqlite"), 0o700),
		os.Symlink(filepath.Join(outside, "state"), filepath.Join(dir, "link")), os.WriteFile(filepath.Join(state, "text.sqlite"), []byte(strings.Repeat("no database ", 100)), 0o600)); err != nil {
		t.Fatal(err)
	}
	f := New(root)
	defer f.Close()
	for _, name := range []string{"state/out.sqlite", "state/in.sqlite", "state/folder.sqlite", "link/openclaw.sqlite", "../" + filepath.Base(outside) + "/" + Shared, "state/text.sqlite"} {
		if d, err := f.Open(t.Context(), name); err == nil || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v, %v", name, d, err)
		}
	}
	if _, err := f.Open(t.Context(), "state/in.sqlite"); !errors.Is(err, filesystem.ErrNotRegular) || !strings.Contains(err.Error(), "put the database itself") || strings.Contains(err.Error(), "temporary") {
		t.Error(err)
	}
	d, err := f.Open(t.Context(), Shared)
	if err != nil || !d.Has("real", "a") || d.Has("seen") || d.Has("words") || d.Has("computed", "b") {
		t.Errorf("%+v, %v", d, err)
	}
}

// A database with an unfinished transaction in a rollback journal is refused; a finished journal is passed over.
// source: https://www.sqlite.org/fileformat2.html#the_rollback_journal
func TestJournal(t *testing.T) {
	t.Parallel()
	dir, root := folder(t, "CREATE TABLE real(a TEXT)")
	journal := filepath.Join(dir, filepath.FromSlash(Shared)+"-journal")
	for text, refused := range map[string]bool{"": false, "\x00\x00": false, "\xd9\xd5\x05\xf9": true} {
		if err := os.WriteFile(journal, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		f := New(root)
		if _, err := f.Open(t.Context(), Shared); (err != nil) != refused {
			t.Errorf("%q: %v", text, err)
		}
		if err := errors.Join(f.Release(Shared), f.Close()); err != nil {
			t.Error(err)
		}
	}
}

// Rows holds no more than 64 MB of a table, however small each value is.
func TestRowsBoundsATable(t *testing.T) {
	t.Parallel()
	_, root := folder(t, "CREATE TABLE big(a TEXT)", "INSERT INTO big SELECT hex(zeroblob(4000000)) FROM (VALUES (1), (2), (3), (4), (5), (6), (7), (8), (9))")
	f := New(root)
	defer func() { _ = f.Close() }()
	if rows, err := f.Rows(t.Context(), Shared, "big", "a"); err == nil || !strings.Contains(err.Error(), "more than 64 MB") {
		t.Errorf("%d rows, %v", len(rows), err)
	}
}
