package access

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"parley/channels"
	"parley/gateway/api"
)

// three are tokens of each scope, and a fourth that is empty.
func three() []Token {
	return []Token{
		{api.Owner, channels.NewSecret("token-of-the-owner"), api.Admin},
		{"eye", channels.NewSecret("token-of-who-reads"), api.Read},
		{"bot", channels.NewSecret("token-of-who-writes"), api.Write},
		{"none", channels.Secret{}, api.Admin},
	}
}

func bearer(token string) string { return "Authorization: Bearer " + token }

// Each token opens the door under its own name and with its own scope, by header and by cookie. One that is taken out, changed or given
// another scope is so at once, and so are its cookies; an empty one opens nothing, whatever is sent.
func TestTokensAndTheirCookies(t *testing.T) {
	t.Parallel()
	d := New(Config{Settings: Settings{Tokens: three()}, Page: page})
	h := d.Guard(http.HandlerFunc(inner))
	cookies := map[string]string{}
	for _, tok := range three()[:3] {
		want := "inside " + tok.Name + " " + string(tok.Scope)
		if w := ask(h, "GET", "/x", bearer(tok.Token.Reveal())); w.Code != 200 || w.Body.String() != want {
			t.Errorf("%s: %d %s", tok.Name, w.Code, w.Body)
		}
		cookies[tok.Name] = cookieOf(signIn(h, tok.Token.Reveal()))
		if w := ask(h, "GET", "/x", cookies[tok.Name]); w.Code != 200 || w.Body.String() != want {
			t.Errorf("cookie of %s: %d %s", tok.Name, w.Code, w.Body)
		}
	}
	for what, head := range map[string]string{"an empty token": bearer(""), "a cookie of another name": strings.Replace(cookies["eye"], "eye.", "owner.", 1),
		"a cookie of the empty token": "Cookie: parley_18790=none.99999999999.00", "no name": "Cookie: parley_18790=.99999999999.00"} {
		if w := ask(h, "GET", "/x", head, "From: 10.9.9.9:1"); w.Code != 401 {
			t.Errorf("%s: %d %s", what, w.Code, w.Body)
		}
	}
	changed := three()
	changed[1].Scope = api.Write                                   // a promotion
	changed[2].Token = channels.NewSecret("another-token-for-bot") // a change
	d.Apply(Settings{Tokens: changed[1:]})                         // and the owner's is gone
	for what, tt := range map[string]struct {
		head string
		want int
		says string
	}{
		"the promoted token":  {bearer("token-of-who-reads"), 200, "inside eye write"},
		"its cookie":          {cookies["eye"], 200, "inside eye write"},
		"the changed token":   {bearer("token-of-who-writes"), 401, ""},
		"a cookie from then":  {cookies["bot"], 401, ""},
		"the token since":     {bearer("another-token-for-bot"), 200, "inside bot write"},
		"the removed token":   {bearer("token-of-the-owner"), 401, ""},
		"its cookie from now": {cookies["owner"], 401, ""},
	} {
		if w := ask(h, "GET", "/x", tt.head); w.Code != tt.want || !strings.Contains(w.Body.String(), tt.says) {
			t.Errorf("%s: %d %s", what, w.Code, w.Body)
		}
	}
}

// What goes on in the name of a token ends with it, a stream that somebody watches too; what others are at goes on.
func TestStreamsEndWithTheirToken(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ended := map[string]bool{}
		var mu sync.Mutex
		d := New(Config{Settings: Settings{Tokens: three()}})
		h := d.Guard(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
			mu.Lock()
			defer mu.Unlock()
			ended[api.Caller(r.Context()).Name] = true
		}))
		ctx, leave := context.WithCancel(t.Context())
		cookie := cookieOf(signIn(h, three()[2].Token.Reveal()))
		for _, head := range []string{bearer("token-of-the-owner"), bearer("token-of-who-reads"), cookie} {
			r := httptest.NewRequestWithContext(ctx, "GET", "/stream", nil)
			name, value, _ := strings.Cut(head, ": ")
			r.Host = "127.0.0.1:18790"
			r.Header.Set(name, value)
			go h.ServeHTTP(httptest.NewRecorder(), r)
		}
		over := func() int {
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			return len(ended)
		}
		d.Apply(Settings{Tokens: three()})
		if n := over(); n > 0 {
			t.Fatalf("%d ended although nothing changed: %v", n, ended)
		}
		fewer := three()
		fewer[1].Scope = api.Write
		d.Apply(Settings{Tokens: fewer[:2]})
		if n := over(); n != 2 || ended[api.Owner] {
			t.Errorf("ended: %v", ended)
		}
		leave()
		if n := over(); n != 3 {
			t.Errorf("ended: %v", ended)
		}
	})
}

