package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"parley/tools"
)

// tool is one tool of a server, as the server listed it.
type tool struct {
	server *server
	name   string // the server's own
	spec   tools.Spec
}

// Spec implements tools.Tool.
func (t *tool) Spec() tools.Spec { return t.spec }

// Call implements tools.Tool. What goes wrong on the server's side is a result that says so: the turn goes on without it.
func (t *tool) Call(ctx context.Context, c tools.Call) (tools.Result, error) {
	s := t.server
	if !s.serves(c.Caller.Sandboxed) {
		return failed("This tool is not for this session. Nothing was done."), nil
	}
	l, why := s.current()
	if l == nil {
		return failed("The MCP server %s is not running: %s. Nothing was done; try again later, or go on without it.", s.name, why), nil
	}
	limit := time.Duration(s.conf.TimeoutSeconds) * time.Second
	call, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	stop := context.AfterFunc(l.life, cancel) //nolint:contextcheck // the call ends with the connection as well
	defer stop()
	l.calls.Add(1)
	defer l.calls.Add(-1)
	select {
	case s.slots <- struct{}{}:
	case <-call.Done():
		if errors.Is(ctx.Err(), context.Canceled) {
			return tools.Result{}, ctx.Err()
		}
		return failed("The MCP server %s did not get to the call. Nothing was done; try again later.", s.name), nil
	}
	p := &sdk.CallToolParams{Name: t.name, Arguments: c.Args}
	if c.Progress != nil {
		token, unfollow := l.follow(c.Progress)
		defer unfollow()
		p.SetProgressToken(token)
	}
	res, err := within(call, func() (*sdk.CallToolResult, error) {
		defer func() { <-s.slots }()
		return l.session.CallTool(call, p)
	})
	if err == nil {
		return resultOf(res, s.secretless), nil
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return tools.Result{}, ctx.Err()
	}
	return t.failure(call, l, limit, err), nil
}

// failure words why a call gave no result.
func (t *tool) failure(call context.Context, l *link, limit time.Duration, err error) tools.Result {
	s := t.server
	refused, answered := errors.AsType[*jsonrpc.Error](err)
	_, ended := errors.AsType[*misbehaved](err)
	switch {
	case answered:
		return failed("The MCP server %s refused the call: %s", s.name, s.plain(refused))
	case ended || l.life.Err() != nil || errors.Is(err, sdk.ErrConnectionClosed) || errors.Is(err, io.EOF):
		return failed("The MCP server %s stopped while the call was at work. Whether it was done is not known.", s.name)
	case errors.Is(call.Err(), context.DeadlineExceeded):
		l.suspect()
		return failed("The MCP server %s did not answer within %s. Whether the call was done is not known.", s.name, limit)
	}
	l.suspect()
	return failed("The call of the MCP server %s failed: %s. Whether it was done is not known.", s.name, s.plain(err))
}

func failed(format string, a ...any) tools.Result {
	return tools.Result{Text: fmt.Sprintf(format, a...), IsError: true}
}
