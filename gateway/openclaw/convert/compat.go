package convert

import (
	"maps"
	"slices"

	"parley/agent"
	"parley/gateway/openclaw/jsontree"
	"parley/gateway/openclaw/report"
)

// headers carries the headers of a provider or a model over.
func headers(r *report.Report, what string, set, out map[string]any) {
	all := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(set)) {
		if value, isText := set[name].(string); isText {
			all[name] = value
		} else {
			r.Leave(what+".headers."+name, "the value is not a text")
		}
	}
	if len(all) > 0 {
		out["headers"] = all
	}
}

// compat carries over what OpenClaw was told about a server, as far as parley needs to be told: most of it parley finds out from the
// server's answers.
func compat(r *report.Report, what string, set, out map[string]any) {
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
			r.Leave(what+".compat."+k, "parley detects this from the server's answers")
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
			if jsontree.Text(v) == word && !slices.Contains(efforts, any(word)) {
				efforts = append(efforts, word)
			}
		}
	}
	if len(efforts) == 0 {
		return
	}
	r := jsontree.Object(out["reasoning"])
	if r == nil {
		r = map[string]any{}
	}
	r["levels"], out["reasoning"] = efforts, r
}
