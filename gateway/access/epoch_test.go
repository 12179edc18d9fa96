package access

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"parley/channels"
	"parley/gateway/api"
)

// Another epoch voids every cookie and login code from before, copied ones too, and ends what a cookie began; tokens stay, and so does what they
// began.
// source: OWASP Session Management Cheat Sheet, session expiration; CWE-613
func TestEpoch(t *testing.T) {
	t.Parallel()
	began, ended := make(chan string, 2), make(chan string, 2)
	inside := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/stream" {
			who := r.Header.Get("Who")
			began <- who
			<-r.Context().Done()
			ended <- who
		}
	})
	settings := Settings{Tokens: []Token{{Name: api.Owner, Token: channels.NewSecret("the-token-of-the-owner"), Scope: api.Admin}}}
	d := New(Config{Settings: settings})
	h := d.Guard(inside)
	ask := func(path string, head ...string) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost"+path, http.NoBody)
		for i := 0; i < len(head); i += 2 {
			r.Header.Set(head[i], head[i+1])
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	invite := func() string {
		inv, ok := d.Invite(api.Principal{Name: api.Owner, Scope: api.Admin})
		if !ok {
			t.Fatal("no invitation")
		}
		return inv.Path
	}
	cookieFrom := func(path string) string {
		c := ask(path).Result().Cookies()
		if len(c) != 1 {
			t.Fatalf("%s: %v", path, c)
		}
		return c[0].Name + "=" + c[0].Value
	}
	cookie, link, bearer := cookieFrom(invite()), invite(), "Bearer the-token-of-the-owner"
	go ask("/stream", "Cookie", cookie, "Who", "cookie")
	go ask("/stream", "Authorization", bearer, "Who", "token")
	<-began
	<-began
	settings.Epoch = "another"
	d.Apply(settings)
	select {
	case who := <-ended:
		if who != "cookie" {
			t.Errorf("the stream of the %s ended", who)
		}
	case <-time.After(10 * time.Second):
		t.Error("the stream of the cookie goes on")
	}
	if w := ask("/", "Cookie", cookie); w.Code != http.StatusUnauthorized {
		t.Errorf("the old cookie: %d", w.Code)
	}
	if w := ask(link); w.Code != http.StatusUnauthorized {
		t.Errorf("the old link: %d", w.Code)
	}
	if w := ask("/", "Authorization", bearer); w.Code != http.StatusOK {
		t.Errorf("the token: %d", w.Code)
	}
	fresh := cookieFrom(invite())
	d.Apply(settings) // the same epoch
	if w := ask("/", "Cookie", fresh); w.Code != http.StatusOK {
		t.Errorf("a cookie from after: %d", w.Code)
	}
	select {
	case who := <-ended:
		t.Errorf("the stream of the %s ended", who)
	default:
	}
	settings.Tokens = nil
	d.Apply(settings)
	if who := <-ended; who != "token" {
		t.Errorf("%s ended twice", who)
	}
}
