package backup

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"database/sql"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"parley/sessions/sqlstore"
)

// bomb makes an archive of one file of zeros, whose end is missing.
func bomb(t *testing.T, name string, size int64) []byte {
	t.Helper()
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(z)
	if err := w.WriteHeader(&tar.Header{Name: name, Size: size, Mode: 0o600}); err != nil {
		t.Fatal(err)
	}
	block := make([]byte, 1<<20)
	for n := int64(0); n < size; n += int64(len(block)) {
		if _, err := w.Write(block); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// largest counts what was written at most.
type largest struct{ n int64 }

func (l *largest) Write(p []byte) (int, error) { l.n += int64(len(p)); return len(p), nil }

// An archive writes no more than it may: of all, of a file, of files, for the disk, and in proportion to its own size.
// source: CWE-409
func TestBounds(t *testing.T) {
	t.Parallel()
	small := bomb(t, "state/x", 8<<20)
	for what, b := range map[string]*bounds{
		"of all":       {bytes: 4 << 20, room: -1},
		"for the disk": {bytes: 1 << 30, room: 4 << 20},
		"of a ratio":   {bytes: 1 << 30, room: -1, ratio: true, written: freeRatio},
		"of files":     {bytes: 1 << 30, room: -1, files: maxFiles},
	} {
		dir := t.TempDir()
		if _, err := unpack(t.Context(), bytes.NewReader(small), dir, b); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s: %v", what, err)
		}
		if b.ratio {
			continue // it shows while the file is written
		}
		if _, err := os.Stat(filepath.Join(dir, "state")); err == nil {
			t.Errorf("%s: something was written before the header was looked at", what)
		}
	}
	if _, err := unpack(t.Context(), bytes.NewReader(small), t.TempDir(), &bounds{bytes: 1 << 30, room: -1, ratio: true}); errors.Is(err, ErrTooLarge) {
		t.Errorf("a small one: %v", err)
	}
	one := &bounds{bytes: 1 << 40, room: -1}
	if err := one.admit("state/media/x", maxFileBytes+1); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a large file that is no database: %v", err)
	}
	if err := one.admit("state/parley.db", maxFileBytes+1); err != nil {
		t.Errorf("a large database: %v", err)
	}
	l := &largest{}
	b := &bounds{bytes: 1 << 40, room: -1, ratio: true, packed: &counted{n: 3 << 20}}
	for err := error(nil); err == nil && l.n < 1<<30; {
		_, err = bounded{l, b}.Write(make([]byte, 1<<20))
	}
	if most := int64(freeRatio + maxRatio*3<<20); l.n > most {
		t.Errorf("an archive of 3 MiB writes %d MiB", l.n>>20)
	}
}

// A restore is bounded without a word, and --max-size sets the bound.
func TestRestoreIsBounded(t *testing.T) {
	t.Parallel()
	b := bomb(t, "state/x", 300<<20)
	dir := t.TempDir()
	_, err := Restore(t.Context(), bytes.NewReader(b), Options{State: dir, Now: time.Now()})
	if !errors.Is(err, ErrTooLarge) {
		t.Errorf("300 MiB in %d KiB: %v", len(b)>>10, err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".restore-*")); len(left) > 0 { // the pattern is valid
		t.Errorf("left behind: %v", left)
	}
	if _, err := Restore(t.Context(), bytes.NewReader(b), Options{State: dir, Now: time.Now(), MaxBytes: 1 << 30}); !errors.Is(err, ErrArchive) {
		t.Errorf("with a bound of 1 GiB its missing manifest is what is wrong: %v", err)
	}
	if _, err := Check(t.Context(), bytes.NewReader(squeezed(t, append(untarred(t), make([]byte, 2*maxTrailing)...)))); !errors.Is(err, ErrArchive) || !strings.Contains(err.Error(), "after the end") {
		t.Errorf("something behind the end: %v", err)
	}
}

