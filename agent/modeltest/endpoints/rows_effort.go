package endpoints

var effortRefused = []Row{
	{
		ID: "ollama-cannot-think", Faults: []string{"H3"}, Vendor: "Ollama", Source: "Gitlawb/openclaude#1371", Model: "llama3.1:8b", Thinking: "low", Kind: KindLearned,
		Does:   "refuses an effort for a model that cannot think",
		Checks: []Check{refuseParam("reasoning_effort", ollama(400, `"llama3.1:8b" does not support thinking`))}, Want: learns,
	},
	{
		ID: "ollama-think-value", Faults: []string{"H3"}, Vendor: "Ollama", Source: "ollama/ollama#12561", Model: "deepseek-r1:8b", Thinking: "low",
		Does:   "refuses a level for a model that knows only on and off",
		Checks: []Check{refuseParam("reasoning_effort", ollama(400, `think value "low" is not supported for this model`))}, Want: staged,
	},
	{
		ID: "xai-reasoning-effort", Faults: []string{"H3"}, Vendor: "xAI", Source: "NousResearch/hermes-agent#23088", Model: "grok-4-latest", Thinking: "high",
		Does:   "calls the parameter by another name in its refusal",
		Checks: []Check{refuseParam("reasoning_effort", grok(400, "Client specified an invalid argument", "Model grok-4-latest does not support parameter reasoningEffort."))}, Want: learns,
	},
	{
		ID: "openrouter-effort-in-raw", Faults: []string{"H3", "M3"}, Vendor: "OpenRouter", Source: "zed-industries/zed#64424", Thinking: "medium",
		Does:   "has the cause only in metadata.raw",
		Checks: []Check{refuseParam("reasoning_effort", router(400, "Groq", `{"error":{"message":"reasoning_effort is not supported with this model","type":"invalid_request_error"}}`))}, Want: learns,
	},
	{
		ID: "groq-effort-values", Faults: []string{"H3"}, Vendor: "Groq", Source: "BerriAI/litellm#16265", Model: "qwen/qwen3-32b", Thinking: "high",
		Does: "knows only none and default as efforts",
		Checks: []Check{among("reasoning_effort", "none default", func(string) *Refusal {
			return invalid(nil, nil, "`reasoning_effort` must be one of `none` or `default`")
		})}, Want: learns,
	},
	{
		ID: "openai-effort-values-listed", Faults: []string{"H3", "L6"}, Vendor: "OpenAI", Source: "https://platform.openai.com/docs/guides/latest-model", Model: "gpt-5.1", Thinking: "minimal",
		Does: "lists the efforts that it takes, of which low is the nearest to minimal",
		Checks: []Check{among("reasoning_effort", "none low medium high", func(v string) *Refusal {
			return invalid("reasoning_effort", "unsupported_value", "Unsupported value: 'reasoning_effort' does not support '%s' with this model. Supported values are: 'none', 'low', 'medium', and 'high'.", v)
		})}, Want: Expectation{Refused: 1, Sends: []string{`"reasoning_effort":"low"`}},
	},
	{
		ID: "effort-listed-without-none", Faults: []string{"L6"}, Vendor: "OpenAI by a gateway", Source: "https://platform.openai.com/docs/guides/reasoning", Model: "gpt-5-codex", Thinking: "minimal",
		Does: "lists low, medium and high",
		Checks: []Check{among("reasoning_effort", "low medium high", func(v string) *Refusal {
			return invalid("reasoning_effort", "unsupported_value", "Unsupported value: '%s' is not supported with the 'gpt-5-codex' model. Supported values are: 'low', 'medium', and 'high'.", v)
		})}, Want: Expectation{Refused: 1, Sends: []string{`"reasoning_effort":"low"`}},
	},
	{
		ID: "gpt-5-pro-high-only", Faults: []string{"H3"}, API: Responses, Vendor: "OpenAI", Source: "https://platform.openai.com/docs/models/gpt-5-pro", Model: "gpt-5-pro", Thinking: "low",
		Does: "takes the effort high and no other",
		Checks: []Check{among("reasoning.effort", "high", func(v string) *Refusal {
			return invalid("reasoning.effort", "unsupported_value", "Unsupported value: '%s' is not supported with the 'gpt-5-pro' model. Supported values are: 'high'.", v)
		})}, Want: Expectation{Refused: 1, Sends: []string{`"reasoning":\{[^}]*"effort":"high"`}},
	},
	{
		ID: "responses-effort-unsupported", Faults: []string{"H3"}, API: Responses, Vendor: "OpenAI", Source: "https://platform.openai.com/docs/guides/reasoning", Model: "gpt-4.1", Thinking: "low",
		Does:   "refuses reasoning for a model that does not reason",
		Checks: []Check{refuseParam("reasoning.effort", invalid("reasoning.effort", "unsupported_parameter", "Unsupported parameter: 'reasoning.effort' is not supported with this model."))}, Want: learns,
	},
	{
		ID: "deepseek-effort-two-values", Faults: []string{"H3"}, Vendor: "DeepSeek", Source: "https://api-docs.deepseek.com/guides/thinking_mode", Thinking: "low",
		Does: "answers 422 that the effort is a variant that it does not know",
		Checks: []Check{among("reasoning_effort", "high max", func(v string) *Refusal {
			return plain(422, "Failed to deserialize the JSON body into the target type: reasoning_effort: unknown variant `"+v+"`, expected `high` or `max` at line 1 column 9120")
		})}, Want: learns,
	},
	{
		ID: "mistral-effort-values", Faults: []string{"H3"}, Vendor: "Mistral", Source: "https://docs.mistral.ai/capabilities/reasoning/", Model: "mistral-medium-latest", Thinking: "low",
		Does: "answers 422 with pydantic's list, whose input is the value",
		Checks: []Check{among("reasoning_effort", "none high", func(v string) *Refusal {
			return raw(422, `{"object":"error","message":{"detail":[{"type":"enum","loc":["body","reasoning_effort"],"msg":"Input should be 'none' or 'high'","input":"`+v+`","ctx":{"expected":"'none' or 'high'"}}]},"type":"invalid_request_error","param":null,"code":null}`)
		})}, Want: learns,
	},
	{
		ID: "gemini-thinking-level", Faults: []string{"H3"}, Vendor: "Google", Source: "https://ai.google.dev/gemini-api/docs/openai", Path: "/v1beta/openai", Model: "gemini-2.0-flash", Thinking: "low",
		Does:   "refuses an effort in a list of one error, in words about a budget",
		Checks: []Check{refuseParam("reasoning_effort", google(400, "INVALID_ARGUMENT", "Unable to submit request because thinking is not supported by this model. Remove the thinking_config from your request."))}, Want: learns,
	},
	{
		ID: "cerebras-effort-extra", Faults: []string{"H3"}, Vendor: "Cerebras", Source: "https://inference-docs.cerebras.ai/capabilities/reasoning", Model: "llama-3.3-70b", Thinking: "medium",
		Does:   "answers 422 with its own flat shape",
		Checks: []Check{refuseParam("reasoning_effort", raw(422, `{"message":"reasoning_effort is not supported for this model","type":"invalid_request_error","param":"reasoning_effort","code":"wrong_api_format"}`))}, Want: learns,
	},
	{
		ID: "anthropic-adaptive-refused", Faults: []string{"H3"}, API: Messages, Vendor: "Anthropic", Source: "https://docs.anthropic.com/en/docs/build-with-claude/extended-thinking", Model: "claude-sonnet-4-5", Thinking: "low",
		Does: "takes a budget of thinking and no adaptive thinking", Kind: KindThinking,
		Checks: []Check{onlyWhen(thinksAdaptively, refusing(claude(400, "invalid_request_error", "adaptive thinking is not supported on this model"))), refuseParam("output_config", claude(400, "invalid_request_error", "output_config: Extra inputs are not permitted"))},
		Want:   Expectation{Refused: 1, Image: ImageText},
	},
	{
		ID: "anthropic-cannot-think", Faults: []string{"H3"}, API: Messages, Vendor: "Anthropic", Source: "https://docs.anthropic.com/en/docs/build-with-claude/extended-thinking", Model: "claude-3-5-haiku-latest", Thinking: "high",
		Does:   "refuses thinking in any form",
		Checks: []Check{refuseParam("output_config", claude(400, "invalid_request_error", "output_config: Extra inputs are not permitted")), refuseParam("thinking", claude(400, "invalid_request_error", "'claude-3-5-haiku-latest' does not support thinking"))},
		Want:   Expectation{Refused: 2},
	},
	{
		ID: "anthropic-budget-refused", Faults: []string{"H3"}, API: Messages, Vendor: "Anthropic", Source: "https://docs.anthropic.com/en/docs/build-with-claude/adaptive-thinking", Model: "claude-opus-5", Thinking: "low",
		Does:   "takes adaptive thinking and no budget",
		Checks: []Check{refuseParam("thinking.budget_tokens", claude(400, "invalid_request_error", `"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.`))},
		Want:   Expectation{Image: ImageText, Interrupt: true},
	},
	{
		ID: "anthropic-thinking-off-refused", API: Messages, Vendor: "Anthropic", Source: "https://docs.anthropic.com/en/docs/build-with-claude/adaptive-thinking", Model: "claude-mythos-preview", Thinking: "off",
		Does:   "thinks always, and refuses to have it turned off",
		Checks: []Check{onlyWhen(has("thinking"), refusing(claude(400, "invalid_request_error", `"thinking.type.disabled" is not supported for this model.`)))},
		Want:   learns,
	},
}

// thinksAdaptively reports whether a request asks for adaptive thinking.
func thinksAdaptively(c *Call) bool {
	v, _ := c.value("thinking.type")
	return v == "adaptive"
}
