package hooks

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"parley/channels"
	"parley/gateway/api"
	"parley/router/inbound"
	"parley/sessions"
)

// The bounds of requests.
const (
	maxBody             = 256 << 10
	bodyTimeout         = 30 * time.Second
	maxKnownSenders     = 32 // requests at the same time whose sender is known
	maxStrangers        = 16 // signed ones whose body is read to see whether they are
	strangersEach       = 8  // of them from one address
	strangerBodyTimeout = 5 * time.Second
	maxKey              = 200
)

// Receiver accepts what hooks bring.
type Receiver interface {
	SubmitHook(ctx context.Context, x inbound.Report) (inbound.Submitted, error)
	Wake(ctx context.Context, x inbound.Report, now bool) (inbound.Submitted, error)
}

// Deps holds the parts of the host that a Handler uses.
type Deps struct {
	Path     string         // where it is mounted
	Config   func() *Config // as it is in force
	Agents   func() (ids []sessions.AgentID, def sessions.AgentID)
	Receiver Receiver
	ChatOf   func(ctx context.Context, agent sessions.AgentID, text string) (channels.Address, error) // finds the chat that a text names
	Try      func(from netip.Addr, right func() bool) (ok bool, wait time.Duration)                   // slows down who guesses
	From     func(context.Context) netip.Addr                                                         // who sends a request
	Log      *slog.Logger
}

// Handler serves what is below the path of the section.
type Handler struct {
	deps  Deps
	rules atomic.Pointer[ruleset]
	slots slots
}

type ruleset struct {
	of    *Config
	rules []rule
}

// New makes a Handler.
func New(d Deps) *Handler { return &Handler{deps: d} }

// call is one request that was let in.
type call struct {
	config *Config
	hook   string // what stands behind the path
	rules  []rule
	header http.Header
	body   []byte
	key    string // idempotency key
}

// ServeHTTP takes one request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	status, answer, err := h.serve(w, r)
	switch {
	case err != nil:
		h.deps.Log.Warn("refused a hook request", "hook", h.known(r.URL.Path), "err", err)
		api.WriteError(w, err)
	case status == http.StatusNoContent:
		w.WriteHeader(status)
	default:
		api.WriteJSON(w, status, answer)
	}
}

// hook is what stands in a path behind that of the section.
func (h *Handler) hook(path string) string {
	return strings.Trim(strings.TrimPrefix(path, h.deps.Path), "/")
}

// known is the hook of a path in the words of the configuration: nothing that a stranger wrote.
func (h *Handler) known(path string) string {
	hook := h.hook(path)
	if hook == "wake" || hook == "agent" || slices.ContainsFunc(h.deps.Config().Mappings, func(m Mapping) bool { return m.Path == hook }) {
		return hook
	}
	return "unknown path"
}

func (h *Handler) serve(w http.ResponseWriter, r *http.Request) (int, any, error) {
	c := h.deps.Config()
	if !c.Enabled {
		return 0, nil, api.Refuse(http.StatusNotFound, "hooks are disabled: set hooks.enabled to true, then run parley reload")
	}
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		return 0, nil, api.Refuse(http.StatusMethodNotAllowed, "use POST")
	}
	x := call{config: c, hook: h.hook(r.URL.Path), header: r.Header}
	for _, m := range h.compiled(c) {
		if m.Path == x.hook {
			x.rules = append(x.rules, m)
		}
	}
	leave, err := h.admit(w, r, &x)
	if err != nil {
		return 0, nil, err
	}
	defer leave()
	if t, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || t != "application/json" && !strings.HasSuffix(t, "+json") {
		return 0, nil, api.Refuse(http.StatusUnsupportedMediaType, "send JSON, with Content-Type: application/json")
	}
	if x.key = r.Header.Get("Idempotency-Key"); !visible(x.key) {
		return 0, nil, api.Bad("an idempotency key is 1 to %d visible ASCII characters", maxKey)
	}
	switch {
	case x.hook == "wake":
		return h.wake(r.Context(), x)
	case x.hook == "agent":
		return h.agent(r.Context(), x)
	case len(x.rules) > 0:
		return h.mapped(r.Context(), x)
	}
	return 0, nil, api.Refuse(http.StatusNotFound, "unknown hook %.100q: use wake, agent or a path of hooks.mappings", x.hook)
}

// compiled gives the mappings as they are in force.
func (h *Handler) compiled(c *Config) []rule {
	if s := h.rules.Load(); s != nil && s.of == c {
		return s.rules
	}
	rules, _ := compile(c.Mappings) // what is wrong with them the check of the configuration has refused
	h.rules.Store(&ruleset{of: c, rules: rules})
	return rules
}

