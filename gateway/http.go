package gateway

import (
	"context"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"parley/gateway/api"
	"parley/gateway/openai"
	"parley/sessions"
)

// handler serves everything: health and metrics for machines, the page and the API for people. The door in front has let it in: what
// needs no token stands in doorSettings.
func (h *Host) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", h.healthz)
	mux.HandleFunc("GET /readyz", h.readyz)
	mux.Handle("GET /metrics", promhttp.HandlerFor(h.registry, promhttp.HandlerOpts{}))
	table := h.operations().WithDocument(h.deps.Version)
	mux.Handle("/api/", table.Handler())
	mux.HandleFunc(hookPattern, h.hook)
	h.mountOutside(mux)
	h.mountHooks(mux)
	mux.Handle("/", h.pageHandler(table))
	return api.Shelter{Log: h.log, Done: h.done, Fail: func(w http.ResponseWriter, r *http.Request, err error) {
		if openai.Ours(r) {
			openai.Fail(w, err)
			return
		}
		api.WriteError(w, err)
	}}.Over(mux)
}

// healthz says whether the process does its work: the store answers.
func (h *Host) healthz(w http.ResponseWriter, r *http.Request) {
	if why := h.storeTrouble(r.Context()); why != "" {
		api.WriteJSON(w, http.StatusServiceUnavailable, map[string]string{"status": "unhealthy", "why": why})
		return
	}
	api.WriteJSON(w, http.StatusOK, map[string]string{"status": "ok"})
}

// readyz says whether people can reach the agents: the store answers, and every account's platform answered lately.
func (h *Host) readyz(w http.ResponseWriter, r *http.Request) {
	why := h.notReady(r.Context())
	status := http.StatusOK
	if why != "" {
		status = http.StatusServiceUnavailable
	}
	servers, accounts := h.servers.Status(), h.statuses()
	for i := range servers {
		servers[i].Detail = "" // may be a server's own words: they are for owners (/api/status)
	}
	for i := range accounts {
		accounts[i].Name = "" // of a person, perhaps
	}
	api.WriteJSON(w, status, map[string]any{"ready": why == "", "why": why, "accounts": accounts, "servers": servers})
}

// storeTrouble asks the store for something small, and whether it writes when the last write failed.
func (h *Host) storeTrouble(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	if h.store.Trouble() != nil {
		if err := h.store.Probe(ctx); err != nil {
			return "the store does not write: " + err.Error()
		}
	}
	if _, err := h.store.List(ctx, sessions.Query{Limit: 1}); err != nil {
		return "the store does not answer: " + err.Error()
	}
	return ""
}

func (h *Host) storeName() string {
	if h.deps.Config.Config().Store.DSN.IsZero() {
		return "SQLite"
	}
	return "PostgreSQL"
}
