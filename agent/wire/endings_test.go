package wire

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// An answer without a mark of its end is taken when it came twice and HTTP says that it is whole, at once from then on; never from a model
// whose answers had such marks. source: anomalyco/opencode#43882, qualcomm/GenieX#1246
func TestEndings(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/unframed" {
			w.Header().Set("Connection", "close")
			w.Header().Set("Transfer-Encoding", "identity")
		}
		_, _ = io.WriteString(w, "data: {}\n\n")
		w.(http.Flusher).Flush()
	}))
	defer server.Close()
	c := New(Config{Name: "test"})
	try := func(path string) *Try {
		ctx, try := c.Start(t.Context())
		t.Cleanup(try.Stop)
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := c.HTTP().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.ReadAll(res.Body)
		_ = res.Body.Close()
		return try
	}
	var log strings.Builder
	logger := slog.New(slog.NewTextHandler(&log, nil))
	var e Endings
	accepts := func(path, model, said string, before *string) bool {
		return e.Accepts(try(path), logger, model, said, before)
	}
	var before string
	if accepts("/", "m", "One.", &before) || accepts("/", "m", "Another was", &before) || !accepts("/", "m", "Another one.", &before) {
		t.Error("it must come twice, and whole")
	}
	before = ""
	if !accepts("/", "m", "One.", &before) || accepts("/", "m", "one", &before) || !accepts("/", "m", "one", &before) || strings.Count(log.String(), "do not say that they are complete") != 1 {
		t.Errorf("it is known now, and told once: %s", &log)
	}
	e.Marked("m")
	for range 2 {
		if accepts("/", "m", "One.", &before) {
			t.Error("the model says when an answer is complete: this one was cut off")
		}
	}
	before = ""
	if accepts("/unframed", "n", "One.", &before) || accepts("/unframed", "n", "Other.", &before) || !accepts("/unframed", "n", "Other.", &before) {
		t.Error("where HTTP does not say it, the same must come twice")
	}
}
