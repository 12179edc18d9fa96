package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// A server that speaks the transport of 2024-11-05 is spoken to in it: with the configured headers, its noise between the messages left out.
// source: https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#backwards-compatibility
func TestLegacySSE(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusBadRequest} {
		t.Run(http.StatusText(status), func(t *testing.T) {
			t.Parallel()
			url, bare := legacyServer(t, status)
			r := newRig(t, one(remote(url)))
			r.running()
			if got := r.call("x_echo", `{}`); got.Text != "echo" || got.IsError {
				t.Errorf("echo: %+v", got)
			}
			r.stop()
			if bare.Load() > 0 {
				t.Errorf("%d requests without the headers", bare.Load())
			}
		})
	}
}

// Over the older transport as well a message that is too large costs the call that it answers.
func TestMessageThatIsTooLargeForSSE(t *testing.T) {
	t.Parallel()
	url, _ := legacyServer(t, http.StatusNotFound)
	r := newRig(t, one(remote(url)))
	r.running()
	if got := r.call("x_echo", fmt.Sprintf(`{"bytes":%d}`, maxMessage)); !got.IsError || !strings.Contains(got.Text, "but the host dropped the answer: its message has 32.0 MiB") {
		t.Errorf("too large: %.300s", got.Text)
	}
	if got := r.call("x_echo", `{}`); got.Text != "echo" || r.Status()[0].Restarts != 0 {
		t.Errorf("after that: %+v, %+v", got, r.Status())
	}
	r.stop()
}

// legacyServer runs a server of the older transport, which answers a request of the newer one with status. bare counts the requests without
// the configured headers.
func legacyServer(t *testing.T, status int) (url string, bare *atomic.Int64) {
	t.Helper()
	server := sdk.NewServer(&sdk.Implementation{Name: "old", Version: "1"}, nil)
	server.AddTool(&sdk.Tool{Name: "echo", InputSchema: &jsonschema.Schema{Type: "object"}}, func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		var a struct{ Bytes int }
		_ = json.Unmarshal(r.Params.Arguments, &a)
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "echo" + strings.Repeat("x", a.Bytes)}}}, nil
	})
	old := sdk.NewSSEHandler(func(*http.Request) *sdk.Server { return server }, nil)
	bare = new(atomic.Int64)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer token-0123456789" {
			bare.Add(1)
		}
		if r.Method == http.MethodPost && r.URL.RawQuery == "" {
			http.Error(w, "no", status)
			return
		}
		if r.Method == http.MethodGet {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, ": hello\n\nevent: ping\ndata: 2026\n\n")
		}
		old.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s.URL + "/sse", bare
}

// A server that speaks neither says so.
func TestNoTransport(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.NotFoundHandler())
	defer s.Close()
	r := newRig(t, one(remote(s.URL+"/sse")))
	got := r.until("down", func(s Status) bool { return s.State == Down })
	for _, want := range []string{"the handshake failed", "Not Found", "the older transport (SSE, 2024-11-05) failed as well"} {
		if !strings.Contains(got.Detail, want) {
			t.Errorf("it does not say %q: %s", want, got.Detail)
		}
	}
	r.stop()
}

// A call of a server that is not there any more says that it was not reached and that nothing was done, in plain words.
func TestUnreached(t *testing.T) {
	t.Parallel()
	s := httptest.NewUnstartedServer(handler(t))
	s.Config.SetKeepAlivesEnabled(false) // each request dials: on a connection that was open it is not known whether it was read
	s.Start()
	r := newRig(t, one(remote(s.URL)))
	r.running()
	s.CloseClientConnections()
	s.Close()
	got := r.call("x_echo", `{}`)
	if !got.IsError || !strings.Contains(got.Text, "is not reachable: ") || !strings.Contains(got.Text, "Nothing was done") || strings.Contains(got.Text, "rejected by transport") || strings.Contains(got.Text, "refused the call") {
		t.Errorf("the call: %+v", got)
	}
	down := r.until("down", func(s Status) bool { return s.State == Down })
	if strings.Contains(down.Detail, "rejected by transport") || !strings.Contains(down.Detail, "it was not reached") {
		t.Errorf("why: %s", down.Detail)
	}
	r.stop()
}

