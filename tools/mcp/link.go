package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// dialer begins a connection.
type dialer func(ctx context.Context) (*dialed, error)

// dialed is the beginning of a connection.
type dialed struct {
	transport sdk.Transport
	end       func() (how string) // ends what is behind it, and says how it ended if it had by itself
	free      func()              // called when all is over; may be nil
	said      func() string       // what else the server said to the handshake; may be nil
	// legacy returns the transport that is tried when the first one failed; nil = none is. life is that of the connection.
	legacy func(life context.Context) sdk.Transport
}

// link is one connection to a server, from its start to its end.
type link struct {
	server  *server
	session *sdk.ClientSession
	life    context.Context //nolint:containedctx // ends the calls with the connection
	cancel  context.CancelFunc
	dialed  *dialed
	closed  chan struct{} // closed when the connection has ended
	err     error         // why, to be read when closed is
	doubt   chan struct{} // somebody doubts that the server still answers
	changed chan struct{} // the server said that its tools have changed
	calls   atomic.Int64  // at work
	expired atomic.Bool   // the server does not know its session any more

	mu       sync.Mutex
	tokens   int64
	progress map[string]func(string) // by progress token
}

// connect starts the server and shakes hands: with a version of the protocol that the server takes.
func (s *server) connect(ctx context.Context) (*link, error) {
	var tried []string
	for {
		asked := cmp.Or(s.version, versions[0])
		l, said, err := s.connectAs(ctx, asked)
		if err == nil {
			return l, nil
		}
		tried = append(tried, asked)
		next, mismatch := refusal(err, said, asked, tried)
		if s.version = next; mismatch != nil {
			return nil, mismatch
		}
		if next == "" || ctx.Err() != nil {
			return nil, err
		}
		s.log.Info("MCP server refused the protocol version; trying another", "refused", asked, "asked", next)
	}
}

// connectAs is connect with one version. said is what the server said besides the error.
func (s *server) connectAs(ctx context.Context, version string) (l *link, said string, err error) {
	d, err := s.dialer()(ctx)
	if err != nil {
		return nil, "", err
	}
	l = &link{server: s, dialed: d, closed: make(chan struct{}), doubt: make(chan struct{}, 1), changed: make(chan struct{}, 1),
		progress: map[string]func(string){}}
	l.life, l.cancel = context.WithCancel(context.WithoutCancel(ctx))
	client := sdk.NewClient(&sdk.Implementation{Name: "parley", Version: s.all.deps.Version}, &sdk.ClientOptions{
		Capabilities:   &sdk.ClientCapabilities{}, // no roots, no sampling, no elicitation
		MultiRoundTrip: &sdk.MultiRoundTripOptions{Disabled: true},
		Logger:         slog.New(slog.DiscardHandler), // its words are the server's: what matters is an error
	})
	client.AddReceivingMiddleware(l.receive)
	opts := &sdk.ClientSessionOptions{ProtocolVersion: version}
	if l.session, err = client.Connect(ctx, d.transport, opts); err != nil {
		err = l.retryLegacy(ctx, client, opts, err)
	}
	if err != nil {
		l.cancel()
		if d.said != nil {
			said = d.said()
		}
		return nil, said, because(fmt.Errorf("the handshake failed: %w", err), l.over())
	}
	go func() {
		err := l.session.Wait()
		if err == nil {
			err = errEnded
		}
		l.err = err
		close(l.closed)
	}()
	return l, "", nil
}

// retryLegacy shakes hands over the older transport, where the server may speak it. The error is that of the first try, with what the
// second one said.
func (l *link) retryLegacy(ctx context.Context, client *sdk.Client, opts *sdk.ClientSessionOptions, first error) error {
	if l.dialed.legacy == nil || ctx.Err() != nil {
		return first
	}
	t := l.dialed.legacy(l.life) //nolint:contextcheck // the stream of events lives as long as the connection
	if t == nil {
		return first
	}
	session, err := client.Connect(ctx, t, opts)
	if err != nil {
		return fmt.Errorf("%w; %w", first, err)
	}
	l.session = session
	return nil
}

// described says what the server calls itself.
func (l *link) described() string {
	r := l.session.InitializeResult()
	if r == nil || r.ServerInfo == nil {
		return ""
	}
	return line(l.server.secretless(r.ServerInfo.Name+" "+r.ServerInfo.Version), 100)
}

// errEnded is why a connection that the server ended is over.
var errEnded = errors.New("it ended")

// close ends the connection and all behind it, and says how the server ended if it had by itself.
func (l *link) close() (how string) {
	l.cancel()
	how = l.dialed.end()
	_ = l.session.Close() // what was to be ended has
	<-l.closed
	return cmp.Or(l.over(), how)
}

// over frees what the connection used.
func (l *link) over() string {
	how := l.dialed.end()
	if l.dialed.free != nil {
		l.dialed.free()
	}
	return how
}

// expire ends the connection: the server does not know its session any more.
func (l *link) expire() {
	l.expired.Store(true)
	l.suspect()
}

// errExpired is why a connection is over whose session the server has forgotten.
var errExpired error = &misbehaved{"it no longer knows the session"}

// suspect asks for a ping.
func (l *link) suspect() { signal(l.doubt) }

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// ping asks the server for a sign of life. Any answer is one.
func (l *link) ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, pingWithin)
	defer cancel()
	_, err := within(ctx, func() (struct{}, error) { return struct{}{}, l.session.Ping(ctx, nil) })
	if _, answered := errors.AsType[*jsonrpc.Error](err); err == nil || answered {
		return nil
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return errHangs
	}
	return err
}

// within calls f and gives up on it when ctx ends: the SDK may be busy with a write that the server does not read. f ends by itself
// a little later.
func within[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type answer struct {
		v   T
		err error
	}
	done := make(chan answer, 1)
	go func() {
		var a answer
		defer func() {
			if p := recover(); p != nil {
				a.err = fmt.Errorf("its message is not valid: %v", p)
			}
			done <- a
		}()
		a.v, a.err = f()
	}()
	select {
	case a := <-done:
		return a.v, a.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

// receive handles what the server says by itself: progress, and that its tools have changed. Whatever else it asks for is refused.
func (l *link) receive(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		switch method {
		case "ping":
			return next(ctx, method, req)
		case "notifications/tools/list_changed":
			signal(l.changed)
		case "notifications/progress":
			if p, ok := req.GetParams().(*sdk.ProgressNotificationParams); ok && p != nil {
				l.progressed(p)
			}
		default:
			if !strings.HasPrefix(method, "notifications/") {
				return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "this host does not offer " + line(method, 50)}
			}
		}
		return nil, nil
	}
}

func (l *link) progressed(p *sdk.ProgressNotificationParams) {
	token, _ := p.ProgressToken.(string)
	l.mu.Lock()
	tell := l.progress[token]
	l.mu.Unlock()
	if tell == nil {
		return
	}
	text := p.Message
	switch {
	case text != "":
	case p.Total > 0:
		text = fmt.Sprintf("%g of %g", p.Progress, p.Total)
	default:
		text = fmt.Sprintf("%g", p.Progress)
	}
	tell(line(l.server.secretless(clean(text)), 200))
}

// follow has tell told of a call's progress, at most twice a second, until stop.
func (l *link) follow(tell func(string)) (token string, stop func()) {
	var last time.Time
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tokens++
	token = fmt.Sprint("call-", l.tokens)
	l.progress[token] = func(text string) { // from one goroutine at a time: the SDK handles notifications in order
		if now := time.Now(); now.Sub(last) >= time.Second/2 {
			last = now
			tell(text)
		}
	}
	return token, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.progress, token)
	}
}
