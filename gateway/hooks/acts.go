package hooks

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"text/template"
	"time"

	"parley/gateway/api"
	"parley/router/cron"
	"parley/router/inbound"
	"parley/sessions"
)

// Wake is the body of /hooks/wake.
type Wake struct {
	Text  string `json:"text"`
	Mode  string `json:"mode"` // now (the default) or next
	Name  string `json:"name"`
	Agent string `json:"agentId"`
}

// Agent is the body of /hooks/agent.
type Agent struct {
	Message  string `json:"message"`
	Name     string `json:"name"`
	Session  string `json:"sessionKey"`
	Agent    string `json:"agentId"`
	To       string `json:"to"`      // address, or last
	Channel  string `json:"channel"` // last; for whole addresses see To
	Deliver  *bool  `json:"deliver"` // false: nowhere; true without an address: last
	Model    string `json:"model"`
	Thinking string `json:"thinking"`
	Timeout  int    `json:"timeoutSeconds"`
}

// Taken is the body of the answer 202 to a hook: the run is on disk.
type Taken struct {
	OK     bool           `json:"ok"`
	Run    sessions.RunID `json:"runId"`
	Key    sessions.Key   `json:"sessionKey"`
	Repeat bool           `json:"repeat,omitempty"` // it came before: this is the first time's run
}

// Woken is the body of the answer to a wake.
type Woken struct {
	OK     bool           `json:"ok"`
	Mode   string         `json:"mode"`
	Run    sessions.RunID `json:"runId,omitempty"`
	Repeat bool           `json:"repeat,omitempty"`
}

// closed reads a JSON object with no field that v does not have.
func closed(body []byte, v any) error {
	if t := bytes.TrimSpace(body); len(t) == 0 || t[0] != '{' {
		return api.Bad("the body must be one JSON object")
	}
	if _, err := decode(body); err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		if t, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			return api.Bad("%s: unexpected type %s", t.Field, t.Value)
		}
		if name, unknown := strings.CutPrefix(err.Error(), "json: unknown field "); unknown {
			return api.Bad("unknown field %.100s: the fields are %s", name, fields(v))
		}
		return api.Bad("%s", strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}

// fields are the names of what v may have in JSON.
func fields(v any) string {
	var names []string
	for _, f := range reflect.VisibleFields(reflect.TypeOf(v).Elem()) {
		names = append(names, f.Tag.Get("json"))
	}
	return strings.Join(names, ", ")
}

// begin reads the body of one of parley's own hooks into q, which has the agent that it names and what that is told, and gives that agent.
func (h *Handler) begin(x call, q any, name *string, field string, told *string) (sessions.AgentID, error) {
	if err := closed(x.body, q); err != nil {
		return "", err
	}
	agent, err := h.agentOf(x, *name)
	if err == nil && strings.TrimSpace(*told) == "" {
		err = api.Bad("%s required", field)
	}
	return agent, err
}

func (h *Handler) wake(ctx context.Context, x call) (int, any, error) {
	var q Wake
	agent, err := h.begin(x, &q, &q.Agent, "text", &q.Text)
	if err != nil {
		return 0, nil, err
	}
	return h.woken(ctx, inbound.Report{Source: x.source(x.key), Name: q.Name, Agent: agent, Text: q.Text}, q.Mode)
}

func (h *Handler) woken(ctx context.Context, q inbound.Report, mode string) (int, any, error) {
	switch mode {
	case "", "now":
		mode = "now"
	case "next", "next-heartbeat":
		mode = "next"
	default:
		return 0, nil, api.Bad("mode %.50q: use now or next", mode)
	}
	heard, err := h.deps.Receiver.Wake(ctx, q, mode == "now")
	if err != nil {
		return 0, nil, refused(err)
	}
	if err := asBefore(heard, q); err != nil {
		return 0, nil, err
	}
	return http.StatusOK, Woken{OK: true, Mode: mode, Run: heard.Run.ID, Repeat: heard.Duplicate}, nil
}

// levels are the values of thinking.
var levels = []string{"", "off", "minimal", "low", "medium", "high"}

func (h *Handler) agent(ctx context.Context, x call) (int, any, error) {
	var q Agent
	agent, err := h.begin(x, &q, &q.Agent, "message", &q.Message)
	switch {
	case err != nil:
		return 0, nil, err
	case q.Channel != "" && q.Channel != cron.LastChat:
		return 0, nil, api.Bad("channel must be last; for another chat name its address in to: channel/account/direct|group|channel/chat[/thread]")
	case q.Timeout < 0 || q.Timeout > 86400:
		return 0, nil, api.Bad("timeoutSeconds %d: must be a whole number from 1 to 86400", q.Timeout)
	case !slices.Contains(levels, q.Thinking):
		return 0, nil, api.Bad("thinking %.50q: use one of %s", q.Thinking, strings.Join(levels[1:], ", "))
	case q.Session != "" && !x.config.AllowKey:
		return 0, nil, api.Bad("sessionKey is not allowed: set hooks.allowRequestSessionKey to allow it")
	}
	r := inbound.Report{Source: x.source(x.key), Name: q.Name, Agent: agent, Text: q.Message, Model: q.Model, Thinking: q.Thinking, Timeout: time.Duration(q.Timeout) * time.Second}
	if r.Session, err = x.session(agent, q.Session); err != nil {
		return 0, nil, err
	}
	to := q.To
	if to == "" {
		to = q.Channel
	}
	switch {
	case q.Deliver == nil:
	case !*q.Deliver:
		to = ""
	case to == "":
		to = cron.LastChat
	}
	return h.taken(ctx, r, to)
}