// An answer with an error of HTTP says which, and what it means for the call.
func TestErrorsOfHTTP(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]string{
		http.StatusUnauthorized:       "answered the call with 401 Unauthorized. Nothing was done",
		http.StatusTooManyRequests:    "answered the call with 429 Too Many Requests. Nothing was done",
		http.StatusServiceUnavailable: "answered the call with 503 Service Unavailable. The call may have been done",
	} {
		t.Run(http.StatusText(status), func(t *testing.T) {
			t.Parallel()
			h := handler(t)
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if body, err := io.ReadAll(r.Body); err == nil && strings.Contains(string(body), "tools/call") {
					http.Error(w, "no", status)
				} else {
					r.Body = io.NopCloser(strings.NewReader(string(body)))
					h.ServeHTTP(w, r)
				}
			}))
			defer s.Close()
			r := newRig(t, one(remote(s.URL)))
			r.running()
			if got := r.call("x_echo", `{}`); !got.IsError || !strings.Contains(got.Text, want) {
				t.Errorf("%+v", got)
			}
			r.stop()
		})
	}
}

// Over HTTP as well an answer that is too large costs its call, as an event and as a whole body.
func TestLargeAnswersOverHTTP(t *testing.T) {
	t.Parallel()
	large := sync.OnceValue(func() string { return strings.Repeat("x", maxMessage) })
	for _, kind := range []string{"application/json", "text/event-stream"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var m struct {
					ID     json.RawMessage
					Method string
					Params struct{ Arguments struct{ Large bool } }
				}
				_ = json.NewDecoder(r.Body).Decode(&m)
				result, ok := listing(plainTool)(nil, m.ID, m.Method, nil)
				switch {
				case r.Method != http.MethodPost || m.ID == nil || !ok:
					w.WriteHeader(map[bool]int{true: http.StatusAccepted, false: http.StatusMethodNotAllowed}[r.Method == http.MethodPost])
					return
				case m.Method == "tools/call" && m.Params.Arguments.Large:
					result = `{"content":[{"type":"text","text":"` + large() + `"}]}`
				case m.Method == "tools/call":
					result = `{"content":[{"type":"text","text":"small"}]}`
				}
				w.Header().Set("Content-Type", kind)
				before, after := "", ""
				if kind != "application/json" {
					before, after = "event: message\ndata: ", "\n\n"
				}
				_, _ = io.WriteString(w, before+`{"jsonrpc":"2.0","id":`+string(m.ID)+`,"result":`+result+`}`+after)
			}))
			defer s.Close()
			r := newRig(t, one(remote(s.URL)))
			r.running()
			if got := r.call("x_t", `{"large":true}`); !got.IsError || !strings.Contains(got.Text, "but the host dropped the answer: its message has 32.0 MiB; at most 32 MiB are read") {
				t.Errorf("large: %.300s", got.Text)
			}
			if got := r.call("x_t", `{}`); got.Text != "small" || r.Status()[0].Restarts != 0 {
				t.Errorf("after that: %.300s, %+v", got.Text, r.Status())
			}
			r.stop()
		})
	}
}

// A port where nobody listens is not reached, from the start.
func TestNobodyListens(t *testing.T) {
	t.Parallel()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := l.Addr().String()
	_ = l.Close()
	r := newRig(t, one(remote("http://"+at+"/mcp")))
	if got := r.until("down", func(s Status) bool { return s.State == Down }); !strings.Contains(got.Detail, "it was not reached") || strings.Contains(got.Detail, "rejected") {
		t.Errorf("why: %s", got.Detail)
	}
	if got := r.Tools(t.Context(), false); len(got) != 0 {
		t.Errorf("tools: %v", got)
	}
	r.stop()
}
