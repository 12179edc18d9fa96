package endpoints

var parameters = []Row{
	{
		ID: "gpt-5.6-effort-none-with-tools", Faults: []string{"C3"}, Vendor: "OpenAI by a gateway", Source: "BerriAI/litellm#34569", Model: "gpt-5.6", Kind: KindLearned,
		Does: "refuses tools on chat completions unless the effort is none, and names reasoning_effort although none was sent",
		Checks: []Check{onlyWhen(has("tools"), func(c *Call) *Refusal {
			if v, _ := c.value("reasoning_effort"); v == "none" {
				return nil
			}
			return invalid("reasoning_effort", "unsupported_value", "Function tools with reasoning_effort are not supported for gpt-5.6 in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.")
		})}, Want: Expectation{Refused: 1, Image: ImageText, Sends: []string{`"reasoning_effort":"none"`}},
	},
	{
		ID: "gpt-6-tools-only-at-responses", Faults: []string{"C3"}, API: Responses, Vendor: "OpenAI", Source: "charmbracelet/crush#2913", Model: "gpt-6", Kind: KindEncrypted,
		Does: "takes tools at the Responses API alone, and wants its reasoning items back with the calls", Wire: ResponsesWire{Reasons: true}.Wire(),
		Checks: []Check{wantsReasoningItem}, Want: Expectation{Image: ImageText, Interrupt: true},
	},
	{
		ID: "azure-v1-responses", Faults: []string{"C3"}, API: Responses, Vendor: "Azure", Source: "https://learn.microsoft.com/azure/ai-foundry/openai/api-version-lifecycle", Path: "/openai/v1", Model: "gpt-5.6",
		Does: "speaks Responses below /openai/v1, with an api-key header", Wire: ResponsesWire{Reasons: true}.Wire(), Config: "headers: {api-key: key-of-the-test}",
		Checks: []Check{header("Api-Key", "key-of-the-test", raw(401, `{"error":{"code":"401","message":"Access denied due to invalid subscription key or wrong API endpoint. Make sure to provide a valid key for an active subscription and use a correct regional API endpoint for your resource."}}`)), wantsReasoningItem},
	},
	{
		ID: "openai-max-tokens-refused", Vendor: "OpenAI", Source: "https://platform.openai.com/docs/api-reference/chat/create", Model: "o4-mini", Config: "maxTokens: 900",
		Does:   "wants max_completion_tokens of reasoning models",
		Checks: []Check{refuseParam("max_tokens", invalid("max_tokens", "unsupported_parameter", "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."))}, Want: learns,
	},
	{
		ID: "max-completion-tokens-unknown", Vendor: "Mistral", Source: "editor-code-assistant/eca#231", Config: "maxTokens: 900",
		Does:   "takes max_tokens and no parameter that it does not know",
		Checks: []Check{refuseParam("max_completion_tokens", fastAPI("extra_forbidden", list{"body", "max_completion_tokens"}, "Extra inputs are not permitted", 900)), wants("max_tokens", detail(422, "max_tokens is missing"))}, Want: learns,
	},
	{
		ID: "stream-options-extra-forbidden", Vendor: "Mistral", Source: "mistralai/platform-docs-public#7",
		Does:   "answers 422 to stream_options",
		Checks: []Check{refuseParam("stream_options", fastAPI("extra_forbidden", list{"body", "stream_options"}, "Extra inputs are not permitted", obj{"include_usage": true}))}, Want: learns,
	},
	{
		ID: "stream-options-unrecognized", Vendor: "an older Azure deployment", Source: "https://learn.microsoft.com/azure/ai-foundry/openai/reference",
		Does:   "says that it does not recognise an argument",
		Checks: []Check{refuseParam("stream_options", invalid(nil, nil, "Unrecognized request argument supplied: stream_options"))}, Want: learns,
	},
	{
		ID: "unsupported-parameters-in-a-list", Vendor: "AWS SageMaker", Source: "https://docs.djl.ai/master/docs/serving/serving/docs/lmi/user_guides/chat_input_output_schema.html",
		Does:   "names the parameters that it does not take in a list of errors",
		Checks: []Check{refuseParam("stream_options", raw(424, `{"errors":[{"code":"unsupported_parameter","path":"stream_options","detail":"Parameter stream_options is not supported"}],"code":424}`))}, Want: learns,
	},
	{
		ID: "two-parameters-one-after-the-other", Vendor: "a strict proxy", Source: "BerriAI/litellm#16265", Thinking: "low",
		Does:   "refuses one parameter, then the next",
		Checks: []Check{refuseParam("stream_options", vllm(400, "stream_options: extra fields not permitted")), refuseParam("reasoning_effort", vllm(400, "reasoning_effort: extra fields not permitted"))}, Want: Expectation{Refused: 2},
	},
	{
		ID: "temperature-refused", Vendor: "OpenAI", Source: "https://platform.openai.com/docs/guides/reasoning", Model: "gpt-5-mini", Config: "temperature: 0.2",
		Does: "takes no temperature but 1",
		Checks: []Check{func(c *Call) *Refusal {
			if v, there := c.value("temperature"); there && v != 1.0 {
				return invalid("temperature", "unsupported_value", "Unsupported value: 'temperature' does not support %v with this model. Only the default (1) value is supported.", v)
			}
			return nil
		}}, Want: learns,
	},
	{
		ID: "kimi-temperature-fixed", Vendor: "Moonshot", Source: "https://platform.moonshot.ai/docs/guide/kimi-k2-5-quickstart", Model: "kimi-k2.5", Config: "temperature: 0.3",
		Does: "takes one temperature, and says which",
		Checks: []Check{func(c *Call) *Refusal {
			if v, there := c.value("temperature"); there && v != 1.0 {
				return kimi("invalid temperature: only 1 is allowed for this model")
			}
			return nil
		}}, Want: learns, Wire: thinksApart,
	},
	{
		ID: "claude-temperature-deprecated", API: Messages, Vendor: "Anthropic", Source: "RooCodeInc/Roo-Code#12162", Model: "claude-opus-4-7", Config: "temperature: 0.5",
		Does:   "refuses a temperature for its newest models",
		Checks: []Check{refuseParam("temperature", claude(400, "invalid_request_error", "`temperature` is deprecated for this model."))}, Want: learns,
	},
	{
		ID: "organization-not-verified", Faults: []string{"H9"}, Vendor: "OpenAI", Source: "continuedev/continue#7129", Model: "o3", Kind: KindWholeReply,
		Does:   "refuses to stream for organisations that are not verified",
		Checks: []Check{streamless(verify)}, Want: learns,
	},
	{
		ID: "gateway-cannot-stream", Faults: []string{"H9"}, Vendor: "a company's gateway", Source: "RooCodeInc/Roo-Code#6868",
		Does:   "answers 422 that streaming is not supported",
		Checks: []Check{streamless(detail(422, "Streaming is not supported by this deployment"))}, Want: learns,
	},
	{
		ID: "stream-key-refused", Vendor: "a company's gateway", Source: "RooCodeInc/Roo-Code#6868",
		Does:   "does not know the field stream, whatever its value, and answers in one piece",
		Checks: []Check{refuseParam("stream", fastAPI("extra_forbidden", list{"body", "stream"}, "Extra inputs are not permitted", true))}, Want: learns,
	},
	{
		ID: "twelve-parameters-one-after-the-other", Vendor: "a strict proxy", Source: "BerriAI/litellm#16265",
		Config: "body: {top_k: 5, min_p: 0.1, repetition_penalty: 1.1, presence_penalty: 0.1, frequency_penalty: 0.1, logit_bias: {}, seed: 7, parallel_tool_calls: true, service_tier: auto, verbosity: low, metadata: {a: b}}",
		Does:   "refuses twelve parameters, one request at a time: more than one call changes, so that the second one gets through",
		Checks: eachRefused("top_k", "min_p", "repetition_penalty", "presence_penalty", "frequency_penalty", "logit_bias", "seed", "parallel_tool_calls", "service_tier", "verbosity", "metadata", "stream_options"),
		Want:   Expectation{Refused: 13, Plain: formWords, Sends: []string{`(?s)\\nhello".*use the tool`}},
	},
	{
		ID: "responses-cannot-stream", Faults: []string{"H9"}, API: Responses, Vendor: "OpenAI", Source: "charmbracelet/crush#668", Model: "gpt-5",
		Does:   "refuses to stream for organisations that are not verified",
		Checks: []Check{streamless(verify)}, Wire: ResponsesWire{Reasons: true}.Wire(), Want: learns,
	},
	{
		ID: "reasoning-summary-not-verified", API: Responses, Vendor: "OpenAI", Source: "https://help.openai.com/en/articles/10910291-api-organization-verification", Model: "gpt-5", Thinking: "low",
		Does:   "refuses summaries of reasoning for organisations that are not verified",
		Checks: []Check{refuseParam("reasoning.summary", invalid("reasoning.summary", "unsupported_value", "Your organization must be verified to generate reasoning summaries. Please go to: https://platform.openai.com/settings/organization/general and click on Verify Organization."))},
		Wire:   ResponsesWire{Reasons: true}.Wire(), Want: learns,
	},
	{
		ID: "gemma-no-system-role", Faults: []string{"M13"}, Vendor: "vLLM", Source: "https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html", Model: "google/gemma-2-9b-it", Kind: KindLearned,
		Does:   "fails in the chat template on a system message",
		Checks: []Check{systemless(vllm(400, "System role not supported"))}, Want: learns,
	},
	{
		ID: "llamacpp-gemma-system-role", Faults: []string{"M13"}, Vendor: "llama.cpp", Source: "https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md", Model: "gemma-2-2b-it",
		Does:   "answers 500 with the template's own exception",
		Checks: []Check{systemless(llama(500, "server_error", "Value is not callable: null at row 1, column 68: {{ raise_exception('System role not supported') }}"))}, Want: Expectation{Refused: 3},
	},
	{
		ID: "gemini-gemma-developer-instruction", Faults: []string{"M13"}, Vendor: "Google", Source: "google/adk-python#3900", Path: "/v1beta/openai", Model: "gemma-3-27b-it",
		Does:   "calls the system text a developer instruction that is not enabled",
		Checks: []Check{systemless(google(400, "INVALID_ARGUMENT", "Developer instruction is not enabled for models/gemma-3-27b-it"))}, Want: learns,
	},
	{
		ID: "developer-role-refused", Vendor: "DeepSeek", Source: "https://api-docs.deepseek.com/api/create-chat-completion",
		Does:   "knows the roles system, user, assistant and tool, and no developer",
		Checks: []Check{systemless(plain(422, "Failed to deserialize the JSON body into the target type: messages[0].role: unknown variant `developer`, expected one of `system`, `user`, `assistant`, `tool` at line 1 column 30"), "developer")},
	},
	{
		ID: "o1-mini-no-system-role", Faults: []string{"M13"}, Vendor: "OpenAI", Source: "https://platform.openai.com/docs/guides/reasoning", Model: "o1-mini",
		Does:   "refuses the roles system and developer",
		Checks: []Check{systemless(invalid("messages[0].role", "unsupported_value", "Unsupported value: 'messages[0].role' does not support 'system' with this model."))}, Want: learns,
	},
	{
		ID: "azure-classic-query-and-key", Faults: []string{"M9"}, Vendor: "Azure", Source: "https://learn.microsoft.com/azure/ai-foundry/openai/reference", Path: "/openai/deployments/gpt-4o", Model: "gpt-4o",
		Config: "query: {api-version: \"2024-10-21\"}, headers: {api-key: key-of-the-test}",
		Does:   "wants api-version in the query and the key in a header of its own",
		Checks: []Check{query("api-version", "2024-10-21", raw(404, `{"error":{"code":"404","message":"Resource not found"}}`)), header("Api-Key", "key-of-the-test", raw(401, `{"error":{"code":"401","message":"Access denied due to invalid subscription key or wrong API endpoint."}}`))},
		Want:   Expectation{Image: ImageText},
	},
	{
		ID: "body-keys-of-a-provider", Faults: []string{"M9"}, Vendor: "vLLM", Source: "https://docs.vllm.ai/en/latest/features/reasoning_outputs.html", Model: "qwen3-8b", Config: "body: {chat_template_kwargs: {enable_thinking: false}}",
		Does: "is told by chat_template_kwargs not to think",
		Want: Expectation{Sends: []string{`"chat_template_kwargs":\{"enable_thinking":false\}`}}, Mind: plainly,
	},
	{
		ID: "deepseek-thinking-disabled", Faults: []string{"M9", "C1"}, Vendor: "DeepSeek", Source: "https://api-docs.deepseek.com/guides/thinking_mode", Model: "deepseek-v4", Config: "models: {deepseek-v4: {body: {thinking: {type: disabled}}}}",
		Does: "does not think when the body says so for one model",
		Want: Expectation{Sends: []string{`"thinking":\{"type":"disabled"\}`}}, Mind: plainly,
	},
	{
		ID: "key-in-the-query", Faults: []string{"M9"}, Vendor: "a gateway", Source: "https://docs.litellm.ai/docs/proxy/virtual_keys", Config: "query: {key: in-the-query}, headers: {X-Team: blue}",
		Does:   "takes its key in the query and a header that names the team",
		Checks: []Check{query("key", "in-the-query", detail(401, "Missing key")), header("X-Team", "blue", detail(403, "Missing team"))},
	},
	{
		ID: "dashscope-thinking-needs-stream", Vendor: "Alibaba", Source: "https://help.aliyun.com/zh/model-studio/deep-thinking", Model: "qwen3-32b", Config: "body: {enable_thinking: true}", Path: "/compatible-mode/v1",
		Does: "thinks only in streams", Wire: thinksApart,
		Checks: []Check{func(c *Call) *Refusal {
			if c.Body["stream"] != true {
				return openAI(400, "invalid_request_error", nil, "invalid_parameter_error", "parameter.enable_thinking must be set to false for non-streaming calls")
			}
			return nil
		}}, Want: Expectation{Sends: []string{`"enable_thinking":true`}},
	},
	{
		ID: "qwen-only-streams", Vendor: "Alibaba", Source: "https://help.aliyun.com/zh/model-studio/deep-thinking", Model: "qwq-plus", Path: "/compatible-mode/v1",
		Does: "answers in streams alone", Wire: thinksApart,
		Checks: []Check{func(c *Call) *Refusal {
			if c.Body["stream"] != true {
				return openAI(400, "invalid_request_error", nil, "invalid_parameter_error", "This model only support stream mode, please enable the stream parameter to access the model.")
			}
			return nil
		}},
	},
	{
		ID: "parallel-tool-calls-never-sent-without-tools", Vendor: "OpenAI", Source: "https://platform.openai.com/docs/guides/function-calling", Agents: "compaction: {off: true}",
		Does: "refuses parallel_tool_calls in a request without tools",
		Checks: []Check{func(c *Call) *Refusal {
			if c.Has("parallel_tool_calls") && !c.Has("tools") {
				return invalid("parallel_tool_calls", nil, "Invalid value for 'parallel_tool_calls': 'parallel_tool_calls' is only allowed when 'tools' are specified.")
			}
			return nil
		}}, Want: Expectation{Image: ImageText},
	},
}

// wantsReasoningItem wants the reasoning item of a call right in front of it, in the turn that is being answered.
func wantsReasoningItem(c *Call) *Refusal {
	items := objects(c.Body["input"])
	last := 0
	for i, item := range items {
		if str(item["role"]) == "user" {
			last = i
		}
	}
	before := ""
	for _, item := range items[last:] {
		kind := str(item["type"])
		if kind == "function_call" && before != "reasoning" && before != "function_call" {
			if id := str(item["id"]); id != "" || c.memory.ours(str(item["call_id"])) {
				return invalid("input", nil, "Item '%s' of type 'function_call' was provided without its required 'reasoning' item: 'rs_68af'.", id)
			}
		}
		before = kind
	}
	return nil
}
