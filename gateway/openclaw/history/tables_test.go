package history

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"parley/gateway/openclaw/report"
	"parley/sessions"
)

const mainSession = sessions.Key("agent:main:main")

// Each schema with sessions is read, with rows that are only in the write-ahead log, and the entry's settings. A schema that is not known
// yet is read when it has the columns.
// source: openclaw/openclaw docs/reference/database-schemas/agent-schema-history.md (26bb0906)
func TestSchemas(t *testing.T) {
	t.Parallel()
	for _, version := range []int{4, 9, 13, 14, 19, 20, 22, 23, 24, 25, 31} {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			t.Parallel()
			s := newState(t)
			d := s.agent(version)
			entry := `{"sessionId":"old","updatedAt":1700000009000,"sessionFile":"sqlite:main","sendPolicy":"deny","label":"Home","lastChannel":"telegram","lastTo":"telegram:1001"}`
			if version < 14 {
				d.exec("INSERT INTO session_entries VALUES ('agent:main:main', 'w2', ?, 1)", entry)
				d.exec("INSERT INTO sessions VALUES ('w1', 'agent:main:main', 1, 1, 'telegram', 'x'), ('w2', 'agent:main:main', 2, 2, 'telegram', 'x')")
			} else {
				d.node("agent:main:main", entry, "w1", "w2")
			}
			d.events("w1", "user Before the reset", "assistant Yes.")
			d.events("w2", "user After it", "assistant Beans.")
			h, r := s.read()
			if diff := cmp.Diff([]string{"user Before the reset", "assistant Yes.", "user After it", "assistant Beans."}, s.story(h, mainSession)); diff != "" {
				t.Error(diff)
			}
			if x := h.Sessions[0].Session; x.Settings.SendPolicy != "deny" || x.Label != "Home" || x.Last.Chat != "1001" || x.Updated.UnixMilli() != 1700000009000 || r.Sessions != 1 || r.Messages != 4 {
				t.Errorf("%+v, %d sessions, %d messages", x, r.Sessions, r.Messages)
			}
			if version > newest {
				has(t, r.Different, agentFile, "schema 31")
			}
		})
	}
}

// A database of a newer version without the known columns, and one of the first version, say so. The sessions of the first version are in
// JSONL files. Sessions in both layouts are taken from SQLite.
func TestBothLayouts(t *testing.T) {
	t.Parallel()
	store := `{"agent:main:main":{"sessionId":"j1","updatedAt":1},"agent:main:telegram:direct:7":{"sessionId":"j2","updatedAt":1}}`
	for version, want := range map[int][]string{1: {"user From a file"}, 23: {"user From SQLite"}, 40: {"user From a file"}} {
		s := newState(t)
		s.write("agents/main/sessions/sessions.json", store)
		s.write("agents/main/sessions/j1.jsonl", jsonl("j1", "user From a file"))
		s.write("agents/main/sessions/j2.jsonl", jsonl("j2", "user Another"))
		switch version {
		case 23:
			d := s.agent(version)
			d.node("agent:main:main", "{}", "w1")
			d.events("w1", "user From SQLite")
		case 40:
			s.sqlite(agentFile, "PRAGMA user_version = 40", "CREATE TABLE session_nodes(session_key TEXT, everything BLOB)")
		default:
			s.agent(version)
		}
		h, r := s.read()
		if diff := cmp.Diff(want, s.story(h, mainSession)); diff != "" || len(h.Sessions) != 2 {
			t.Errorf("schema %d: %d sessions, %s", version, len(h.Sessions), diff)
		}
		switch version {
		case 1:
			has(t, r.Also, agentFile, "JSONL")
		case 23:
			has(t, r.Different, "sessions in JSONL files (1)", "the database has them too")
		case 40:
			has(t, r.NeedsYou, agentFile, "schema 40")
		}
	}
}

