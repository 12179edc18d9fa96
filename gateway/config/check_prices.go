package config

import (
	"fmt"
	"strings"

	"parley/agent"
)

// prices warns where a budget is in dollars and no price is known: such models are refused.
func (k *checker) prices() {
	bounds := k.dollars()
	if len(bounds) == 0 {
		return
	}
	some := false
	for _, p := range k.config.Models.Providers {
		for _, f := range p.Models {
			some = some || f.Priced()
		}
	}
	if !some {
		for _, at := range bounds {
			k.report(Warning, at, "no model has a price, so every model but the offline one will be refused", "set input and output in models.providers.*.models.*")
		}
		return
	}
	d, host := k.config.Agents.Defaults, k.config.Models.DayCost > 0
	inDollars := func(b agent.Budget) bool { return host || b.SessionCost > 0 || b.AgentCost > 0 }
	bounded, model, fallbacks := false, false, false // whether the defaults count for an agent with such a budget
	for i, e := range k.config.Agents.List {
		if e.Budget != nil && !inDollars(*e.Budget) || e.Budget == nil && !inDollars(d.Budget) {
			continue
		}
		bounded, model, fallbacks = true, model || e.Model == "", fallbacks || len(e.Fallbacks) == 0
		at := fmt.Sprintf("agents.list[%d]", i)
		k.price(at+".model", e.Model)
		k.pricesOf(at+".fallbacks", e.Fallbacks)
	}
	if model {
		k.price("agents.defaults.model", d.Model)
	}
	if fallbacks {
		k.pricesOf("agents.defaults.fallbacks", d.Fallbacks)
	}
	if bounded {
		k.price("agents.defaults.subagents.model", d.Subagents.Model)
		k.price("agents.defaults.compaction.model", d.Compaction.Model)
	}
}

// dollars lists the bounds in dollars.
func (k *checker) dollars() (paths []string) {
	add := func(path string, cost float64) {
		if cost > 0 {
			paths = append(paths, path)
		}
	}
	budget := func(at string, b agent.Budget) {
		add(at+".budget.sessionCost", b.SessionCost)
		add(at+".budget.agentCost", b.AgentCost)
	}
	add("models.dayCost", k.config.Models.DayCost)
	budget("agents.defaults", k.config.Agents.Defaults.Budget)
	for i, e := range k.config.Agents.List {
		if e.Budget != nil {
			budget(fmt.Sprintf("agents.list[%d]", i), *e.Budget)
		}
	}
	return paths
}

func (k *checker) pricesOf(path string, names []string) {
	for i, name := range names {
		k.price(fmt.Sprintf("%s[%d]", path, i), name)
	}
}

// price looks at one model that the file names.
func (k *checker) price(path, name string) {
	provider, model, ok := strings.Cut(name, "/")
	p, configured := k.config.Models.Providers[provider]
	if !configured && provider == "offline" {
		p.API = provider
	}
	if ok && !p.Facts(model).Priced() {
		k.report(Warning, path, "has no price, and a budget in dollars is set: it will be refused", "set input and output in models.providers.*.models.*")
	}
}
