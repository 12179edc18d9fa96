package config

import (
	"strings"
	"testing"
)

// A budget in dollars needs prices: a model without one is named before it is refused.
func TestPrices(t *testing.T) {
	t.Parallel()
	const (
		none   = "warning: no model has a price, so parley refuses every model except the offline one (set input and output in models.providers.*.models.*)"
		one    = "warning: has no price, and a budget in dollars is set; parley refuses the model unless its server names a price (set input and output in models.providers.*.models.*)"
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
		// the catalogue knows what these cost
		"models: {dayCost: 1, providers: {openai: {api: openai, apiKey: k}}}\nagents: {defaults: {model: openai/gpt-5.1}}\n": nil,
		"models: {dayCost: 1, providers: {or: {api: openai, apiKey: k, baseUrl: \"https://openrouter.ai/api/v1\"}}}\nagents: {defaults: {model: or/openai/gpt-5.1, fallbacks: [or/made/up]}}\n": {
			":2: agents.defaults.fallbacks[0]: " + one},
	} {
		_, ps, _ := load(text)
		t.Run(text, func(t *testing.T) { compare(t, ps, want) })
	}
}

// Prices that the catalogue brings into a budget in dollars are named; a price of the file's own is not, and without a budget none is.
func TestCataloguePrices(t *testing.T) {
	t.Parallel()
	const models = `{dayCost: %, providers: {openai: {api: openai, apiKey: k, models: {gpt-5: {input: 9}}}, l: {api: openai, baseUrl: "http://127.0.0.1/v1"}}}` +
		"\nagents: {defaults: {model: openai/gpt-5.1-2025-11-13, fallbacks: [openai/gpt-5, l/gpt-5.1, openai/made-up]}}\n"
	for budget, want := range map[string]int{"1": 1, "0": 0} {
		c, ps, err := load("models: " + strings.Replace(models, "%", budget, 1))
		if err != nil {
			t.Fatal(err, ps)
		}
		got := c.CataloguePrices()
		if len(got) != want || want > 0 && (got[0].Model != "openai/gpt-5.1-2025-11-13" || got[0].Input != 1.25 || got[0].Output != 10) {
			t.Errorf("dayCost %s: %+v", budget, got)
		}
	}
}
