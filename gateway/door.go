package gateway

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"

	"parley/channels"
	"parley/gateway/access"
	"parley/gateway/api"
	"parley/gateway/config"
	"parley/gateway/openai"
	"parley/gateway/web"
)

// listen opens the address and the socket, and finds the token.
func (h *Host) listen(ctx context.Context, c *config.Config) (err error) {
	h.listener, err = (&net.ListenConfig{}).Listen(ctx, "tcp", c.Gateway.Listen)
	if err != nil {
		return fmt.Errorf("gateway.listen %s: %w (another program uses it: stop that one, or set another port with gateway.listen)", c.Gateway.Listen, err)
	}
	if !h.loopback() && c.Gateway.Token.IsZero() { // a name may stand for any address
		return fmt.Errorf("gateway.listen %s can be reached from other machines, and gateway.token is not set: set it, or listen on 127.0.0.1", c.Gateway.Listen)
	}
	if t := c.Gateway.TLS; t.On() {
		if h.certificate, err = access.OpenCertificate(t.Cert, t.Key, h.log); err != nil {
			return fmt.Errorf("gateway.tls: %w (cert and key must be files in PEM format that belong together)", err)
		}
	}
	if err := h.readToken(c); err != nil {
		return err
	}
	switch h.socket, err = access.Socket(ctx, c.State); {
	case err == nil:
		return h.store.Describe(h.URL(), access.SocketName)
	case errors.Is(err, access.ErrInUse):
		return err
	case errors.Is(err, access.ErrLongPath):
		h.log.Info("there is no socket for the command line, which uses the address instead", "why", err)
	default:
		h.log.Warn("there is no socket for the command line, which uses the address instead", "err", err)
	}
	return h.store.Describe(h.URL(), "")
}

func (h *Host) readToken(c *config.Config) error {
	t, err := makeToken(c.State, c.Gateway.Token)
	if err == nil {
		h.token.Store(&t)
	}
	return err
}

// ownToken is the owner's token; the zero Secret before there is one.
func (h *Host) ownToken() channels.Secret {
	if t := h.token.Load(); t != nil {
		return *t
	}
	return channels.Secret{}
}

// openDoor puts the door in front of what the host serves, for the network and for the socket.
func (h *Host) openDoor(inner http.Handler) {
	h.door = access.New(access.Config{Settings: h.doorSettings(h.deps.Config.Config()), Pass: h.passes(), Page: web.Door, Refuse: openai.Refuse, Log: h.log})
	h.server, h.local = access.Server(h.door.Guard(inner), h.log), access.Server(h.door.Local(inner), h.log)
	if h.certificate != nil {
		h.server.TLSConfig = h.certificate.Config()
	}
}

// doorSettings are the door's of a configuration.
func (h *Host) doorSettings(c *config.Config) access.Settings {
	s := access.Settings{Epoch: readEpoch(c.State), Hosts: c.Gateway.Hosts, Proxies: c.Gateway.Proxies(), Open: []string{"/healthz", "/readyz"}, Public: []string{"/healthz", "/readyz"},
		Tokens: []access.Token{{Name: api.Owner, Token: h.ownToken(), Scope: api.Admin}}}
	for _, t := range c.Gateway.Tokens {
		s.Tokens = append(s.Tokens, access.Token{Name: t.Name, Token: t.Token, Scope: api.Scope(t.Scope)})
	}
	if h.loopback() && len(s.Proxies) == 0 { // through a proxy anybody may be at the other end
		s.Open = append(s.Open, "/metrics")
	}
	return s
}

// reloadDoor puts what a configuration says about tokens, names and proxies in force, and looks at the certificate again.
func (h *Host) reloadDoor(c *config.Config) error {
	if err := h.readToken(c); err != nil {
		return err
	}
	h.applyDoor()
	if h.certificate != nil {
		h.certificate.Reload()
	}
	return nil
}

// applyDoor puts in force what the configuration and the epoch of the cookies are now: never an older state than another call did.
func (h *Host) applyDoor() {
	h.doorLock.Lock()
	defer h.doorLock.Unlock()
	h.door.Apply(h.doorSettings(h.deps.Config.Config()))
}

// serve answers requests until the servers are closed.
func (h *Host) serve() error {
	if h.socket != nil {
		go func() {
			if err := h.local.Serve(h.socket); !errors.Is(err, http.ErrServerClosed) {
				h.log.Error("the socket for the command line ended", "err", err)
			}
		}()
	}
	l := &access.Strangers{Listener: h.listener}
	if h.certificate != nil {
		return h.server.ServeTLS(l, "", "")
	}
	return h.server.Serve(l)
}

// shut ends the servers when what they do has ended, or ctx.
func (h *Host) shut(ctx context.Context) {
	var all sync.WaitGroup
	for _, s := range []*http.Server{h.local, h.server} {
		all.Go(func() {
			if err := s.Shutdown(ctx); err != nil {
				_ = s.Close()
			}
		})
	}
	all.Wait()
}

func (h *Host) loopback() bool {
	a, ok := h.listener.Addr().(*net.TCPAddr)
	return ok && a.IP.IsLoopback()
}

// URL is where the page is.
func (h *Host) URL() string {
	scheme := "http://"
	if h.certificate != nil {
		scheme = "https://"
	}
	addr, ok := h.listener.Addr().(*net.TCPAddr)
	if !ok {
		return scheme + h.listener.Addr().String()
	}
	host := addr.IP.String()
	if addr.IP.IsUnspecified() {
		host = "127.0.0.1"
	}
	return scheme + net.JoinHostPort(host, fmt.Sprint(addr.Port))
}

// exposure says how far the address reaches, when that is beyond this machine.
func (h *Host) exposure(c *config.Config) string {
	switch {
	case h.loopback():
		return ""
	case h.certificate != nil:
		return "✓ other machines reach it, over https"
	case len(c.Gateway.TrustedProxies) > 0:
		return "! other machines reach it; unencrypted, so only " + strings.Join(c.Gateway.TrustedProxies, ", ") + " should"
	}
	return "! other machines reach it without encryption: set gateway.tls, or put a reverse proxy in front"
}
