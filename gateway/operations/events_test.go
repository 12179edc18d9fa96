package operations

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"parley/channels"
	"parley/gateway/accounts"
	"parley/gateway/config"
	"parley/router"
	"parley/router/event"
	"parley/router/settings"
)

// reader takes what a stream writes; stuck makes it take nothing for a while.
type reader struct {
	mu     sync.Mutex
	text   bytes.Buffer
	header http.Header
	stuck  chan struct{}
}

func (r *reader) Header() http.Header { return r.header }
func (r *reader) WriteHeader(int)     {}
func (r *reader) Flush()              {}
func (r *reader) Write(p []byte) (int, error) {
	if r.stuck != nil && strings.HasPrefix(string(p), "event:") {
		<-r.stuck
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(p)
}

func (r *reader) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}

// newEvents makes the stream of a host that has no store.
func newEvents() (o *Events, stopping chan struct{}) {
	stopping = make(chan struct{})
	r := router.New(router.Deps{Settings: &settings.Snapshot{}, Log: slog.New(slog.DiscardHandler)})
	return &Events{router: r, accounts: &accounts.Supervisor{Deps: accounts.Deps{Router: r}}, positions: Positions{time.Now()}, stopping: stopping, names: &Resolver{}}, stopping
}

// watched streams the events of a host that has no store.
func watched(t *testing.T, target string, out *reader, header ...string) (h *router.Router, ended <-chan struct{}, leave context.CancelFunc) {
	t.Helper()
	o, _ := newEvents()
	ended, leave = watch(t, o, target, out, header...)
	return o.router, ended, leave
}

// watch streams events until the test leaves.
func watch(t *testing.T, o *Events, target string, out *reader, header ...string) (ended <-chan struct{}, leave context.CancelFunc) {
	t.Helper()
	ctx, leave := context.WithCancel(t.Context())
	req := httptest.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	out.header = http.Header{}
	over := make(chan struct{})
	go func() {
		defer close(over)
		o.events(out, req)
	}()
	synctest.Wait()
	return over, leave
}

// A stream says when to come back, shows what is asked for with an id (but texts, of which the next has all), and lives on in silence.
func TestEvents(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out reader
		h, ended, leave := watched(t, "/api/events?kinds=job,%20text&run=r1", &out)
		h.Tell(event.Event{Kind: event.KindJob, Run: "r1", Job: "j1"})
		h.Tell(event.Event{Kind: event.KindJob, Run: "r2"})
		h.Tell(event.Event{Kind: event.KindRun, Run: "r1"})
		time.Sleep(2*eventsKeepAlive + time.Second)
		h.Tell(event.Event{Kind: event.KindText, Run: "r1", Text: "two\nlines"})
		synctest.Wait()
		got := out.String()
		if out.header.Get("Content-Type") != "text/event-stream" || out.header.Get("Cache-Control") != "no-store" {
			t.Error(out.header)
		}
		parts := strings.Split(strings.TrimSuffix(got, "\n\n"), "\n\n")
		if len(parts) != 5 || parts[0] != "retry: 2000" || !strings.HasPrefix(parts[1], "event: job\nid: ") || !strings.Contains(parts[1], `"job":"j1"`) ||
			parts[2] != ": alive" || parts[3] != ": alive" || !strings.HasPrefix(parts[4], "event: text\ndata: ") || !strings.Contains(parts[4], `"text":"two\nlines"`) {
			t.Errorf("%q", parts)
		}
		leave()
		<-ended
	})
}

// A stream that takes up an earlier one, or could not keep up, says that the truth is to be read again.
func TestEventsReload(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		out := reader{stuck: make(chan struct{})}
		h, ended, leave := watched(t, "/api/events", &out)
		for range 3000 {
			h.Tell(event.Event{Kind: event.KindJob})
			synctest.Wait()
		}
		close(out.stuck)
		synctest.Wait()
		if n := strings.Count(out.String(), "event: reload\n"); n != 1 {
			t.Errorf("%d times reload", n)
		}
		h.Tell(event.Event{Kind: event.KindJob, Job: "after"})
		synctest.Wait()
		if !strings.Contains(out.String(), `"job":"after"`) {
			t.Error("nothing comes any more")
		}
		leave()
		<-ended
		var again reader
		_, ended, leave = watched(t, "/api/events", &again, "Last-Event-ID", "x-1")
		if !strings.HasPrefix(again.String(), "retry: 2000\n\nevent: reload\n") {
			t.Errorf("%q", again.String())
		}
		leave()
		<-ended
	})
}

