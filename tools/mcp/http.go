package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"mime"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"parley/channels"
	"parley/channels/pattern"
)

// maxStream is how many bytes of a stream of events are read; a new one is opened then.
const maxStream = 256 << 20

// dialHTTP makes a connection to a server that is reached by its URL. No I/O.
func (s *server) dialHTTP(context.Context) (*dialed, error) {
	u, err := url.Parse(s.conf.URL)
	if err != nil {
		return nil, errors.New("its address is not valid")
	}
	base := &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: (&net.Dialer{Timeout: 10 * time.Second}).DialContext, TLSHandshakeTimeout: 10 * time.Second,
		ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 4, IdleConnTimeout: 90 * time.Second, MaxResponseHeaderBytes: 64 << 10,
	}
	m := &messenger{base: base, to: u, headers: s.conf.Headers}
	client := &http.Client{Transport: m, CheckRedirect: func(r *http.Request, via []*http.Request) error {
		switch {
		case !sameHost(r.URL, u):
			return errors.New("it redirects to another host, which is not followed")
		case len(via) >= 5:
			return errors.New("it redirects too often")
		}
		return nil
	}}
	t := &sdk.StreamableClientTransport{Endpoint: s.conf.URL, HTTPClient: client, MaxRetries: 3, MaxEventSize: -1} // events are bounded by the messenger
	return &dialed{transport: t, end: func() string { return "" }, free: base.CloseIdleConnections, said: m.said, legacy: m.legacy(s.conf.URL, client)}, nil
}

func sameHost(a, b *url.URL) bool { return a.Scheme == b.Scheme && a.Host == b.Host }

// messenger adds the configured headers to requests to the server, to no other host, and makes the answers fit to be read.
type messenger struct {
	base    http.RoundTripper
	to      *url.URL
	headers map[string]channels.Secret
	first   atomic.Int64           // status of the first answer
	page    atomic.Pointer[[]byte] // the beginning of the first answer, where it is an error
	old     atomic.Bool            // the transport of 2024-11-05 is spoken
}

// unreachedError says that a request did not get to the server.
type unreachedError struct{ cause error }

func (e *unreachedError) Error() string { return "it was not reached: " + e.cause.Error() }
func (e *unreachedError) Unwrap() error { return e.cause }

// attempt is what became of the request of one call.
type attempt struct {
	unreached atomic.Pointer[unreachedError]
	status    atomic.Int64 // of an answer that is an error of HTTP
	said      atomic.Pointer[[]byte]
	forgotten atomic.Bool            // 404 for the call's session
	scope     atomic.Pointer[string] // the rights that the call lacks, "" = not named; nil = it lacks none
}

// noSession is in errors of servers that do not know the session of a request, because they were started anew.
// source: modelcontextprotocol/typescript-sdk (Bad Request: No valid session ID provided)
var noSession = pattern.New(`(?i)\bsession\b.{0,40}\b(?:not found|invalid|expired|unknown|missing|required|terminated)|\b(?:no valid|invalid|unknown|expired|missing)\b.{0,20}\bsession\b`)

// expired reports whether a call was not done because the server does not know its session any more: the client begins a new one then.
// source: modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management (404)
func (a *attempt) expired(err error) bool {
	if errors.Is(err, sdk.ErrSessionMissing) || a.forgotten.Load() { // the SDK has another error where its own stream heard the 404 first
		return true
	}
	page := a.said.Load()
	return a.status.Load() == http.StatusBadRequest && page != nil && noSession.Match(*page)
}

type attemptKey struct{}

