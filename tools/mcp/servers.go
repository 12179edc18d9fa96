package mcp

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"parley/tools"
	"parley/tools/mcp/confine"
)

// The keys of log lines.
const (
	keyErr    = "err"
	keyServer = "server"
	keyTool   = "tool"
)

// Deps are what Servers are made of.
type Deps struct {
	Log     *slog.Logger
	Dir     string                 // the servers' own folders are made in it
	Private []string               // folders and files that a confined server never gets to see by the way: the state, the configuration
	Version string                 // of the host, told to the servers
	Taken   []string               // names of tools that no server may use
	Redact  func(string) string    // takes secrets out of what is logged and shown; nil = there are none
	Confine confine.Launcher       // runs a command confined
	Getenv  func(string) string    // the host's environment
	dial    func(s *server) dialer // for tests; nil = processes and HTTP
}

// Settings are what a reload may change.
type Settings struct {
	Servers map[string]tools.MCPServer
	Open    bool // some sessions are not sandboxed
	Sandbox bool // some sessions are sandboxed (agents.defaults.sandbox.mode)
}

// Servers are the MCP servers of a host. A server with a command has up to two processes: one for sandboxed sessions, which is
// confined, and one for all others. Any goroutine may call its methods.
type Servers struct {
	deps    Deps
	ability func() confine.Ability // what the kernel gives; asked for once
	warn    func()                 // says in the log what is missing, once

	joining sync.Mutex // one joins the lists at a time: the last one knows the newest lists

	mu      sync.Mutex
	ctx     context.Context //nolint:containedctx // the life of the servers, given to Start
	running map[slot]*server
	tools   map[bool][]tools.Tool // by sandboxed; sorted by name
	left    map[string]bool       // what was left out, to log it once; at most mostLeft
	changed chan struct{}         // closed and replaced at every change

	hiddenTold string // the counts of tools that requests have no room for, as they were logged last

	wg sync.WaitGroup
}

// mostLeft bounds the tools of which it is remembered that they were left out.
const mostLeft = 1000

// slot is one connection: a server, and which sessions it is for.
type slot struct {
	name    string
	sandbox bool
}

// New makes servers that do nothing yet.
func New(d Deps) *Servers {
	if d.Redact == nil {
		d.Redact = func(s string) string { return s }
	}
	if d.Getenv == nil {
		d.Getenv = func(string) string { return "" }
	}
	s := &Servers{deps: d, ability: sync.OnceValue(d.Confine.Probe), running: map[slot]*server{}, left: map[string]bool{}, changed: make(chan struct{})}
	s.warn = sync.OnceFunc(func() {
		for _, m := range s.ability().Missing() {
			d.Log.Warn("sandboxed MCP servers are not fully confined", "they_run", m)
		}
	})
	return s
}

// Start starts the servers in the background and returns at once. They end with ctx.
func (s *Servers) Start(ctx context.Context, set Settings) {
	s.mu.Lock()
	s.ctx = ctx
	s.mu.Unlock()
	s.Apply(set) //nolint:contextcheck // it has the ctx that it was given here
}

// Apply makes the running servers what the settings say. What did not change goes on as it is.
func (s *Servers) Apply(set Settings) {
	want := map[slot]tools.MCPServer{}
	for name, conf := range set.Servers {
		if !conf.Enabled {
			continue
		}
		if set.Sandbox && conf.URL == "" {
			want[slot{name, true}] = conf
		}
		if set.Open || conf.URL != "" {
			want[slot{name, false}] = conf
		}
	}
	s.mu.Lock()
	if s.ctx == nil || s.ctx.Err() != nil {
		s.mu.Unlock()
		return
	}
	var ended []*server
	for at, srv := range s.running {
		if conf, ok := want[at]; !ok || !reflect.DeepEqual(conf, srv.conf) {
			srv.cancel()
			ended = append(ended, srv)
			delete(s.running, at)
		}
	}
	s.mu.Unlock()
	for _, srv := range ended { // it lets go of its folder before another one takes it
		<-srv.ended
	}
	s.mu.Lock()
	for at, conf := range want {
		if s.running[at] == nil && s.ctx.Err() == nil {
			srv := newServer(s, at, conf)
			ctx, cancel := context.WithCancel(s.ctx)
			srv.cancel = cancel
			s.running[at] = srv
			s.wg.Go(func() {
				defer close(srv.ended)
				defer cancel()
				if at.sandbox {
					s.warn()
				}
				srv.supervise(ctx)
			})
		}
	}
	s.mu.Unlock()
	s.rebuild()
}

// Wait blocks until all servers have ended. The context given to Start must have.
func (s *Servers) Wait() { s.wg.Wait() }

// settleWithin is how long a turn waits for servers that were started a moment ago, so that the tools of a session do not depend
// on how fast they were.
const settleWithin = 5 * time.Second

