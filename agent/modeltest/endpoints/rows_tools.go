package endpoints

// verify is what OpenAI says to organisations that are not verified.
var verify = invalid("stream", "unsupported_value", "Your organization must be verified to stream this model. Please go to: https://platform.openai.com/settings/organization/general and click on Verify Organization. If you just verified, it can take up to 15 minutes for access to propagate.")

// learns is what an endpoint costs that refuses one part of a request: one request.
var learns = Expectation{Refused: 1}

// staged is that for one whose words leave open which change helps: two are tried.
var staged = Expectation{Refused: 2}

// blindlyStaged is staged of pictures.
var blindlyStaged = Expectation{Refused: 2, Image: BlindText}

// blindly is that for one that refuses pictures.
var blindly = Expectation{Refused: 1, Image: BlindText}

var toolsRefused = []Row{
	{
		ID: "ollama-no-tools", Faults: []string{"H2"}, Vendor: "Ollama", Source: "https://github.com/ollama/ollama/blob/main/server/routes.go", Model: "gemma3:4b", Kind: KindLearned,
		Does:   "refuses tools for a model whose template has none",
		Checks: []Check{toolless(ollama(400, "registry.ollama.ai/library/gemma3:4b does not support tools"))}, Want: noTools(1),
	},
	{
		ID: "vllm-auto-tool-choice-off", Faults: []string{"H2"}, Vendor: "vLLM", Source: "https://docs.vllm.ai/en/latest/features/tool_calling.html",
		Does:   "refuses tools when it was started without a tool parser",
		Checks: []Check{toolless(vllm(400, `"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set`))}, Want: noTools(1),
	},
	{
		ID: "openrouter-no-endpoint-with-tools", Faults: []string{"H2"}, Vendor: "OpenRouter", Source: "https://openrouter.ai/docs/features/tool-calling",
		Does:   "answers 404 when no provider of the model takes tools",
		Checks: []Check{toolless(openAI(404, "", nil, 404, "No endpoints found that support tool use. To learn more about provider routing, visit: https://openrouter.ai/docs/provider-routing"))}, Want: noTools(1),
	},
	{
		ID: "groq-no-tools", Faults: []string{"H2"}, Vendor: "Groq", Source: "https://console.groq.com/docs/tool-use",
		Does:   "refuses tools for a model without them",
		Checks: []Check{toolless(invalid(nil, nil, "`tool calling` is not supported with this model"))}, Want: noTools(1),
	},
	{
		ID: "deepseek-r1-no-function-calling", Faults: []string{"H2"}, Vendor: "DeepSeek", Source: "https://api-docs.deepseek.com/guides/reasoning_model", Model: "deepseek-reasoner",
		Does:   "refuses function calling",
		Checks: []Check{toolless(deepSeek("deepseek-reasoner does not support Function Calling"))}, Want: noTools(1), Wire: thinksApart,
	},
	{
		ID: "llamacpp-tools-need-jinja", Faults: []string{"H2"}, Vendor: "llama.cpp", Source: "https://github.com/ggml-org/llama.cpp/blob/master/docs/function-calling.md",
		Does:   "answers 500 to tools when it was started without --jinja",
		Checks: []Check{toolless(llama(500, "server_error", "tools param requires --jinja flag"))}, Want: noTools(3),
	},
	{
		ID: "perplexity-no-tools", Faults: []string{"H2"}, Vendor: "Perplexity", Source: "https://docs.perplexity.ai/guides/chat-completions-guide",
		Does:   "says that tool calling is not supported for its search models",
		Checks: []Check{toolless(openAI(400, "invalid_request", nil, 400, "Tool calling is not supported for this model. Supported features: web search."))}, Want: noTools(1),
	},
	{
		ID: "huggingface-tgi-no-tools", Faults: []string{"H2"}, Vendor: "TGI", Source: "https://huggingface.co/docs/text-generation-inference/basic_tutorials/using_guidance",
		Does:   "answers 422 with a text of its template engine",
		Checks: []Check{toolless(raw(422, `{"error":"Template error: tool use is not supported by this model's chat template","error_type":"template_error"}`))}, Want: noTools(1),
	},
	{
		ID: "azure-serverless-extra-tools", Faults: []string{"H2"}, Vendor: "Azure AI", Source: "https://learn.microsoft.com/azure/ai-foundry/model-inference/reference/reference-model-inference-api",
		Does:   "answers 422 with a list that names the parameter only in loc",
		Checks: []Check{toolless(fastAPI("extra_forbidden", list{"body", "tools"}, "Extra inputs are not permitted", "…"))}, Want: noTools(1),
	},
}

// noTools is what people see of a model without tools.
func noTools(refused int) Expectation {
	return Expectation{Refused: refused, Tool: `^I have no such tool\.$`}
}