// RoundTrip implements http.RoundTripper.
func (m *messenger) RoundTrip(r *http.Request) (*http.Response, error) {
	if !sameHost(r.URL, m.to) {
		return nil, errors.New("a request to another host is not sent")
	}
	id := requestID(r)
	connected := false
	try, _ := r.Context().Value(attemptKey{}).(*attempt)
	r = r.Clone(httptrace.WithClientTrace(r.Context(), &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected = true }}))
	for name, v := range m.headers {
		r.Header.Set(name, v.Reveal())
	}
	resp, err := m.base.RoundTrip(r)
	if err != nil {
		if !connected && r.Context().Err() == nil {
			gone := &unreachedError{err}
			if try != nil {
				try.unreached.Store(gone)
			}
			err = gone
		}
		return nil, err
	}
	if m.first.CompareAndSwap(0, int64(resp.StatusCode)) && resp.StatusCode >= http.StatusBadRequest {
		m.keepPage(resp)
	}
	if try != nil && resp.StatusCode >= http.StatusBadRequest {
		try.status.Store(int64(resp.StatusCode))
		try.forgotten.Store(resp.StatusCode == http.StatusNotFound && r.Header.Get("Mcp-Session-Id") != "")
		try.said.Store(begin(resp))
		try.scope.Store(missingScope(resp, *try.said.Load()))
		if id != nil && !m.old.Load() {
			refuseAlone(resp, *try.said.Load(), id)
		}
	}
	switch {
	case r.Method != http.MethodPost:
	case id == nil:
		unanswered(resp)
	default:
		trueType(resp)
	}
	resp.Body = m.body(r, resp, id)
	resp.ContentLength = -1
	resp.Header.Del("Content-Length")
	return resp, nil
}

// refuseAlone makes an error of HTTP one of the call that it answers: the SDK ends the whole connection where such an error is no message. A server that
// does not know the session (404) is left to it.
func refuseAlone(resp *http.Response, page []byte, id json.RawMessage) {
	if resp.StatusCode == http.StatusNotFound || bytes.Contains(page, []byte(`"jsonrpc"`)) {
		return
	}
	_ = resp.Body.Close()
	resp.Header.Set("Content-Type", "application/json")
	resp.Body = io.NopCloser(strings.NewReader(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%q}}`, id, codeRejected, http.StatusText(resp.StatusCode))))
}

// scopeParam matches the rights in the challenge of an answer.
var scopeParam = pattern.New(`\bscope="([^"]{1,200})"`)

// missingScope gives the rights that a request lacks, "" where the answer does not name them; nil = it says nothing of the kind.
// source: modelcontextprotocol.io/specification/2025-11-25/basic/authorization#scope-challenge-handling
func missingScope(resp *http.Response, page []byte) *string {
	challenge := resp.Header.Get("Www-Authenticate")
	if resp.StatusCode != http.StatusForbidden || !strings.Contains(challenge, "insufficient_scope") && !bytes.Contains(page, []byte("insufficient_scope")) {
		return nil
	}
	scope := ""
	if m := scopeParam.FindStringSubmatch(challenge); m != nil {
		scope = m[1]
	}
	return &scope
}

// keepPage reads the beginning of a page with an error: it may say which versions of the protocol the server takes.
func (m *messenger) keepPage(resp *http.Response) {
	m.page.Store(begin(resp))
}

// begin gives the beginning of an answer, which can be read again.
func begin(resp *http.Response) *[]byte {
	page, _ := io.ReadAll(io.LimitReader(resp.Body, maxHead)) // an error comes again with what follows
	resp.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(page), resp.Body), resp.Body}
	return &page
}

// said gives what the page with an error says that was the first answer; "" = there was none.
func (m *messenger) said() string {
	if page := m.page.Load(); page != nil {
		return said(*page)
	}
	return ""
}

// unanswered makes a refusal of a message that wants no answer one that it was taken: nothing follows from it, and servers that do not know
// one refuse it in many ways.
//
// source: outline/outline#12572 (500), hyperdxio/hyperdx#2686, samanhappy/mcphub#629 (400)
func unanswered(resp *http.Response) {
	switch resp.StatusCode {
	case http.StatusBadRequest, http.StatusMethodNotAllowed, http.StatusUnprocessableEntity, http.StatusInternalServerError, http.StatusNotImplemented, http.StatusBadGateway:
		_ = resp.Body.Close()
		resp.Body, resp.StatusCode, resp.Status = http.NoBody, http.StatusAccepted, "202 Accepted"
	}
}

