package access

import (
	"net/http"
	"strings"

	"parley/gateway/api"
)

// secure puts the security headers on an answer. The page's scripts, styles and pictures are all its own. Referrers stay inside: without
// any a browser would not say either which site a form is from.
func secure(h http.Header) {
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
}

// refuse answers in the way that the client reads: a page when it asks for one, JSON otherwise.
func (d *Door) refuse(w http.ResponseWriter, r *http.Request, status int, why string) {
	w.Header().Set("Cache-Control", "no-store")
	if d.cfg.Page != nil && wantsPage(r) {
		next := "/"
		switch {
		case r.Method == http.MethodGet:
			next = inside(r.URL.RequestURI())
		case r.URL.Path == "/login": // with a wrong token the way goes on from where it began
			next = inside(r.PostForm.Get("next"))
		}
		if status == http.StatusUnauthorized && r.Header.Get("Authorization") == "" && r.URL.Path != "/login" {
			why = "" // the page itself says what to do
		}
		d.cfg.Page(w, status, why, next)
		return
	}
	if d.cfg.Refuse != nil && d.cfg.Refuse(w, r, status, why) {
		return
	}
	api.WriteError(w, api.Refuse(status, "%s", why))
}

// wantsPage reports whether a person is at the other end.
func wantsPage(r *http.Request) bool {
	page := r.Method == http.MethodGet || r.URL.Path == "/login" || r.URL.Path == "/logout"
	return page && strings.Contains(r.Header.Get("Accept"), "text/html") && !forPrograms(r.URL.Path)
}
