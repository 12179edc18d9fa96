// Package modeltest stands in for model providers: a scripted HTTP server that speaks chat completions, Anthropic's messages and OpenAI's
// Responses. The suite that runs a provider against it is package conform; the table of what endpoints do is package endpoints.
package modeltest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Protocol is a wire protocol.
type Protocol string

// The protocols.
const (
	OpenAI    Protocol = "openai"    // POST …/chat/completions, GET …/models
	Anthropic Protocol = "anthropic" // POST …/messages
)

// Reply is what the server answers. The zero value is an empty answer that ends well.
type Reply struct {
	Thinking  string
	Signature string // of the thinking; Anthropic only
	Redacted  string // a redacted thinking block; Anthropic only
	Text      []string
	ToolCalls []ToolCall
	Usage     Usage
	NoUsage   bool
	// EarlyUsage has the tokens said with the first event too, as servers do that keep a running total. Anthropic's protocol always
	// says there what went in, and 1 for what comes out.
	EarlyUsage bool
	Stop       string // the protocol's own word; empty = the one that fits

	Delay   time.Duration // before anything is sent
	Between time.Duration // between two pieces; 0 = all in one write

	Status int         // an error status; Body is sent as it is, or an error in the protocol's form. Body without Status: a whole answer
	Header http.Header // added to the answer
	Body   string
	Fault  Fault
}

// Usage counts tokens. Input is the whole prompt, what was cached included.
type Usage struct{ Input, Output, CacheRead, CacheWrite int }

// Fault is a way to fail.
type Fault string

// The faults. All but Refuse and Silent happen after the pieces of the reply were sent, before the answer is complete.
const (
	Refuse      Fault = "refuse"      // the connection is closed before a byte of the answer
	Silent      Fault = "silent"      // nothing is sent until the client goes away
	Cut         Fault = "cut"         // the connection breaks
	End         Fault = "end"         // the stream ends cleanly, but too early
	Stall       Fault = "stall"       // nothing more comes
	Garbage     Fault = "garbage"     // an event that is no JSON
	InvalidUTF8 Fault = "invalidutf8" // an event with broken UTF-8 in its text
	HalfCall    Fault = "halfcall"    // the last tool call stops in the middle of its arguments, then the stream ends
	Huge        Fault = "huge"        // text without end
	HugeLine    Fault = "hugeline"    // one event without end
	Linger      Fault = "linger"      // the answer is complete, but the stream stays open and says a little more
	ErrorEvent  Fault = "errorevent"  // the stream reports an overload inside
)

// Server is a scripted provider. Its methods may be called at any time from any goroutine.
type Server struct {
	script  atomic.Pointer[func(Request) Reply]
	http    http.Server
	ln      net.Listener
	served  sync.WaitGroup
	closing context.Context
	close   context.CancelFunc
	count   atomic.Int64
	gone    atomic.Int64
	conns   atomic.Int64
	models  atomic.Pointer[[]string]

	mu      sync.Mutex
	log     []Request
	counted Usage
}

// maxLog bounds the log; the oldest requests leave it first.
const maxLog = 2000

// New starts a server on a free port of the loopback address. Close ends it.
func New() (*Server, error) {
	ln, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("starting the scripted model server: %w", err)
	}
	return NewOn(ln), nil
}

// NewOn starts a server on ln, which it owns from then on.
func NewOn(ln net.Listener) *Server {
	s := &Server{ln: ln}
	s.closing, s.close = context.WithCancel(context.Background())
	s.Script(Echo)
	s.Models("mock-1")
	s.http.Handler = http.HandlerFunc(s.serve)
	s.http.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			s.conns.Add(1)
		}
	}
	s.http.ReadHeaderTimeout = time.Minute
	s.served.Go(func() {
		if err := s.http.Serve(ln); err != nil && !errors.Is(err, http.ErrServerClosed) {
			s.close() // nobody can be told; clients see that nothing answers
		}
	})
	return s
}

// URL is the server's address without a path. OpenAI clients take URL()+"/v1" as their base.
func (s *Server) URL() string { return "http://" + s.ln.Addr().String() }

