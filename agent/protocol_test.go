package agent

import (
	"fmt"
	"maps"
	"testing"

	"parley/channels"
)

// source: learn.microsoft.com/azure/ai-foundry/openai/api-version-lifecycle (v1 and classic addresses)
func TestProtocol(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ api, base, want string }{
		{"openai", "", ResponsesAPI},
		{"openai", "https://api.openai.com/v1", ResponsesAPI},
		{"openai", "https://api.openai.com/v1/", ResponsesAPI},
		{"openai", "https://API.OpenAI.com", ResponsesAPI},
		{"openai", "https://eu.api.openai.com/v1", ResponsesAPI},
		{"openai", "https://house.openai.azure.com/openai/v1", ResponsesAPI},
		{"openai", "https://house.openai.azure.com/openai/v1/?api-version=preview", ResponsesAPI},
		{"openai", "https://house.services.ai.azure.com/openai/v1", ResponsesAPI},
		{"openai", "https://house.cognitiveservices.azure.com/openai/v1/", ResponsesAPI},
		{"openai", "https://house.openai.azure.com/openai/deployments/gpt?api-version=2024-10-21", CompletionsAPI},
		{"openai", "https://house.services.ai.azure.com/models", CompletionsAPI},
		{"openai", "https://openai.azure.com.evil.example/openai/v1", CompletionsAPI},
		{"openai", "https://notapi.openai.com.example/v1", CompletionsAPI},
		{"openai", "https://openrouter.ai/api/v1", CompletionsAPI},
		{"openai", "http://127.0.0.1:11434/v1", CompletionsAPI},
		{"openai", "://", CompletionsAPI},
		{"openai-completions", "", CompletionsAPI},
		{"openai-completions", "https://api.openai.com/v1", CompletionsAPI},
		{"openai-responses", "http://127.0.0.1:1234/v1", ResponsesAPI},
		{"anthropic", "", AnthropicAPI},
		{"offline", "", OfflineAPI},
	} {
		if got := (Provider{API: c.api, BaseURL: c.base}).Protocol(); got != c.want {
			t.Errorf("%s at %q: %s, want %s", c.api, c.base, got, c.want)
		}
	}
}

// A model's settings win over its provider's, by name; the query of the address comes below both.
func TestSettings(t *testing.T) {
	t.Parallel()
	secret := channels.NewSecret
	half := 0.5
	p := Provider{
		BaseURL: "https://house.openai.azure.com/openai/deployments/gpt/?api-version=1&a=x&a=y#top",
		ModelSettings: ModelSettings{Headers: map[string]channels.Secret{"x-a": secret("provider"), "X-B": secret("b")}, Query: map[string]string{"a": "z"},
			Body: map[string]any{"n": 1, "extra": map[string]any{"a": 1, "b": 2}}, Tools: "off", Reasoning: Reasoning{Levels: []string{"low"}, SendBack: "on"}},
		Models: map[string]ModelFacts{"m": {ModelSettings: ModelSettings{Headers: map[string]channels.Secret{"X-A": secret("model")}, Query: map[string]string{"b": "c"}, Body: map[string]any{"extra": map[string]any{"b": 3, "c": 4}},
			Temperature: &half, Tools: "on", Reasoning: Reasoning{Levels: []string{}}}}},
	}
	if got := p.Address(); got != "https://house.openai.azure.com/openai/deployments/gpt" {
		t.Errorf("address %q", got)
	}
	s := p.Settings("m")
	if want := map[string]channels.Secret{"X-A": secret("model"), "X-B": secret("b")}; !maps.Equal(s.Headers, want) {
		t.Errorf("%d headers", len(s.Headers))
	}
	if want := map[string]string{"api-version": "1", "a": "z", "b": "c"}; !maps.Equal(s.Query, want) {
		t.Errorf("query %v", s.Query)
	}
	if extra := fmt.Sprint(s.Body["extra"]); extra != "map[a:1 b:3 c:4]" || fmt.Sprint(p.Body["extra"]) != "map[a:1 b:2]" {
		t.Errorf("body %v, of the provider %v", s.Body, p.Body)
	}
	if s.Body["n"] != 1 || s.Temperature != &half || s.Tools != "on" || s.Reasoning.Levels == nil || len(s.Reasoning.Levels) > 0 || s.Reasoning.SendBack != "on" {
		t.Errorf("%+v", s)
	}
	if other := p.Settings("other"); len(other.Reasoning.Levels) != 1 || other.Tools != "off" || other.Query["b"] != "" {
		t.Errorf("%+v", other)
	}
	if bare := (Provider{}).Settings("m"); bare.Headers != nil || bare.Query != nil || bare.Body != nil || bare.Reasoning.Levels != nil {
		t.Errorf("%+v", bare)
	}
}

// What headers say is secret, and values of the query and the body with such a name.
func TestSettingsSecrets(t *testing.T) {
	t.Parallel()
	p := Provider{APIKey: channels.NewSecret("the key"), ModelSettings: ModelSettings{
		Headers: map[string]channels.Secret{"Authorization": channels.NewSecret("Bearer made-up"), "X-Title": channels.NewSecret("Home assistant"),
			"HTTP-Referer": channels.NewSecret("https://example.com"), "X-Who": channels.NewSecret("Bearer plainword")},
		Query: map[string]string{"api-version": "2024", "subscription-key": "query-secret", "tier": "priority"},
		Body:  map[string]any{"plain": "text", "metadata": map[string]any{"auth_token": []any{"body-secret"}}},
	}, Models: map[string]ModelFacts{"m": {ModelSettings: ModelSettings{Query: map[string]string{"code_secret": "model-secret"}}}}}
	got := map[string]bool{}
	for _, s := range p.Secrets() {
		got[s.Reveal()] = true
	}
	for _, want := range []string{"the key", "Bearer made-up", "made-up", "query-secret", "body-secret", "model-secret", "plainword"} {
		if !got[want] {
			t.Errorf("%q is not kept secret", want)
		}
	}
	if got["2024"] || got["text"] || got["Home assistant"] || got["https://example.com"] || got["priority"] { // answers have such words
		t.Error("plain settings are taken for secrets")
	}
}
