package main

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"os"
	"parley/cmd/internal/tables"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/channels"
	"parley/gateway"
	"parley/gateway/accounts"
	"parley/gateway/api"
	"parley/gateway/config"
	"parley/gateway/gatewaytest"
)

// linkable is a host in this process, with an account that a person links, and a configuration that the commands find it by.
func linkable(t *testing.T) (*gatewaytest.Linked, *env) {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(path, []byte("state: state\ngateway: {listen: \"127.0.0.1:0\"}\nagents: {defaults: {model: offline/offline}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	fake := gatewaytest.NewLinked()
	table := append(tables.Adapters(), fake.Row())
	noEnv := func(string) string { return "" }
	c, _, err := config.Load(path, accounts.Table(table), noEnv)
	if err != nil {
		t.Fatal(err)
	}
	h, err := gateway.Open(t.Context(), gateway.Deps{Config: config.NewLive(c, accounts.Table(table), noEnv), Adapters: table, Providers: tables.Providers(),
		Log: slog.New(slog.DiscardHandler), Getenv: noEnv, Began: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- h.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return fake, &env{ctx: t.Context(), config: path}
}

// screen is what a login writes; a test waits for a text on it.
type screen struct {
	mu      sync.Mutex
	b       bytes.Buffer
	changed chan struct{}
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.changed)
	s.changed = make(chan struct{})
	return s.b.Write(p)
}

func (s *screen) wait(t *testing.T, want string) string {
	t.Helper()
	limit := time.After(20 * time.Second)
	for {
		s.mu.Lock()
		text, changed := s.b.String(), s.changed
		s.mu.Unlock()
		if strings.Contains(text, want) {
			return text
		}
		select {
		case <-changed:
		case <-limit:
			t.Fatalf("%q is not on the screen:\n%s", want, text)
		}
	}
}

// login runs the command; its end comes on the channel.
func login(e *env, c loginCmd, is bool) (*screen, <-chan error) {
	s := &screen{changed: make(chan struct{})}
	ended := make(chan error, 1)
	go func() { ended <- c.link(e, terminal{out: s, is: is, columns: 40, lines: 10}) }()
	return s, ended
}

// The code is drawn on the terminal, drawn anew when the next one comes, and the command says who the account is linked as.
func TestLoginCommand(t *testing.T) {
	t.Parallel()
	fake, e := linkable(t)
	s, ended := login(e, loginCmd{Channel: "fake"}, true)
	for _, code := range []string{"https://example.org/one", "https://example.org/two"} {
		if err := fake.Show(t.Context(), channels.PairStep{QR: code, Expires: time.Now().Add(time.Minute)}); err != nil {
			t.Fatal(err)
		}
		s.wait(t, qrCode(code))
	}
	text := s.wait(t, "window is too small")
	if strings.Count(text, "\x1b[H\x1b[2J") != 1 || !strings.Contains(text, "Linked devices") || strings.Contains(text, "example.org") {
		t.Errorf("shown:\n%s", text)
	}
	if err := (loginCmd{Channel: "fake"}).link(e, terminal{out: io.Discard, is: true}); err == nil || !strings.Contains(err.Error(), "another login of fake (default) is running") {
		t.Errorf("a second login: %v", err)
	}
	if err := fake.Confirm(t.Context(), "Anna"); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	s.wait(t, "fake (default) is linked as \"Anna\".")
	if err := (loginCmd{Channel: "fake", Phone: "+4915123456789"}).link(e, terminal{out: io.Discard}); err == nil || !strings.Contains(err.Error(), "already linked as Anna") {
		t.Errorf("a login of what is connected: %v", err)
	}
	for _, c := range []struct{ channel, want string }{{"fake", "already linked as Anna"}, {"webchat", "needs no login"}, {"nochannel", "unknown channel"}} {
		if err := (loginCmd{Channel: c.channel}).link(e, terminal{out: io.Discard}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("without a terminal, %s: %v", c.channel, err)
		}
	}
	list, err := request[[]api.Account](e, "GET /api/channels", api.None{})
	if err != nil {
		t.Fatal(err)
	}
	var table bytes.Buffer
	printChannels(&page{out: &table}, list)
	if !strings.Contains(table.String(), "Anna") || !strings.Contains(table.String(), "connected") {
		t.Errorf("parley channels:\n%s", &table)
	}
	if err := (logoutCmd{Channel: "fake"}).Run(e); err != nil {
		t.Errorf("logout: %v", err)
	}
	for wait, done := time.After(20*time.Second), false; !done; { // until the adapter has said that nothing is linked
		list, err := request[[]api.Account](e, "GET /api/channels", api.None{})
		if err != nil {
			t.Fatal(err)
		}
		done = slices.ContainsFunc(list, func(s api.Account) bool { return s.Channel == "fake" && s.State == channels.LoggedOut })
		select {
		case <-wait:
			t.Fatalf("%+v", list)
		default:
		}
	}
	if err := (logoutCmd{Channel: "fake"}).Run(e); err == nil || !strings.Contains(err.Error(), "fake (default) is not linked") {
		t.Errorf("a second logout: %v", err)
	}
	if err := (channelsRestartCmd{Channel: "fake", Account: "default"}).Run(e); err != nil {
		t.Errorf("restart: %v", err)
	}
}

// A code for a phone number needs no terminal; Ctrl-C ends the login on the host as well, so that the next one can begin.
func TestLoginCommandEnds(t *testing.T) {
	t.Parallel()
	fake, e := linkable(t)
	for range 2 {
		ctx, interrupt := context.WithCancel(t.Context())
		s, ended := login(&env{ctx: ctx, config: e.config}, loginCmd{Channel: "fake", Phone: "+49 151 23456789"}, false)
		s.wait(t, "    CODE-6789\n")
		interrupt()
		if err := <-ended; err == nil || !strings.Contains(err.Error(), "interrupted") {
			t.Errorf("after Ctrl-C: %v", err)
		}
		free := false
		for wait := time.After(20 * time.Second); !free; {
			list, err := request[[]api.Account](e, "GET /api/channels", api.None{})
			if err != nil {
				t.Fatal(err)
			}
			free = len(list) > 0
			for _, a := range list {
				free = free && !a.Linking
			}
			select {
			case <-wait:
				t.Fatal("the login goes on without anybody")
			default:
			}
		}
	}
	if fake.Runs() < 2 {
		t.Errorf("%d runs: the account is not started again", fake.Runs())
	}
	if err := (loginCmd{Channel: "fake"}).link(e, terminal{out: io.Discard}); err == nil || !strings.Contains(err.Error(), "--phone") {
		t.Errorf("no terminal: %v", err)
	}
	if err := (loginCmd{Channel: "telegram", Phone: "+4915123456789"}).link(e, terminal{out: io.Discard}); err == nil || !strings.Contains(err.Error(), "telegram is not configured") {
		t.Errorf("a channel that is not configured: %v", err)
	}
	s, ended := login(e, loginCmd{Channel: "fake", asJSON: asJSON{true}}, false)
	if err := fake.Show(t.Context(), channels.PairStep{QR: "https://example.org/json", Expires: time.Now().Add(time.Minute)}); err != nil {
		t.Fatal(err)
	}
	s.wait(t, `"qr":"https://example.org/json"`)
	if err := fake.Confirm(t.Context(), "Anna"); err != nil {
		t.Fatal(err)
	}
	if text := s.wait(t, `"done":true`); <-ended != nil || strings.Contains(text, "Linked devices") {
		t.Errorf("as JSON:\n%s", text)
	}
	away := &env{ctx: t.Context(), config: filepath.Join(t.TempDir(), "config.yaml")}
	if err := os.WriteFile(away.config, []byte("state: state\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := (loginCmd{Channel: "fake"}).link(away, terminal{out: io.Discard, is: true}); err == nil || !strings.Contains(err.Error(), "not running") {
		t.Errorf("no host: %v", err)
	}
}
