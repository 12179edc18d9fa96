package gatewaytest

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
	"parley/channels"
	"parley/channels/webchat"
	"parley/gateway"
	"parley/gateway/accounts"
	"parley/gateway/api"
	"parley/gateway/config"
	"parley/gateway/models"
)

// Buffer is a bytes.Buffer for several goroutines.
type Buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// Host is a whole host with the account of a fake platform.
type Host struct {
	T       *testing.T
	Fake    *Linked
	State   string // its folder
	Token   string
	URL     string
	Log     *Buffer
	Stop    func() // ends the host
	Gateway *gateway.Host
}

// NewHost starts a host and ends it with the test. model answers in it; more changes what it is made of.
func NewHost(t *testing.T, model agent.Model, more ...func(*gateway.Deps)) *Host {
	t.Helper()
	h := &Host{T: t, Fake: NewLinked(), State: t.TempDir(), Log: &Buffer{}}
	table := []accounts.Adapter{h.Fake.Row(), {
		Adapter: config.Adapter{Kind: webchat.Kind, Always: true},
		Open: func(a config.Account, e accounts.Env) (channels.Channel, error) {
			return webchat.New(webchat.Deps{Account: a.ID, Logger: e.Log}), nil
		},
	}}
	path := h.Configure("")
	noEnv := func(string) string { return "" }
	c, _, err := config.Load(path, accounts.Table(table), noEnv)
	if err != nil {
		t.Fatal(err)
	}
	deps := gateway.Deps{
		Config: config.NewLive(c, accounts.Table(table), noEnv), Adapters: table, Getenv: noEnv, Began: time.Now(),
		Log:       slog.New(slog.NewTextHandler(h.Log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Providers: []models.Provider{{API: "offline", Open: func(string, agent.Provider, models.ProviderEnv) (agent.Model, error) { return model, nil }}},
	}
	for _, f := range more {
		f(&deps)
	}
	g, err := gateway.Open(t.Context(), deps)
	if err != nil {
		t.Fatal(err)
	}
	h.Gateway = g
	h.URL, h.Token = g.URL(), "a-token-of-the-test"
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- g.Run(ctx) }()
	h.Stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the host ended with %v", err)
		}
	})
	t.Cleanup(h.Stop)
	h.Until("the fake account has run", func(s api.Account) bool { return h.Fake.Runs() > 0 && s.State == channels.LoggedOut })
	h.UntilOf(webchat.Kind, "the web chat takes messages", func(s api.Account) bool { return s.State == channels.Connected })
	return h
}

// Configure writes the configuration, with more lines at its end, and gives its path.
func (h *Host) Configure(more string) string {
	h.T.Helper()
	path := filepath.Join(h.State, "config.yaml")
	text := "state: .\ngateway: {listen: \"127.0.0.1:0\", token: a-token-of-the-test}\nagents: {defaults: {model: offline/offline}}\n" + more
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		h.T.Fatal(err)
	}
	return path
}

// Ask does a request with the token.
func (h *Host) Ask(ctx context.Context, method, path, body string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, h.URL+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+h.Token)
	req.Header.Set("Content-Type", "application/json")
	return http.DefaultClient.Do(req)
}

// Get gives the status and the text of an answer.
func (h *Host) Get(method, path, body string) (int, string) {
	h.T.Helper()
	resp, err := h.Ask(h.T.Context(), method, path, body)
	if err != nil {
		h.T.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		h.T.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

// Until waits until the fake account is as wanted.
func (h *Host) Until(what string, ok func(api.Account) bool) api.Account {
	h.T.Helper()
	return h.UntilOf(Kind, what, ok)
}

// UntilOf waits until the account of a kind is as wanted.
func (h *Host) UntilOf(kind channels.Kind, what string, ok func(api.Account) bool) (s api.Account) {
	h.T.Helper()
	limit, tick := time.After(20*time.Second), time.NewTicker(5*time.Millisecond)
	defer tick.Stop()
	for {
		var list []api.Account
		if _, body := h.Get("GET", "/api/channels", ""); json.Unmarshal([]byte(body), &list) == nil {
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
			h.T.Fatalf("waited in vain: %s; %+v", what, s)
		}
	}
}

// Login starts a login and gives its steps.
func (h *Host) Login(body string) (next func() api.LoginStep, hangUp func()) {
	h.T.Helper()
	ctx, cancel := context.WithCancel(h.T.Context())
	h.T.Cleanup(cancel)
	lines := make(chan api.LoginStep)
	go func() {
		defer close(lines)
		resp, err := h.Ask(ctx, "POST", "/api/channels/login", body)
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
		h.T.Helper()
		select {
		case s := <-lines:
			return s
		case <-time.After(20 * time.Second):
			h.T.Fatal("no step came")
			return api.LoginStep{}
		}
	}, cancel
}
