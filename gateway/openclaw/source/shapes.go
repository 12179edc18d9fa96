package source

import (
	"slices"
	"strings"

	"parley/gateway/openclaw/jsontree"
	"parley/gateway/openclaw/report"
)

// shapes are the places that hold an object, and so does each place above; * stands for any name, and [] for the entries of a list.
//
// source: openclaw/openclaw docs/gateway/configuration-reference.md
var shapes = []string{
	"accessGroups", "agents.defaults.models", "agents.defaults.sandbox", "agents.defaults.subagents", "agents.entries.*", "agents.list[]", "bindings[].match", "channels.*.accounts.*", "commands", "hooks", "mcp.servers.*",
	"messages.groupChat", "messages.queue", "models.providers.*", "session.sendPolicy.rules[]", "tools.agentToAgent", "tools.sandbox.tools", "tools.sessions", "tools.subagents.tools",
}

// misshapen removes what has another shape than OpenClaw reads there, and reports it. It returns whether there was any: it may have held a restriction.
func misshapen(tree map[string]any, r *report.Report) (found bool) {
	for _, shape := range shapes {
		found = check(tree, strings.Split(shape, "."), "", r) || found
	}
	return found
}

// check looks at one place below an object. Names of comments (_comment) are passed over.
func check(in map[string]any, place []string, above string, r *report.Report) (bad bool) {
	if len(place) == 0 {
		return false
	}
	name, isList := strings.CutSuffix(place[0], "[]")
	for k, v := range in {
		what := join(above, k)
		if v == nil || name != k && (name != "*" || strings.HasPrefix(k, "_")) {
			continue
		}
		list, ok := v.([]any)
		if below := jsontree.Object(v); below != nil && !isList {
			bad = check(below, place[1:], what, r) || bad
			continue
		}
		if !isList || !ok || slices.ContainsFunc(list, func(e any) bool { return e != nil && jsontree.Object(e) == nil }) {
			delete(in, k)
			shape := map[bool]string{true: "a list of objects", false: "an object"}[isList]
			r.Need(what, "it is not "+shape+", so it is left out, and every account and the hooks are switched off (enabled: false): correct it, and import again")
			bad = true
			continue
		}
		for _, e := range list {
			bad = check(jsontree.Object(e), place[1:], what+"[]", r) || bad
		}
	}
	return bad
}
