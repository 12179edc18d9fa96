package openai

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"parley/gateway/api"
	"parley/router/event"
	"parley/router/inbound"
	"parley/sessions"
)

// Host is the part of the router that the endpoints call.
type Host interface {
	Watch(w event.Filter) (events <-chan event.Event, cancel func())
	Outcome(ctx context.Context, id sessions.RunID) (sessions.Run, error)
	CancelRun(ctx context.Context, source string, id sessions.RunID) (stopped []sessions.RunID, deliveries int, err error)
}

// Receiver accepts the messages of requests.
type Receiver interface {
	Submit(ctx context.Context, w inbound.Request) (inbound.Submitted, error)
}

// Store is the part of the store that the endpoints read.
type Store interface {
	Get(ctx context.Context, key sessions.Key) (sessions.Session, error)
	GetRun(ctx context.Context, id sessions.RunID) (sessions.Run, error)
	Steps(ctx context.Context, run sessions.RunID) ([]sessions.Message, error)
}

// Deps holds the parts of the host that the handler uses.
type Deps struct {
	Host     Host
	Receiver Receiver
	Store    Store
	Agents   func() (all []sessions.AgentID, def sessions.AgentID)
	On       func() bool // gateway.openai.enabled, asked at each request
	// IgnoreTools reports whether gateway.openai.tools is ignore, asked at each request.
	IgnoreTools func() bool
	Done        <-chan struct{} // closed when the host begins to stop
	Log         *slog.Logger
	Since       time.Time // of the host: when the models were "created"
}

type handler struct{ Deps }

// The bounds of a request's body.
const (
	maxBody      = 20 << 20 // pictures are in it
	bodyTimeout  = 60 * time.Second
	pingInterval = 15 * time.Second // a comment in a stream that says nothing else, so that proxies keep it open
)

// route is one endpoint.
type route struct {
	method, path string
	need         api.Scope
	serve        func(*handler, http.ResponseWriter, *http.Request)
}

var routes = []route{
	{http.MethodGet, "/v1/models", api.Read, (*handler).models},
	{http.MethodGet, "/v1/models/{model...}", api.Read, (*handler).model},
	{http.MethodPost, "/v1/chat/completions", api.Write, (*handler).chat},
	{http.MethodPost, "/v1/responses", api.Write, (*handler).responses},
	{http.MethodGet, "/v1/responses/{id}", api.Read, (*handler).storedResponse},
	{http.MethodGet, "/v1/responses/{id}/input_items", api.Read, (*handler).storedInput},
	{http.MethodPost, "/v1/responses/{id}/cancel", api.Write, (*handler).cancelResponse},
}

// Routes are the patterns of all endpoints, as http.ServeMux has them.
func Routes() (patterns []string) {
	for _, x := range routes {
		patterns = append(patterns, x.method+" "+x.path)
	}
	return patterns
}

// Handler serves everything below /v1/. Put what knows the principal (api.With) in front: without one everything is refused.
func Handler(d Deps) http.Handler {
	h := &handler{d}
	mux := http.NewServeMux()
	for _, x := range routes {
		mux.HandleFunc(x.method+" "+x.path, h.may(x.need, func(w http.ResponseWriter, r *http.Request) { x.serve(h, w, r) }))
		mux.HandleFunc(x.path, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Allow", x.method)
			Fail(w, refuse(http.StatusMethodNotAllowed, "", "method_not_allowed", "method %.20s is not supported here: use %s", r.Method, x.method))
		})
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		Fail(w, refuse(http.StatusNotFound, "", "unknown_url", "unknown path %.200q: parley has /v1/chat/completions, /v1/responses and /v1/models", r.URL.Path))
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !d.On() {
			Fail(w, refuse(http.StatusNotFound, "", "off", "the OpenAI endpoints are disabled: set gateway.openai.enabled to true in parley's configuration, then run parley reload"))
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// may lets a request through whose principal has the scope.
func (h *handler) may(need api.Scope, next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		switch p := api.Caller(r.Context()); {
		case p.Scope == "":
			Fail(w, refuse(http.StatusUnauthorized, "", "invalid_api_key", "the API key must be a token of parley"))
		case !p.Scope.Allows(need):
			Fail(w, refuse(http.StatusForbidden, "", "insufficient_permissions", "%s", api.RefuseScope("this", need, p)))
		default:
			next(w, r)
		}
	}
}

// own is the model's name that stands for the default agent.
const own = "parley"

// agent finds the agent that a model's name means.
func (h *handler) agent(model string) (sessions.AgentID, error) {
	all, def := h.Agents()
	name := strings.TrimSpace(model)
	if strings.EqualFold(name, own) {
		return def, nil
	}
	for _, prefix := range []string{own + "/", own + ":", "agent:"} {
		if len(name) > len(prefix) && strings.EqualFold(name[:len(prefix)], prefix) {
			name = name[len(prefix):]
			break
		}
	}
	for _, id := range all {
		if strings.EqualFold(string(id), name) {
			return id, nil
		}
	}
	names := []string{own}
	for _, id := range all {
		names = append(names, own+"/"+string(id))
	}
	return "", refuse(http.StatusNotFound, "model", "model_not_found", "unknown model %.100q. The models are agents: %s", model, strings.Join(names, ", "))
}

// modelCard is an agent as a model.
type modelCard struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"`
	OwnedBy string `json:"owned_by"`
}

func (h *handler) card(name string) modelCard {
	return modelCard{ID: name, Object: "model", Created: h.Since.Unix(), OwnedBy: own}
}

func (h *handler) models(w http.ResponseWriter, _ *http.Request) {
	all, _ := h.Agents()
	list := []modelCard{h.card(own)}
	for _, id := range all {
		list = append(list, h.card(own+"/"+string(id)))
	}
	api.WriteJSON(w, http.StatusOK, map[string]any{"object": "list", "data": list})
}

func (h *handler) model(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("model")
	if _, err := h.agent(name); err != nil {
		Fail(w, err)
		return
	}
	api.WriteJSON(w, http.StatusOK, h.card(name))
}
