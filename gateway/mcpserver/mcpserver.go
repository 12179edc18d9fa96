package mcpserver

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"parley/gateway/api"
	"parley/router/toolhost"
	"parley/tools"
)

// Host is the part of toolhost.Host that the server calls.
type Host interface {
	CallExternal(ctx context.Context, c toolhost.ExternalCall) (tools.Result, error)
	ExternalTools(ctx context.Context, by toolhost.ExternalAgent) ([]tools.Spec, error)
}

// Deps holds the parts of the host that the handler uses.
type Deps struct {
	Host    Host
	On      func() bool     // gateway.mcp.enabled, asked at each request
	Done    <-chan struct{} // closed when the host begins to stop: streams end, and no caller waits for a tool any more
	Log     *slog.Logger
	Version string
}

const (
	maxBody      = 1 << 20
	idleFor      = time.Hour // an unused connection is closed after this
	maxConns     = 64        // connections of one principal; for one more the one is closed that was used least lately
	connHeader   = "Mcp-Session-Id"
	callHeader   = "X-Parley-Call" // set here, whatever a client sends: the id of the JSON-RPC request
	ownerHeader  = "X-Parley-Owner"
	instructions = "You are an external agent of this host. These tools reach its agents and chats from a session of your own (current). The host does not wake you: " +
		"it puts late replies of sessions_send, and results of sub-agents (sessions_spawn), into that session. Read them with sessions_history and sessionKey current."
)

type handler struct {
	Deps
	next *sdk.StreamableHTTPHandler

	mu      sync.Mutex
	servers map[string]*client // by principal
}

// client is the server of one principal, with its connections.
type client struct {
	*sdk.Server
	used map[string]time.Time // when each connection was used last; handler.mu
}

// Handler serves /mcp. Put what knows the principal (api.With), and what keeps other sites out, in front.
func Handler(d Deps) http.Handler {
	h := &handler{Deps: d, servers: map[string]*client{}}
	// Which names the host goes by is checked in front, also behind a reverse proxy on this machine, where the library's own check is wrong.
	h.next = sdk.NewStreamableHTTPHandler(h.server, &sdk.StreamableHTTPOptions{SessionTimeout: idleFor, MaxRequestBodyBytes: maxBody, DisableLocalhostProtection: true})
	return h
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p := api.Caller(r.Context())
	switch conn := r.Header.Get(connHeader); {
	case !h.On():
		api.WriteError(w, api.Refuse(http.StatusNotFound, "parley's MCP server is disabled: set gateway.mcp.enabled to true in the configuration, then run parley reload"))
	case p.Scope == "":
		api.WriteError(w, api.Refuse(http.StatusUnauthorized, "the request needs a token: send it as Authorization: Bearer …"))
	case !p.Scope.Allows(api.Write):
		api.WriteError(w, api.Refuse(http.StatusForbidden, "%s", api.RefuseScope("this", api.Write, p)))
	case conn != "" && conn[:strings.LastIndexByte(conn, '.')+1] != prefix(p.Name):
		http.Error(w, "session not found", http.StatusNotFound) // as the library says it: the client begins again
	default:
		call, err := h.marked(w, r, p)
		if wrong, ok := errors.AsType[*badMessage](err); ok {
			wrong.write(w)
			return
		} else if err != nil {
			api.WriteError(w, err)
			return
		}
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		go func() {
			select {
			case <-h.Done:
				cancel()
			case <-ctx.Done():
			}
		}()
		h.next.ServeHTTP(w, call.WithContext(ctx))
	}
}

// prefix begins the ids of a principal's connections: nobody uses those of another.
func prefix(name string) string { return url.PathEscape(name) + "." }

