package mcp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"parley/channels"
	"parley/tools"
)

// State is how a server is.
type State string

// The states.
const (
	Starting State = "starting"
	Running  State = "running"
	Down     State = "down"
)

// Status is how a server is, for people.
type Status struct {
	Name     string `json:"name"`
	Sandbox  bool   `json:"sandbox,omitempty"` // it is the confined one, for sandboxed sessions
	State    State  `json:"state"`
	Detail   string `json:"detail,omitempty"` // why it is not running
	Tools    int    `json:"tools"`
	Restarts int    `json:"restarts,omitempty"`

	Hidden  int       `json:"hidden,omitempty"`  // tools that a request has no room for: agents find them with find_tool
	LeftOut []LeftOut `json:"leftOut,omitempty"` // tools that agents have not got; at most maxLeftOut and what else there is
}

// Notes returns remarks about the server's tools, one line each.
func (s Status) Notes() (out []string) {
	if s.Hidden > 0 {
		out = append(out, fmt.Sprintf("MCP server %s: agents find %d of its %d tools with find_tool, because a model request has room for %d tools",
			s.Name, s.Hidden, s.Tools, tools.MaxInRequest))
	}
	for _, l := range s.LeftOut {
		out = append(out, fmt.Sprintf("MCP server %s: the tool %s is left out: %s", s.Name, l.Tool, l.Reason))
	}
	return out
}

// String words it as one line.
func (s Status) String() string {
	line := "MCP server " + s.Name
	if s.Sandbox {
		line += " (for sandboxed sessions)"
	}
	line += " is " + string(s.State)
	if s.Detail != "" {
		line += ": " + s.Detail
	}
	return line
}

// mostCalls is how many calls of one server are at work at the same time; the others wait.
const mostCalls = 16

// The times of a server's life.
const (
	startDefault = time.Minute      // from its start to its list of tools, where startSeconds is not set: it may have to be downloaded
	firstPause   = time.Second      // before it is started again
	longestPause = time.Minute      //
	lastingPause = 15 * time.Minute // where nothing but another version of it helps
	steady       = time.Minute      // a run of this length was a good one: the next pause is short again
	pingEvery    = 30 * time.Second // while it has nothing to do
	pingWithin   = 15 * time.Second // a server that does not answer for so long hangs
	listEvery    = 5 * time.Second  // between two looks at its list of tools
)

// server keeps one connection to an MCP server alive.
type server struct {
	all     *Servers
	name    string
	sandbox bool // for sandboxed sessions: confined
	conf    tools.MCPServer
	hide    *strings.Replacer // its own secrets
	log     *slog.Logger
	born    time.Time
	cancel  context.CancelFunc
	settled chan struct{} // closed when the first attempt to start it has ended
	ended   chan struct{} // closed when its supervisor has ended
	slots   chan struct{} // holds one for each call at work
	version string        // of the protocol that it is asked for; empty = the newest. Of the supervisor

	mu       sync.Mutex
	state    State
	detail   string
	restarts int
	link     *link         // nil while it is away
	renewed  chan struct{} // closed when there is a new one; nil = nobody waits for it
	tools    []*tool
	left     []LeftOut // because of what they are
	lost     []LeftOut // because of their names
	hidden   int       // how many of tools a request has no room for
}

func newServer(all *Servers, at slot, conf tools.MCPServer) *server {
	log := all.deps.Log.With(keyServer, at.name)
	if at.sandbox {
		log = log.With("sandbox", true)
	}
	return &server{all: all, name: at.name, sandbox: at.sandbox, conf: conf, hide: channels.Hide(conf.Secrets()...), log: log, born: time.Now(), state: Starting,
		settled: make(chan struct{}), ended: make(chan struct{}), slots: make(chan struct{}, mostCalls)}
}

// serves reports whether it is for such sessions. One that is reached by its URL is for all.
func (s *server) serves(sandboxed bool) bool { return s.conf.URL != "" || s.sandbox == sandboxed }

func (s *server) status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Status{Name: s.name, Sandbox: s.sandbox, State: s.state, Detail: s.detail, Tools: len(s.tools), Restarts: s.restarts, Hidden: s.hidden,
		LeftOut: slices.Concat(s.left, s.lost)}
}

func (s *server) listed() []*tool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tools
}

// settle waits until the first attempt to start it has ended, up to settleWithin after its start.
func (s *server) settle(ctx context.Context) {
	rest := time.NewTimer(time.Until(s.born.Add(settleWithin)))
	defer rest.Stop()
	select {
	case <-s.settled:
	case <-rest.C:
	case <-ctx.Done():
	}
}

// supervise starts the server, and starts it again whenever it ends, until ctx does.
func (s *server) supervise(ctx context.Context) {
	pause := firstPause
	settle := sync.OnceFunc(func() { close(s.settled) })
	defer settle()
	for {
		began := time.Now()
		err := s.run(ctx, settle)
		if ctx.Err() != nil {
			return
		}
		if time.Since(began) >= steady {
			pause = firstPause
		}
		rest := pause
		if _, lasts := errors.AsType[*mismatchError](err); lasts {
			rest = lastingPause
		}
		wait := rest/2 + rand.N(rest/2+1)
		if errors.Is(err, errExpired) && time.Since(began) >= firstPause { // it answers
			wait = 0
		}
		why := s.plain(err)
		s.mu.Lock()
		s.state, s.detail = Down, why
		s.restarts++
		s.mu.Unlock()
		s.all.rebuild()
		settle() // its state is known
		s.log.Warn("restarting the MCP server", keyErr, why, "in", wait.Round(time.Millisecond).String())
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return
		}
		pause = min(2*pause, longestPause)
	}
}

