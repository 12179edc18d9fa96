package sqlstore

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"parley/sessions"
	"parley/sessions/sqlstore/disktest"
	"parley/sessions/sqlstore/engine"
)

// cutProxy stands before PostgreSQL and breaks the connection at a COMMIT when it is armed.
type cutProxy struct {
	opened chan struct{} // a connection was opened
	server string
	mu     sync.Mutex
	armed  string
	refuse bool           // new connections
	asked  atomic.Int64   // round trips
	late   sync.WaitGroup // of COMMITs that arrive after their connection was lost, and of the test
}

// startCutProxy gives the proxy and the data source that leads through it.
func startCutProxy(t *testing.T, dsn string) (*cutProxy, string) {
	t.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &cutProxy{server: u.Host, opened: make(chan struct{}, 1)}
	p.late.Add(1)
	u.Host = l.Addr().String()
	var open sync.WaitGroup
	t.Cleanup(func() {
		_ = l.Close() // it was only listened on
		open.Wait()
	})
	open.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			open.Go(func() { p.serve(c.(*net.TCPConn)) })
		}
	})
	return p, u.String()
}

func (p *cutProxy) arm(how string) { p.mu.Lock(); p.armed = how; p.mu.Unlock() }

func (p *cutProxy) take() (how string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	how, p.armed = p.armed, ""
	if how == "away" {
		p.refuse = true
	}
	return how
}

// back ends what arm("away") began.
func (p *cutProxy) back() { p.mu.Lock(); p.refuse = false; p.mu.Unlock() }

func (p *cutProxy) serve(c *net.TCPConn) {
	defer c.Close()
	p.mu.Lock()
	refuse := p.refuse
	p.mu.Unlock()
	if refuse {
		return
	}
	to, err := net.Dial("tcp", p.server)
	if err != nil {
		return
	}
	s := to.(*net.TCPConn)
	select {
	case p.opened <- struct{}{}:
	default:
	}
	var mu sync.Mutex
	mute, heard := false, make(chan struct{}, 1) // heard: the server said something that is not passed on, or is gone
	var answers sync.WaitGroup
	answers.Go(func() {
		b := make([]byte, 1<<16)
		for {
			n, err := s.Read(b)
			mu.Lock()
			if n > 0 && !mute {
				_, _ = c.Write(b[:n]) // who reads notices
			}
			if mute || err != nil {
				select {
				case heard <- struct{}{}:
				default:
				}
			}
			mu.Unlock()
			if err != nil {
				_ = c.Close()
				return
			}
		}
	})
	silence := func() { mu.Lock(); mute = true; mu.Unlock() }
	end := func() { _ = s.Close(); answers.Wait() }
	b := make([]byte, 1<<16)
	for {
		n, err := c.Read(b)
		if err != nil {
			end()
			return
		}
		m := b[:n]
		p.asked.Add(1)
		how := ""
		if bytes.Contains(m, []byte("COMMIT\x00")) {
			how = p.take()
		}
		switch how {
		case "":
			_, _ = s.Write(m) // the answers end with it
			continue
		case "before": // the server never sees it
		case "half": // it sees a part of the message
			_, _ = s.Write(m[:len(m)-3])
		case "after", "away": // it commits, and nobody hears of it
			silence()
			_, _ = s.Write(m)
			<-heard
		case "reset": // cut in both directions at once
			silence()
			_, _ = s.Write(m)
			_, _ = c.SetLinger(0), s.SetLinger(0)
		case "ghost": // it arrives when the client is on another connection already
			silence()
			late := bytes.Clone(m)
			select {
			case <-p.opened: // by this connection
			default:
			}
			p.late.Go(func() {
				<-p.opened
				_, _ = s.Write(late)
				<-heard
				end()
			})
			return
		}
		end()
		return
	}
}

