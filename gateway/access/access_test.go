package access

import (
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/channels"
	"parley/gateway/api"
)

const token = "right-token"

// guarded is a door with the owner's token, before a room that says who came in.
func guarded(s Settings) http.Handler {
	if s.Tokens == nil {
		s.Tokens = []Token{{Name: api.Owner, Token: channels.NewSecret(token), Scope: api.Admin}}
	}
	return New(Config{Settings: s, Page: page}).Guard(http.HandlerFunc(inner))
}

func inner(w http.ResponseWriter, r *http.Request) {
	p := api.Caller(r.Context())
	_, _ = fmt.Fprintf(w, "inside %s %s", p.Name, p.Scope)
}

func page(w http.ResponseWriter, status int, why, next string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, "<p>%s<p>then %s", html.EscapeString(why), next)
}

// ask makes one request; head is "Name: value" lines.
func ask(h http.Handler, method, path string, head ...string) *httptest.ResponseRecorder {
	return asked(h, httptest.NewRequest(method, path, nil), head...)
}

func asked(h http.Handler, r *http.Request, head ...string) *httptest.ResponseRecorder {
	r.Host = "127.0.0.1:18790"
	for _, line := range head {
		name, value, _ := strings.Cut(line, ": ")
		if name == "Host" {
			r.Host = value
		} else if name == "From" {
			r.RemoteAddr = value
		} else {
			r.Header.Add(name, value)
		}
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// signIn sends the form.
func signIn(h http.Handler, token string, head ...string) *httptest.ResponseRecorder {
	return asked(h, httptest.NewRequest("POST", "/login", strings.NewReader(url.Values{"token": {token}}.Encode())), append(head, "Content-Type: application/x-www-form-urlencoded")...)
}

func cookieOf(w *httptest.ResponseRecorder) string {
	for _, c := range w.Result().Cookies() {
		return "Cookie: " + c.Name + "=" + c.Value
	}
	return ""
}

func TestGuard(t *testing.T) {
	t.Parallel()
	h := guarded(Settings{Hosts: []string{"parley.example"}, Open: []string{"/healthz", "/open/"}})
	login := signIn(h, token, "Accept: text/html")
	cookie := cookieOf(login)
	if login.Code != http.StatusSeeOther || login.Header().Get("Location") != "/" {
		t.Fatalf("login: %d %v", login.Code, login.Header())
	}
	if c := login.Result().Cookies()[0]; !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/" || strings.Contains(c.Value, token) {
		t.Errorf("cookie %+v", c)
	}
	other := cookieOf(signIn(guarded(Settings{Tokens: []Token{{Name: api.Owner, Token: channels.NewSecret("other"), Scope: api.Admin}}}), "other"))
	bearer := "Authorization: Bearer " + token
	tests := map[string]struct {
		method, path string
		head         []string
		want         int
		says         string
	}{
		"nothing":                     {"GET", "/api/chat/info", nil, 401, "Authorization: Bearer"},
		"nothing, a browser":          {"GET", "/", []string{"Accept: text/html"}, 401, "<p>then /"},
		"token":                       {"POST", "/api/chat/messages", []string{bearer}, 200, "inside"},
		"token, another spelling":     {"GET", "/api/x", []string{"Authorization: bearer " + token}, 200, "inside"},
		"two tokens":                  {"GET", "/api/x", []string{bearer, "Authorization: Bearer wrong"}, 400, "Authorization appears more than once"},
		"two tokens, open":            {"GET", "/healthz", []string{bearer, bearer}, 400, ""},
		"two origins":                 {"GET", "/api/x", []string{bearer, "Origin: http://127.0.0.1:18790", "Origin: https://evil.example"}, 400, "Origin appears"},
		"two of ours":                 {"GET", "/api/x", []string{bearer, "X-Parley-Session: a", "X-Parley-Session: b"}, 400, "X-Parley-Session"},
		"two keys":                    {"POST", "/api/x", []string{bearer, "Idempotency-Key: a", "idempotency-key: b"}, 400, "Idempotency-Key"},
		"two accepts":                 {"GET", "/api/x", []string{bearer, "Accept: a/b", "Accept: c/d"}, 200, "inside"},
		"wrong token":                 {"GET", "/api/x", []string{"Authorization: Bearer wrong"}, 401, "wrong"},
		"empty token":                 {"GET", "/api/x", []string{"Authorization: Bearer "}, 401, "wrong"},
		"cookie":                      {"GET", "/", []string{cookie}, 200, "inside"},
		"cookie posts":                {"POST", "/api/chat/messages", []string{cookie, "Origin: http://127.0.0.1:18790", "Sec-Fetch-Site: same-origin"}, 200, "inside"},
		"cookie of another token":     {"GET", "/", []string{other}, 401, ""},
		"cookie, later end":           {"GET", "/", []string{strings.Replace(cookie, "=owner.1", "=owner.2", 1)}, 401, ""},
		"cookie, no signature":        {"GET", "/", []string{"Cookie: parley_18790=owner.99999999999."}, 401, ""},
		"login, wrong code":           {"GET", "/login?code=x", []string{"Accept: text/html"}, 401, "`parley open` prints a new one"},
		"login, no code":              {"GET", "/login", []string{"Accept: text/html"}, 401, "no login code"},
		"login, token in the address": {"GET", "/login?token=" + token, []string{"Accept: text/html"}, 401, "Do not put a token into the link"},
		"login, looked at":            {"HEAD", "/login?code=x", nil, 405, ""},
		"login, linked elsewhere":     {"GET", "/login?code=x", []string{"Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"}, 403, "another website"},
		"open":                        {"GET", "/healthz", nil, 200, "inside"},
		"open below":                  {"GET", "/open/x", nil, 200, "inside"},
		"not open below":              {"GET", "/healthz/x", nil, 401, ""},
		"assets are open":             {"GET", "/static/x", nil, 200, "inside"},
		"rebound name":                {"GET", "/", []string{cookie, bearer, "Host: evil.example:18790"}, 421, "gateway.hosts"},
		"rebound name, its code":      {"GET", "/", []string{cookie, bearer, "Host: evil.example:18790"}, 421, `"code":"misdirected"`},
		"rebound name, open":          {"GET", "/healthz", []string{"Host: evil.example"}, 421, ""},
		"own name":                    {"GET", "/", []string{bearer, "Host: Parley.Example"}, 200, ""},
		"localhost":                   {"GET", "/", []string{bearer, "Host: localhost:1"}, 200, ""},
		"IPv6":                        {"GET", "/", []string{bearer, "Host: [::1]:1"}, 200, ""},
		"post from another site":      {"POST", "/api/x", []string{cookie, "Origin: https://evil.example"}, 403, "another website"},
		"read with a foreign origin":  {"GET", "/api/x", []string{cookie, "Origin: https://evil.example"}, 403, "another website"},
		"head with a foreign origin":  {"HEAD", "/api/x", []string{cookie, "Origin: null"}, 403, ""},
		"read with our origin":        {"GET", "/api/x", []string{cookie, "Origin: http://127.0.0.1:18790"}, 200, "inside"},
		"our name by https":           {"GET", "/api/x", []string{cookie, "Origin: https://127.0.0.1:18790"}, 403, "another website"},
		"post, our name by https":     {"POST", "/api/x", []string{cookie, "Origin: https://127.0.0.1:18790"}, 403, "another website"},
		"a browser, our name":         {"POST", "/api/x", []string{cookie, "Origin: https://127.0.0.1:18790", "Sec-Fetch-Site: same-origin"}, 200, "inside"}, // behind a proxy that is not trusted
		"our name, a part":            {"GET", "/api/x", []string{cookie, "Origin: http://127.0.0.1"}, 403, "another website"},
		"post from another port":      {"POST", "/api/x", []string{cookie, "Sec-Fetch-Site: same-site"}, 403, ""},
		"read from another port":      {"GET", "/api/chat/history", []string{cookie, "Sec-Fetch-Site: same-site", "Sec-Fetch-Mode: no-cors"}, 403, ""},
		"picture on another site":     {"GET", "/login?code=x", []string{"Sec-Fetch-Site: cross-site", "Sec-Fetch-Dest: image"}, 403, ""},
		"link on another site":        {"GET", "/", []string{cookie, "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"}, 200, "inside"},
		"link to the API":             {"GET", "/api/x", []string{cookie, "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"}, 403, ""},
		"typed into the address line": {"GET", "/", []string{cookie, "Sec-Fetch-Site: none"}, 200, "inside"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := ask(h, tt.method, tt.path, append(tt.head, "From: [2001:db8:"+strconv.FormatInt(int64(len(name)*1000+len(tt.path)), 16)+"::1]:5")...)
			if w.Code != tt.want || !strings.Contains(w.Body.String(), tt.says) {
				t.Errorf("%d %s, want %d %q", w.Code, w.Body, tt.want, tt.says)
			}
			if csp := w.Header().Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'none'") || strings.Contains(csp, "unsafe") {
				t.Errorf("policy %q", csp)
			}
		})
	}
}

