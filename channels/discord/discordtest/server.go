// Package discordtest is a stand-in for Discord: it speaks the REST API (v9 and v10) and the gateway protocol in-process, so that
// the adapter and the whole host are tested with the unmodified client libraries. Where Discord's OpenAPI description is found,
// every request that arrives and everything that the stand-in sends is validated against it.
package discordtest

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// T is what a server needs of a test; *testing.T and *testing.B have it.
type T interface {
	Helper()
	Errorf(format string, args ...any)
	Cleanup(fn func())
}

// What the stand-in's bot is called, and its token. A bot's user has the id of its application.
const (
	BotID    = "1100000000000000001"
	BotName  = "parley_test"
	BotToken = "MTEwMDAwMDAwMDAwMDAwMDAwMQ.GtEsT1.test-token_that-must-never-be-printed"
)

// IsSecret reports whether a text contains the bot's token or the secret half of it.
func IsSecret(text string) bool {
	return strings.Contains(text, BotToken[strings.LastIndexByte(BotToken, '.')+1:])
}

// Server is one bot's view of Discord. All methods may be called from any goroutine.
type Server struct {
	t    T
	spec *Spec

	mu         sync.Mutex
	changed    chan struct{} // closed and replaced at every change
	down       bool
	lastID     uint64
	token      string
	users      map[string]User
	guilds     map[string]*guild
	channels   map[string]*channel
	sent       []*message
	nonces     map[string]nonceUse
	typing     map[string]int
	calls      []Call
	faults     []*Fault
	pace       pace
	commands   map[string][]object // by guild, "" = everywhere
	acts       map[string]*interaction
	blobs      map[string]blob // attachments by path
	maxFile    int64
	window     time.Duration // how long a nonce counts
	deadline   time.Duration // of an interaction
	violations []string
	gw         gateway

	listener  net.Listener
	http      *http.Server
	transport *http.Transport
	served    sync.WaitGroup
}

// New starts a server on a free loopback port. With t it is closed when the test ends, and every violation of the protocol fails the
// test; without (nil) the caller closes it, and nothing is validated unless Validate is called.
func New(t T) *Server {
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		panic(fmt.Sprintf("discordtest: no loopback port: %v", err))
	}
	return start(t, l, (&net.Dialer{}).DialContext)
}

func start(t T, l net.Listener, dial dialer) *Server {
	s := &Server{
		t: t, changed: make(chan struct{}), token: BotToken, users: map[string]User{}, guilds: map[string]*guild{}, channels: map[string]*channel{},
		nonces: map[string]nonceUse{}, typing: map[string]int{}, commands: map[string][]object{}, acts: map[string]*interaction{},
		blobs: map[string]blob{}, maxFile: 10 << 20, window: 5 * time.Minute, deadline: 3 * time.Second,
		gw: newGateway(), transport: newTransport(dial),
	}
	s.users[BotID] = User{ID: BotID, Name: BotName, Bot: true}
	s.listener, s.http = l, &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}
	s.served.Go(func() { _ = s.http.Serve(l) })
	if t != nil {
		s.spec, _ = FindSpec()
		t.Cleanup(func() {
			t.Helper()
			s.Close()
			for _, v := range s.Violations() {
				t.Errorf("discord protocol: %s", v)
			}
		})
	}
	return s
}

// Validate makes the server check what passes against spec; nil stops that. Set it before the first request.
func (s *Server) Validate(spec *Spec) { s.spec = spec }

// Token is the bot's token.
func (s *Server) Token() string { return BotToken }

// Revoke makes the token invalid, as a reset in the developer portal does; false makes it valid again. Connections stay as they are.
func (s *Server) Revoke(revoked bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.token = BotToken; revoked {
		s.token = "another one"
	}
}

// URL is the base of everything: the API is below /api, files are below /attachments.
func (s *Server) URL() string { return "http://" + s.listener.Addr().String() }

// APIURL is what apiUrl of the adapter is set to.
func (s *Server) APIURL() string { return s.URL() + "/api" }

// Close cuts every connection and stops listening.
func (s *Server) Close() {
	s.mu.Lock()
	s.down = true
	s.mu.Unlock()
	s.dropAll()
	_ = s.http.Close()
	s.transport.CloseIdleConnections()
	s.served.Wait()
}

// Down makes the server refuse every connection, and cuts those under way, until it is called with false. Gateway sessions stay.
func (s *Server) Down(down bool) {
	s.mu.Lock()
	s.down = down
	s.mu.Unlock()
	if down {
		s.Drop()
	}
}

// Violations gives what broke the protocol so far.
func (s *Server) Violations() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.violations)
}

// Wait waits until done reports true; it is asked again at every change of the server.
func (s *Server) Wait(ctx context.Context, done func() bool) error {
	for {
		s.mu.Lock()
		changed := s.changed
		s.mu.Unlock()
		if done() {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// notify tells those who wait. The caller holds s.mu.
func (s *Server) notify() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// violate keeps what broke the protocol. The caller holds s.mu.
func (s *Server) violate(format string, args ...any) {
	if len(s.violations) < 100 {
		s.violations = append(s.violations, fmt.Sprintf(format, args...))
	}
}

// Discord counts milliseconds from the start of 2015 in its ids.
const epoch = 1420070400000

// newID makes an id for a moment: larger than every one before, unless the moment is in the past. The caller holds s.mu.
func (s *Server) newID(at time.Time) string {
	id := uint64(max(at.UnixMilli()-epoch, 1)) << 22 //nolint:gosec // not negative
	if time.Since(at) < time.Minute {
		id = max(id, s.lastID+1)
		s.lastID = id
		return fmt.Sprint(id)
	}
	s.gw.past++ // in the past: only unique
	return fmt.Sprint(id + s.gw.past)
}
