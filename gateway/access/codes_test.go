package access

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/channels"
	"parley/gateway/api"
)

// inviting is a door with tokens of each scope, its log, and links that were asked for.
type inviting struct {
	t    *testing.T
	door *Door
	h    http.Handler
	log  *bytes.Buffer
}

func invite(t *testing.T) *inviting {
	var out bytes.Buffer
	d := New(Config{Settings: Settings{Tokens: three()}, Page: page, Log: slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	return &inviting{t, d, d.Guard(http.HandlerFunc(inner)), &out}
}

func (x *inviting) link(name string, scope api.Scope) string {
	x.t.Helper()
	inv, ok := x.door.Invite(api.Principal{Name: name, Scope: scope})
	if _, code, found := strings.Cut(inv.Path, "/login?code="); !ok || !found || len(code) < 26 || !inv.Expires.Equal(time.Now().Add(codeTTL)) {
		x.t.Fatalf("%+v %v", inv, ok)
	}
	return inv.Path
}

func (x *inviting) open(link string, head ...string) *httptest.ResponseRecorder {
	return ask(x.h, "GET", link, append(head, "Accept: text/html")...)
}

// A link lets in one browser, as the caller for it, and leaves nothing behind: not in the address that is gone on to, not in a
// referrer, not in a cache, not in the log.
func TestLoginCode(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		x := invite(t)
		for _, tok := range three()[:3] {
			link := x.link(tok.Name, tok.Scope)
			w := x.open(link, "Sec-Fetch-Site: none", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document")
			if w.Code != 303 || w.Header().Get("Location") != "/" || w.Header().Get("Cache-Control") != "no-store" || w.Header().Get("Referrer-Policy") != "no-referrer" {
				t.Fatalf("%s: %d %v", tok.Name, w.Code, w.Header())
			}
			if in := ask(x.h, "GET", "/x", cookieOf(w)); in.Body.String() != "inside "+tok.Name+" "+string(tok.Scope) {
				t.Errorf("%s: %s", tok.Name, in.Body)
			}
			code := strings.TrimPrefix(link, "/login?code=")
			if all := w.Body.String() + strings.Join(w.Header().Values("Set-Cookie"), " ") + x.log.String(); strings.Contains(all, code) {
				t.Errorf("%s: the code stays in %s", tok.Name, all)
			}
			if again := x.open(link); again.Code != 401 || len(again.Result().Cookies()) != 0 || !strings.Contains(again.Body.String(), "works once") {
				t.Errorf("%s, again: %d %s", tok.Name, again.Code, again.Body)
			}
			if in := x.open(link, cookieOf(w)); in.Code != 303 || in.Header().Get("Location") != "/" || len(in.Result().Cookies()) != 0 {
				t.Errorf("%s, again by the browser that is in: %d %v", tok.Name, in.Code, in.Header())
			}
		}
	})
}

// Only the very link, in time, opened by a person and not by another site's page, works; and whatever does not, sets no cookie.
func TestLoginCodeRefused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		x := invite(t)
		refused := func(what, link string, want int, head ...string) {
			t.Helper()
			if w := x.open(link, head...); w.Code != want || len(w.Result().Cookies()) != 0 {
				t.Errorf("%s: %d %v", what, w.Code, w.Header())
			}
		}
		link := x.link("eye", api.Read)
		refused("another site's page", link, 403, "Origin: https://evil.example")
		refused("a link on another site", link, 403, "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document")
		refused("another port", link, 403, "Sec-Fetch-Site: same-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document")
		refused("another name", link, 421, "Host: evil.example")
		refused("a part of it", link[:len(link)-1], 401)
		refused("another case", "/login?code="+strings.ToLower(strings.TrimPrefix(link, "/login?code=")), 401)
		refused("as a token", strings.Replace(link, "code=", "token=", 1), 401)
		if w := signIn(x.h, strings.TrimPrefix(link, "/login?code=")); w.Code != 401 {
			t.Errorf("in the form: %d", w.Code)
		}
		if w := ask(x.h, "GET", "/x", bearer(strings.TrimPrefix(link, "/login?code="))); w.Code != 401 {
			t.Errorf("as a token of the API: %d", w.Code)
		}
		if w := ask(x.h, "HEAD", link); w.Code != 405 {
			t.Errorf("only looked at: %d", w.Code)
		}
		time.Sleep(codeTTL - time.Nanosecond) // virtual time
		if w := x.open(link); w.Code != 303 {
			t.Errorf("nothing of that used it up, and yet: %d", w.Code)
		}
		link = x.link("eye", api.Read)
		time.Sleep(codeTTL) // virtual time
		refused("too late", link, 401)

		link = x.link("bot", api.Write)
		fewer := three()
		fewer[2].Token = channels.NewSecret("another-token-for-bot")
		x.door.Apply(Settings{Tokens: fewer})
		refused("the token has changed", link, 401)
		if _, ok := x.door.Invite(api.Principal{Name: "eye", Scope: api.Admin}); ok {
			t.Error("a link with a scope that the token does not have")
		}
		if _, ok := x.door.Invite(api.Principal{}); ok {
			t.Error("a link for nobody")
		}
	})
}

// Guessing a code counts as guessing a token does; a right one passes. Whoever asks for many has the newest ones, and takes none from
// others.
func TestLoginCodesAreLimited(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		x := invite(t)
		owners := x.link(api.Owner, api.Admin)
		var links []string
		for range maxCodes + 2 {
			links = append(links, x.link("eye", api.Read))
		}
		for i, link := range links {
			want := 303
			if i < 2 {
				want = 401
			}
			if w := x.open(link); w.Code != want {
				t.Errorf("link %d: %d, want %d", i, w.Code, want)
			}
		}
		for i := range maxWrongPerMinute {
			if w := x.open("/login?code=GUESS", "From: 10.0.0.1:1"); w.Code != 401 {
				t.Fatalf("guess %d: %d", i, w.Code)
			}
		}
		if w := x.open("/login?code=GUESS", "From: 10.0.0.1:1"); w.Code != 429 {
			t.Errorf("one more: %d", w.Code)
		}
		if w := ask(x.h, "GET", "/x", bearer("wrong"), "From: 10.0.0.1:1"); w.Code != 429 {
			t.Errorf("then a token: %d", w.Code)
		}
		if w := x.open(owners, "From: 10.0.0.1:1"); w.Code != 303 {
			t.Errorf("the right one: %d", w.Code)
		}
	})
}
