package web

import "net/http"

const switchedOff = "The web chat of this host is switched off. To use it, set channels.webchat.enabled: true in the configuration and restart the host."

// Off stands in the place of New's handler when channels.webchat.enabled is false: to every request it says so, as a page for
// people and as JSON {"error"} with status 404 for programs. It serves the assets too, for its own page and for the door's.
func Off() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /static/", static)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { refuse(w, r, http.StatusNotFound, switchedOff) })
	return mux
}
