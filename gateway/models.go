package gateway

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"parley/agent"
	"parley/agent/lessons"
	"parley/channels"
	"parley/gateway/config"
	"parley/gateway/models"
	"parley/sessions"
)

// Provider is one row of the program's table of model protocols.
type Provider struct {
	API  string // models.providers.*.api
	Open func(name string, p agent.Provider, env ProviderEnv) (agent.Model, error)
	// List asks a provider for its models; nil = it cannot tell.
	List func(ctx context.Context, p agent.Provider) ([]string, error)
}

// ProviderEnv is what a provider gets from the host.
type ProviderEnv struct {
	Log         *slog.Logger
	Lessons     *lessons.Book // what endpoints refuse
	Fingerprint func() string // of the provider's configuration and its server's list of models
}

// modelSet finds models by provider/model. Providers are made when they are first used.
type modelSet struct {
	table []Provider
	log   *slog.Logger
	book  *models.Book
	learn *lessons.Book

	unlearn func(context.Context, ...sessions.Lesson) // ends lessons where they are kept; nil = they are not kept. Set once

	mu     sync.Mutex
	conf   map[string]agent.Provider
	opened map[string]*agent.Breaker
}

// newModels makes a set without providers. save keeps lessons; nil = they are not kept.
func newModels(table []Provider, log *slog.Logger, save func(context.Context, ...sessions.Lesson)) *modelSet {
	m := &modelSet{table: table, log: log, book: models.NewBook(models.Asker{}, log), opened: make(map[string]*agent.Breaker)}
	m.learn = lessons.NewBook(lessons.Config{Save: save, Drop: m.drop, Same: models.SameFingerprint, Logger: log})
	return m
}

// drop is lessons.Config.Drop.
func (m *modelSet) drop(ctx context.Context, wrong ...sessions.Lesson) {
	if m.unlearn != nil {
		m.unlearn(ctx, wrong...)
	}
}

// configure replaces the providers.
func (m *modelSet) configure(conf map[string]agent.Provider) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.conf = conf
	m.book.Configure(conf)
	clear(m.opened)
}

// find is router.Deps.Model.
func (m *modelSet) find(name string) (agent.Candidate, error) {
	provider, model, ok := strings.Cut(name, "/")
	m.mu.Lock()
	defer m.mu.Unlock()
	p, known := m.conf[provider]
	if !ok || model == "" || !known {
		return agent.Candidate{}, fmt.Errorf("unknown model %q: want provider/model, the providers are %s", name, strings.Join(m.names(), ", "))
	}
	x, err := m.open(provider, p)
	if err != nil {
		return agent.Candidate{}, err
	}
	facts, _ := m.book.Facts(provider, p, model)
	return agent.Candidate{Model: x, Name: model, Label: name, Facts: facts.ModelFacts}, nil
}

// glanceTimeout is how long a start may wait for what a server nearby says of its model.
const glanceTimeout = 300 * time.Millisecond

// glance asks the server of a model at once where it is nearby, for the first screen and the first turn. What does not come in time is
// asked for in the background.
func (m *modelSet) glance(ctx context.Context, name string) {
	provider, model, _ := strings.Cut(name, "/")
	p, known := m.providers()[provider]
	if !known || !models.Near(p) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, glanceTimeout)
	defer cancel()
	_, _ = m.book.AskNow(ctx, provider, p, model) // the host starts without
}

// unknown is the error for a model that cannot be named.
func (m *modelSet) unknown(name string) error {
	_, err := m.find(name)
	return err
}

// warm has the server of a model asked what the model can, before the first turn needs it.
func (m *modelSet) warm(name string) {
	if provider, model, ok := strings.Cut(name, "/"); ok {
		if p, known := m.providers()[provider]; known {
			m.book.Facts(provider, p, model)
		}
	}
}

// open makes a provider, or gives the one that was made before. m.mu is held.
func (m *modelSet) open(name string, p agent.Provider) (*agent.Breaker, error) {
	if x := m.opened[name]; x != nil {
		return x, nil
	}
	i := slices.IndexFunc(m.table, func(t Provider) bool { return t.API == p.API })
	if i < 0 {
		return nil, fmt.Errorf("model provider %s: unknown api %q", name, p.API)
	}
	inner, err := m.table[i].Open(name, p, ProviderEnv{Log: m.log, Lessons: m.learn, Fingerprint: func() string { return m.book.Fingerprint(name) }})
	if err != nil {
		return nil, fmt.Errorf("model provider %s: %w", name, err)
	}
	x := agent.NewBreaker(name, inner, m.log)
	m.opened[name] = x
	return x, nil
}

func (m *modelSet) names() []string {
	var out []string
	for n := range m.conf {
		out = append(out, n)
	}
	slices.Sort(out)
	return out
}