// Large events are compressed: they are read; a broken one is one broken line, and the rest of the transcript is there. Bounds hold.
// source: openclaw/openclaw src/config/sessions/transcript-payload.ts (252fccdb), pull request 160358
func TestCompressedEvents(t *testing.T) {
	t.Parallel()
	s := newState(t)
	d := s.agent(23)
	d.node("agent:main:main", "{}", "w1")
	long := "assistant " + strings.Repeat("Beans and peas. ", 200)
	all := transcriptOf("w1", "user One", long, "user Two", long, "user Three", long, "user Four")
	damage := map[int]func([]byte, int) ([]byte, int){
		4: func(b []byte, n int) ([]byte, int) { b[len(b)/2] ^= 0xff; return b, n },
		6: func(b []byte, n int) ([]byte, int) { return b, n + 1 },
	}
	for i, e := range all {
		if i != 2 && damage[i] == nil {
			d.exec("INSERT INTO transcript_events(session_id, seq, event_json, created_at) VALUES ('w1', ?, ?, 0)", i, e)
			continue
		}
		frame, size := pack(t, e), len(e)
		if damage[i] != nil {
			frame, size = damage[i](frame, size)
		}
		d.exec("INSERT INTO transcript_events(session_id, seq, created_at, event_zstd, event_utf8_bytes) VALUES ('w1', ?, 0, ?, ?)", i, frame, size)
	}
	h, r := s.read()
	if diff := cmp.Diff([]string{"user One", long, "user Two", "user Three", "user Four"}, s.story(h, mainSession)); diff != "" {
		t.Error(diff)
	}
	has(t, r.Left, "2 lines of its transcript", "cannot be read")

	dec, err := newDecoder(nil, maxFrame)
	if err != nil {
		t.Fatal(err)
	}
	defer dec.Close()
	for name, c := range map[string]struct {
		frame []byte
		size  int64
	}{"bomb": {pack(t, strings.Repeat("x", maxFrame+1)), maxFrame}, "none": {nil, 1}, "no size": {pack(t, "x"), 0}, "too large": {pack(t, "x"), maxFrame + 1}, "no text": {pack(t, "\xff"), 1}, "two": {append(pack(t, "x"), pack(t, "y")...), 1}} {
		if out, err := inflate(dec, c.frame, c.size); err == nil {
			t.Errorf("%s: %d bytes", name, len(out))
		}
	}
}

