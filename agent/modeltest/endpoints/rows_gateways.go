package endpoints

import "strings"

// grammarless refuses schemas that llama.cpp cannot turn into a grammar.
func grammarless(s obj) bool {
	text := encode(s)
	return strings.Contains(text, `"pattern"`) || strings.Contains(text, `"maxLength":9`)
}

// moreThan refuses requests with more tools than so many.
func moreThan(most int, no *Refusal) Check {
	return func(c *Call) *Refusal {
		if len(c.Tools) > most {
			return no
		}
		return nil
	}
}

// gateways are behaviours that agents' issue trackers reported in the second half of 2026.
var gateways = []Row{
	{ID: "opencode-tool-count-limit", Vendor: "OpenCode Zen", Source: "anomalyco/opencode#43374", Path: "/zen/go/v1", Model: "deepseek-v4-flash", Does: "refuses more tools than it says how many", Checks: []Check{moreThan(9, openAI(400, "invalid_request_error", "tools", nil, "Error from provider (Console Go): Upstream request failed: [unsupported_tool_schema] The tool schema is not supported (tool_count_limit)."))}, Want: staged},
	{ID: "opencode-wants-a-session-header", Vendor: "OpenCode Zen", Source: "genspark-ai/genoffice#331", Path: "/zen/go/v1", Model: "glm-5.2", Does: "takes no request without a header of its own", Checks: never(raw(400, `{"type":"error","error":{"type":"MissingSessionID","message":"Error from provider (Console Go): Request is missing x-opencode-session and cannot be routed efficiently. Please see https://opencode.ai/docs/go/#where-can-i-use-it"}}`)), Want: dies(formWords)},
	{ID: "opencode-arguments-named", Vendor: "OpenCode Zen", Source: "Alishahryar1/free-claude-code#1748", Path: "/zen/v1", Model: "muse-spark-1.3", Does: "names the arguments of a call that are no JSON as its parameter", Mind: brokenFirst, Checks: []Check{func(c *Call) *Refusal {
		if jsonArguments(c) == nil {
			return nil
		}
		return openAI(400, "invalid_request_error", "arguments", nil, "Error from provider (Console): Upstream request failed: [invalid_request_error] `arguments` must be valid JSON")
	}}},
	{ID: "llamacpp-cannot-parse-grammar", Vendor: "llama.cpp", Source: "NousResearch/hermes-agent#51527", Model: "qwen3-80b-next", Does: "answers 400 to a pattern in a tool's schema in words that name neither", Tools: []ToolSpec{{"dated", `{"type":"object","properties":{"d":{"type":"string","pattern":"\\d{4}-\\d{2}-\\d{2}"}}}`}}, Checks: []Check{schemasWith(grammarless, func(int, string) *Refusal {
		return llama(400, "invalid_request_error", "Failed to initialize samplers: failed to parse grammar")
	})}, Want: Expectation{Refused: 1, Lacks: []string{`\\\\d\{4\}`}}},
	{ID: "openrouter-network-error-as-a-stop", Vendor: "OpenRouter", Source: "earendil-works/pi#8511", Does: "ends with stop and no word when what is behind it lost its connection, and says so only in native_finish_reason", Fails: []Failure{failOnce(hello, stream(`{"id":"gen-1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":"stop","native_finish_reason":"network_error"}]}`, "[DONE]"))}},
	{ID: "event-error-without-data", Vendor: "a gateway", Source: "bayesimpact/bayes-platform#669", Does: "sends an event named error that has no data", Fails: []Failure{failOnce(hello, &Refusal{Status: 200, Type: "text/event-stream", Body: "\nevent: error\nid: 1\n\n"})}},
	{ID: "copilot-not-by-chat-completions", Vendor: "GitHub Copilot", Source: "egoist/chatwise-releases#1273", Model: "gpt-5.3-codex", Does: "answers 400 to a model of the other API", Checks: never(raw(400, `{"error":{"message":"model \"gpt-5.3-codex\" is not accessible via the /chat/completions endpoint","code":"unsupported_api_for_model"}}`)), Want: dies(formWords)},
	{ID: "copilot-not-by-responses", API: Responses, Vendor: "GitHub Copilot", Source: "egoist/chatwise-releases#1333", Model: "gpt-4.1", Does: "answers 400 to a model of the other API", Checks: never(raw(400, `{"error":{"message":"model gpt-4.1 is not supported via Responses API.","code":"unsupported_api_for_model"}}`)), Want: dies(formWords)},
}
