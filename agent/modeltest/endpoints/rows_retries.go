package endpoints

import "strings"

// stream is a body of server-sent events that is sent as a success.
func stream(events ...string) *Refusal {
	return &Refusal{Status: 200, Type: "text/event-stream", Body: "data: " + strings.Join(events, "\n\ndata: ") + "\n\n"}
}

const (
	someText   = `{"id":"x","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant","content":"A draft that"},"finish_reason":null}]}`
	someReason = `{"id":"x","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant","reasoning_content":"private-musing 0"},"finish_reason":null}]}`
	stopped    = `{"id":"x","object":"chat.completion.chunk","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`
)

// hello and useTool say whether a person asked for that.
var (
	hello   = asked(`^hello$`)
	useTool = asked(`^use the tool$`)
)

var retries = []Row{
	{ID: "groq-tool-use-failed", Faults: []string{"M1"}, Vendor: "Groq", Source: "huggingface/smolagents#1119", Does: "answers 400 to a call that its model wrote badly; the same request usually works", Fails: []Failure{failOnce(useTool, openAI(400, "invalid_request_error", nil, "tool_use_failed", "Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details."))}},
	{ID: "ollama-tool-call-parse", Faults: []string{"M1"}, Vendor: "Ollama", Source: "ollama/ollama#17638", Model: "gpt-oss:20b", Does: "answers 500 to a call that its model wrote badly", Fails: []Failure{failOnce(useTool, ollama(500, `error parsing tool call: raw='{"limit":5' , err=unexpected end of JSON input`))}},
	{ID: "tool-use-failed-in-the-stream", Faults: []string{"M1"}, Vendor: "Groq", Source: "agno-agi/agno#4090", Does: "reports the badly written call inside of the stream", Fails: []Failure{failOnce(useTool, stream(`{"error":{"message":"Failed to call a function. Please adjust your prompt.","type":"invalid_request_error","code":"tool_use_failed","failed_generation":"<function=sessions_list>"}}`))}},
	{ID: "error-after-text", Faults: []string{"M4"}, Vendor: "OpenRouter", Source: "https://openrouter.ai/docs/api-reference/streaming", Does: "reports an error after the first words", Fails: []Failure{failOnce(hello, stream(someText, `{"id":"x","object":"chat.completion.chunk","error":{"code":502,"message":"Provider disconnected unexpectedly"},"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}`))}},
	{ID: "anthropic-overloaded-after-text", Faults: []string{"M4"}, API: Messages, Vendor: "Anthropic", Source: "https://docs.anthropic.com/en/docs/build-with-claude/streaming", Does: "reports an overload after the first words", Fails: []Failure{failOnce(hello, &Refusal{Status: 200, Type: "text/event-stream", Body: claudeBegin + "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n"})}},
	{ID: "anthropic-stream-ends-early", Faults: []string{"M4"}, API: Messages, Vendor: "Anthropic", Source: "jeremychone/rust-genai#245", Does: "ends its stream in the middle of a text", Fails: []Failure{failOnce(hello, &Refusal{Status: 200, Type: "text/event-stream", Body: claudeBegin})}},
	{ID: "stream-ends-after-text", Faults: []string{"M4"}, Vendor: "LiteLLM", Source: "gethnet/litellm-connector-copilot#97", Does: "ends its stream after some words without a finish", Fails: []Failure{failOnce(hello, stream(someText))}},
	{ID: "stream-ends-after-reasoning", Faults: []string{"M4"}, Vendor: "DeepSeek", Source: "https://api-docs.deepseek.com/quick_start/rate_limit", Does: "ends its stream after some reasoning", Fails: []Failure{failOnce(hello, stream(someReason))}},
	{ID: "ollama-runner-stopped", Faults: []string{"M4"}, Vendor: "Ollama", Source: "https://github.com/ollama/ollama/blob/main/docs/troubleshooting.mdx", Does: "says that the model runner has stopped, as the first event", Fails: []Failure{failOnce(hello, stream(`{"error":{"message":"model runner has unexpectedly stopped, this may be due to resource limitations or an internal error, check ollama server logs for details","type":"api_error","param":null,"code":null}}`))}},
	{ID: "lmstudio-error-event", Faults: []string{"M4"}, Vendor: "LM Studio", Source: "lmstudio-ai/lmstudio-bug-tracker#1347", Does: "sends an event named error with a text", Fails: []Failure{failOnce(hello, &Refusal{Status: 200, Type: "text/event-stream", Body: "event: error\ndata: {\"error\":{\"message\":\"The model has crashed without additional information. (Exit code: 18446744072635812000)\"}}\n\n"})}},
	{ID: "empty-answer-once", Faults: []string{"M5"}, Vendor: "Gemini", Source: "google-gemini/gemini-cli#7904", Path: "/v1beta/openai", Does: "gives an empty answer, and a whole one to the same request", Fails: []Failure{failOnce(hello, stream(stopped, "[DONE]"))}},
	{ID: "only-reasoning-once", Faults: []string{"M5"}, Vendor: "MiniMax, GLM", Source: "openclaw/openclaw#93767", Does: "thinks and then says nothing", Fails: []Failure{failOnce(hello, stream(someReason, stopped, "[DONE]"))}},
	{ID: "gemini-malformed-function-call", Faults: []string{"M5"}, Vendor: "Google", Source: "NousResearch/hermes-agent#83882", Path: "/v1beta/openai", Does: "ends with MALFORMED_FUNCTION_CALL and nothing else", Fails: []Failure{failOnce(useTool, stream(`{"choices":[{"delta":{"role":"assistant"},"finish_reason":"function_call_filter: MALFORMED_FUNCTION_CALL","index":0}],"created":1,"id":"x","model":"m","object":"chat.completion.chunk"}`, "[DONE]"))}},
	{ID: "anthropic-empty-answer-once", Faults: []string{"M5"}, API: Messages, Vendor: "Anthropic", Source: "https://docs.anthropic.com/en/docs/build-with-claude/handling-stop-reasons", Does: "ends its turn without a word", Fails: []Failure{failOnce(hello, &Refusal{Status: 200, Type: "text/event-stream", Body: claudeEmpty})}},
	{ID: "overloaded-503-then-well", Vendor: "vLLM, Ollama", Source: "https://github.com/ollama/ollama/blob/main/docs/faq.md", Does: "answers 503 while a model is loaded", Fails: []Failure{upTo(2, hello, openAI(503, "server_error", nil, nil, "server busy, please try again. maximum pending requests exceeded"))}},
	{ID: "llamacpp-loading", Vendor: "llama.cpp", Source: "https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md", Does: "answers 503 while it loads", Fails: []Failure{failOnce(hello, llama(503, "unavailable_error", "Loading model"))}},
	{ID: "rate-limit-with-retry-after", Vendor: "OpenAI", Source: "https://platform.openai.com/docs/guides/rate-limits", Does: "answers 429 and says when to come again", Fails: []Failure{failOnce(hello, openAI(429, "requests", nil, "rate_limit_exceeded", "Rate limit reached for model-1 on requests per min (RPM): Limit 3, Used 3, Requested 1.").with("Retry-After", "0"))}},
	{ID: "rate-limit-inside-200", Vendor: "a gateway", Source: "leookun/devin-2api#3", Does: "answers 200 with a rate limit as JSON", Fails: []Failure{failOnce(hello, &Refusal{Status: 200, Body: `{"error":{"message":"Rate limit exceeded","type":"rate_limit_error","code":429}}`})}},
	{ID: "gemini-429-list", Vendor: "Google", Source: "https://ai.google.dev/gemini-api/docs/rate-limits", Path: "/v1beta/openai", Does: "answers 429 with a list of one error", Fails: []Failure{failOnce(hello, google(429, "RESOURCE_EXHAUSTED", "You exceeded your current quota, please check your plan and billing details. Please retry in 0.1s."))}},
	{ID: "anthropic-529", API: Messages, Vendor: "Anthropic", Source: "https://docs.anthropic.com/en/api/errors", Does: "answers 529 when it is overloaded", Fails: []Failure{failOnce(hello, claude(529, "overloaded_error", "Overloaded"))}},
	{ID: "anthropic-overloaded-event-first", API: Messages, Vendor: "Anthropic", Source: "https://docs.anthropic.com/en/docs/build-with-claude/streaming", Does: "reports an overload as its first event", Fails: []Failure{failOnce(hello, &Refusal{Status: 200, Type: "text/event-stream", Body: "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n"})}},
	{ID: "error-after-a-tool-result", Vendor: "any", Source: "openclaw/openclaw#64840", Does: "fails once on the request with a tool's result", Fails: []Failure{failOnce(afterTool, openAI(500, "server_error", nil, nil, "The server had an error while processing your request. Sorry about that!"))}},
	{ID: "http-408", Vendor: "OpenAI", Source: "https://github.com/openai/openai-python#retries", Does: "answers 408 when it took too long", Fails: []Failure{failOnce(hello, openAI(408, "timeout", nil, nil, "Request timeout"))}},
	{ID: "cloudflare-524", Vendor: "Cloudflare", Source: "https://developers.cloudflare.com/support/troubleshooting/http-status-codes/cloudflare-5xx-errors/", Does: "answers 524 with a text", Fails: []Failure{failOnce(hello, plain(524, "error code: 524"))}},
	{ID: "conflict-409", Vendor: "OpenAI, Bedrock", Source: "https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html", Does: "answers 409 that the model is not ready", Fails: []Failure{failOnce(hello, message(409, "Model is not ready for inference, please retry."))}},
	{ID: "bad-request-once", Faults: []string{"M1"}, Vendor: "OpenAI", Source: "BerriAI/litellm#8020", Does: "answers 400 once that the model produced invalid content", Fails: []Failure{failOnce(hello, openAI(400, "invalid_request_error", nil, nil, "The model produced invalid content. Consider modifying your prompt if you are seeing this error persistently."))}},
}

const (
	claudeStart = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"m\",\"content\":[],\"stop_reason\":null,\"stop_sequence\":null,\"usage\":{\"input_tokens\":9,\"output_tokens\":1}}}\n\n"
	claudeBegin = claudeStart + "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\nevent: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"A draft that\"}}\n\n"
	claudeEmpty = claudeStart + "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\",\"stop_sequence\":null},\"usage\":{\"output_tokens\":2}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"
)
