package sqlstore

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/sessions"
	"parley/sessions/sqlstore/engine"
	"parley/sessions/sqlstore/schema"
)

// filled gives a store with some content, closed.
func filled(t *testing.T, messages int) (dir string) {
	t.Helper()
	dir = t.TempDir()
	s := open(t, Config{Dir: dir})
	for i := range messages {
		if err := life(t.Context(), s, i%7, i, someQuestion, someAnswer); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestDamage(t *testing.T) {
	t.Parallel()
	for name, harm := range map[string]func(b []byte) []byte{
		"cut in half":        func(b []byte) []byte { return b[:len(b)/2] },
		"cut in a page":      func(b []byte) []byte { return b[:len(b)-100] },
		"cut in its header":  func(b []byte) []byte { return b[:50] },
		"garbage header":     func(b []byte) []byte { copy(b, "this is no database at all"); return b },
		"another file":       func([]byte) []byte { return []byte(strings.Repeat("hello\n", 5000)) },
		"impossible page":    func(b []byte) []byte { b[16], b[17] = 3, 7; return b },
		"schema overwritten": func(b []byte) []byte { copy(b[100:], strings.Repeat("\xff", 200)); return b },
		"middle overwritten": func(b []byte) []byte {
			for at := 8 * 4096; at < len(b); at += 4096 { // the header of each page
				copy(b[at:], "\xde\xad\xbe\xef\xde\xad\xbe\xef\xde\xad\xbe\xef")
			}
			return b
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filled(t, 40)
			file := filepath.Join(dir, "parley.db")
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, harm(b), 0o600); err != nil {
				t.Fatal(err)
			}
			s, err := Open(t.Context(), Config{Dir: dir, CheckBudget: time.Minute})
			if err == nil {
				_ = s.Close()
			}
			if !errors.Is(err, sessions.ErrDamaged) || !strings.Contains(err.Error(), file) || !strings.Contains(err.Error(), "backup") {
				t.Fatalf("%v", err)
			}
			// The folder is free again.
			if _, err := ReadOwner(dir); !errors.Is(err, sessions.ErrNotFound) {
				t.Error(err)
			}
		})
	}
}

func TestDamageFoundLater(t *testing.T) {
	t.Parallel()
	dir := filled(t, 40)
	file := filepath.Join(dir, "parley.db")
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for at := 30 * 4096; at < len(b); at += 4096 {
		copy(b[at:], "\xde\xad\xbe\xef\xde\xad\xbe\xef\xde\xad\xbe\xef")
	}
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), Config{Dir: dir, CheckBudget: 1})
	if errors.Is(err, sessions.ErrDamaged) {
		return // the check was quicker, or opening met the damage
	}
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := <-s.Damaged(); !errors.Is(err, sessions.ErrDamaged) {
		t.Error(err)
	}
}

