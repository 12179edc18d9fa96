package access

import (
	"net/http"
	"net/url"
	"strings"

	"parley/gateway/api"
)

// maxForm bounds the login form, in bytes.
const maxForm = 8 << 10

// login lets a person in: by a link that Invite made, GET /login?code=…, or by the form of the page, POST /login with token and next. A
// token in the address is not looked at: histories, proxies and logs keep addresses.
func (d *Door) login(s *state, w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	switch r.Method {
	case http.MethodGet: // a HEAD uses nothing up
		code := r.URL.Query().Get("code")
		if code == "" {
			d.refuse(w, r, http.StatusUnauthorized, "This link has no login code. `parley open` prints a new link. Do not put a token into the link.")
			return
		}
		if _, _, in := s.session(r); in { // an old link, opened again: a person who is signed in stays so
			if k, ok := d.codes.take(code, s); ok {
				w.Header().Set("Referrer-Policy", "no-referrer")
				s.signIn(w, r, k, "/")
				return
			}
			http.Redirect(w, r, "/", http.StatusSeeOther)
			return
		}
		if k, ok := d.check(w, r, "This link was used or has expired: a link works once, within 2 minutes. `parley open` prints a new one.", func() (key, bool) { return d.codes.take(code, s) }); ok {
			w.Header().Set("Referrer-Policy", "no-referrer")
			s.signIn(w, r, k, "/") // the code does not stay in the address bar
		}
	case http.MethodPost:
		r.Body = http.MaxBytesReader(w, r.Body, maxForm)
		if err := r.ParseForm(); err != nil {
			why := api.FormProblem(err, maxForm)
			if why.Status == http.StatusBadRequest {
				why.Message = "Unexpected request body: send token=… as application/x-www-form-urlencoded."
			}
			d.refuse(w, r, why.Status, why.Message)
			return
		}
		token := strings.TrimSpace(r.PostForm.Get("token"))
		if token == "" {
			d.refuse(w, r, http.StatusUnauthorized, "The request has no token.")
			return
		}
		if k, ok := d.checkToken(s, w, r, token); ok {
			s.signIn(w, r, k, inside(r.PostForm.Get("next")))
		}
	default:
		w.Header().Set("Allow", "GET, POST")
		d.refuse(w, r, http.StatusMethodNotAllowed, "Use GET or POST.")
	}
}

// signIn sets the cookie and goes on.
func (s *state) signIn(w http.ResponseWriter, r *http.Request, k key, next string) {
	s.setCookie(w, r, k)
	http.Redirect(w, r, next, http.StatusSeeOther)
}

// logout ends the cookie of this browser.
func (d *Door) logout(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", "POST")
		d.refuse(w, r, http.StatusMethodNotAllowed, "Sign out with POST.")
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	putCookie(w, r, "", -1)
	if wantsPage(r) {
		http.Redirect(w, r, "/", http.StatusSeeOther)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// inside gives a path of this host, whatever was asked for: no redirect leads to another site. Scheme and host are left out.
func inside(path string) string {
	u, err := url.Parse(path)
	if err != nil || !strings.HasPrefix(u.Path, "/") || strings.HasPrefix(u.Path, "//") || strings.ContainsRune(u.Path, '\\') || u.Path == "/login" {
		return "/"
	}
	return (&url.URL{Path: u.Path, RawPath: u.RawPath, RawQuery: u.RawQuery}).String()
}
