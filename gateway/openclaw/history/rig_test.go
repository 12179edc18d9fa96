package history

import (
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"parley/gateway/openclaw/database"
	"parley/gateway/openclaw/report"
	"parley/sessions"
)

// state is a state folder of OpenClaw that a test fills.
type state struct {
	testing.TB
	dir string
}

func newState(t testing.TB) state { return state{t, t.TempDir()} }

func (s state) write(name, text string) {
	s.Helper()
	path := filepath.Join(s.dir, filepath.FromSlash(name))
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		s.Fatal(err)
	}
}

// read reads the folder.
func (s state) read(set ...func(*Folder)) (*History, *report.Report) {
	s.Helper()
	root, err := os.OpenRoot(s.dir)
	if err != nil {
		s.Fatal(err)
	}
	d, r := database.New(root), &report.Report{}
	s.Cleanup(func() {
		if err := errors.Join(d.Close(), root.Close()); err != nil {
			s.Error(err)
		}
	})
	f := Folder{Root: root, Databases: d, IDs: plainIDs{}, Report: r, Parse: func(b []byte) (v any, err error) { err = json.Unmarshal(b, &v); return v, err }}
	for _, change := range set {
		change(&f)
	}
	h, err := Read(s.Context(), f)
	if err != nil {
		s.Fatal(err)
	}
	h.Rest()
	r.Sort()
	return h, r
}

