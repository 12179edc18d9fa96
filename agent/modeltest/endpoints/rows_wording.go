package endpoints

import "strings"

// overFull refuses conversations of more characters than fit.
func overFull(characters int, no *Refusal) []Check {
	return []Check{func(c *Call) *Refusal {
		n := 0
		for _, m := range c.Messages {
			n += len(m.Text)
		}
		if n <= characters {
			return nil
		}
		return no
	}}
}

// talkative is Usual with long answers.
func talkative(c *Call) Say {
	s := plainly(c)
	if s.Text != "" {
		s.Text += strings.Repeat(" and so on", 70)
	}
	return s
}

// veryTalkative is Usual with very long answers.
func veryTalkative(c *Call) Say {
	s := plainly(c)
	if s.Text != "" {
		s.Text += strings.Repeat(" and so on", 500)
	}
	return s
}

// summedUp is what people see of a talkative model whose conversation is summed up when it is too long.
var summedUp = Expectation{Plain: `^echo: hello`, Tool: `^The tool names a session`, Follow: `^echo: and now`, Restart: `^echo: are you there`, Back: `^echo: and here`, Refused: Any, Again: Any, Log: "summarized the older part of a session"}

// windowful is a row of an endpoint whose conversation is too long after some messages, in words of its own.
func windowful(id, vendor, source, does string, no *Refusal) Row {
	return Row{ID: id, Vendor: vendor, Source: source, Does: does, Checks: overFull(1900, no), Mind: talkative, Want: summedUp}
}

// wordless is the end of an answer without a word, and the provider's reason for it.
func wordless(reason string) *Refusal {
	return stream(`{"id":"x","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":"`+reason+`"}]}`, "[DONE]")
}

