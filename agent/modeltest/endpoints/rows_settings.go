package endpoints

// insisted is what people see of an endpoint that refuses what a setting insists on, and what owners read in the log: which setting it is, and where.
func insisted(setting string) Expectation {
	out := dies("rejects the form of my requests")
	out.Log = "The setting `" + setting + "` of row/model-1 is the reason[^\\n]*`models\\.providers\\.row\\.models\\.model-1\\.[a-z]+`"
	return out
}

// perhaps is that for an endpoint that gives no reason.
var perhaps = func() Expectation {
	out := dies(".")
	out.Log = "The setting `tools: on` of row/model-1 may be the reason"
	return out
}()

// settings are endpoints that refuse what a setting of their model insists on.
var settings = []Row{
	{ID: "tools-on-against-no-tools", Vendor: "Ollama", Source: "https://github.com/ollama/ollama/blob/main/server/routes.go", Config: "tools: on", Does: "refuses tools, which a setting insists on", Checks: []Check{toolless(ollama(400, "registry.ollama.ai/library/gemma3:4b does not support tools"))}, Want: insisted("tools: on")},
	{ID: "tools-on-against-500", Vendor: "llama.cpp", Source: "https://github.com/ggml-org/llama.cpp/blob/master/docs/function-calling.md", Config: "tools: on", Does: "answers 500 to tools, which a setting insists on", Checks: []Check{toolless(llama(500, "server_error", "tools param requires --jinja flag"))}, Want: insisted("tools: on")},
	{ID: "tools-on-of-a-model", API: Responses, Vendor: "OpenRouter", Source: "https://openrouter.ai/docs/features/tool-calling", Config: "models: {model-1: {tools: on}}", Does: "answers 404 to tools, which a setting of the model insists on", Checks: []Check{toolless(openAI(404, "", nil, 404, "No endpoints found that support tool use."))}, Want: insisted("tools: on")},
	{ID: "tools-on-without-a-word", API: Messages, Vendor: "a gateway", Source: "zai-org/feedback#81", Config: "tools: on", Does: "refuses tools without a reason", Checks: []Check{toolless(raw(400, `{"type":"error","error":{"type":"invalid_request_error","message":"Bad Request"}}`))}, Want: perhaps},
	{ID: "stream-on-against-verification", Vendor: "OpenAI", Source: "continuedev/continue#7129", Config: "stream: on", Does: "refuses streams, which a setting insists on", Checks: []Check{streamless(verify)}, Want: insisted("stream: on")},
	{ID: "stream-off-against-streams-only", Vendor: "Alibaba", Source: "https://help.aliyun.com/zh/model-studio/error-code", Config: "stream: off", Does: "answers in streams only, which a setting forbids", Checks: []Check{func(c *Call) *Refusal {
		if c.Body["stream"] != true {
			return invalid(nil, "invalid_parameter_error", "This model only support stream mode, please enable the stream parameter to access the model.")
		}
		return nil
	}}, Want: insisted("stream: off")},
	{ID: "system-on-against-gemma", Vendor: "vLLM", Source: "https://huggingface.co/google/gemma-2-9b-it", Config: "system: on", Does: "refuses the system role, which a setting insists on", Checks: []Check{systemless(vllm(400, "System role not supported"))}, Want: insisted("system: on")},
	{ID: "system-on-against-roles", Vendor: "a gateway", Source: "aattaran/deepclaude#29", Config: "system: on", Does: "lists the roles that it takes, without that of the system", Checks: []Check{systemless(raw(422, "Failed to deserialize the JSON body into the target type: messages[0].role: unknown variant `system`, expected `user` or `assistant` at line 1 column 30"))}, Want: insisted("system: on")},
	{ID: "images-on-against-no-images", Vendor: "OpenRouter", Source: "Gitlawb/openclaude#1071", Config: "images: on", Does: "refuses pictures, which a setting insists on", Checks: []Check{blind(openAI(404, "", nil, 404, "No endpoints found that support image input"))}, Want: Expectation{Refused: Any, Again: Any, Image: BlindText, Log: "images: on[\\s\\S]*models\\.providers\\.row"}},
}
