package main

import (
	"net/http"
	"testing"

	"parley/gateway/api"
)

// parley sign-out voids the cookies of all browsers, over a restart too, and lets new ones in.
// source: CWE-613
func TestSignOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.config("", "")
	p := w.start()
	plain := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	get := func(url string, c *http.Cookie) (int, []*http.Cookie) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		if c != nil {
			req.AddCookie(c)
		}
		resp, err := plain.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		return resp.StatusCode, resp.Cookies()
	}
	signIn := func() *http.Cookie {
		t.Helper()
		_, cs := get(fromCLI[openLink](w, "open").URL, nil)
		if len(cs) != 1 {
			t.Fatalf("cookies: %v", cs)
		}
		return cs[0]
	}
	copied := signIn()
	if code, _ := get(p.url+"/api/status", copied); code != http.StatusOK {
		t.Fatalf("signed in: %d", code)
	}
	if x := fromCLI[api.SignedOut](w, "sign-out"); !x.SignedOut {
		t.Error("not signed out")
	}
	if code, _ := get(p.url+"/api/status", copied); code != http.StatusUnauthorized {
		t.Errorf("the copied cookie: %d", code)
	}
	if code, _ := get(p.url+"/api/status", signIn()); code != http.StatusOK {
		t.Errorf("a new one: %d", code)
	}
	p.stop()
	p = w.start()
	copied.Name = signIn().Name // the port is another one
	if code, _ := get(p.url+"/api/status", copied); code != http.StatusUnauthorized {
		t.Errorf("the copied cookie after a restart: %d", code)
	}
}