// A stream that begins at a position says reload when something that it wants has happened since, and not otherwise; one of another process
// is unknown. What a browser heard last counts for more than the page that it came from.
func TestEventsSince(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o, _ := newEvents()
		before := o.positions.Name(o.router.Position())
		o.router.Tell(event.Event{Kind: event.KindJob})
		now := o.positions.Name(o.router.Position())
		for _, tt := range []struct {
			query, last string
			reload      bool
		}{
			{"", "", false},
			{"since=" + before, "", true},
			{"since=" + before + "&kinds=run", "", false},
			{"since=" + now, "", false},
			{"since=" + before, now, false},
			{"since=" + now, before, true},
			{"since=7-1", "", true},
			{"since=nonsense", "", true},
			{"since=" + now + "0", "", true},
		} {
			out := reader{header: http.Header{}}
			ctx, leave := context.WithCancel(t.Context())
			req := httptest.NewRequestWithContext(ctx, http.MethodGet, "/api/events?"+tt.query, nil)
			req.Header.Set("Last-Event-ID", tt.last)
			go o.events(&out, req)
			synctest.Wait()
			if got := out.String(); strings.Contains(got, "event: reload\nid: "+now+"\n") != tt.reload || strings.Count(got, "event:") > 1 {
				t.Errorf("%+v: %q", tt, got)
			}
			leave()
			synctest.Wait()
		}
	})
}

// The end of the host ends every stream; what cannot be watched is an error.
func TestEventsEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out reader
		o, stopping := newEvents()
		ended, leave := watch(t, o, "/api/events", &out)
		defer leave()
		close(stopping)
		<-ended
		for target, says := range map[string]string{"/api/events?kinds=runs": "use run, text", "/api/events?kind=run": "unknown parameter"} {
			var bad reader
			_, ended, leave := watched(t, target, &bad)
			<-ended
			leave()
			if !strings.Contains(bad.String(), says) {
				t.Errorf("%s: %q", target, bad.String())
			}
		}
	})
}

// reporting is a channel that a person links, whose Run ends when the test says so.
type reporting struct {
	channels.Channel
	channels.Pairer
	health atomic.Pointer[channels.Health]
	end    chan error
}

func (c *reporting) Run(ctx context.Context, _ channels.Inbox) error {
	select {
	case err := <-c.end:
		return err
	case <-ctx.Done():
		return nil
	}
}

func (c *reporting) Health() channels.Health { return *c.health.Load() }

// Who watches is told of an account whose state changes, once, whatever said so: its supervisor or its adapter.
func TestEventsOfAccounts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out reader
		ch := &reporting{end: make(chan error)}
		ch.health.Store(&channels.Health{})
		none := &config.Config{State: t.TempDir()}
		conf := *none
		conf.Channels = []config.Account{{Kind: "fake", ID: "default"}}
		o, _ := newEvents()
		o.accounts = accounts.New(accounts.Deps{Config: func() *config.Config { return &conf }, Router: o.router, Log: slog.New(slog.DiscardHandler),
			Adapters: []accounts.Adapter{{Adapter: config.Adapter{Kind: "fake"}, Open: func(config.Account, accounts.Env) (channels.Channel, error) { return ch, nil }}}})
		life, end := context.WithCancel(t.Context())
		ended, leave := watch(t, o, "/api/events?kinds=account", &out)
		for _, change := range []func(){func() { o.accounts.Start(life) }, func() {},
			func() {
				ch.health.Store(&channels.Health{State: channels.Connected, LastSeen: time.Now(), Stale: time.Hour})
			},
			func() { ch.end <- &channels.Error{Class: channels.Unauthorized, Err: errors.New("gone")} }, func() {}, func() { o.accounts.Reload(none) }} {
			change()
			time.Sleep(3 * accounts.ChangesInterval)
		}
		var phases []string
		for line := range strings.SplitSeq(out.String(), "\n") {
			if _, rest, ok := strings.Cut(line, `"phase":"`); ok {
				phase, _, _ := strings.Cut(rest, `"`)
				phases = append(phases, phase)
			}
		}
		if got := strings.Join(phases, " "); got != "connected logged_out stopped" {
			t.Errorf("%s\n%s", got, out.String())
		}
		end()
		o.accounts.Wait()
		leave()
		<-ended
	})
}
