package api

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// wrapped is a writer of some layer between.
type wrapped struct{ http.ResponseWriter }

func (w wrapped) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// behindPanicGuard asks an operation that ends with do, and gives what the log has then.
func behindPanicGuard(t *testing.T, done chan struct{}, do func() error) (status int, body, log string) {
	t.Helper()
	var b bytes.Buffer
	table := Table{Op("e", "POST /api/e", Write, "E.", func(context.Context, None) (None, error) { return None{}, do() })}.Handler()
	h := PanicGuard{Log: slog.New(slog.NewTextHandler(&b, nil)), Done: done, Fail: func(w http.ResponseWriter, _ *http.Request, err error) { WriteError(w, err) }}.
		Wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { table.ServeHTTP(wrapped{w}, r) }))
	status, body = ask(t, h, admin, "POST", "/api/e", "", "Idempotency-Key", "k")
	return status, body, b.String()
}

var requestID = regexp.MustCompile(`request id ([0-9a-f]{8})`)

// What nobody expected is told in a sentence with an id, and the log has the rest under it; a panic too, with where it was.
func TestInsideStaysInside(t *testing.T) {
	t.Parallel()
	secret := errors.New("open /var/lib/parley.db: disk I/O error")
	for name, c := range map[string]struct {
		do     func() error
		status int
		logs   []string
	}{
		"error":    {func() error { return fmt.Errorf("reading: %w", secret) }, 500, []string{"level=ERROR", "reading: open /var/lib", "pattern=\"POST /api/e\""}},
		"panic":    {func() error { panic(secret) }, 500, []string{"level=ERROR", "panic=", "disk I/O", "panicguard_test.go"}},
		"deadline": {func() error { return fmt.Errorf("%w: %w", secret, context.DeadlineExceeded) }, 504, []string{"level=WARN", "disk I/O"}},
		"canceled": {func() error { return fmt.Errorf("%w: %w", secret, context.Canceled) }, 504, []string{"level=WARN", "disk I/O"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			status, body, log := behindPanicGuard(t, nil, c.do)
			id := requestID.FindStringSubmatch(body)
			if status != c.status || strings.Contains(body, "parley.db") || id == nil {
				t.Fatalf("%d %s", status, body)
			}
			for _, want := range append(c.logs, "request="+id[1]) {
				if !strings.Contains(log, want) {
					t.Errorf("the log does not say %q:\n%s", want, log)
				}
			}
		})
	}
}

// What breaks off because the host stops is no fault: it may come again.
func TestStoppingIsUnavailable(t *testing.T) {
	t.Parallel()
	done := make(chan struct{})
	close(done)
	for _, err := range []error{context.Canceled, context.DeadlineExceeded} {
		if status, body, log := behindPanicGuard(t, done, func() error { return err }); status != http.StatusServiceUnavailable || !strings.Contains(body, `"unavailable"`) || log != "" {
			t.Errorf("%v: %d %s%s", err, status, body, log)
		}
	}
}

// An answer that has begun is cut off by a panic, so that nobody takes it for whole; what is cut off on purpose is no fault.
func TestPanicInTheMiddle(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		p    any
		logs bool
	}{"fault": {"boom", true}, "on purpose": {http.ErrAbortHandler, false}} {
		var b bytes.Buffer
		h := PanicGuard{Log: slog.New(slog.NewTextHandler(&b, nil)), Fail: func(http.ResponseWriter, *http.Request, error) { t.Errorf("%s: answered twice", name) }}.
			Wrap(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				_, _ = io.WriteString(w, "half")
				panic(c.p)
			}))
		func() {
			defer func() {
				if got, _ := recover().(error); !errors.Is(got, http.ErrAbortHandler) || strings.Contains(b.String(), "boom") != c.logs {
					t.Errorf("%s: panics with %v and logs %q", name, got, b.String())
				}
			}()
			h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), "GET", "/", nil))
		}()
	}
}

// A full disk is told as what it is: the caller can do something about it.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	status, body, log := behindPanicGuard(t, nil, func() error {
		return fmt.Errorf("writing: %w", &os.PathError{Op: "write", Path: "/var/lib/parley.db", Err: syscall.ENOSPC})
	})
	if status != 503 || !strings.Contains(body, `"disk_full"`) || !strings.Contains(body, "the disk is full") || strings.Contains(body, "parley.db") || !strings.Contains(log, "parley.db") {
		t.Errorf("%d %s, log %s", status, body, log)
	}
}
