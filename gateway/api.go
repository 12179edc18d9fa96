package gateway

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"parley/channels"
	"parley/policy"
	"parley/sessions"
	"parley/tools/mcp"
)

// api serves what people ask a running host: the command line uses nothing else. Every answer is JSON; an error is
// {"error": "…"} with a fitting status.
func (h *Host) api() http.Handler {
	mux := http.NewServeMux()
	handle(mux, "GET /api/status", h.getStatus)
	handle(mux, "GET /api/sessions", h.listSessions)
	handle(mux, "PATCH /api/session", h.patchSession)
	handle(mux, "GET /api/deliveries", h.listDeliveries)
	handle(mux, "GET /api/deliveries/{id}", h.getDelivery)
	handle(mux, "POST /api/deliveries/{id}/retry", h.retryDelivery)
	handle(mux, "POST /api/deliveries/{id}/drop", h.dropDelivery)
	handle(mux, "GET /api/policy/explain", h.explain)
	handle(mux, "GET /api/tools/explain", h.explainTools)
	handle(mux, "GET /api/trace/{id}", h.trace)
	handle(mux, "GET /api/skipped", h.skipped)
	handle(mux, "GET /api/pairing", h.pairings)
	handle(mux, "POST /api/pairing/approve", h.approve)
	handle(mux, "POST /api/pairing/reject", h.reject)
	handle(mux, "GET /api/pairing/admitted", h.admitted)
	handle(mux, "POST /api/pairing/remove", h.unpair)
	handle(mux, "GET /api/channels", h.listChannels)
	handle(mux, "POST /api/channels/restart", h.restartChannel)
	handle(mux, "POST /api/channels/logout", h.logoutChannel)
	mux.HandleFunc("POST /api/channels/login", h.loginChannel)
	return mux
}

// errBadRequest marks what the caller got wrong.
var errBadRequest = errors.New("bad request")

func bad(format string, a ...any) error {
	return fmt.Errorf("%w: %s", errBadRequest, fmt.Sprintf(format, a...))
}

// refusal is an error with the status that it is answered with.
type refusal struct {
	status int
	text   string
}

func (e *refusal) Error() string { return e.text }

func refuse(status int, format string, a ...any) error {
	return &refusal{status: status, text: fmt.Sprintf(format, a...)}
}

// handle mounts a function that gives a value or an error.
func handle[T any](mux *http.ServeMux, pattern string, f func(*http.Request) (T, error)) {
	mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		v, err := f(r)
		if err != nil {
			writeError(w, err)
			return
		}
		writeJSON(w, http.StatusOK, v)
	})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // a client that went away needs no answer
}

func writeError(w http.ResponseWriter, err error) {
	status := http.StatusInternalServerError
	no, refused := errors.AsType[*refusal](err)
	switch {
	case refused:
		status = no.status
	case errors.Is(err, errBadRequest):
		status = http.StatusBadRequest
	case errors.Is(err, sessions.ErrNotFound):
		status = http.StatusNotFound
	case errors.Is(err, sessions.ErrConflict):
		status = http.StatusConflict
	}
	writeJSON(w, status, map[string]string{"error": err.Error()})
}

// HostStatus is GET /api/status.
type HostStatus struct {
	Version    string                         `json:"version"`
	Started    time.Time                      `json:"started"`
	Ready      bool                           `json:"ready"`
	Why        string                         `json:"why,omitempty"`
	State      string                         `json:"state"`
	Store      string                         `json:"store"`
	Config     string                         `json:"config,omitempty"`
	Model      string                         `json:"model"`
	ModelWhy   string                         `json:"modelWhy"`
	Accounts   []Status                       `json:"accounts"`
	Working    []sessions.Key                 `json:"working"`
	Waiting    int                            `json:"waiting"` // sessions that have work and wait for their turn
	Deliveries map[sessions.DeliveryState]int `json:"deliveries"`
	Servers    []mcp.Status                   `json:"servers,omitempty"` // MCP servers; that one is down does not make the host not ready
	Sandbox    []string                       `json:"sandbox,omitempty"` // what is missing of the confinement of those that sandboxed sessions use
}