// Cold transcripts are read from their archives, in a file or in the database; one that is not what was recorded is told, and the other
// windows are there.
// source: openclaw/openclaw src/config/sessions/session-cold-storage-codec.ts (035e27a2), pull request 113071
func TestColdArchives(t *testing.T) {
	t.Parallel()
	for storage, broken := range map[string]func(d sqlite, name string){
		"file": nil, "sqlite": nil, "beside": nil,
		"damaged": func(d sqlite, _ string) {
			d.exec("UPDATE session_transcript_cold_archives SET archive_blob = zeroblob(archive_bytes)")
		},
		"short":   func(d sqlite, _ string) { d.exec("UPDATE session_transcript_cold_archives SET archive_blob = x'00'") },
		"missing": func(d sqlite, _ string) { d.exec("UPDATE session_transcript_cold_archives SET storage = 'file'") },
		"outside": func(d sqlite, _ string) {
			d.exec("UPDATE session_transcript_cold_archives SET storage = 'file', archive_name = '../../../../x'")
		},
		"fewer": func(d sqlite, _ string) {
			d.exec("UPDATE session_transcript_cold_archives SET event_count = event_count + 1")
		},
		"foreign": func(d sqlite, _ string) { d.exec("UPDATE session_transcript_cold_archives SET session_id = 'w2'") },
	} {
		t.Run(storage, func(t *testing.T) {
			t.Parallel()
			s := newState(t)
			d := s.agent(20)
			d.node("agent:main:main", "{}", "w1", "w2")
			if storage != "foreign" {
				d.events("w2", "user Now")
			}
			data, n, sum := packedArchive(t, "w1", "user Long ago", "assistant Yes.")
			name, place, blob := strings.Repeat("a", 64)+".jsonl.zst", "sqlite", data
			if storage == "file" || storage == "beside" {
				place, blob = "file", nil
				s.write(map[string]string{"file": "agents/main/sessions/cold/", "beside": "agents/main/agent/cold/"}[storage]+name, string(data))
			}
			d.exec("INSERT INTO session_transcript_cold_archives VALUES ('w1', 1, ?, ?, ?, 1, ?, ?, ?, ?)", name, sum, n, len(data), n-1, place, blob)
			want := []string{"user Long ago", "assistant Yes.", "user Now"}
			if broken != nil {
				broken(d, name)
				want = []string{"user Now"}
			}
			h, r := s.read()
			got := s.story(h, mainSession)
			switch {
			case storage == "fewer": // the events that are there are better than none
				want = []string{"user Long ago", "assistant Yes.", "user Now"}
			case storage == "foreign":
				want = nil
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			if broken != nil {
				has(t, r.Different, "session agent:main:main", "cold archive")
			}
			if slices.ContainsFunc(r.Also, func(i report.Item) bool { return strings.Contains(i.What, "cold") }) {
				t.Errorf("the archives count as unread: %+v", r.Also)
			}
		})
	}
}

// A leaf event chooses the branch that the person saw; side entries never move it. Without one all events are there.
// source: openclaw/openclaw src/config/sessions/transcript-tree.ts (021887e1)
func TestVisiblePath(t *testing.T) {
	t.Parallel()
	event := func(id, parent, more string) string {
		return fmt.Sprintf(`{"type":"message","id":%q,"parentId":%s,"timestamp":"2026-09-01T00:00:00Z"%s,"message":{"role":"user","content":%q}}`, id, parent, more, id)
	}
	a, b, c := event("a", "null", ""), event("b", `"a"`, ""), event("c", `"b"`, "")
	for name, row := range map[string]struct {
		events []string
		want   string
	}{
		"no leaf":        {[]string{a, b, c, event("d", `"a"`, "")}, "a b c d"},
		"rewind":         {[]string{a, b, c, `{"type":"leaf","id":"l","targetId":"a"}`, event("d", `"a"`, "")}, "a d"},
		"to leaf":        {[]string{a, b, `{"type":"leaf","id":"l","targetId":"a"}`, event("d", `"l"`, "")}, "a d"},
		"unknown target": {[]string{a, b, `{"type":"leaf","id":"l","targetId":"zz"}`, c}, "a b c"},
		"no parent":      {[]string{a, b, `{"type":"leaf","id":"l","targetId":"a"}`, strings.Replace(event("d", "null", ""), `"parentId":null,`, "", 1)}, "a d"},
		"new root":       {[]string{a, b, `{"type":"leaf","id":"l","targetId":"a"}`, event("d", "null", "")}, "d"},
		"side":           {[]string{a, event("s", `"a"`, `,"appendMode":"side"`), `{"type":"leaf","id":"l","targetId":"a"}`, event("t", `"a"`, `,"appendMode":"side"`), b}, "a b"},
		"own parent":     {[]string{a, event("x", `"x"`, ""), `{"type":"leaf","id":"l","targetId":"x"}`}, "a x"},
		"moved through":  {[]string{a, `{"type":"model_change","id":"m","parentId":"a"}`, event("d", `"m"`, ""), `{"type":"leaf","id":"l","targetId":"d"}`}, "a d"},
	} {
		var tr transcript
		tr.key = func(k string) sessions.Key { return "" }
		for _, e := range row.events {
			tr.add([]byte(e), false)
		}
		var got []string
		for _, m := range tr.finish() {
			got = append(got, m.Text())
		}
		if strings.Join(got, " ") != row.want {
			t.Errorf("%s: %q, want %q", name, got, row.want)
		}
	}
}

// Copies of sent answers, texts of extensions and roles that parley does not have are counted, not imported; none is a broken line.
func TestCountedEvents(t *testing.T) {
	t.Parallel()
	s := newState(t)
	d := s.agent(24)
	d.node("agent:main:main", "{}", "w1")
	d.events("w1", "user Hello", "bashExecution ls", "compactionSummary x", "assistant Beans.")
	for i, e := range []string{`{"type":"message","id":"m","message":{"role":"assistant","content":[{"type":"text","text":"Beans."}],"provider":"openclaw","model":"delivery-mirror"}}`,
		`{"type":"message","id":"n","message":{"role":"assistant","content":"Beans.","provider":"openclaw","model":"gateway-injected"}}`,
		`{"type":"custom_message","id":"o","customType":"x","content":"secret","display":false}`, `{"type":"reset","id":"p","reason":"daily"}`, `{"type":"session_info","id":"q","name":"x"}`} {
		d.exec("INSERT INTO transcript_events(session_id, seq, event_json, created_at) VALUES ('w1', ?, ?, 0)", 100+i, e)
	}
	h, r := s.read()
	if diff := cmp.Diff([]string{"user Hello", "assistant Beans."}, s.story(h, mainSession)); diff != "" {
		t.Error(diff)
	}
	has(t, r.Different, "copies of sent answers (2)", "")
	has(t, r.Different, "texts of extensions (1)", "")
	has(t, r.Different, "entries of other roles (2)", "")
	if len(r.Left) > 0 {
		t.Errorf("left: %q", r.Left)
	}
}

// What is in a database and not imported is told: orphaned transcripts, invalid entries, what waited, archives, databases elsewhere. The
// conversation of a window says better who wrote last than the entry; the main key is in the database.
func TestReportOfDatabases(t *testing.T) {
	t.Parallel()
	s := newState(t)
	d := s.agent(24)
	d.exec("INSERT INTO session_key_contract VALUES ('home')")
	d.node("agent:main:home", `{"lastChannel":"telegram","lastTo":"telegram:1"}`, "w1")
	d.node("agent:main:telegram:direct:5", `{"label":`, "w2")
	d.node("agent:main:dashboard:d1", `{}`, "w3")
	d.node("agent:main:home:heartbeat", `{}`, "w4")
	d.exec("UPDATE session_nodes SET entry_valid = -1 WHERE current_session_id = 'w2'")
	for _, w := range []string{"w1", "w2", "w3", "w4", "gone"} {
		d.events(w, "user Hello "+w)
	}
	d.exec("INSERT INTO conversations VALUES ('c1', 'telegram', 'biz', 'direct', '1001', NULL, NULL)")
	d.exec("INSERT INTO session_conversations VALUES ('w1', 'c1', 'primary', 1)")
	d.exec("INSERT INTO session_pending_inputs VALUES ('agent:main:home', '{}', 'queued', 1)")
	d.exec("INSERT INTO session_transcript_archives(session_id, reason) VALUES ('x', 'deleted')")
	shared := s.sqlite("state/openclaw.sqlite", "CREATE TABLE agent_databases(agent_id TEXT, path TEXT, schema_version INTEGER, last_seen_at INTEGER, size_bytes INTEGER)",
		"CREATE TABLE delivery_queue_entries(channel TEXT, target TEXT, status TEXT, entry_json TEXT)", "INSERT INTO delivery_queue_entries VALUES ('telegram', '1', 'pending', '{}')")
	shared.exec("INSERT INTO agent_databases VALUES ('main', ?, 24, 1, 1), ('biz', '/elsewhere/openclaw-agent.sqlite', 24, 1, 1)", filepath.Join(s.dir, agentFile))
	h, r := s.read()
	i := slices.IndexFunc(h.Sessions, func(x Imported) bool { return x.Session.Key == mainSession })
	if i < 0 || h.Sessions[i].Session.Last.String() != "telegram/biz/direct/1001" || len(h.Sessions) != 3 {
		t.Errorf("%+v", h.Sessions)
	}
	if diff := cmp.Diff([]string{"user Hello w2"}, s.story(h, "agent:main:telegram:direct:5")); diff != "" {
		t.Error(diff)
	}
	has(t, r.NeedsYou, "session agent:main:telegram:direct:5", "set to deny")
	has(t, r.Different, "agent:main:dashboard:d1", "parley sessions")
	has(t, r.Left, "sessions (1): agent:main:home:heartbeat", "heartbeat")
	has(t, r.Left, "transcripts without a session (1)", "keep")
	has(t, r.Left, "session_pending_inputs (1)", "waited")
	has(t, r.Left, "session_transcript_archives (1)", "deleted")
	has(t, r.Left, "delivery_queue_entries (1)", "sends nothing")
	has(t, r.NeedsYou, "database of the agent biz: /elsewhere/openclaw-agent.sqlite", "agents/biz/agent")
	if len(r.NeedsYou) != 2 {
		t.Errorf("%q", r.NeedsYou)
	}
}

// A folder without sessions says so.
func TestNoSessions(t *testing.T) {
	t.Parallel()
	s := newState(t)
	s.agent(1)
	_, r := s.read()
	has(t, r.Left, "sessions", "none was found")
	has(t, r.Also, agentFile, "JSONL")
}

// A database that cannot be opened is one line of the report, never 0 sessions in silence; the others are read.
func TestUnreadableDatabase(t *testing.T) {
	t.Parallel()
	s := newState(t)
	s.write("agents/broken/agent/openclaw-agent.sqlite", strings.Repeat("no database ", 1000))
	if err := errors.Join(os.MkdirAll(filepath.Join(s.dir, "agents/linked/agent"), 0o700), os.Symlink("/etc/hostname", filepath.Join(s.dir, "agents/linked/agent/openclaw-agent.sqlite"))); err != nil {
		t.Fatal(err)
	}
	d := s.agent(24)
	d.node("agent:main:main", "{}", "w1")
	d.events("w1", "user Hello")
	h, r := s.read()
	s.story(h, mainSession)
	has(t, r.NeedsYou, "agents/broken/agent/openclaw-agent.sqlite", "cannot be read")
	has(t, r.NeedsYou, "agents/linked/agent/openclaw-agent.sqlite", "cannot be read")
}