// A connection that breaks around COMMIT makes nothing twice and loses nothing, whether one caller waits or many.
//
// source: cockroachdb/cockroach#35170
func TestCommitCutPostgres(t *testing.T) {
	t.Parallel()
	for _, callers := range []int{1, 8} {
		dsn := postgresDSN(t)
		p, through := startCutProxy(t, dsn)
		s := open(t, Config{Dir: t.TempDir(), DSN: through})
		hows := []string{"before", "after", "half", "reset", "ghost"}
		var mu sync.Mutex
		done, failed := int64(0), 0
		for i := range times(60, 120) / callers {
			p.arm(hows[i%len(hows)])
			var wg sync.WaitGroup
			for range callers {
				wg.Go(func() {
					err := s.Probe(t.Context())
					mu.Lock()
					defer mu.Unlock()
					if err == nil {
						done++
					} else {
						failed++
					}
				})
			}
			wg.Wait()
		}
		p.late.Done()
		p.late.Wait()
		if err := s.Probe(t.Context()); err != nil {
			t.Fatal(err)
		}
		done++
		if n := probed(t, dsn); n != done || failed > 0 {
			t.Errorf("%d callers: %d done, %d failed; in the database: %d", callers, done, failed, n)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A sync that fails at the end of a commit of SQLite's makes nothing twice either.
//
// source: sqlite.org/rescode.html, SQLITE_IOERR_FSYNC
func TestFaultCommitSync(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	disk := disktest.New(t, dir)
	s := open(t, Config{Dir: dir})
	var done atomic.Int64
	for range times(10, 200) {
		var once sync.Once
		disk.Fail(func(op disktest.Op) (f disktest.Fault) {
			if op.Kind == disktest.Sync && strings.HasSuffix(op.Name, "-wal") {
				once.Do(func() { f = disktest.IO })
			}
			return f
		})
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				if err := s.Probe(t.Context()); err == nil {
					done.Add(1)
				} else if errors.Is(err, sessions.ErrUncertain) {
					t.Error("the disk was there, and nobody knows:", err)
				}
			})
		}
		wg.Wait()
	}
	disk.Fail(nil)
	if err := s.read(t.Context(), func(c *engine.Conn) error {
		n, err := c.Number(t.Context(), "SELECT value FROM meta WHERE name = 'probed'")
		if n != done.Load() {
			t.Errorf("%d were done, and %d are in the database", done.Load(), n)
		}
		return err
	}); err != nil || done.Load() == 0 {
		t.Fatal(err)
	}
}

