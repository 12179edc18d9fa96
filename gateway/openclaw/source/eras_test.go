package source

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"parley/gateway/openclaw/jsontree"
)

// Configurations of each era load without a secret in the tree, in today's layout, with nothing more open than before.
func TestEras(t *testing.T) {
	t.Parallel()
	old := []string{"agent", "routing", "identity", "telegram", "whatsapp", "discord", "slack", "env", "inbound", "web"}
	for name, want := range map[string]struct {
		channels, references, values []string // the values are those that the folder has
		agent, model                 string
	}{
		"2026-01-root.json5":     {[]string{"discord", "slack", "telegram", "whatsapp"}, nil, []string{"TELEGRAM_TOKEN", "DISCORD_TOKEN", "SLACK_TOKEN", "SLACK_APP_TOKEN", "TELEGRAM_WEBHOOK_SECRET", "GATEWAY_AUTH_TOKEN"}, "main", "Opus"},
		"2026-01-channels.json5": {[]string{"telegram"}, []string{"TELEGRAM_BOT_TOKEN", "BRAVE_API_KEY", "MOLTBOT_WORKSPACE", "OPENAI_API_KEY", "REMOTE_TOKEN"}, []string{"GATEWAY_AUTH_TOKEN"}, "main", "sonnet"},
		"2026-03-agents.json5":   {[]string{"discord"}, []string{"OPENROUTER_API_KEY", "DISCORD_ORCHESTRATOR_TOKEN", "DISCORD_DEVELOPER_TOKEN", "OPENCLAW_HOOKS_TOKEN", "OPENCLAW_GATEWAY_TOKEN"}, nil, "cooper", ""},
		"2026-09-entries.json5":  {[]string{"telegram"}, []string{"OPENAI_API_KEY", "XAI_API_KEY", "EXAMPLE_TOKEN"}, []string{"TELEGRAM_TOKEN"}, "main", ""},
	} {
		content, err := os.ReadFile(filepath.Join("testdata", "eras", name))
		if err != nil {
			t.Fatal(err)
		}
		s, r := load(t, map[string]string{"openclaw.json": string(content), "secrets.json": `{"telegram": {"token": "made-up-secret"}}`}, map[string]string{"OWNER_ID": "1001"}, nil)
		if s.Tree == nil || len(r.OpenToMore) > 0 {
			t.Fatalf("%s: %+v", name, r)
		}
		for _, key := range old {
			if s.Tree[key] != nil {
				t.Errorf("%s: %s is still there: %v", name, key, s.Tree[key])
			}
		}
		for _, kind := range want.channels {
			if jsontree.Object(jsontree.Object(s.Tree["channels"])[kind]) == nil {
				t.Errorf("%s: no channel %s", name, kind)
			}
		}
		all := textOf(s.Tree)
		for _, v := range slices.Concat(want.references, want.values) {
			if !strings.Contains(all, "${"+v+"}") {
				t.Errorf("%s: no ${%s} in %s", name, v, all)
			}
		}
		for _, v := range want.references {
			if s.Getenv(v) != "" {
				t.Errorf("%s: %s has a value", name, v)
			}
		}
		for _, v := range want.values {
			if !strings.Contains(s.Getenv(v), "made-up-secret") {
				t.Errorf("%s: %s has no value", name, v)
			}
		}
		if got := DefaultAgent(s.Tree); got != want.agent {
			t.Errorf("%s: the default agent is %s", name, got)
		}
		if got := jsontree.Text(jsontree.Object(jsontree.Object(jsontree.Object(s.Tree["agents"])["defaults"])["model"])["primary"]); got != want.model {
			t.Errorf("%s: the model is %q", name, got)
		}
		noSecret(t, s, r)
	}
}