func (h *Host) getStatus(r *http.Request) (HostStatus, error) {
	c := h.deps.Config.Config()
	working, waiting := h.router.Working() // before the deliveries: what a turn leaves behind is then counted
	counts, err := h.store.CountDeliveries(r.Context())
	if err != nil {
		return HostStatus{}, err
	}
	why := h.notReady(r.Context())
	return HostStatus{Version: h.deps.Version, Started: h.deps.Began, Ready: why == "", Why: why, State: c.State, Store: h.storeName(), Config: c.Path,
		Model: h.choice.Load().name, ModelWhy: h.choice.Load().why, Accounts: h.statuses(), Working: working, Waiting: waiting, Deliveries: counts,
		Servers: h.servers.Status(), Sandbox: h.servers.Lacks(mcpSettings(c))}, nil
}

// SessionRow is one of GET /api/sessions.
type SessionRow struct {
	Key        sessions.Key    `json:"key"`
	ID         sessions.ID     `json:"sessionId"`
	Kind       sessions.Kind   `json:"kind"`
	Title      string          `json:"title,omitempty"`
	Label      string          `json:"label,omitempty"`
	Last       string          `json:"address,omitempty"`
	SendPolicy policy.Override `json:"sendPolicy,omitempty"`
	Model      string          `json:"model,omitempty"`
	Tokens     int             `json:"totalTokens"`
	Updated    time.Time       `json:"updatedAt"`
}

func sessionRow(s sessions.Session) SessionRow {
	return SessionRow{Key: s.Key, ID: s.ID, Kind: s.Key.Kind(), Title: s.Title, Label: s.Label, Last: s.Last.String(),
		SendPolicy: s.Settings.SendPolicy, Model: s.Settings.Model, Tokens: s.Usage.Total(), Updated: s.Updated}
}

func (h *Host) listSessions(r *http.Request) ([]SessionRow, error) {
	limit, err := number(r, "limit", 50, 1000)
	if err != nil {
		return nil, err
	}
	list, err := h.store.List(r.Context(), sessions.Query{Limit: limit, Search: r.URL.Query().Get("search"), Archived: r.URL.Query().Get("archived") == "true"})
	rows := make([]SessionRow, 0, len(list))
	for _, s := range list {
		rows = append(rows, sessionRow(s))
	}
	return rows, err
}

// patchSession is PATCH /api/session?key=…, body {"sendPolicy": "allow"|"deny"|null, …}: null clears, an absent field stays.
func (h *Host) patchSession(r *http.Request) (SessionRow, error) {
	key, err := h.sessionKey(r, r.URL.Query().Get("key"))
	if err != nil {
		return SessionRow{}, err
	}
	p, err := readPatch(r)
	if err != nil {
		return SessionRow{}, err
	}
	if p.Model != nil && *p.Model != "" {
		if err := h.router.ModelKnown(*p.Model); err != nil {
			return SessionRow{}, bad("model: %v", err)
		}
	}
	s, err := h.router.Patch(r.Context(), key, p)
	return sessionRow(s), err
}

// readPatch reads a patch from a request: a closed object of texts and nulls.
func readPatch(r *http.Request) (p sessions.Patch, err error) {
	var body map[string]*string
	dec := json.NewDecoder(http.MaxBytesReader(nil, r.Body, 64<<10))
	if err := dec.Decode(&body); err != nil || dec.More() {
		return p, bad("the body must be a JSON object of texts and nulls: %v", err)
	}
	fields := map[string]**string{"model": &p.Model, "thinking": &p.Thinking, "verbose": &p.Verbose, "activation": &p.Activation, "label": &p.Label}
	for name, v := range body {
		text := ""
		if v != nil {
			text = *v
		}
		if name == "sendPolicy" {
			o := policy.Override(text)
			if o != policy.Allow && o != policy.Deny && o != policy.Inherit {
				return p, bad(`sendPolicy %q: use "allow", "deny" or null`, text)
			}
			p.SendPolicy = &o
			continue
		}
		f, ok := fields[name]
		if !ok {
			return p, bad("unknown field %q: known are sendPolicy, model, thinking, verbose, activation, label", name)
		}
		*f = &text
	}
	return p, checkPatch(p)
}

// checkPatch refuses values that would never mean anything.
func checkPatch(p sessions.Patch) error {
	for _, f := range []struct {
		name  string
		value *string
		known []string
	}{
		{"thinking", p.Thinking, []string{"", "off", "minimal", "low", "medium", "high"}},
		{"verbose", p.Verbose, []string{"", "off", "on", "full"}},
		{"activation", p.Activation, []string{"", "mention", "always"}},
	} {
		if f.value != nil && !slices.Contains(f.known, *f.value) {
			return bad("%s %q: use one of%s, or null", f.name, *f.value, strings.Join(f.known, " "))
		}
	}
	if l := p.Label; l != nil && (len(*l) > 64 || strings.ContainsFunc(*l, unicode.IsControl)) {
		return bad("label: at most 64 bytes, one line")
	}
	return nil
}

