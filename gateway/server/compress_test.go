package server

import (
	"bufio"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestCompress: what is long is compressed for those who accept it; of a stream each event comes at its flush, and the repetition in an answer that
// grows costs little.
func TestCompress(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a long page ", 500)
	next := make(chan struct{})
	mux := http.NewServeMux()
	mux.HandleFunc("/page", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, long)
	})
	mux.HandleFunc("/picture", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "image/png")
		_, _ = io.WriteString(w, long)
	})
	mux.HandleFunc("/events", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for n := range 50 {
			_, _ = fmt.Fprintf(w, "data: %d %s\n\n", n, long[:100*n])
			_ = http.NewResponseController(w).Flush()
			select {
			case <-next:
			case <-r.Context().Done():
				return
			}
		}
	})
	srv := httptest.NewServer(compress(mux))
	t.Cleanup(srv.Close)
	get := func(path, accept, encoding string) (http.Header, io.Reader) {
		ctx, cancel := context.WithCancel(t.Context())
		t.Cleanup(cancel)
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, srv.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept", accept)
		r.Header.Set("Accept-Encoding", encoding)
		w, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = w.Body.Close() })
		return w.Header, w.Body
	}
	for _, c := range []struct {
		path, encoding, want string
	}{{"/page", "gzip", "gzip"}, {"/page", "identity", ""}, {"/picture", "gzip", ""}} {
		head, sent := get(c.path, "*/*", c.encoding)
		body, err := io.ReadAll(sent)
		if got := head.Get("Content-Encoding"); got != c.want || err != nil || (len(body) < len(long)/5) != (c.want != "") {
			t.Errorf("%s with %s: %q, %d bytes, %v", c.path, c.encoding, got, len(body), err)
		}
	}
	head, body := get("/events", "text/event-stream", "gzip")
	if head.Get("Content-Encoding") != "gzip" {
		t.Fatal("the stream is not compressed")
	}
	sent := &counter{Reader: body}
	unzipped, err := gzip.NewReader(sent)
	if err != nil {
		t.Fatal(err)
	}
	events, all := bufio.NewReader(unzipped), 0
	for n := range 50 {
		line, err := events.ReadString('\n')
		if err != nil || !strings.HasPrefix(line, fmt.Sprintf("data: %d ", n)) {
			t.Fatalf("event %d: %q, %v", n, line, err)
		}
		_, _ = events.ReadString('\n')
		all += len(line)
		next <- struct{}{}
	}
	if sent.n > all/10 {
		t.Errorf("%d bytes of %d were sent", sent.n, all)
	}
}

// counter counts what is read.
type counter struct {
	io.Reader
	n int
}

func (c *counter) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b)
	c.n += n
	return n, err
}
