package endpoints

// sse200 is a success whose body is server-sent events as they are.
func sse200(body string) *Refusal {
	return &Refusal{Status: 200, Type: "text/event-stream", Body: body}
}

// page403 is Cloudflare's page for clients that it does not trust.
var page403 = &Refusal{Status: 403, Type: "text/html; charset=UTF-8", Body: `<!DOCTYPE html><html lang="en-US"><head><title>Just a moment...</title><meta http-equiv="Content-Type" content="text/html; charset=UTF-8"></head><body>Enable JavaScript and cookies to continue</body></html>`}

// manyPictures refuses a request with a picture in it.
func manyPictures(no *Refusal) []Check { return []Check{blind(no)} }

// goneModel is what people see of a model that is no more.
var goneModel = dies(`does not have this model`)

// oddAnswers are answers and classes of failures of 2026.
var oddAnswers = []Row{
	{ID: "arguments-so-far", Vendor: "Baidu Qianfan", Source: "NousResearch/hermes-agent#35718", Model: "deepseek-v4", Does: "sends all arguments so far in each chunk", Wire: rearguing(growing)},
	{ID: "arguments-again-at-the-end", Vendor: "a gateway", Source: "elizaOS/eliza#16973", Model: "gemma-4-31b", Does: "sends the arguments in pieces, and then whole once more", Wire: rearguing(func(s string) []string {
		a, b := halves(s)
		return []string{a, b, s}
	})},
	{ID: "two-objects-of-arguments", Vendor: "Google", Source: "NousResearch/hermes-agent#26053", Path: "/v1beta/openai", Model: "gemini-3-flash-preview", Does: "joins the arguments of two calls into those of one", Wire: rearguing(func(s string) []string {
		return []string{s + `{"limit":6}`}
	})},
	{ID: "calls-in-a-second-choice", Vendor: "GitHub Copilot", Source: "SakanaAI/AI-Scientist-v2#89", Model: "claude-sonnet-4.5", Does: "has text and calls in two choices", Wire: ChatWire{Whole: true, Answer: secondChoice}.Wire()},
	{ID: "copilot-opaque-reasoning", Vendor: "GitHub Copilot", Source: "anomalyco/opencode#8900", Model: "gemini-3-pro-preview", Does: "has reasoning_text, and wants reasoning_opaque back with the calls", Wire: ChatWire{Reasoning: "reasoning_text", Last: opaqueReasoning}.Wire(), Checks: []Check{opaqueBack}},
	{ID: "finish-error-without-a-cause", Vendor: "OpenRouter", Source: "earendil-works/pi#9002", Does: "ends with the finish reason error after the first words, and says no more", Fails: []Failure{failOnce(hello, stream(someText, `{"id":"x","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":""},"finish_reason":"error","native_finish_reason":"error"}]}`, "[DONE]"))}},
	{ID: "finish-error-in-a-whole-answer", Vendor: "OpenRouter", Source: "maximhq/bifrost#5425", Does: "has the finish reason error and half a text in an answer that is no stream", Fails: []Failure{failOnce(hello, raw(200, `{"id":"gen-x","object":"chat.completion","created":1700000000,"model":"google/gemini-3.1-flash-lite","choices":[{"index":0,"message":{"role":"assistant","content":"A draft that"},"finish_reason":"error"}],"usage":{"prompt_tokens":null,"completion_tokens":null,"total_tokens":0}}`))}},
	{ID: "bare-error-in-the-stream", Vendor: "OpenRouter", Source: "anomalyco/opencode#22448", Does: "sends code and message of an error without an object around them", Fails: []Failure{failOnce(hello, stream(someText, `{"code":502,"message":"Network connection lost.","metadata":{"error_type":"provider_unavailable"}}`))}},
	{ID: "no-choices-once", Vendor: "OpenRouter", Source: "speakeasy-api/gram#3129", Does: "answers 200 with an empty list of choices", Fails: []Failure{failOnce(hello, raw(200, `{"id":"gen-x","object":"chat.completion","created":1700000000,"model":"m","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":0,"total_tokens":9}}`))}},
	{ID: "error-as-text-in-the-stream", Vendor: "Ollama", Source: "ollama/ollama-js#285", Model: "kimi-k2.5:cloud", Does: "sends an error that is a text as an event", Fails: []Failure{failOnce(hello, stream(someText, `{"error":"Post \"https://ollama.com:443/v1/chat/completions?ts=1775218167\": unexpected EOF"}`))}},
	{ID: "error-glued-to-a-line", Vendor: "a router", Source: "duolahypercho/codex-router#100", Does: "writes an error event into the middle of a line when what is behind it dies", Fails: []Failure{failOnce(hello, sse200("data: "+someText+"\n\ndata: {\"id\":\"x\",\"choices\":[{\"index\":0,\"delta\":{\"conevent: error\ndata: {\"error\":{\"message\":\"upstream closed the connection\",\"type\":\"server_error\"}}\n\n"))}},
	{ID: "ollama-invalid-call-arguments", Vendor: "Ollama", Source: "duolahypercho/codex-router#161", Model: "minimax-m3", Does: "answers 400 to arguments that its model wrote badly; the same request usually works", Fails: []Failure{failOnce(useTool, ollama(400, "invalid tool call arguments"))}},
	{ID: "output-blocked-once", API: Messages, Vendor: "Anthropic", Source: "anthropics/claude-code#58367", Does: "answers 400 that the output was blocked, as long as a word is in the request", Checks: []Check{refuseText("hello", claude(400, "invalid_request_error", "Output blocked by content filtering policy"))}, Want: Expectation{Plain: refusedText, Refused: 1}},
	{ID: "output-blocked-in-the-stream", API: Messages, Vendor: "Anthropic", Source: "anthropics/claude-code#55789", Does: "says after the first words that the output was blocked", Fails: []Failure{always(asked(`^hello$`), sse200(claudeBegin+"event: error\ndata: {\"type\":\"error\",\"error\":{\"details\":null,\"type\":\"invalid_request_error\",\"message\":\"Output blocked by content filtering policy\"},\"request_id\":\"req_1\"}\n\n"))}, Want: Expectation{Plain: refusedText}},
	{ID: "anthropic-usage-limits", API: Messages, Vendor: "Anthropic", Source: "anthropics/claude-code#38035", Model: "claude-opus-4-6", Does: "answers 400 when the limit that the customer set is used up", Checks: never(claude(400, "invalid_request_error", "You have reached your specified API usage limits. You will regain access on 2026-04-01 at 00:00 UTC.")), Want: dies(creditWords)},
	{ID: "anthropic-usage-limits-as-500", API: Messages, Vendor: "Continue", Source: "continuedev/continue#11621", Model: "claude-opus-4-6", Does: "answers 500 with the limit as JSON in a text", Checks: never(raw(500, encode(`{"type":"error","error":{"type":"invalid_request_error","message":"You have reached your specified API usage limits. You will regain access on 2026-04-01 at 00:00 UTC."},"request_id":"req_1"}`))), Want: dies(creditWords)},
	{ID: "codex-usage-limit", API: Responses, Vendor: "ChatGPT", Source: "router-for-me/CLIProxyAPI#1666", Model: "gpt-5.3-codex", Does: "answers 429 when the plan is used up for days, and says for how long in the body", Checks: never(raw(429, `{"error":{"type":"usage_limit_reached","message":"The usage limit has been reached","plan_type":"free","resets_at":1772180859,"resets_in_seconds":529498}}`)), Want: dies(`(?i)rate limit|paid`)},
	{ID: "long-context-is-extra", API: Messages, Vendor: "Anthropic", Source: "anthropics/claude-code#29584", Model: "claude-opus-4-6", Does: "answers 429 to a prompt that only an extra contract allows", Checks: never(claude(429, "rate_limit_error", "Extra usage is required for long context requests.")), Want: dies(`(?i)too long|paid|rate limit`)},
	{ID: "model-at-its-end-of-life", Vendor: "NVIDIA NIM", Source: "caidaoli/ccLoad#107", Does: "answers 410 to a model that is no longer served", Checks: never(raw(410, `{"error":{"type":"bad_response_status_code","message":"The model 'model-1' has reached its end of life on 2026-08-07T09:00:00Z and is no longer available."},"type":"error"}`)), Want: goneModel},
	{ID: "model-decommissioned", Vendor: "Groq", Source: "ai-ecoverse/slicc#1135", Does: "answers 400 to a model that is no longer served", Checks: never(openAI(400, "invalid_request_error", nil, "model_decommissioned", "The model `model-1` has been decommissioned and is no longer supported. Please refer to https://console.groq.com/docs/deprecations for a recommendation on which model to use instead.")), Want: goneModel},
	{ID: "model-not-for-new-users", Vendor: "Google", Source: "Lore-Hex/quill-router#287", Path: "/v1beta/openai", Does: "answers 404 that a model is no longer available to new users", Checks: never(google(404, "NOT_FOUND", "This model models/model-1 is no longer available to new users. Please update your code to use a newer model for the latest features and improvements.")), Want: goneModel},
	{ID: "challenge-page", Vendor: "Cloudflare", Source: "anthropics/claude-code#30399", Does: "answers 403 once with a page that only a browser passes, which says nothing of the key", Fails: []Failure{failOnce(hello, page403)}},
	{ID: "challenge-page-always", Vendor: "Cloudflare", Source: "anthropics/claude-code#30399", Does: "answers 403 with a page that only a browser passes", Checks: never(page403), Want: dies(`(?i)problem|could not reach|not set up`)},
	{ID: "picture-too-large-among-many", API: Messages, Vendor: "Anthropic", Source: "charmbracelet/crush#3810", Does: "refuses large pictures in a request with many", Checks: manyPictures(claude(400, "invalid_request_error", "messages.2.content.1.image.source.base64.data: At least one of the image dimensions exceed max allowed size for many-image requests: 2000 pixels")), Want: Expectation{Refused: 1, Image: `.`}},
	{ID: "request-too-large-with-pictures", API: Messages, Vendor: "Anthropic", Source: "earendil-works/pi#401", Does: "answers 413 to a request whose pictures are too many bytes", Checks: manyPictures(raw(413, `{"error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}`)), Want: Expectation{Refused: Any, Image: `.`}},
}
