package catalogue

import (
	"slices"
	"testing"

	"parley/agent"
)

func TestFind(t *testing.T) {
	t.Parallel()
	openAI, claude := agent.Provider{API: "openai"}, agent.Provider{API: "anthropic"}
	at := func(base string) agent.Provider { return agent.Provider{API: "openai", BaseURL: base} }
	for _, c := range []struct {
		name  string
		p     agent.Provider
		model string
		want  string // the entry's id; "" = none
	}{
		{"openai", openAI, "gpt-5.1", "gpt-5.1"},
		{"any", openAI, "gpt-5.4-2026-03-05", "gpt-5.4"},
		{"any", openAI, "openai/gpt-5", "gpt-5"},
		{"any", openAI, "GPT-5", "gpt-5"},
		{"any", openAI, "my-deployment", ""},
		{"any", openAI, "gpt", ""},
		{"any", at("https://eu.api.openai.com/v1"), "gpt-5.1", "gpt-5.1"},
		{"any", at("https://house.openai.azure.com/openai/v1"), "gpt-5", "gpt-5"},
		{"any", at("https://house.openai.azure.com/openai/v1"), "gpt-5.5", "gpt-5.5"}, // not among Azure's: OpenAI's
		{"any", claude, "claude-sonnet-4-5", "claude-sonnet-4-5-20250929"},
		{"any", claude, "claude-sonnet-4-5@20250929", "claude-sonnet-4-5-20250929"},
		{"any", claude, "claude-opus-5-latest", "claude-opus-5"},
		{"g", at("https://generativelanguage.googleapis.com/v1beta/openai/"), "models/gemini-3.5-flash", "gemini-3.5-flash"},
		{"g", at("https://generativelanguage.googleapis.com/v1beta/openai/"), "gemini-3-flash", "gemini-3-flash-preview"},
		{"r", at("https://openrouter.ai/api/v1"), "openai/gpt-5:nitro", "openai/gpt-5"},
		{"k", at("https://api.moonshot.cn/v1"), "kimi-k3", "kimi-k3"},
		{"d", at("https://api.deepseek.com"), "deepseek-v4-pro", "deepseek-v4-pro"},
		{"openai", at("https://gateway.example.com/v1"), "gpt-5.1", "gpt-5.1"}, // named so, behind somebody's gateway
		{"openai", at("http://127.0.0.1:4000/v1"), "gpt-5.1", ""},              // whatever is there
		{"openai", at("http://llm.internal/v1"), "gpt-5.1", ""},                //
		{"house", at("https://gateway.example.com/v1"), "gpt-5.1", ""},         //
		{"openai", agent.Provider{API: "offline"}, "gpt-5.1", ""},              //
		{"google", at("https://proxy.example.com/v1"), "gemini-3.5-flash", "gemini-3.5-flash"},
		{"openai", openAI, "", ""},
	} {
		e, ok := Find(c.name, c.p, c.model)
		if ok != (c.want != "") || e.ID != c.want {
			t.Errorf("%s at %q, %q: %q, want %q", c.name, c.p.BaseURL, c.model, e.ID, c.want)
		}
	}
}

// What is cached costs less to read and more to write than an ordinary token, whichever way round the data has the two.
func TestPrices(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		p                          agent.Provider
		model                      string
		input, output, read, write float64
	}{
		{agent.Provider{API: "anthropic"}, "claude-sonnet-4-6", 3, 15, 0.3, 3.75},
		{agent.Provider{API: "openai"}, "gpt-5.1", 1.25, 10, 0.125, 0},
		{agent.Provider{API: "openai"}, "gpt-5.6-sol", 5, 30, 0.5, 6.25},
	} {
		e, ok := Find("x", c.p, c.model)
		if !ok || e.Input != c.input || e.Output != c.output || e.CacheRead != c.read || e.CacheWrite != c.write {
			t.Errorf("%s: %+v", c.model, e)
		}
	}
	for id, m := range load().models {
		for _, e := range m.exact {
			if e.CacheRead > e.Input || e.CacheWrite > 0 && e.CacheWrite < e.Input || e.Window < 0 || e.Input < 0 {
				t.Errorf("%s/%s: %+v", id, e.ID, e)
			}
			for _, l := range e.Levels {
				if !slices.Contains(agent.Efforts, l) {
					t.Errorf("%s/%s has the effort %q, which agent.Efforts does not name", id, e.ID, l)
				}
			}
		}
	}
}

// A model that is offered for nothing is not counted at the price of the one that is paid for.
func TestFreeTag(t *testing.T) {
	t.Parallel()
	p := agent.Provider{API: "openai", BaseURL: "https://openrouter.ai/api/v1"}
	paid, _ := Find("x", p, "openai/gpt-5")
	free, ok := Find("x", p, "openai/gpt-5:free")
	if !ok || free.Input != 0 || free.Output != 0 || free.Window != paid.Window || paid.Input == 0 {
		t.Errorf("%+v, paid %+v", free, paid)
	}
}

// A model that does not think takes no effort at all; one of which it is not known which efforts it takes has none listed.
func TestLevels(t *testing.T) {
	t.Parallel()
	plain, _ := Find("x", agent.Provider{API: "openai"}, "gpt-4.1")
	thinking, _ := Find("x", agent.Provider{API: "openai"}, "gpt-5.1")
	if plain.Levels == nil || len(plain.Levels) != 0 || !slices.Contains(thinking.Levels, "low") || thinking.Effort == "" {
		t.Errorf("%#v, %#v", plain.Levels, thinking.Levels)
	}
}
