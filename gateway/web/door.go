package web

import "net/http"

// Door is the page for who may not come in; access.Config.Page takes it. Where a token helps it says how to come by one and has a form
// for it, from which a person goes on to next.
func Door(w http.ResponseWriter, status int, why, next string) {
	show(w, status, "door.html", struct {
		Static, Why, Next string
		Private           bool
	}{assets().path, why, next, status == http.StatusUnauthorized || status == http.StatusTooManyRequests})
}
