package accounts_test

import (
	"bytes"
	"errors"
	"io/fs"
	"net/http"
	"net/http/cookiejar"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/channels"
	"parley/gateway/api"
)

const theCode = "https://example.org/link#the-secret-of-the-code"

// A login, from the first code to the name, and a logout. The codes are in no log and no file.
func TestLogin(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	s := h.Until("not linked", func(s api.Account) bool { return s.State == channels.LoggedOut })
	if !strings.Contains(s.Todo, "parley login fake") || !s.CanLink || s.Live {
		t.Errorf("before: %+v", s)
	}
	if code, body := h.Get("GET", "/readyz", ""); code != http.StatusServiceUnavailable || !strings.Contains(body, "fake (default): not linked") || !strings.Contains(body, "parley login fake") {
		t.Errorf("readyz: %d %s", code, body)
	}
	next, _ := h.Login(`{"channel": "fake"}`)
	for _, code := range []string{theCode, theCode + "-2"} {
		if err := h.Fake.Show(t.Context(), channels.PairStep{QR: code, Expires: time.Now().Add(time.Minute)}); err != nil {
			t.Fatal(err)
		}
		if s := next(); s.QR != code || s.Image == nil || s.Image.Size < 29 || !strings.HasPrefix(s.Image.Path, "M4 4h7v1h-7z") || s.Expires.IsZero() {
			t.Errorf("step %+v", s)
		}
	}
	if s := h.Until("being linked", func(s api.Account) bool { return s.Linking }); s.State != channels.LoggedOut || s.Todo != "" {
		t.Errorf("while it is linked: %+v", s)
	}
	for path, want := range map[string]string{"login": "another login of fake (default) is running", "logout": "a login of fake (default) is running", "restart": "a login of fake (default) is running"} {
		if code, body := h.Get("POST", "/api/channels/"+path, `{"channel": "fake", "account": "default"}`); code != http.StatusConflict || !strings.Contains(body, want) {
			t.Errorf("%s meanwhile: %d %s", path, code, body)
		}
	}
	if err := h.Fake.Confirm(t.Context(), "Anna"); err != nil {
		t.Fatal(err)
	}
	if s := next(); !s.Done || s.Name != "Anna" || s.Account != "fake (default)" {
		t.Errorf("the end: %+v", s)
	}
	h.Until("connected", func(s api.Account) bool { return s.Live && s.Name == "Anna" && !s.Linking && s.Detail == "" })
	if code, body := h.Get("GET", "/readyz", ""); code != http.StatusOK || strings.Contains(body, "Anna") {
		t.Errorf("readyz: %d %s", code, body)
	}
	if code, body := h.Get("POST", "/api/channels/login", `{"channel": "fake"}`); code != http.StatusConflict || !strings.Contains(body, "already linked as Anna") {
		t.Errorf("a login of what is connected: %d %s", code, body)
	}
	if _, body := h.Get("GET", "/metrics", ""); !strings.Contains(body, `parley_account_up{account="default",channel="fake"} 1`) || !strings.Contains(body, `parley_account_last_seen_timestamp_seconds{account="default",channel="fake"}`) {
		t.Errorf("metrics: %s", body)
	}

	if code, body := h.Get("POST", "/api/channels/logout", `{"channel": "fake"}`); code != http.StatusOK {
		t.Errorf("logout: %d %s", code, body)
	}
	h.Until("logged out", func(s api.Account) bool { return s.State == channels.LoggedOut && s.Name == "" && !s.Live })
	h.Stop()
	if strings.Contains(h.Log.String(), "the-secret") {
		t.Error("the log has the code")
	}
	err := filepath.WalkDir(h.State, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if bytes.Contains(b, []byte("the-secret")) {
			t.Errorf("%s has the code", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A login ends when who asked hangs up, when the platform gives up, and when the host stops; the account can be linked again.
func TestLoginEnds(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	next, hangUp := h.Login(`{"channel": "fake", "phone": "+49 151 2345678"}`)
	if s := next(); s.Code != "CODE-5678" || s.QR != "" {
		t.Errorf("step %+v", s)
	}
	hangUp()
	h.Until("the login is over", func(s api.Account) bool { return !s.Linking && s.State == channels.LoggedOut })

	next, _ = h.Login(`{"channel": "fake", "phone": "+49 151 2345678"}`)
	next()
	if err := h.Fake.Fail(t.Context(), errors.New("the code was not typed in")); err != nil {
		t.Fatal(err)
	}
	if s := next(); s.Error != "fake (default) is not linked: the code was not typed in" {
		t.Errorf("%+v", s)
	}
	if code, body := h.Get("POST", "/api/channels/login", `{"channel": "fake", "phone": "0151"}`); code != http.StatusBadRequest || !strings.Contains(body, "country code") {
		t.Errorf("a bad number: %d %s", code, body)
	}
	next, _ = h.Login(`{"channel": "fake", "phone": "+49 151 2345678"}`)
	next()
	h.Stop()
	if s := next(); !strings.Contains(s.Error, "the host is stopping") {
		t.Errorf("%+v", s)
	}
}

// Each call for an account that is not there, or cannot do it, says why.
func TestLoginErrors(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	for body, want := range map[string]string{
		`{"channel": "smoke"}`:                    `unknown channel \"smoke\"`,
		`{"channel": "fake", "account": "other"}`: `fake has no account \"other\": its accounts are default`,
		`{"channel": "webchat"}`:                  "webchat (default) needs no login",
		`{}`:                                      "channel is missing",
		`{"channel": "fake", "more": 1}`:          `unknown field \"more\"`,
	} {
		if code, answer := h.Get("POST", "/api/channels/login", body); code/100 != 4 || !strings.Contains(answer, want) {
			t.Errorf("%s: %d %s", body, code, answer)
		}
	}
}

// An account that its platform gave to another client stays down with the reason, until somebody starts it again.
func TestRestart(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	next, _ := h.Login(`{"channel": "fake"}`)
	if err := h.Fake.Confirm(t.Context(), "Anna"); err != nil {
		t.Fatal(err)
	}
	if s := next(); !s.Done {
		t.Fatalf("%+v", s)
	}
	h.Fake.End(channels.Replaced, "another client took this login over", &channels.Error{Class: channels.Unauthorized, Err: errors.New("replaced")})
	s := h.Until("replaced", func(s api.Account) bool { return s.State == channels.Replaced })
	if s.Live || s.Detail != "another client took this login over" || !strings.Contains(s.Todo, "parley channels restart fake") {
		t.Errorf("%+v", s)
	}
	if code, body := h.Get("GET", "/readyz", ""); code != http.StatusServiceUnavailable || !strings.Contains(body, "another client took this login over") {
		t.Errorf("readyz: %d %s", code, body)
	}
	runs := h.Fake.Runs()
	if code, body := h.Get("POST", "/api/channels/restart", `{"channel": "fake"}`); code != http.StatusOK {
		t.Errorf("restart: %d %s", code, body)
	}
	h.Until("connected again", func(s api.Account) bool { return s.Live && s.Todo == "" })
	if h.Fake.Runs() != runs+1 {
		t.Errorf("%d runs, want %d", h.Fake.Runs(), runs+1)
	}
}

// Platforms call the hook of an account without a token; it gives nothing else away and takes no more than a megabyte.
func TestHook(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.Token = "wrong" // nobody who calls has one
	for _, c := range []struct {
		method, path, body string
		code               int
		want               string
	}{
		{"POST", "/channels/fake/default/hook", "an update", 200, "got an update"},
		{"POST", "/channels/fake/default/hook", strings.Repeat("x", 1<<20), 200, "got xxx"},
		{"POST", "/channels/fake/default/hook", strings.Repeat("x", 1<<20+1), 413, "too long"},
		{"POST", "/channels/fake/other/hook", "", 404, "not found"},
		{"POST", "/channels/webchat/default/hook", "", 404, "not found"},
		{"POST", "/channels/nothing/default/hook", "", 404, "not found"},
		{"GET", "/channels/fake/default/hook", "", 401, "token"},
		{"POST", "/channels/fake/default/hook/more", "", 401, "token"},
		{"POST", "/channels/fake/hook", "", 401, "token"},
		{"GET", "/api/channels", "", 401, "token"},
		{"GET", "/channels", "", 401, "token"},
	} {
		if code, body := h.Get(c.method, c.path, c.body); code != c.code || !strings.Contains(body, c.want) {
			t.Errorf("%s %s: %d %.80s", c.method, c.path, code, body)
		}
	}
}

// A reload ends the login of an account whose section changed, and of no other; one that is switched off is shown as that.
func TestReloadWhileLinking(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	next, _ := h.Login(`{"channel": "fake", "phone": "+49 151 2345678"}`)
	next()
	if err := h.Gateway.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s := h.Until("the same login", func(s api.Account) bool { return s.Linking }); s.State != channels.LoggedOut {
		t.Errorf("%+v", s)
	}
	h.Configure("channels: {fake: {label: other}}\n")
	if err := h.Gateway.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s := next(); !strings.Contains(s.Error, "the configuration of this account changed") {
		t.Errorf("%+v", s)
	}
	next, _ = h.Login(`{"channel": "fake", "phone": "+49 151 2345678"}`)
	if s := next(); s.Code == "" {
		t.Errorf("the next login: %+v", s)
	}
	h.Configure("channels: {fake: {enabled: false}}\n")
	if err := h.Gateway.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	next()
	if s := h.Until("switched off", func(s api.Account) bool { return s.Off }); s.Live || s.Linking {
		t.Errorf("%+v", s)
	}
	if code, body := h.Get("POST", "/api/channels/login", `{"channel": "fake"}`); code != http.StatusConflict || !strings.Contains(body, "is disabled") {
		t.Errorf("%d %s", code, body)
	}
}

// The owner's /status in a chat says of every account how it is and what to do, as parley channels does.
func TestStatusInChat(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.status("one", "webchat (default): connected", "fake (default): not linked; it is not linked; link it: parley login fake")
}

// status asks for /status in the page's chat and waits for an answer with all that.
func (h *host) status(id string, want ...string) {
	h.T.Helper()
	if code, body := h.Get("POST", "/api/chat/messages", `{"id": "`+id+`", "text": "/status"}`); code/100 != 2 {
		h.T.Fatalf("%d %s", code, body)
	}
	h.Until("the answer", func(api.Account) bool {
		_, body := h.Get("GET", "/api/chat/history", "")
		return !slices.ContainsFunc(want, func(w string) bool { return !strings.Contains(body, w) })
	})
}

// While somebody links an account nothing is sent through it: what is due waits.
func TestNothingIsSentWhileLinking(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	next, _ := h.Login(`{"channel": "fake", "phone": "+49 151 2345678"}`)
	next()
	if err := h.Fake.Say(t.Context(), "1", "hello"); err != nil { // is answered with a pairing code
		t.Fatal(err)
	}
	h.status("one", "fake (default): being linked", "Deliveries: 1 pending") // what came after it has passed the gate
	if err := h.Fake.Confirm(t.Context(), "Anna"); err != nil {
		t.Fatal(err)
	}
	h.Until("the answer is sent", func(api.Account) bool { n, _ := h.Fake.Sent(); return n > 0 })
	if _, misused := h.Fake.Sent(); misused {
		t.Error("it was sent while somebody linked the account")
	}
}

// What another site makes a browser send to the channels' part of the API is refused, cookie or not, and has no effect.
func TestChannelsFromAnotherSite(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar, Timeout: 10 * time.Second}
	post := func(what string, head map[string]string) int {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, h.URL+"/api/channels/"+what, strings.NewReader(`{"channel": "fake"}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		for k, v := range head {
			req.Header.Set(k, v)
		}
		resp, err := browser.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		return resp.StatusCode
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, h.Gateway.Link(), nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := browser.Do(req)
	if err != nil || len(jar.Cookies(req.URL)) == 0 {
		t.Fatalf("no cookie: %v", err)
	}
	_ = resp.Body.Close()
	runs := h.Fake.Runs()
	for _, what := range []string{"login", "logout", "restart"} {
		for _, head := range []map[string]string{{"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "same-site"}} {
			if code := post(what, head); code != http.StatusForbidden {
				t.Errorf("%s, %v: %d", what, head, code)
			}
		}
	}
	if s := h.Until("a look", func(api.Account) bool { return true }); s.Linking || h.Fake.Runs() != runs {
		t.Errorf("it had an effect: %d runs, %+v", h.Fake.Runs()-runs, s)
	}
	if code := post("restart", map[string]string{"Origin": h.URL, "Sec-Fetch-Site": "same-origin"}); code != http.StatusOK {
		t.Errorf("from the page itself: %d", code)
	}
}
