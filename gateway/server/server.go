package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"

	"parley/channels"
	"parley/gateway/access"
	"parley/gateway/api"
	"parley/gateway/config"
	"parley/gateway/openai"
	"parley/gateway/web"
)

// Server has the host's listeners, and the door in front of what it serves.
type Server struct {
	config   func() *config.Config // in force
	log      *slog.Logger
	listener net.Listener
	socket   net.Listener // of the command line; nil = there is none
	network  *http.Server // of listener
	local    *http.Server // of socket
	mounts   []mount
	inner    http.Handler // of the mounts
	door     *access.Door
	doorLock sync.Mutex // of what is put in force at the door
	token    atomic.Pointer[channels.Secret]

	certificate *access.Certificate // nil: plain HTTP
}

// Listen opens the address and the socket of the configuration in force, and finds the token. Nothing is served yet.
func Listen(ctx context.Context, conf func() *config.Config, log *slog.Logger) (s *Server, err error) {
	c := conf()
	s = &Server{config: conf, log: log}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	s.listener, err = (&net.ListenConfig{}).Listen(ctx, "tcp", c.Gateway.Listen)
	if err != nil {
		return s, fmt.Errorf("gateway.listen %s: %w (another program uses this port: stop it, or set another port with gateway.listen)", c.Gateway.Listen, err)
	}
	if !s.loopback() && c.Gateway.Token.IsZero() { // a name may stand for any address
		return s, fmt.Errorf("gateway.listen %s can be reached from other machines, and gateway.token is not set: set it, or listen on 127.0.0.1", c.Gateway.Listen)
	}
	if t := c.Gateway.TLS; t.On() {
		if s.certificate, err = access.OpenCertificate(t.Cert, t.Key, s.log); err != nil {
			return s, fmt.Errorf("gateway.tls: %w (cert and key must be files in PEM format that belong together)", err)
		}
	}
	if err := s.readToken(c); err != nil {
		return s, err
	}
	switch s.socket, err = access.Socket(ctx, c.State); {
	case err == nil:
	case errors.Is(err, access.ErrInUse):
		return s, err
	case errors.Is(err, access.ErrLongPath):
		s.log.Info("no local socket; commands use the address", "why", err)
	default:
		s.log.Warn("no local socket; commands use the address", "err", err)
	}
	return s, nil
}

// Close closes the listeners.
func (s *Server) Close() {
	for _, l := range []net.Listener{s.socket, s.listener} {
		if l != nil {
			_ = l.Close()
		}
	}
}

// SocketName returns the name of the command line's socket in the state folder; "" = there is none.
func (s *Server) SocketName() string {
	if s.socket == nil {
		return ""
	}
	return access.SocketName
}

func (s *Server) readToken(c *config.Config) error {
	t, err := makeToken(c.State, c.Gateway.Token)
	if err == nil {
		s.token.Store(&t)
	}
	return err
}

// Token returns the owner's token; the zero Secret before there is one.
func (s *Server) Token() channels.Secret {
	if t := s.token.Load(); t != nil {
		return *t
	}
	return channels.Secret{}
}

// Open puts the door in front of what the host serves, for the network and for the socket.
func (s *Server) Open(p Parts) {
	s.mounts = s.mountsOf(p)
	s.inner = s.handler(p)
	s.door, s.network, s.local = s.Front()
	if s.certificate != nil {
		s.network.TLSConfig = s.certificate.Config()
	}
}

// Front makes a door and the servers of the network and of the socket in front of what is served. Open calls it, and tests whose time is
// virtual.
func (s *Server) Front() (door *access.Door, network, local *http.Server) {
	door = access.New(access.Config{Settings: s.doorSettings(s.config()), Pass: s.passes(), Page: web.Door, Refuse: openai.Refuse, Log: s.log})
	return door, access.Server(door.Guard(s.inner), s.log), access.Server(door.Local(s.inner), s.log)
}

// Handlers returns what the network and the socket reach.
func (s *Server) Handlers() (network, local http.Handler) { return s.network.Handler, s.local.Handler }