// marked gives the request with what the tools need to know of it: the id of its call, and whether it is the owner's.
func (h *handler) marked(w http.ResponseWriter, r *http.Request, p api.Principal) (*http.Request, error) {
	r = r.Clone(r.Context())
	r.Header.Del(callHeader)
	r.Header.Del(ownerHeader)
	if p.Scope.Allows(api.Admin) {
		r.Header.Set(ownerHeader, "1")
	}
	if r.Method != http.MethodPost {
		return r, nil
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if _, long := errors.AsType[*http.MaxBytesError](err); long {
		return nil, api.Refuse(http.StatusRequestEntityTooLarge, "the body is longer than %d bytes", maxBody)
	} else if err != nil {
		return nil, api.Refuse(http.StatusRequestTimeout, "the body did not arrive in time")
	}
	if err := checkMessage(body); err != nil {
		return nil, err
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	if id := callID(body); id != "" {
		r.Header.Set(callHeader, id)
	}
	return r, nil
}

// callID gives the id of a JSON-RPC request; "" when the body is none, or several.
func callID(body []byte) string {
	var call struct {
		ID json.RawMessage `json:"id"`
	}
	if json.Unmarshal(body, &call) != nil || len(call.ID) == 0 || len(call.ID) > 200 || string(call.ID) == "null" {
		return ""
	}
	return url.QueryEscape(string(call.ID))
}

// server gives the server of the request's principal. Clients often leave without a word: the connection that has been used least lately
// makes room for a new one when there are too many.
func (h *handler) server(r *http.Request) *sdk.Server {
	name, conn := api.Caller(r.Context()).Name, r.Header.Get(connHeader)
	h.mu.Lock()
	defer h.mu.Unlock()
	c := h.servers[name]
	if c == nil {
		c = &client{used: map[string]time.Time{}}
		c.Server = sdk.NewServer(&sdk.Implementation{Name: "parley", Version: h.Version}, &sdk.ServerOptions{Instructions: instructions,
			Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}}, GetSessionID: func() string { return h.begun(c, prefix(name)+rand.Text()) }})
		c.AddReceivingMiddleware(h.tools(name))
		h.servers[name] = c
	}
	if conn == "" {
		c.closeOldest()
	} else if _, open := c.used[conn]; open {
		c.used[conn] = time.Now()
	}
	return c.Server
}

// begun notes a connection that is made now.
func (h *handler) begun(c *client, conn string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	c.used[conn] = time.Now()
	return conn
}

// closeOldest closes the connection that was used least lately, when there are too many, and forgets those that have ended. handler.mu is
// held, and so nothing waits for the end of a connection here.
func (c *client) closeOldest() {
	used, n := map[string]time.Time{}, 0
	var oldest *sdk.ServerSession
	for s := range c.Sessions() {
		at, open := c.used[s.ID()]
		if !open { // it is being closed
			continue
		}
		used[s.ID()] = at
		delete(c.used, s.ID())
		if n++; oldest == nil || at.Before(used[oldest.ID()]) {
			oldest = s
		}
	}
	if n >= maxConns {
		delete(used, oldest.ID())
		go func() { _ = oldest.Close() }()
	}
	for conn, at := range c.used {
		if time.Since(at) < time.Minute { // it is being made
			used[conn] = at
		}
	}
	c.used = used
}

// tools answers what is asked about tools; everything else the library does.
func (h *handler) tools(name string) sdk.Middleware {
	return func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
			by := toolhost.ExternalAgent{Name: name}
			call := ""
			if x := req.GetExtra(); x != nil {
				by.Owner, call = x.Header.Get(ownerHeader) != "", x.Header.Get(callHeader)
			}
			switch q := req.GetParams().(type) {
			case *sdk.ListToolsParams:
				return h.list(ctx, by)
			case *sdk.CallToolParamsRaw:
				if call == "" {
					call = rand.Text() // one of several: it is no repeat of anything
				}
				return h.call(ctx, toolhost.ExternalCall{By: by, Conn: req.GetSession().ID(), ID: call, Tool: q.Name, Args: q.Arguments})
			}
			return next(ctx, method, req)
		}
	}
}

func (h *handler) list(ctx context.Context, by toolhost.ExternalAgent) (sdk.Result, error) {
	specs, err := h.Host.ExternalTools(ctx, by)
	if err != nil {
		return nil, err
	}
	out := &sdk.ListToolsResult{Tools: []*sdk.Tool{}}
	for _, s := range specs {
		out.Tools = append(out.Tools, &sdk.Tool{Name: s.Name, Description: s.Description, InputSchema: s.Schema})
	}
	return out, nil
}

func (h *handler) call(ctx context.Context, c toolhost.ExternalCall) (sdk.Result, error) {
	res, err := h.Host.CallExternal(ctx, c)
	if err != nil {
		if ctx.Err() != nil { // canceled, or the connection ended: what was begun goes on
			return nil, ctx.Err()
		}
		h.Log.Error("tool call of an external agent failed", "tool", c.Tool, "principal", c.By.Name, "err", err)
		return nil, fmt.Errorf("the host could not run %s; the host's log has the reason", c.Tool)
	}
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: res.Text}}, IsError: res.IsError}, nil
}
