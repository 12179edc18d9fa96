package mcp

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"parley/channels"
	"parley/tools"
)

// remote is the configuration of a server that is reached by its URL.
func remote(url string) tools.MCPServer {
	return tools.MCPServer{URL: url, Enabled: true, TimeoutSeconds: 60, Headers: map[string]channels.Secret{"Authorization": channels.NewSecret("Bearer token-0123456789")}}
}

func handler(t *testing.T) http.Handler {
	s := sdk.NewServer(&sdk.Implementation{Name: "fake", Version: "1"}, nil)
	s.AddTool(&sdk.Tool{Name: "echo", InputSchema: &jsonschema.Schema{Type: "object"}}, func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: string(r.Params.Arguments)}}}, nil
	})
	t.Cleanup(func() { // those of clients that could not say that they are gone
		for session := range s.Sessions() {
			_ = session.Close()
		}
	})
	return sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, nil)
}

// A server over HTTP gets the headers with every request. When it goes away and comes back, its tools work again.
func TestHTTP(t *testing.T) {
	t.Parallel()
	var bare atomic.Int64
	h := handler(t)
	serve := func(l net.Listener) *httptest.Server {
		s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "Bearer token-0123456789" {
				bare.Add(1)
			}
			h.ServeHTTP(w, r)
		}))
		if l != nil {
			_ = s.Listener.Close()
			s.Listener = l
		}
		s.Start()
		return s
	}
	first := serve(nil)
	at := first.Listener.Addr().String()
	r := newRig(t, one(remote(first.URL+"/mcp?key=in-the-address")))
	r.running()
	if got := r.call("x_echo", `{"a":1}`); got.Text != `{"a":1}` || got.IsError {
		t.Errorf("echo: %+v", got)
	}
	if got := r.names(true); len(got) != 1 {
		t.Errorf("it is for sandboxed sessions as well: %v", got)
	}
	first.CloseClientConnections()
	first.Close()
	if got := r.call("x_echo", `{}`); !got.IsError || strings.Contains(got.Text, "in-the-address") {
		t.Errorf("while it is away: %+v", got)
	}
	if s := r.until("down", func(s Status) bool { return s.State == Down }); s.Detail == "" || strings.Contains(s.Detail, "in-the-address") {
		t.Errorf("why: %s", s.Detail)
	}
	h = handler(t) // it has forgotten the session
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	second := serve(l)
	defer second.Close()
	r.running()
	if got := r.call("x_echo", `{"b":2}`); got.Text != `{"b":2}` {
		t.Errorf("after it came back: %+v", got)
	}
	r.stop()
	if bare.Load() > 0 {
		t.Errorf("%d requests without the headers", bare.Load())
	}
	if strings.Contains(r.log.String(), "token-0123456789") || strings.Contains(r.log.String(), "in-the-address") {
		t.Error("a secret is in the log")
	}
}

// A redirect to another host is not followed: neither the headers nor the request get there.
func TestRedirect(t *testing.T) {
	t.Parallel()
	var reached atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	defer other.Close()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
	}))
	defer s.Close()
	r := newRig(t, one(remote(s.URL)))
	if got := r.until("down", func(s Status) bool { return s.State == Down }); !strings.Contains(got.Detail, "redirects to another host") {
		t.Errorf("why: %s", got.Detail)
	}
	r.stop()
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, other.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	if resp, err := (&messenger{base: http.DefaultTransport, to: u}).RoundTrip(req); err == nil {
		_ = resp.Body.Close()
		t.Error("a request to another host is sent")
	}
	if reached.Load() > 0 {
		t.Error("the other host was reached")
	}
}

// Answers without an end, of the wrong kind, and errors of all kinds: the server is down, the host is not.
func TestHostileHTTP(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]func(http.ResponseWriter){
		"endless JSON": func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "application/json")
			endless(w, `{"jsonrpc":"2.0","id":1,"result":"`)
		},
		"endless event": func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "text/event-stream")
			endless(w, "data: ")
		},
		"endless error": func(w http.ResponseWriter) { w.WriteHeader(http.StatusBadRequest); endless(w, "") },
		"a page":        func(w http.ResponseWriter) { _, _ = io.WriteString(w, "<html>") },
		"nothing":       func(http.ResponseWriter) {},
		"no JSON": func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, "[[[")
		},
		"failing": func(w http.ResponseWriter) { http.Error(w, "no", http.StatusInternalServerError) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { answer(w) }))
			defer s.Close()
			r := newRig(t, one(remote(s.URL)))
			if got := r.until("down", func(s Status) bool { return s.State == Down }); got.Detail == "" {
				t.Error("it does not say why")
			}
			r.stop()
		})
	}
}

var block = sync.OnceValue(func() string { return strings.Repeat("x", 1<<20) })

// endless writes until nobody reads any more.
func endless(w io.Writer, head string) {
	_, err := fmt.Fprint(w, head)
	for err == nil {
		_, err = io.WriteString(w, block())
	}
}