// wordings are endpoints that say in words of their own that a prompt is too long, that money is missing, or how long to wait.
var wordings = []Row{
	{ID: "too-long-out-of-memory", Vendor: "vLLM", Source: "langgenius/dify-official-plugins#599", Does: "answers 500 that its graphics memory is full when a prompt is long", Mind: veryTalkative, Want: summedUp,
		Checks: overFull(9500, raw(500, `{"error":{"message":"CUDA out of memory. Tried to allocate 318.00 MiB. GPU 0 has a total capacity of 23.53 GiB of which 315.44 MiB is free.","type":"InternalServerError","param":null,"code":500}}`))},
	windowful("too-long-sglang-input-length", "SGLang", "https://github.com/sgl-project/sglang/blob/main/python/sglang/srt/managers/utils.py", "answers 400 with two numbers of tokens in words of its own",
		raw(400, `{"object":"error","message":"Input length (9000 tokens) exceeds the maximum allowed length (8186 tokens). Use a shorter input or enable --allow-auto-truncate.","type":"BadRequestError","param":null,"code":400}`)),
	windowful("too-long-tgi-inputs", "Hugging Face TGI", "https://github.com/huggingface/text-generation-inference/blob/main/router/src/validation.rs", "answers 422 with what the inputs must have less of",
		raw(422, "{\"error\":\"Input validation error: `inputs` must have less than 4096 tokens. Given: 5000\",\"error_type\":\"validation\"}")),
	windowful("too-long-cloudflare", "Cloudflare", "https://developers.cloudflare.com/workers-ai/platform/errors/", "answers 400 with an estimate of input and output",
		raw(400, `{"errors":[{"message":"AiError: AiError: The estimated number of input and maximum output tokens (8500) exceeded this model context window limit (7968).","code":5021}],"success":false,"result":{},"messages":[]}`)),
	{ID: "too-many-messages", Vendor: "OpenAI", Source: "https://platform.openai.com/docs/guides/error-codes", Does: "answers 400 to more messages than it takes", Checks: []Check{messagesOver(7, func(n int) *Refusal {
		return invalid("messages", "array_above_max_length", "Invalid 'messages': array too long. Expected an array with maximum length 7, but got an array with length %d instead.", n)
	})}, Want: fewer},
	windowful("too-long-in-french", "a gateway", "https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html", "answers 400 in French", invalid(nil, nil, "La requête dépasse la limite de 32 768 jetons (40 000 reçus)")),
	windowful("openrouter-prompt-limit", "OpenRouter", "continuedev/continue#11540", "answers 402 to prompts that are longer than the credit is enough for",
		raw(402, `{"error":{"message":"Prompt tokens limit exceeded: 36163 > 29652. To increase, visit https://openrouter.ai/settings/credits and upgrade to a paid account","code":402}}`)),
	{ID: "openrouter-prompt-limit-of-nothing", Vendor: "OpenRouter", Source: "continuedev/continue#11540", Does: "answers 402 to any prompt, as the credit is enough for shorter ones only",
		Checks: never(raw(402, `{"error":{"message":"Prompt tokens limit exceeded: 36163 > 296. To increase, visit https://openrouter.ai/settings/credits and upgrade to a paid account","code":402}}`)), Want: dies(`wants to be paid first`)},
	{ID: "github-models-small-window", Vendor: "GitHub Models", Source: "cline/cline#995", Does: "answers 413 to the instructions and tools alone",
		Checks: never(raw(413, `{"error":{"code":"tokens_limit_reached","message":"Request body too large for gpt-4o model. Max size: 8000 tokens.","details":"Request body too large for gpt-4o model. Max size: 8000 tokens."}}`)), Want: overlong},
	{ID: "window-full-without-a-word", Vendor: "Z.ai", Source: "https://docs.z.ai/api-reference/llm/chat-completion", Model: "glm-5.2", Does: "ends a conversation that fills its window without a word", Checks: overFull(1900, wordless("model_context_window_exceeded")), Mind: talkative, Want: summedUp},
	{ID: "window-full-in-other-words", Vendor: "a gateway", Source: "https://docs.z.ai/api-reference/llm/chat-completion", Does: "ends a conversation that fills its window with a word of its own", Checks: overFull(1900, wordless("context-overflow")), Mind: talkative, Want: summedUp},
	{ID: "gigachat-blacklist", Vendor: "GigaChat", Source: "https://developers.sber.ru/docs/ru/gigachat/api/reference", Model: "GigaChat-2", Does: "ends an answer that its filter refused with blacklist", Fails: []Failure{always(hello, wordless("blacklist"))}, Want: Expectation{Plain: refusedText}},
	{ID: "risk-control-finish", Vendor: "a gateway", Source: "https://docs.z.ai/api-reference/llm/chat-completion", Does: "ends an answer that its filter refused with risk_control", Fails: []Failure{always(hello, wordless("risk_control"))}, Want: Expectation{Plain: refusedText}},
	{ID: "model-error-finish", Vendor: "a gateway", Source: "https://docs.z.ai/api-reference/llm/chat-completion", Does: "ends an answer that failed with model_error", Fails: []Failure{failOnce(hello, wordless("model_error"))}},
	{ID: "zai-five-hours", Vendor: "Z.ai", Source: "dirge-code/dirge#818", Model: "glm-5.2", Does: "answers 429 with the time at which its limit ends",
		Checks: never(raw(429, `{"error":{"code":"1308","message":"Usage limit reached for 5 hour. Your limit will reset at 2999-11-27 03:26:27"}}`).with("Retry-After", "later")), Want: dies(`try again in \d+ days`)},
	{ID: "volcengine-overdue", Vendor: "Volcengine", Source: "https://www.volcengine.com/docs/82379/1299023", Does: "answers 403 when the account has to be paid",
		Checks: never(raw(403, `{"error":{"code":"AccountOverdueError","message":"The request failed because your account has an overdue balance. Request id: 0217","param":"","type":"Forbidden"}}`)), Want: dies(`wants to be paid first`)},
	{ID: "cloudflare-neurons", Vendor: "Cloudflare", Source: "https://developers.cloudflare.com/workers-ai/platform/errors/", Does: "answers 429 when the free allocation of the day is used up",
		Checks: never(raw(429, `{"errors":[{"message":"AiError: you have used up your daily free allocation of 10,000 neurons, please upgrade to Cloudflare's Workers Paid plan if you would like to continue usage.","code":4006}],"success":false,"result":{},"messages":[]}`)), Want: dies(`wants to be paid first`)},
	{ID: "qianfan-too-long", Vendor: "Baidu", Source: "https://cloud.baidu.com/doc/WENXINWORKSHOP/s/tlmyncueh", Does: "answers 200 with an error code to a prompt that is too long", Checks: never(raw(200, `{"error_code":336103,"error_msg":"Prompt tokens too long"}`)), Want: overlong},
	{ID: "qianfan-token", Vendor: "Baidu", Source: "https://cloud.baidu.com/doc/WENXINWORKSHOP/s/tlmyncueh", Does: "answers 200 with an error code to a token that it does not know", Checks: never(raw(200, `{"error_code":110,"error_msg":"Access token invalid or no longer valid"}`)), Want: dies(`does not accept my key`)},
}
