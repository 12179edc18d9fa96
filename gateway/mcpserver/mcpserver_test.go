package mcpserver_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"parley/agent"
	"parley/gateway/gatewaytest"
)

type args map[string]any

// TestMCPServer is an external agent, by the official client over HTTP: it sees the tools, asks a session, starts a sub-agent and reads what came
// of both in its own session. A wait that it gives up ends nothing else. Nobody uses another principal's connection.
func TestMCPServer(t *testing.T) {
	t.Parallel()
	o := openHost(t, t.TempDir(), gatewaytest.OutsideOn)
	o.Chat(gatewaytest.AnnsToken, gatewaytest.Talk("parley", "u1", "hello"))
	s, err := o.MCP(gatewaytest.AnnsToken, "")
	if err != nil {
		t.Fatal(err)
	}
	list, err := s.ListTools(t.Context(), nil)
	if err != nil || len(list.Tools) != 8 || list.Tools[0].Description == "" || list.Tools[0].InputSchema == nil {
		t.Fatalf("the tools are %+v, %v", list, err)
	}
	target := "agent:main:openai:ann/u1"
	m, err := gatewaytest.CallTool(t.Context(), s, "sessions_send", args{"sessionKey": target, "message": "what is new?"})
	if err != nil || m["status"] != "ok" || m["reply"] != "echo: what is new?" {
		t.Errorf("sessions_send got %v, %v", m, err)
	}
	if m, err = gatewaytest.CallTool(t.Context(), s, "sessions_spawn", args{"task": "count"}); err != nil || m["status"] != "accepted" {
		t.Errorf("sessions_spawn got %v, %v", m, err)
	}
	mailbox := func(want string) {
		t.Helper()
		for until := time.Now().Add(20 * time.Second); ; {
			m, err := gatewaytest.CallTool(t.Context(), s, "sessions_history", args{"sessionKey": "current"})
			b, _ := json.Marshal(m)
			if err == nil && strings.Contains(string(b), want) {
				return
			}
			if time.Now().After(until) {
				t.Fatalf("its own session has %s, %v", b, err)
			}
			<-time.After(20 * time.Millisecond)
		}
	}
	mailbox("Status: success")

	// A wait that is given up.
	began, goOn := make(chan bool, 1), make(chan bool)
	o.Model.Does(func(ctx context.Context, p agent.Prompt, yield func(string)) error {
		began <- true
		select {
		case <-goOn:
			yield("late: " + gatewaytest.Said(p))
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	ctx, giveUp := context.WithCancel(t.Context())
	given := make(chan error, 1)
	go func() {
		_, err := gatewaytest.CallTool(ctx, s, "sessions_send", args{"sessionKey": target, "message": "slowly", "timeoutSeconds": 600})
		given <- err
	}()
	<-began
	giveUp()
	if err := <-given; err == nil {
		t.Error("the call that was given up has a result")
	}
	close(goOn)
	mailbox("late: slowly")

	// Whose connection it is, and who may have one.
	conn := s.ID()
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	for name, x := range map[string]struct {
		token, conn string
		want        int
	}{"its own": {gatewaytest.AnnsToken, conn, 200}, "another's": {gatewaytest.BobsToken, conn, 404}, "the owner's": {gatewaytest.OwnersToken, conn, 404}, "a reader's": {gatewaytest.ReadToken, "", 403}, "nobody's": {"wrong", conn, 401}} {
		header := []string{"Accept", "application/json, text/event-stream"}
		if x.conn != "" {
			header = append(header, "Mcp-Session-Id", x.conn)
		}
		if got := o.Status("POST", "/mcp", x.token, body, header...); got != x.want {
			t.Errorf("a request of %s is answered with %d, want %d", name, got, x.want)
		}
	}
	if got := o.Status("POST", "/mcp", gatewaytest.AnnsToken, body, "Accept", "application/json, text/event-stream", "Sec-Fetch-Site", "cross-site"); got != http.StatusForbidden {
		t.Errorf("a page of another site is answered with %d", got)
	}
	if got := o.Status("POST", "/mcp", gatewaytest.AnnsToken, strings.Repeat(" ", 1<<20+1), "Accept", "application/json, text/event-stream"); got != http.StatusRequestEntityTooLarge {
		t.Errorf("a long body is answered with %d", got)
	}
	// A name that the configuration lists is the host's, although the connection comes from this machine; another one is not.
	if s, err := o.MCP(gatewaytest.AnnsToken, "box.example"); err != nil {
		t.Errorf("by a name of gateway.hosts: %v", err)
	} else if _, err := s.ListTools(t.Context(), nil); err != nil {
		t.Errorf("by a name of gateway.hosts: %v", err)
	}
	if _, err := o.MCP(gatewaytest.AnnsToken, "evil.example"); err == nil {
		t.Error("by a foreign name it connects")
	}
}

// TestMCPRepeat: the same request over the same connection asks nothing twice; over another one it is another.
//
// proves: S14
func TestMCPRepeat(t *testing.T) {
	t.Parallel()
	o := openHost(t, t.TempDir(), gatewaytest.OutsideOn)
	o.Chat(gatewaytest.AnnsToken, gatewaytest.Talk("parley", "u1", "hello"))
	one, err := o.MCP(gatewaytest.AnnsToken, "")
	if err != nil {
		t.Fatal(err)
	}
	two, err := o.MCP(gatewaytest.AnnsToken, "")
	if err != nil {
		t.Fatal(err)
	}
	asked := func() (n int) {
		for _, p := range o.Model.Asked() {
			if gatewaytest.Said(p) == "only once" {
				n++
			}
		}
		return n
	}
	body := `{"jsonrpc":"2.0","id":77,"method":"tools/call","params":{"name":"sessions_send","arguments":{"sessionKey":"agent:main:openai:ann/u1","message":"only once"}}}`
	for i, x := range []struct {
		conn string
		want int
	}{{one.ID(), 1}, {one.ID(), 1}, {two.ID(), 2}} {
		if got := o.Status("POST", "/mcp", gatewaytest.AnnsToken, body, "Accept", "application/json, text/event-stream", "Mcp-Session-Id", x.conn); got != http.StatusOK {
			t.Fatalf("request %d is answered with %d", i, got)
		}
		for until := time.Now().Add(20 * time.Second); asked() < x.want && time.Now().Before(until); {
			<-time.After(10 * time.Millisecond)
		}
		if n := asked(); n != x.want {
			t.Errorf("after request %d it was asked %d times, want %d", i, n, x.want)
		}
	}
}

// A host that stops does not wait for external agents: their streams are open for as long as they are there.
func TestStopWithMCPStream(t *testing.T) {
	t.Parallel()
	o := openHost(t, t.TempDir(), gatewaytest.OutsideOn)
	s, err := sdk.NewClient(&sdk.Implementation{Name: "desk", Version: "1"}, nil).Connect(t.Context(),
		&sdk.StreamableClientTransport{Endpoint: o.URL + "/mcp", HTTPClient: &http.Client{Transport: gatewaytest.WithToken(gatewaytest.AnnsToken)}, MaxRetries: -1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if _, err := s.ListTools(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	o.Stop()
	if took := time.Since(began); took > 8*time.Second { // who waits for a stream waits for all of the nine seconds
		t.Errorf("it took %s", took)
	}
}

// Whoever connects again and again, and never says goodbye, gets in: the connection that was used least lately is closed for it.
func TestMCPManyConnections(t *testing.T) {
	t.Parallel()
	o := openHost(t, t.TempDir(), gatewaytest.OutsideOn)
	used, err := o.MCP(gatewaytest.AnnsToken, "")
	if err != nil {
		t.Fatal(err)
	}
	hello := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"desk","version":"1"}}}`
	for i := range 70 {
		if got := o.Status("POST", "/mcp", gatewaytest.AnnsToken, hello, "Accept", "application/json, text/event-stream"); got != http.StatusOK {
			t.Fatalf("connection %d is answered with %d", i, got)
		}
		if _, err := used.ListTools(t.Context(), nil); err != nil {
			t.Fatalf("the connection in use, after %d others: %v", i, err)
		}
	}
}

// open is a host whose doors for programs of others are open.
type open struct{ *gatewaytest.Outside }

func openHost(t *testing.T, dir, more string) *open {
	return &open{gatewaytest.OpenOutside(t, dir, more)}
}
