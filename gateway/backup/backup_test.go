package backup

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/channels"
	"parley/sessions"
	"parley/sessions/sqlstore"
)

// write makes files below a folder.
func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// state makes a state folder with a store in use, and gives the store.
func state(t *testing.T) (string, *sqlstore.Store) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "state")
	s, err := sqlstore.Open(t.Context(), sqlstore.Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() }) // some tests close it themselves
	accept(t, s, "m1")
	write(t, dir, map[string]string{"token": "secret\n", "outbox/aa": "a file", "media/bb": "a picture", "workspace/main/AGENTS.md": "be kind", "agents/main/sessions/x.jsonl": "{}\n",
		"channels/fake/default/note": "of the adapter", "parley.sock": "", ".backup-old/left": "of a backup that was killed"})
	change(t, filepath.Join(dir, "channels/fake/default/keys.db"), "CREATE TABLE k (a INTEGER PRIMARY KEY, b BLOB NOT NULL); INSERT INTO k VALUES (1, 'key')")
	return dir, s
}

func accept(t *testing.T, s *sqlstore.Store, id channels.MessageID) {
	t.Helper()
	addr := channels.Address{Channel: "fake", Account: "default", Chat: "1", Type: channels.Direct}
	_, err := s.Accept(t.Context(), sessions.Arrival{
		In:     channels.Inbound{Event: channels.Message, Address: addr, ID: id, Text: "hello", Time: time.Now()},
		Change: &sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: "agent:main:main", Agent: "main", Last: addr}}},
	})
	if err != nil {
		t.Fatal(err)
	}
}

func archive(t *testing.T, dir string, s *sqlstore.Store, media bool) ([]byte, Manifest) {
	t.Helper()
	var b bytes.Buffer
	m, err := Write(t.Context(), &b, Source{State: dir, Media: media, Program: "test", Database: s.Backup})
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), m
}

func names(m Manifest) (out []string) {
	for _, f := range m.Files {
		out = append(out, f.Path)
	}
	return out
}

func content(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Error(err)
	}
	return string(b)
}

func TestThereAndBack(t *testing.T) {
	t.Parallel()
	dir, s := state(t)
	b, m := archive(t, dir, s, false)
	want := []string{"state/agents/main/sessions/x.jsonl", "state/channels/fake/default/keys.db", "state/channels/fake/default/note", "state/outbox/aa", "state/parley.db", "state/token", "state/workspace/main/AGENTS.md"}
	if got := names(m); !slices.Equal(got, want) {
		t.Errorf("in the archive: %q\nwant: %q", got, want)
	}
	if left, err := filepath.Glob(filepath.Join(dir, ".backup-*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	accept(t, s, "m2") // after the backup
	o := Options{State: dir, Now: time.Now()}
	if _, err := Restore(t.Context(), bytes.NewReader(b), o); !errors.Is(err, sessions.ErrInUse) {
		t.Fatalf("a restore below a host that runs: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	write(t, dir, map[string]string{"token": "another\n", "workspace/main/new.md": "new"})

	o.DryRun = true
	r, err := Restore(t.Context(), bytes.NewReader(b), o)
	if err != nil {
		t.Fatal(err)
	}
	if r.Aside != "" || content(t, filepath.Join(dir, "token")) != "another\n" {
		t.Error("a dry run changed something")
	}
	o.DryRun = false
	if r, err = Restore(t.Context(), bytes.NewReader(b), o); err != nil {
		t.Fatal(err)
	}
	if content(t, filepath.Join(dir, "token")) != "secret\n" || content(t, filepath.Join(r.Aside, "token")) != "another\n" {
		t.Error("the token is not that of the backup, or the old one is not aside")
	}
	if _, err := os.Stat(filepath.Join(dir, "workspace/main/new.md")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a newer file of the state before stays: %v", err)
	}
	if content(t, filepath.Join(dir, "media/bb")) != "a picture" || !slices.Contains(r.Kept, "media") {
		t.Error("media that are in no backup did not stay")
	}
	if r.Aside != dir+"."+filepath.Base(r.Aside)[len("state."):] || r.Before == nil || r.Backup == nil {
		t.Errorf("the report: %+v", r)
	}
	seen := reopened(t, dir)
	if seen["m2"] || !seen["m1"] {
		t.Errorf("the messages after the restore: %v", seen)
	}
}

// reopened opens the store and gives which messages it knows as duplicates.
func reopened(t *testing.T, dir string) map[string]bool {
	t.Helper()
	s, err := sqlstore.Open(t.Context(), sqlstore.Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	out := map[string]bool{}
	for _, id := range []string{"m1", "m2"} {
		ts, err := s.Trace(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		out[id] = len(ts) > 0
	}
	return out
}

func TestMediaOnDemand(t *testing.T) {
	t.Parallel()
	dir, s := state(t)
	b, m := archive(t, dir, s, true)
	if !slices.Contains(names(m), "state/media/bb") || !m.Media {
		t.Fatalf("no media in %q", names(m))
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	write(t, dir, map[string]string{"media/cc": "newer"})
	if _, err := Restore(t.Context(), bytes.NewReader(b), Options{State: dir, Now: time.Now()}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "media/cc")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the media are not those of the backup: %v", err)
	}
}

// TestOutboxMeanwhile: a file whose delivery waits in the copied database is in the archive, also when it was sent and removed while
// the archive was made; and so is one that came with a delivery just before the copy.
func TestOutboxMeanwhile(t *testing.T) {
	t.Parallel()
	dir, s := state(t)
	var b bytes.Buffer
	m, err := Write(t.Context(), &b, Source{State: dir, Database: func(ctx context.Context, to string) error {
		write(t, dir, map[string]string{"outbox/cc": "new"})
		return errors.Join(s.Backup(ctx, to), os.Remove(filepath.Join(dir, "outbox/aa")))
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"state/outbox/aa", "state/outbox/cc"} {
		if !slices.Contains(names(m), want) {
			t.Errorf("%s is missing in %q", want, names(m))
		}
	}
	if _, err := Check(t.Context(), &b); err != nil {
		t.Error(err)
	}
}

// TestInterruptedRestore: a restore that died while it changed the folder is finished by the next one; no host starts between.
func TestInterruptedRestore(t *testing.T) {
	t.Parallel()
	dir, s := state(t)
	b, _ := archive(t, dir, s, false)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	write(t, dir, map[string]string{sqlstore.UnfinishedFile: "elsewhere\n", ".restore-1/state/token": "half"})
	if err := os.Remove(filepath.Join(dir, sqlstore.DatabaseFile)); err != nil {
		t.Fatal(err)
	}
	if _, err := sqlstore.Open(t.Context(), sqlstore.Config{Dir: dir}); !errors.Is(err, sessions.ErrDamaged) {
		t.Errorf("a host starts on it: %v", err)
	}
	if _, err := Restore(t.Context(), bytes.NewReader(b), Options{State: dir, Now: time.Now()}); err != nil {
		t.Fatal(err)
	}
	if !reopened(t, dir)["m1"] {
		t.Error("the backup is not in place")
	}
}

// TestServerStore: the database of a server is in no archive, and the two kinds are not mixed up.
func TestServerStore(t *testing.T) {
	t.Parallel()
	dir, s := state(t)
	b, _ := archive(t, dir, s, false)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	var p bytes.Buffer
	m, err := Write(context.Background(), &p, Source{State: dir})
	if err != nil {
		t.Fatal(err)
	}
	if slices.Contains(names(m), "state/parley.db") || m.Store != "postgresql" {
		t.Errorf("the files of a host with a server: %q", names(m))
	}
	if _, err := Restore(t.Context(), &p, Options{State: dir, Now: time.Now()}); err == nil || !strings.Contains(err.Error(), "pg_restore") {
		t.Errorf("files without a database over a SQLite state: %v", err)
	}
	if _, err := Restore(t.Context(), bytes.NewReader(b), Options{State: dir, Server: true, Now: time.Now()}); err == nil || !strings.Contains(err.Error(), "store.dsn") {
		t.Errorf("a SQLite backup below a server: %v", err)
	}
}

func FuzzCheck(f *testing.F) {
	f.Add([]byte("hello"))
	f.Add(make([]byte, 1024))
	var tarred bytes.Buffer
	w := tar.NewWriter(&tarred)
	for _, name := range []string{"state/x", "state/../y", manifestName} {
		_ = w.WriteHeader(&tar.Header{Name: name, Mode: 0o600}) // into memory
	}
	f.Add(tarred.Bytes())
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, err := Check(t.Context(), bytes.NewReader(squeezed(t, b))); err == nil {
			return
		}
		dir := t.TempDir()
		if _, err := unpack(t.Context(), bytes.NewReader(squeezed(t, b)), dir, &bounds{}); err == nil {
			t.Error("unpacked what Check refuses")
		}
	})
}
