package server

import (
	"context"
	"net/http"
	"strings"
	"time"

	"parley/gateway/accounts"
	"parley/gateway/api"
	"parley/gateway/config"
	"parley/gateway/filesystem"
	"parley/sessions"
	"parley/sessions/sqlstore"
	"parley/tools/mcp"
)

// Health says whether the host does its work.
type Health struct {
	Config   func() *config.Config
	Store    *sqlstore.Store
	Accounts *accounts.Supervisor
	Servers  *mcp.Servers
	Stopping <-chan struct{} // closed when the host begins to stop
}

// healthz says whether the process does its work: the store answers.
func (h *Health) healthz(w http.ResponseWriter, r *http.Request) {
	if why := h.trouble(r.Context()); why != "" {
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
func (h *Health) readyz(w http.ResponseWriter, r *http.Request) {
	why := h.NotReady(r.Context())
	status := http.StatusOK
	if why != "" {
		status = http.StatusServiceUnavailable
	}
	if !isKnown(r) {
		api.WriteJSON(w, status, map[string]bool{"ready": why == ""})
		return
	}
	servers, accounts := h.Servers.Status(), h.Accounts.Statuses()
	for i := range servers {
		servers[i].Detail, servers[i].LeftOut = "", nil // may be a server's own words: they are for owners (/api/status)
	}
	for i := range accounts {
		accounts[i].Name = "" // of a person, perhaps
	}
	api.WriteJSON(w, status, map[string]any{"ready": why == "", "why": why, "accounts": accounts, "servers": servers})
}

// minFreeSpace is below how much free space of the disk the store is asked to write something: on a full disk other writes may be rare.
const minFreeSpace = 16 << 20

// trouble asks the store for something small, and whether it writes when the last write failed or the disk is nearly full. One who asks and closes their side of
// the connection ends ctx while they wait for the answer: that says nothing about the store.
func (h *Health) trouble(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	if free, kind, err := filesystem.Of(h.Config().State); h.Store.Trouble() != nil || err == nil && kind != "" && free < minFreeSpace {
		if err := h.Store.Probe(ctx); err != nil {
			return "the store cannot write: " + err.Error()
		}
	}
	if _, err := h.Store.List(ctx, sessions.Query{Limit: 1}); err != nil {
		return "the store does not answer: " + err.Error()
	}
	return ""
}

// NotReady says why people cannot reach the agents; empty when they can.
func (h *Health) NotReady(ctx context.Context) string {
	select {
	case <-h.Stopping:
		return "the host is stopping"
	default:
	}
	var why []string
	if t := h.trouble(ctx); t != "" {
		why = append(why, t)
	}
	for _, s := range h.Accounts.Statuses() {
		if !s.Live {
			why = append(why, s.Line())
		}
	}
	return strings.Join(why, " · ")
}
