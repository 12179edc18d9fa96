package models

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"parley/agent"
	"parley/channels"
)

// offline is the provider that is always there.
const offline = "offline"

// Choice is the model that answers where no agent names one.
type Choice struct {
	Providers map[string]agent.Provider // with those that were found beside the configured ones
	Model     string                    // provider/model
	Why       string
}

// Offline reports whether it is the built-in model.
func (c Choice) Offline() bool { return IsOffline(c.Model) }

// IsOffline reports whether a model, named provider/model, is the built-in one.
func IsOffline(name string) bool { return strings.HasPrefix(name, offline+"/") }

// The models that a key in the environment stands for, where the configuration names none: the catalogue's usual ones, unless they cost
// more than the ones before.
const (
	openAIModel    = "gpt-5.1"
	anthropicModel = "claude-sonnet-4-6"
)

// Choose looks for a model, as a host does at its start: what the configuration says, a key in the environment, the only provider that the configuration names
// models of, an Ollama on this machine, the built-in offline model. It adds the providers that it found to the configured ones.
func Choose(ctx context.Context, configured string, conf map[string]agent.Provider, table []Provider, getenv func(string) string) Choice {
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
		return Choice{all, configured, "agents.defaults.model"}
	case getenv("ANTHROPIC_API_KEY") != "":
		return Choice{all, "anthropic/" + cmp.Or(getenv("ANTHROPIC_MODEL"), anthropicModel), keyText(getenv, "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL")}
	case getenv("OPENAI_API_KEY") != "":
		return Choice{all, "openai/" + cmp.Or(getenv("OPENAI_MODEL"), openAIModel), keyText(getenv, "OPENAI_API_KEY", "OPENAI_BASE_URL")}
	}
	if only := OnlyModel(conf); only != "" {
		return Choice{all, only, "the only provider in models.providers"}
	}
	local := "no Ollama at " + strings.TrimSuffix(Place(agent.Provider{BaseURL: OllamaAddress(getenv("OLLAMA_HOST"))}), "/v1")
	if slices.ContainsFunc(table, func(t Provider) bool { return t.API == "openai" && t.List != nil }) {
		l, why, ok := Asker{}.FindLocal(ctx, getenv)
		if ok {
			if _, taken := all[l.Name]; !taken {
				all[l.Name] = l.Provider
			}
			return Choice{all, l.Name + "/" + l.Model.Name, withArticle(l.Program) + " answers on this machine"}
		}
		local = cmp.Or(why, local)
	}
	why := "no OPENAI_API_KEY, no ANTHROPIC_API_KEY, " + local
	if slices.ContainsFunc(slices.Collect(maps.Values(conf)), func(p agent.Provider) bool { return p.API != offline }) {
		why = "agents.defaults.model is not set, " + why
	}
	return Choice{all, offline + "/" + offline, why}
}

// keyText says which variables picked a model.
func keyText(getenv func(string) string, key, base string) string {
	if b := getenv(base); b != "" {
		return key + " is set, " + base + " is " + b
	}
	return key + " is set"
}

// withArticle puts an article before the name of a program.
func withArticle(program string) string {
	switch program {
	case Ollama, LMStudio:
		return "an " + program
	}
	return "a " + program
}

// OnlyModel is the model that answers where none is named: the first, by name, of the only provider that models are named of. "" =
// there is no such provider, or there are several.
func OnlyModel(providers map[string]agent.Provider) (model string) {
	for _, name := range slices.Sorted(maps.Keys(providers)) {
		p := providers[name]
		switch {
		case p.API == offline || len(p.Models) == 0:
		case model != "":
			return ""
		default:
			model = name + "/" + slices.Sorted(maps.Keys(p.Models))[0]
		}
	}
	return model
}
