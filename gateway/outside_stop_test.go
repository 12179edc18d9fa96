package gateway_test

import (
	"net/http"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// A host that stops does not wait for agents outside: their streams are open for as long as they are there.
func TestStopWithMCPStream(t *testing.T) {
	t.Parallel()
	o := openHost(t, t.TempDir(), outsideOn)
	s, err := sdk.NewClient(&sdk.Implementation{Name: "desk", Version: "1"}, nil).Connect(t.Context(),
		&sdk.StreamableClientTransport{Endpoint: o.url + "/mcp", HTTPClient: &http.Client{Transport: bearer{annsToken, ""}}, MaxRetries: -1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if _, err := s.ListTools(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	o.stop()
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it took %s", took)
	}
}

// Whoever connects again and again, and never says goodbye, gets in: the connection that was used least lately is closed for it.
func TestMCPManyConnections(t *testing.T) {
	t.Parallel()
	o := openHost(t, t.TempDir(), outsideOn)
	used, err := o.mcp(bearer{annsToken, ""})
	if err != nil {
		t.Fatal(err)
	}
	hello := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"desk","version":"1"}}}`
	for i := range 70 {
		if got := o.status("POST", "/mcp", annsToken, hello, "Accept", "application/json, text/event-stream"); got != http.StatusOK {
			t.Fatalf("connection %d is answered with %d", i, got)
		}
		if _, err := used.ListTools(t.Context(), nil); err != nil {
			t.Fatalf("the connection in use, after %d others: %v", i, err)
		}
	}
}
