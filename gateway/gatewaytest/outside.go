package gatewaytest

import (
	"context"
	"io"
	"iter"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/channels/webchat"
	"parley/gateway"
	"parley/gateway/accounts"
	"parley/gateway/config"
	"parley/gateway/models"
	"parley/sessions"
)

// Script is a model that answers with what say yields, piece by piece; nil echoes.
type Script struct {
	say   atomic.Pointer[func(ctx context.Context, p agent.Prompt, yield func(string)) error]
	mu    sync.Mutex
	asked []agent.Prompt
}

// Stream implements agent.Model.
func (s *Script) Stream(ctx context.Context, p agent.Prompt) iter.Seq2[agent.Delta, error] {
	return func(yield func(agent.Delta, error) bool) {
		s.mu.Lock()
		s.asked = append(s.asked, p)
		s.mu.Unlock()
		var all strings.Builder
		out := func(text string) {
			all.WriteString(text)
			yield(agent.Delta{Text: text}, nil)
		}
		if say := s.say.Load(); say != nil {
			if err := (*say)(ctx, p, out); err != nil {
				yield(agent.Delta{}, err)
				return
			}
		} else {
			out("echo: " + Said(p))
		}
		yield(agent.Delta{Final: &agent.Answer{Content: sessions.TextContent(all.String()), Stop: "stop", Usage: sessions.Usage{Input: 20, Output: 7, CacheRead: 4}}}, nil)
	}
}

// Does sets what the model does from now on; nil = it echoes.
func (s *Script) Does(say func(ctx context.Context, p agent.Prompt, yield func(string)) error) {
	if say == nil {
		s.say.Store(nil)
		return
	}
	s.say.Store(&say)
}

// Last is the newest prompt.
func (s *Script) Last() agent.Prompt {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[len(s.asked)-1]
}

// Asked are the prompts so far.
func (s *Script) Asked() []agent.Prompt {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

// Count is how often it was asked.
func (s *Script) Count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.asked)
}

// Said is what the user said last in a prompt.
func Said(p agent.Prompt) string {
	for i := len(p.Messages) - 1; i >= 0; i-- {
		if p.Messages[i].Role == sessions.User {
			return p.Messages[i].Text()
		}
	}
	return ""
}

// Outside is a host whose doors for programs of others are open.
type Outside struct {
	T     *testing.T
	URL   string
	Model *Script
	Stop  func()      // ends the host
	ended chan string // the method and path template of each request that is over, as far as it is read
}

// requests is the host's log, of which it hands on what requests there were.
type requests struct {
	slog.Handler
	ended chan string
}

func (requests) Enabled(context.Context, slog.Level) bool { return true }

func (q requests) Handle(_ context.Context, r slog.Record) error {
	if r.Message != "request" {
		return nil
	}
	var method, path string
	r.Attrs(func(a slog.Attr) bool {
		switch a.Key {
		case "method":
			method = a.Value.String()
		case "path":
			path = a.Value.String()
		}
		return true
	})
	select {
	case q.ended <- method + " " + path:
	default: // nobody reads
	}
	return nil
}

// Over waits for the end of a request, as the host sees it.
func (o *Outside) Over(method, below string) {
	o.T.Helper()
	for {
		select {
		case what := <-o.ended:
			if strings.HasPrefix(what, method+" "+below) {
				return
			}
		case <-time.After(20 * time.Second):
			o.T.Fatalf("%s %s goes on", method, below)
		}
	}
}

// The tokens of the owner, of two programs with the scope write, and of one that only reads.
const (
	OwnersToken = "the-token-of-the-owner"
	AnnsToken   = "the-token-of-ann-0001"
	BobsToken   = "the-token-of-bob-0001"
	ReadToken   = "the-token-of-a-reader"
)

// OpenOutside starts a host on a state folder; more is put into its gateway section.
func OpenOutside(t *testing.T, dir, more string) *Outside {
	t.Helper()
	text := `state: .
gateway:
  listen: "127.0.0.1:0"
  token: ` + OwnersToken + `
  tokens: [{name: ann, token: ` + AnnsToken + `, scope: write}, {name: bob, token: ` + BobsToken + `, scope: write}, {name: eye, token: ` + ReadToken + `, scope: read}]
  ` + more + `
agents: {defaults: {model: offline/offline}, list: [{id: main, default: true}, {id: cook}]}
tools: {sessions: {visibility: agent}}
`
	path := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	o := &Outside{T: t, Model: &Script{}, ended: make(chan string, 1000)}
	table := []accounts.Adapter{{Adapter: config.Adapter{Kind: webchat.Kind, Always: true}, Open: func(a config.Account, e accounts.Env) (channels.Channel, error) {
		return webchat.New(webchat.Deps{Account: a.ID, Logger: e.Log}), nil
	}}}
	noEnv := func(string) string { return "" }
	c, _, err := config.Load(path, accounts.Table(table), noEnv)
	if err != nil {
		t.Fatal(err)
	}
	g, err := gateway.Open(t.Context(), gateway.Deps{Config: config.NewLive(c, accounts.Table(table), noEnv), Adapters: table, Getenv: noEnv, Began: time.Now(), Log: slog.New(requests{slog.DiscardHandler, o.ended}),
		Providers: []models.Provider{{API: "offline", Open: func(string, agent.Provider, models.ProviderEnv) (agent.Model, error) { return o.Model, nil }}}})
	if err != nil {
		t.Fatal(err)
	}
	o.URL = g.URL()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- g.Run(ctx) }()
	o.Stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the host ended with %v", err)
		}
	})
	t.Cleanup(o.Stop)
	return o
}

// OutsideOn is the gateway section of a host with everything on.
const OutsideOn = "openai: {enabled: true}\n  mcp: {enabled: true}\n  hosts: [box.example]"

// Status is what a plain request is answered with.
func (o *Outside) Status(method, path, token, body string, header ...string) int {
	o.T.Helper()
	req, err := http.NewRequestWithContext(o.T.Context(), method, o.URL+path, strings.NewReader(body))
	if err != nil {
		o.T.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		o.T.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		o.T.Fatal(err)
	}
	return resp.StatusCode
}
