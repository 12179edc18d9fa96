package sqlstore

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"parley/sessions"
	"parley/sessions/sqlstore/engine"
)

const killSelf = "SELECT CASE WHEN pg_terminate_backend(pg_backend_pid()) THEN 1 ELSE 0 END"

// Connections that a failover ends are replaced: no reader notices, whatever had been read before, and a write that was not
// committed is made once.
//
// source: PostgreSQL documentation, appendix A (57P01 admin_shutdown), and 26.3 "Failover"
func TestFaultPostgresConnectionsLost(t *testing.T) {
	t.Parallel()
	s := open(t, Config{Dir: t.TempDir(), DSN: postgresDSN(t)})
	ctx := t.Context()
	if err := life(ctx, s, 1, 1, "q", "a"); err != nil {
		t.Fatal(err)
	}
	list, err := s.List(ctx, sessions.Query{})
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	var opened, ended sync.WaitGroup // every connection for reading is open, and is ended
	opened.Add(4)
	for range 4 {
		ended.Go(func() {
			once := sync.OnceFunc(func() { opened.Done(); opened.Wait() })
			first := true
			if err := s.read(ctx, func(c *engine.Conn) error {
				once()
				if !first {
					return nil
				}
				first = false
				_, err := c.Number(ctx, killSelf)
				return err
			}); err != nil {
				t.Error("a read that its connection was lost at:", err)
			}
		})
	}
	ended.Wait()
	if got, err := s.Get(ctx, list[0].Key); err != nil || got.Key != list[0].Key {
		t.Error(got, err)
	}
	calls := 0
	if err := s.write(ctx, "add", func(x *tx) error {
		if _, err := x.Exec("INSERT INTO meta (name, value) VALUES ('times', 1) ON CONFLICT (name) DO UPDATE SET value = meta.value + 1"); err != nil {
			return err
		}
		if calls++; calls == 1 {
			_, err := x.Number(x.Ctx, killSelf)
			return err
		}
		return nil
	}); err != nil {
		t.Error("a write that its connection was lost at, before its commit:", err)
	}
	if n, err := engine.ReadNumber(ctx, s.db, "SELECT value FROM meta WHERE name = 'times'"); n != 1 || err != nil {
		t.Error("written", n, "times:", err)
	}
}

// A database that is away is waited for: some seconds, and by who says so until the context ends. What a repeat does not change is not repeated.
func TestFaultReadsWait(t *testing.T) {
	busy := lockedError(t)
	synctest.Test(t, func(t *testing.T) {
		s := open(t, Config{Dir: t.TempDir()})
		defer func() { _ = s.Close() }()
		code := func(c string) error { return &pgconn.PgError{Code: c} }
		for _, c := range []struct {
			name   string
			err    error
			away   time.Duration
			within time.Duration // for which a turn waits; 0 = an ordinary read
			want   bool
		}{
			{"shut down", code("57P01"), 5 * time.Second, 0, true},
			{"starting up", code("57P03"), 8 * time.Second, 0, true},
			{"too many connections", code("53300"), time.Second, 0, true},
			{"connection failure", code("08006"), time.Second, 0, true},
			{"a standby's replay", code("40001"), time.Second, 0, true},
			{"locked by another program", busy, 5 * time.Second, 0, true},
			{"away for long", code("57P03"), 2 * time.Minute, 0, false},
			{"away for long, in a turn", code("57P03"), 2 * time.Minute, 10 * time.Minute, true},
			{"locked for long, in a turn", busy, 2 * time.Minute, 10 * time.Minute, true},
			{"away for longer than the turn", code("57P03"), 2 * time.Minute, time.Minute, false},
			{"cancelled", code("57014"), time.Millisecond, 10 * time.Minute, false},
			{"password", code("28P01"), time.Millisecond, 10 * time.Minute, false},
			{"no such column", code("42703"), time.Millisecond, 10 * time.Minute, false},
			{"not found", sessions.ErrNotFound, time.Millisecond, 10 * time.Minute, false},
		} {
			ctx, cancel := t.Context(), context.CancelFunc(func() {})
			if c.within > 0 {
				ctx, cancel = context.WithTimeout(sessions.WaitForStore(ctx), c.within)
			}
			began := time.Now()
			err := s.read(ctx, func(*engine.Conn) error {
				if time.Since(began) < c.away {
					return c.err
				}
				return nil
			})
			cancel()
			if (err == nil) != c.want || !c.want && !errors.Is(err, c.err) {
				t.Errorf("%s: %v after %s", c.name, err, time.Since(began))
			}
		}
	})
}

// lockedError is what SQLite says of a database that another program has locked.
func lockedError(t *testing.T) error {
	t.Helper()
	file := "file:" + filepath.Join(t.TempDir(), "x.db")
	a, err := engine.SQLite.Connect(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	statements(t, a, "CREATE TABLE x (n)", "BEGIN EXCLUSIVE")
	b, err := engine.SQLite.Connect(t.Context(), file+"?_pragma=busy_timeout(0)")
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if _, err = b.Number(t.Context(), "SELECT count(*) FROM x"); !engine.Locked(err) {
		t.Fatal(err)
	}
	return err
}
