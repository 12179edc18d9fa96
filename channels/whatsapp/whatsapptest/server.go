// Package whatsapptest is a stand-in for WhatsApp's servers on loopback: unmodified whatsmeow clients are linked to accounts and talk
// through it. Like the real one it sees no text: it keeps public keys and passes ciphertext on. People who write to the account under
// test are whatsmeow clients too, with their keys in memory, so that every text a test sees was encrypted and decrypted for real.
package whatsapptest

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"go.mau.fi/whatsmeow/types"
)

// T is what a server needs of a test; *testing.T and *testing.B have it.
type T interface {
	Helper()
	Errorf(format string, args ...any)
	Cleanup(fn func())
}

// bound is how long anything that has to happen is waited for.
const bound = 30 * time.Second

// Server is WhatsApp. All methods may be called from any goroutine.
type Server struct {
	t      T
	ca     *authority
	ln     net.Listener
	http   *http.Server
	client *http.Client
	busy   sync.WaitGroup // websocket handlers

	mu      sync.Mutex
	changed chan struct{} // closed and replaced at every change
	closed  bool
	phones  []*Phone
	people  []*Person
	byUser  map[string]*Phone // by the user part of both ids
	groups  map[string]*Group
	conns   map[*conn]bool
	pending map[string]*conn     // connections that show a QR code, by its reference
	codes   map[string]*linkCode // by phone number
	media   map[string][]byte    // ciphertext, by the token in its path
	refused map[string]int       // status of uploads, by the kind of file
	unknown []string
	next    int
	stall   bool // new connections get no answer to their first frame
	stalled int  // so many
}

// New makes a server that ends with t.
func New(t T) *Server {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(fmt.Sprintf("whatsapptest: no loopback port: %v", err))
	}
	s := &Server{
		t: t, ca: root(), ln: ln, changed: make(chan struct{}), byUser: map[string]*Phone{}, groups: map[string]*Group{},
		conns: map[*conn]bool{}, pending: map[string]*conn{}, codes: map[string]*linkCode{}, media: map[string][]byte{}, refused: map[string]int{},
	}
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "tcp", ln.Addr().String())
	}
	// DialTLSContext gives net/http a plain connection for wss and https: no TLS is spoken.
	s.client = &http.Client{Transport: &http.Transport{DialContext: dial, DialTLSContext: dial}}
	mux := http.NewServeMux()
	mux.HandleFunc("/ws/chat", s.serveSocket)
	mux.HandleFunc("POST /mms/{kind}/{token}", s.upload)
	mux.HandleFunc("GET /v/{token}", s.download)
	s.http = &http.Server{Handler: mux, ReadHeaderTimeout: bound}
	go func() { _ = s.http.Serve(ln) }()
	t.Cleanup(s.Close)
	return s
}

// Client sends everything to the server, whatever the host: what the adapter under test is given.
func (s *Server) Client() *http.Client { return s.client }

// Close sends the people away, cuts every connection and stops listening.
func (s *Server) Close() {
	s.mu.Lock()
	s.closed = true
	people := slices.Clone(s.people)
	var all []*conn
	for c := range s.conns {
		c.silent = true
		all = append(all, c)
	}
	s.mu.Unlock()
	settle(all) // the library leaves a goroutine behind when a client hangs up while something comes
	for _, p := range people {
		p.leave()
	}
	s.mu.Lock()
	for c := range s.conns {
		c.cut()
	}
	s.mu.Unlock()
	_ = s.http.Close()
	s.busy.Wait()
	s.client.CloseIdleConnections()
}

// Unknown gives the requests that the server has no answer for, as namespace/type/child.
func (s *Server) Unknown() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.unknown)
}

// id is called under the lock.
func (s *Server) id() string {
	s.next++
	return "srv-" + strconv.Itoa(s.next)
}

// notify is called under the lock after every change.
func (s *Server) notify() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// Wait blocks until done is true. done is called under the server's lock, again after every change. It fails the test after 30 s.
func (s *Server) wait(what string, done func() bool) bool {
	s.t.Helper()
	limit := time.NewTimer(bound)
	defer limit.Stop()
	for {
		s.mu.Lock()
		ok, change := done(), s.changed
		s.mu.Unlock()
		if ok {
			return true
		}
		select {
		case <-change:
		case <-limit.C:
			s.t.Errorf("whatsapptest: waited in vain for %s", what)
			return false
		}
	}
}

// Chat is where something is written: a Phone for a direct chat, or a Group.
type Chat interface{ JID() types.JID }

// At gives the phone or group that an address names; nil when there is none.
func (s *Server) At(chat string) Chat {
	jid, err := types.ParseJID(chat)
	if err != nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if g := s.groups[jid.User]; g != nil && jid.Server == types.GroupServer {
		return g
	}
	if p := s.byUser[jid.User]; p != nil {
		return p
	}
	return nil
}

func unixNow() string { return strconv.FormatInt(time.Now().Unix(), 10) }
