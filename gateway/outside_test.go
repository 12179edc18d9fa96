package gateway_test

import (
	"context"
	"errors"
	"io"
	"iter"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"parley/agent"
	"parley/channels"
	"parley/channels/webchat"
	"parley/gateway"
	"parley/gateway/accounts"
	"parley/gateway/config"
	"parley/gateway/models"
	"parley/sessions"
)

// script is a model that answers with what say yields, piece by piece; nil echoes.
type script struct {
	say   atomic.Pointer[func(ctx context.Context, p agent.Prompt, yield func(string)) error]
	mu    sync.Mutex
	asked []agent.Prompt
}

func (s *script) Stream(ctx context.Context, p agent.Prompt) iter.Seq2[agent.Delta, error] {
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
			out("echo: " + said(p))
		}
		yield(agent.Delta{Final: &agent.Answer{Content: sessions.TextContent(all.String()), Stop: "stop", Usage: sessions.Usage{Input: 20, Output: 7, CacheRead: 4}}}, nil)
	}
}

func (s *script) does(say func(ctx context.Context, p agent.Prompt, yield func(string)) error) {
	s.say.Store(&say)
}

// last is the newest prompt.
func (s *script) last() agent.Prompt {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[len(s.asked)-1]
}

// count is how often it was asked.
func (s *script) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.asked)
}

// said is what the user said last in a prompt.
func said(p agent.Prompt) string {
	for i := len(p.Messages) - 1; i >= 0; i-- {
		if p.Messages[i].Role == sessions.User {
			return p.Messages[i].Text()
		}
	}
	return ""
}

// open is a host whose doors for programs of others are open.
type open struct {
	t     *testing.T
	url   string
	model *script
	stop  func()
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

// over waits for the end of a request, as the host sees it.
func (o *open) over(method, below string) {
	o.t.Helper()
	for {
		select {
		case what := <-o.ended:
			if strings.HasPrefix(what, method+" "+below) {
				return
			}
		case <-time.After(20 * time.Second):
			o.t.Fatalf("%s %s goes on", method, below)
		}
	}
}

const (
	ownersToken = "the-token-of-the-owner"
	annsToken   = "the-token-of-ann-0001"
	bobsToken   = "the-token-of-bob-0001"
	readToken   = "the-token-of-a-reader"
)

// openHost starts a host on a state folder; more is put into its gateway section.
func openHost(t *testing.T, dir, more string) *open {
	t.Helper()
	text := `state: .
gateway:
  listen: "127.0.0.1:0"
  token: ` + ownersToken + `
  tokens: [{name: ann, token: ` + annsToken + `, scope: write}, {name: bob, token: ` + bobsToken + `, scope: write}, {name: eye, token: ` + readToken + `, scope: read}]
  ` + more + `
agents: {defaults: {model: offline/offline}, list: [{id: main, default: true}, {id: cook}]}
tools: {sessions: {visibility: agent}}
`
	path := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	o := &open{t: t, model: &script{}, ended: make(chan string, 1000)}
	table := []accounts.Adapter{{Adapter: config.Adapter{Kind: webchat.Kind, Always: true}, Open: func(a config.Account, e accounts.Env) (channels.Channel, error) {
		return webchat.New(webchat.Deps{Account: a.ID, Logger: e.Log}), nil
	}}}
	noEnv := func(string) string { return "" }
	c, _, err := config.Load(path, accounts.Table(table), noEnv)
	if err != nil {
		t.Fatal(err)
	}
	g, err := gateway.Open(t.Context(), gateway.Deps{Config: config.NewLive(c, accounts.Table(table), noEnv), Adapters: table, Getenv: noEnv, Began: time.Now(), Log: slog.New(requests{slog.DiscardHandler, o.ended}),
		Providers: []models.Provider{{API: "offline", Open: func(string, agent.Provider, models.ProviderEnv) (agent.Model, error) { return o.model, nil }}}})
	if err != nil {
		t.Fatal(err)
	}
	o.url = g.URL()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- g.Run(ctx) }()
	o.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the host ended with %v", err)
		}
	})
	t.Cleanup(o.stop)
	return o
}

// outsideOn is the gateway section of a host with everything on.
const outsideOn = "openai: {enabled: true}\n  mcp: {enabled: true}\n  hosts: [box.example]"

// client is the official client with a token, and with further headers.
func (o *open) client(token string, header ...string) openai.Client {
	opts := []option.RequestOption{option.WithBaseURL(o.url + "/v1/"), option.WithAPIKey(token), option.WithMaxRetries(0)}
	for i := 0; i+1 < len(header); i += 2 {
		opts = append(opts, option.WithHeader(header[i], header[i+1]))
	}
	return openai.NewClient(opts...)
}

func talk(model, user string, said ...string) openai.ChatCompletionNewParams {
	p := openai.ChatCompletionNewParams{Model: model}
	if user != "" {
		p.User = openai.String(user)
	}
	for i, s := range said {
		if i%2 == len(said)%2 {
			p.Messages = append(p.Messages, openai.AssistantMessage(s))
		} else {
			p.Messages = append(p.Messages, openai.UserMessage(s))
		}
	}
	return p
}

// chat has a chat completion and gives its text.
func (o *open) chat(token string, p openai.ChatCompletionNewParams, opts ...option.RequestOption) string {
	o.t.Helper()
	c := o.client(token)
	out, err := c.Chat.Completions.New(o.t.Context(), p, opts...)
	if err != nil {
		o.t.Fatal(err)
	}
	return out.Choices[0].Message.Content
}

// refused gives the error of a request that must fail.
func refused(t *testing.T, err error) *openai.Error {
	t.Helper()
	var e *openai.Error
	if !errors.As(err, &e) {
		t.Fatalf("want an error of the API, not %v", err)
	}
	return e
}

// status is what a plain request is answered with.
func (o *open) status(method, path, token, body string, header ...string) int {
	o.t.Helper()
	req, err := http.NewRequestWithContext(o.t.Context(), method, o.url+path, strings.NewReader(body))
	if err != nil {
		o.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		o.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		o.t.Fatal(err)
	}
	return resp.StatusCode
}
