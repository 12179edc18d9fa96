package convert_test

import (
	"slices"
	"strings"
	"testing"

	"parley/gateway/openclaw/report"
)

// destination is an input, what stands at a place of the new configuration, and what a section of the report says: "need: words".
type destination struct{ name, in, place, want, section string }

func check(t *testing.T, env map[string]string, cases []destination) {
	t.Helper()
	for _, c := range cases {
		out, _, r := made(t, c.in, env)
		if got := shown(at(out, c.place)); got != c.want {
			t.Errorf("%s: %s is %s, want %s", c.name, c.place, got, c.want)
		}
		if c.section == "" {
			continue
		}
		name, word, _ := strings.Cut(c.section, ": ")
		section := map[string][]report.Item{"need": r.NeedsYou, "open": r.OpenToMore, "different": r.Different, "left": r.Left, "carried": r.Carried}[name]
		if !slices.ContainsFunc(section, func(i report.Item) bool { return strings.Contains(i.What+" "+i.Why, word) }) {
			t.Errorf("%s: no %q in %+v", c.name, word, section)
		}
	}
}

// TestAddresses: a key goes where it went before, or nowhere.
// source: openclaw/openclaw docs/gateway/configuration.md (an unset variable is an error at load), docs/concepts/model-providers.md
func TestAddresses(t *testing.T) {
	t.Parallel()
	provider := func(set string) string {
		return `{"models": {"providers": {"openai": {"apiKey": "${OPENAI_API_KEY}", ` + set + `}}}, "agents": {"defaults": {"model": "openai/gpt-5"}}, "channels": {"telegram": {"botToken": "${TELEGRAM_TOKEN}"}}}`
	}
	const base, account = "models providers openai baseUrl", "channels telegram"
	check(t, map[string]string{"KNOWN": "http://10.0.0.9:4000", "ODD": "10.0.0.9"}, []destination{
		{"a variable", provider(`"baseUrl": "${LITELLM_URL}"`), base, `"${LITELLM_URL}"`, "carried: models.providers.openai"},
		{"a variable before a path", provider(`"baseUrl": "${LITELLM_URL}/v1"`), base, `"${LITELLM_URL}/v1"`, ""},
		{"variables in a URL", provider(`"baseUrl": "https://${HOST}:${PORT}/${PATH_1}"`), base, `"https://${HOST}:${PORT}/${PATH_1}"`, ""},
		{"Ollama by a variable", `{"models": {"providers": {"ollama": {"baseUrl": "${OLLAMA_BASE_URL}", "api": "ollama", "apiKey": ""}}}, "agents": {"defaults": {"model": "ollama/m"}}}`, "models providers ollama baseUrl", `"${OLLAMA_BASE_URL}/v1"`, ""},
		{"a known variable", provider(`"baseUrl": "${KNOWN}"`), base, `"${KNOWN}"`, ""},
		{"a known variable that is no URL", provider(`"baseUrl": "${ODD}"`), "models providers", "null", "need: models.providers.openai.baseUrl is no http or https URL"},
		{"no scheme", provider(`"baseUrl": "localhost:1234/v1"`), "models providers", "null", "need: agents.defaults.model openai/gpt-5"},
		{"no text", provider(`"baseUrl": ["https://a.example"]`), "models providers", "null", "need: all accounts are disabled"},
		{"accounts do not answer by another provider", provider(`"baseUrl": "localhost:1234/v1"`), account + " enabled", "false", ""},
		{"nor does the page", provider(`"baseUrl": "localhost:1234/v1"`), "agents defaults model", `"offline/offline"`, ""},
		{"a model elsewhere", provider(`"models": [{"id": "gpt-5", "baseUrl": "http://10.0.0.5/v1"}]`), "agents defaults model", `"offline/offline"`, "need: a baseUrl of its own"},
		{"a model at its provider", provider(`"baseUrl": "http://10.0.0.5/v1", "models": [{"id": "gpt-5", "baseUrl": "http://10.0.0.5/v1"}]`), "agents defaults model", `"openai/gpt-5"`, ""},
		{"an agent of such a provider", `{"models": {"providers": {"openai": {"apiKey": "${OPENAI_API_KEY}"}, "lm": {"apiKey": "${LM_KEY}", "baseUrl": "lm:80"}}}, "agents": {"defaults": {"model": "openai/gpt-5"}, "list": [{"id": "a", "model": "lm/x"}]}}`, "agents list 0 model", "null", "need: agents.list.a.model lm/x"},
		{"an address of Telegram", `{"channels": {"telegram": {"botToken": "${TELEGRAM_TOKEN}", "apiRoot": "${TELEGRAM_URL}"}}}`, account + " apiUrl", `"${TELEGRAM_URL}"`, ""},
		{"a bad address of Telegram", `{"channels": {"telegram": {"botToken": "${TELEGRAM_TOKEN}", "apiRoot": "localhost"}}}`, account + " enabled", "false", "need: channels.telegram.apiUrl"},
		{"no address of Telegram", `{"channels": {"telegram": {"botToken": "${TELEGRAM_TOKEN}", "apiRoot": ["http://a.example"]}}}`, account, "null", "need: channels.telegram.apiUrl"},
		{"a provider that nobody uses", `{"models": {"providers": {"openai": {"apiKey": "${OPENAI_API_KEY}"}, "lm": {"baseUrl": "lm:80"}}}}`, "models providers lm", "null", "need: models.providers.lm"},
	})
}