// sessionKey resolves what people call a session: a key, "main", a session id.
func (h *Host) sessionKey(r *http.Request, ref string) (sessions.Key, error) {
	if ref == "" {
		return "", bad("which session? name a key, a session id or main")
	}
	c := h.deps.Config.Config()
	_, def := c.Agents.IDs()
	res, err := sessions.Resolve(ref, def, c.Session.Scope)
	if err != nil {
		return "", bad("%v", err)
	}
	if res.Key != "" {
		s, err := h.store.Get(r.Context(), res.Key)
		return s.Key, err // the key of a chat that has moved is another name
	}
	s, err := h.store.GetByID(r.Context(), res.ID)
	return s.Key, err
}

var deliveryStates = []sessions.DeliveryState{sessions.Pending, sessions.Sending, sessions.Sent, sessions.Withheld, sessions.DeliveryFail, sessions.Expired, sessions.Dropped, sessions.Held}

func (h *Host) listDeliveries(r *http.Request) ([]sessions.Delivery, error) {
	limit, err := number(r, "limit", 50, 1000)
	if err != nil {
		return nil, err
	}
	if st := r.URL.Query().Get("state"); st != "" && !slices.Contains(deliveryStates, sessions.DeliveryState(st)) {
		return nil, bad("state %q: known are %v", st, deliveryStates)
	}
	q := sessions.DeliveryQuery{State: sessions.DeliveryState(r.URL.Query().Get("state")), Limit: limit}
	if ref := r.URL.Query().Get("session"); ref != "" {
		if q.Session, err = h.sessionKey(r, ref); err != nil {
			return nil, err
		}
	}
	list, err := h.store.ListDeliveries(r.Context(), q)
	if list == nil {
		list = []sessions.Delivery{}
	}
	return list, err
}

func (h *Host) getDelivery(r *http.Request) (sessions.Delivery, error) {
	return h.store.GetDelivery(r.Context(), sessions.DeliveryID(r.PathValue("id")))
}

func (h *Host) retryDelivery(r *http.Request) (sessions.Delivery, error) {
	return h.router.RetryDelivery(r.Context(), sessions.DeliveryID(r.PathValue("id")))
}

func (h *Host) dropDelivery(r *http.Request) (sessions.Delivery, error) {
	return h.router.DropDelivery(r.Context(), sessions.DeliveryID(r.PathValue("id")))
}

// Explanation is GET /api/policy/explain.
type Explanation struct {
	Session sessions.Key   `json:"session,omitempty"`
	To      string         `json:"to,omitempty"`
	Verdict policy.Verdict `json:"verdict"`
	Steps   []policy.Step  `json:"steps"`
}

func (h *Host) explain(r *http.Request) (x Explanation, err error) {
	to, err := channels.ParseAddress(r.URL.Query().Get("to"))
	if err != nil {
		return x, bad("to: %v", err)
	}
	if ref := r.URL.Query().Get("session"); ref != "" {
		if x.Session, err = h.sessionKey(r, ref); err != nil {
			return x, err
		}
	}
	if x.Session == "" && to.IsZero() {
		return x, bad("name a session, an address (to), or both")
	}
	x.Verdict, x.Steps, x.To, err = h.router.Explain(r.Context(), x.Session, to)
	return x, err
}

func (h *Host) trace(r *http.Request) ([]sessions.Trace, error) {
	ts, err := h.store.Trace(r.Context(), r.PathValue("id"))
	if err == nil && len(ts) == 0 {
		err = fmt.Errorf("%s is no message, run or delivery that is known here: %w", r.PathValue("id"), sessions.ErrNotFound)
	}
	return ts, err
}

func (h *Host) skipped(r *http.Request) ([]sessions.SkippedEvent, error) {
	limit, err := number(r, "limit", 50, 1000)
	if err != nil {
		return nil, err
	}
	list, err := h.store.Skipped(r.Context(), limit)
	if list == nil {
		list = []sessions.SkippedEvent{}
	}
	return list, err
}

// number reads a bounded whole number from a request.
func number(r *http.Request, name string, def, most int) (int, error) {
	v := r.URL.Query().Get(name)
	if v == "" {
		return def, nil
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < 1 || n > most {
		return 0, bad("%s %q: want a whole number from 1 to %d", name, v, most)
	}
	return n, nil
}
