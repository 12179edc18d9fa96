package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// doing counts how often an operation was done.
type doing struct {
	n       atomic.Int64
	sources sync.Map
	first   func(ctx context.Context, n int64) error // what happens in the nth time
}

type doIn struct {
	What string `json:"what"`
}

func (d *doing) handler() http.Handler {
	do := func(ctx context.Context, _ doIn) (map[string]int64, error) {
		n := d.n.Add(1)
		d.sources.Store(Source(ctx), n)
		if d.first != nil {
			if err := d.first(ctx, n); err != nil {
				return nil, err
			}
		}
		return map[string]int64{"n": n}, nil
	}
	return Table{Op("do", "POST /api/do", Write, "Do it.", do).Accepts(), Op("other", "POST /api/other", Write, "Do it.", do)}.Handler()
}

func (d *doing) want(t *testing.T, n int64) {
	t.Helper()
	if got := d.n.Load(); got != n {
		t.Errorf("done %d times, want %d", got, n)
	}
}

// The same key again gives the first answer and its status, in the header or in the body; another operation or principal has keys of
// its own, and what the store dedupes by tells them apart as well.
func TestReplay(t *testing.T) {
	t.Parallel()
	var d doing
	h := d.handler()
	other := Principal{Name: "ci", Scope: Write}
	for i, c := range []struct {
		who          Principal
		target, body string
		header       []string
		status       int
		want         string
	}{
		{admin, "/api/do", `{"what":"a"}`, []string{"Idempotency-Key", "k"}, 202, `{"n":1}`},
		{admin, "/api/do", `{"what":"a"}`, []string{"Idempotency-Key", "k"}, 202, `{"n":1}`},
		{admin, "/api/do", `{ "what" : "a", "idempotencyKey": "k" }`, nil, 202, `{"n":1}`},
		{admin, "/api/do", `{"what":"a", "idempotencyKey": "k2"}`, []string{"Idempotency-Key", "k"}, 400, `differ`},
		{admin, "/api/do", `{"what":"b"}`, []string{"Idempotency-Key", "k"}, 422, `another request`},
		{admin, "/api/other", `{"what":"a"}`, []string{"Idempotency-Key", "k"}, 200, `{"n":2}`},
		{other, "/api/do", `{"what":"a"}`, []string{"Idempotency-Key", "k"}, 202, `{"n":3}`},
		{admin, "/api/do", `{"what":"a"}`, nil, 202, `{"n":4}`},
		{admin, "/api/do", `{"what":"a"}`, nil, 202, `{"n":5}`},
		{admin, "/api/do", `{"what":"a"}`, []string{"Idempotency-Key", strings.Repeat("k", 201)}, 400, `1 to 200`},
		{admin, "/api/do", `{"what":"a"}`, []string{"Idempotency-Key", ""}, 400, `1 to 200`},
	} {
		if status, body := ask(t, h, c.who, "POST", c.target, c.body, c.header...); status != c.status || !strings.Contains(body, c.want) {
			t.Errorf("%d: %d %s; want %d %s", i, status, body, c.status, c.want)
		}
	}
	for source, n := range map[string]int64{"api:owner:do:k": 1, "api:owner:other:k": 2, "api:ci:do:k": 3, "": 5} {
		if got, _ := d.sources.Load(source); got != n {
			t.Errorf("source %q: %v, want %d", source, got, n)
		}
	}
}

// Errors are not kept: the key may try again.
func TestReplayOfErrors(t *testing.T) {
	t.Parallel()
	d := doing{first: func(_ context.Context, n int64) error {
		if n == 1 {
			return errors.New("not now")
		}
		return nil
	}}
	h := d.handler()
	for i, want := range []int{500, 202, 202} {
		if status, body := ask(t, h, admin, "POST", "/api/do", "", "Idempotency-Key", "k"); status != want {
			t.Errorf("%d: %d %s", i, status, body)
		}
	}
	d.want(t, 2)
}

// Requests with one key at the same time are one; whoever came second has the answer of the first, and when that one's client goes away
// or it panics, it is done for the others.
func TestReplayInFlight(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]struct {
		ends func(ctx context.Context) error
		want int64
	}{
		"answers":   {func(context.Context) error { return nil }, 1},
		"fails":     {func(context.Context) error { return errors.New("no") }, 2},
		"panics":    {func(context.Context) error { panic("the operation is broken") }, 2},
		"goes away": {func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				d := doing{first: func(ctx context.Context, n int64) error {
					if n > 1 {
						return nil
					}
					time.Sleep(time.Minute)
					return first.ends(ctx)
				}}
				h := d.handler()
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
				defer cancel()
				go func() {
					defer func() { _ = recover() }() // as net/http does
					req := newRequest(ctx, `{"what":"a"}`)
					h.ServeHTTP(&discard{}, req)
				}()
				synctest.Wait()
				var wg sync.WaitGroup
				for range 5 {
					wg.Go(func() {
						if status, body := ask(t, h, admin, "POST", "/api/do", `{"what":"a"}`, "Idempotency-Key", "k"); status != 202 || !strings.Contains(body, fmt.Sprintf(`{"n":%d}`, first.want)) {
							t.Errorf("%d %s", status, body)
						}
					})
				}
				wg.Wait()
				d.want(t, first.want)
			})
		})
	}
}

func newRequest(ctx context.Context, body string) *http.Request {
	req, _ := http.NewRequestWithContext(With(ctx, admin), http.MethodPost, "/api/do", strings.NewReader(body))
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Idempotency-Key", "k")
	return req
}

type discard struct{ h http.Header }

func (d *discard) Header() http.Header {
	if d.h == nil {
		d.h = http.Header{}
	}
	return d.h
}
func (d *discard) Write(p []byte) (int, error) { return len(p), nil }
func (d *discard) WriteHeader(int)             {}

// What is kept is bounded in time and number; what was let go is done again, by the store's own memory at most once.
func TestReplayForgets(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var d doing
		h := d.handler()
		put := func(key string) {
			t.Helper()
			if status, body := ask(t, h, admin, "POST", "/api/do", "", "Idempotency-Key", key); status != 202 {
				t.Errorf("%d %s", status, body)
			}
		}
		put("k")
		time.Sleep(replayFor - time.Second)
		put("k")
		d.want(t, 1)
		time.Sleep(time.Second)
		put("k")
		d.want(t, 2)
		for i := range maxReplay {
			put(fmt.Sprint("many", i))
		}
		put("k")
		put("k")
		d.want(t, 2+maxReplay+1)
	})
}