// Tools gives the tools that sessions have, sorted by name: those that the servers listed last, also while one of them is away, so
// that the prompt stays the same. Servers that were just started are waited for, up to settleWithin after their start.
func (s *Servers) Tools(ctx context.Context, sandboxed bool) []tools.Tool {
	for _, srv := range s.list() {
		if srv.serves(sandboxed) {
			srv.settle(ctx)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.tools[sandboxed])
}

// Status says how the servers are, sorted by name.
func (s *Servers) Status() []Status {
	var out []Status
	for _, srv := range s.list() {
		out = append(out, srv.status())
	}
	return out
}

// Confined reports whether some server is to run confined.
func (set Settings) Confined() bool {
	for _, c := range set.Servers {
		if set.Sandbox && c.Enabled && c.URL == "" {
			return true
		}
	}
	return false
}

// Lacks says what of the confinement of sandboxed sessions' servers is missing on this system; nil when nothing is, or when none is to
// be confined.
func (s *Servers) Lacks(set Settings) []string {
	if !set.Confined() {
		return nil
	}
	return s.ability().Missing()
}

// Refused says what a confined process tried at start and could not do.
func (s *Servers) Refused() []string { return s.ability().Refused }

// list gives the servers, sorted.
func (s *Servers) list() []*server {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.SortedFunc(maps.Values(s.running), func(a, b *server) int {
		return cmp.Or(strings.Compare(a.name, b.name), compareBool(a.sandbox, b.sandbox))
	})
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// rebuild joins the lists of the servers. Where two tools have the same name, the one of the first server stays, and the other one
// is left out and logged; so is one that is called as if it were another server's.
func (s *Servers) rebuild() {
	s.joining.Lock()
	defer s.joining.Unlock()
	all := s.list()
	lost := map[*server][]*tool{}
	joined := map[bool][]tools.Tool{}
	hidden := map[*server]int{}
	for _, sandboxed := range []bool{false, true} {
		taken := map[string]bool{}
		for _, name := range slices.Concat(s.deps.Taken, tools.ReservedNames) {
			taken[name] = true
		}
		for _, srv := range all {
			if !srv.serves(sandboxed) {
				continue
			}
			for _, t := range srv.listed() {
				if taken[t.spec.Name] || confused(t, all) {
					if !slices.Contains(lost[srv], t) {
						lost[srv] = append(lost[srv], t)
					}
					continue
				}
				taken[t.spec.Name] = true
				joined[sandboxed] = append(joined[sandboxed], t)
			}
		}
		slices.SortFunc(joined[sandboxed], func(a, b tools.Tool) int { return strings.Compare(a.Spec().Name, b.Spec().Name) })
		_, others := tools.Share(joined[sandboxed], tools.ShownInRequest(len(s.deps.Taken)+len(joined[sandboxed]))-len(s.deps.Taken))
		count := map[*server]int{}
		for _, t := range others {
			srv := t.(*tool).server
			count[srv]++
			hidden[srv] = max(hidden[srv], count[srv])
		}
	}
	for _, srv := range all {
		srv.note(lost[srv], hidden[srv])
	}
	s.mu.Lock()
	s.tools = joined
	close(s.changed)
	s.changed = make(chan struct{})
	var news []*tool
	for _, srv := range all {
		for _, t := range lost[srv] {
			id := srv.name + "\x00" + t.name
			if !s.left[id] {
				news = append(news, t)
			}
			if len(s.left) < mostLeft {
				s.left[id] = true
			}
		}
	}
	s.mu.Unlock()
	for _, t := range news {
		s.deps.Log.Warn("skipped an MCP tool: duplicate name", keyServer, t.server.name, keyTool, t.name, "name", t.spec.Name)
	}
	s.tellHidden(all, hidden)
}

// tellHidden says in the log, once for each set of counts, that requests have no room for some tools.
func (s *Servers) tellHidden(all []*server, hidden map[*server]int) {
	var counts []string
	for _, srv := range all {
		if n := hidden[srv]; n > 0 {
			counts = append(counts, fmt.Sprintf("%s %d of %d", srv.name, n, len(srv.listed())))
		}
	}
	text := strings.Join(slices.Compact(counts), ", ")
	s.mu.Lock()
	known := s.hiddenTold == text
	s.hiddenTold = text
	s.mu.Unlock()
	if text != "" && !known {
		s.deps.Log.Warn("too many tools for one model request", "most", tools.MaxInRequest, "hidden", text,
			"hint", "agents find them with find_tool; allow and deny of a server, or of an agent, choose")
	}
}

// note keeps for the status what became of a server's tools.
func (s *server) note(lost []*tool, hidden int) {
	var left []LeftOut
	for _, t := range lost[:min(len(lost), maxLeftOut)] {
		left = append(left, LeftOut{line(s.secretless(t.name), 100), "its name " + t.spec.Name + " is taken"})
	}
	if n := len(lost) - maxLeftOut; n > 0 {
		left = append(left, LeftOut{fmt.Sprintf("(%d more)", n), "their names are taken"})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lost, s.hidden = left, hidden
}

// confused reports whether a tool is called as one of another server could be: hub_create of git like create of git_hub. The
// configuration is refused where names of servers allow that; here it holds whatever was configured.
func confused(t *tool, all []*server) bool {
	for _, s := range all {
		if len(s.name) > len(t.server.name) && strings.HasPrefix(t.spec.Name, s.name+"_") {
			return true
		}
	}
	return false
}

// watch gives a channel that is closed at the next change.
func (s *Servers) watch() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}
