// Package openai speaks the chat completions protocol: OpenAI's own service and everything that is compatible with it.
package openai

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"mime"
	"net/http"
	"slices"
	"strings"
	"sync"

	"parley/agent"
	"parley/agent/lessons"
	"parley/agent/wire"
	"parley/channels"
	"parley/sessions"
)

// DefaultBaseURL is OpenAI's own service.
const DefaultBaseURL = "https://api.openai.com/v1"

// Config is what a provider needs.
type Config struct {
	Name       string          // the provider's name, for errors and the log
	BaseURL    string          // up to and including /v1; empty = DefaultBaseURL
	APIKey     channels.Secret // zero = none is sent
	Deadlines  agent.Deadlines // a zero field takes its default
	HTTPClient *http.Client    // nil = one of its own, tuned for many turns at once
	Logger     *slog.Logger    // nil = silent
	MaxTokens  int             // longest answer where the prompt names none; 0 = the server's default

	Settings    func(model string) agent.ModelSettings // how a model is spoken to; nil = like any other
	Lessons     *lessons.Book                          // what endpoints refuse; nil = one of its own, in memory
	Fingerprint string                                 // of the configuration: lessons of another one do not hold
}

// Model is an agent.Model.
type Model struct {
	wire        *wire.Client
	at          address
	key         channels.Secret
	name        string
	log         *slog.Logger
	maxTokens   int
	settings    func(model string) agent.ModelSettings
	book        *lessons.Book
	fingerprint string
	tools       wire.Tools

	mu      sync.Mutex
	learned map[string]quirks // by model
}

var _ agent.Model = (*Model)(nil)

// New makes a provider. It opens no connection.
func New(c Config) *Model {
	base := c.BaseURL
	if base == "" {
		base = DefaultBaseURL
	}
	w := wire.New(wire.Config{Name: c.Name, Key: c.APIKey, BaseURL: base, Deadlines: c.Deadlines, HTTPClient: c.HTTPClient})
	m := &Model{
		wire: w, at: addressOf(base), key: c.APIKey, name: c.Name, log: c.Logger, maxTokens: c.MaxTokens,
		settings: c.Settings, book: c.Lessons, fingerprint: c.Fingerprint,
	}
	if m.log == nil {
		m.log = slog.New(slog.DiscardHandler)
	}
	if m.book == nil {
		m.book = lessons.NewBook(lessons.Config{Logger: m.log})
	}
	return m
}

// settingsOf gives how a model is spoken to.
func (m *Model) settingsOf(model string) agent.ModelSettings {
	if m.settings == nil {
		return agent.ModelSettings{}
	}
	return m.settings(model)
}

// Stream implements agent.Model.
func (m *Model) Stream(ctx context.Context, p agent.Prompt) iter.Seq2[agent.Delta, error] {
	var messages, encodedTools []byte // the same for all tries
	retry := agent.Retry{Provider: m.name, Logger: m.log, Tries: p.Tries, Try: func(ctx context.Context, yield func(agent.Delta) bool) error {
		if messages == nil {
			var err error
			if encodedTools, err = m.tools.Encode(p.Tools, encodeTools); err != nil {
				return &agent.ModelError{Class: agent.BadRequest, Err: err}
			}
			messages = encodeMessages(p, len(encodedTools)+restBytes)
		}
		for {
			again, err := m.try(ctx, p, messages, encodedTools, yield)
			messages = slices.Clip(messages) // the next try has a body of its own: this one may still be on its way
			if !again {
				return err
			}
		}
	}}
	return retry.Stream(ctx)
}

// try makes one request. again says that the server did not understand a part of it which can be left out.
func (m *Model) try(ctx context.Context, p agent.Prompt, messages, encodedTools []byte, yield func(agent.Delta) bool) (again bool, err error) {
	quirks := m.quirks(p.Model)
	body := m.encode(p, messages, encodedTools, quirks)
	ctx, t := m.wire.Start(ctx)
	defer t.Stop()
	res, err := m.do(ctx, t, "chat/completions", body, m.settingsOf(p.Model))
	if err != nil {
		return m.learn(p.Model, err, quirks), err
	}
	defer func() { _ = res.Body.Close() }() // the try is over; its error was seen on reading
	s := &stream{t: t, res: res, yield: yield}
	if kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")); kind == "application/json" {
		err = s.readWhole()
	} else {
		err = s.read()
	}
	if lost := s.usage.counted(); !s.answered && p.Spent != nil && lost != (sessions.Usage{}) {
		p.Spent(lost)
	}
	return false, err
}

// quirks are the parts of a request that a server turned out not to understand. They are learned from its errors, so that only the
// first call pays for them.
type quirks struct {
	noUsage     bool // stream_options
	noEffort    bool // reasoning_effort
	otherTokens bool // max_tokens: it wants max_completion_tokens
}

const maxLearned = 256

func (m *Model) quirks(model string) quirks {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.learned[model]
}

// learn remembers what a server complains about, and reports whether the request is worth repeating without it.
func (m *Model) learn(model string, err error, sent quirks) bool {
	e, ok := errors.AsType[*agent.ModelError](err)
	if !ok || e.Class != agent.BadRequest {
		return false
	}
	text := e.Err.Error()
	switch {
	case !sent.noUsage && strings.Contains(text, "stream_options"):
		sent.noUsage = true
	case !sent.noEffort && strings.Contains(text, "reasoning_effort"):
		sent.noEffort = true
	case !m.at.official && !sent.otherTokens && strings.Contains(text, "max_completion_tokens"):
		sent.otherTokens = true
	default:
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.learned == nil || len(m.learned) >= maxLearned {
		m.learned = make(map[string]quirks)
	}
	m.learned[model] = sent
	return true
}
