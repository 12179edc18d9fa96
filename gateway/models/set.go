package models

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"parley/agent"
	"parley/agent/lessons"
	"parley/sessions"
)

// Provider is one row of the program's table of model protocols.
type Provider struct {
	API  string // models.providers.*.api
	Open func(name string, p agent.Provider, env ProviderEnv) (agent.Model, error)
	// List asks a provider for its models; nil = it cannot tell.
	List func(ctx context.Context, p agent.Provider) ([]string, error)
}

// ProviderEnv holds the services of the host that a provider uses.
type ProviderEnv struct {
	Log         *slog.Logger
	Lessons     *lessons.Book // what endpoints refuse
	Fingerprint func() string // of the provider's configuration and its server's list of models
}

// Set finds the models of the configuration in force by provider/model, and knows which one answers where no agent names one. Providers
// are made when they are first used.
type Set struct {
	table    []Provider
	getenv   func(string) string
	log      *slog.Logger
	facts    *FactCache
	learn    *lessons.Book
	store    sessions.Lessons // nil = lessons are not kept; set once, by Keep
	chosen   atomic.Pointer[Choice]
	revision atomic.Uint64

	mu     sync.Mutex
	conf   map[string]agent.Provider
	opened map[string]*agent.Breaker
}

// NewSet makes a set without providers.
func NewSet(table []Provider, getenv func(string) string, log *slog.Logger) *Set {
	m := &Set{table: table, getenv: getenv, log: log, facts: NewFactCache(Asker{}, log), opened: make(map[string]*agent.Breaker)}
	m.learn = lessons.NewBook(lessons.Config{Save: m.save, Drop: m.drop, Same: SameFingerprint, Logger: log})
	return m
}

// Choose looks for the model that answers where no agent names one, and puts a configuration in force with what was found beside it.
// configured is the model that the configuration names; "" = none.
func (m *Set) Choose(ctx context.Context, configured string, conf map[string]agent.Provider) {
	c := Choose(ctx, configured, conf, m.table, m.getenv)
	m.Configure(c.Providers)
	m.chosen.Store(&c)
	m.glance(ctx, c.Model)
}

// Chosen returns what the last Choose found.
func (m *Set) Chosen() Choice {
	if c := m.chosen.Load(); c != nil {
		return *c
	}
	return Choice{}
}

// Run asks servers in the background, until ctx ends. The server of the chosen model is asked at once, before the first turn needs it.
func (m *Set) Run(ctx context.Context) {
	m.warm(m.Chosen().Model)
	m.facts.Run(ctx)
}

// Configure replaces the providers.
func (m *Set) Configure(conf map[string]agent.Provider) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.conf = conf
	m.revision.Add(1)
	m.facts.Configure(conf)
	clear(m.opened)
}

// Find gives a model by provider/model: router.Deps.Model.
func (m *Set) Find(name string) (agent.Candidate, error) {
	provider, model, ok := strings.Cut(name, "/")
	m.mu.Lock()
	defer m.mu.Unlock()
	p, known := m.conf[provider]
	if !ok || model == "" || !known {
		return agent.Candidate{}, fmt.Errorf("unknown model %q: write provider/model; the providers are %s", name, strings.Join(m.names(), ", "))
	}
	x, err := m.open(provider, p)
	if err != nil {
		return agent.Candidate{}, err
	}
	facts, _ := m.facts.Facts(provider, p, model)
	config := m.facts.Fingerprint(provider)
	facts.learnWindow(m.learn.Limit(lessons.Window, provider, model, config))
	facts.MaxMessages = m.learn.Limit(lessons.MaxMessages, provider, model, config)
	facts.MaxTools = m.learn.Limit(lessons.MaxTools, provider, model, config)
	facts.OffRefused = m.learn.RefusesOff(provider, model, config)
	return agent.Candidate{Model: x, Name: model, Label: name, Facts: facts.ModelFacts}, nil
}

// priceTimeout is how long a turn waits for the price of a model, once.
const priceTimeout = 5 * time.Second

// FindPriced is Find where a budget is in dollars: a model whose price is not known yet waits until its server was asked once.
func (m *Set) FindPriced(name string) (agent.Candidate, error) {
	c, err := m.Find(name)
	if err != nil || c.Facts.Priced() {
		return c, err
	}
	provider, model, _ := strings.Cut(name, "/")
	m.facts.wait(provider, m.Providers()[provider], model, priceTimeout)
	return m.Find(name)
}

// glanceTimeout is how long a start may wait for what a server nearby says of its model.
const glanceTimeout = 300 * time.Millisecond

// glance asks the server of a model at once where it is nearby, for the first screen and the first turn. What does not come in time is
// asked for in the background.
func (m *Set) glance(ctx context.Context, name string) {
	provider, model, _ := strings.Cut(name, "/")
	p, known := m.Providers()[provider]
	if !known || !Near(p) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, glanceTimeout)
	defer cancel()
	_, _ = m.facts.AskNow(ctx, provider, p, model) // the host starts without
}

// unknown is the error for a model that cannot be named.
func (m *Set) unknown(name string) error {
	_, err := m.Find(name)
	return err
}

