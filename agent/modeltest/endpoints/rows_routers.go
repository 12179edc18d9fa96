package endpoints

import "strings"

// routers are behaviours of 2026 of hosts of open models and of small servers.
var routers = []Row{
	{ID: "nim-degraded-function", Vendor: "NVIDIA NIM", Source: "tashfeenahmed/freellmapi#522", Model: "minimaxai/minimax-m3", Does: "answers 400 while what serves the model is degraded", Fails: []Failure{failOnce(hello, raw(400, `{"status":400,"title":"Bad Request","detail":"Function id '87ea0ddc-cff1-4bca-bf8b-3bd98a35ddd0': DEGRADED function cannot be invoked"}`))}},
	{ID: "nim-degraded-function-always", Vendor: "NVIDIA NIM", Source: "diegosouzapw/OmniRoute#8248", Model: "thinkingmachines/inkling", Does: "answers 400 for days while what serves the model is degraded", Checks: never(raw(400, `{"status":400,"title":"Bad Request","detail":"Function id '87ea0ddc-cff1-4bca-bf8b-3bd98a35ddd0': DEGRADED function cannot be invoked"}`)), Want: dies(downWords)},
	{ID: "nim-function-not-found", Vendor: "NVIDIA NIM", Source: "Alishahryar1/free-claude-code#1021", Model: "moonshotai/kimi-k2.6", Does: "answers 404 in terms of its own to a model that it no longer serves", Checks: never(raw(404, `{"status":404,"title":"Not Found","detail":"Function '23d4f03a-b8a6-4adb-a183-7daa083a09cc': Not found for account 'Qawmu2vUw3rdcREnubcAVqe1c55nUTb1hCogKQx4BCA'"}`)), Want: goneModel},
	{ID: "nim-429-without-words", Vendor: "NVIDIA NIM", Source: "Alishahryar1/free-claude-code#1485", Model: "z-ai/glm-5.2", Does: "answers 429 with a title and nothing else", Fails: []Failure{failOnce(hello, raw(429, `{"status":429,"title":"Too Many Requests"}`))}},
	{ID: "together-not-serverless", Vendor: "Together", Source: "HeyPuter/puter#3168", Model: "MiniMaxAI/MiniMax-M2.5", Does: "answers 400 to a model that needs an endpoint of its own", Checks: never(openAI(400, "invalid_request_error", nil, "model_not_available", "Unable to access non-serverless model MiniMaxAI/MiniMax-M2.5. Please visit https://api.together.ai/models/MiniMaxAI/MiniMax-M2.5 to create and start a new dedicated endpoint for the model.")), Want: goneModel},
	{ID: "together-endpoint-not-running", Vendor: "Together", Source: "HeyPuter/puter#3168", Model: "mistralai/Mixtral-8x22B-Instruct-v0.1", Does: "answers 400 to a model whose own endpoint was stopped", Checks: never(openAI(400, "invalid_request_error", nil, "dedicated_endpoint_not_running", "The dedicated endpoint for mistralai/Mixtral-8x22B-Instruct-v0.1 is not running. Please visit https://api.together.ai/models to start the endpoint.")), Want: goneModel},
	{ID: "huggingface-no-provider-enabled", Vendor: "Hugging Face", Source: "cline/cline#5098", Model: "moonshotai/Kimi-K2-Instruct", Does: "answers 400 when no provider that is turned on has the model", Checks: never(openAI(400, "invalid_request_error", "model", "model_not_supported", "The requested model 'moonshotai/Kimi-K2-Instruct' is not supported by any provider you have enabled.")), Want: goneModel},
	{ID: "huggingface-monthly-credits", Vendor: "Hugging Face", Source: "huggingface/agents-course#386", Does: "answers 402 with an error that is text", Checks: never(raw(402, `{"error":"You have exceeded your monthly included credits for Inference Providers. Subscribe to PRO to get 20x more monthly included credits."}`)), Want: dies(creditWords)},
	{ID: "ollama-cloud-session-limit", Vendor: "Ollama", Source: "continuedev/continue#11444", Model: "glm-5:cloud", Does: "answers 429 when the hours of a plan are used up, as a text in quotes", Checks: never(raw(429, `"you (someone) have reached your session usage limit, upgrade for higher limits: https://ollama.com/upgrade"`)), Want: dies(creditWords)},
	{ID: "ollama-cloud-weekly-limit", Vendor: "Ollama", Source: "NousResearch/hermes-agent#68832", Model: "glm-5.2:cloud", Does: "answers 429 when the week of a plan is used up", Checks: never(ollama(429, "you (someone) have reached your weekly usage limit, upgrade for higher limits: https://ollama.com/upgrade or add extra usage: https://ollama.com/settings (ref: 5d0fb402-680e-49fb-a261-4de5249a0bda)")), Want: dies(creditWords)},
	{ID: "litellm-no-deployments", Vendor: "LiteLLM", Source: "BerriAI/litellm#20867", Does: "answers 429 while what is behind it rests", Fails: []Failure{failOnce(hello, openAI(429, "None", "None", "429", "No deployments available for selected model, Try again in 1 seconds. Passed model=model-1. pre-call-checks=False, cooldown_list=['c9d48646']"))}},
	{ID: "litellm-budget", Vendor: "LiteLLM", Source: "https://docs.litellm.ai/docs/proxy/users", Does: "answers 400 when the budget of a key is spent", Checks: never(openAI(400, "budget_exceeded", nil, "400", "Budget has been exceeded! Current cost: 2.3e-05, Max budget: 1e-05")), Want: dies(creditWords)},
	{ID: "lmstudio-parameters-of-a-bare-tool", Vendor: "LM Studio", Source: "elie222/rakazo#851", Model: "qwen3.6-27b", Does: "wants properties in the schema of a tool, and answers with a list of its validator", Tools: []ToolSpec{{"bare", `{"type":"object"}`}}, Checks: []Check{schemasWith(func(s obj) bool {
		_, there := s["properties"].(obj)
		return !there || s["type"] != "object"
	}, func(i int, _ string) *Refusal {
		return raw(400, encode(list{obj{"code": "invalid_union_discriminator", "options": list{"object"}, "path": list{i, "function", "parameters", "type"}, "message": "Invalid discriminator value. Expected 'object'"}}))
	})}},
	{ID: "lmstudio-responses-mixed-input", API: Responses, Vendor: "LM Studio", Source: "lmstudio-ai/lmstudio-bug-tracker#1106", Model: "qwen3-vl-30b-a3b-instruct", Does: "takes no message with a text and a picture, and says only that the input has a wrong type", Checks: []Check{blind(openAI(400, "invalid_request_error", "input", "invalid_union", "Invalid type for 'input'."))}, Want: Expectation{Again: 2, Refused: Any, Image: BlindText}},
	{ID: "localai-call-as-text-too", Vendor: "LocalAI", Source: "mudler/LocalAI#10052", Model: "qwen3-4b", Does: "sends a call, and the same as JSON in the text", Mind: func(c *Call) Say {
		s := plainly(c)
		if len(s.Calls) > 0 {
			s.Text = `{"arguments":` + s.Calls[0].Args + `,"name":"` + s.Calls[0].Name + `"}`
		}
		return s
	}},
	{ID: "localai-call-without-a-name", Vendor: "LocalAI", Source: "mudler/LocalAI#6412", Model: "gpt-oss-20b", Does: "sends a call that has no name; the next one has", Mind: untilItWorks, Fails: []Failure{failOnce(useTool, stream(`{"id":"x","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant","content":"","tool_calls":[{"index":0,"id":"1539410d-7abd","type":"function","function":{"arguments":"{}"}}]},"finish_reason":null}]}`, `{"id":"x","object":"chat.completion.chunk","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`, "[DONE]"))}},
	{ID: "malformed-json-arguments", Vendor: "Rapid-MLX", Source: "raullenchai/Rapid-MLX#2656", Model: "qwen3.8-27b-4bit", Does: "puts a mark in front of arguments that are no JSON", Mind: func(c *Call) Say {
		s := brokenFirst(c)
		if len(s.Calls) > 0 && !isObject(s.Calls[0].Args) {
			s.Calls[0].Args = "<malformed_json_arguments>{\"name\": \"sessions_list\", \"arguments\": 1}\n</parameter>\n</function>"
		}
		return s
	}},
	{ID: "dashscope-arguments-must-be-json", Vendor: "Alibaba", Source: "HKUDS/nanobot#2469", Path: "/compatible-mode/v1", Model: "qwen3.5-plus", Does: "refuses a history with arguments that are no JSON, although its model wrote them", Mind: brokenFirst, Checks: []Check{func(c *Call) *Refusal {
		if jsonArguments(c) == nil {
			return nil
		}
		return openAI(400, "invalid_request_error", nil, "invalid_parameter_error", "<400> InternalError.Algo.InvalidParameter: The \"function.arguments\" parameter of the code model must be in JSON format.")
	}}},
	{ID: "cohere-strict-not-a-field", Vendor: "Cohere", Source: "OpenRouterTeam/openrouter-examples#71", Model: "cohere/command-r7b-12-2024", Does: "does not know strict in a tool", Checks: []Check{func(c *Call) *Refusal {
		if strings.Contains(encode(c.Body["tools"]), `"strict"`) {
			return message(422, "unknown field: parameter 'strict' is not a valid field. For proper usage, please refer to https://docs.cohere.com/reference/chat")
		}
		return nil
	}}, Want: learns},
}
