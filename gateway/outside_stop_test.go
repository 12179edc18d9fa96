package gateway_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"parley/agent"
	"parley/gateway/api"
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
	if took := time.Since(began); took > 8*time.Second { // who waits for a stream waits for all of the nine seconds
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

// A client that hangs up and sends the same request again, by its idempotency key, has the answer of the first one.
func TestOpenAIComesAgain(t *testing.T) {
	t.Parallel()
	o := openHost(t, t.TempDir(), outsideOn)
	c := o.client(annsToken, "Idempotency-Key", "k1")
	begun, goOn := make(chan bool), make(chan bool)
	o.model.does(func(ctx context.Context, _ agent.Prompt, yield func(string)) error {
		close(begun)
		select {
		case <-goOn:
			yield("only once")
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	ctx, hangUp := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := c.Chat.Completions.New(ctx, talk("parley", "", "slowly"))
		ended <- err
	}()
	<-begun
	hangUp()
	if <-ended == nil {
		t.Fatal("it did not hang up")
	}
	o.over(http.MethodPost, "/v1/") // the host has noticed
	close(goOn)
	x, err := c.Chat.Completions.New(t.Context(), talk("parley", "", "slowly"))
	if err != nil || x.Choices[0].Message.Content != "only once" {
		t.Errorf("%+v %v", x, err)
	}
}

// told makes a request of the API, with a body when it is a POST, and reads its answer.
func told[Out any](o *open, method, path, body string) (out Out, status int) {
	o.t.Helper()
	req, err := http.NewRequestWithContext(o.t.Context(), method, o.url+path, strings.NewReader(body))
	if err != nil {
		o.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+ownersToken)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		o.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	if err := json.NewDecoder(res.Body).Decode(&out); err != nil {
		o.t.Fatal(err)
	}
	return out, res.StatusCode
}

// Whoever only looks at a run, with no time to wait, sees its end too when its message was answered by another's turn.
func TestLookAtARunOfABatch(t *testing.T) {
	t.Parallel()
	o := openHost(t, t.TempDir(), outsideOn)
	begun, goOn := make(chan bool, 10), make(chan bool)
	o.model.does(func(_ context.Context, _ agent.Prompt, yield func(string)) error {
		begun <- true
		<-goOn
		yield("first")
		return nil
	})
	say := func() api.Said {
		said, status := told[api.Said](o, "POST", "/api/sessions/main/messages", `{"message": "hello"}`)
		if status != http.StatusOK {
			t.Fatal(status)
		}
		return said
	}
	say()
	<-begun
	say()
	third := say()
	close(goOn)
	for _, timeout := range []string{"20000", "0"} {
		x, _ := told[api.Waited](o, "GET", "/api/runs/"+string(third.Run)+"/wait?timeoutMs="+timeout, "")
		if !x.Final || x.Status != "ok" || x.Reply == "" {
			t.Errorf("within %s ms: %+v", timeout, x)
		}
	}
}

// "last" is a chat outside, also where there is one session for all: the page is none.
func TestAgentToLast(t *testing.T) {
	t.Parallel()
	o := openHost(t, t.TempDir(), outsideOn+"\nsession: {scope: global}")
	if x, status := told[api.Failure](o, "POST", "/api/agent", `{"message": "hello", "to": "last"}`); status != http.StatusBadRequest || !strings.Contains(x.Error, "no last chat") {
		t.Errorf("before anybody wrote: %d %+v", status, x)
	}
	if _, status := told[map[string]any](o, "POST", "/api/chat/messages", `{"id": "m1", "text": "hello"}`); status >= 300 {
		t.Fatal(status)
	}
	if x, status := told[api.Failure](o, "POST", "/api/agent", `{"message": "hello", "to": "last"}`); status != http.StatusBadRequest || !strings.Contains(x.Error, "only the page has written") {
		t.Errorf("after the page has: %d %+v", status, x)
	}
}
