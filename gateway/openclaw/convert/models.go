package convert

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"parley/gateway/configfile"
)

// known are the providers that OpenClaw has built in and parley can ask: where they are, and the variable of their key.
var known = map[string]struct{ api, baseURL, key string }{
	"anthropic":  {"anthropic", "", "ANTHROPIC_API_KEY"},
	"openai":     {"openai", "", "OPENAI_API_KEY"},
	"openrouter": {"openai", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"},
	"google":     {"openai", "https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_API_KEY"},
	"groq":       {"openai", "https://api.groq.com/openai/v1", "GROQ_API_KEY"},
	"mistral":    {"openai", "https://api.mistral.ai/v1", "MISTRAL_API_KEY"},
	"xai":        {"openai", "https://api.x.ai/v1", "XAI_API_KEY"},
	"cerebras":   {"openai", "https://api.cerebras.ai/v1", "CEREBRAS_API_KEY"},
	"deepseek":   {"openai", "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"},
	"together":   {"openai", "https://api.together.xyz/v1", "TOGETHER_API_KEY"},
	"moonshot":   {"openai", "https://api.moonshot.ai/v1", "MOONSHOT_API_KEY"},
	"zai":        {"openai", "https://api.z.ai/api/paas/v4", "ZAI_API_KEY"},
	"ollama":     {"openai", "http://127.0.0.1:11434/v1", ""},
}

// protocols are the ways to ask a provider that parley has as well.
var protocols = map[string]string{"": "openai", "openai-completions": "openai-completions", "openai-responses": "openai-responses",
	"azure-openai-responses": "openai-responses", "ollama": "openai", "anthropic-messages": "anthropic"}

// modelConverter converts the section models, and the names of models at all places.
type modelConverter struct {
	*output
	set   map[string]map[string]any // models.providers
	alias map[string]string         // of agents.defaults.models
	used  map[string]bool           // providers of the models that were carried over
}

func newModelConverter(o *output, top map[string]any) *modelConverter {
	c := &modelConverter{output: o, set: map[string]map[string]any{}, alias: map[string]string{}, used: map[string]bool{}}
	for name, v := range object(object(top["models"])["providers"]) {
		c.set[strings.ToLower(name)] = object(v)
	}
	for name, v := range object(object(object(top["agents"])["defaults"])["models"]) {
		if a := text(object(v)["alias"]); a != "" {
			c.alias[strings.ToLower(a)] = name
		}
	}
	return c
}

// model carries the model of one place over, and those that follow when it fails, into a part of the new configuration.
func (c *modelConverter) model(what string, v any, out map[string]any, withFallbacks bool) {
	names := []string{text(v)}
	if m, ok := v.(map[string]any); ok {
		names[0] = text(m["primary"])
		for _, f := range list(m["fallbacks"]) {
			names = append(names, text(f))
		}
		for _, k := range slices.Sorted(maps.Keys(m)) {
			if k != "primary" && k != "fallbacks" {
				c.Leave(what+"."+k, "parley has no equivalent")
			}
		}
	}
	var good []string
	for i, n := range names {
		at := what
		if i > 0 {
			at = fmt.Sprintf("%s.fallbacks[%d]", what, i-1)
		}
		name, why := c.name(n)
		switch {
		case n == "":
		case i > 0 && !withFallbacks:
			c.Leave(at, "parley has no separate fallbacks for this model; it uses the agent's")
		case why != "":
			c.Leave(at+" "+n, why)
		case slices.Contains(good, name):
		default:
			good = append(good, name)
			c.Carry(at+" → "+name, "")
		}
	}
	if len(good) > 0 {
		out["model"] = good[0]
	}
	if len(good) > 1 {
		out["fallbacks"] = anys(good[1:])
	}
}

// name gives the name that a model has in parley, or why it has none.
func (c *modelConverter) name(ref string) (name, why string) {
	if full, ok := c.alias[strings.ToLower(ref)]; ok {
		ref = full
	}
	provider, model, ok := strings.Cut(ref, "/")
	if !ok || provider == "" || model == "" {
		return "", "it names no provider: name it as provider/model"
	}
	if provider = strings.ToLower(provider); provider == "z.ai" || provider == "z-ai" {
		provider = "zai"
	}
	if _, why := c.protocol(provider); why != "" {
		return "", why
	}
	c.used[provider] = true
	return provider + "/" + model, ""
}

// protocol says how a provider is asked, or why it cannot be.
func (c *modelConverter) protocol(provider string) (api, why string) {
	built, isBuilt := known[provider]
	set, isSet := c.set[provider]
	api, spoken := protocols[text(set["api"])]
	switch {
	case isBuilt && !spoken && builtAddress(built.baseURL, text(set["baseUrl"])): // parley has another way to the same provider
		return built.api, ""
	case isSet && !spoken:
		return "", fmt.Sprintf("its provider uses the API %q, which parley does not support: describe the provider with another API under models.providers", text(set["api"]))
	case isBuilt && text(set["api"]) == "":
		return built.api, ""
	case !isBuilt && text(set["baseUrl"]) == "": // a key must not go to a stranger that answers without an address
		return "", "parley does not know the provider " + provider + ": describe it under models.providers, with its address and a key (the login of a subscription does not work)"
	}
	return api, ""
}

// providers writes those that models need, and those that were described with a key. Keys are taken from the environment.
func (c *modelConverter) providers(v any) {
	for _, k := range slices.Sorted(maps.Keys(object(v))) {
		if k != "providers" {
			c.Leave("models."+k, "parley has no equivalent")
		}
	}
	for name := range c.set {
		if key := c.set[name]["apiKey"]; key != nil && key != "" {
			c.used[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.set)) {
		if !c.used[name] {
			c.Leave("models.providers."+name, "no agent uses a model of this provider, and it has no key")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.used)) {
		what := "models.providers." + name
		set := c.set[name]
		api, why := c.protocol(name)
		if why != "" {
			c.Leave(what, why)
			continue
		}
		base := baseURL(name, set)
		out := map[string]any{"api": api}
		if base != "" {
			out["baseUrl"] = base
		}
		if key := c.key(name, set); key != "" {
			out["apiKey"] = key
		}
		c.facts(what, name, set, out)
		c.put([]string{"models", "providers", name}, out)
		c.Carry(what, "")
	}
}

// builtAddress reports whether an address is that of a built-in provider, or none.
func builtAddress(built, base string) bool {
	a, err1 := url.Parse(built)
	b, err2 := url.Parse(base)
	return base == "" || err1 == nil && err2 == nil && a.Hostname() != "" && a.Hostname() == b.Hostname()
}

// baseURL is where a provider is; "" = its own address.
func baseURL(name string, set map[string]any) string {
	base := text(set["baseUrl"])
	if _, spoken := protocols[text(set["api"])]; base == "" || !spoken {
		return known[name].baseURL
	}
	if name == "ollama" || text(set["api"]) == "ollama" { // its own protocol is at the root, OpenAI's below /v1
		base = strings.TrimSuffix(strings.TrimSuffix(base, "/"), "/v1") + "/v1"
	}
	return base
}

// key returns the reference to a provider's key; "" = the provider needs none. A local server has an empty apiKey then.
func (c *modelConverter) key(name string, set map[string]any) string {
	env, isBuilt := known[name].key, known[name].api != ""
	if env == "" {
		env = configfile.VariableName(name, "api_key")
	}
	switch key := set["apiKey"]; {
	case key == "", key == nil && isBuilt && known[name].key == "":
		return ""
	case key != nil:
		return secretOr(env, key)
	}
	return "${" + env + "}"
}

// facts carries over what is said about a provider and its models.
func (c *modelConverter) facts(what, name string, set, out map[string]any) {
	for _, k := range slices.Sorted(maps.Keys(set)) {
		switch k {
		case "api", "apiKey", "baseUrl", "models":
		case "maxTokens", "contextWindow":
			out[k] = set[k]
		case "timeoutSeconds":
			out["totalTimeoutSeconds"] = set[k]
		case "headers":
			headers(c.Report, what, object(set[k]), out)
		case "compat":
			compat(c.Report, what, object(set[k]), out)
		default:
			c.Leave(what+"."+k, "parley has no equivalent")
		}
	}
	all := map[string]any{}
	for _, v := range list(set["models"]) {
		m := object(v)
		f := map[string]any{}
		if w, ok := m["contextWindow"].(json.Number); ok {
			f["contextWindow"] = w
		}
		if w, ok := m["contextTokens"].(json.Number); ok {
			f["contextWindow"] = w // a smaller window that was wanted
		}
		for _, k := range []string{"input", "output", "cacheRead", "cacheWrite"} {
			if n, ok := object(m["cost"])[k].(json.Number); ok && strings.Trim(n.String(), "0.") != "" {
				f[k] = n
			}
		}
		if in, ok := m["input"].([]any); ok && !slices.Contains(in, any("image")) {
			f["noImages"] = true
		}
		id := text(m["id"])
		headers(c.Report, what+".models."+id, object(m["headers"]), f)
		compat(c.Report, what+".models."+id, object(m["compat"]), f)
		levels(object(m["thinkingLevelMap"]), f)
		if id != "" && len(f) > 0 {
			all[id] = f
		}
	}
	if len(all) > 0 {
		out["models"] = all
	}
}