// run starts the server once and serves it until it ends; the error says why.
func (s *server) run(ctx context.Context, settle func()) error {
	begin, cancel := context.WithTimeout(ctx, s.startTimeout())
	defer cancel()
	l, err := s.connect(begin)
	if err != nil {
		return s.late(ctx, begin, err)
	}
	list, err := s.list(begin, l)
	err = s.late(ctx, begin, err)
	if err == nil {
		s.set(l, list)
		s.log.Info("MCP server is running", "tools", len(list.tools), "is", l.described())
		settle()
		err = s.serve(ctx, l)
		s.mu.Lock()
		s.link = nil
		s.mu.Unlock()
	}
	return because(err, l.close())
}

// startTimeout is how long it may take from its start to its list of tools.
func (s *server) startTimeout() time.Duration {
	if s.conf.StartSeconds > 0 {
		return time.Duration(s.conf.StartSeconds) * time.Second
	}
	return startDefault
}

// late words an error of a start that ran out of its time.
func (s *server) late(ctx, begin context.Context, err error) error {
	if err == nil || ctx.Err() != nil || !errors.Is(begin.Err(), context.DeadlineExceeded) {
		return err
	}
	return &misbehaved{fmt.Sprintf("it did not start within %s; if it needs longer, for example for a download, set tools.mcp.servers.%s.startSeconds (at most 600)",
		s.startTimeout(), s.name)}
}

// because joins why a connection ended with how the process did, when that was by itself.
func because(err error, how string) error {
	if _, ours := errors.AsType[*misbehaved](err); ours || how == "" {
		return err
	}
	if _, answered := errors.AsType[*jsonrpc.Error](err); answered { // it says more than how the process ended then
		return err
	}
	return fmt.Errorf("%w: %s", errEnded, how)
}

// set makes a connection the one that is used.
func (s *server) set(l *link, list usable) {
	s.mu.Lock()
	s.state, s.detail, s.link, s.tools, s.left = Running, "", l, list.tools, list.all()
	if s.renewed != nil {
		close(s.renewed)
		s.renewed = nil
	}
	s.mu.Unlock()
	s.all.rebuild()
}

// errHangs is why a server that does not answer is replaced.
var errHangs error = &misbehaved{"it no longer answers"}

// serve watches a connection until it ends: it pings a server that has nothing to do, or that let a call run out of its time, and
// reads its list of tools again when that has changed.
func (s *server) serve(ctx context.Context, l *link) error {
	ping := time.NewTicker(pingEvery)
	defer ping.Stop()
	var refresh <-chan time.Time
	listed := time.Now()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-l.closed:
			return l.err
		case <-l.doubt:
			if l.expired.Load() {
				return errExpired
			}
			if err := l.ping(ctx); err != nil {
				return err
			}
		case <-ping.C:
			if l.calls.Load() > 0 {
				continue // it is at work, and that has a deadline of its own
			}
			if err := l.ping(ctx); err != nil {
				return err
			}
		case <-l.changed:
			if refresh == nil {
				refresh = time.After(time.Until(listed.Add(listEvery)))
			}
		case <-refresh:
			refresh, listed = nil, time.Now()
			s.relist(ctx, l)
		}
	}
}

// relist reads the list of tools again. When that fails the old one stays.
func (s *server) relist(ctx context.Context, l *link) {
	ctx, cancel := context.WithTimeout(ctx, pingWithin)
	defer cancel()
	list, err := s.list(ctx, l)
	if err != nil {
		s.log.Warn("cannot list the changed tools of MCP server", keyErr, s.plain(err))
		l.suspect()
		return
	}
	s.mu.Lock()
	s.tools, s.left = list.tools, list.all()
	s.mu.Unlock()
	s.log.Info("tools of the MCP server have changed", "tools", len(list.tools))
	s.all.rebuild()
}

// renewWithin is how long a call waits for a new connection.
const renewWithin = 15 * time.Second

// next waits until there is another connection than l, and reports whether there is.
func (s *server) next(ctx context.Context, l *link) bool {
	ctx, cancel := context.WithTimeout(ctx, renewWithin)
	defer cancel()
	for {
		s.mu.Lock()
		if s.link != nil && s.link != l {
			s.mu.Unlock()
			return true
		}
		if s.renewed == nil {
			s.renewed = make(chan struct{})
		}
		renewed := s.renewed
		s.mu.Unlock()
		select {
		case <-renewed:
		case <-ctx.Done():
			return false
		}
	}
}

// current gives the connection, or why there is none.
func (s *server) current() (*link, string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.link != nil {
		return s.link, ""
	}
	if s.detail != "" {
		return nil, s.detail
	}
	return nil, "it is starting"
}