// Guessing is slowed down for the address that guesses, and for nobody else; time heals it. Who has a right token comes in meanwhile.
func TestGuardSlowsGuessing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const long = "a-right-token-that-is-long"
		h := guarded(Settings{Tokens: []Token{{api.Owner, channels.NewSecret(long), api.Admin}, {"short", channels.NewSecret(token), api.Admin}}})
		guess := func(from, text string) int {
			return ask(h, "GET", "/api/x", "Authorization: Bearer "+text, "From: "+from).Code
		}
		for range maxWrongPerMinute {
			if code := guess("10.0.0.1:1", "wrong"); code != 401 {
				t.Fatalf("got %d", code)
			}
		}
		for range 3 { // the answers say nothing about what is guessed, and right ones in between change nothing
			if code := guess("10.0.0.1:2", "wrong"); code != 429 {
				t.Errorf("one more wrong one: %d, want 429", code)
			}
			if code := guess("10.0.0.1:2", token); code != 429 {
				t.Errorf("a short token, which guessing could find: %d, want 429", code)
			}
			if code := guess("10.0.0.1:2", long); code != 200 {
				t.Errorf("a right token after many wrong ones: %d, want 200", code)
			}
			if w := signIn(h, long, "From: 10.0.0.1:3"); w.Code != 303 {
				t.Errorf("signing in: %d", w.Code)
			}
		}
		if w := signIn(h, "wrong", "From: 10.0.0.1:3"); w.Code != 429 || w.Header().Get("Retry-After") == "" || w.Header().Get("Connection") != "close" {
			t.Errorf("login: %d %v", w.Code, w.Header())
		}
		if code := guess("10.0.0.2:1", "wrong"); code != 401 {
			t.Errorf("another address: %d", code)
		}
		for range maxWrongPerMinute {
			guess("[2001:db8::1]:1", "wrong")
		}
		if code := guess("[2001:db8::2]:1", "wrong"); code != 429 {
			t.Errorf("another address of the same machine: %d", code)
		}
		time.Sleep(time.Minute/maxWrongPerMinute + time.Second) // virtual time
		if code := guess("10.0.0.1:5", token); code != 200 {
			t.Errorf("later: %d", code)
		}
		if code := guess("10.0.0.1:5", "wrong"); code != 401 {
			t.Errorf("later, a wrong one: %d", code)
		}
	})
}

// A session ends after its time, and one that is used goes on.
func TestGuardSessionLife(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := guarded(Settings{})
		cookie := cookieOf(signIn(h, token))
		if w := ask(h, "GET", "/", cookie); cookieOf(w) != "" {
			t.Error("a fresh cookie was renewed")
		}
		time.Sleep(cookieTTL * 2 / 3) // virtual time
		renewed := cookieOf(ask(h, "GET", "/", cookie))
		if renewed == "" {
			t.Fatal("an old cookie was not renewed")
		}
		time.Sleep(cookieTTL * 2 / 3) // virtual time
		if code := ask(h, "GET", "/", cookie).Code; code != 401 {
			t.Errorf("after its time: %d", code)
		}
		if code := ask(h, "GET", "/", renewed).Code; code != 200 {
			t.Errorf("renewed: %d", code)
		}
	})
}
