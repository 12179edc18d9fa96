package gateway

import (
	"net/http"
	"strings"
	"time"

	"parley/channels"
)

// hookBytes is the longest update that a platform may send.
const hookBytes = 1 << 20

// hookPattern is where platforms send updates to accounts that take them by HTTP. It needs no token of ours: the adapter checks
// who calls.
const hookPattern = "POST /channels/{kind}/{account}/hook"

// isHook reports whether a request is for an account's hook.
func isHook(r *http.Request) bool {
	parts := strings.Split(r.URL.Path, "/")
	return r.Method == http.MethodPost && len(parts) == 5 && parts[0] == "" && parts[1] == "channels" && parts[4] == "hook"
}

const (
	hookWithin = 30 * time.Second // an update that has not come by then is given up
	mostHooks  = 64               // under way at the same time; the platform sends what is refused again
)

// hook hands an update to its account. Who asks for one that is not there, or has no hook, does not learn which.
func (h *Host) hook(w http.ResponseWriter, r *http.Request) {
	// First of all, so that whoever sends slowly, or nothing, holds nothing for long.
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(hookWithin)) // what cannot do it has no connection to hold
	defer h.hooks.Add(-1)
	if h.hooks.Add(1) > mostHooks {
		w.Header().Set("Retry-After", "1")
		http.Error(w, "too many updates at the same time", http.StatusServiceUnavailable)
		return
	}
	select {
	case <-h.done:
		http.Error(w, "the host is stopping", http.StatusServiceUnavailable)
		return
	default:
	}
	for _, a := range h.accounts.all() {
		if string(a.ref.Channel) != r.PathValue("kind") || string(a.ref.Account) != r.PathValue("account") || a.ch == nil {
			continue
		}
		hooked := channels.Probe(a.ch).Hooked
		if hooked == nil {
			break
		}
		if next := hooked.Hook(); next != nil {
			r.Body = http.MaxBytesReader(w, r.Body, hookBytes)
			next.ServeHTTP(w, r)
			return
		}
	}
	http.Error(w, "not found", http.StatusNotFound)
}