// trueType says of the answer to a request what it is, where servers call it something else, or nothing: a message, or a stream of events.
//
// source: modelcontextprotocol/java-sdk#748 (text/plain), helidon-io/helidon-mcp#97 (no type)
func trueType(resp *http.Response) {
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if kind == "text/event-stream" || kind == "application/json" || resp.StatusCode >= http.StatusMultipleChoices || resp.StatusCode == http.StatusNoContent {
		return
	}
	in := bufio.NewReaderSize(resp.Body, maxHead)
	resp.Body = struct {
		io.Reader
		io.Closer
	}{in, resp.Body}
	begin, _ := in.Peek(1) // what cannot be read is so later as well
	switch {
	case len(begin) == 0:
	case strings.IndexByte("{[ \r\n\t", begin[0]) >= 0:
		resp.Header.Set("Content-Type", "application/json")
	case strings.IndexByte(":dei", begin[0]) >= 0: // data, event, id
		resp.Header.Set("Content-Type", "text/event-stream")
	}
}

// body gives the body of an answer as it is read.
func (m *messenger) body(r *http.Request, resp *http.Response, id json.RawMessage) io.ReadCloser {
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch {
	case kind == "text/event-stream" && m.old.Load() && r.Method == http.MethodGet: // there is one for all messages
		return newEventBody(resp.Body, math.MaxInt64, true)
	case kind == "text/event-stream":
		return newEventBody(resp.Body, maxStream, false)
	case kind == "application/json" && resp.StatusCode < http.StatusMultipleChoices:
		return &answerBody{ReadCloser: resp.Body, id: id}
	}
	return &bounded{resp.Body, maxPage, maxPage}
}

// requestID returns the id of the JSON-RPC request that an HTTP request carries; nil when it carries none.
func requestID(r *http.Request) json.RawMessage {
	if r.Method != http.MethodPost || r.GetBody == nil {
		return nil
	}
	body, err := r.GetBody()
	if err != nil {
		return nil
	}
	defer func() { _ = body.Close() }()
	var e envelope
	if _, err := io.Copy(&e, body); err != nil || !e.asks || len(e.id) == 0 || len(e.id) == maxID {
		return nil
	}
	return bytes.Clone(e.id)
}

// legacy returns how the server is reached over the transport of 2024-11-05 (HTTP with a stream of events), which the protocol wants
// tried when the first request of the newer one is answered with 400, 404 or 405; nil when it was not.
func (m *messenger) legacy(address string, client *http.Client) func(life context.Context) sdk.Transport {
	return func(life context.Context) sdk.Transport {
		switch m.first.Load() {
		case http.StatusBadRequest, http.StatusNotFound, http.StatusMethodNotAllowed:
		default:
			return nil
		}
		m.old.Store(true)
		return &legacyTransport{sdk.SSEClientTransport{Endpoint: address, HTTPClient: client, MaxEventSize: -1}, life}
	}
}

// legacyTransport has the SDK's stream of events live as long as the connection, not only as long as the handshake may take.
type legacyTransport struct {
	sdk.SSEClientTransport
	life context.Context //nolint:containedctx // ends the stream with the connection
}

// Connect implements sdk.Transport.
func (t *legacyTransport) Connect(ctx context.Context) (sdk.Connection, error) {
	life, cancel := context.WithCancel(t.life)
	stop := context.AfterFunc(ctx, cancel)
	c, err := t.SSEClientTransport.Connect(life) //nolint:contextcheck // ctx ends it until it is connected
	if err != nil {
		cancel()
		return nil, fmt.Errorf("the older transport (SSE, 2024-11-05) failed as well: %w", err)
	}
	if !stop() {
		cancel()
		_ = c.Close()
		return nil, ctx.Err()
	}
	return c, nil
}
