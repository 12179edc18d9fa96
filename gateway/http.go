package gateway

import (
	"context"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"parley/gateway/api"
	"parley/gateway/filesystem"
	"parley/gateway/openai"
	"parley/sessions"
)

// handler serves everything: health and metrics for machines, the page and the API for people. The door in front has let it in: what
// needs no token stands in doorSettings.
func (h *Host) handler() http.Handler {
	mux := http.NewServeMux()
	for _, m := range h.mounts() {
		mux.Handle(m.pattern, m.handler)
	}
	return api.Shelter{Log: h.log, Done: h.done, Fail: func(w http.ResponseWriter, r *http.Request, err error) {
		if openai.Ours(r) {
			openai.Fail(w, err)
			return
		}
		api.WriteError(w, err)
	}}.Over(mux)
}

// mount is what is served at a pattern of http.ServeMux.
type mount struct {
	pattern string
	handler http.Handler
}

// mounts is everything that is served.
func (h *Host) mounts() []mount {
	table := h.operations().WithDocument(h.deps.Version)
	return append(h.outside(),
		mount{"GET /healthz", http.HandlerFunc(h.healthz)},
		mount{"GET /readyz", http.HandlerFunc(h.readyz)},
		mount{"GET /metrics", promhttp.HandlerFor(h.registry, promhttp.HandlerOpts{})},
		mount{"/api/", table.Handler()},
		mount{hookPattern, http.HandlerFunc(h.hook)},
		h.inbound(),
		mount{"/", h.pageHandler(table)})
}

// healthz says whether the process does its work: the store answers.
func (h *Host) healthz(w http.ResponseWriter, r *http.Request) {
	if why := h.storeTrouble(r.Context()); why != "" {
		said := map[string]string{"status": "unhealthy"}
		if isKnown(r) {
			said["why"] = why
		}
		api.WriteJSON(w, http.StatusServiceUnavailable, said)
		return
	}
	api.WriteJSON(w, http.StatusOK, map[string]string{"status": "ok"})
}

// isKnown reports whether a request came with a token, a cookie or through the socket. Paths, addresses and errors are for those alone, also on
// this machine: other users and programs of it are strangers too.
func isKnown(r *http.Request) bool { return api.Caller(r.Context()).Name != "" }

// readyz says whether people can reach the agents: the store answers, and every account's platform answered lately. Why not is for those who
// are known.
func (h *Host) readyz(w http.ResponseWriter, r *http.Request) {
	why := h.notReady(r.Context())
	status := http.StatusOK
	if why != "" {
		status = http.StatusServiceUnavailable
	}
	if !isKnown(r) {
		api.WriteJSON(w, status, map[string]bool{"ready": why == ""})
		return
	}
	servers, accounts := h.servers.Status(), h.statuses()
	for i := range servers {
		servers[i].Detail, servers[i].LeftOut = "", nil // may be a server's own words: they are for owners (/api/status)
	}
	for i := range accounts {
		accounts[i].Name = "" // of a person, perhaps
	}
	api.WriteJSON(w, status, map[string]any{"ready": why == "", "why": why, "accounts": accounts, "servers": servers})
}

// littleRoom is below how much of it the store is asked to write something: on a full disk nobody else may do that for long.
const littleRoom = 16 << 20

// storeTrouble asks the store for something small, and whether it writes when the last write failed or the disk is nearly full. One who asks and closes their side of
// the connection ends ctx while they wait for the answer: that says nothing about the store.
func (h *Host) storeTrouble(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	if free, kind, err := filesystem.Of(h.deps.Config.Config().State); h.store.Trouble() != nil || err == nil && kind != "" && free < littleRoom {
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
