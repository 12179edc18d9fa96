package anthropic

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"net/http"
	"net/url"
	"strings"

	"parley/agent"
	"parley/agent/lessons"
	"parley/agent/wire"
	"parley/channels"
	"parley/sessions"
)

// DefaultBaseURL is Anthropic's own service.
const DefaultBaseURL = "https://api.anthropic.com"

// DefaultMaxTokens is the longest answer where neither prompt nor configuration names one: the protocol wants a number. What a model
// may think comes on top.
const DefaultMaxTokens = 8192

// maxPauses bounds how often a paused answer is continued.
const maxPauses = 8

// Config is what a provider needs.
type Config struct {
	Name        string                                 // the provider's name, for errors and the log
	BaseURL     string                                 // empty = DefaultBaseURL; a /v1 or /v1/messages at its end is accepted, a query is kept
	APIKey      channels.Secret                        // zero = none is sent
	Deadlines   agent.Deadlines                        // a zero field takes its default
	HTTPClient  *http.Client                           // nil = one of its own, tuned for many turns at once
	Logger      *slog.Logger                           // nil = silent
	MaxTokens   int                                    // longest answer where the prompt names none; 0 = DefaultMaxTokens
	Settings    func(model string) agent.ModelSettings // how a model is spoken to; nil = no settings
	Lessons     *lessons.Book                          // what endpoints refuse; nil = one of its own, in memory
	Fingerprint func() string                          // of the configuration and the server's list of models: lessons of another one do not hold; nil = none
}

// Model is an agent.Model.
type Model struct {
	wire        *wire.Client
	name        string
	base        string // without /v1
	query       url.Values
	own         bool // Anthropic's own service, which takes signed thinking only
	key         channels.Secret
	log         *slog.Logger
	maxTokens   int // 0 = not configured
	settings    func(model string) agent.ModelSettings
	book        *lessons.Book
	fingerprint func() string
	tools       wire.Encoded
	markedTools wire.Encoded // with a mark of the cache

	unread  wire.Unread
	endings wire.Endings
	lone    wire.LoneTags
}

var _ agent.Model = (*Model)(nil)

// New makes a provider. It opens no connection.
func New(c Config) *Model {
	base, query := splitBase(c.BaseURL)
	w := wire.New(wire.Config{Name: c.Name, Key: c.APIKey, BaseURL: c.BaseURL, Deadlines: c.Deadlines, HTTPClient: c.HTTPClient})
	m := &Model{
		wire: w, name: c.Name, base: base, query: query, own: ownHost(base), key: c.APIKey, log: c.Logger, maxTokens: max(0, c.MaxTokens),
		settings: c.Settings, book: c.Lessons, fingerprint: lessons.Fingerprint(c.Fingerprint),
	}
	if m.log == nil {
		m.log = slog.New(slog.DiscardHandler)
	}
	if m.settings == nil {
		m.settings = func(string) agent.ModelSettings { return agent.ModelSettings{} }
	}
	if m.book == nil {
		m.book = lessons.NewBook(lessons.Config{Logger: c.Logger})
	}
	return m
}

// splitBase gives the address in front of /v1, and the query that the address has.
func splitBase(base string) (string, url.Values) {
	if base == "" {
		return DefaultBaseURL, nil
	}
	var query url.Values
	if u, err := url.Parse(base); err == nil && (u.RawQuery != "" || u.Fragment != "") {
		query = u.Query()
		u.RawQuery, u.Fragment = "", ""
		base = u.String()
	}
	base = strings.TrimRight(base, "/")
	for _, tail := range []string{"/messages", "/v1"} {
		base = strings.TrimRight(strings.TrimSuffix(base, tail), "/")
	}
	return base, query
}

// ownHost reports whether an address is Anthropic's own service.
func ownHost(base string) bool {
	u, err := url.Parse(base)
	if err != nil {
		return false
	}
	host := strings.ToLower(u.Hostname())
	return host == "anthropic.com" || strings.HasSuffix(host, ".anthropic.com")
}

// Stream implements agent.Model.
func (m *Model) Stream(ctx context.Context, p agent.Prompt) iter.Seq2[agent.Delta, error] {
	at := lessons.Endpoint{Provider: m.name, Address: lessons.Address(m.base), Model: p.Model}
	call := m.book.Call(at, m.fingerprint()).ForPrompt(p) // of all tries: what one learned, the next one need not
	made, said := 0, ""
	retry := agent.Retry{Provider: m.name, Logger: m.log, Tries: p.Tries, Requests: func() int { return made }, Try: func(ctx context.Context, yield func(agent.Delta) bool) error {
		return m.try(ctx, p, at, call, &made, &said, yield)
	}}
	return retry.Stream(ctx)
}

// errPaused says that the answer continues in another request.
var errPaused = errors.New("the answer was paused")

// try makes requests until one of them is answered: again with less when the endpoint refuses a part of it, and again with what was
// answered so far when the answer was paused. made counts them, said is the answer
// of an earlier try that did not say that it is at its end.
func (m *Model) try(ctx context.Context, p agent.Prompt, at lessons.Endpoint, call *lessons.Call, made *int, said *string, yield func(agent.Delta) bool) error {
	set := m.settings(p.Model)
	var before []*answerBlock // of the answers that were paused
	var spent sessions.Usage  // by them
	lose := func(u sessions.Usage) {
		if u != (sessions.Usage{}) && p.Spent != nil {
			p.Spent(u)
		}
	}
	for pauses := 0; ; {
		req, err := m.encode(p, at, set, call, before)
		if err != nil {
			lose(spent)
			return &agent.ModelError{Class: agent.BadRequest, Err: err}
		}
		s := &stream{m: m, model: p.Model, from: at.String(), yield: yield, before: before, spent: spent, mayPause: pauses < maxPauses, returned: req.returned, specs: req.callable(), schemas: req.schemas, good: func() { call.Worked(ctx) }}
		s.judge = func(all string, calls bool) wire.Ending {
			before := *said
			*said = all
			return m.endings.Judge(s.t, m.log, at.Label(), wire.Unmarked{Said: all, Calls: calls, Before: before})
		}
		*made++
		s.closes = len(before) == 0 && m.lone.Expected(at.Label(), s.from, p, closesAlone)
		err = m.send(ctx, req.body, set, s)
		if s.answered {
			m.lone.Learn(at.Label(), p, s.readers()...)
		}
		if s.marked {
			m.endings.Marked(at.Label())
		}
		switch {
		case errors.Is(err, errPaused):
			pauses++
			before, spent = append(before, s.parts...), spent.Add(s.usage.counted())
			continue
		case err == nil:
			if !s.answered { // the reader stopped
				lose(spent.Add(s.usage.counted()))
			}
			return nil
		case s.started:
		case len(before) > 0 && refusal(err): // it does not continue answers: this one ends where it is
			last := &stream{m: m, model: p.Model, from: at.String(), yield: yield, before: before, spent: spent, stop: stopEndTurn, returned: req.returned}
			return last.deliver()
		case len(before) == 0 && call.Refused(ctx, err, req.refusable()):
			lose(s.usage.counted())
			continue
		}
		lose(spent.Add(s.usage.counted()))
		return err
	}
}

// refusal reports whether an error is an answer to what a request says.
func refusal(err error) bool {
	e, ok := errors.AsType[*agent.ModelError](err)
	return ok && (e.Class == agent.BadRequest || e.Class == agent.TooLong || e.Class == agent.NoSuchModel)
}