// TestModels: which model answers where the name has no provider, or there is no model.
// source: openclaw/openclaw docs/help/faq-models.md, "What is the default model?"
func TestModels(t *testing.T) {
	t.Parallel()
	with := func(model, rest string) string {
		return `{"models": {"providers": {"openai": {"apiKey": "${OPENAI_API_KEY}"}, "lm": {"apiKey": "", "baseUrl": "http://127.0.0.1:1234/v1", "models": [{"id": "qwen"}, {"id": "both"}]},
			"far": {"apiKey": "${FAR}", "baseUrl": "https://far.example/v1", "models": [{"id": "both"}]}}}, "agents": {"defaults": {"model": "` + model + `", "models": {"far/listed": {}, "far/x": {"alias": "fast"}}}` + rest + `},
			"channels": {"telegram": {"botToken": "${TELEGRAM_TOKEN}"}}}`
	}
	const model, bot = "agents defaults model", `{"channels": {"telegram": {"botToken": "${TELEGRAM_TOKEN}"}}, `
	check(t, nil, []destination{
		{"an alias", with("fast", ""), model, `"far/x"`, ""},
		{"the only provider that lists it", with("qwen", ""), model, `"lm/qwen"`, "different: becomes lm/qwen"},
		{"the only one of agents.defaults.models", with("listed", ""), model, `"far/listed"`, ""},
		{"two providers list it", with("both", ""), model, `"offline/offline"`, "need: agents.defaults.model both"},
		{"the default provider", with("claude-3-5-sonnet", ""), model, `"anthropic/claude-3-5-sonnet"`, "different: becomes anthropic/claude-3-5-sonnet"},
		{"its key", with("claude-3-5-sonnet", ""), "models providers anthropic apiKey", `"${ANTHROPIC_API_KEY}"`, ""},
		{"nobody's", with("mystery", ""), "channels telegram enabled", "false", "need: so all accounts are disabled"},
		{"all agents have another", with("mystery", `, "list": [{"id": "a", "model": "lm/qwen"}]`), "channels telegram enabled", "null", "need: agents.defaults.model mystery"},
		{"one agent has no other", with("mystery", `, "list": [{"id": "a", "model": "lm/qwen"}, {"id": "b"}]`), "channels telegram enabled", "false", ""},
		{"an agent's own is unknown", with("lm/qwen", `, "list": [{"id": "a", "model": "mystery"}]`), "channels telegram enabled", "null", "need: agents.list.a.model mystery"},
		{"a fallback takes over", `{"agents": {"defaults": {"model": {"primary": "mystery", "fallbacks": ["openai/gpt-5"]}}}}`, model, `"openai/gpt-5"`, "left: mystery"},
		{"no account", `{"models": {}, "agents": {"defaults": {"model": "your-provider/m"}}}`, model, `"offline/offline"`, "need: a language model"},
		{"nothing at all", `{"models": {}}`, model, "null", "need: Set ANTHROPIC_API_KEY or OPENAI_API_KEY"},
		{"no model, with an account", bot + `"models": {}}`, "channels telegram enabled", "false", "need: names no model. The built-in offline model would answer people, so all accounts are disabled"},
		{"no model, one provider", bot + `"models": {"providers": {"lm": {"apiKey": "", "baseUrl": "http://127.0.0.1:1234/v1", "models": [{"id": "qwen"}]}}}}`, model, `"lm/qwen"`, "different: names no model"},
		{"no model, a provider that lists none", bot + `"models": {"providers": {"lm": {"apiKey": "", "baseUrl": "http://127.0.0.1:1234/v1"}}}}`, "channels telegram enabled", "false", "need: a language model"},
		{"a provider for /model", with("openai/gpt-5", ""), "models providers lm", `{"api":"openai","baseUrl":"http://127.0.0.1:1234/v1"}`, "carried: models.providers.lm"},
		{"a comment", `{"models": {"providers": {"openai": {"apiKey": "${OPENAI_API_KEY}"}, "_comment": "x"}}}`, "models providers _comment", "null", "left: it describes no provider"},
		{"a provider without a key", `{"models": {"providers": {"openai": {"apiKey": "${OPENAI_API_KEY}"}, "far": {"baseUrl": "https://far.example"}}}}`, "models providers far", "null", "left: no agent uses"},
	})
	check(t, map[string]string{"ANTHROPIC_API_KEY": "k"}, []destination{
		{"a known key", bot + `"models": {}}`, "channels telegram enabled", "null", ""},
		{"and the file refers to it", bot + `"models": {}}`, "models providers anthropic apiKey", `"${ANTHROPIC_API_KEY}"`, ""},
	})
}

