package sqlstore

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"parley/sessions/sqlstore/engine"
)

// TestReaders: reads that come one after the other are made on one connection, those that come together each on its own, as many as there
// may be; what comes beyond waits, and may give up.
func TestReaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, Config{Dir: t.TempDir(), Readers: 2})
		defer func() { _ = s.Close() }()
		var last *engine.Conn
		idle := func() int {
			return idleReaders(s)
		}
		one := func(ctx context.Context) error {
			return s.read(ctx, func(c *engine.Conn) error { last = c; return nil })
		}
		for range 5 {
			was := last
			if err := one(t.Context()); err != nil || was != nil && last != was || idle() != 1 {
				t.Fatalf("another connection: %v, %d open", err, idle())
			}
		}
		hold := make(chan struct{})
		for range 2 {
			go func() { _ = s.read(t.Context(), func(*engine.Conn) error { <-hold; return nil }) }()
		}
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- one(ctx) }()
		synctest.Wait()
		if len(ended) > 0 || idle() != 0 {
			t.Error("more read than may")
		}
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		close(hold)
		synctest.Wait()
		if idle() != 2 {
			t.Errorf("%d open", idle())
		}
		if err := errors.Join(s.Close(), one(t.Context())); !errors.Is(err, engine.ErrClosed) {
			t.Error(err)
		}
	})
}

// TestReadersOfAServer: a connection that was idle for minutes may have been ended by the server: it is not used again. Whoever reads notices nothing.
func TestReadersOfAServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, Config{Dir: t.TempDir(), Readers: 2, readerIdle: time.Minute})
		defer func() { _ = s.Close() }()
		var last *engine.Conn
		one := func() {
			t.Helper()
			if err := s.read(t.Context(), func(c *engine.Conn) error { last = c; return nil }); err != nil {
				t.Fatal(err)
			}
		}
		one()
		first := last
		<-time.After(50 * time.Second)
		if one(); last != first {
			t.Error("another one before its time")
		}
		<-time.After(61 * time.Second)
		if one(); last == first || idleReaders(s) != 1 {
			t.Errorf("the same one again, or %d open", idleReaders(s))
		}
	})
}

// idleReaders counts the connections for reading that are open and not in use.
func idleReaders(s *Store) (n int) {
	s.db.EachIdleReader(func(*engine.Conn) { n++ })
	return n
}
