package endpoints

import (
	"fmt"
	"strings"
)

// ranged refuses a number that is larger than the server's longest answer.
func ranged(path string, most float64, no *Refusal) Check {
	return func(c *Call) *Refusal {
		if v, there := c.value(path); there {
			if n, ok := v.(float64); !ok || n > most {
				return no
			}
		}
		return nil
	}
}

// largest is what an endpoint costs that names the largest value it takes: one request, and the value is used from then on.
func largest(parameter string, value int) Expectation {
	return Expectation{Refused: 1, Sends: []string{fmt.Sprintf(`"%s":%d\b`, parameter, value)}}
}

// refusedFields are refusals of 2026: causes in other places and words, other limits, other orders.
var refusedFields = []Row{
	{ID: "mimo-cause-in-param", Vendor: "Xiaomi", Source: "tailcallhq/forgecode#3347", Model: "mimo-v2.5-pro", Does: "has the cause in param, behind the word data, and wants reasoning in each message with calls", Wire: thinksApart, Mind: plainly,
		Checks: []Check{wantsAnyReasoning(func(int) *Refusal {
			return raw(400, `data:{"error":{"code":"400","message":"Param Incorrect","param":"The reasoning_content in the thinking mode must be passed back to the API.","type":""}}`)
		})}, Want: learns},
	{ID: "mimo-text-not-set", Vendor: "Xiaomi", Source: "XiaomiMiMo/MiMo-V2-Flash#8", Model: "mimo-v2-flash", Does: "wants a text that is not empty beside calls, and says so only in param",
		Checks: []Check{nullContent(raw(400, "{\"error\":{\"code\":\"400\",\"message\":\"Param Incorrect\",\"param\":\"`text` is not set\",\"type\":\"\"}}"))}, Want: Expectation{Refused: 2}},
	{ID: "mimo-longest-answer-in-param", Vendor: "Xiaomi", Source: "AQBot-Desktop/AQBot#93", Model: "mimo-v2.5", Config: "maxTokens: 1048576, contextWindow: 2000000", Does: "names the longest answer in param",
		Checks: []Check{
			ranged("max_tokens", 131072, raw(400, `{"error":{"message":"Param Incorrect","type":"upstream_error","param":"max_tokens is too large: 1048576. This model supports at most 131072 completion tokens, whereas you provided 1048576.","code":"400"}}`)),
			ranged("max_completion_tokens", 131072, raw(400, `{"error":{"message":"Param Incorrect","type":"upstream_error","param":"max_completion_tokens is too large: 1048576. This model supports at most 131072 completion tokens, whereas you provided 1048576.","code":"400"}}`)),
		}, Want: largest("max_(completion_)?tokens", 131072)},
	{ID: "deepseek-range-of-max-tokens", Vendor: "DeepSeek", Source: "dataelement/Clawith#571", Model: "deepseek-v4-pro", Config: "maxTokens: 512000, contextWindow: 1000000", Does: "names the range of max_tokens in brackets",
		Checks: []Check{ranged("max_tokens", 393216, deepSeek("Invalid max_tokens value, the valid range of max_tokens is [1, 393216]")), refuseParam("max_completion_tokens", deepSeek("unknown parameter: max_completion_tokens"))}, Want: Expectation{Refused: 2, Sends: []string{`"max_tokens":393216\b`}}},
	{ID: "dashscope-range-of-max-tokens", Vendor: "Alibaba", Source: "open-webui/open-webui#10507", Model: "qwen3.5-plus", Path: "/compatible-mode/v1", Config: "maxTokens: 20000", Does: "names the range of max_tokens behind codes of its own",
		Checks: []Check{
			ranged("max_tokens", 8192, openAI(400, "invalid_request_error", nil, "invalid_parameter_error", "<400> InternalError.Algo.InvalidParameter: Range of max_tokens should be [1, 8192]")),
			ranged("max_completion_tokens", 8192, openAI(400, "invalid_request_error", nil, "invalid_parameter_error", "<400> InternalError.Algo.InvalidParameter: Range of max_completion_tokens should be [1, 8192]")),
		}, Want: largest("max_(completion_)?tokens", 8192)},
	{ID: "vllm-longest-answer-and-prompt", Vendor: "vLLM", Source: "tontinton/maki#301", Config: "maxTokens: 100000, contextWindow: 400000", Does: "counts prompt and longest answer together, of which the answer is what does not fit",
		Checks: []Check{func(c *Call) *Refusal {
			for _, key := range []string{"max_tokens", "max_completion_tokens"} {
				in := len(c.Raw)/4 + 1
				if n, _ := c.Body[key].(float64); int(n)+in > 65536 {
					return vllm(400, "This model's maximum context length is 65536 tokens. However, you requested %d output tokens and your prompt contains at least %d input tokens, for a total of at least %d tokens. Please reduce the length of the input prompt or the number of requested output tokens. (parameter=input_tokens, value=%d)", int(n), in, int(n)+in, in)
				}
			}
			return nil
		}}, Want: Expectation{Refused: 1, Again: 1}},
	{ID: "codex-backend", API: Responses, Vendor: "ChatGPT", Source: "kortix-ai/suna#5124", Model: "gpt-5.6-sol", Config: "maxTokens: 9000", Does: "answers with a detail; wants instructions, streams and nothing stored, and takes no longest answer", Wire: reasons,
		Checks: []Check{
			refuseParam("max_output_tokens", detail(400, "Unsupported parameter: max_output_tokens")), storesNothing, wants("instructions", detail(400, "Instructions are required")), wantsReasoningItem,
			func(c *Call) *Refusal {
				if c.Body["stream"] != true {
					return detail(400, "Stream must be set to true")
				}
				return nil
			},
		}, Want: Expectation{Refused: 1, Interrupt: true}},
	{ID: "validation-errors-with-values", Vendor: "OpenCode Go", Source: "NousResearch/hermes-agent#30959", Model: "glm-5.2", Does: "lists fields of messages that it does not take, with their values", Wire: thinksApart, Mind: Usual,
		Checks: []Check{func(c *Call) *Refusal {
			return assistants(c, func(i int, m obj) *Refusal {
				if v, there := m["reasoning_content"]; there {
					return openAI(400, "invalid_request_error", nil, "invalid_request_error", "Error from provider: 2 request validation errors:\nExtra inputs are not permitted, field: 'messages[%d].reasoning_content', value: '%v'\nExtra inputs are not permitted, field: 'messages[%d].reasoning_content', value: '%v'", i, v, i, v)
				}
				return nil
			})
		}}, Want: learns},
	{ID: "refusal-as-502", Vendor: "a router", Source: "NousResearch/hermes-agent#31456", Does: "answers 502 to a parameter that it does not know", Checks: []Check{refuseParam("stream_options", openAI(502, "invalid_request_error", "stream_options", "unknown_parameter", "Unknown parameter: 'stream_options'."))}, Want: Expectation{Refused: 3}},
	{ID: "refusals-of-all-variants", Vendor: "Continue", Source: "continuedev/continue#13259", Model: "glm-5.2", Does: "answers 502 with the refusals of each provider behind it in one text", Checks: []Check{refuseParam("stream_options", plain(502, `502 All variants failed with errors: glm-5.2: All model providers failed to infer with errors: ollama1: Inference stream closed due to error from openai server: Invalid status code: 400 Bad Request: {"error":{"code":"1210","message":"Invalid API parameter: stream_options is not supported."}}, zai: Inference stream closed due to error from openai server: Invalid status code: 400 Bad Request: {"error":{"code":"1210","message":"Invalid API parameter: stream_options is not supported."}}`))}, Want: Expectation{Refused: 3}},
	{ID: "python-literal-instead-of-json", Vendor: "NVIDIA NIM", Source: "NVIDIA/NeMo-Agent-Toolkit#370", Model: "nvidia/nemotron-3-super-120b-a12b", Does: "has the list of a validator as Python writes it, in single quotes",
		Checks: []Check{refuseParam("stream_options", raw(422, `{"error":"[{'type': 'extra_forbidden', 'loc': ('body', 'stream_options'), 'msg': 'Extra inputs are not permitted', 'input': {'include_usage': True}}]"}`))}, Want: learns},
	{ID: "json-and-words-in-a-message", API: Messages, Vendor: "LiteLLM", Source: "anthropics/claude-code#51700", Model: "claude-sonnet-4-6", Does: "has JSON and then its own words in the message", Checks: []Check{func(c *Call) *Refusal {
		if strings.Contains(string(c.Raw), `"cache_control"`) {
			return raw(400, encode(obj{"error": obj{"message": `{"message":"messages.0.content.0.text.cache_control: Extra inputs are not permitted"}No fallback model group found for original model_group=claude-sonnet-4-6. Fallbacks=[{'gpt-5.2': ['gpt-5.2-chat']}]. Received Model Group=claude-sonnet-4-6`, "type": "None", "param": "None", "code": "400"}}))
		}
		return nil
	}}, Want: learns},
	{ID: "prompt-caching-not-allowed", API: Messages, Vendor: "Bedrock", Source: "simkeyur/vscode-agents#1", Model: "claude-sonnet-4-5", Does: "refuses prompt caching without naming the field", Checks: []Check{func(c *Call) *Refusal {
		if strings.Contains(string(c.Raw), `"cache_control"`) {
			return message(400, "You invoked an unsupported model or your request did not allow prompt caching. See the documentation for more information.")
		}
		return nil
	}}, Want: learns},
	{ID: "mistral-content-or-calls", Vendor: "Mistral", Source: "github/copilot-cli#4884", Model: "devstral-latest", Does: "takes content or calls in a message, and not both; its model says a word in front of its call", Mind: wordThenCall,
		Checks: []Check{func(c *Call) *Refusal {
			return assistants(c, func(_ int, m obj) *Refusal {
				if t, _ := text(m["content"]); t != "" && len(objects(m["tool_calls"])) > 0 {
					return raw(400, `{"object":"error","message":"Assistant message must have either content or tool_calls, but not both.","type":"invalid_request_error","param":null,"code":null}`)
				}
				return nil
			})
		}}, Want: learns},
	{ID: "gemini-call-after-user", Vendor: "Google", Source: "continuedev/continue#11164", Path: "/v1beta/openai", Model: "gemini-3.1-pro", Does: "wants a call right behind a person or a result", Mind: wordThenCall,
		Checks: []Check{func(c *Call) *Refusal {
			before := "user"
			for _, m := range objects(c.Body["messages"]) {
				if len(objects(m["tool_calls"])) > 0 && before == "assistant" {
					return google(400, "INVALID_ARGUMENT", "Please ensure that function call turn comes immediately after a user turn or after a function response turn.")
				}
				before = str(m["role"])
			}
			return nil
		}}, Want: Expectation{Interrupt: true}},
	{ID: "llamacpp-no-prefill", Vendor: "llama.cpp", Source: "anomalyco/opencode#27920", Model: "qwen3.5-9b", Does: "thinks by its template, and refuses a request that ends with the assistant", Wire: thinksApart, Mind: Usual,
		Checks: []Check{func(c *Call) *Refusal {
			all := objects(c.Body["messages"])
			if str(all[len(all)-1]["role"]) == "assistant" {
				return llama(400, "invalid_request_error", "Assistant response prefill is incompatible with enable_thinking.")
			}
			return nil
		}}, Want: Expectation{Interrupt: true}},
	{ID: "anthropic-signature-not-verified", API: Messages, Vendor: "a gateway of Claude", Source: "router-for-me/CLIProxyAPI#4514", Model: "claude-sonnet-4-6", Thinking: "medium", Does: "cannot verify the signature of thinking that it sent",
		Checks: []Check{func(c *Call) *Refusal {
			for i, m := range objects(c.Body["messages"]) {
				for n, b := range objects(m["content"]) {
					if str(b["type"]) == "thinking" {
						return claude(400, "invalid_request_error", "messages.%d.content.%d: Invalid `signature` in `thinking` block", i, n)
					}
				}
			}
			return nil
		}}, Want: Expectation{Refused: 2, Again: 1}},
	{ID: "gemini-thought-signature-not-valid", Vendor: "Google", Source: "NoeFabris/opencode-antigravity-auth#368", Path: "/v1beta/openai", Model: "gemini-3-pro", Does: "does not take a thought signature back that it sent, only the placeholder", Wire: ChatWire{Edit: sealed}.Wire(), Mind: plainly,
		Checks: []Check{func(c *Call) *Refusal {
			for _, m := range c.Messages {
				for _, k := range m.Calls {
					extra, _ := k.Raw["extra_content"].(obj)
					own, _ := extra["google"].(obj)
					if str(own["thought_signature"]) == "" && len(c.Turn()) > 0 {
						return google(400, "INVALID_ARGUMENT", "Function call is missing a thought_signature in functionCall parts. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details.")
					}
					if _, ours := c.memory.owner(str(own["thought_signature"])); ours {
						return google(400, "INVALID_ARGUMENT", "Unable to submit request because Thought signature is not valid.. Learn more: https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/gemini")
					}
				}
			}
			return nil
		}}, Want: learns},
	{ID: "ollama-unknown-item-reasoning", API: Responses, Vendor: "Ollama", Source: "ollama/ollama#18286", Model: "glm-5.3-flash", Does: "does not know the item reasoning of the Responses API", Wire: reasons,
		Checks: []Check{func(c *Call) *Refusal {
			for i, item := range objects(c.Body["input"]) {
				if str(item["type"]) == "reasoning" {
					return invalid(nil, nil, `input[%d]: unknown input item type: "reasoning"`, i)
				}
			}
			return nil
		}}, Want: learns},
	{ID: "responses-reasoning-at-the-end", API: Responses, Vendor: "OpenAI", Source: "continuedev/continue#10688", Model: "gpt-5.2-codex", Does: "ends an answer with a reasoning item, and refuses such an item that nothing follows", Wire: trailingReasoning,
		Checks: []Check{wantsReasoningItem, reasoningFollowed}},
	{ID: "responses-message-after-its-reasoning", API: Responses, Vendor: "OpenAI", Source: "continuedev/continue#11466", Model: "gpt-5.5", Does: "wants a message with an id behind the reasoning that it came with", Wire: reasons,
		Checks: []Check{func(c *Call) *Refusal {
			before := ""
			for _, item := range objects(c.Body["input"]) {
				if id := str(item["id"]); str(item["type"]) == "message" && strings.HasPrefix(id, "msg_68af") && before != "reasoning" {
					return invalid("input", nil, "Item '%s' of type 'message' was provided without its required 'reasoning' item: 'rs_68af'.", id)
				}
				before = str(item["type"])
			}
			return nil
		}}},
	{ID: "responses-phase", API: Responses, Vendor: "OpenAI", Source: "anomalyco/opencode#15528", Model: "gpt-5.4", Does: "labels its messages as commentary or final answer, and wants the label back", Mind: wordThenCall, Wire: phased,
		Want: Expectation{Sends: []string{`"phase":"commentary"`, `"phase":"final_answer"`}}},
	{ID: "temperature-or-top-p", API: Messages, Vendor: "Bedrock", Source: "aws-samples/aws-genai-llm-chatbot#741", Model: "claude-opus-4-5", Config: "temperature: 0.5, topP: 0.9", Does: "takes temperature or top_p, and not both",
		Checks: []Check{onlyWhen(has("temperature"), refuseParam("top_p", claude(400, "invalid_request_error", "`temperature` and `top_p` cannot both be specified for this model. Please use only one.")))}, Want: learns},
	{ID: "dashscope-no-tool-call", Vendor: "Alibaba", Source: "agno-agi/agno#2929", Path: "/compatible-mode/v1", Model: "deepseek-v3", Does: "says that the tool call is not supported", Checks: []Check{toolless(raw(400, `{"error":{"code":"invalid_parameter_error","param":null,"message":"<400> InternalError.Algo.InvalidParameter: The tool call is not supported.","type":"invalid_request_error"},"id":"chatcmpl-37818767","request_id":"37818767-085f"}`))}, Want: noTools(1)},
	{ID: "llamacpp-unsupported-param-tools", Vendor: "llama.cpp", Source: "QwenLM/Qwen3#822", Does: "answers 500 that tools are an unsupported param", Checks: []Check{toolless(llama(500, "server_error", "Unsupported param: tools"))}, Want: noTools(3)},
	{ID: "gemini-function-calling-not-enabled", Vendor: "Google", Source: "openai/openai-agents-python#4506", Path: "/v1beta/openai", Model: "antigravity-preview-05-2026", Does: "says that function calling is not enabled for a model", Checks: []Check{toolless(google(400, "INVALID_ARGUMENT", "Function calling is not enabled for models/antigravity-preview-05-2026"))}, Want: noTools(1)},
	{ID: "deepseek-tool-choice-while-thinking", Vendor: "DeepSeek", Source: "mozilla-ai/any-llm#1384", Model: "deepseek-v4-flash", Does: "takes no tool_choice while it thinks", Wire: thinksApart, Checks: []Check{refuseParam("tool_choice", deepSeek("Thinking mode does not support this tool_choice"))}, Want: learns},
	{ID: "object-schema-missing-properties", Vendor: "OpenAI", Source: "inboxapi/cli#106", Does: "wants properties in the schema of a tool without parameters", Tools: []ToolSpec{{"bare", `{"type":"object"}`}}, Checks: []Check{schemasWith(func(s obj) bool { _, there := s["properties"].(obj); return !there }, func(i int, name string) *Refusal {
		return invalid(fmt.Sprintf("tools[%d].function.parameters", i), "invalid_function_parameters", "Invalid schema for function '%s': In context=(), object schema missing properties.", name)
	})}},
	{ID: "kimi-null-in-a-schema", API: Messages, Vendor: "Moonshot", Source: "openclaw/openclaw#43844", Model: "k2p5", Does: "validates schemas, and takes no null as a list or an object", Tools: []ToolSpec{{"bare", `{"type":"object"}`}, {"odd", `{"type":"object","properties":{"a":{"type":"string","default":null}},"required":[]}`}}, Checks: []Check{schemasWith(func(s obj) bool {
		required, r := s["required"]
		properties, p := s["properties"]
		return r && required == nil || p && properties == nil
	}, func(int, string) *Refusal {
		return claude(400, "invalid_request_error", "Error validating JSON Schema: <SchemaError: \"None is not of type 'array'\">")
	})}},
	{ID: "copilot-gemini-type-lists", Vendor: "GitHub Copilot", Source: "openclaw/openclaw#61206", Model: "gemini-3-flash-preview", Does: "answers with two words to a list of types or the keyword not, and names no tool", Tools: []ToolSpec{{"lists", `{"type":"object","properties":{"id":{"type":["string","null"]},"n":{"not":{"type":"string"}}}}`}}, Checks: []Check{deepSchemas(func(s obj) bool {
		_, many := s["type"].(list)
		_, not := s["not"]
		return many || not
	}, plain(400, "Bad Request\n"))}, Want: Expectation{Refused: 4}},
	{ID: "kimi-for-coding-agents", Vendor: "Moonshot", Source: "continuedev/continue#10847", Model: "kimi-for-coding", Path: "/coding/v1", Config: "headers: {User-Agent: an-approved-agent/1.0}", Does: "looks at the name of the client", Checks: []Check{header("User-Agent", "an-approved-agent/1.0", raw(403, `{"error":{"message":"Kimi For Coding is currently only available for Coding Agents such as Kimi CLI, Claude Code, Roo Code, Kilo Code, etc.","type":"access_terminated_error"}}`))}},
}

// wordThenCall says a word in front of each call.
func wordThenCall(c *Call) Say {
	s := plainly(c)
	if s.Calls != nil {
		s.Text = "Let me look."
	}
	return s
}