// taken has an agent work on a report whose answer goes to an address.
func (h *Handler) taken(ctx context.Context, q inbound.Report, to string) (int, any, error) {
	var err error
	if q.To, err = h.deps.ChatOf(ctx, q.Agent, to); err != nil {
		return 0, nil, refused(err)
	}
	heard, err := h.deps.Receiver.SubmitHook(ctx, q)
	if err != nil {
		return 0, nil, refused(err)
	}
	if err := asBefore(heard, q); err != nil {
		return 0, nil, err
	}
	return http.StatusAccepted, Taken{OK: true, Run: heard.Run.ID, Key: heard.Run.Key, Repeat: heard.Duplicate}, nil
}

// asBefore refuses a repeat that says something else than the first time did: that would be lost without a word. A run that is deleted since, and
// what was kept for a session's next turn, have no text to compare with.
func asBefore(heard inbound.Submitted, q inbound.Report) error {
	first := heard.Run.Input
	if heard.Duplicate && first.ID != "" && !strings.HasSuffix(first.Text(), strings.TrimSpace(q.Text)) {
		return api.Refuse(http.StatusUnprocessableEntity, "this idempotency key was used for another request: use a new key for each request")
	}
	return nil
}

// agentOf gives the agent that a request names, if it may.
func (h *Handler) agentOf(x call, name string) (sessions.AgentID, error) {
	ids, def := h.deps.Agents()
	switch {
	case name == "" || name == string(def):
		return def, nil
	case !slices.Contains(x.config.Agents, name) && !slices.Contains(x.config.Agents, "*"):
		return "", api.Refuse(http.StatusForbidden, "agentId %.50q is not allowed: add it to hooks.allowedAgents", name)
	case !slices.Contains(ids, sessions.AgentID(name)):
		return "", api.Bad("unknown agent %.50q", name)
	}
	return sessions.AgentID(name), nil
}

// session gives the session that a request or a template names, if it may.
func (x call) session(agent sessions.AgentID, ref string) (sessions.Key, error) {
	if ref == "" {
		return "", nil
	}
	key, ok := inbound.HookKey(agent, ref)
	if !ok || key.Agent() != agent {
		return "", api.Bad("sessionKey %.100q is not a key of the agent %s: write hook:<id>, or agent:%s:…", ref, agent, agent)
	}
	allowed := x.config.KeyPrefix
	if len(allowed) == 0 {
		allowed = []string{"hook:"}
	}
	short := strings.TrimPrefix(string(key), "agent:"+string(agent)+":")
	for _, p := range allowed {
		if p != "" && (strings.HasPrefix(string(key), p) || strings.HasPrefix(short, p)) {
			return key, nil
		}
	}
	return "", api.Bad("sessionKey %.100q: keys must begin with %s (hooks.allowedSessionKeyPrefixes)", ref, strings.Join(allowed, " or "))
}

// mapped does what the first mapping says that matches.
func (h *Handler) mapped(ctx context.Context, x call) (int, any, error) {
	payload, err := decode(x.body)
	if err != nil {
		return 0, nil, err
	}
	i := slices.IndexFunc(x.rules, func(m rule) bool { return m.Match.matches(payload) })
	if i < 0 {
		return http.StatusNoContent, nil, nil
	}
	m := x.rules[i]
	_, def := h.deps.Agents()
	q := inbound.Report{Agent: def, Model: m.Model, Thinking: m.Thinking, Timeout: time.Duration(m.Timeout) * time.Second}
	if m.Agent != "" {
		q.Agent = sessions.AgentID(m.Agent)
	}
	var session, to string
	for _, f := range []struct {
		from *template.Template
		set  *string
	}{{m.message, &q.Text}, {m.name, &q.Name}, {m.session, &session}, {m.to, &to}} {
		if *f.set, err = render(f.from, payload); err != nil {
			return 0, nil, api.Refuse(http.StatusUnprocessableEntity, "hook mapping failed: hooks.mappings, path %s: %v", m.Path, err)
		}
	}
	if q.Text == "" {
		return http.StatusNoContent, nil, nil
	}
	if q.Name == "" {
		q.Name = m.Path
	}
	key := x.key
	if key == "" && m.IDHeader != "" {
		if key = x.header.Get(m.IDHeader); !visible(key) {
			return 0, nil, api.Bad("%s is not a valid id: use 1 to %d visible ASCII characters", m.IDHeader, maxKey)
		}
	}
	q.Source = x.source(key)
	if m.Action == "wake" {
		return h.woken(ctx, q, m.Mode)
	}
	if q.Session, err = x.session(q.Agent, session); err != nil {
		return 0, nil, err
	}
	return h.taken(ctx, q, to)
}

// refused words why the router does not take something.
func refused(err error) error {
	switch {
	case errors.Is(err, sessions.ErrBadRequest):
		return api.Bad("%v", err)
	case errors.Is(err, inbound.ErrQueueFull):
		return &api.Error{Status: http.StatusServiceUnavailable, Code: "unavailable", Message: err.Error(), After: 10 * time.Second}
	}
	return err
}
