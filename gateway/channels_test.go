package gateway_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/agent"
	"parley/agent/offline"
	"parley/channels"
	"parley/channels/webchat"
	"parley/gateway"
	"parley/gateway/config"
	"parley/gateway/gatewaytest"
)

// buffer is a bytes.Buffer for several goroutines.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// host is a whole host with the account of a fake platform.
type host struct {
	t     *testing.T
	fake  *gatewaytest.Linked
	state string
	token string
	link  string
	url   string
	log   *buffer
	stop  func()
}

func newHost(t *testing.T) *host {
	t.Helper()
	h := &host{t: t, fake: gatewaytest.NewLinked(), state: t.TempDir(), log: &buffer{}}
	table := []gateway.Adapter{h.fake.Row(), {
		Adapter: config.Adapter{Kind: webchat.Kind, Always: true},
		Open: func(a config.Account, e gateway.AdapterEnv) (channels.Channel, error) {
			return webchat.New(webchat.Deps{Account: a.ID, Logger: e.Log}), nil
		},
	}}
	path := filepath.Join(h.state, "config.yaml")
	if err := os.WriteFile(path, []byte("state: .\ngateway: {listen: \"127.0.0.1:0\", token: a-token-of-the-test}\nagents: {defaults: {model: offline/offline}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	noEnv := func(string) string { return "" }
	c, _, err := config.Load(path, gateway.Table(table), noEnv)
	if err != nil {
		t.Fatal(err)
	}
	g, err := gateway.Open(t.Context(), gateway.Deps{
		Config: config.NewLive(c, gateway.Table(table), noEnv), Adapters: table, Getenv: noEnv, Began: time.Now(),
		Log:       slog.New(slog.NewTextHandler(h.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Providers: []gateway.Provider{{API: "offline", Open: func(string, agent.Provider, *slog.Logger) (agent.Model, error) { return offline.New(), nil }}},
	})
	if err != nil {
		t.Fatal(err)
	}
	h.url, h.token, h.link = g.URL(), "a-token-of-the-test", g.Link()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- g.Run(ctx) }()
	h.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the host ended with %v", err)
		}
	})
	t.Cleanup(h.stop)
	h.until("the fake account has run", func(s gateway.Status) bool { return h.fake.Runs() > 0 && s.State == channels.LoggedOut })
	return h
}

// ask does a request with the token.
func (h *host) ask(ctx context.Context, method, path, body string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, h.url+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+h.token)
	return http.DefaultClient.Do(req)
}