// listed is router.Deps.Models: what the configuration names, and what was found at start.
func (m *modelSet) listed(c agent.Config, chosen string) []string {
	names := append([]string{chosen, c.Defaults.Model, c.Defaults.Subagents.Model}, c.Defaults.Fallbacks...)
	for _, e := range c.List {
		names = append(append(names, e.Model), e.Fallbacks...)
	}
	conf := m.providers()
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

// troubles is router.Deps.Troubles.
func (m *modelSet) troubles() (out []string) {
	for name, b := range m.breakers() {
		models, all := b.Down()
		if all {
			out = append(out, fmt.Sprintf("Model provider %s failed again and again: it is left alone for %s at a time", name, agent.BreakerPause))
			continue
		}
		for _, model := range models {
			out = append(out, fmt.Sprintf("Model provider %s failed again and again with %s: this model is left alone for %s at a time", name, model, agent.BreakerPause))
		}
	}
	slices.Sort(out)
	return out
}

// breakers gives the providers that are in use, by name.
func (m *modelSet) breakers() map[string]*agent.Breaker {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.opened)
}

var breakerState = prometheus.NewDesc("parley_model_breaker", "1 for the state that a model provider is in, or that model of it which is left alone.", []string{"provider", "state"}, nil)

// Describe implements prometheus.Collector.
func (m *modelSet) Describe(ch chan<- *prometheus.Desc) { ch <- breakerState }

// Collect implements prometheus.Collector.
func (m *modelSet) Collect(ch chan<- prometheus.Metric) {
	for name, b := range m.breakers() {
		ch <- prometheus.MustNewConstMetric(breakerState, prometheus.GaugeValue, 1, name, b.State())
	}
}

// offline is the provider that is always there.
const offline = "offline"

// choice is the model that answers where no agent names one, and why.
type choice struct {
	name string
	why  string
}

// offline reports whether it is the built-in one.
func (c choice) offline() bool { return strings.HasPrefix(c.name, offline+"/") }

// The models that a key in the environment stands for, where the configuration names none: the catalogue's usual ones, unless they cost
// more than the ones before.
const (
	openAIModel    = "gpt-5.1"
	anthropicModel = "claude-sonnet-4-6"
)

// choose looks for a model: what the configuration says, a key in the environment, the only provider that the configuration names
// models of, an Ollama on this machine, the built-in offline model. It adds the providers that it found to the configured ones.
func choose(ctx context.Context, configured string, conf map[string]agent.Provider, table []Provider, getenv func(string) string) (map[string]agent.Provider, choice) {
	all := map[string]agent.Provider{offline: {API: offline}}
	for n, p := range conf {
		all[n] = p
	}
	found := func(name string, p agent.Provider) {
		if _, taken := all[name]; !taken {
			all[name] = p
		}
	}
	if k := getenv("OPENAI_API_KEY"); k != "" {
		found("openai", agent.Provider{API: "openai", BaseURL: getenv("OPENAI_BASE_URL"), APIKey: channels.NewSecret(k)})
	}
	if k := getenv("ANTHROPIC_API_KEY"); k != "" {
		found("anthropic", agent.Provider{API: "anthropic", BaseURL: getenv("ANTHROPIC_BASE_URL"), APIKey: channels.NewSecret(k)})
	}
	switch {
	case configured != "":
		return all, choice{configured, "agents.defaults.model"}
	case getenv("ANTHROPIC_API_KEY") != "":
		return all, choice{"anthropic/" + firstOf(getenv("ANTHROPIC_MODEL"), anthropicModel), isSet(getenv, "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL")}
	case getenv("OPENAI_API_KEY") != "":
		return all, choice{"openai/" + firstOf(getenv("OPENAI_MODEL"), openAIModel), isSet(getenv, "OPENAI_API_KEY", "OPENAI_BASE_URL")}
	}
	if only := config.OnlyModel(conf); only != "" {
		return all, choice{only, "models.providers names no other"}
	}
	local := "no Ollama on this machine"
	if slices.ContainsFunc(table, func(t Provider) bool { return t.API == "openai" && t.List != nil }) {
		l, why, ok := models.Asker{}.FindLocal(ctx, getenv)
		if ok {
			if _, taken := all[l.Name]; !taken {
				all[l.Name] = l.Provider
			}
			return all, choice{l.Name + "/" + l.Model.Name, article(l.Program) + " answers on this machine"}
		}
		if host := getenv("OLLAMA_HOST"); host != "" {
			local = "no Ollama at " + strings.TrimSuffix(models.Place(agent.Provider{BaseURL: models.OllamaAddress(host)}), "/v1")
		}
		local = firstOf(why, local)
	}
	why := "no OPENAI_API_KEY, no ANTHROPIC_API_KEY, " + local
	if slices.ContainsFunc(slices.Collect(maps.Values(conf)), func(p agent.Provider) bool { return p.API != offline }) {
		why = "agents.defaults.model names none of models.providers, " + why
	}
	return all, choice{offline + "/" + offline, why}
}

// isSet says which variables picked a model.
func isSet(getenv func(string) string, key, base string) string {
	if b := getenv(base); b != "" {
		return key + " is set, " + base + " is " + b
	}
	return key + " is set"
}

// article puts an article before the name of a program.
func article(program string) string {
	switch program {
	case models.Ollama, models.LMStudio:
		return "an " + program
	}
	return "a " + program
}

func firstOf(s ...string) string {
	for _, x := range s {
		if x != "" {
			return x
		}
	}
	return ""
}

// providers gives the providers in force.
func (m *modelSet) providers() map[string]agent.Provider {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.conf)
}
