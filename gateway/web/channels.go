package web

import "net/http"

// Channels is the page that shows how every account is connected, and links those that a person links. It stands on the host's own
// API (GET /api/channels and what is below) and on the assets that New and Off serve.
func Channels() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		show(w, http.StatusOK, "channels.html", struct{ Static string }{assets().path})
	})
}
