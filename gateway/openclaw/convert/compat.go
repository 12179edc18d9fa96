package convert

import (
	"maps"
	"regexp"
	"slices"

	"parley/agent"
	"parley/channels"
)

// secretHeader matches the names of headers whose value is a credential.
var secretHeader = regexp.MustCompile(`(?i)key|token|secret|auth|cookie|cred`)

// headers carries the headers of a provider or a model over. Values that let somebody in go where other secrets go.
func (c *conversion) headers(what, provider string, set, out map[string]any) {
	all := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(set)) {
		value, isText := set[name].(string)
		switch {
		case !isText:
			c.Leave(what+".headers."+name, "its value is no text")
		case variable.MatchString(value):
			all[name] = value
		case variableName.MatchString(value):
			all[name] = "${" + value + "}"
		case secretHeader.MatchString(name):
			env := variableFor(provider, name)
			c.secrets[env] = channels.NewSecret(value)
			all[name] = "${" + env + "}"
		default:
			all[name] = value
		}
	}
	if len(all) > 0 {
		out["headers"] = all
	}
}

// compat carries over what OpenClaw was told about a server, as far as parley needs to be told: most of it parley finds out from the
// server's answers.
func (c *conversion) compat(what string, set, out map[string]any) {
	reasoning := map[string]any{}
	for _, k := range slices.Sorted(maps.Keys(set)) {
		on, isBool := set[k].(bool)
		switch {
		case k == "supportsTools" && isBool && !on:
			out["tools"] = "off"
		case k == "supportsReasoningEffort" && isBool && !on:
			reasoning["levels"] = []any{}
		case (k == "requiresReasoningContentOnAssistantMessages" || k == "requiresThinkingAsText") && on:
			reasoning["sendBack"] = "on"
		default:
			c.Leave(what+".compat."+k, "parley finds out from the server's answers what it takes")
		}
	}
	if len(reasoning) > 0 {
		out["reasoning"] = reasoning
	}
}

// levels carries over the efforts that a model takes.
func levels(set, out map[string]any) {
	var efforts []any
	for _, word := range agent.Efforts {
		for _, v := range set {
			if text(v) == word && !slices.Contains(efforts, any(word)) {
				efforts = append(efforts, word)
			}
		}
	}
	if len(efforts) == 0 {
		return
	}
	r := object(out["reasoning"])
	if r == nil {
		r = map[string]any{}
	}
	r["levels"], out["reasoning"] = efforts, r
}
