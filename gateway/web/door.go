package web

import (
	"net/http"
	"strings"

	"parley/gateway/api"
)

// Door is the page for who may not come in; access.Config.Page takes it. Where a token helps it says how to come by one and has a form
// for it, from which a person goes on to next.
func Door(w http.ResponseWriter, status int, why, next string) {
	show(w, status, "door.html", struct {
		Static, Why, Next string
		Private           bool
	}{assets().path, why, next, status == http.StatusUnauthorized || status == http.StatusTooManyRequests})
}

// refuse answers in the way that the client reads: a page when it asks for one, JSON otherwise.
func refuse(w http.ResponseWriter, r *http.Request, status int, why string) {
	if r.Method == http.MethodGet && strings.Contains(r.Header.Get("Accept"), "text/html") && !strings.HasPrefix(r.URL.Path, "/api/") {
		Door(w, status, why, "/")
		return
	}
	api.WriteError(w, api.Refuse(status, "%s", why))
}
