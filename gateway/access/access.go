package access

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"parley/channels"
	"parley/gateway/api"
)

// Token is one that opens the door, and as whom.
type Token struct {
	Name  string // api.Owner, or as in gateway.tokens
	Token channels.Secret
	Scope api.Scope
}

// Settings are the part of a door's configuration that a reload may change.
type Settings struct {
	Tokens  []Token        // names differ; empty = every request is refused
	Epoch   string         // cookies of another one are void; "" = of a host that has signed no browser out yet
	Hosts   []string       // names, without port, under which the host may be addressed, besides localhost and IP addresses
	Proxies []netip.Prefix // from where X-Forwarded-For and X-Forwarded-Proto are believed
	Open    []string       // paths that need no token, for example /static/; one that ends in / covers what is below it
	Public  []string       // paths of Open that say more to those who show a token, which is checked then
}

// Config holds the fixed parts of a Door, for New.
type Config struct {
	Settings Settings
	// Pass lets further requests in without a token, those that something else checks; nil = none.
	Pass func(*http.Request) bool
	// Page answers a person who may not come in; next is where they wanted to go. nil = everybody gets JSON.
	Page func(w http.ResponseWriter, status int, why, next string)
	// Refuse answers requests of an API whose errors have a shape of their own, and says whether it did; nil = there is none.
	Refuse func(w http.ResponseWriter, r *http.Request, status int, why string) bool
	Log    *slog.Logger // one line for each request, at debug level; nil = none
}

// Door checks requests. A request passes with `Authorization: Bearer <token>` or with the cookie that signing in sets, by the form or by a link that Invite made. It also
// refuses names that are not ours (DNS rebinding), requests that another site caused, and guessing; and it puts the security
// headers on every answer. Refusals are JSON {"error", "code"} for programs and a page for people.
type Door struct {
	cfg      Config
	state    atomic.Pointer[state]
	csrf     http.CrossOriginProtection
	failures Failures
	codes    codes
	applying sync.Mutex
}

// state is Settings, prepared.
type state struct {
	Settings
	keys []key
}

// New gives a door.
func New(cfg Config) *Door {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	d := &Door{cfg: cfg}
	d.Apply(cfg.Settings)
	return d
}

// Apply puts other settings in force at once: a token that is not there any more opens nothing, and neither do its cookies. What goes on
// in its name ends, streams too.
func (d *Door) Apply(s Settings) {
	d.applying.Lock()
	defer d.applying.Unlock()
	s.Open = append([]string{"/static/"}, s.Open...)
	next := &state{Settings: s, keys: keys(s.Tokens, s.Epoch)}
	was := d.state.Load()
	gone := next.takeOver(was)
	d.state.Store(next)
	if was != nil && was.Epoch != next.Epoch {
		d.codes.clear()
	}
	for _, end := range gone {
		close(end)
	}
}

// takeOver has tokens that stay as they are stay the same keys, and gives the ends of those that are gone, and of cookies of another epoch. was may be
// nil.
func (s *state) takeOver(was *state) (gone []chan struct{}) {
	if was == nil {
		return nil
	}
	for _, k := range was.keys {
		if i := slices.IndexFunc(s.keys, k.same); i >= 0 {
			s.keys[i].over = k.over
			if s.Epoch == was.Epoch {
				s.keys[i].signedOut = k.signedOut
			} else {
				gone = append(gone, k.signedOut)
			}
		} else {
			gone = append(gone, k.over)
		}
	}
	return gone
}

// Failures counts wrong tokens by address. Other checks of secrets behind the door use it too (Client says who asks).
func (d *Door) Failures() *Failures { return &d.failures }

// Guard puts the door in front of a handler that the network reaches.
func (d *Door) Guard(next http.Handler) http.Handler {
	return d.timed(func(w *answer, r *http.Request) {
		s := d.state.Load()
		secure(w.Header())
		r = s.locate(r)
		twice := doubled(r.Header)
		switch {
		case twice != "":
			d.refuse(w, r, http.StatusBadRequest, "The header "+twice+" appears more than once: send it once.")
			return
		case !s.ours(r.Host):
			d.refuse(w, r, http.StatusMisdirectedRequest, fmt.Sprintf("Unknown host name %.100q. Use 127.0.0.1, or add the name, without port, to gateway.hosts in the configuration.", r.Host))
			return
		case d.csrf.Check(r) != nil || foreign(r):
			d.refuse(w, r, http.StatusForbidden, "Request refused: it came from another website.")
			return
		case r.URL.Path == "/login":
			d.login(s, w, r)
			return
		case r.URL.Path == "/logout":
			d.logout(w, r)
			return
		case d.cfg.Pass != nil && d.cfg.Pass(r), s.open(r.URL.Path) && !s.shown(r):
			w.pass(next, r)
		default:
			if k, ok := d.enter(s, w, r); ok {
				w.passAs(next, r, k)
			}
		}
	})
}

// Local serves every client that reaches the socket in the state folder: the host's own user, and so its owner.
func (d *Door) Local(next http.Handler) http.Handler {
	return d.timed(func(w *answer, r *http.Request) {
		secure(w.Header())
		if twice := doubled(r.Header); twice != "" {
			d.refuse(w, r, http.StatusBadRequest, "The header "+twice+" appears more than once: send it once.")
			return
		}
		r = r.WithContext(api.With(r.Context(), api.Principal{Name: api.Owner, Scope: api.Admin}))
		w.pass(next, r)
	})
}

func (s *state) open(path string) bool {
	return slices.ContainsFunc(s.Open, func(p string) bool { return path == p || strings.HasSuffix(p, "/") && strings.HasPrefix(path, p) })
}

// shown reports whether a request for a public path carries a token, or a cookie that is good.
func (s *state) shown(r *http.Request) bool {
	if !slices.Contains(s.Public, r.URL.Path) {
		return false
	}
	_, _, in := s.session(r)
	return in || r.Header.Get("Authorization") != ""
}

// enter gives the key of the cookie or token that a request carries, or refuses.
func (d *Door) enter(s *state, w http.ResponseWriter, r *http.Request) (k key, ok bool) {
	if k, renew, ok := s.session(r); ok {
		if renew {
			s.setCookie(w, r, k)
		}
		k.byCookie = true
		return k, true
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "bearer") {
		w.Header().Set("WWW-Authenticate", "Bearer")
		d.refuse(w, r, http.StatusUnauthorized, "This needs a token: send it as Authorization: Bearer …")
		return k, false
	}
	return d.checkToken(s, w, r, strings.TrimSpace(token))
}
