package endpoints

// Words that people see, by the class of what went wrong.
const (
	busyWords   = `(?i)busy|rate limit`
	downWords   = `(?i)problem|try again`
	longWords   = `(?i)too long`
	refusedText = `(?i)refused to answer`
	creditWords = `(?i)credit|paid|payment|billing|quota`
	keyWords    = `(?i)key|set up`
	modelWords  = `(?i)model`
	formWords   = `rejects the form of my requests` // no message is blamed
)

// dies is what people see of an endpoint that never answers: words that name the cause, and a second provider's answer.
func dies(words string) Expectation {
	return Expectation{Plain: words, Tool: words, Follow: None, Restart: None, Back: None, Refused: Any}
}

// never fails each request.
func never(no *Refusal) []Check { return []Check{refusing(no)} }

var classes = []Row{
	{ID: "anthropic-credit-balance", Faults: []string{"H7", "M10"}, API: Messages, Vendor: "Anthropic", Source: "anthropics/claude-code#4684", Does: "answers 400 when there is no credit", Checks: never(claude(400, "invalid_request_error", "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.")), Want: dies(creditWords)},
	{ID: "openai-insufficient-quota", Faults: []string{"H7", "M10"}, Vendor: "OpenAI", Source: "openclaw/openclaw#1879", Does: "answers 429 when the account has no credit", Checks: never(openAI(429, "insufficient_quota", nil, "insufficient_quota", "You exceeded your current quota, please check your plan and billing details.")), Want: dies(creditWords)},
	{ID: "deepseek-insufficient-balance", Faults: []string{"M10"}, Vendor: "DeepSeek", Source: "https://api-docs.deepseek.com/quick_start/error_codes", Does: "answers 402 without balance", Checks: never(openAI(402, "unknown_error", nil, "invalid_request_error", "Insufficient Balance")), Want: dies(creditWords)},
	{ID: "openrouter-credits", Faults: []string{"M10"}, Vendor: "OpenRouter", Source: "https://openrouter.ai/docs/api-reference/errors", Does: "answers 402 when the credits do not do for the longest answer", Checks: never(openAI(402, "", nil, 402, "This request requires more credits, or fewer max_tokens. You requested up to 65536 tokens, but can only afford 2044.")), Want: dies(creditWords)},
	{ID: "xai-spending-limit", Faults: []string{"M10"}, Vendor: "xAI", Source: "https://docs.x.ai/docs/key-information/debugging", Does: "answers 403 or 429 when the team has no credits", Checks: never(grok(403, "The caller does not have permission to execute the specified operation", "Your newly created team doesn't have any credits or licenses yet. You can purchase those on https://console.x.ai")), Want: dies(creditWords)},
	{ID: "glm-no-balance", Faults: []string{"M10"}, Vendor: "Z.ai", Source: "https://docs.z.ai/api-reference/api-code", Does: "answers 429 with code 1113 without balance", Checks: never(raw(429, `{"error":{"code":"1113","message":"Insufficient balance or no resource package. Please recharge."}}`)), Want: dies(creditWords)},
	{ID: "moonshot-suspended", Faults: []string{"M10"}, Vendor: "Moonshot", Source: "https://platform.moonshot.ai/docs/api/chat", Does: "suspends an organization without balance", Checks: never(raw(429, `{"error":{"message":"Your account org-1 is suspended, please check your plan and billing details","type":"exceeded_current_quota_error"}}`)), Want: dies(creditWords)},
	{ID: "bad-request-with-fallback", Faults: []string{"H7"}, Vendor: "a gateway", Source: "openclaw/openclaw#64840", Does: "answers 400 without a reason", Checks: never(raw(400, `{"error":{"message":"Bad Request"}}`)), Want: dies(`.`)},
	{ID: "empty-400", Faults: []string{"H7"}, Vendor: "Google", Source: "openclaw/openclaw#136613", Path: "/v1beta/openai", Does: "answers 400 with a list and no cause", Checks: never(google(400, "INVALID_ARGUMENT", "Request contains an invalid argument.")), Want: dies(`.`)},
	{ID: "wrong-key", Vendor: "OpenAI", Source: "https://platform.openai.com/docs/guides/error-codes", Does: "answers 401 to a wrong key", Checks: never(openAI(401, "invalid_request_error", nil, "invalid_api_key", "Incorrect API key provided: key-of-t*-test. You can find your API key at https://platform.openai.com/account/api-keys.")), Want: dies(keyWords)},
	{ID: "google-key-as-400", Faults: []string{"M10"}, Vendor: "Google", Source: "https://ai.google.dev/gemini-api/docs/troubleshooting", Path: "/v1beta/openai", Does: "answers 400 to a wrong key", Checks: never(google(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.")), Want: dies(keyWords)},
	{ID: "no-such-model", Vendor: "OpenAI", Source: "https://platform.openai.com/docs/guides/error-codes", Does: "answers 404 to a model that it does not know", Checks: never(openAI(404, "invalid_request_error", nil, "model_not_found", "The model `model-1` does not exist or you do not have access to it.")), Want: dies(modelWords)},
	{ID: "ollama-model-not-pulled", Vendor: "Ollama", Source: "https://github.com/ollama/ollama/blob/main/docs/api.md", Does: "answers 404 to a model that was not pulled", Checks: never(ollama(404, `model "model-1" not found, try pulling it first`)), Want: dies(modelWords)},
	{ID: "azure-content-filter", Faults: []string{"M2"}, Vendor: "Azure", Source: "https://learn.microsoft.com/azure/ai-foundry/openai/concepts/content-filter", Does: "answers 400 with code content_filter to a word, as long as the word is in the request", Checks: []Check{refuseText("hello", raw(400, `{"error":{"message":"The response was filtered due to the prompt triggering Azure OpenAI's content management policy. Please modify your prompt and retry.","type":null,"param":"prompt","code":"content_filter","status":400,"innererror":{"code":"ResponsibleAIPolicyViolation","content_filter_result":{"hate":{"filtered":true,"severity":"high"}}}}}`))},
		Want: Expectation{Plain: refusedText, Refused: 1}},
	{ID: "dashscope-inappropriate-content", Faults: []string{"M2"}, Vendor: "Alibaba", Source: "https://help.aliyun.com/zh/model-studio/error-code", Path: "/compatible-mode/v1", Does: "answers 400 with data_inspection_failed", Checks: []Check{refuseText("hello", openAI(400, "data_inspection_failed", nil, "data_inspection_failed", "Input data may contain inappropriate content."))},
		Want: Expectation{Plain: refusedText, Refused: 1}},
	{ID: "deepseek-content-risk", Faults: []string{"M2"}, Vendor: "DeepSeek", Source: "deepseek-ai/awesome-deepseek-integration#13", Does: "answers 400 that content exists risk", Checks: []Check{refuseText("hello", deepSeek("Content Exists Risk"))},
		Want: Expectation{Plain: refusedText, Refused: 1}},
	{ID: "openai-invalid-prompt", Faults: []string{"M2"}, API: Responses, Vendor: "OpenAI", Source: "https://platform.openai.com/docs/guides/reasoning", Does: "answers 400 with code invalid_prompt to a prompt that it flags", Checks: []Check{refuseText("hello", invalid(nil, "invalid_prompt", "Invalid prompt: your prompt was flagged as potentially violating our usage policy. Please try again with a different prompt: https://platform.openai.com/docs/guides/reasoning#advice-on-prompting"))},
		Want: Expectation{Plain: refusedText, Refused: 1}},
	{ID: "openrouter-moderation", Faults: []string{"M2"}, Vendor: "OpenRouter", Source: "https://openrouter.ai/docs/api-reference/errors", Does: "answers 403 with the reasons of its moderation", Checks: []Check{refuseText("hello", raw(403, `{"error":{"code":403,"message":"Input was flagged","metadata":{"reasons":["violence"],"flagged_input":"hello","provider_name":"OpenAI","model_slug":"openai/gpt-5"}}}`))},
		Want: Expectation{Plain: refusedText, Refused: 1}},
	{ID: "bad-picture-refused", Faults: []string{"M2"}, API: Messages, Vendor: "Anthropic", Source: "anthropics/claude-code#15478", Does: "cannot process one picture, as long as it is in the request", Checks: []Check{blind(claude(400, "invalid_request_error", "messages.1.content.1.image.source.base64.data: Could not process image"))},
		Want: Expectation{Refused: 1, Image: `.`}},
	{ID: "finish-content-filter", Vendor: "Azure, OpenAI", Source: "https://platform.openai.com/docs/api-reference/chat/object", Does: "ends with the finish reason content_filter and no text", Mind: func(c *Call) Say {
		s := Usual(c)
		if c.Asked() == "hello" {
			s.Text, s.Finish = "", "content_filter"
		}
		return s
	}, Want: Expectation{Plain: refusedText}},
	{ID: "refusal-in-delta", Vendor: "OpenAI", Source: "https://platform.openai.com/docs/guides/structured-outputs", Does: "streams a refusal in a field of its own", Wire: edit(func(c *Call, p *Piece) {
		if p.Kind == "text" && c.Asked() == "hello" {
			p.delta()["refusal"], p.delta()["content"] = p.delta()["content"], nil
		}
	}), Want: Expectation{Plain: `echo: hello|` + refusedText}},
	{ID: "web-page-instead-of-an-api", Vendor: "a wrong address", Source: "openclaw/openclaw#64840", Does: "answers with a web page", Checks: never(&Refusal{Status: 200, Type: "text/html", Body: "<!doctype html><html><body>Welcome!</body></html>"}), Want: dies(`.`)},
	{ID: "gateway-502-page", Vendor: "nginx, Cloudflare", Source: "https://developers.cloudflare.com/support/troubleshooting/http-status-codes/cloudflare-5xx-errors/", Does: "answers 502 with a web page", Checks: never(&Refusal{Status: 502, Type: "text/html", Body: "<html><head><title>502 Bad Gateway</title></head></html>"}), Want: dies(downWords)},
	{ID: "rate-limit-daily", Vendor: "Groq", Source: "https://console.groq.com/docs/rate-limits", Does: "asks to wait for longer than a turn may take", Checks: never(openAI(429, "tokens", nil, "rate_limit_exceeded", "Rate limit reached for model `model-1` in organization `org_1` on tokens per day (TPD): Limit 100000, Used 99600, Requested 3000. Please try again in 37m26.4s.").with("Retry-After", "2246")), Want: dies(busyWords)},
}
