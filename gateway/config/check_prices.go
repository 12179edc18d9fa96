package config

import (
	"fmt"
	"slices"
	"strings"

	"parley/agent"
	"parley/gateway/models/catalogue"
)

// priceChecker looks at the models' prices, which budgets in dollars need.
type priceChecker struct{ *checker }

// all warns where a budget is in dollars and no price is known: such models are refused.
func (k priceChecker) all() {
	bounds := k.config.dollarBudgets()
	if len(bounds) == 0 {
		return
	}
	if !k.somePrice() {
		for _, at := range bounds {
			k.report(Warning, at, "no model has a price, so parley refuses every model except the offline one", "set input and output in models.providers.*.models.*")
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

// HasDollarBudget reports whether any budget is in dollars.
func (c *Config) HasDollarBudget() bool { return len(c.dollarBudgets()) > 0 }

// dollarBudgets lists the bounds in dollars.
func (c *Config) dollarBudgets() (paths []string) {
	add := func(path string, cost float64) {
		if cost > 0 {
			paths = append(paths, path)
		}
	}
	budget := func(at string, b agent.Budget) {
		add(at+".budget.sessionCost", b.SessionCost)
		add(at+".budget.agentCost", b.AgentCost)
	}
	add("models.dayCost", c.Models.DayCost)
	budget("agents.defaults", c.Agents.Defaults.Budget)
	for i, e := range c.Agents.List {
		if e.Budget != nil {
			budget(fmt.Sprintf("agents.list[%d]", i), *e.Budget)
		}
	}
	return paths
}

func (k priceChecker) pricesOf(path string, names []string) {
	for i, name := range names {
		k.price(fmt.Sprintf("%s[%d]", path, i), name)
	}
}

// price looks at one model that the file names.
func (k priceChecker) price(path, name string) {
	provider, model, ok := strings.Cut(name, "/")
	if ok && !k.config.priced(provider, model) {
		k.report(Warning, path, "has no price, and a budget in dollars is set; parley refuses the model unless its server names a price", "set input and output in models.providers.*.models.*")
	}
}

// somePrice reports whether any model has a price that the file names, that the catalogue knows, or that a key in the environment brings.
func (k priceChecker) somePrice() bool {
	for _, name := range k.config.modelNames() {
		if provider, model, ok := strings.Cut(name, "/"); ok && provider != agent.OfflineAPI && k.config.priced(provider, model) {
			return true
		}
	}
	return len(implied(k.decoder.getenv)) > 1
}

// modelNames lists the models that the configuration names, each once, as provider/model.
func (c *Config) modelNames() (out []string) {
	d := c.Agents.Defaults
	names := append([]string{d.Model, d.Subagents.Model, d.Compaction.Model}, d.Fallbacks...)
	for _, e := range c.Agents.List {
		names = append(append(names, e.Model), e.Fallbacks...)
	}
	for _, p := range sortedKeys(c.Models.Providers) {
		for _, model := range sortedKeys(c.Models.Providers[p].Models) {
			names = append(names, p+"/"+model)
		}
	}
	for _, n := range names {
		if n != "" && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

// providerOf gives a provider as it is configured, or as it is without being configured.
func (c *Config) providerOf(name string) (agent.Provider, bool) {
	if p, ok := c.Models.Providers[name]; ok {
		return p, true
	}
	switch name {
	case agent.OfflineAPI, "openai", agent.AnthropicAPI:
		return agent.Provider{API: name}, true
	}
	return agent.Provider{}, false
}

// priced reports whether a model's price is configured or in the catalogue.
func (c *Config) priced(provider, model string) bool {
	p, ok := c.providerOf(provider)
	if ok && p.Facts(model).Priced() {
		return true
	}
	known, found := catalogue.Find(provider, p, model)
	return ok && found && known.Input+known.Output > 0
}

// CataloguePrice is the price of a model that the configuration names without one.
type CataloguePrice struct {
	Model  string  `json:"model"` // provider/model
	Input  float64 `json:"input"` // dollars for a million tokens
	Output float64 `json:"output"`
}

// CataloguePrices lists the prices that count into a budget in dollars although the configuration does not have them; none where there is
// no such budget.
func (c *Config) CataloguePrices() (out []CataloguePrice) {
	if len(c.dollarBudgets()) == 0 {
		return nil
	}
	for _, name := range c.modelNames() {
		provider, model, _ := strings.Cut(name, "/")
		p, ok := c.providerOf(provider)
		if !ok || p.Facts(model).Priced() {
			continue
		}
		if known, found := catalogue.Find(provider, p, model); found && known.Input+known.Output > 0 {
			out = append(out, CataloguePrice{name, known.Input, known.Output})
		}
	}
	return out
}
