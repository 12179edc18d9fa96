package sqlstore

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pressly/goose/v3"

	"parley/channels"
	"parley/sessions"
	"parley/sessions/sqlstore/engine"
	"parley/sessions/sqlstore/schema"
	"parley/sessions/sqlstore/sqlitefile"
)

// Every schema version has a database of its time, whose schema is that of the migrations: one that has landed is never changed.
func TestUpgradeFixtures(t *testing.T) {
	t.Parallel()
	all := allFixtures(t)
	_, newest, err := schema.Latest(engine.SQLite)
	if err != nil {
		t.Fatal(err)
	}
	for v := int64(1); v <= newest; v++ {
		i := slices.IndexFunc(all, func(f fixture) bool { return f.version == v })
		if i < 0 {
			t.Errorf("no database of schema version %d: go test ./router -run '^TestFixture$' -update makes it", v)
			continue
		}
		path := filepath.Join(t.TempDir(), DatabaseFile)
		atVersion(t, goose.DialectSQLite3, "sqlite", "file:"+path, "sqlite", int(v), nil)
		_, schema, err := look(path, contents{})
		if err != nil {
			t.Fatal(err)
		}
		if f := all[i]; !slices.Equal(schema, f.schema) {
			t.Errorf("the migrations make another schema version %d than the program of its time had; one that has landed is not changed:\n%s\ninstead of\n%s", v, strings.Join(without(schema, f.schema), "\n"), strings.Join(without(f.schema, schema), "\n"))
		}
	}
}

// Each database of an earlier version becomes one of the newest: nothing of what it held is lost or changed, it can be read and
// searched, a copy of it as it was is kept, and a second start changes nothing.
//
// proves: D9
func TestUpgradeKeepsEverything(t *testing.T) {
	t.Parallel()
	_, newest, err := schema.Latest(engine.SQLite)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range allFixtures(t) {
		t.Run(fmt.Sprint(f.version), func(t *testing.T) {
			t.Parallel()
			dir := f.folder(t)
			path := filepath.Join(dir, DatabaseFile)
			s := open(t, Config{Dir: dir})
			f.readable(t, s)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			f.same(t, path)
			isNewest(t, path)
			if err := CheckFile(t.Context(), path); err != nil {
				t.Error(err)
			}
			f.kept(t, path, newest)
			once, _, err := look(path, nil)
			if err != nil {
				t.Fatal(err)
			}
			up(t, dir)
			twice, _, err := look(path, nil)
			if err != nil {
				t.Fatal(err)
			}
			if fmt.Sprint(once) != fmt.Sprint(twice) {
				t.Error("the second start changed something")
			}
			f.kept(t, path, newest)
		})
	}
}

// kept fails unless the folder has a copy of the database as it was, and no other.
func (f fixture) kept(t *testing.T, path string, newest int64) {
	t.Helper()
	copies, err := filepath.Glob(path + ".v*")
	if err != nil {
		t.Fatal(err)
	}
	if f.version == newest {
		if len(copies) > 0 {
			t.Errorf("nothing was upgraded, and there is %v", copies)
		}
		return
	}
	before := sqlitefile.BeforeFile(path, f.version)
	if !slices.Equal(copies, []string{before}) {
		t.Fatalf("the copies: %v", copies)
	}
	f.same(t, before)
	if _, schema, err := look(before, contents{}); err != nil || !slices.Equal(schema, f.schema) {
		t.Errorf("the copy has another schema, %v", err)
	}
	if info, err := os.Stat(before); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("others may read the copy: %v, %v", info, err)
	}
}

// readable compares what the store says with what its tables say of it.
func (f fixture) readable(t *testing.T, s *Store) {
	t.Helper()
	ctx := t.Context()
	for _, r := range f.table(t, "runs") {
		got, err := s.GetRun(ctx, sessions.RunID(r["id"]))
		if err != nil || string(got.Status) != r["status"] || string(got.Key) != r["key"] || fmt.Sprint(engine.Ms(got.Created)) != r["created"] {
			t.Errorf("run %s: %+v, %v", r["id"], got, err)
		}
	}
	for _, r := range f.table(t, "deliveries") {
		var body struct{ Text string }
		if err := json.Unmarshal([]byte(r["body"]), &body); err != nil {
			t.Fatal(err)
		}
		got, err := s.GetDelivery(ctx, sessions.DeliveryID(r["id"]))
		if err != nil || string(got.State) != r["state"] || got.To.String() != r["address"] || got.Text != body.Text || fmt.Sprint(engine.Ms(got.Expires)) != r["expires"] {
			t.Errorf("delivery %s: %+v, %v", r["id"], got, err)
		}
	}
	texts := map[string][]string{}
	for _, r := range f.table(t, "messages") {
		var m sessions.Message
		if err := json.Unmarshal([]byte(r["body"]), &m); err != nil {
			t.Fatal(err)
		}
		texts[r["transcript"]] = append(texts[r["transcript"]], m.Text())
	}
	for _, r := range f.table(t, "transcripts") {
		msgs, err := s.Tail(ctx, sessions.ID(r["id"]), sessions.TailQuery{Limit: 1000, IncludeTool: true})
		var got []string
		for _, m := range msgs {
			got = append(got, m.Text())
		}
		slices.Sort(got)
		want := slices.Sorted(slices.Values(texts[r["num"]]))
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("transcript %s has %d messages instead of %d, %v", r["key"], len(got), len(want), err)
		}
	}
	for _, r := range f.table(t, "sessions") {
		got, err := s.Get(ctx, sessions.Key(r["key"]))
		if err != nil || string(got.ID) != r["id"] || got.Label != r["label"] || string(got.SpawnedBy) != r["spawned_by"] || fmt.Sprint(engine.Ms(got.Updated)) != r["updated"] {
			t.Errorf("session %s: %+v, %v", r["key"], got, err)
		}
	}
	for _, r := range f.table(t, "seen") {
		if paths, err := s.Trace(ctx, r["msg"]); r["msg"] != "" && (err != nil || len(paths) == 0) {
			t.Errorf("message %s leads nowhere: %v", r["msg"], err)
		}
	}
	f.found(t, s)
}

