package discord

import (
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/channels"
)

// A wait that makes no sense, such as milliseconds in place of seconds, shuts no chat for days. A wait of hours is kept.
// source: https://discord.com/developers/docs/topics/rate-limits
func TestWaitsAreBounded(t *testing.T) {
	for text, most := range map[string]time.Duration{`{"retry_after":1e15}`: 15 * time.Minute, `{"retry_after":1e300,"global":true}`: 15 * time.Minute, `{"retry_after":3600}`: time.Hour, `{"retry_after":86400}`: 24 * time.Hour, `{"retry_after":86401}`: 15 * time.Minute} {
		if got := retryAfter(http.Header{}, []byte(text)); got > most || got < most/2 {
			t.Errorf("%s: %s", text, got)
		}
	}
}

// Routes that share a bucket wait together, by the next process too, which does not know the names of buckets; and no token of a command
// is written down.
func TestHoldsOverARestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		open := func() *holds {
			return newHolds(channels.NewHolds(dir, slog.New(slog.DiscardHandler)).Of("s", "b"))
		}
		said := func(pairs ...string) http.Header {
			h := http.Header{}
			for i := 0; i < len(pairs); i += 2 {
				h.Set(pairs[i], pairs[i+1])
			}
			return h
		}
		const bucket = "X-RateLimit-Bucket"
		post, edit, typing := messagesRoute(http.MethodPost, "1"), messageRoute(http.MethodPatch, "1"), route{path: "channels/typing", verb: http.MethodPost, major: "1"}
		command := (&act{app: "2", id: "3", token: "a secret"}).route(http.MethodPatch)
		h := open()
		h.note(edit, http.StatusOK, said(bucket, "x"), nil)
		h.note(post, http.StatusOK, said(bucket, "x", "X-RateLimit-Remaining", "0", "X-RateLimit-Reset-After", "5"), nil)
		h.note(command, http.StatusTooManyRequests, said(bucket, "y", "X-RateLimit-Reset-After", "7"), []byte(`{"retry_after":7}`))
		elsewhere := post
		elsewhere.major = "4"
		for name, h := range map[string]*holds{"this process": h, "the next": open()} {
			for r, want := range map[route]time.Duration{post: 5 * time.Second, edit: 5 * time.Second, command: 7 * time.Second, typing: 0, elsewhere: 0} {
				if got := h.wait(r); got != want {
					t.Errorf("%s waits %s for %s, want %s", name, got, r.key(), want)
				}
			}
		}
		if h.note(route{path: typing.path, verb: typing.verb, major: "4"}, http.StatusOK, said(bucket, "x"), nil); h.wait(typing) != 5*time.Second {
			t.Errorf("a route that is found to share a bucket waits %s", h.wait(typing))
		}
		h.note(typing, http.StatusTooManyRequests, nil, []byte(`{"retry_after":60,"global":true}`))
		if got := open().wait(elsewhere); got != time.Minute {
			t.Errorf("a limit on everything holds %s", got)
		}
		if text, err := os.ReadFile(filepath.Join(dir, "holds.json")); err != nil || strings.Contains(string(text), "secret") {
			t.Errorf("%s, %v", text, err)
		}
	})
}