func TestNewerSchema(t *testing.T) {
	t.Parallel()
	dir := filled(t, 1)
	c, err := engine.SQLite.Connect(t.Context(), "file:"+filepath.Join(dir, "parley.db"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Exec(t.Context(), "INSERT INTO goose_db_version (version_id, is_applied) VALUES (999, 1)"); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = Open(t.Context(), Config{Dir: dir})
	if err == nil || !strings.Contains(err.Error(), "999") || !strings.Contains(err.Error(), "newer") {
		t.Fatal(err)
	}
}

// Both engines have the same migrations.
func TestMigrationsMatch(t *testing.T) {
	t.Parallel()
	a, err := schema.Migrations.ReadDir("migrations/sqlite")
	if err != nil {
		t.Fatal(err)
	}
	b, err := schema.Migrations.ReadDir("migrations/postgres")
	if err != nil {
		t.Fatal(err)
	}
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || a[i].Name() != b[i].Name() {
			t.Fatalf("the folders differ: %v, %v", a, b)
		}
	}
}

const ownerChild = "PARLEY_TEST_OWNER_DIR"

// A second process is told who has the state folder.
//
// proves: D7
func TestOwner(t *testing.T) {
	if dir := os.Getenv(ownerChild); dir != "" { // the second process
		_, err := Open(t.Context(), Config{Dir: dir})
		if !errors.Is(err, sessions.ErrInUse) {
			t.Fatalf("not refused: %v", err)
		}
		_, err = os.Stdout.WriteString("REFUSED " + err.Error() + "\n")
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Parallel()
	dir := t.TempDir()
	if _, err := ReadOwner(dir); !errors.Is(err, sessions.ErrNotFound) {
		t.Error(err)
	}
	s := open(t, Config{Dir: dir})
	if o, err := ReadOwner(dir); err != nil || o.PID != os.Getpid() || o.Address != "" {
		t.Errorf("%+v %v", o, err)
	}
	if err := s.Describe("127.0.0.1:18790", "parley.sock"); err != nil {
		t.Fatal(err)
	}
	o, err := ReadOwner(dir)
	if err != nil || o.PID != os.Getpid() || o.Address != "127.0.0.1:18790" || o.Socket != "parley.sock" || o.Host == "" || o.Started.IsZero() {
		t.Fatalf("%+v %v", o, err)
	}
	// In the same process.
	_, err = Open(t.Context(), Config{Dir: dir})
	if !errors.Is(err, sessions.ErrInUse) || !strings.Contains(err.Error(), fmt.Sprint("process ", os.Getpid())) || !strings.Contains(err.Error(), o.Started.Format(time.DateTime)) {
		t.Fatal(err)
	}
	// In another one.
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestOwner$", "-test.v")
	cmd.Env = append(os.Environ(), ownerChild+"="+dir)
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "REFUSED") || !strings.Contains(string(out), fmt.Sprint("process ", os.Getpid())) {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadOwner(dir); !errors.Is(err, sessions.ErrNotFound) {
		t.Error(err)
	}
	open(t, Config{Dir: dir})
}

// What a second process waits for before it refuses is somebody who only looks, and less than half a second of its own, however slow the machine.
//
// proves: D7
func TestFaultSecondIsRefusedSoon(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		first, err := engine.Own(dir)
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		_, err = Open(t.Context(), Config{Dir: dir})
		if took := time.Since(began); !errors.Is(err, sessions.ErrInUse) || took >= time.Second/2 {
			t.Errorf("after %s: %v", took, err)
		} else {
			t.Logf("a second process waits %s of its own and is refused", took)
		}
		if err := first.Release(); err != nil {
			t.Error(err)
		}
	})
}