func probed(t *testing.T, dsn string) int64 {
	t.Helper()
	c, err := engine.Postgres.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	n, err := c.Number(t.Context(), "SELECT value FROM meta WHERE name = 'probed'")
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// While the database cannot be asked, the callers of a commit whose answer was lost are told that nobody knows, and nothing of it is run
// again. What follows the commit follows once it is known.
func TestCommitUncertainPostgres(t *testing.T) {
	t.Parallel()
	dsn := postgresDSN(t)
	p, through := startCutProxy(t, dsn)
	s := open(t, Config{Dir: t.TempDir(), DSN: through})
	p.arm("away")
	key := sessions.Key("agent:main:main")
	e := sessions.Change{IdempotencyKey: "x", Session: &sessions.Target{Session: sessions.Session{Key: key, Agent: "main"}}, Run: &sessions.Enqueue{Run: sessions.Run{ID: "r", Key: key, Agent: "main", Input: sessions.Message{ID: "m", Role: sessions.User, Content: sessions.TextContent("hi")}}}}
	_, err := s.Submit(t.Context(), e)
	if !errors.Is(err, sessions.ErrUncertain) {
		t.Fatal(err)
	}
	if err := s.Probe(t.Context()); err == nil || errors.Is(err, sessions.ErrUncertain) {
		t.Errorf("nothing is written before it is known, and this was not tried: %v", err)
	}
	if s.Trouble() == nil {
		t.Error("the store knows of no trouble")
	}
	p.back()
	acc, err := s.Submit(t.Context(), e)
	if err != nil || !acc.Duplicate || acc.Run.ID != "r" {
		t.Errorf("%+v %v", acc, err)
	}
	if s.db.Uncertain() {
		t.Error("it is uncertain still")
	}
}

// A server that has become a standby takes no writes: the connection to it is not used again.
//
// source: PostgreSQL documentation, appendix A: 25006 read_only_sql_transaction
func TestReadOnlyPostgres(t *testing.T) {
	t.Parallel()
	s := open(t, Config{Dir: t.TempDir(), DSN: postgresDSN(t)})
	was := s.db.Writer()
	if _, err := was.Number(t.Context(), "SELECT length(set_config('default_transaction_read_only', 'on', false))"); err != nil {
		t.Fatal(err)
	}
	err := s.Probe(t.Context())
	if err == nil || !strings.Contains(err.Error(), "25006") {
		t.Fatal(err)
	}
	if err := s.Probe(t.Context()); err != nil || s.db.Writer() == was {
		t.Fatal("the connection is in use still:", err)
	}
}

// Whoever has taken the database over is not written over: an older term commits nothing.
func TestFencedPostgres(t *testing.T) {
	t.Parallel()
	dsn := postgresDSN(t)
	s := open(t, Config{Dir: t.TempDir(), DSN: dsn})
	c, err := engine.Postgres.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Exec(t.Context(), "UPDATE owners SET term = term + 1"); err != nil {
		t.Fatal(err)
	}
	if err := s.Probe(t.Context()); !errors.Is(err, sessions.ErrInUse) {
		t.Fatal(err)
	}
	if n := probed(t, dsn); n != 0 {
		t.Error("it was written")
	}
	if err := s.Probe(t.Context()); err != nil { // it has the lock, and takes a term of its own
		t.Fatal(err)
	}
	if _, err := c.Exec(t.Context(), "UPDATE owners SET term = term + 1"); err != nil {
		t.Fatal(err)
	}
	if err := s.write(t.Context(), "heedless", func(x *tx) error {
		for range 2 {
			_, _ = x.Exec("UPDATE meta SET value = 100 WHERE name = 'probed'") // an operation that does not look at its errors
		}
		return nil
	}); err == nil {
		t.Error("an older term has committed")
	}
	if n := probed(t, dsn); n != 1 {
		t.Error("it was written:", n)
	}
}

// A transaction costs the round trips of its statements and one for COMMIT.
func TestRoundTripsPostgres(t *testing.T) {
	t.Parallel()
	p, through := startCutProxy(t, postgresDSN(t))
	s := open(t, Config{Dir: t.TempDir(), DSN: through})
	if err := s.Probe(t.Context()); err != nil { // which also prepares the statement
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		ask  func() error
		want int64
	}{
		"one statement": {func() error { return s.Probe(t.Context()) }, 2},
		"none":          {func() error { return s.write(t.Context(), "none", func(*tx) error { return nil }) }, 0},
	} {
		before := p.asked.Load()
		if err := test.ask(); err != nil {
			t.Error(err)
		}
		if n := p.asked.Load() - before; n != test.want {
			t.Errorf("%s: %d round trips, not %d", name, n, test.want)
		}
	}
}

// A duplicate is told behind a commit that writes: one that was only read may be undone by a failover.
func TestDuplicateWaitsPostgres(t *testing.T) {
	t.Parallel()
	dsn := postgresDSN(t)
	s := open(t, Config{Dir: t.TempDir(), DSN: dsn})
	if err := life(t.Context(), s, 1, 1, "q", "a"); err != nil {
		t.Fatal(err)
	}
	seq := func() int64 {
		t.Helper()
		var n int64
		if err := s.read(context.WithoutCancel(t.Context()), func(c *engine.Conn) (err error) { n, err = c.Number(t.Context(), "SELECT seq FROM owners"); return err }); err != nil {
			t.Fatal(err)
		}
		return n
	}
	e := sessions.Change{IdempotencyKey: "x", Session: &sessions.Target{Session: sessions.Session{Key: "k", Agent: "main"}}}
	if _, err := s.Submit(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	before := seq()
	if acc, err := s.Submit(t.Context(), e); err != nil || !acc.Duplicate {
		t.Fatal(acc, err)
	}
	if after := seq(); after != before+1 {
		t.Errorf("the number of the last commit was %d and is %d", before, after)
	}
}
