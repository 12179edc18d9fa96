package web

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"parley/channels"
	"parley/gateway/api"
)

// Config is what Guard needs.
type Config struct {
	Token channels.Secret // the gateway token; without one everything that is not Open is refused
	Hosts []string        // names, without port, under which the host may be addressed, besides localhost and IP addresses
	Open  []string        // paths that need no token, for example /healthz; one that ends in / covers what is below it

	// Pass lets further requests in without a token, those that something else checks; nil = none.
	Pass func(*http.Request) bool
}

const (
	cookieLife   = 30 * 24 * time.Hour
	wrongPerMin  = 10   // wrong tokens that one address may try in a row, and then per minute
	maxOffenders = 1024 // addresses remembered
)

// Guard is the one door of the host's HTTP side. A request passes with `Authorization: Bearer <token>` or with the cookie that
// GET /login?token=… sets. It also refuses names that are not ours (DNS rebinding), requests that another site caused, and
// guessing; and it puts the security headers on every answer. Refusals are JSON {"error"} for programs and a page for people.
func Guard(next http.Handler, cfg Config) http.Handler {
	key := sha256.Sum256([]byte("parley web session\x00" + cfg.Token.Reveal()))
	open := append([]string{"/static/"}, cfg.Open...)
	return &guard{next: next, cfg: cfg, open: open, key: key[:], offenders: map[netip.Addr]*rate.Limiter{}}
}

type guard struct {
	next http.Handler
	cfg  Config
	open []string
	key  []byte // signs cookies; from the token, so that a restart keeps people signed in and a new token does not
	csrf http.CrossOriginProtection

	mu        sync.Mutex
	offenders map[netip.Addr]*rate.Limiter
}

func (g *guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	secure(w.Header())
	switch {
	case !g.ours(r.Host):
		refuse(w, r, http.StatusMisdirectedRequest, fmt.Sprintf("This host does not go by the name %.100q. Use 127.0.0.1, or add the name, without port, to gateway.hosts in the configuration.", r.Host))
	case g.csrf.Check(r) != nil || foreign(r):
		refuse(w, r, http.StatusForbidden, "Another site sent this request: refused.")
	case r.URL.Path == "/login":
		g.login(w, r)
	case g.cfg.Pass != nil && g.cfg.Pass(r):
		g.next.ServeHTTP(w, r)
	case slices.ContainsFunc(g.open, func(p string) bool {
		return r.URL.Path == p || strings.HasSuffix(p, "/") && strings.HasPrefix(r.URL.Path, p)
	}):
		g.next.ServeHTTP(w, r)
	default:
		g.enter(w, r)
	}
}

// enter lets a request through that carries a right cookie or token.
func (g *guard) enter(w http.ResponseWriter, r *http.Request) {
	if end, ok := g.session(r); ok {
		if time.Until(end) < cookieLife/2 {
			g.setCookie(w, r)
		}
		g.next.ServeHTTP(w, asOwner(r))
		return
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "bearer") {
		w.Header().Set("WWW-Authenticate", "Bearer")
		if wantsPage(r) {
			door(w, http.StatusUnauthorized, "")
			return
		}
		refuse(w, r, http.StatusUnauthorized, "This needs the gateway token: send it as Authorization: Bearer …")
		return
	}
	if g.checkToken(w, r, strings.TrimSpace(token)) {
		g.next.ServeHTTP(w, asOwner(r))
	}
}

// asOwner is a request of whoever holds the gateway's token.
func asOwner(r *http.Request) *http.Request {
	return r.WithContext(api.With(r.Context(), api.Principal{Name: api.Owner, Scope: api.Admin}))
}

func (g *guard) login(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	token := r.URL.Query().Get("token")
	if token == "" {
		refuse(w, r, http.StatusUnauthorized, "This link has no token.")
		return
	}
	if g.checkToken(w, r, token) {
		g.setCookie(w, r)
		http.Redirect(w, r, "/", http.StatusSeeOther) // the token does not stay in the address bar
	}
}

