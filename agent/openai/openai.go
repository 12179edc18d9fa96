package openai

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"net/http"
	"slices"

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
	Fingerprint func() string                          // of the configuration and the server's list of models: lessons of another one do not hold; nil = none
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
	fingerprint func() string
	address     string // the base URL without what is secret in it
	tools       wire.Encoded

	unread  wire.Unread
	endings wire.Endings
	lone    wire.LoneTags
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
		address: lessons.Address(base),
		wire:    w, at: addressOf(base), key: c.APIKey, name: c.Name, log: c.Logger, maxTokens: c.MaxTokens,
		settings: c.Settings, book: c.Lessons, fingerprint: lessons.Fingerprint(c.Fingerprint),
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
	at := lessons.Endpoint{Provider: m.name, Address: m.address, Model: p.Model}
	r := request{m: m, p: p, at: at, settings: m.settingsOf(p.Model), call: m.book.Call(at, m.fingerprint()).ForPrompt(p)}
	retry := agent.Retry{Provider: m.name, Logger: m.log, Tries: p.Tries, Requests: func() int { return r.made }, Try: func(ctx context.Context, yield func(agent.Delta) bool) error {
		for {
			again, err := r.try(ctx, yield)
			if !again {
				return err
			}
		}
	}}
	return retry.Stream(ctx)
}

// request is a model call in the making: the same for all of its tries but for what an endpoint refuses.
type request struct {
	m        *Model
	p        agent.Prompt
	at       lessons.Endpoint
	settings agent.ModelSettings
	call     *lessons.Call
	plan     plan
	messages bodyPrefix // without a body: to be encoded
	tools    []byte
	made     int    // requests so far
	unmarked string // the answer of an earlier try that did not say that it is at its end
}

// encode makes the body of the next try.
func (r *request) encode() ([]byte, error) {
	if r.messages.body == nil {
		r.plan = r.m.plan(r.p, r.settings, r.call, r.at)
		var err error
		if r.tools, err = r.m.encodedTools(r.plan); err != nil {
			return nil, &agent.ModelError{Class: agent.BadRequest, Provider: r.m.name, Err: fmt.Errorf("encoding the tools: %w", err)}
		}
		r.messages = encodeMessages(r.p, r.plan, len(r.tools)+restBytes)
		r.call.Shows(&lessons.Sent{Reasoning: r.messages.reasoning, Steps: r.messages.steps, Roles: r.messages.roles}, r.plan.forms)
	}
	body := encode(r.p, r.plan, r.messages.body, r.tools)
	r.messages.body = slices.Clip(r.messages.body) // the next try has a body of its own: this one may still be on its way
	return body, nil
}

// try makes one request. again says that the endpoint refused a part of it, and that it is worth sending without that.
func (r *request) try(ctx context.Context, yield func(agent.Delta) bool) (again bool, err error) {
	body, err := r.encode()
	if err != nil {
		return false, err
	}
	m := r.m
	r.made++
	ctx, t := m.wire.Start(ctx)
	defer t.Stop()
	res, err := m.do(ctx, t, "chat/completions", body, r.p.Session, r.settings)
	if err != nil {
		return r.refused(ctx, err), err
	}
	defer func() { _ = res.Body.Close() }() // the try is over; its error was seen on reading
	s := &stream{
		t: t, yield: yield, tools: r.plan.tools, schemas: r.plan.schemas, from: r.plan.target.From, returned: r.plan.all,
		begun: func() { r.call.Worked(ctx) }, unread: func(raw []byte) { m.unread.Log(t, m.log, r.at.Label(), "an event", raw) },
		judge: func(said string, calls bool) wire.Ending {
			before := r.unmarked
			r.unmarked = said
			return m.endings.Judge(t, m.log, r.at.Label(), wire.Unmarked{Said: said, Calls: calls, Before: before})
		},
	}
	s.visible.Closes = m.lone.Expected(r.at.Label(), s.from, r.p, closesAlone)
	err = s.read(res.Body)
	if s.answered {
		m.lone.Learn(r.at.Label(), r.p, &s.visible)
	}
	if s.finish != "" || s.done {
		m.endings.Marked(r.at.Label())
	}
	if lost := s.usage.counted(); !s.answered && r.p.Spent != nil && lost != (sessions.Usage{}) {
		r.p.Spent(lost)
	}
	return err != nil && !s.yielded && !s.started && r.refused(ctx, err), err
}

// refused learns from an error, and reports whether the request is worth sending again, changed.
func (r *request) refused(ctx context.Context, err error) bool {
	if r.call.Refused(ctx, err, r.plan.sent(r.p, &r.messages)) {
		r.messages = bodyPrefix{}
		return true
	}
	if e, ok := errors.AsType[*agent.ModelError](err); ok && e.Class == agent.BadForm && lessons.WantsResponses(err) {
		e.Hint = "Set `api: openai-responses` at this provider."
		r.m.log.LogAttrs(ctx, slog.LevelWarn, "model requires the Responses API", slog.String("model", r.at.Label()), slog.String("said", e.Said),
			slog.String("hint", "set `api: openai-responses` at this provider"))
	}
	return false
}