// Script sets what is answered from now on. f may be called by several goroutines at once.
func (s *Server) Script(f func(Request) Reply) { s.script.Store(&f) }

// Models sets the names that GET …/models lists.
func (s *Server) Models(names ...string) { s.models.Store(&names) }

// Requests gives the newest requests, oldest first, at most 2000.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.log...)
}

// Count is how many requests have come.
func (s *Server) Count() int { return int(s.count.Load()) }

// Counted is what the server has told its clients in all, as far as it was sent: of broken answers too.
func (s *Server) Counted() Usage {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counted
}

// add counts that a client is told of now, after was.
func (s *Server) add(now, was Usage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &s.counted
	c.Input, c.Output = c.Input+now.Input-was.Input, c.Output+now.Output-was.Output
	c.CacheRead, c.CacheWrite = c.CacheRead+now.CacheRead-was.CacheRead, c.CacheWrite+now.CacheWrite-was.CacheWrite
}

// Gone is how many requests were left by the client before their answer was complete.
func (s *Server) Gone() int { return int(s.gone.Load()) }

// Connections is how many connections were opened.
func (s *Server) Connections() int { return int(s.conns.Load()) }

// Close ends the server and every answer that is still being sent.
func (s *Server) Close() error {
	s.close()
	err := s.http.Close()
	s.served.Wait()
	return err
}

// Echo is the script of a new server: it repeats the last text of a person at once.
func Echo(r Request) Reply {
	text := r.LastUserText()
	return Reply{Text: []string{"echo: ", text}, Usage: Usage{Input: len(r.Raw)/4 + 1, Output: len(text)/4 + 2}}
}

func (s *Server) serve(w http.ResponseWriter, hr *http.Request) {
	if hr.Method == http.MethodGet && strings.HasSuffix(hr.URL.Path, "/models") {
		s.listModels(w)
		return
	}
	raw, err := io.ReadAll(http.MaxBytesReader(w, hr.Body, 64<<20))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	req := Request{N: int(s.count.Add(1)), Header: hr.Header, Raw: raw, Time: time.Now()}
	switch {
	case strings.HasSuffix(hr.URL.Path, "/chat/completions"):
		req.Protocol, err = OpenAI, req.parseOpenAI()
	case strings.HasSuffix(hr.URL.Path, "/responses"):
		req.Protocol, err = Responses, req.parseResponses()
	case strings.HasSuffix(hr.URL.Path, "/messages"):
		req.Protocol, err = Anthropic, req.parseAnthropic()
	default:
		err = fmt.Errorf("no such path: %s", hr.URL.Path)
	}
	s.remember(req)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	a := &answer{w: w, req: req, reply: (*s.script.Load())(req), ctx: hr.Context(), closing: s.closing, count: s.add}
	if !a.send() {
		s.gone.Add(1)
	}
}

func (s *Server) remember(r Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.log) >= maxLog {
		s.log = append(s.log[:0], s.log[maxLog/2:]...)
	}
	s.log = append(s.log, r)
}

func (s *Server) listModels(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	b := []byte(`{"object":"list","data":[`)
	for i, name := range *s.models.Load() {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"object":"model","created":0,"owned_by":"mock","id":`...)
		b = append(quote(b, name), '}')
	}
	_, _ = w.Write(append(b, "]}"...)) // a client that went away is no error here
}

// pipe is a network inside of the process. It waits on channels only, so that it runs under virtual time.
type pipe struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

// Pipe makes a listener, and a client that reaches it whatever address it dials. Both work inside a testing/synctest bubble.
func Pipe() (net.Listener, *http.Client) {
	p := &pipe{conns: make(chan net.Conn), closed: make(chan struct{})}
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		here, there := net.Pipe()
		select {
		case p.conns <- there:
			return here, nil
		case <-p.closed:
			return nil, errors.New("connection refused")
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return p, &http.Client{Transport: &http.Transport{DialContext: dial, MaxIdleConnsPerHost: 64}}
}

func (p *pipe) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipe) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *pipe) Addr() net.Addr { return pipeAddr{} }

type pipeAddr struct{}

func (pipeAddr) Network() string { return "pipe" }
func (pipeAddr) String() string  { return "model.test" }
