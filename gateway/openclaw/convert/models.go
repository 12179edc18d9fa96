package convert

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"parley/gateway/configfile"
	"parley/gateway/openclaw/jsontree"
	"parley/gateway/openclaw/report"
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
	set    map[string]map[string]any // models.providers
	alias  map[string]string         // of agents.defaults.models
	listed map[string][]string       // the providers that list a model
	used   map[string]bool           // providers of the models that were carried over
	lost   bool                      // agents.defaults.model names models, and none can be used
}

func newModelConverter(o *output, top map[string]any) *modelConverter {
	c := &modelConverter{output: o, set: map[string]map[string]any{}, alias: map[string]string{}, listed: map[string][]string{}, used: map[string]bool{}}
	listModel := func(provider, model string) {
		if at := strings.ToLower(model); model != "" && !slices.Contains(c.listed[at], provider) {
			c.listed[at] = append(c.listed[at], provider)
		}
	}
	for name, v := range jsontree.Object(jsontree.Object(top["models"])["providers"]) {
		name = strings.ToLower(name)
		c.set[name] = jsontree.Object(v)
		for _, m := range models(c.set[name]) {
			listModel(name, jsontree.Text(m["id"]))
		}
	}
	for name, v := range jsontree.Object(jsontree.Object(jsontree.Object(top["agents"])["defaults"])["models"]) {
		if a := jsontree.Text(jsontree.Object(v)["alias"]); a != "" {
			c.alias[strings.ToLower(a)] = name
		}
		if provider, model, ok := strings.Cut(name, "/"); ok {
			listModel(strings.ToLower(provider), model)
		}
	}
	return c
}

// models are those that a provider lists.
func models(set map[string]any) (out []map[string]any) {
	for _, v := range jsontree.List(set["models"]) {
		out = append(out, jsontree.Object(v))
	}
	return out
}

// Models returns a function that gives a model the name that it has in parley, or why it has none.
func Models(top map[string]any, getenv func(string) string) func(ref string) (name, why string) {
	return newModelConverter(&output{Report: &report.Report{}, getenv: getenv}, top).name
}

// model carries the model of one place over, and those that follow when it fails, into a part of the new configuration.
func (c *modelConverter) model(what string, v any, out map[string]any, withFallbacks bool) {
	names := []string{jsontree.Text(v)}
	if m, ok := v.(map[string]any); ok {
		names[0] = jsontree.Text(m["primary"])
		for _, f := range jsontree.List(m["fallbacks"]) {
			names = append(names, jsontree.Text(f))
		}
		for _, k := range slices.Sorted(maps.Keys(m)) {
			if k != "primary" && k != "fallbacks" {
				c.Leave(what+"."+k, "parley has no equivalent")
			}
		}
	}
	var good []string
	var lost []report.Item
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
			lost = append(lost, report.Item{What: at + " " + n, Why: why})
		case slices.Contains(good, name):
		default:
			if !strings.Contains(c.full(n), "/") {
				c.Differ(at+" "+n, "it names no provider, and becomes "+name)
			}
			good = append(good, name)
			c.Carry(at+" → "+name, "")
		}
	}
	for _, l := range lost {
		switch {
		case len(good) > 0:
			c.Leave(l.What, l.Why)
		case what == "agents.defaults.model":
			c.lost = true
			c.Need(l.What, l.Why)
		default:
			c.Need(l.What, l.Why+". Until you name another model there, parley asks the one of agents.defaults.model")
		}
	}
	if len(good) > 0 {
		out["model"] = good[0]
	}
	if len(good) > 1 {
		out["fallbacks"] = anys(good[1:])
	}
}

// elsewhere is why a model is left out that has an address of its own: it would be asked at its provider's.
const elsewhere = "it has a baseUrl of its own: describe a provider with that address under models.providers"

// isElsewhere reports whether a model is at another address than its provider.
func isElsewhere(model map[string]any, provider string, set map[string]any) bool {
	own := model["baseUrl"]
	return own != nil && own != "" && (jsontree.Text(own) == "" || jsontree.Text(own) != jsontree.Text(set["baseUrl"]) && jsontree.Text(own) != baseURL(provider, set))
}

// full puts the name of a model in the place of its alias.
func (c *modelConverter) full(ref string) string {
	if full, ok := c.alias[strings.ToLower(ref)]; ok {
		return full
	}
	return ref
}

// makers are OpenClaw's default providers, anthropic until the spring of 2026 and openai since, by how the names of their models begin.
var makers = map[string]string{"claude-": "anthropic", "gpt-": "openai"}

// withProvider gives the full name of a model. Without a provider OpenClaw takes the only one that lists the model, and then its default one. ok is
// false where that is not certain.
//
// source: openclaw/openclaw docs/help/faq-models.md, "What is the default model?"
func (c *modelConverter) withProvider(ref string) (full string, ok bool) {
	if ref = c.full(ref); strings.Contains(ref, "/") {
		return ref, true
	}
	if by := c.listed[strings.ToLower(ref)]; len(by) > 0 {
		return by[0] + "/" + ref, len(by) == 1
	}
	for beginning, provider := range makers {
		if strings.HasPrefix(strings.ToLower(ref), beginning) {
			return provider + "/" + ref, true
		}
	}
	return ref, false
}

