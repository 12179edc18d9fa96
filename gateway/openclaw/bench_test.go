package openclaw

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"parley/sessions/sqlstore"
)

// manySessions makes a state folder with sessions of 50 messages, in JSONL files or in SQLite.
func manySessions(b *testing.B, n int, inSQLite bool) string {
	b.Helper()
	dir := b.TempDir()
	folder := filepath.Join(dir, "agents", "main", "sessions")
	agent := filepath.Join(dir, "agents", "main", "agent")
	for _, d := range []string{folder, agent} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			b.Fatal(err)
		}
	}
	text := strings.Repeat("Beans and peas and more beans. ", 5)
	entry := func(i int) (key, id string) {
		return fmt.Sprintf("agent:main:telegram:direct:%d", i+1), fmt.Sprintf("%08x-0000-4000-8000-000000000000", i+1)
	}
	event := func(j int) string {
		role := []string{"user", "assistant"}[j%2]
		return fmt.Sprintf(`{"type":"message","id":"m%d","timestamp":"2026-02-01T00:00:00.000Z","message":{"role":%q,"content":[{"type":"text","text":"What grows in garden %d? %s"}],"timestamp":%d}}`, j, role, j, text, 1769904000000+j*1000)
	}
	var db *sql.DB
	run := func(q string, args ...any) {
		if _, err := db.ExecContext(b.Context(), q, args...); err != nil {
			b.Fatal(err)
		}
	}
	if inSQLite {
		var err error
		if db, err = sql.Open("sqlite", filepath.Join(agent, "openclaw-agent.sqlite")); err != nil {
			b.Fatal(err)
		}
		defer db.Close()
		db.SetMaxOpenConns(1)
		run("PRAGMA user_version = 19; CREATE TABLE session_nodes(session_key TEXT, current_session_id TEXT, entry_json TEXT, updated_at INTEGER); CREATE TABLE session_windows(session_id TEXT, session_key TEXT, created_at INTEGER); CREATE TABLE transcript_events(session_id TEXT, seq INTEGER, event_json TEXT, PRIMARY KEY(session_id, seq)); BEGIN")
	}
	var store []string
	for i := range n {
		key, id := entry(i)
		if !inSQLite {
			lines := []string{fmt.Sprintf(`{"type":"session","version":3,"id":%q}`, id)}
			for j := range 50 {
				lines = append(lines, event(j))
			}
			if err := os.WriteFile(filepath.Join(folder, id+".jsonl"), []byte(strings.Join(lines, "\n")), 0o600); err != nil {
				b.Fatal(err)
			}
			store = append(store, fmt.Sprintf("%q:{\"sessionId\":%q,\"updatedAt\":1769904000000}", key, id))
			continue
		}
		run("INSERT INTO session_nodes VALUES (?, ?, '{}', 1769904000000)", key, id)
		run("INSERT INTO session_windows VALUES (?, ?, 1)", id, key)
		for j := range 50 {
			run("INSERT INTO transcript_events VALUES (?, ?, ?)", id, j, event(j))
		}
	}
	if inSQLite {
		run("COMMIT")
		return dir
	}
	if err := os.WriteFile(filepath.Join(folder, "sessions.json"), []byte("{"+strings.Join(store, ",")+"}"), 0o600); err != nil {
		b.Fatal(err)
	}
	return dir
}

// BenchmarkImport: 1,000 sessions of 50 messages from OpenClaw's files into SQLite with full sync.
func BenchmarkImport(b *testing.B) {
	for name, inSQLite := range map[string]bool{"jsonl": false, "sqlite": true} {
		b.Run(name, func(b *testing.B) {
			dir := manySessions(b, 1000, inSQLite)
			for b.Loop() {
				begin := time.Now()
				r, err := Read(b.Context(), dir, table(), none, nil)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(time.Since(begin).Seconds(), "s-read")
				s, err := sqlstore.Open(b.Context(), sqlstore.Config{Dir: b.TempDir()})
				if err != nil {
					b.Fatal(err)
				}
				if got, err := r.Store(b.Context(), s, nil); err != nil || got.Messages != 50_000 {
					b.Fatalf("%+v, %v", got, err)
				}
				if err := s.Close(); err != nil {
					b.Fatal(err)
				}
				if err := r.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
