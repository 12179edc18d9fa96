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

	"parley/agent"
	"parley/channels"
)

// Provider is one row of the program's table of model protocols.
type Provider struct {
	API  string // models.providers.*.api
	Open func(name string, p agent.Provider, log *slog.Logger) (agent.Model, error)
	// List asks a provider for its models; nil = it cannot tell.
	List func(ctx context.Context, p agent.Provider) ([]string, error)
}

// models finds models by provider/model. Providers are made when they are first used.
type models struct {
	table []Provider
	log   *slog.Logger

	mu     sync.Mutex
	conf   map[string]agent.Provider
	opened map[string]agent.Model
}

func newModels(table []Provider, log *slog.Logger) *models {
	return &models{table: table, log: log, opened: make(map[string]agent.Model)}
}

// configure replaces the providers.
func (m *models) configure(conf map[string]agent.Provider) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.conf = conf
	clear(m.opened)
}

// find is router.Deps.Model.
func (m *models) find(name string) (agent.Model, string, error) {
	provider, model, ok := strings.Cut(name, "/")
	m.mu.Lock()
	defer m.mu.Unlock()
	p, known := m.conf[provider]
	if !ok || model == "" || !known {
		return nil, "", fmt.Errorf("unknown model %q: want provider/model, the providers are %s", name, strings.Join(m.names(), ", "))
	}
	if x := m.opened[provider]; x != nil {
		return x, model, nil
	}
	i := slices.IndexFunc(m.table, func(t Provider) bool { return t.API == p.API })
	if i < 0 {
		return nil, "", fmt.Errorf("model provider %s: unknown api %q", provider, p.API)
	}
	x, err := m.table[i].Open(provider, p, m.log)
	if err != nil {
		return nil, "", fmt.Errorf("model provider %s: %w", provider, err)
	}
	m.opened[provider] = x
	return x, model, nil
}

func (m *models) names() []string {
	var out []string
	for n := range m.conf {
		out = append(out, n)
	}
	slices.Sort(out)
	return out
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

// The models that a key in the environment stands for, where the configuration names none.
const (
	openAIModel    = "gpt-5.1"
	anthropicModel = "claude-sonnet-4-5"
	ollamaURL      = "http://127.0.0.1:11434/v1"
)

// choose looks for a model: what the configuration says, a key in the environment, an Ollama on this machine, the built-in
// offline model. It adds the providers that it found to the configured ones.
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
	ollama := agent.Provider{API: "openai", BaseURL: firstOf(ollamaBase(getenv("OLLAMA_HOST")), ollamaURL), APIKey: channels.NewSecret("ollama")}
	for _, t := range table {
		if t.API != "openai" || t.List == nil {
			continue
		}
		ask, cancel := context.WithTimeout(ctx, 150*time.Millisecond)
		names, err := t.List(ask, ollama)
		cancel()
		if err == nil && len(names) > 0 {
			found("ollama", ollama)
			return all, choice{"ollama/" + names[0], "an Ollama answers on this machine"}
		}
	}
	return all, choice{offline + "/" + offline, "no OPENAI_API_KEY, no ANTHROPIC_API_KEY, no Ollama on this machine"}
}

// isSet says which variables picked a model.
func isSet(getenv func(string) string, key, base string) string {
	if b := getenv(base); b != "" {
		return key + " is set, " + base + " is " + b
	}
	return key + " is set"
}

// ollamaBase turns OLLAMA_HOST into the address of its OpenAI-compatible API.
func ollamaBase(host string) string {
	if host == "" {
		return ""
	}
	if !strings.Contains(host, "://") {
		host = "http://" + host
	}
	return strings.TrimSuffix(host, "/") + "/v1"
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
func (m *models) providers() map[string]agent.Provider {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.conf)
}