// A person signs in by the form and goes on to where they wanted, which is never another site; and signs out again.
func TestLoginForm(t *testing.T) {
	t.Parallel()
	h := New(Config{Settings: Settings{Tokens: three()}, Page: page}).Guard(http.HandlerFunc(inner))
	send := func(body string, head ...string) *httptest.ResponseRecorder {
		r := httptest.NewRequest("POST", "/login", strings.NewReader(body))
		r.Host = "127.0.0.1:18790"
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		for _, line := range head {
			name, value, _ := strings.Cut(line, ": ")
			r.Header.Set(name, value)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	for next, want := range map[string]string{
		"/runs?state=failed": "/runs?state=failed", "": "/", "https://evil.example/": "/", "https://evil.example/a": "/a", "//evil.example/a": "/a", "//evil.example": "/", `/\evil.example`: "/", "/%2f/evil": "/", "/sessions/a%2Fb": "/sessions/a%2Fb", "runs": "/",
		"/login": "/", "/a\r\nSet-Cookie: x=y": "/", "javascript:alert(1)": "/", "/x%0d%0aSet-Cookie:%20a=b": "/x%0d%0aSet-Cookie:%20a=b",
	} {
		w := send(url.Values{"token": {" token-of-who-reads\n"}, "next": {next}}.Encode())
		if got := w.Header().Get("Location"); w.Code != 303 || got != want || len(w.Result().Cookies()) != 1 {
			t.Errorf("next %q: %d to %q, want %q", next, w.Code, got, want)
		}
	}
	for what, w := range map[string]*httptest.ResponseRecorder{
		"wrong": send("token=wrong", "Accept: text/html"), "none": send(""), "JSON": send(`{"token": "token-of-who-reads"}`, "Content-Type: application/json"),
	} {
		if w.Code != 401 || len(w.Result().Cookies()) != 0 {
			t.Errorf("%s: %d %v", what, w.Code, w.Header())
		}
	}
	if w := send("token=wrong&next=%2Fruns%3Fstate%3Dfailed", "Accept: text/html"); !strings.Contains(w.Body.String(), "/runs?state=failed") {
		t.Errorf("the page behind a wrong token forgets where it leads: %s", w.Body)
	}
	if w := send("token=" + strings.Repeat("x", maxForm)); w.Code != 413 || !strings.Contains(w.Body.String(), "longer than 8192 bytes") {
		t.Errorf("a long form: %d", w.Code)
	}
	if w := send("token=token-of-who-reads", "Origin: https://evil.example"); w.Code != 403 {
		t.Errorf("a form of another site: %d", w.Code)
	}
	w := ask(h, "POST", "/logout", "Accept: text/html", "Sec-Fetch-Site: same-origin")
	if cs := w.Result().Cookies(); w.Code != 303 || len(cs) != 1 || cs[0].MaxAge >= 0 || cs[0].Value != "" {
		t.Errorf("signing out: %d %v", w.Code, cs)
	}
	if w := ask(h, "GET", "/logout"); w.Code != 405 || len(w.Result().Cookies()) != 0 {
		t.Errorf("signing out by a link: %d", w.Code)
	}
	if w := ask(h, "POST", "/logout", "Sec-Fetch-Site: cross-site"); w.Code != 403 {
		t.Errorf("signed out by another site: %d", w.Code)
	}
}

// Only what a trusted proxy says about the address and the encryption of a client counts.
func TestTrustedProxies(t *testing.T) {
	t.Parallel()
	var at netip.Addr
	h := New(Config{Settings: Settings{Tokens: three(), Proxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}}}).
		Guard(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { at = Client(r.Context()) }))
	for _, tt := range []struct{ from, header, want string }{
		{"192.0.2.1:5", "1.2.3.4", "192.0.2.1"},
		{"10.0.0.1:5", "", "10.0.0.1"},
		{"10.0.0.1:5", "1.2.3.4", "1.2.3.4"},
		{"10.0.0.1:5", "9.9.9.9, 1.2.3.4", "1.2.3.4"}, // the first one is the client's own word
		{"10.0.0.1:5", "9.9.9.9, 1.2.3.4:77, 10.1.1.1", "1.2.3.4"},
		{"10.0.0.1:5", "1.2.3.4, unknown, 10.1.1.1", "10.1.1.1"},
		{"10.0.0.1:5", "10.2.2.2, 10.1.1.1", "10.2.2.2"},
		{"[fd00::1]:5", "[2001:db8::7]:80", "2001:db8::7"},
		{"[::ffff:10.0.0.1]:5", "::ffff:1.2.3.4", "1.2.3.4"},
	} {
		at = netip.Addr{}
		ask(h, "GET", "/x", bearer("token-of-who-reads"), "From: "+tt.from, "X-Forwarded-For: "+tt.header)
		if at != netip.MustParseAddr(tt.want) {
			t.Errorf("%s, %q: %s, want %s", tt.from, tt.header, at, tt.want)
		}
	}
	for from, want := range map[string]bool{"10.0.0.1:5": true, "192.0.2.1:5": false} {
		w := signIn(h, "token-of-who-reads", "From: "+from, "X-Forwarded-Proto: https")
		if c := w.Result().Cookies(); len(c) != 1 || c[0].Secure != want {
			t.Errorf("from %s: %+v", from, c)
		}
		for scheme, own := range map[string]bool{"https": want, "http": !want} { // as the browser sees us
			w := ask(h, "GET", "/x", bearer("token-of-who-reads"), "From: "+from, "X-Forwarded-Proto: https", "Origin: "+scheme+"://127.0.0.1:18790")
			if (w.Code == 200) != own {
				t.Errorf("from %s, a page by %s: %d", from, scheme, w.Code)
			}
		}
	}
}

