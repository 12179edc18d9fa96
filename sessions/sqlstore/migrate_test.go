package sqlstore

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"io/fs"
	"path/filepath"
	"testing"
	"testing/fstest"
	"time"

	"github.com/pressly/goose/v3"

	"parley/sessions"
	"parley/sessions/sqlstore/row"
	"parley/sessions/sqlstore/schema"
)

// atVersion makes a database as an older parley left it: its first migrations, and rows.
func atVersion(t *testing.T, engine goose.Dialect, driver, dsn, folder string, newest int, rows []string) {
	t.Helper()
	dir, err := fs.Sub(schema.Migrations, "migrations/"+folder)
	if err != nil {
		t.Fatal(err)
	}
	names, err := fs.Glob(dir, "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	old := fstest.MapFS{}
	for _, name := range names[:newest] {
		b, err := fs.ReadFile(dir, name)
		if err != nil {
			t.Fatal(err)
		}
		old[name] = &fstest.MapFile{Data: b}
	}
	db, err := sql.Open(driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	p, err := goose.NewProvider(engine, db, old, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, q := range rows {
		if _, err := db.ExecContext(t.Context(), q); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
	}
}

// family are rows of version 1: a chat, a sub-agent, its own sub-agent, one whose parent is deleted; an answer that was paid for, a
// run that waits.
func family(t *testing.T) (rows []string) {
	t.Helper()
	for i, s := range []struct{ key, by string }{{"chat", ""}, {"child", "chat"}, {"grandchild", "child"}, {"orphan", "gone"}} {
		n := string(rune('1' + i))
		rows = append(rows,
			"INSERT INTO transcripts (num, id, key, agent, created) VALUES ("+n+", 'id-"+s.key+"', '"+s.key+"', 'main', 1)",
			"INSERT INTO sessions (num, key, id, transcript, agent, title, label, last, spawned_by, above, settings, usage, context, turns, by_agents, aborted, archived, archive_at, created, updated, find) VALUES ("+
				n+", '"+s.key+"', 'id-"+s.key+"', "+n+", 'main', '', '', '', '"+s.by+"', '', '{\"model\":\"p/m\"}', '', 7, 1, 0, 0, 0, 0, 1, 1, '"+s.key+"')")
	}
	answer, err := json.Marshal(sessions.Message{ID: "m", Role: sessions.Assistant, Content: sessions.TextContent("old answer"), Usage: &sessions.Usage{Input: 3}})
	if err != nil {
		t.Fatal(err)
	}
	asked, err := json.Marshal(row.Request{Kind: sessions.TurnRun, Agent: "main", Input: sessions.StoredMessage{ID: "in", Role: sessions.User, Content: sessions.TextContent("waits")}})
	if err != nil || bytes.ContainsAny(append(answer, asked...), "'") {
		t.Fatal(err)
	}
	return append(rows,
		"INSERT INTO notes (num, agent, key, body, at) VALUES (1, 'main', 'chat', 'The cat is called Mimi', 1), (2, 'ops', 'chat', 'Mimi', 1)",
		"INSERT INTO messages (seq, id, transcript, run, role, body) VALUES (1, 'm', 1, 0, 'assistant', '"+string(answer)+"')",
		"INSERT INTO runs (seq, id, key, transcript, session, parent, root, by_agent, status, created, body) VALUES (1, 'waiting', 'grandchild', 3, 'id-grandchild', '', '', 0, 'queued', 1, '"+string(asked)+"')")
}

// A store of version 1 goes on: what waits is done, and a sub-agent's calls are paid by the session above all.
func upgraded(t *testing.T, conf Config) {
	t.Helper()
	s := open(t, conf)
	ctx := t.Context()
	for key, top := range map[sessions.Key]sessions.Key{"chat": "", "child": "chat", "grandchild": "chat", "orphan": "gone"} {
		if got, err := s.Get(ctx, key); err != nil || got.Top != top || got.Settings.Model != "p/m" || got.Context != 7 || got.LastInput != got.Updated || got.LastInput.IsZero() {
			t.Errorf("%s: %+v, %v", key, got, err)
		}
	}
	if msgs, err := s.Tail(ctx, "id-chat", sessions.TailQuery{}); err != nil || len(msgs) != 1 || msgs[0].Text() != "old answer" {
		t.Error(msgs, err)
	}
	for _, text := range []string{"The cat is called Mimi", "Mimi sleeps"} { // the note of then; a new one comes before it
		if notes, err := s.Notes(ctx, sessions.NoteQuery{Agent: "main", Text: "mim", Limit: 10}); err != nil || len(notes) == 0 || notes[0].Text != text {
			t.Error(notes, err)
		}
		if _, err := s.Submit(ctx, sessions.Change{IdempotencyKey: "n", Ops: []sessions.Op{sessions.AddNote{Agent: "main", Key: "chat", Text: "Mimi sleeps"}}}); err != nil {
			t.Fatal(err)
		}
	}
	r, ok, err := s.Claim(ctx, "grandchild")
	if err != nil || !ok || r.ID != "waiting" || r.MergedInto != "" || r.Input.Text() != "waits" {
		t.Fatalf("%+v, %v, %v", r, ok, err)
	}
	final := sessions.Message{ID: "f", Role: sessions.Assistant, Content: sessions.TextContent("done"), Time: time.Now(), Usage: &sessions.Usage{Input: 5, Cost: 9}}
	if _, err := s.Finish(ctx, r.ID, sessions.Outcome{Status: sessions.Done, Messages: []sessions.Message{final}}); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Spent(ctx, sessions.SpentQuery{BilledTo: "chat"}); err != nil || got.Calls != 1 || got.Usage.Cost != 9 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestUpgradeSQLite(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	atVersion(t, goose.DialectSQLite3, "sqlite", "file:"+filepath.Join(dir, "parley.db"), "sqlite", 1, family(t))
	upgraded(t, Config{Dir: dir})
}

func TestUpgradePostgres(t *testing.T) {
	t.Parallel()
	dsn := postgresDSN(t)
	atVersion(t, goose.DialectPostgres, "pgx", dsn, "postgres", 1, family(t))
	upgraded(t, Config{Dir: t.TempDir(), DSN: dsn})
}

// The first start of an older program was killed before its first migration: the table of versions is there, and nothing else.
// source: https://github.com/pressly/goose/blob/v3.28.0/provider_run.go, tryEnsureVersionTable: a transaction of its own
func TestUpgradeKilledAtTheFirstStart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, DatabaseFile))
	if err != nil {
		t.Fatal(err)
	}
	p, err := goose.NewProvider(goose.DialectSQLite3, db, fstest.MapFS{"00001_none.sql": {Data: []byte("-- +goose Up\n")}}, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		t.Fatal(err)
	}
	if version, err := p.GetDBVersion(t.Context()); err != nil || version != 0 { // it makes the table
		t.Fatal(version, err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	s := open(t, Config{Dir: dir})
	if err := life(t.Context(), s, 1, 1, someQuestion, someAnswer); err != nil {
		t.Fatal(err)
	}
}
