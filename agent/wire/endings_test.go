package wire

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// An answer without a mark of its end is complete only at a model that gave different ones which end like whole ones. The same answer twice
// may be one that is always cut at the same place. source: anomalyco/opencode#43882, qualcomm/GenieX#1246
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
	calls := false
	judge := func(path, model, said string, before *string) Ending {
		a := Unmarked{Said: said, Calls: calls, Before: *before}
		*before = said
		return e.Judge(try(path), logger, model, a)
	}
	expect := func(what string, got, want Ending) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %d, want %d", what, got, want)
		}
	}
	var before string
	for range 3 {
		expect("the same cut text", judge("/", "m", "Another was", &before), Unclear)
	}
	for range 3 {
		expect("the same text, which may be cut behind a sentence", judge("/", "m", "One.", &before), Unclear)
	}
	if log.Len() > 0 {
		t.Errorf("nothing is known yet: %s", &log)
	}
	expect("another one", judge("/", "m", "Another one.", &before), Complete)
	before = ""
	expect("the end of a sentence", judge("/", "m", "One.", &before), Complete)
	expect("no end of a sentence", judge("/", "m", "one", &before), Unclear)
	expect("the same", judge("/", "m", "one", &before), Complete)
	if strings.Count(log.String(), "lack an end mark") != 1 {
		t.Errorf("told once: %s", &log)
	}
	e.Marked("m")
	for range 2 {
		expect("a model that marks its answers", judge("/", "m", "One.", &before), CutOff)
	}
	before = ""
	expect("unframed", judge("/unframed", "n", "One.", &before), Unclear)
	expect("unframed, another one", judge("/unframed", "n", "Other.", &before), Unclear)
	expect("unframed, the same", judge("/unframed", "n", "Other.", &before), Complete)
	before, calls = "", true
	expect("a call", judge("/", "o", `f{}`, &before), Unclear)
	expect("the same call", judge("/", "o", `f{}`, &before), Complete)
}