// Guesses are counted by the client behind a proxy, and anybody may use the count for a secret of their own.
func TestFailuresAreCountedByClient(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := New(Config{Settings: Settings{Tokens: three(), Proxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}})
		h := d.Guard(http.HandlerFunc(inner))
		for range maxWrongPerMinute {
			ask(h, "GET", "/x", bearer("wrong"), "From: 10.0.0.1:5", "X-Forwarded-For: 1.2.3.4")
		}
		for client, want := range map[string]int{"1.2.3.4": 429, "1.2.3.5": 401} {
			if w := ask(h, "GET", "/x", bearer("wrong"), "From: 10.0.0.1:5", "X-Forwarded-For: "+client); w.Code != want {
				t.Errorf("%s: %d", client, w.Code)
			}
		}
		ok, wait := d.Failures().Try(netip.MustParseAddr("1.2.3.4"), func() bool { return false })
		if ok || wait <= 0 || wait > time.Minute || d.Failures().Wait(netip.MustParseAddr("1.2.3.4")) != wait {
			t.Errorf("a guesser with another secret: %v %v", ok, wait)
		}
		if ok, _ := d.Failures().Try(netip.MustParseAddr("1.2.3.4"), func() bool { return true }); !ok {
			t.Error("a right secret has to wait")
		}
		var f Failures
		for i := range 3 * maxOffenders {
			f.Try(netip.AddrFrom4([4]byte{1, byte(i >> 16), byte(i >> 8), byte(i)}), func() bool { return false })
		}
		if len(f.by) > maxOffenders {
			t.Errorf("%d addresses are remembered", len(f.by))
		}
	})
}

// The log of requests holds what the host knows, and nothing that a client wrote.
func TestRequestLog(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	d := New(Config{Settings: Settings{Tokens: three()}, Log: slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/sessions/{session}", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	h := d.Guard(mux)
	ask(h, "GET", "/api/sessions/secret%0Alevel=ERROR?token=secret", bearer("token-of-who-reads"), "User-Agent: secret")
	if got := out.String(); strings.Contains(got, "secret") || strings.Count(got, "\n") != 1 || !strings.Contains(got, "method=GET path=/api/sessions/{session} status=418") || !strings.Contains(got, "principal=eye") {
		t.Errorf("%s", got)
	}
	out.Reset()
	ask(h, "secret", "/secret", "Host: secret.example")
	if got := out.String(); strings.Contains(got, "secret") || !strings.Contains(got, "method=other path=- status=421") {
		t.Errorf("%s", got)
	}
}

// What the socket brings is the owner's, under whatever name it calls.
func TestLocal(t *testing.T) {
	t.Parallel()
	h := New(Config{}).Local(http.HandlerFunc(inner))
	if w := ask(h, "POST", "/x", "Host: anything", "From: @"); w.Code != 200 || w.Body.String() != "inside owner admin" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
