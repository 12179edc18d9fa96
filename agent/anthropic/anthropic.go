// Package anthropic speaks Anthropic's messages protocol.
package anthropic

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"net/http"
	"strings"
	"sync"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"parley/agent"
	"parley/agent/wire"
	"parley/channels"
	"parley/sessions"
)

// DefaultBaseURL is Anthropic's own service.
const DefaultBaseURL = "https://api.anthropic.com"

// DefaultMaxTokens is the longest answer where neither prompt nor configuration names one: the protocol wants a number.
const DefaultMaxTokens = 8192

// Config is what a provider needs.
type Config struct {
	Name       string          // the provider's name, for errors and the log
	BaseURL    string          // empty = DefaultBaseURL; a /v1 at its end is accepted
	APIKey     channels.Secret // zero = none is sent
	Deadlines  agent.Deadlines // a zero field takes its default
	HTTPClient *http.Client    // nil = one of its own, tuned for many turns at once
	Logger     *slog.Logger    // nil = silent
	MaxTokens  int             // longest answer where the prompt names none; 0 = DefaultMaxTokens
}

// Model is an agent.Model.
type Model struct {
	client    sdk.Client
	wire      *wire.Client
	name      string
	log       *slog.Logger
	maxTokens int
	tools     wire.Tools

	mu      sync.Mutex
	learned map[string]thinkingMode // by model
}

var _ agent.Model = (*Model)(nil)

// New makes a provider. It opens no connection.
func New(c Config) *Model {
	base := c.BaseURL
	if base == "" {
		base = DefaultBaseURL
	}
	base = strings.TrimSuffix(strings.TrimRight(base, "/"), "/v1")
	if c.MaxTokens <= 0 {
		c.MaxTokens = DefaultMaxTokens
	}
	w := wire.New(wire.Config{Name: c.Name, Key: c.APIKey, BaseURL: base, Deadlines: c.Deadlines, HTTPClient: c.HTTPClient})
	options := []option.RequestOption{
		option.WithBaseURL(base), option.WithHTTPClient(w.HTTP()), option.WithMaxRetries(0), option.WithoutOpenTelemetry(),
	}
	if !c.APIKey.IsZero() {
		options = append(options, option.WithAPIKey(c.APIKey.Reveal()))
	}
	return &Model{
		client: sdk.Client{Options: options}, // not NewClient: that would mix in the environment and profile files
		wire:   w, name: c.Name, log: c.Logger, maxTokens: c.MaxTokens,
	}
}

// Stream implements agent.Model.
func (m *Model) Stream(ctx context.Context, p agent.Prompt) iter.Seq2[agent.Delta, error] {
	retry := agent.Retry{Provider: m.name, Logger: m.log, Tries: p.Tries, Try: func(ctx context.Context, yield func(agent.Delta) bool) error {
		for {
			again, err := m.try(ctx, p, yield)
			if !again {
				return err
			}
		}
	}}
	return retry.Stream(ctx)
}

// try makes one request. again says that the model did not understand the way in which it was told how much to think.
func (m *Model) try(ctx context.Context, p agent.Prompt, yield func(agent.Delta) bool) (again bool, err error) {
	mode := m.mode(p.Model)
	body, err := m.encode(p, mode)
	if err != nil {
		return false, &agent.ModelError{Class: agent.BadRequest, Err: err}
	}
	ctx, t := m.wire.Start(ctx)
	defer t.Stop()
	var res *http.Response
	if err := m.client.Post(ctx, "v1/messages", body, &res); err != nil {
		err = t.Error(err)
		return p.Thinking != "" && m.learn(p.Model, err, mode), err
	}
	defer func() { _ = res.Body.Close() }() // the try is over; its error was seen on reading
	s := &stream{t: t, yield: yield}
	err = s.read(res)
	if lost := usage(s.message.Usage); !s.answered && p.Spent != nil && lost != (sessions.Usage{}) {
		p.Spent(lost)
	}
	return false, err
}

// thinkingMode is how a model wants to be told how much to think. It is learned from its errors, so that only the first call
// pays for it.
type thinkingMode int

const (
	adaptive thinkingMode = iota // thinking.type adaptive, with an effort
	budget                       // thinking.type enabled, with a number of tokens
	untold                       // it takes neither
)

const maxLearned = 256

func (m *Model) mode(model string) thinkingMode {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.learned[model]
}

// learn remembers that a model does not understand mode, and reports whether there is another one to try.
func (m *Model) learn(model string, err error, mode thinkingMode) bool {
	e, ok := errors.AsType[*agent.ModelError](err)
	if !ok || e.Class != agent.BadRequest || mode == untold {
		return false
	}
	text := e.Err.Error()
	if !strings.Contains(text, "thinking") && !strings.Contains(text, "effort") && !strings.Contains(text, "output_config") {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.learned == nil || len(m.learned) >= maxLearned {
		m.learned = make(map[string]thinkingMode)
	}
	m.learned[model] = max(m.learned[model], mode+1)
	return true
}
