package accounts

import (
	"net/http"
	"strings"
	"time"

	"parley/channels"
)

// maxWebhookBytes is the longest update that a platform may send.
const maxWebhookBytes = 1 << 20

// WebhookPattern is the route to which platforms send updates of accounts that receive by HTTP. It needs no token of ours: the adapter checks
// who calls.
const WebhookPattern = "POST /channels/{kind}/{account}/hook"

// IsWebhook reports whether a request is for an account's hook.
func IsWebhook(r *http.Request) bool {
	parts := strings.Split(r.URL.Path, "/")
	return r.Method == http.MethodPost && len(parts) == 5 && parts[0] == "" && parts[1] == "channels" && parts[4] == "hook"
}

const (
	webhookTimeout = 30 * time.Second // an update that has not come by then is given up
	maxWebhooks    = 64               // under way at the same time; the platform sends what is refused again
)

// ServeWebhook hands an update to its account. Who asks for one that is not there, or has no hook, does not learn which.
func (s *Supervisor) ServeWebhook(w http.ResponseWriter, r *http.Request) {
	// First of all, so that a client that sends slowly, or nothing, holds nothing for long.
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(webhookTimeout)) // what cannot do it has no connection to hold
	defer s.webhooks.Add(-1)
	if s.webhooks.Add(1) > maxWebhooks {
		w.Header().Set("Retry-After", "1")
		http.Error(w, "too many updates at once", http.StatusServiceUnavailable)
		return
	}
	select {
	case <-s.Stopping:
		http.Error(w, "the host is stopping", http.StatusServiceUnavailable)
		return
	default:
	}
	for _, a := range s.All() {
		if string(a.ref.Channel) != r.PathValue("kind") || string(a.ref.Account) != r.PathValue("account") || a.ch == nil {
			continue
		}
		hooked := channels.Probe(a.ch).Hooked
		if hooked == nil {
			break
		}
		if next := hooked.Hook(); next != nil {
			r.Body = http.MaxBytesReader(w, r.Body, maxWebhookBytes)
			next.ServeHTTP(w, r)
			return
		}
	}
	http.Error(w, "not found", http.StatusNotFound)
}