// TestCommandLists: where commands were for some of the people only, the report says so.
// source: openclaw/openclaw docs/tools/slash-commands.md, commands.allowFrom
func TestCommandLists(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		commands, account string
		opens             bool
	}{
		{`{"*": ["1001"]}`, `"dmPolicy": "open", "allowFrom": ["*"]`, true},
		{`{"*": ["1001"]}`, `"allowFrom": ["1001"]`, true}, // whoever pairs
		{`{"*": ["1001"]}`, `"dmPolicy": "allowlist", "allowFrom": ["1001", "1002"]`, true},
		{`{"*": []}`, `"dmPolicy": "allowlist", "allowFrom": ["1001"]`, true},
		{`{"*": ["*"], "telegram": []}`, `"dmPolicy": "allowlist", "allowFrom": ["1001"]`, true},
		{`{"*": ["1001"]}`, `"dmPolicy": "allowlist", "allowFrom": ["1001"], "groups": {"-100500": {"allowFrom": ["1002"]}}`, true},
		{`{"*": ["1001"]}`, `"dmPolicy": "allowlist", "allowFrom": ["1001"], "groups": {"-100500": {"groupPolicy": "open"}}`, true},
		{`{"*": ["telegram:1001"]}`, `"dmPolicy": "allowlist", "allowFrom": ["1001"]`, false},
		{`{"*": [1001]}`, `"dmPolicy": "allowlist", "allowFrom": ["tg:1001"], "groups": {"-100500": {}}`, false},
		{`{"telegram": ["*"], "*": []}`, `"dmPolicy": "open", "allowFrom": ["*"]`, false},
		{`{"discord": []}`, `"dmPolicy": "open", "allowFrom": ["*"]`, false},
		{`{"*": []}`, `"dmPolicy": "disabled", "groupPolicy": "disabled"`, false},
		{`["1001"]`, `"dmPolicy": "open", "allowFrom": ["*"]`, false},
	} {
		in := `{"commands": {"allowFrom": ` + c.commands + `}, "channels": {"telegram": {"botToken": "${TELEGRAM_TOKEN}", ` + c.account + `}}}`
		if _, _, r := made(t, in, nil); (len(r.OpenToMore) > 0) != c.opens {
			t.Errorf("%s: %+v", in, r.OpenToMore)
		}
	}
}

// TestHookAgents: hooks ask the agents that they could ask before.
// source: openclaw/openclaw docs/gateway/config-hooks.md, allowedAgentIds
func TestHookAgents(t *testing.T) {
	t.Parallel()
	hooks := func(allowed string) string {
		return `{"agents": {"list": [{"id": "a"}, {"id": "Boss", "default": true}]}, "hooks": {"enabled": true, "token": "${HT}"` + allowed + `}}`
	}
	check(t, nil, []destination{
		{"no list", hooks(``), "hooks allowedAgents", `["*"]`, ""},
		{"no list, and the agent main alone", `{"hooks": {"enabled": true, "token": "${HT}"}}`, "hooks", `{"allowedAgents":["*"],"enabled":true,"token":"${HT}"}`, ""},
		{"all", hooks(`, "allowedAgentIds": ["*"]`), "hooks", `{"allowedAgents":["*"],"enabled":true,"token":"${HT}"}`, "carried: hooks.allowedAgentIds"},
		{"the default agent", hooks(`, "allowedAgentIds": ["boss"]`), "hooks", `{"allowedAgents":["boss"],"enabled":true,"token":"${HT}"}`, ""},
		{"nobody", hooks(`, "allowedAgentIds": []`), "hooks enabled", "false", "need: does not name the default agent boss"},
		{"another agent", hooks(`, "allowedAgentIds": ["a"]`), "hooks enabled", "false", "need: hooks.allowedAgentIds"},
		{"unreadable", hooks(`, "allowedAgentIds": {"boss": true}`), "hooks enabled", "false", "need: hooks.allowedAgentIds"},
		{"hooks that are off", `{"hooks": {"internal": {"enabled": true}}}`, "hooks", "null", ""},
	})
}