// warm has the server of a model asked what the model can, before the first turn needs it.
func (m *Set) warm(name string) {
	if provider, model, ok := strings.Cut(name, "/"); ok {
		if p, known := m.Providers()[provider]; known {
			m.facts.Facts(provider, p, model)
		}
	}
}

// open makes a provider, or gives the one that was made before. m.mu is held.
func (m *Set) open(name string, p agent.Provider) (*agent.Breaker, error) {
	if x := m.opened[name]; x != nil {
		return x, nil
	}
	i := slices.IndexFunc(m.table, func(t Provider) bool { return t.API == p.API })
	if i < 0 {
		return nil, fmt.Errorf("model provider %s: unknown api %q", name, p.API)
	}
	inner, err := m.table[i].Open(name, p, ProviderEnv{Log: m.log, Lessons: m.learn, Fingerprint: func() string { return m.facts.Fingerprint(name) }})
	if err != nil {
		return nil, fmt.Errorf("model provider %s: %w", name, err)
	}
	x := agent.NewBreaker(name, inner, m.log)
	m.opened[name] = x
	return x, nil
}

func (m *Set) names() []string {
	var out []string
	for n := range m.conf {
		out = append(out, n)
	}
	slices.Sort(out)
	return out
}

// Listed gives the models that can be named (router.Deps.Models): what the configuration names, and what was found at start.
func (m *Set) Listed(c agent.Config, chosen string) []string {
	names := append([]string{chosen, c.Defaults.Model, c.Defaults.Subagents.Model}, c.Defaults.Fallbacks...)
	for _, e := range c.List {
		names = append(append(names, e.Model), e.Fallbacks...)
	}
	conf := m.Providers()
	for _, p := range slices.Sorted(maps.Keys(conf)) {
		for _, model := range slices.Sorted(maps.Keys(conf[p].Models)) {
			names = append(names, p+"/"+model)
		}
	}
	var out []string
	for _, n := range names {
		if n != "" && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

// Troubles says which providers and models are left alone, one line each.
func (m *Set) Troubles() (out []string) {
	for name, b := range m.breakers() {
		models, all := b.Down()
		if all {
			out = append(out, fmt.Sprintf("Model provider %s failed repeatedly: the host pauses its calls for %s at a time", name, agent.BreakerPause))
			continue
		}
		for _, model := range models {
			out = append(out, fmt.Sprintf("Model provider %s failed repeatedly with %s: the host pauses calls of this model for %s at a time", name, model, agent.BreakerPause))
		}
	}
	slices.Sort(out)
	return out
}

// breakers gives the providers that are in use, by name.
func (m *Set) breakers() map[string]*agent.Breaker {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.opened)
}

// Providers gives the providers in force.
func (m *Set) Providers() map[string]agent.Provider {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.conf)
}

// Revision tells whether Configure has replaced the providers since it was read before. It never blocks.
func (m *Set) Revision() uint64 { return m.revision.Load() }

// Trouble says why a model cannot be used at the moment; "" = it can.
func (m *Set) Trouble(name string) string {
	if err := m.unknown(name); err != nil {
		return err.Error()
	}
	provider, model, _ := strings.Cut(name, "/")
	b := m.breakers()[provider]
	if b == nil {
		return ""
	}
	if models, all := b.Down(); all || slices.Contains(models, model) {
		return fmt.Sprintf("it failed repeatedly: the host pauses its calls for %s at a time", agent.BreakerPause)
	}
	return ""
}

// Candidate is find with what the model's server says now.
func (m *Set) Candidate(ctx context.Context, name string) (agent.Candidate, error) {
	m.Ask(ctx, name)
	return m.Find(name)
}

// Ask asks the server of a model, and waits for the answer.
func (m *Set) Ask(ctx context.Context, name string) {
	if provider, model, ok := strings.Cut(name, "/"); ok {
		if p, known := m.Providers()[provider]; known {
			if _, err := m.facts.AskNow(ctx, provider, p, model); err != nil {
				m.log.Debug("cannot read model capabilities from the server", "provider", provider, "err", err)
			}
		}
	}
}

// Facts gives what is known of a model, its provider, and when its server was asked. ok is false for one that cannot be named.
func (m *Set) Facts(name string, known []sessions.Lesson) (p agent.Provider, f Facts, at time.Time, ok bool) {
	provider, model, ok := strings.Cut(name, "/")
	p, configured := m.Providers()[provider]
	if !ok || model == "" || !configured {
		return p, f, at, false
	}
	f, at = m.facts.Facts(provider, p, model)
	config := m.facts.Fingerprint(provider)
	f.Learn(provider, model, slices.DeleteFunc(slices.Clone(known), func(l sessions.Lesson) bool { // those are tried again
		return !SameFingerprint(l.Config, config) || time.Since(l.At) > lessons.MaxAge
	}))
	return p, f, at, true
}

// PlaceOf gives the address of a model's server; "" = the provider's own.
func (m *Set) PlaceOf(name string) string {
	provider, _, _ := strings.Cut(name, "/")
	return Place(m.Providers()[provider])
}
