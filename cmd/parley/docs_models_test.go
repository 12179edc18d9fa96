package main

import (
	"os"
	"parley/cmd/internal/tables"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"parley/gateway/accounts"
	"parley/gateway/config"
)

// docs/models.md has a block for each provider that people use. Each is a whole configuration without a warning, names a model of its own
// provider, and speaks the protocol that the page says.
func TestDocsModels(t *testing.T) {
	t.Parallel()
	want := map[string]string{"OpenAI": "openai-responses", "Azure": "openai-responses", "Anthropic": "anthropic"}
	for _, name := range []string{"Gemini", "OpenRouter", "DeepSeek", "Moonshot", "Mistral", "xAI", "Groq", "Together", "Ollama", "LM Studio", "vLLM", "llama.cpp", "LiteLLM"} {
		want[name] = "openai-completions"
	}
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "models.md"))
	if err != nil {
		t.Fatal(err)
	}
	getenv := func(name string) string { return strings.Repeat(name, 3) }
	found := map[string]int{}
	heading := regexp.MustCompile(`^### (.+)$`)
	lines := strings.Split(string(text), "\n")
	for _, b := range pages(t)["docs/models.md"].blocks {
		if b.language != "yaml" {
			continue
		}
		name := ""
		for _, line := range lines[:b.line] {
			if m := heading.FindStringSubmatch(line); m != nil {
				name = m[1]
			}
		}
		c, problems, err := config.Parse("models.md", []byte(b.text), accounts.Table(tables.Adapters()), getenv)
		if err != nil || len(problems) > 0 {
			t.Errorf("models.md:%d: %v %v", b.line, err, problems)
			continue
		}
		provider, _, _ := strings.Cut(c.Agents.Defaults.Model, "/")
		p, ok := c.Models.Providers[provider]
		if !ok {
			t.Errorf("models.md:%d: agents.defaults.model %q is of no provider of the block", b.line, c.Agents.Defaults.Model)
		}
		if name == "" {
			continue // the one with all settings
		}
		if got := p.Protocol(); got != want[name] && !(name == "Azure" && found[name] == 1 && got == "openai-completions") {
			t.Errorf("models.md:%d: %s speaks %s, want %s", b.line, name, got, want[name])
		}
		found[name]++
	}
	for name := range want {
		if found[name] == 0 || name == "Azure" && found[name] != 2 {
			t.Errorf("docs/models.md has %d blocks for %s", found[name], name)
		}
	}
}
