package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/tools"
)

// The bounds of an answer, in bytes as they come over the wire. What is kept of an answer is bounded by its reader: the framing of a
// long one is many times larger, and is not kept.
const (
	maxAnswer    = 1 << 30
	maxErrorBody = 64 << 10
	maxHead      = 32 << 10 // what of it is looked at
)

// Config is what a Client needs.
type Config struct {
	Name       string // of the provider, for errors
	Key        channels.Secret
	BaseURL    string          // may have a password in it
	Deadlines  agent.Deadlines // a zero field takes its default
	HTTPClient *http.Client    // nil = one of its own
}

// Client makes the tries of one provider.
type Client struct {
	name      string
	hide      *strings.Replacer
	secrets   []string
	deadlines agent.Deadlines
	http      *http.Client
}

// New makes a Client. It opens no connection.
func New(c Config) *Client {
	d := c.Deadlines
	for _, f := range []struct {
		set *time.Duration
		def time.Duration
	}{
		{&d.Connect, agent.DefaultDeadlines.Connect},
		{&d.FirstByte, agent.DefaultDeadlines.FirstByte},
		{&d.Idle, agent.DefaultDeadlines.Idle},
		{&d.Total, agent.DefaultDeadlines.Total},
	} {
		if *f.set <= 0 {
			*f.set = f.def
		}
	}
	var own http.Client
	if c.HTTPClient != nil {
		own = *c.HTTPClient
	}
	if own.Transport == nil {
		own.Transport = transport(d.Connect)
	}
	own.Timeout = 0 // it would end long answers
	own.Transport = watchedTransport{own.Transport}
	secrets := append(tools.AddressSecrets(c.BaseURL), c.Key)
	return &Client{name: c.Name, hide: channels.Hide(secrets...), secrets: reveal(secrets), deadlines: d, http: &own}
}

// HTTP is the client that makes the requests of tries. It works only under a context made by Start. It follows no redirects, which would carry the
// key to another place: they are errors. Only a 303 to the same host is followed: a slow answer will be there. source: modal.com/docs/guide/webhook-timeouts
func (c *Client) HTTP() *http.Client { return c.http }