// name gives the name that a model has in parley, or why it has none.
func (c *modelConverter) name(ref string) (name, why string) {
	full, ok := c.withProvider(ref)
	provider, model, _ := strings.Cut(full, "/")
	if !ok || provider == "" || model == "" {
		return "", "it names no provider: name it as provider/model"
	}
	if provider = strings.ToLower(provider); provider == "z.ai" || provider == "z-ai" {
		provider = "zai"
	}
	if _, why := c.protocol(provider); why != "" {
		return "", why
	}
	for _, m := range models(c.set[provider]) {
		if strings.EqualFold(jsontree.Text(m["id"]), model) && isElsewhere(m, provider, c.set[provider]) {
			return "", elsewhere
		}
	}
	c.used[provider] = true
	return provider + "/" + model, ""
}

// protocol says how a provider is asked, or why it cannot be.
func (c *modelConverter) protocol(provider string) (api, why string) {
	built, isBuilt := known[provider]
	set, isSet := c.set[provider]
	api, spoken := protocols[jsontree.Text(set["api"])]
	switch {
	case !c.isAddress(set["baseUrl"]): // without it, its key would go to the built-in address
		return "", "models.providers." + provider + ".baseUrl is no http or https URL: describe the provider again"
	case isBuilt && !spoken && builtAddress(built.baseURL, jsontree.Text(set["baseUrl"])): // parley has another way to the same provider
		return built.api, ""
	case isSet && !spoken:
		return "", fmt.Sprintf("its provider uses the API %q, which parley does not support: describe the provider with another API under models.providers", jsontree.Text(set["api"]))
	case isBuilt && jsontree.Text(set["api"]) == "":
		return built.api, ""
	case !isBuilt && jsontree.Text(set["baseUrl"]) == "": // a key must not go to a stranger that answers without an address
		return "", "parley does not know the provider " + provider + ": describe it under models.providers, with its address and a key (the login of a subscription does not work)"
	}
	return api, ""
}

// isAddress reports whether a base URL is one that parley takes, or none. Variables that nothing sets count as their values.
func (c *modelConverter) isAddress(v any) bool {
	s, ok := v.(string)
	if s = strings.TrimSpace(s); s == "" {
		return ok || v == nil
	}
	u, err := url.Parse(reference.ReplaceAllStringFunc(s, func(ref string) string {
		if strings.HasPrefix(ref, "$$") {
			return ref
		}
		return cmp.Or(c.getenv(ref[2:len(ref)-1]), standFor(s, ref))
	}))
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

// standFor is the value of a variable in a URL while nothing sets it: at the beginning an address, elsewhere a number.
func standFor(url, reference string) string {
	if strings.HasPrefix(url, reference) {
		return "http://unset.invalid"
	}
	return "1"
}

// providers writes those that models need, and those that were described with a key. Keys are taken from the environment.
func (c *modelConverter) providers(v any) {
	for _, k := range slices.Sorted(maps.Keys(jsontree.Object(v))) {
		if k != "providers" {
			c.Leave("models."+k, "parley has no equivalent")
		}
	}
	all := maps.Clone(c.used)
	for name := range c.set {
		all[name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		what := "models.providers." + name
		set := c.set[name]
		api, why := c.protocol(name)
		switch {
		case !c.isAddress(set["baseUrl"]):
			c.Need(what, why)
			continue
		case !c.used[name] && set == nil:
			c.Leave(what, "it describes no provider")
			continue
		case !c.used[name] && (set["apiKey"] == nil || set["apiKey"] == "" && jsontree.Text(set["baseUrl"]) == ""):
			c.Leave(what, "no agent uses a model of this provider, and it has no key")
			continue
		case why != "":
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
	base := jsontree.Text(set["baseUrl"])
	if _, spoken := protocols[jsontree.Text(set["api"])]; base == "" || !spoken {
		return known[name].baseURL
	}
	if u, err := url.Parse(base); err == nil && builtAddress(known["google"].baseURL, base) && !strings.Contains(u.Path, "/openai") {
		return known["google"].baseURL // Gemini's own protocol is at /v1 and /v1beta, OpenAI's only there
	}
	if name == "ollama" || jsontree.Text(set["api"]) == "ollama" { // its own protocol is at the root, OpenAI's below /v1
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
			headers(c.Report, what, jsontree.Object(set[k]), out)
		case "compat":
			compat(c.Report, what, jsontree.Object(set[k]), out)
		default:
			c.Leave(what+"."+k, "parley has no equivalent")
		}
	}
	all := map[string]any{}
	for _, v := range jsontree.List(set["models"]) {
		m := jsontree.Object(v)
		if isElsewhere(m, name, set) {
			c.Leave(what+".models."+jsontree.Text(m["id"]), elsewhere)
			continue
		}
		f := map[string]any{}
		if w, ok := m["contextWindow"].(json.Number); ok {
			f["contextWindow"] = w
		}
		if w, ok := m["contextTokens"].(json.Number); ok {
			f["contextWindow"] = w // a smaller window that was wanted
		}
		for _, k := range []string{"input", "output", "cacheRead", "cacheWrite"} {
			if n, ok := jsontree.Object(m["cost"])[k].(json.Number); ok && strings.Trim(n.String(), "0.") != "" {
				f[k] = n
			}
		}
		if in, ok := m["input"].([]any); ok && !slices.Contains(in, any("image")) {
			f["noImages"] = true
		}
		id := jsontree.Text(m["id"])
		headers(c.Report, what+".models."+id, jsontree.Object(m["headers"]), f)
		compat(c.Report, what+".models."+id, jsontree.Object(m["compat"]), f)
		levels(jsontree.Object(m["thinkingLevelMap"]), f)
		if id != "" && len(f) > 0 {
			all[id] = f
		}
	}
	if len(all) > 0 {
		out["models"] = all
	}
}
