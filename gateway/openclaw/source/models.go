package source

import (
	"maps"
	"slices"
	"strings"

	"parley/gateway/openclaw/jsontree"
)

// agentModels takes providers from the file models.json of the default agent. OpenClaw merges it with the configuration, which wins; people wrote
// providers into it by hand. Only providers whose models an agent uses are taken: OpenClaw writes all that it finds into that file.
//
// source: the configuration page of January 2026 (dbb51006, docs/configuration.md, "models")
func agentModels(f Folder, tree map[string]any) {
	if jsontree.Text(jsontree.Object(tree["models"])["mode"]) == "replace" {
		return
	}
	used := map[string]bool{}
	var look func(v any)
	look = func(v any) {
		switch v := v.(type) {
		case string:
			provider, _, _ := strings.Cut(v, "/")
			used[strings.ToLower(provider)] = true
		case []any:
			for _, x := range v {
				look(x)
			}
		case map[string]any:
			for k, x := range v {
				look(k)
				look(x)
			}
		}
	}
	look(tree["agents"])
	for _, name := range []string{"agents/" + DefaultAgent(tree) + "/agent/models.json", "agent/models.json"} {
		b, err := f.open(name)
		if err != nil {
			continue
		}
		v, err := ParseJSON5(b)
		if err != nil {
			f.Report.Leave(name, "the providers in it cannot be read: "+err.Error())
			continue
		}
		for _, provider := range slices.Sorted(maps.Keys(jsontree.Object(jsontree.Object(v)["providers"]))) {
			all := section(section(tree, "models"), "providers")
			if set := jsontree.Object(jsontree.Object(jsontree.Object(v)["providers"])[provider]); set != nil && all[provider] == nil && used[strings.ToLower(provider)] {
				all[provider] = set
				f.Report.Carry(name+": "+provider, "")
			}
		}
	}
}