// get gives the status and the text of an answer.
func (h *host) get(method, path, body string) (int, string) {
	h.t.Helper()
	resp, err := h.ask(h.t.Context(), method, path, body)
	if err != nil {
		h.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		h.t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

// until waits until the fake account is as wanted.
func (h *host) until(what string, ok func(gateway.Status) bool) (s gateway.Status) {
	h.t.Helper()
	limit, tick := time.After(20*time.Second), time.NewTicker(5*time.Millisecond)
	defer tick.Stop()
	for {
		var list []gateway.Status
		if _, body := h.get("GET", "/api/channels", ""); json.Unmarshal([]byte(body), &list) == nil {
			for _, a := range list {
				if a.Channel == gatewaytest.Kind {
					s = a
				}
			}
		}
		if ok(s) {
			return s
		}
		select {
		case <-tick.C:
		case <-limit:
			h.t.Fatalf("waited in vain: %s; %+v", what, s)
		}
	}
}

// login starts a login and gives its steps.
func (h *host) login(body string) (next func() gateway.LoginStep, hangUp func()) {
	h.t.Helper()
	ctx, cancel := context.WithCancel(h.t.Context())
	h.t.Cleanup(cancel)
	lines := make(chan gateway.LoginStep)
	go func() {
		defer close(lines)
		resp, err := h.ask(ctx, "POST", "/api/channels/login", body)
		if err != nil {
			return // hung up
		}
		defer func() { _ = resp.Body.Close() }()
		for in := bufio.NewScanner(resp.Body); in.Scan(); {
			var s gateway.LoginStep
			_ = json.Unmarshal(in.Bytes(), &s) // the zero step fails the test
			lines <- s
		}
	}()
	return func() gateway.LoginStep {
		h.t.Helper()
		select {
		case s := <-lines:
			return s
		case <-time.After(20 * time.Second):
			h.t.Fatal("no step came")
			return gateway.LoginStep{}
		}
	}, cancel
}

const theCode = "https://example.org/link#the-secret-of-the-code"

// A login, from the first code to the name, and a logout. The codes are in no log and no file.
func TestLogin(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	s := h.until("not linked", func(s gateway.Status) bool { return s.State == channels.LoggedOut })
	if !strings.Contains(s.Todo, "parley login fake") || !s.Pairs || s.Live {
		t.Errorf("before: %+v", s)
	}
	if code, body := h.get("GET", "/readyz", ""); code != http.StatusServiceUnavailable || !strings.Contains(body, "fake (default): not linked") || !strings.Contains(body, "parley login fake") {
		t.Errorf("readyz: %d %s", code, body)
	}
	next, _ := h.login(`{"channel": "fake"}`)
	for _, code := range []string{theCode, theCode + "-2"} {
		if err := h.fake.Show(t.Context(), channels.PairStep{QR: code, Expires: time.Now().Add(time.Minute)}); err != nil {
			t.Fatal(err)
		}
		if s := next(); s.QR != code || s.Image == nil || s.Image.Size < 29 || !strings.HasPrefix(s.Image.Path, "M4 4h7v1h-7z") || s.Expires.IsZero() {
			t.Errorf("step %+v", s)
		}
	}
	if s := h.until("being linked", func(s gateway.Status) bool { return s.Linking }); s.State != channels.LoggedOut || s.Todo != "" {
		t.Errorf("while it is linked: %+v", s)
	}
	for path, want := range map[string]string{"login": "somebody is linking fake (default) already", "logout": "is being linked", "restart": "is being linked"} {
		if code, body := h.get("POST", "/api/channels/"+path, `{"channel": "fake", "account": "default"}`); code != http.StatusConflict || !strings.Contains(body, want) {
			t.Errorf("%s meanwhile: %d %s", path, code, body)
		}
	}
	if err := h.fake.Confirm(t.Context(), "Anna"); err != nil {
		t.Fatal(err)
	}
	if s := next(); !s.Done || s.Name != "Anna" || s.Account != "fake (default)" {
		t.Errorf("the end: %+v", s)
	}
	h.until("connected", func(s gateway.Status) bool { return s.Live && s.Name == "Anna" && !s.Linking && s.Detail == "" })
	if code, body := h.get("GET", "/readyz", ""); code != http.StatusOK || strings.Contains(body, "Anna") {
		t.Errorf("readyz: %d %s", code, body)
	}
	if code, body := h.get("POST", "/api/channels/login", `{"channel": "fake"}`); code != http.StatusConflict || !strings.Contains(body, "linked already as Anna") {
		t.Errorf("a login of what is connected: %d %s", code, body)
	}
	if _, body := h.get("GET", "/metrics", ""); !strings.Contains(body, `parley_account_up{account="default",channel="fake"} 1`) || !strings.Contains(body, `parley_account_last_seen_timestamp_seconds{account="default",channel="fake"}`) {
		t.Errorf("metrics: %s", body)
	}

	if code, body := h.get("POST", "/api/channels/logout", `{"channel": "fake"}`); code != http.StatusOK {
		t.Errorf("logout: %d %s", code, body)
	}
	h.until("logged out", func(s gateway.Status) bool { return s.State == channels.LoggedOut && s.Name == "" && !s.Live })
	h.stop()
	if strings.Contains(h.log.String(), "the-secret") {
		t.Error("the log has the code")
	}
	err := filepath.WalkDir(h.state, func(path string, d fs.DirEntry, err error) error {
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
	next, hangUp := h.login(`{"channel": "fake", "phone": "+49 151 2345678"}`)
	if s := next(); s.Code != "CODE-5678" || s.QR != "" {
		t.Errorf("step %+v", s)
	}
	hangUp()
	h.until("the login is over", func(s gateway.Status) bool { return !s.Linking && s.State == channels.LoggedOut })

	next, _ = h.login(`{"channel": "fake", "phone": "+49 151 2345678"}`)
	next()
	if err := h.fake.Fail(t.Context(), errors.New("the code was not typed in")); err != nil {
		t.Fatal(err)
	}
	if s := next(); s.Error != "fake (default) is not linked: the code was not typed in" {
		t.Errorf("%+v", s)
	}
	if code, body := h.get("POST", "/api/channels/login", `{"channel": "fake", "phone": "0151"}`); code != http.StatusBadRequest || !strings.Contains(body, "country code") {
		t.Errorf("a bad number: %d %s", code, body)
	}
	next, _ = h.login(`{"channel": "fake", "phone": "+49 151 2345678"}`)
	next()
	h.stop()
	if s := next(); !strings.Contains(s.Error, "the host is stopping") {
		t.Errorf("%+v", s)
	}
}

// Each call for an account that is not there, or cannot do it, says why.
func TestLoginErrors(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	for body, want := range map[string]string{
		`{"channel": "smoke"}`:                    `there is no channel "smoke"`,
		`{"channel": "fake", "account": "other"}`: `fake has no account "other": there are default`,
		`{"channel": "webchat"}`:                  "webchat (default) is not linked by a person",
		`{}`:                                      "want {",
		`{"channel": "fake", "more": 1}`:          "want {",
	} {
		if code, answer := h.get("POST", "/api/channels/login", body); code/100 != 4 || !strings.Contains(answer, strings.ReplaceAll(want, `"`, `\"`)) {
			t.Errorf("%s: %d %s", body, code, answer)
		}
	}
}

// An account that its platform gave to another client stays down with the reason, until somebody starts it again.
func TestRestart(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	next, _ := h.login(`{"channel": "fake"}`)
	if err := h.fake.Confirm(t.Context(), "Anna"); err != nil {
		t.Fatal(err)
	}
	if s := next(); !s.Done {
		t.Fatalf("%+v", s)
	}
	h.fake.End(channels.Replaced, "another client took this login over", &channels.Error{Class: channels.Unauthorized, Err: errors.New("replaced")})
	s := h.until("replaced", func(s gateway.Status) bool { return s.State == channels.Replaced })
	if s.Live || s.Detail != "another client took this login over" || !strings.Contains(s.Todo, "parley channels restart fake") {
		t.Errorf("%+v", s)
	}
	if code, body := h.get("GET", "/readyz", ""); code != http.StatusServiceUnavailable || !strings.Contains(body, "another client took this login over") {
		t.Errorf("readyz: %d %s", code, body)
	}
	runs := h.fake.Runs()
	if code, body := h.get("POST", "/api/channels/restart", `{"channel": "fake"}`); code != http.StatusOK {
		t.Errorf("restart: %d %s", code, body)
	}
	h.until("connected again", func(s gateway.Status) bool { return s.Live && s.Todo == "" })
	if h.fake.Runs() != runs+1 {
		t.Errorf("%d runs, want %d", h.fake.Runs(), runs+1)
	}
}

// Platforms call the hook of an account without a token; it gives nothing else away and takes no more than a megabyte.
func TestHook(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.token = "wrong" // nobody who calls has one
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
		if code, body := h.get(c.method, c.path, c.body); code != c.code || !strings.Contains(body, c.want) {
			t.Errorf("%s %s: %d %.80s", c.method, c.path, code, body)
		}
	}
}