func untarred(t *testing.T) []byte {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(forged(t, nil, tar.Header{Name: "state/x"})))
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// A database with anything in its schema that parley did not make is refused, and nothing is changed: triggers and views act when the
// database is used. Logs beside a database are no part of a backup.
// source: SQLite, "Defense Against The Dark Arts" (security.html)
func TestRestoreChecksSchemas(t *testing.T) {
	t.Parallel()
	for what, x := range map[string]struct{ file, sql string }{
		"a trigger":                  {"parley.db", "CREATE TRIGGER x AFTER INSERT ON messages BEGIN DELETE FROM people; END"},
		"a view":                     {"parley.db", "CREATE VIEW x AS SELECT 1"},
		"a view in place of a table": {"parley.db", "ALTER TABLE cursors RENAME TO y; CREATE VIEW cursors AS SELECT * FROM y"},
		"another table":              {"parley.db", "CREATE TABLE x (a)"},
		"a missing index":            {"parley.db", "DROP INDEX runs_active"},
		"another index":              {"parley.db", "CREATE INDEX x ON runs(key)"},
		"an index of an expression":  {"parley.db", "CREATE INDEX x ON runs(abs(seq))"},
		"a virtual table":            {"parley.db", "CREATE VIRTUAL TABLE x USING fts5(a)"},
		"a newer header":             {"parley.db", "PRAGMA user_version = 99"},
		"another program's header":   {"parley.db", "PRAGMA application_id = 7"},
		"another column":             {"parley.db", "ALTER TABLE runs ADD COLUMN x"},
		"an adapter's trigger":       {"channels/fake/default/keys.db", "CREATE TRIGGER x AFTER INSERT ON messages BEGIN DELETE FROM people; END"},
		"an adapter's view":          {"channels/fake/default/keys.db", "CREATE VIEW x AS SELECT 1"},
		"an adapter's expression":    {"channels/fake/default/keys.db", "CREATE INDEX x ON k(abs(a))"},
		"an adapter's generated":     {"channels/fake/default/keys.db", "CREATE TABLE x (a, b AS (abs(a)))"},
		"an adapter's virtual":       {"channels/fake/default/keys.db", "CREATE VIRTUAL TABLE x USING fts5(a)"},
	} {
		dir := filepath.Join(t.TempDir(), "state")
		s, err := sqlstore.Open(t.Context(), sqlstore.Config{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		keys := filepath.Join(dir, "channels/fake/default/keys.db")
		if err := os.MkdirAll(filepath.Dir(keys), 0o700); err != nil {
			t.Fatal(err)
		}
		change(t, keys, "CREATE TABLE k (a); CREATE INDEX ka ON k(a); CREATE TABLE messages (a); CREATE TABLE people (a)")
		change(t, filepath.Join(dir, x.file), x.sql)
		var b bytes.Buffer
		if _, err := Write(t.Context(), &b, Source{State: dir, Program: "test", Database: func(ctx context.Context, to string) error {
			return copyFile(opener(dir, sqlstore.DatabaseFile), to)
		}}); err != nil {
			t.Fatal(err)
		}
		into := filepath.Join(t.TempDir(), "into")
		if _, err := Restore(t.Context(), &b, Options{State: into, Now: time.Now()}); !errors.Is(err, sqlstore.ErrSchema) || strings.Contains(err.Error(), into) {
			t.Errorf("%s: %v", what, err)
		} else if strings.HasSuffix(what, "header") && !strings.Contains(err.Error(), "restore the backup with the parley version that wrote the database") {
			t.Errorf("%s: no advice: %v", what, err)
		}
		if _, err := os.Stat(filepath.Join(into, "parley.db")); err == nil {
			t.Errorf("%s: the database was put in place", what)
		}
	}
	for _, name := range []string{"state/parley.db-wal", "state/parley.db-journal", "state/channels/a/b/keys.db-wal"} {
		if _, err := Check(t.Context(), bytes.NewReader(forged(t, nil, tar.Header{Name: name}))); !errors.Is(err, ErrArchive) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What a restore refuses says what is wrong with which file of the archive, and what to do; nothing was changed.
// source: RFC 1952, 2.2 (a gzip file is a series of members); SQLite documentation, PRAGMA user_version
func TestRefusalsSayWhatToDo(t *testing.T) {
	t.Parallel()
	dir, s := state(t)
	whole, _ := archive(t, dir, s, false)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	fine := tar.Header{Name: "state/x"}
	for want, b := range map[string][]byte{
		"a second gzip file follows the end: use the file": append(bytes.Clone(whole), squeezed(t, nil)...),
		"a second gzip file follows":                       append(bytes.Clone(whole), whole...),
		"other data follows the end":                       append(bytes.Clone(whole), 0),
		"unexpected data after the end":                    squeezed(t, append(untarred(t), 'x')),
		"state/parley.db is not in it: make a new backup":  forged(t, func(m *Manifest) { m.Store = "sqlite" }, fine),
	} {
		into := filepath.Join(t.TempDir(), "into")
		_, err := Restore(t.Context(), bytes.NewReader(b), Options{State: into, Now: time.Now()})
		if refused, ok := errors.AsType[*RefusedError](err); !ok || !errors.Is(err, ErrArchive) || !strings.Contains(refused.Error(), want) || strings.Contains(err.Error(), into) {
			t.Errorf("%v, want %q", err, want)
		}
		if left, _ := filepath.Glob(filepath.Join(into, "*.db")); len(left) > 0 {
			t.Errorf("%q: %q was put in place", want, left)
		}
	}
	if _, err := Check(t.Context(), bytes.NewReader(squeezed(t, append(untarred(t), make([]byte, 10_000)...)))); err != nil {
		t.Errorf("zeros behind the end: %v", err)
	}
}

// What a refused or a dry restore made for itself goes with it: the folder and those above it, and the lock in a folder that was there.
func TestRefusedRestoreLeavesNothing(t *testing.T) {
	t.Parallel()
	dir, s := state(t)
	whole, _ := archive(t, dir, s, false)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for name, o := range map[string]Options{"refused": {}, "dry": {DryRun: true}} {
		given := whole
		if name == "refused" {
			given = whole[:len(whole)/2]
		}
		for _, there := range []bool{false, true} {
			base := t.TempDir()
			o.State, o.Now = filepath.Join(base, "a", "into"), time.Now()
			if there {
				if err := os.MkdirAll(o.State, 0o700); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := Restore(t.Context(), bytes.NewReader(given), o); (err == nil) != o.DryRun {
				t.Fatal(name, err)
			}
			left, err := filepath.Glob(filepath.Join(base, "*"))
			if there {
				left, err = filepath.Glob(filepath.Join(o.State, "*"))
			}
			if err != nil || len(left) > 0 {
				t.Errorf("%s, a folder is there %t: %q is left, %v", name, there, left, err)
			}
		}
	}
}

func change(t *testing.T, path, script string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.ExecContext(t.Context(), script)
	if err = errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}
