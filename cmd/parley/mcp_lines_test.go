package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestMCPBadLines has lines that are no messages answered with errors, requests around them and without params answered, and what is slow
// answered after the end of the input.
func TestMCPBadLines(t *testing.T) {
	t.Parallel()
	s := sdk.NewServer(&sdk.Implementation{Name: "parley", Version: "1"}, &sdk.ServerOptions{Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}}})
	sawEnd := make(chan struct{})
	s.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, q sdk.Request) (sdk.Result, error) {
			if method == "tools/list" {
				if got := cursorOf(q.GetParams()); got != "" {
					t.Errorf("the cursor of no params is %q", got)
				}
				select {
				case <-sawEnd:
				case <-time.After(20 * time.Second):
					t.Error("the input did not end while a request was at work")
				}
				return &sdk.ListToolsResult{Tools: []*sdk.Tool{}}, nil
			}
			return next(ctx, method, q)
		}
	})
	in := strings.Join([]string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`,
		`garbage`, ``, `[]`, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`, `{"half":`,
	}, "\n")
	var out bytes.Buffer
	if err := s.Run(t.Context(), newLines(&ends{strings.NewReader(in), sawEnd}, &out)); err != nil {
		t.Errorf("it ended with %v", err)
	}
	got := out.String()
	for text, times := range map[string]int{`"id":1`: 1, `"id":2,"result"`: 1, `-32700`: 2, `-32600`: 1, `"id":null`: 3} {
		if n := strings.Count(got, text); n != times {
			t.Errorf("%s is there %d times instead of %d in:\n%s", text, n, times, got)
		}
	}
}

// ends says when all was read.
type ends struct {
	r    *strings.Reader
	over chan struct{}
}

func (e *ends) Read(b []byte) (int, error) {
	n, err := e.r.Read(b)
	if err != nil {
		close(e.over)
	}
	return n, err
}