// story returns the history of a session, one line a message.
func (s state) story(h *History, key sessions.Key) (lines []string) {
	s.Helper()
	i := slices.IndexFunc(h.Sessions, func(x Imported) bool { return x.Session.Key == key })
	if i < 0 {
		s.Errorf("there is no %s", key)
		return nil
	}
	msgs, err := h.Sessions[i].Messages(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	ids := map[string]bool{}
	for _, m := range msgs {
		if ids[m.ID] {
			s.Errorf("%s: two messages have the id %s", key, m.ID)
		}
		ids[m.ID] = true
		lines = append(lines, string(m.Role)+" "+m.Text())
	}
	return lines
}

// has fails unless the report has such a line.
func has(t testing.TB, part []report.Item, what, why string) {
	t.Helper()
	if !slices.ContainsFunc(part, func(i report.Item) bool { return strings.Contains(i.What, what) && strings.Contains(i.Why, why) }) {
		t.Errorf("no %q (%s) in %q", what, why, part)
	}
}

// sqlite is a database that OpenClaw has open: its newest rows are in the write-ahead log only.
type sqlite struct {
	state
	db *sql.DB
}

func (s state) sqlite(name string, statements ...string) sqlite {
	s.Helper()
	path := filepath.Join(s.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		s.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { _ = db.Close() })
	db.SetMaxOpenConns(1)
	d := sqlite{s, db}
	for _, q := range append([]string{"PRAGMA journal_mode = WAL", "PRAGMA wal_autocheckpoint = 0"}, statements...) {
		d.exec(q)
	}
	return d
}

func (d sqlite) exec(q string, args ...any) {
	d.Helper()
	if _, err := d.db.ExecContext(d.Context(), q, args...); err != nil {
		d.Fatalf("%s: %v", q, err)
	}
}

// The tables of an agent's database, as far as they matter, by the schema that has them first.
// source: openclaw/openclaw src/state/openclaw-agent-schema.sql (0b03f834, b8a49978)
const (
	tables14 = `CREATE TABLE session_nodes(session_key TEXT PRIMARY KEY, current_session_id TEXT NOT NULL, entry_json TEXT NOT NULL, entry_valid INTEGER NOT NULL DEFAULT 0, updated_at INTEGER NOT NULL,
			created_at INTEGER NOT NULL DEFAULT 0, created_via TEXT, parent_session_key TEXT, spawned_by TEXT, label TEXT, display_name TEXT, archived_at INTEGER, last_interaction_at INTEGER) STRICT;
		CREATE TABLE session_windows(session_id TEXT PRIMARY KEY, session_key TEXT NOT NULL, previous_session_id TEXT, reason TEXT NOT NULL DEFAULT 'initial', created_at INTEGER NOT NULL,
			updated_at INTEGER NOT NULL DEFAULT 0, chat_type TEXT, channel TEXT, account_id TEXT, model_provider TEXT, model TEXT, display_name TEXT, acp_owned INTEGER) STRICT;
		CREATE TABLE conversations(conversation_id TEXT PRIMARY KEY, channel TEXT NOT NULL, account_id TEXT NOT NULL, kind TEXT NOT NULL, peer_id TEXT, delivery_target TEXT, thread_id TEXT) STRICT;
		CREATE TABLE session_conversations(session_id TEXT NOT NULL, conversation_id TEXT NOT NULL, role TEXT NOT NULL, last_seen_at INTEGER, PRIMARY KEY(session_id, conversation_id)) STRICT;
		CREATE TABLE session_key_contract(main_key TEXT NOT NULL) STRICT;
		CREATE TABLE session_transcript_archives(session_id TEXT, session_key TEXT, generation INTEGER, reason TEXT, encoding TEXT, archive_blob BLOB, archive_name TEXT, archive_sha256 TEXT, created_at INTEGER) STRICT;
		CREATE TABLE session_pending_inputs(session_key TEXT, message_json TEXT, state TEXT, accepted_at INTEGER) STRICT;`
	events14 = `CREATE TABLE transcript_events(session_id TEXT NOT NULL, seq INTEGER NOT NULL, event_json TEXT NOT NULL, created_at INTEGER NOT NULL, PRIMARY KEY(session_id, seq)) STRICT;`
	tables20 = `CREATE TABLE session_transcript_cold_archives(session_id TEXT PRIMARY KEY, generation INTEGER NOT NULL, archive_name TEXT NOT NULL, archive_sha256 TEXT NOT NULL, event_count INTEGER NOT NULL,
			raw_bytes INTEGER NOT NULL, archive_bytes INTEGER NOT NULL, last_seq INTEGER NOT NULL, storage TEXT NOT NULL, archive_blob BLOB) STRICT;`
	events23 = `CREATE TABLE transcript_events(session_id TEXT NOT NULL, seq INTEGER NOT NULL, event_json TEXT, created_at INTEGER NOT NULL, event_zstd BLOB, event_utf8_bytes INTEGER, navigation_json TEXT,
			PRIMARY KEY(session_id, seq)) STRICT;`
	tables24 = `CREATE TABLE session_entry_snapshots(session_key TEXT, field TEXT, value_json TEXT) STRICT;`
	tables4  = `CREATE TABLE sessions(session_id TEXT PRIMARY KEY, session_key TEXT NOT NULL, created_at INTEGER, updated_at INTEGER, channel TEXT, model TEXT);
		CREATE TABLE session_entries(session_key TEXT PRIMARY KEY, session_id TEXT NOT NULL, entry_json TEXT NOT NULL, updated_at INTEGER);`
)

const agentFile = "agents/main/" + database.Agent

// agent makes the database of the agent main.
func (s state) agent(version int) sqlite {
	s.Helper()
	ddl := []string{fmt.Sprintf("PRAGMA user_version = %d", version), "CREATE TABLE schema_meta(meta_key TEXT, role TEXT, schema_version INTEGER, agent_id TEXT)",
		"CREATE TABLE auth_profile_store(profile_key TEXT, store_json TEXT)"}
	switch {
	case version >= 14:
		ddl = append(ddl, tables14)
		if version >= 20 {
			ddl = append(ddl, tables20)
		}
		if version >= 23 {
			ddl = append(ddl, events23)
		} else {
			ddl = append(ddl, events14)
		}
		if version >= 24 {
			ddl = append(ddl, tables24)
		}
	case version >= 4:
		ddl = append(ddl, tables4, events14)
	}
	return s.sqlite(agentFile, ddl...)
}

// node adds a session with its windows, oldest first; the last one is the current.
func (d sqlite) node(key, entry string, windows ...string) {
	d.Helper()
	d.exec("INSERT INTO session_nodes(session_key, current_session_id, entry_json, updated_at) VALUES (?, ?, ?, 1700000000000)", key, windows[len(windows)-1], entry)
	for i, w := range windows {
		d.exec("INSERT INTO session_windows(session_id, session_key, created_at) VALUES (?, ?, ?)", w, key, 1700000000000+i)
	}
}

// events adds a transcript: a header, and messages that are role and text.
func (d sqlite) events(window string, messages ...string) {
	d.Helper()
	for i, e := range transcriptOf(window, messages...) {
		d.exec("INSERT INTO transcript_events(session_id, seq, event_json, created_at) VALUES (?, ?, ?, 0)", window, i, e)
	}
}

// transcriptOf writes the events of a transcript.
func transcriptOf(window string, messages ...string) (events []string) {
	at := time.UnixMilli(1700000000000).UTC()
	events = append(events, fmt.Sprintf(`{"type":"session","version":3,"id":%q,"timestamp":%q}`, window, at.Format(time.RFC3339Nano)))
	for i, m := range messages {
		role, text, _ := strings.Cut(m, " ")
		body, _ := json.Marshal(map[string]any{"role": role, "content": text, "timestamp": at.Add(time.Duration(i) * time.Second).UnixMilli()})
		events = append(events, fmt.Sprintf(`{"type":"message","id":"e%d","timestamp":%q,"message":%s}`, i+1, at.Format(time.RFC3339Nano), body))
	}
	return events
}

func jsonl(window string, messages ...string) string {
	return strings.Join(transcriptOf(window, messages...), "\n") + "\n"
}

func pack(t testing.TB, text string) []byte {
	t.Helper()
	w, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	return w.EncodeAll([]byte(text), nil)
}

// packedArchive makes the cold archive of a transcript.
func packedArchive(t testing.TB, window string, messages ...string) (data []byte, events int, hash string) {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, `{"kind":"header","version":1,"sessionId":%q,"generation":1}`+"\n", window)
	for i, e := range transcriptOf(window, messages...) {
		row, _ := json.Marshal(map[string]any{"kind": "event", "row": map[string]any{"seq": i, "event_json": e, "created_at": 0}})
		b.Write(append(row, '\n'))
		events++
	}
	b.WriteString(`{"kind":"identity","row":{}}` + "\n" + `{"kind":"fts","row":{}}` + "\n")
	data = pack(t, b.String())
	return data, events, sum(data)
}

func sum(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}
