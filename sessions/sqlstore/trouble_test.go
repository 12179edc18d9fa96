package sqlstore

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"parley/sessions"
	"parley/sessions/sqlstore/engine"
)

// pragma sets something on the connection of a writer that has nothing to do.
func pragma(t *testing.T, s *Store, q string) {
	t.Helper()
	if _, err := s.db.Writer().Exec(t.Context(), "PRAGMA "+q); err != nil {
		t.Fatal(err)
	}
}

func TestTrouble(t *testing.T) {
	t.Parallel()
	var readOnly atomic.Bool
	s := open(t, Config{Dir: t.TempDir(), pragmas: func() string {
		if readOnly.Load() {
			return "&_pragma=query_only(1)"
		}
		return ""
	}})
	ctx := t.Context()
	if err := s.write(ctx, "bad", bad); err == nil {
		t.Fatal("bad is good")
	}
	if err := errors.Join(s.Trouble(), s.Probe(ctx), s.Trouble()); err != nil {
		t.Fatal("an operation's own error is no trouble of the store:", err)
	}
	// As on a read-only file system: nothing can be written, all can be read. A new connection finds the same.
	readOnly.Store(true)
	pragma(t, s, "query_only(1)")
	if err := life(ctx, s, 1, 1, "q", "a"); err == nil {
		t.Fatal("written")
	}
	if err := s.Trouble(); err == nil || !strings.Contains(err.Error(), filepath.Join(s.conf.Dir, DatabaseFile)) || !strings.Contains(err.Error(), "readonly") {
		t.Fatal(err)
	}
	// Reads prove nothing.
	if _, err := s.List(ctx, sessions.Query{}); err != nil || s.Trouble() == nil {
		t.Fatal(err, s.Trouble())
	}
	if err := s.Probe(ctx); err == nil || s.Trouble() == nil {
		t.Fatal(err, s.Trouble())
	}
	readOnly.Store(false)
	if s.Trouble() == nil {
		t.Fatal("over before anything was written")
	}
	if err := s.Probe(ctx); err != nil || s.Trouble() != nil {
		t.Fatal(err, s.Trouble())
	}
	// Every probe writes: SQLite would leave out a value that is there already, and succeed on a full disk.
	if err := s.Probe(ctx); err != nil {
		t.Fatal(err)
	}
	if err := s.read(ctx, func(c *engine.Conn) error {
		n, err := c.Number(ctx, "SELECT value FROM meta WHERE name = 'probed'")
		if n != 3 { // the one that failed left nothing
			t.Errorf("probed %d times", n)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

// A full database: what needs room fails, a commit that works ends the trouble.
func TestTroubleFull(t *testing.T) {
	t.Parallel()
	s := open(t, Config{Dir: t.TempDir()})
	pragma(t, s, "max_page_count(1)") // SQLite makes it the pages that there are
	if err := life(t.Context(), s, 1, 1, strings.Repeat("long ", 10_000), "a"); err == nil {
		t.Fatal("written")
	}
	if err := s.Trouble(); err == nil || !strings.Contains(err.Error(), "full") {
		t.Fatal(err)
	}
	// A commit without a change proves nothing.
	if _, ok, err := s.Claim(t.Context(), "nobody"); err != nil || ok || s.Trouble() == nil {
		t.Fatal(ok, err, s.Trouble())
	}
	pragma(t, s, "max_page_count(1000000)")
	if err := life(t.Context(), s, 1, 2, "short", "a"); err != nil || s.Trouble() != nil {
		t.Fatal(err, s.Trouble())
	}
}

// Probe comes back when its caller has no time left, though the writer is busy.
func TestProbeWaitsNoLongerThanItsCaller(t *testing.T) {
	t.Parallel()
	g := newGate()
	s := open(t, Config{Dir: t.TempDir(), Trace: g.trace})
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-g.held; cancel() }() // the writer has the probe and hangs
	if err := s.Probe(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	close(g.hold)
}

func TestTroublePostgres(t *testing.T) {
	t.Parallel()
	s := open(t, Config{Dir: t.TempDir(), DSN: postgresDSN(t)})
	ctx := t.Context()
	if err := s.write(ctx, "bad", bad); err == nil || s.Trouble() != nil {
		t.Fatal(err, s.Trouble())
	}
	set := func(q string) {
		t.Helper()
		if err := s.write(ctx, "set", func(x *tx) error { _, err := x.Exec(q); x.WaitDurable(); return err }); err != nil {
			t.Fatal(err)
		}
	}
	set("SET default_transaction_read_only = on")
	if err := s.Probe(ctx); err == nil || s.Trouble() == nil {
		t.Fatal(err, s.Trouble())
	}
	set("SET default_transaction_read_only = off")
	if err := s.Probe(ctx); err != nil || s.Trouble() != nil {
		t.Fatal(err, s.Trouble())
	}
	if err := s.write(ctx, "die", func(x *tx) error {
		_, err := x.Number(x.Ctx, "SELECT CASE WHEN pg_terminate_backend(pg_backend_pid()) THEN 1 ELSE 0 END")
		return err
	}); err == nil || s.Trouble() == nil {
		t.Fatal(err, s.Trouble())
	}
	if err := s.Probe(ctx); err != nil || s.Trouble() != nil { // a new connection
		t.Fatal(err, s.Trouble())
	}
}
