package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/sessions"
	"parley/sessions/sqlstore/engine"
)

// gate stops the writer in its first commit, so that what follows waits and is committed together.
type gate struct {
	mu      sync.Mutex
	commits [][]string
	current []string
	hold    chan struct{}
	held    chan struct{}
	once    sync.Once
	fail    func(op, phase string)
}

func newGate() *gate { return &gate{hold: make(chan struct{}), held: make(chan struct{})} }

func (g *gate) trace(op, phase string) {
	g.once.Do(func() { close(g.held); <-g.hold })
	if g.fail != nil {
		g.fail(op, phase)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case phase == BeforeCommit:
		g.current = append(g.current, op)
	case len(g.current) > 0:
		g.commits, g.current = append(g.commits, g.current), nil
	}
}

// bad is an operation that writes and then fails.
func bad(t *tx) error {
	if _, err := t.Exec("INSERT INTO cursors (account, position) VALUES ('bad', 'x')"); err != nil {
		return err
	}
	return errors.New("bad on purpose")
}

func TestGroupCommit(t *testing.T) {
	t.Parallel()
	g := newGate()
	s := open(t, Config{Dir: t.TempDir(), Trace: g.trace})
	ctx := t.Context()
	var wg sync.WaitGroup
	put := func(name string) {
		wg.Go(func() {
			if err := s.write(ctx, name, func(t *tx) error {
				_, err := t.Exec("INSERT INTO cursors (account, position) VALUES (?, 'x')", name)
				return err
			}); err != nil {
				t.Error(name, err)
			}
		})
	}
	put("first")
	<-g.held
	gaveUp, cancel := context.WithCancel(ctx)
	wg.Go(func() {
		err := s.write(gaveUp, "gave up", func(*tx) error { t.Error("ran though its caller gave up"); return nil })
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
	waitFor(t, s, 1)
	cancel()
	for i := range 10 {
		put(fmt.Sprint("good", i))
	}
	var badErr, softErr error
	wg.Go(func() { badErr = s.write(ctx, "bad", bad) })
	wg.Go(func() { softErr = s.write(ctx, "soft", func(*tx) error { return sessions.ErrConflict }) })
	waitFor(t, s, 13)
	close(g.hold)
	wg.Wait()
	if badErr == nil || !strings.Contains(badErr.Error(), "on purpose") {
		t.Errorf("%v", badErr)
	}
	if !errors.Is(softErr, sessions.ErrConflict) {
		t.Errorf("%v", softErr)
	}
	if err := s.read(ctx, func(c *engine.Conn) error {
		n, err := c.Number(ctx, "SELECT count(*) FROM cursors")
		b, _ := c.Number(ctx, "SELECT count(*) FROM cursors WHERE account = 'bad'")
		if n != 11 || b != 0 {
			t.Errorf("%d rows, %d bad ones", n, b)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

// An operation that fails on reading takes nothing of the others with it. (PostgreSQL takes back a transaction in which a statement
// failed, and its COMMIT says nothing about it.)
func TestFailedRead(t *testing.T) {
	t.Parallel()
	for name, dsn := range map[string]func(testing.TB) string{"sqlite": func(testing.TB) string { return "" }, "postgres": postgresDSN} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGate()
			s := open(t, Config{Dir: t.TempDir(), DSN: dsn(t), Trace: g.trace})
			ctx := t.Context()
			put := func(name string) func() {
				return func() {
					if _, err := s.Submit(ctx, sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: sessions.Key(name)}}}); err != nil {
						t.Error(err)
					}
				}
			}
			var wg sync.WaitGroup
			wg.Go(put("first"))
			<-g.held
			wg.Go(put("before"))
			waitFor(t, s, 1)
			wg.Go(func() {
				if err := s.write(ctx, "read", func(t *tx) error {
					_, err := t.Conn.Number(t.Ctx, "SELECT nonsense FROM nowhere")
					return err
				}); err == nil {
					t.Error("read nonsense")
				}
			})
			waitFor(t, s, 2)
			wg.Go(put("after"))
			waitFor(t, s, 3)
			close(g.hold)
			wg.Wait()
			for _, k := range []sessions.Key{"first", "before", "after"} {
				if _, err := s.Get(ctx, k); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// waitFor waits until n operations are in the writer's queue.
func waitFor(t *testing.T, s *Store, n int) {
	t.Helper()
	for s.db.Waiting() < n {
		select {
		case <-t.Context().Done():
			t.Fatal("the queue does not fill")
		case <-time.After(time.Millisecond):
		}
	}
}

// Operations that wait are committed together.
func TestOneCommitForAll(t *testing.T) {
	t.Parallel()
	g := newGate()
	s := open(t, Config{Dir: t.TempDir(), Trace: g.trace})
	var wg sync.WaitGroup
	submit := func(i int) {
		wg.Go(func() {
			if _, err := s.Submit(t.Context(), sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: sessions.Key(fmt.Sprint("k", i))}}}); err != nil {
				t.Error(err)
			}
		})
	}
	submit(0)
	<-g.held
	for i := range 20 {
		submit(i + 1)
	}
	waitFor(t, s, 20)
	close(g.hold)
	wg.Wait()
	if len(g.commits) != 2 || len(g.commits[1]) != 20 {
		t.Errorf("%d commits: %v", len(g.commits), g.commits)
	}
}

// A hook that fails before the commit leaves nothing behind; after it, the facts are there and repeating is harmless.
func TestTraceFails(t *testing.T) {
	t.Parallel()
	for _, phase := range []string{BeforeCommit, AfterCommit} {
		g := newGate()
		close(g.hold)
		failing := true
		g.fail = func(op, p string) {
			if failing && op == "Submit" && p == phase {
				failing = false
				panic("killed " + phase)
			}
		}
		s := open(t, Config{Dir: t.TempDir(), Trace: g.trace})
		e := sessions.Change{IdempotencyKey: "x", Session: &sessions.Target{Session: sessions.Session{Key: "k"}}, Run: &sessions.Enqueue{Run: sessions.Run{ID: "r", Key: "k", Input: sessions.Message{ID: "m", Role: sessions.User, Content: sessions.TextContent("hi")}}}}
		if _, err := s.Submit(t.Context(), e); err == nil || !strings.Contains(err.Error(), phase) {
			t.Fatal(err)
		}
		acc, err := s.Submit(t.Context(), e)
		if err != nil || acc.Duplicate != (phase == AfterCommit) || acc.Run.ID != "r" {
			t.Fatalf("%s: %+v %v", phase, acc, err)
		}
		if r, ok, err := s.Claim(t.Context(), "k"); err != nil || !ok || r.ID != "r" {
			t.Fatal(r, ok, err)
		}
	}
}
