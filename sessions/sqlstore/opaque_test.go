package sqlstore

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pressly/goose/v3"

	"parley/sessions"
)

// sealedAnswer has readable thinking, thinking that only the provider reads, and a text, as providers of today and earlier versions keep them.
func sealedAnswer(id string) sessions.Message {
	return sessions.Message{ID: id, Role: sessions.Assistant, Time: time.Now(), Content: []sessions.Block{
		{Type: sessions.ThinkingBlock, Text: "I should look", Signature: new("secret-signature"), Opaque: &sessions.Opaque{From: "secret-from", Data: json.RawMessage(`"secret-data"`)}},
		{Type: sessions.ThinkingBlock, Data: "secret-redacted"},
		{Type: sessions.TextBlock, Text: `an answer about "type":"thinking" and "signature":`, Opaque: &sessions.Opaque{From: "secret-from"}},
	}}
}

// The file of a transcript has the thinking that can be read and nothing else of what providers want back: as it is written, when it is
// completed and when it is rebuilt. A copy of the database has all of it.
func TestOpaqueInFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, Config{Dir: dir})
	ctx := t.Context()
	key, _ := chat(1)
	run := &sessions.Run{ID: "r", Kind: sessions.TurnRun, Key: key, Agent: "main", Input: sessions.Message{ID: "q", Role: sessions.User, Content: sessions.TextContent("question")}}
	acc, err := s.Submit(ctx, sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: key, Agent: "main"}}, Run: &sessions.Enqueue{Run: *run, Claim: true}})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Record(ctx, "r", sealedAnswer("a")); err != nil {
		t.Fatal(err)
	}
	s.FlushTranscriptFiles()
	path := s.TranscriptPath("main", acc.Session.ID)
	clean := func(when string) {
		t.Helper()
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		lines := readMirror(t, path)
		if strings.Contains(string(b), "secret") || shape(lines) != "s u a" || len(lines[2].Content) != 2 || lines[2].Content[0].Text != "I should look" || lines[2].Content[1].Text != sealedAnswer("").Text() {
			t.Errorf("%s:\n%s", when, b)
		}
	}
	clean("written")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := s.RebuildTranscriptFile(ctx, acc.Session.ID); err != nil {
		t.Fatal(err)
	}
	clean("rebuilt")

	to := t.TempDir()
	if err := s.Backup(ctx, filepath.Join(to, DatabaseFile)); err != nil {
		t.Fatal(err)
	}
	restored := open(t, Config{Dir: to})
	msgs, err := restored.Tail(ctx, acc.Session.ID, sessions.TailQuery{Opaque: true, Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	if o := msgs[0].Content[0].Opaque; o == nil || o.From != "secret-from" || string(o.Data) != `"secret-data"` || msgs[0].Content[0].OldSignature() != "secret-signature" {
		t.Errorf("the copy has %+v", msgs[0].Content)
	}
}

// A database of an earlier version has signatures and encrypted reasoning in its messages: after the upgrade prompts get them, and a rebuilt
// file has none.
func TestOpaqueAfterUpgrade(t *testing.T) {
	t.Parallel()
	was := sealedAnswer("a")
	body, err := json.Marshal(was)
	if err != nil || bytes.ContainsRune(body, '\'') {
		t.Fatal(err)
	}
	dir := t.TempDir()
	atVersion(t, goose.DialectSQLite3, "sqlite", "file:"+filepath.Join(dir, DatabaseFile), "sqlite", 7, append(family(t),
		"INSERT INTO messages (seq, id, transcript, run, role, body) VALUES (2, 'a', 1, 0, 'assistant', '"+string(body)+"')"))
	s := open(t, Config{Dir: dir})
	for _, c := range []struct {
		opaque bool
		want   string
	}{{true, "secret-signature secret-redacted"}, {false, ""}} {
		msgs, err := s.Tail(t.Context(), "id-chat", sessions.TailQuery{Opaque: c.opaque, Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, b := range msgs[0].Content {
			got = append(got, b.OldSignature()+b.Data)
		}
		if strings.TrimSpace(strings.Join(got, " ")) != c.want || msgs[0].Text() != was.Text() {
			t.Errorf("with opaque %v: %q", c.opaque, got)
		}
	}
	if err := s.RebuildTranscriptFile(t.Context(), "id-chat"); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(s.TranscriptPath("main", "id-chat"))
	if err != nil || strings.Contains(string(b), "secret") || !strings.Contains(string(b), "I should look") {
		t.Errorf("%s, %v", b, err)
	}
}

// What is not kept is named in the log once for each run, without its bytes.
func TestOpaqueDroppedIsLogged(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	s := open(t, Config{Dir: t.TempDir(), Logger: slog.New(slog.NewTextHandler(&out, nil))})
	key, _ := chat(1)
	large := func(id string) sessions.Message {
		m := sealedAnswer(id)
		m.Content[0].Opaque.Data = json.RawMessage(`"` + strings.Repeat("secret-", sessions.MaxOpaque/6) + `"`)
		return m
	}
	for _, id := range []sessions.RunID{"first", "second"} {
		run := &sessions.Run{ID: id, Kind: sessions.TurnRun, Key: key, Agent: "main", Input: sessions.Message{ID: "q" + string(id), Role: sessions.User, Content: sessions.TextContent("q")}}
		if _, err := s.Submit(t.Context(), sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: key, Agent: "main"}}, Run: &sessions.Enqueue{Run: *run, Claim: true}}); err != nil {
			t.Fatal(err)
		}
		if err := s.Record(t.Context(), id, large("1"+string(id)), large("2"+string(id))); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Finish(t.Context(), id, sessions.Outcome{Status: sessions.Done, Messages: []sessions.Message{large("3" + string(id))}}); err != nil {
			t.Fatal(err)
		}
	}
	log := out.String()
	if strings.Count(log, "run=first") != 1 || strings.Count(log, "run=second") != 1 || !strings.Contains(log, "level=INFO") || strings.Contains(log, "secret") {
		t.Errorf("%s", log)
	}
}