// checkToken compares a token that was offered, and refuses the request itself when it is wrong or the address guesses.
func (g *guard) checkToken(w http.ResponseWriter, r *http.Request, token string) bool {
	from := origin(r)
	if wait := g.wait(from); wait > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
		refuse(w, r, http.StatusTooManyRequests, "Too many wrong tokens. Wait a moment.")
		return false
	}
	got, want := sha256.Sum256([]byte(token)), sha256.Sum256([]byte(g.cfg.Token.Reveal()))
	if subtle.ConstantTimeCompare(got[:], want[:]) == 1 && !g.cfg.Token.IsZero() {
		return true
	}
	g.blame(from)
	w.Header().Set("WWW-Authenticate", "Bearer")
	refuse(w, r, http.StatusUnauthorized, "The token is wrong or old.")
	return false
}

// origin is the address that guesses are counted by: a whole /64 for IPv6, because one machine owns that many.
func origin(r *http.Request) netip.Addr {
	ap, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{} // a Unix socket: all share one count
	}
	a := ap.Addr().Unmap().WithZone("")
	if p, err := a.Prefix(64); err == nil && a.Is6() {
		return p.Addr()
	}
	return a
}

// wait gives how long an address has to wait before it may try again.
func (g *guard) wait(from netip.Addr) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	l := g.offenders[from]
	if l == nil || l.Tokens() >= 1 {
		return 0
	}
	return time.Duration((1 - l.Tokens()) / float64(l.Limit()) * float64(time.Second))
}

func (g *guard) blame(from netip.Addr) {
	g.mu.Lock()
	defer g.mu.Unlock()
	l := g.offenders[from]
	if l == nil {
		if len(g.offenders) >= maxOffenders {
			clear(g.offenders)
		}
		l = rate.NewLimiter(rate.Every(time.Minute/wrongPerMin), wrongPerMin)
		g.offenders[from] = l
	}
	l.Allow()
}

// The cookie is "<unix end>.<signature>": nothing to store. Its name has the port, because cookies do not tell ports apart.
func (g *guard) setCookie(w http.ResponseWriter, r *http.Request) {
	end := strconv.FormatInt(time.Now().Add(cookieLife).Unix(), 10)
	http.SetCookie(w, &http.Cookie{
		Name: cookieName(r), Value: end + "." + hex.EncodeToString(g.sign(end)), Path: "/", MaxAge: int(cookieLife.Seconds()),
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: r.TLS != nil,
	})
}

func cookieName(r *http.Request) string {
	_, port, err := net.SplitHostPort(r.Host)
	if err != nil {
		return "parley"
	}
	return "parley_" + port
}

func (g *guard) sign(end string) []byte {
	m := hmac.New(sha256.New, g.key)
	m.Write([]byte(end))
	return m.Sum(nil)
}

// session gives when the request's cookie ends; ok is false without a good cookie.
func (g *guard) session(r *http.Request) (end time.Time, ok bool) {
	c, err := r.Cookie(cookieName(r))
	if err != nil || g.cfg.Token.IsZero() {
		return time.Time{}, false
	}
	text, sig, _ := strings.Cut(c.Value, ".")
	mac, err := hex.DecodeString(sig)
	if err != nil || !hmac.Equal(mac, g.sign(text)) {
		return time.Time{}, false
	}
	unix, err := strconv.ParseInt(text, 10, 64)
	end = time.Unix(unix, 0)
	return end, err == nil && time.Now().Before(end)
}

// ours reports whether the Host header may name this host. A page of another site can point its own name at our address, but it
// cannot make a browser send an IP address or localhost in its place.
func (g *guard) ours(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	if _, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return true
	}
	return strings.EqualFold(host, "localhost") || slices.ContainsFunc(g.cfg.Hosts, func(h string) bool { return strings.EqualFold(h, host) })
}

// foreign reports whether a page of another origin caused the request, except that a person follows a link. Another port of
// this machine is "same-site" to a browser, so its cookies alone do not keep it out.
func foreign(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "none", "same-origin":
		return false
	}
	link := r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
	return !link || strings.HasPrefix(r.URL.Path, "/api/")
}

func secure(h http.Header) {
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
}

// refuse answers in the way that the client reads: a page when it asks for one, JSON otherwise.
func refuse(w http.ResponseWriter, r *http.Request, status int, why string) {
	w.Header().Set("Cache-Control", "no-store")
	if wantsPage(r) {
		door(w, status, why)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"error": why}) // the client is gone: nobody is left to tell
}

func wantsPage(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.Contains(r.Header.Get("Accept"), "text/html") && !strings.HasPrefix(r.URL.Path, "/api/")
}