// Patterns returns where something is served, as patterns of http.ServeMux.
func (s *Server) Patterns() (all []string) {
	for _, m := range s.mounts {
		all = append(all, m.pattern)
	}
	return all
}

// Invite makes a login code: the first browser that opens its link in time gets a cookie of the principal. ok is false when no token stands
// for the principal any more.
func (s *Server) Invite(p api.Principal) (inv access.Invitation, ok bool) { return s.door.Invite(p) }

// doorSettings are the door's of a configuration.
func (s *Server) doorSettings(c *config.Config) access.Settings {
	set := access.Settings{Epoch: readEpoch(c.State), Hosts: c.Gateway.Hosts, Proxies: c.Gateway.Proxies(), Open: []string{"/healthz", "/readyz"}, Public: []string{"/healthz", "/readyz"},
		Tokens: []access.Token{{Name: api.Owner, Token: s.Token(), Scope: api.Admin}}}
	for _, t := range c.Gateway.Tokens {
		set.Tokens = append(set.Tokens, access.Token{Name: t.Name, Token: t.Token, Scope: api.Scope(t.Scope)})
	}
	if s.loopback() && len(set.Proxies) == 0 { // through a proxy anybody may be at the other end
		set.Open = append(set.Open, "/metrics")
	}
	return set
}

// Reload puts what a configuration says about tokens, names and proxies in force, and looks at the certificate again.
func (s *Server) Reload(c *config.Config) error {
	if err := s.readToken(c); err != nil {
		return err
	}
	s.applyDoor()
	if s.certificate != nil {
		s.certificate.Reload()
	}
	return nil
}

// applyDoor puts in force what the configuration and the epoch of the cookies are now: never an older state than another call did.
func (s *Server) applyDoor() {
	s.doorLock.Lock()
	defer s.doorLock.Unlock()
	s.door.Apply(s.doorSettings(s.config()))
}

// Serve answers requests until the servers are closed.
func (s *Server) Serve() error {
	if s.socket != nil {
		go func() {
			if err := s.local.Serve(s.socket); !errors.Is(err, http.ErrServerClosed) {
				s.log.Error("the command socket closed unexpectedly", "err", err)
			}
		}()
	}
	l := &access.Strangers{Listener: s.listener}
	if s.certificate != nil {
		return s.network.ServeTLS(l, "", "")
	}
	return s.network.Serve(l)
}

// Shutdown ends the servers when what they do has ended, or ctx.
func (s *Server) Shutdown(ctx context.Context) {
	var all sync.WaitGroup
	for _, x := range []*http.Server{s.local, s.network} {
		all.Go(func() {
			if err := x.Shutdown(ctx); err != nil {
				_ = x.Close()
			}
		})
	}
	all.Wait()
}

func (s *Server) loopback() bool {
	a, ok := s.listener.Addr().(*net.TCPAddr)
	return ok && a.IP.IsLoopback()
}

// URL returns where the page is.
func (s *Server) URL() string {
	scheme := "http://"
	if s.certificate != nil {
		scheme = "https://"
	}
	addr, ok := s.listener.Addr().(*net.TCPAddr)
	if !ok {
		return scheme + s.listener.Addr().String()
	}
	host := addr.IP.String()
	if addr.IP.IsUnspecified() {
		host = "127.0.0.1"
	}
	return scheme + net.JoinHostPort(host, fmt.Sprint(addr.Port))
}

// Exposure says how far the address reaches, when that is beyond this machine.
func (s *Server) Exposure() string {
	c := s.config()
	switch {
	case s.loopback():
		return ""
	case s.certificate != nil:
		return "✓ reachable from other machines, over https"
	case len(c.Gateway.TrustedProxies) > 0:
		return "! reachable from other machines without encryption, so only " + strings.Join(c.Gateway.TrustedProxies, ", ") + " should"
	}
	return "! reachable from other machines without encryption: set gateway.tls, or use a reverse proxy"
}
