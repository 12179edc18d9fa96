package access

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// maxHops is how many entries of X-Forwarded-For are looked at.
const maxHops = 32

type fromKey struct{}

// requestOrigin is where a request comes from.
type requestOrigin struct {
	addr      netip.Addr
	encrypted bool
}

// Client gives the address of the sender of a request, as far as trusted proxies tell; the zero Addr for a socket.
func Client(ctx context.Context) netip.Addr {
	f, _ := ctx.Value(fromKey{}).(requestOrigin)
	return f.addr
}

// encrypted reports whether a request came over TLS, to us or to a trusted proxy.
func encrypted(r *http.Request) bool {
	f, _ := r.Context().Value(fromKey{}).(requestOrigin)
	return f.encrypted || r.TLS != nil
}

// locate notes where a request comes from. Headers about that count only when a trusted proxy sent them.
func (s *state) locate(r *http.Request) *http.Request {
	var f requestOrigin
	if ap, err := netip.ParseAddrPort(r.RemoteAddr); err == nil {
		f.addr = ap.Addr().Unmap().WithZone("")
	}
	f.encrypted = r.TLS != nil
	if s.trusts(f.addr) {
		protos := strings.Split(strings.Join(r.Header.Values("X-Forwarded-Proto"), ","), ",")
		if p := strings.TrimSpace(protos[len(protos)-1]); p != "" {
			f.encrypted = strings.EqualFold(p, "https")
		}
		f.addr = client(f.addr, r.Header.Values("X-Forwarded-For"), s.trusts)
	}
	return r.WithContext(context.WithValue(r.Context(), fromKey{}, f))
}

func (s *state) trusts(a netip.Addr) bool {
	return a.IsValid() && slices.ContainsFunc(s.Proxies, func(p netip.Prefix) bool { return p.Contains(a) })
}

// client walks X-Forwarded-For from its end, where our own proxy wrote, to the first address that is no proxy of ours. What was in the
// header before that is anybody's word.
func client(peer netip.Addr, header []string, trusts func(netip.Addr) bool) netip.Addr {
	hops := strings.Split(strings.Join(header, ","), ",")
	slices.Reverse(hops)
	for i, h := range hops {
		a, ok := hop(h)
		if !ok || i == maxHops {
			return peer
		}
		if peer = a; !trusts(a) {
			return peer
		}
	}
	return peer
}

// hop reads an address with or without a port.
func hop(text string) (netip.Addr, bool) {
	text = strings.TrimSpace(text)
	if ap, err := netip.ParseAddrPort(text); err == nil {
		return ap.Addr().Unmap().WithZone(""), true
	}
	a, err := netip.ParseAddr(strings.Trim(text, "[]"))
	return a.Unmap().WithZone(""), err == nil
}

// ours reports whether the Host header may name this host. A page of another site can point its own name at our address, but it
// cannot make a browser send an IP address or localhost in its place.
func (s *state) ours(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	if _, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return true
	}
	return strings.EqualFold(host, "localhost") || slices.ContainsFunc(s.Hosts, func(h string) bool { return strings.EqualFold(h, host) })
}

// foreign reports whether a page of another origin caused the request, except that a person follows a link. Another port of
// this machine is "same-site" to a browser, so its cookies alone do not keep it out.
func foreign(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "none", "same-origin":
		return false
	case "": // no browser of today, or a program: a page that is not ours gives itself away by its origin, whatever the method
		o := r.Header.Get("Origin")
		return o != "" && !ownOrigin(o, r)
	}
	link := r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
	return !link || forPrograms(r.URL.Path) || r.URL.Path == "/login" // no page may sign a person in as another one
}

// ownOrigin reports whether an origin is the one at which the request asks for us. The same name by http is another than by https: what stands
// between may have written its pages.
func ownOrigin(origin string, r *http.Request) bool {
	scheme := "http"
	if encrypted(r) {
		scheme = "https"
	}
	u, err := url.Parse(origin)
	return err == nil && u.Scheme == scheme && strings.EqualFold(u.Host, r.Host)
}

// single are the headers that say who asks, from where and for what; what else may come more than once.
var single = []string{"Authorization", "Origin", "Sec-Fetch-Site", "Sec-Fetch-Mode", "Sec-Fetch-Dest", "Content-Type", "Idempotency-Key"}

// doubled gives a header of those, or one of ours, that is there more than once: what stands between may go by another one than we do.
func doubled(h http.Header) string {
	for name, values := range h {
		if len(values) > 1 && (slices.Contains(single, name) || strings.HasPrefix(name, "X-Parley-")) {
			return name
		}
	}
	return ""
}

// forPrograms reports whether a path is of no page.
func forPrograms(path string) bool {
	for _, root := range []string{"/api", "/v1", "/mcp", "/hooks"} {
		if path == root || strings.HasPrefix(path, root+"/") {
			return true
		}
	}
	return false
}
