package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
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

	arguments renames // of its arguments
}

// Spec implements tools.Tool.
func (t *tool) Spec() tools.Spec { return t.spec }

// Call implements tools.Tool. What goes wrong on the server's side is a result that says so: the turn goes on without it.
func (t *tool) Call(ctx context.Context, c tools.Call) (tools.Result, error) {
	return t.call(ctx, c, false)
}

// call is Call; again: the server had forgotten the session, and a new one was begun for this call.
func (t *tool) call(ctx context.Context, c tools.Call, again bool) (tools.Result, error) {
	s := t.server
	if !s.serves(c.Caller.Sandboxed) {
		return failed("This session may not use this tool. Nothing was done."), nil
	}
	l, why := s.current()
	if l == nil {
		return failed("The MCP server %s is not running: %s. Nothing was done; try again later, or continue without it.", s.name, why), nil
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
		return failed("The MCP server %s is busy. Nothing was done; try again later.", s.name), nil
	}
	p := &sdk.CallToolParams{Name: t.name, Arguments: t.arguments.restore(c.Args)}
	if c.Progress != nil {
		token, unfollow := l.follow(c.Progress)
		defer unfollow()
		p.SetProgressToken(token)
	}
	var try attempt
	tried := context.WithValue(call, attemptKey{}, &try)
	res, err := within(call, func() (*sdk.CallToolResult, error) {
		defer func() { <-s.slots }()
		return l.session.CallTool(tried, p)
	})
	if err == nil {
		return resultOf(res, t.name, s.secretless), nil
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return tools.Result{}, ctx.Err()
	}
	if !again && try.expired(err) {
		l.expire()
		if s.next(ctx, l) {
			return t.call(ctx, c, true)
		}
	}
	return t.failure(call, l, limit, &try, err), nil
}

// failure words why a call gave no result.
func (t *tool) failure(call context.Context, l *link, limit time.Duration, try *attempt, err error) tools.Result {
	s := t.server
	refused, answered := errors.AsType[*jsonrpc.Error](err)
	_, ended := errors.AsType[*misbehaved](err)
	gone, status := try.unreached.Load(), int(try.status.Load())
	switch {
	case gone != nil:
		l.suspect()
		return failed("The MCP server %s is not reachable: %s. Nothing was done; try again later, or continue without it.", s.name, s.plain(gone.cause))
	case answered && refused.Code == codeDropped:
		return failed("The MCP server %s answered the call, but the host dropped the answer: %s. The call was probably done; ask for less, or for a part.",
			s.name, s.plain(refused))
	case try.scope.Load() != nil:
		return failed("The MCP server %s refused the call: %s. Nothing was done; its other tools may work.", s.name, lackingRight(line(s.secretless(clean(*try.scope.Load())), 200)))
	case status != 0 && (!answered || refused.Code == codeRejected):
		l.suspect()
		return failed("The MCP server %s answered the call with %d %s. %s", s.name, status, http.StatusText(status), afterStatus(status))
	case answered && refused.Code != codeRejected:
		return failed("The MCP server %s refused the call: %s%s", s.name, s.plain(refused), s.secretless(details(refused)))
	case ended || l.life.Err() != nil || errors.Is(err, sdk.ErrConnectionClosed) || errors.Is(err, io.EOF):
		return failed("The MCP server %s stopped during the call. The call may have been done.", s.name)
	case errors.Is(call.Err(), context.DeadlineExceeded):
		l.suspect()
		return failed("The MCP server %s did not answer within %s. The call may have been done.", s.name, limit)
	}
	l.suspect()
	return failed("The call of the MCP server %s failed: %s. The call may have been done.", s.name, s.plain(err))
}

// lackingRight says that the token of a server lacks rights, and who can change that.
func lackingRight(scope string) string {
	what := "the right for this tool"
	if scope != "" {
		what += " (scope " + scope + ")"
	}
	return "the token that the owner of this host has set for it lacks " + what + ", and only the owner can set one that has it"
}

// codeRejected is the code of the SDK's error for a request that its transport did not deliver.
const codeRejected = -32005

// afterStatus says what an answer with an error of HTTP means for the call.
func afterStatus(status int) string {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return "Nothing was done: the owner of this host must check the headers of that server."
	case http.StatusTooManyRequests:
		return "Nothing was done; try again later."
	}
	if status < http.StatusInternalServerError {
		return "Nothing was done."
	}
	return "The call may have been done."
}

func failed(format string, a ...any) tools.Result {
	return tools.Result{Text: fmt.Sprintf(format, a...), IsError: true}
}

// maxDetails bounds what a server says of an error besides its message, in bytes.
const maxDetails = 4000

// codeURL is the code of an error of a server that wants a person to open an address first.
// source: modelcontextprotocol.io/specification/2025-11-25/client/elicitation (URLElicitationRequiredError)
const codeURL = -32042

// details gives what an error of a server says besides its message; with the addresses that a person has to open.
func details(e *jsonrpc.Error) string {
	if len(e.Data) == 0 || string(e.Data) == "null" {
		return ""
	}
	var wanted struct {
		Elicitations []struct{ URL, Message string }
	}
	if e.Code == codeURL && json.Unmarshal(e.Data, &wanted) == nil && len(wanted.Elicitations) > 0 {
		out := ". Nothing was done. Tell the person to open this address, and call the tool again after that:"
		for _, w := range wanted.Elicitations {
			out += "\n" + line(w.URL+" "+w.Message, maxDetails/4)
		}
		return out
	}
	text := clean(string(e.Data))
	return "\nIts details: " + strings.ToValidUTF8(text[:min(len(text), maxDetails)], "")
}
