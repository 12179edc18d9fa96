package config

import (
	"slices"
	"strings"

	"parley/agent"
	"parley/gateway/models"
)

// unused warns of providers that no agent uses: without a model that is named, the offline one answers.
func (k *checker) unused() {
	all, d := k.config.Models.Providers, k.config.Agents.Defaults
	if failed(k.decoder.problems) || d.Model != "" || models.OnlyModel(all) != "" || len(implied(k.decoder.getenv)) > 1 {
		return
	}
	for _, name := range sortedKeys(all) {
		own := func(model string) bool { return strings.HasPrefix(model, name+"/") }
		said := func(p Problem) bool { return p.Key == "models.providers."+name }
		if all[name].API == "offline" || !presentable(name) || slices.ContainsFunc(k.decoder.problems, said) || slices.ContainsFunc(d.Fallbacks, own) || slices.ContainsFunc(k.config.Agents.List, func(e agent.Entry) bool { return own(e.Model) || slices.ContainsFunc(e.Fallbacks, own) }) {
			continue
		}
		model := "<model>"
		if names := sortedKeys(all[name].Models); len(names) > 0 {
			model = names[0]
		}
		k.report(Warning, "models.providers."+name, "is configured, but no agent uses it", "set agents.defaults.model: "+name+"/"+model)
	}
}
