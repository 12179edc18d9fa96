package hooks

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"parley/channels"
)

// at is a client at an address.
type at struct{}

// slow is a request whose body does not come until it is closed.
func slow(from string, headers ...string) (r *http.Request, end func()) {
	body, w := io.Pipe()
	r = httptest.NewRequest(http.MethodPost, "/hooks/a", body)
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return r.WithContext(context.WithValue(r.Context(), at{}, netip.MustParseAddr(from))), func() { _ = w.Close() }
}

func signing() (*host, *Handler) {
	host, h := serving(Config{Mappings: []Mapping{{Path: "a", Message: "x", Signature: Signature{Header: "X-Sig", Secret: channels.NewSecret("s")}}}})
	h.deps.From = func(ctx context.Context) netip.Addr { a, _ := ctx.Value(at{}).(netip.Addr); return a }
	h.deps.Try = func(_ netip.Addr, right func() bool) (bool, time.Duration) { return right(), 0 }
	return host, h
}

// TestStrangersHoldNobodyUp: who says that a body is signed and does not send it keeps neither those who show the token waiting, nor, from
// one address, other strangers.
func TestStrangersHoldNobodyUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host, h := signing()
		var wg sync.WaitGroup
		codes := make(chan int, 100)
		hang := func(from string, headers ...string) (end func()) {
			r, end := slow(from, headers...)
			wg.Go(func() {
				w := httptest.NewRecorder()
				h.ServeHTTP(w, r)
				codes <- w.Code
			})
			synctest.Wait()
			return end
		}
		var ends []func()
		for range strangersEach {
			ends = append(ends, hang("2001:db8::1", "X-Sig", "00"))
		}
		if hang("2001:db8::2", "X-Sig", "00"); <-codes != http.StatusServiceUnavailable {
			t.Error("one machine has more than its share")
		}
		for range maxStrangers - strangersEach {
			ends = append(ends, hang("192.0.2.1", "X-Sig", "00"))
		}
		if hang("192.0.2.2", "X-Sig", "00"); <-codes != http.StatusServiceUnavailable {
			t.Error("more strangers than there may be")
		}
		for range maxKnownSenders - 1 {
			ends = append(ends, hang("192.0.2.3", "Authorization", "Bearer secret"))
		}
		if code, body := post(h, "/hooks/wake", `{"text":"x"}`); code != http.StatusOK || len(host.reports) != 1 {
			t.Errorf("with the token: %d %s", code, body)
		}
		ends = append(ends, hang("192.0.2.3", "Authorization", "Bearer secret"))
		if code, _ := post(h, "/hooks/wake", `{"text":"x"}`); code != http.StatusServiceUnavailable {
			t.Errorf("one more than there may be: %d", code)
		}
		for _, end := range ends {
			end()
		}
		wg.Wait()
		if code, _ := post(h, "/hooks/wake", `{"text":"x"}`); code != http.StatusOK || h.slots.strangers != 0 || len(h.slots.by) != 0 || h.slots.known != 0 {
			t.Errorf("afterwards: %d, %d strangers, %v, %d known", code, h.slots.strangers, h.slots.by, h.slots.known)
		}
	})
}

// timed notes how long a body may take.
type timed struct {
	*httptest.ResponseRecorder
	within time.Duration
}

func (w *timed) SetReadDeadline(at time.Time) error {
	if !at.IsZero() {
		w.within = time.Until(at)
	}
	return nil
}

// TestBodyOfAStranger: it may take a short time only, and one that breaks off counts as a wrong secret.
func TestBodyOfAStranger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, x := range map[string]struct {
			headers []string
			within  time.Duration
			wrong   bool
		}{"a stranger": {[]string{"X-Sig", "00"}, strangerBodyTimeout, true}, "with the token": {[]string{"Authorization", "Bearer secret", "X-Sig", "00"}, bodyTimeout, false}} {
			_, h := signing()
			wrong := false
			h.deps.Try = func(_ netip.Addr, right func() bool) (bool, time.Duration) {
				ok := right()
				wrong = wrong || !ok
				return ok, 0
			}
			r, _ := slow("192.0.2.1", x.headers...)
			r.Body = io.NopCloser(io.MultiReader(strings.NewReader("{"), brokenOff{}))
			w := &timed{ResponseRecorder: httptest.NewRecorder()}
			if h.ServeHTTP(w, r); w.Code != http.StatusRequestTimeout || w.within != x.within || wrong != x.wrong {
				t.Errorf("%s: %d within %s, wrong %v", name, w.Code, w.within, wrong)
			}
		}
	})
}

type brokenOff struct{}

func (brokenOff) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }
