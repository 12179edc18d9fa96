package responses

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"

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
	Name        string                                 // the provider's name, for errors and the log
	BaseURL     string                                 // up to and including /v1; empty = DefaultBaseURL
	APIKey      channels.Secret                        // zero = none is sent
	Deadlines   agent.Deadlines                        // a zero field takes its default
	HTTPClient  *http.Client                           // nil = one of its own, tuned for many turns at once
	Logger      *slog.Logger                           // nil = silent
	MaxTokens   int                                    // longest answer where the prompt names none; 0 = the server's default
	Settings    func(model string) agent.ModelSettings // nil = none
	Lessons     *lessons.Book                          // nil = one of its own, in memory
	Fingerprint func() string                          // of the configuration and the server's list of models: lessons of another one do not hold; nil = none
}

// Model is an agent.Model.
type Model struct {
	wire        *wire.Client
	name        string
	url         *url.URL // where requests go, without the query of settings
	address     string   // as lessons and opaque data name it
	host        host
	key         channels.Secret
	log         *slog.Logger
	maxTokens   int
	settings    func(string) agent.ModelSettings
	book        *lessons.Book
	fingerprint func() string

	tools    wire.Encoded // that are not strict
	unstrict wire.Encoded // that do not say whether they are
	strict   wire.Encoded

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
	if c.Settings == nil {
		c.Settings = func(string) agent.ModelSettings { return agent.ModelSettings{} }
	}
	if c.Lessons == nil {
		c.Lessons = lessons.NewBook(lessons.Config{Logger: c.Logger})
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	m := &Model{
		wire: wire.New(wire.Config{Name: c.Name, Key: c.APIKey, BaseURL: base, Deadlines: c.Deadlines, HTTPClient: c.HTTPClient}),
		name: c.Name, url: endpoint(base), address: lessons.Address(base), key: c.APIKey, log: c.Logger, maxTokens: c.MaxTokens,
		settings: c.Settings, book: c.Lessons, fingerprint: lessons.Fingerprint(c.Fingerprint),
	}
	m.host = hostOf(m.url)
	return m
}

// endpoint gives the address of requests below a base URL, whose query stays.
func endpoint(base string) *url.URL {
	u, err := url.Parse(base)
	if err != nil {
		u = &url.URL{Opaque: base} // the request fails and says why
	}
	below := func(path string) string {
		return strings.TrimSuffix(strings.TrimRight(path, "/"), "/responses") + "/responses"
	}
	u.Path, u.Fragment = below(u.Path), ""
	if u.RawPath != "" {
		u.RawPath = below(u.RawPath)
	}
	return u
}

// Stream implements agent.Model.
func (m *Model) Stream(ctx context.Context, p agent.Prompt) iter.Seq2[agent.Delta, error] {
	at := lessons.Endpoint{Provider: m.name, Address: m.address, Model: p.Model}
	settings := m.settings(p.Model)
	var (
		call *lessons.Call // of all tries
		req  *request      // the same for all tries, until a refusal changes it
		made int           // requests so far
		said string        // by an earlier try that did not say that it is at its end
	)
	retry := agent.Retry{Provider: m.name, Logger: m.log, Tries: p.Tries, Requests: func() int { return made }, Try: func(ctx context.Context, yield func(agent.Delta) bool) error {
		if call == nil {
			call = m.book.Call(at, m.fingerprint()).ForPrompt(p)
		}
		for {
			if req == nil {
				made, err := m.encode(p, settings, call, at)
				if err != nil {
					return &agent.ModelError{Class: agent.BadRequest, Err: err}
				}
				req = made
			}
			made++
			begun, err := m.try(ctx, p, settings, call, at, req, &said, yield)
			if err == nil || begun || !call.Refused(ctx, err, req.consists()) {
				return err
			}
			req = nil
		}
	}}
	return retry.Stream(ctx)
}

// try makes one request. begun says that a part of an answer came: then an error is no refusal of the request.
func (m *Model) try(ctx context.Context, p agent.Prompt, settings agent.ModelSettings, call *lessons.Call, at lessons.Endpoint, req *request, said *string, yield func(agent.Delta) bool) (begun bool, err error) {
	parent := ctx
	ctx, t := m.wire.Start(ctx)
	defer t.Stop()
	post, err := http.NewRequestWithContext(ctx, http.MethodPost, m.target(settings), bytes.NewReader(req.body))
	if err != nil {
		return false, t.Error(err)
	}
	m.header(post.Header, settings, req.sent.Stream)
	t.Hide(settings, post.URL.String())
	res, err := m.wire.HTTP().Do(post)
	if err != nil {
		return false, t.Error(err)
	}
	defer func() { _ = res.Body.Close() }() // the try is over; its error was seen on reading
	if res.StatusCode >= 300 {
		if _, err := io.Copy(io.Discard, io.LimitReader(res.Body, maxRefusal)); err != nil { // the try keeps its beginning
			return false, t.Error(err)
		}
		return false, hinted(t.Error(errors.New(res.Status + " without a reason")))
	}
	s := &stream{
		t: t, yield: yield, from: at.String(), tools: req.offered, undo: req.undo,
		good:   func() { call.Worked(parent) },
		unread: func(what string, raw []byte) { m.unread.Log(t, m.log, at.Label(), what, raw) },
		judge: func(all string, calls bool) wire.Ending {
			before := *said
			*said = all
			return m.endings.Judge(t, m.log, at.Label(), wire.Unmarked{Said: all, Calls: calls, Before: before})
		},
	}
	s.closes = m.lone.Expected(at.Label(), s.from, p, nil)
	err = s.read(res.Body)
	if s.answered {
		m.lone.Learn(at.Label(), p, s.outputs.readers()...)
	}
	if s.ending != "" {
		m.endings.Marked(at.Label())
	}
	if lost := s.usage; !s.answered && p.Spent != nil && lost != (sessions.Usage{}) {
		p.Spent(lost)
	}
	return s.begun, err
}

// hinted adds what to do to the error of a server that seems to have no such API, or not for this model.
func hinted(err error) error {
	e, ok := errors.AsType[*agent.ModelError](err)
	f, known := errors.AsType[*wire.Fault](err)
	if !ok || !known {
		return err
	}
	has := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(f.All, w) })
	}
	absent := (e.Status == http.StatusNotFound || e.Status == http.StatusMethodNotAllowed || e.Class == agent.BadAddress) && !has("model", "item", "deployment")
	if !absent && !(e.Status >= 400 && e.Status < 500 && has("chat/completions", "responses api")) {
		return err
	}
	e.Err = fmt.Errorf("%w (the address may have no Responses API: set api: openai-completions, or correct baseUrl)", e.Err)
	return err
}

// maxRefusal is how much of a refusal is read, in bytes.
const maxRefusal = 64 << 10

// target gives the address of a request.
func (m *Model) target(settings agent.ModelSettings) string {
	if len(settings.Query) == 0 {
		return m.url.String()
	}
	u := *m.url
	q := u.Query()
	for name, value := range settings.Query {
		q.Set(name, value)
	}
	u.RawQuery = q.Encode()
	return u.String()
}

// header fills in the header of a request.
func (m *Model) header(h http.Header, settings agent.ModelSettings, stream bool) {
	h.Set("Content-Type", "application/json")
	h.Set("User-Agent", "parley")
	h.Set("Accept", "application/json")
	if stream {
		h.Set("Accept", "text/event-stream, application/json")
	}
	switch {
	case m.key.IsZero():
	case m.host == azure:
		h.Set("Api-Key", m.key.Reveal())
	default:
		h.Set("Authorization", "Bearer "+m.key.Reveal())
	}
	for name, value := range settings.Headers {
		h.Set(name, value.Reveal())
	}
}

// host is what is known of a server by its address.
type host string

const (
	openAI    host = "openai" // OpenAI's own service
	azure     host = "azure"  // OpenAI's models at Azure
	xAI       host = "xai"
	otherHost host = "other"
)

// hostOf tells the services apart that differ in what they take.
func hostOf(u *url.URL) host {
	name := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	below := func(domain string) bool { return name == domain || strings.HasSuffix(name, "."+domain) }
	switch {
	case below("api.openai.com"):
		return openAI
	case below("api.x.ai"):
		return xAI
	case agent.AzureHost(name):
		return azure
	}
	return otherHost
}