// transport is tuned for many turns at the same provider at once.
func transport(connect time.Duration) *http.Transport {
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            (&net.Dialer{Timeout: connect, KeepAlive: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout:    connect,
		ForceAttemptHTTP2:      true,
		MaxIdleConns:           256,
		MaxIdleConnsPerHost:    128,
		IdleConnTimeout:        90 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
		DisableCompression:     true, // a stream of small pieces gains nothing, and a bomb cannot unfold
	}
}

// Try is one request with its deadlines.
type Try struct {
	c       *Client
	parent  context.Context
	ctx     context.Context
	cancel  context.CancelCauseFunc
	idle    *time.Timer // first byte, then between pieces
	total   *time.Timer
	address string            // of the request, without what may be secret in it
	res     *http.Response    // nil = no answer has begun
	read    atomic.Int64      // bytes of the answer's body
	head    []byte            // the beginning of the body of an error status
	hide    *strings.Replacer // secrets of this try; nil = none
	secrets []string
	req     *http.Request // nil = none was made
	spoke   bool          // a part of the answer was handed over
	look    sync.Once
	sealed  []string // the opaque texts of req, once an error was looked at
	over    bool     // the answer is complete: what still comes buys no more time
	quiet   bool     // the answer may be complete: what still comes buys no more time, but what says that it is not
}

type tryKey struct{}

var (
	errFirstByte = fmt.Errorf("firstByteTimeoutSeconds passed: %w", agent.ErrNoByte)
	errIdle      = fmt.Errorf("idleTimeoutSeconds passed: %w", agent.ErrStalled)
	errTotal     = errors.New("totalTimeoutSeconds passed")
	errTooBig    = fmt.Errorf("%w: the limit is %d bytes", agent.ErrTooLarge, maxAnswer)
	errStopped   = errors.New("the reader stopped")
)

// Start begins a try. The context is for its request; Stop must be called at the end, and ends the request if it still runs.
func (c *Client) Start(parent context.Context) (context.Context, *Try) {
	t := &Try{c: c, parent: parent}
	ctx, cancel := context.WithCancelCause(parent)
	t.cancel = cancel
	t.ctx = context.WithValue(ctx, tryKey{}, t)
	t.idle = time.AfterFunc(c.deadlines.FirstByte, func() {
		if t.read.Load() == 0 {
			cancel(errFirstByte)
			return
		}
		cancel(errIdle)
	})
	t.total = time.AfterFunc(c.deadlines.Total, func() {
		if t.read.Load() == 0 {
			cancel(fmt.Errorf("%w: %w", errTotal, agent.ErrNoByte))
			return
		}
		cancel(errTotal)
	})
	return t.ctx, t
}

// Hide keeps the secrets of a request's settings and of its address out of the try's errors: servers repeat what they refuse.
func (t *Try) Hide(s agent.ModelSettings, address string) {
	if len(s.Headers)+len(s.Query)+len(s.Body) > 0 {
		secrets := append(s.Secrets(), tools.AddressSecrets(address)...)
		t.hide, t.secrets = channels.Hide(secrets...), reveal(secrets)
	}
}

// Stop ends the try.
func (t *Try) Stop() {
	t.idle.Stop()
	t.total.Stop()
	t.cancel(errStopped)
}

// quietIdle is how long a server is read behind the end of an answer, where its usage may follow.
const quietIdle = 5 * time.Second

// Ending says whether the model is done: the server is waited for a moment longer only, as some never close the connection.
func (t *Try) Ending(isDone bool) {
	if t.quiet == isDone {
		return
	}
	wait := t.c.deadlines.Idle
	if t.quiet = isDone; isDone {
		wait = min(quietIdle, wait)
	}
	t.idle.Reset(wait)
}

// Drain reads what is left of a finished answer, so that its connection can be used again. It waits at most a moment.
func (t *Try) Drain() {
	if t.res == nil {
		return
	}
	t.over = true
	t.idle.Reset(50 * time.Millisecond)
	_, _ = io.CopyN(io.Discard, t.res.Body, 8<<10) // an error only costs the connection
	_ = t.res.Body.Close()
}

// watchedTransport puts a try's eyes on its answer.
type watchedTransport struct{ next http.RoundTripper }

func (w watchedTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	t, ok := req.Context().Value(tryKey{}).(*Try)
	if !ok {
		return nil, errors.New("wire: a request outside of a try")
	}
	t.req, t.address = req, req.Method+" "+plainAddress(req.URL)
	res, err := w.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	t.res = res
	limit := int64(maxAnswer)
	if res.StatusCode >= 300 {
		limit = maxErrorBody
	}
	res.Body = &body{t: t, rc: unzipped(res.Body, res.Header.Get("Content-Encoding")), left: limit, keep: res.StatusCode >= 300}
	if res.StatusCode >= 300 && res.StatusCode < 400 {
		to := res.Header.Get("Location")
		if u, err := req.URL.Parse(to); err == nil {
			if res.StatusCode == http.StatusSeeOther && u.Scheme == req.URL.Scheme && u.Host == req.URL.Host {
				t.idle.Reset(t.c.deadlines.FirstByte) // it is at work
				return res, nil
			}
			to = plainAddress(u)
		}
		_ = res.Body.Close()
		t.head = nil
		return nil, fmt.Errorf("the server redirects (%d) to %q; set baseUrl to the final address", res.StatusCode, to)
	}
	return res, nil
}

// plainAddress gives an address without user, password and query.
func plainAddress(u *url.URL) string {
	plain := *u
	plain.RawQuery, plain.User, plain.Fragment = "", nil, ""
	return plain.String()
}

// CloseIdleConnections lets http.Client.CloseIdleConnections through.
func (w watchedTransport) CloseIdleConnections() {
	if c, ok := w.next.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// body watches and bounds the body of an answer.
type body struct {
	t    *Try
	rc   io.ReadCloser
	left int64
	keep bool // its beginning, because it says what is wrong
}

func (b *body) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errTooBig
	}
	if int64(len(p)) > b.left {
		p = p[:b.left]
	}
	n, err := b.rc.Read(p)
	b.left -= int64(n)
	if b.keep {
		b.t.head = append(b.t.head, p[:max(0, min(n, maxHead-len(b.t.head)))]...)
	}
	if n > 0 {
		b.t.read.Add(int64(n))
		if !b.t.over && !b.t.quiet {
			b.t.idle.Reset(b.t.c.deadlines.Idle)
		}
	}
	return n, err
}

func (b *body) Close() error { return b.rc.Close() }
