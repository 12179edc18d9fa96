package gateway_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
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
	"parley/gateway/accounts"
	"parley/gateway/api"
	"parley/gateway/config"
	"parley/gateway/gatewaytest"
	"parley/gateway/models"
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
	url   string
	log   *buffer
	stop  func()
	host  *gateway.Host
}

func newHost(t *testing.T) *host {
	t.Helper()
	return newHostOf(t, offline.New())
}

// newHostOf is newHost with another model.
func newHostOf(t *testing.T, model agent.Model, more ...func(*gateway.Deps)) *host {
	t.Helper()
	h := &host{t: t, fake: gatewaytest.NewLinked(), state: t.TempDir(), log: &buffer{}}
	table := []accounts.Adapter{h.fake.Row(), {
		Adapter: config.Adapter{Kind: webchat.Kind, Always: true},
		Open: func(a config.Account, e accounts.Env) (channels.Channel, error) {
			return webchat.New(webchat.Deps{Account: a.ID, Logger: e.Log}), nil
		},
	}}
	path := h.configure("")
	noEnv := func(string) string { return "" }
	c, _, err := config.Load(path, accounts.Table(table), noEnv)
	if err != nil {
		t.Fatal(err)
	}
	deps := gateway.Deps{
		Config: config.NewLive(c, accounts.Table(table), noEnv), Adapters: table, Getenv: noEnv, Began: time.Now(),
		Log:       slog.New(slog.NewTextHandler(h.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Providers: []models.Provider{{API: "offline", Open: func(string, agent.Provider, models.ProviderEnv) (agent.Model, error) { return model, nil }}},
	}
	for _, f := range more {
		f(&deps)
	}
	g, err := gateway.Open(t.Context(), deps)
	if err != nil {
		t.Fatal(err)
	}
	h.host = g
	h.url, h.token = g.URL(), "a-token-of-the-test"
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
	h.until("the fake account has run", func(s api.Account) bool { return h.fake.Runs() > 0 && s.State == channels.LoggedOut })
	h.untilOf(webchat.Kind, "the web chat takes messages", func(s api.Account) bool { return s.State == channels.Connected })
	return h
}

// configure writes the configuration, with more lines at its end, and gives its path.
func (h *host) configure(more string) string {
	h.t.Helper()
	path := filepath.Join(h.state, "config.yaml")
	text := "state: .\ngateway: {listen: \"127.0.0.1:0\", token: a-token-of-the-test}\nagents: {defaults: {model: offline/offline}}\n" + more
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		h.t.Fatal(err)
	}
	return path
}

// ask does a request with the token.
func (h *host) ask(ctx context.Context, method, path, body string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, h.url+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+h.token)
	req.Header.Set("Content-Type", "application/json")
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
func (h *host) until(what string, ok func(api.Account) bool) api.Account {
	h.t.Helper()
	return h.untilOf(gatewaytest.Kind, what, ok)
}

// untilOf waits until the account of a kind is as wanted.
func (h *host) untilOf(kind channels.Kind, what string, ok func(api.Account) bool) (s api.Account) {
	h.t.Helper()
	limit, tick := time.After(20*time.Second), time.NewTicker(5*time.Millisecond)
	defer tick.Stop()
	for {
		var list []api.Account
		if _, body := h.get("GET", "/api/channels", ""); json.Unmarshal([]byte(body), &list) == nil {
			for _, a := range list {
				if a.Channel == kind {
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
func (h *host) login(body string) (next func() api.LoginStep, hangUp func()) {
	h.t.Helper()
	ctx, cancel := context.WithCancel(h.t.Context())
	h.t.Cleanup(cancel)
	lines := make(chan api.LoginStep)
	go func() {
		defer close(lines)
		resp, err := h.ask(ctx, "POST", "/api/channels/login", body)
		if err != nil {
			return // hung up
		}
		defer func() { _ = resp.Body.Close() }()
		for in := bufio.NewScanner(resp.Body); in.Scan(); {
			var s api.LoginStep
			_ = json.Unmarshal(in.Bytes(), &s) // the zero step fails the test
			lines <- s
		}
	}()
	return func() api.LoginStep {
		h.t.Helper()
		select {
		case s := <-lines:
			return s
		case <-time.After(20 * time.Second):
			h.t.Fatal("no step came")
			return api.LoginStep{}
		}
	}, cancel
}