// receive reads a body.
func receive(w http.ResponseWriter, r *http.Request, within time.Duration) ([]byte, error) {
	rc := http.NewResponseController(w)
	_ = rc.SetReadDeadline(time.Now().Add(within)) // a recorder has no deadlines
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if _, long := errors.AsType[*http.MaxBytesError](err); long {
		return nil, api.Refuse(http.StatusRequestEntityTooLarge, "payload too large: the limit is %d bytes", maxBody)
	} else if err != nil {
		return nil, api.Refuse(http.StatusRequestTimeout, "the body did not arrive within %s", within)
	}
	_ = rc.SetReadDeadline(time.Time{}) // not when it was given up: net/http reads on after the answer, which needs an end
	return body, nil
}

// admit checks the token, or the signature of a mapping in its place, and reads the body: that of a stranger only when it is signed. The
// caller leaves when it is done.
func (h *Handler) admit(w http.ResponseWriter, r *http.Request, x *call) (leave func(), err error) {
	if r.URL.Query().Has("token") {
		return nil, unauthorized(w, "Do not put a token into the URL, where logs record it: send it as Authorization: Bearer …")
	}
	token := r.Header.Get("X-Parley-Token")
	if scheme, t, ok := strings.Cut(r.Header.Get("Authorization"), " "); ok && strings.EqualFold(scheme, "bearer") {
		token = strings.TrimSpace(t)
	}
	signed := slices.DeleteFunc(slices.Clone(x.rules), func(m rule) bool { return m.Signature.Header == "" || r.Header.Get(m.Signature.Header) == "" })
	if token == "" && len(signed) > 0 {
		x.rules = signed
		if err := h.admitStranger(w, r, x); err != nil {
			return nil, err
		}
		return h.slots.enter()
	}
	if err := h.right(w, r, token != "", func() bool { return equalSecret(token, x.config.Token.Reveal()) }); err != nil {
		return nil, err
	}
	if leave, err = h.slots.enter(); err != nil {
		return nil, err
	}
	if x.body, err = receive(w, r, bodyTimeout); err != nil {
		leave()
		return nil, err
	}
	return leave, nil
}

// admitStranger reads the body of somebody who showed no token and leaves the mappings whose signature it has. Who takes too long for it
// was wrong.
func (h *Handler) admitStranger(w http.ResponseWriter, r *http.Request, x *call) error {
	leave, err := h.slots.enterStranger(h.deps.From(r.Context()))
	if err != nil {
		return err
	}
	defer leave()
	var unread error
	err = h.right(w, r, true, func() bool {
		if x.body, unread = receive(w, r, strangerBodyTimeout); unread != nil {
			return false
		}
		x.rules = slices.DeleteFunc(x.rules, func(m rule) bool { return !m.Signature.signed(x.header, x.body) })
		return len(x.rules) > 0
	})
	if unread != nil {
		return unread
	}
	return err
}

// right asks whether a secret is right, unless its sender was wrong too often.
func (h *Handler) right(w http.ResponseWriter, r *http.Request, given bool, is func() bool) error {
	ok, wait := h.deps.Try(h.deps.From(r.Context()), is)
	switch {
	case wait > 0:
		return &api.Error{Status: http.StatusTooManyRequests, Code: "too_many", Message: "Too many wrong tokens. Wait a moment, then try again.", After: wait}
	case !ok && !given:
		return unauthorized(w, "Hooks need a token (hooks.token): send it as Authorization: Bearer …, or sign the body where a mapping accepts signatures.")
	case !ok:
		return unauthorized(w, "The token or the signature is wrong.")
	}
	return nil
}

func unauthorized(w http.ResponseWriter, why string) error {
	w.Header().Set("WWW-Authenticate", "Bearer")
	return api.Refuse(http.StatusUnauthorized, "%s", why)
}

// equalSecret compares in constant time; an empty secret matches nothing.
func equalSecret(got, want string) bool {
	g, w := sha256.Sum256([]byte(got)), sha256.Sum256([]byte(want))
	return subtle.ConstantTimeCompare(g[:], w[:]) == 1 && want != ""
}

// signed reports whether a body has its signature.
func (s Signature) signed(header http.Header, body []byte) bool {
	if s.Secret.IsZero() || s.Header == "" {
		return false
	}
	got, err := hex.DecodeString(strings.TrimPrefix(strings.TrimSpace(header.Get(s.Header)), "sha256="))
	m := hmac.New(sha256.New, []byte(s.Secret.Reveal()))
	m.Write(body)
	return err == nil && hmac.Equal(got, m.Sum(nil))
}

func visible(key string) bool {
	return len(key) <= maxKey && !strings.ContainsFunc(key, func(c rune) bool { return c < '!' || c > '~' })
}

// source makes a repeat of a hook count once; "" = it is never one.
func (x call) source(key string) string {
	if key == "" {
		return ""
	}
	return fmt.Sprintf("hook:%s:%s", x.hook, key)
}