// found looks for words of each kind of message, for notes and for who was let in.
func (f fixture) found(t *testing.T, s *Store) {
	t.Helper()
	ctx := t.Context()
	for word, least := range map[string]int{"orchard": 1, "withheld": 2, "hello": 10, "forty-three": 0} {
		hits, err := s.Search(ctx, sessions.SearchQuery{Text: word, Limit: 100})
		if err != nil || len(hits) < least || least == 0 && len(hits) > 0 {
			t.Errorf("%q is found %d times: %v", word, len(hits), err)
		}
	}
	if notes, err := s.Notes(ctx, sessions.NoteQuery{Agent: "main", Text: "mim", Limit: 10}); err != nil || len(notes) != 1 {
		t.Errorf("notes: %+v, %v", notes, err)
	}
	if ok, err := s.Paired(ctx, "fake", channels.DefaultAccount, "3004"); err != nil || !ok {
		t.Errorf("who was let in is not any more: %v", err)
	}
	if c, err := s.Cursor(ctx, "fake", channels.DefaultAccount); err != nil || c != "42" {
		t.Errorf("cursor %q, %v", c, err)
	}
	if skipped, err := s.Skipped(ctx, 10); err != nil || len(skipped) != len(f.raw["skipped"].rows) {
		t.Errorf("%d events are listed as skipped: %v", len(skipped), err)
	}
	if jobs, err := s.ListJobs(ctx, ""); err != nil || len(jobs) != len(f.raw["jobs"].rows) {
		t.Errorf("%d jobs: %v", len(jobs), err)
	}
}

// table gives the rows of a table of the fixture by their columns.
func (f fixture) table(t *testing.T, name string) (out []map[string]string) {
	t.Helper()
	path := filepath.Join(f.folder(t), DatabaseFile)
	c, err := engine.SQLite.Connect(t.Context(), sqlitefile.ReadOnly(path))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }() // it only reads
	columns := f.raw[name].columns
	if err := c.Each(t.Context(), "SELECT CAST("+strings.Join(columns, " AS TEXT), CAST(")+" AS TEXT) FROM "+name, nil, func(r engine.Row) error {
		m := map[string]string{}
		for i, n := range columns {
			m[n] = r.Str(i)
		}
		out = append(out, m)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if len(out) == 0 {
		t.Errorf("version %d has no %s", f.version, name)
	}
	return out
}

// The way back: the copy in the place of the database is what the older program had, and can be upgraded again.
func TestUpgradeAndBack(t *testing.T) {
	t.Parallel()
	_, newest, err := schema.Latest(engine.SQLite)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range allFixtures(t) {
		if f.version == newest {
			continue
		}
		dir := f.folder(t)
		path := filepath.Join(dir, DatabaseFile)
		for range 2 {
			up(t, dir)
			for _, end := range []string{"-wal", "-shm"} {
				if err := os.Remove(path + end); err != nil && !os.IsNotExist(err) {
					t.Fatal(err)
				}
			}
			if err := os.Rename(sqlitefile.BeforeFile(path, f.version), path); err != nil {
				t.Fatal(err)
			}
			if v := versionOf(t, path); v != f.version {
				t.Errorf("version %d came back as %d", f.version, v)
			}
			f.same(t, path)
			if err := CheckFile(t.Context(), path); err != nil {
				t.Error(err)
			}
		}
		up(t, dir)
		f.same(t, path)
		f.kept(t, path, newest)
	}
}

// A database with the number of a version and without what came into it before the first release is refused and left as it is.
func TestUpgradeUnreleased(t *testing.T) {
	t.Parallel()
	for _, f := range allFixtures(t) {
		for i, q := range []string{"DROP TABLE moves", "ALTER TABLE pairings DROP COLUMN address", "ALTER TABLE previews DROP COLUMN quoted", "ALTER TABLE deliveries RENAME COLUMN awaits TO waits"} {
			if f.version < 5 && i < 3 {
				continue
			}
			dir := f.folder(t)
			path := filepath.Join(dir, DatabaseFile)
			if err := script(path, q); err != nil {
				t.Fatal(err)
			}
			s, err := Open(t.Context(), Config{Dir: dir})
			if err == nil {
				_ = s.Close()
			}
			if err == nil || !strings.Contains(err.Error(), "before the first release") || !strings.Contains(err.Error(), path) {
				t.Errorf("version %d after %q: %v", f.version, q, err)
			}
			if v := versionOf(t, path); v != f.version {
				t.Errorf("it has version %d now", v)
			}
			if copies, _ := fs.Glob(os.DirFS(dir), DatabaseFile+".v*"); len(copies) > 0 {
				t.Error(copies)
			}
		}
	}
}