func TestOwnerPostgres(t *testing.T) {
	t.Parallel()
	dsn := postgresDSN(t)
	s := open(t, Config{Dir: t.TempDir(), DSN: dsn})
	_, err := Open(t.Context(), Config{Dir: t.TempDir(), DSN: dsn})
	if !errors.Is(err, sessions.ErrInUse) || !strings.Contains(err.Error(), fmt.Sprint("pid ", os.Getpid())) {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	open(t, Config{Dir: t.TempDir(), DSN: dsn})
}

// The server lets go of a lock a moment after the connection that had it has ended: who comes then waits for that.
func TestOwnerPostgresIsGone(t *testing.T) {
	t.Parallel()
	dsn := postgresDSN(t)
	s := open(t, Config{Dir: t.TempDir(), DSN: dsn})
	time.AfterFunc(100*time.Millisecond, func() { _ = s.Close() }) // the second one cannot be opened otherwise
	next, err := Open(t.Context(), Config{Dir: t.TempDir(), DSN: dsn})
	if err != nil {
		t.Fatal(err)
	}
	if err := next.Close(); err != nil {
		t.Error(err)
	}
}

// A connection that breaks is replaced, and the lock taken again.
func TestPostgresReconnect(t *testing.T) {
	t.Parallel()
	dsn := postgresDSN(t)
	s := open(t, Config{Dir: t.TempDir(), DSN: dsn})
	ctx := t.Context()
	if err := life(ctx, s, 1, 1, "q", "a"); err != nil {
		t.Fatal(err)
	}
	pid, err := s.db.Writer().Number(ctx, "SELECT pg_backend_pid()")
	if err != nil {
		t.Fatal(err)
	}
	c, err := engine.Postgres.Connect(ctx, dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Number(ctx, "SELECT CASE WHEN pg_terminate_backend(?::int) THEN 1 ELSE 0 END", fmt.Sprint(pid)); err != nil {
		t.Fatal(err)
	}
	for try := 0; ; try++ {
		err := life(ctx, s, 2, 2+try, "q", "a")
		if err == nil {
			break
		}
		if try == 20 {
			t.Fatal(err)
		}
	}
	if _, err := Open(ctx, Config{Dir: t.TempDir(), DSN: dsn}); !errors.Is(err, sessions.ErrInUse) {
		t.Fatal("the lock was lost:", err)
	}
}

// A run that was interrupted is the oldest of its session, so no other is running beside it. If one were, it would keep its own turn:
// its steps are in the transcript.
func TestAbsorbLeavesInterrupted(t *testing.T) {
	t.Parallel()
	s := open(t, Config{Dir: t.TempDir()})
	ctx := t.Context()
	for _, id := range []sessions.RunID{"one", "two"} {
		if _, err := s.Submit(ctx, sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: "k"}}, Run: &sessions.Enqueue{Run: sessions.Run{ID: id, Kind: sessions.TurnRun, Key: "k", Input: sessions.Message{ID: string(id), Role: sessions.User}}}}); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := s.Claim(ctx, "k"); err != nil {
		t.Fatal(err)
	}
	attempt := func(n int) {
		if err := s.write(ctx, "test", func(t *tx) error { _, err := t.Exec("UPDATE runs SET attempt = ? WHERE id = 'two'", n); return err }); err != nil {
			t.Fatal(err)
		}
	}
	attempt(1)
	if got, err := s.MergeQueued(ctx, "one", sessions.MergeQuery{Kind: sessions.TurnRun}); err != nil || len(got) != 0 {
		t.Error(got, err)
	}
	attempt(0)
	if got, err := s.MergeQueued(ctx, "one", sessions.MergeQuery{Kind: sessions.TurnRun}); err != nil || len(got) != 1 {
		t.Error(got, err)
	}
}

// What was committed and not indexed when the process died is found after the next start.
func TestIndexCatchesUp(t *testing.T) {
	t.Parallel()
	dir := filled(t, 3)
	c, err := engine.SQLite.Connect(t.Context(), "file:"+filepath.Join(dir, "parley.db"))
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range []string{"DELETE FROM words WHERE rowid > 2", "UPDATE meta SET value = 2 WHERE name = 'indexed'"} {
		if _, err := c.Exec(t.Context(), q); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(c.Close(), os.Remove(filepath.Join(dir, CommitsFile))); err != nil { // it is not as it was closed
		t.Fatal(err)
	}
	s := open(t, Config{Dir: dir})
	hits, err := s.Search(t.Context(), sessions.SearchQuery{Text: "Hamburg"})
	if err != nil || len(hits) != 6 {
		t.Fatal(len(hits), err)
	}
}

// The messages of a deleted session are gone for good, from the table and from the index.
func TestSweep(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	swept := make(chan struct{}, 1000)
	s := open(t, Config{Dir: dir, Trace: func(op, phase string) {
		if op == "Sweep" && phase == AfterCommit {
			swept <- struct{}{}
		}
	}})
	for i := range 250 {
		if err := life(t.Context(), s, 1, i, "secret", "secret"); err != nil {
			t.Fatal(err)
		}
	}
	key, _ := chat(1)
	if err := s.Delete(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	for range 4 { // 200, 200, 100 and its transcript, nothing left
		<-swept
	}
	for _, q := range []string{"SELECT count(*) FROM messages", "SELECT count(*) FROM transcripts", "SELECT count(*) FROM words WHERE words MATCH 'secret'"} {
		if err := s.read(t.Context(), func(c *engine.Conn) error {
			n, err := c.Number(t.Context(), q)
			if n != 0 {
				t.Errorf("%s: %d", q, n)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
}
