package config

import "testing"

// A budget in dollars needs prices: a model without one is named before it is refused.
func TestPrices(t *testing.T) {
	t.Parallel()
	const (
		none   = "warning: no model has a price, so every model but the offline one will be refused (set input and output in models.providers.*.models.*)"
		one    = "warning: has no price, and a budget in dollars is set: it will be refused (set input and output in models.providers.*.models.*)"
		own    = "{api: openai, baseUrl: \"http://h/v1\"}}}\nagents: {defaults: {model: offline/o}}\n"
		priced = "{api: openai, baseUrl: \"http://h/v1\", models: {a: {input: 1}, b: {contextWindow: 9000}}}}}\n"
	)
	for text, want := range map[string][]string{
		"models: {dayCost: 1, providers: {x: " + own:   {":1: models.dayCost: " + none},
		"models: {dayTokens: 1, providers: {x: " + own: nil,
		"models: {dayCost: 1, providers: {x: " + priced + "agents: {defaults: {model: x/a, fallbacks: [offline/o, x/b]}}\n": {":2: agents.defaults.fallbacks[1]: " + one},
		"models: {providers: {x: " + priced + "agents: {defaults: {model: x/b}}\n":                                          nil,
		"models: {providers: {x: " + priced + "agents: {defaults: {budget: {sessionCost: 1}, model: x/c, compaction: {model: x/a}, subagents: {model: x/b}}}\n": {
			":2: agents.defaults.model: " + one, ":2: agents.defaults.subagents.model: " + one},
		"models: {providers: {x: " + priced + "agents: {defaults: {model: x/b}, list: [{id: a}, {id: c, model: x/b, fallbacks: [x/a, x/c], budget: {agentCost: 1}}]}\n": {
			":2: agents.list[1].model: " + one, ":2: agents.list[1].fallbacks[1]: " + one},
	} {
		_, ps, _ := load(text)
		t.Run(text, func(t *testing.T) { compare(t, ps, want) })
	}
}
