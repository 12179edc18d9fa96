package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// mcpCmd lets a program that starts MCP servers as commands reach the running host's.
type mcpCmd struct{}

// Help is more about the command.
func (mcpCmd) Help() string {
	return "The command speaks MCP on standard input and output. It needs a running host with gateway.mcp.enabled."
}

// connectWithin is how long the host may take to answer the first request.
const connectWithin = 15 * time.Second

// Run ends with standard input.
func (mcpCmd) Run(e *env) error {
	b := &bridge{env: e}
	defer b.close()
	first, err := b.session(e.ctx, nil)
	if err != nil {
		return err
	}
	s := sdk.NewServer(&sdk.Implementation{Name: "parley", Version: version}, &sdk.ServerOptions{Instructions: first.InitializeResult().Instructions,
		Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}}})
	s.AddReceivingMiddleware(b.forward)
	if err := s.Run(e.ctx, newLines(os.Stdin, os.Stdout)); err != nil && e.ctx.Err() == nil && !errors.Is(err, sdk.ErrConnectionClosed) {
		return fmt.Errorf("standard input: %w", err)
	}
	return nil
}

// bridge passes calls on to the running host. Its connection is made anew when it is lost, as after a restart of the host.
type bridge struct {
	env *env

	mu  sync.Mutex
	now *sdk.ClientSession
}

// session gives the connection; broken is one that does not work any more.
func (b *bridge) session(ctx context.Context, broken *sdk.ClientSession) (*sdk.ClientSession, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.now != nil && b.now != broken {
		return b.now, nil
	}
	h, err := running(b.env)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, connectWithin)
	defer cancel()
	t := &sdk.StreamableClientTransport{Endpoint: h.base + "/mcp", HTTPClient: &http.Client{Transport: carrier{h}}, DisableStandaloneSSE: true, MaxRetries: -1}
	s, err := sdk.NewClient(&sdk.Implementation{Name: "parley mcp", Version: version}, nil).Connect(ctx, t, nil)
	if err != nil {
		return nil, fmt.Errorf("connect to the MCP server of the host at %s: %w", h.base, err)
	}
	b.now = s
	return s, nil
}

func (b *bridge) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.now != nil {
		_ = b.now.Close() // the host may be gone already
	}
}

// carrier sends requests as the command line does, and says in words what an answer that is an error says.
type carrier struct{ h *host }

// RoundTrip implements http.RoundTripper.
func (c carrier) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	resp, err := c.h.do(r)
	if err != nil {
		return nil, err
	}
	switch resp.StatusCode {
	case http.StatusNotFound:
		if r.Header.Get("Mcp-Session-Id") != "" { // the library knows what that means
			return resp, nil
		}
	case http.StatusUnauthorized, http.StatusForbidden:
	default:
		return resp, nil
	}
	defer func() { _ = resp.Body.Close() }()
	return nil, refusal(resp)
}

// forward answers what is asked about tools with what the host says.
func (b *bridge) forward(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		switch q := req.GetParams().(type) {
		case *sdk.ListToolsParams:
			return again(ctx, b, func(s *sdk.ClientSession) (*sdk.ListToolsResult, error) {
				return s.ListTools(ctx, &sdk.ListToolsParams{Cursor: cursorOf(q)})
			})
		case *sdk.CallToolParamsRaw:
			if q == nil {
				return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "tools/call needs params with a name"}
			}
			return again(ctx, b, func(s *sdk.ClientSession) (*sdk.CallToolResult, error) {
				return s.CallTool(ctx, &sdk.CallToolParams{Name: q.Name, Arguments: q.Arguments})
			})
		}
		return next(ctx, method, req)
	}
}

// cursorOf gives where a list goes on. A request without params begins it: then p holds a nil pointer.
func cursorOf(p sdk.Params) string {
	if q, ok := p.(*sdk.ListToolsParams); ok && q != nil {
		return q.Cursor
	}
	return ""
}

// notSent is the code of the library's own error for a request that the host did not take.
const notSent = -32005

// again makes a call, and once more when the host says that it does not know the connection: then nothing of it was done.
func again[R sdk.Result](ctx context.Context, b *bridge, call func(*sdk.ClientSession) (R, error)) (out R, err error) {
	s, err := b.session(ctx, nil)
	if err != nil {
		return out, err
	}
	out, err = call(s)
	if said, ok := errors.AsType[*jsonrpc.Error](err); err == nil || ctx.Err() != nil || ok && said.Code != notSent && !errors.Is(err, sdk.ErrSessionMissing) {
		return out, err // the host's own word
	}
	fresh, gone := b.session(ctx, s)
	switch {
	case gone != nil:
		return out, gone
	case errors.Is(err, sdk.ErrSessionMissing):
		return call(fresh)
	}
	return out, fmt.Errorf("%w; the host may have made the call", err)
}
