package wire

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"parley/agent"
)

func zipped(t *testing.T, text string) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if _, err := io.WriteString(z, text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// deflated compresses a text, with zlib's header and sum around it or without.
func deflated(t *testing.T, text string, wrapped bool) []byte {
	t.Helper()
	var out bytes.Buffer
	var z io.WriteCloser = zlib.NewWriter(&out)
	if !wrapped {
		bare, err := flate.NewWriter(&out, flate.BestCompression)
		if err != nil {
			t.Fatal(err)
		}
		z = bare
	}
	if _, err := io.WriteString(z, text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// fetch gets the body of an answer like a provider does, and the error of one that is no success.
func fetch(t *testing.T, serve http.HandlerFunc) (body string, e *agent.ModelError) {
	t.Helper()
	s := httptest.NewServer(serve)
	defer s.Close()
	c := New(Config{Name: "p", BaseURL: s.URL})
	defer c.HTTP().CloseIdleConnections()
	ctx, try := c.Start(t.Context())
	defer try.Stop()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	res, err := c.HTTP().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode >= 300 {
		e, _ = errors.AsType[*agent.ModelError](try.Error(err))
	}
	return string(raw), e
}

// TestUnaskedGzip: a body that comes compressed although nobody asked for that is read, named by its header or not, and what cannot be
// read is no binary noise in the line for owners.
// source: router-for-me/CLIProxyAPI#1763, router-for-me/CLIProxyAPI#1895 (a relay quotes the bytes), RFC 1952 (magic number)
func TestUnaskedGzip(t *testing.T) {
	t.Parallel()
	const refusal = `{"error":{"message":"Unsupported parameter: 'top_k'","param":"top_k"}}`
	for name, c := range map[string]struct {
		encoding string
		status   int
		body     []byte
		want     string // the body of a success, the words of a refusal
	}{
		"refusal, named":         {"gzip", 400, zipped(t, refusal), "Unsupported parameter: 'top_k'"},
		"refusal, not named":     {"", 400, zipped(t, refusal), "Unsupported parameter: 'top_k'"},
		"refusal, named wrongly": {"gzip", 400, []byte(refusal), "Unsupported parameter: 'top_k'"},
		"two files in a row":     {"gzip", 200, append(zipped(t, "data: a\n\n"), zipped(t, "data: b\n\n")...), "data: a\n\ndata: b\n\n"},
		"answer, not named":      {"", 200, zipped(t, `{"choices":[]}`), `{"choices":[]}`},
		"another compression":    {"br", 400, []byte("\x1b\x2e\x00\xf8\x8d\xd4\x6e\xfa\x8c\x03\x01\x9f\xc5\x00\x14"), "a body that is not text (15 bytes)"},
		"gzip that is broken":    {"gzip", 502, []byte("\x1f\x8b\x08\x00\xff\xfe\x01\x02\x03\x04\x99\x88"), "unexpected EOF"},
		"two bytes":              {"", 400, []byte("\x1f\x8b"), "a body that is not text (2 bytes)"},
		"quoted by a relay":      {"", 400, []byte(`{"error":{"message":"\u001f\ufffd\b\u0000\u0000\u0000\u0000\u0000\u0000\u0003\ufffd\ufffdA","type":"invalid_request_error"}}`), "a body that is not text"},
		"another character set":  {"", 400, []byte("\xb2\xbb\xd6\xa7\xb3\xd6 top_k"), "top_k"},
		"nothing":                {"gzip", 400, nil, "no reason given"},
		"deflate":                {"deflate", 400, deflated(t, refusal, true), "Unsupported parameter: 'top_k'"}, // source: RFC 9110, section 8.4.1.2
		"deflate without zlib":   {"deflate", 200, deflated(t, `{"choices":[]}`, false), `{"choices":[]}`},
		"deflate, named wrongly": {"deflate", 200, []byte("data: a\n\n"), "data: a\n\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			body, e := fetch(t, func(w http.ResponseWriter, _ *http.Request) {
				if c.encoding != "" {
					w.Header().Set("Content-Encoding", c.encoding)
				}
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(c.status)
				_, _ = w.Write(c.body)
			})
			switch {
			case c.status < 300 && body != c.want:
				t.Errorf("%q", body)
			case c.status >= 300 && (e == nil || !strings.Contains(e.Said, c.want) || strings.ContainsAny(e.Error(), "\x00\x01\x1f")):
				t.Errorf("%v", e)
			}
		})
	}
}

// TestGzipBomb: of a refusal no more is unfolded than of one that comes as it is.
func TestGzipBomb(t *testing.T) {
	t.Parallel()
	body, e := fetch(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(400)
		_, _ = w.Write(zipped(t, strings.Repeat("too much ", 1<<20)))
	})
	if len(body) > maxErrorBody || e == nil || !strings.Contains(e.Said, "too much") {
		t.Errorf("%d bytes, %v", len(body), e)
	}
}

// TestGzipStream: what a server flushes is read at once, not when the file is complete.
func TestGzipStream(t *testing.T) {
	t.Parallel()
	seen := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		z := gzip.NewWriter(w)
		_, _ = io.WriteString(z, "data: 1\n\n")
		_ = z.Flush()
		_ = http.NewResponseController(w).Flush()
		<-seen
		_ = z.Close()
	}))
	defer s.Close()
	c := New(Config{Name: "p", BaseURL: s.URL})
	ctx, try := c.Start(t.Context())
	defer try.Stop()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	res, err := c.HTTP().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	first := make([]byte, len("data: 1\n\n"))
	_, err = io.ReadFull(res.Body, first)
	close(seen)
	if err != nil || string(first) != "data: 1\n\n" {
		t.Errorf("%q, %v", first, err)
	}
}
