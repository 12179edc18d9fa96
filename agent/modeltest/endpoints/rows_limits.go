package endpoints

import "strings"

// longReasoning is Usual that thinks for very long on hello.
func longReasoning(pieces int) Wire {
	return ChatWire{Reasoning: "reasoning_content", Last: func(c *Call, all []Piece) (out []Piece) {
		if c.Asked() != "hello" {
			return all
		}
		// DeepSeek's framing: about 313 bytes for each piece of one token.
		raw := `{"id":"930c60df-bf64-41c9-a88e-3ec75f81e00e","object":"chat.completion.chunk","created":1764000000,"model":"deepseek-reasoner","system_fingerprint":"fp_8802369eaa_prod0425fp8","choices":[{"index":0,"delta":{"content":null,"reasoning_content":" ` + Musing + `"},"logprobs":null,"finish_reason":null}]}`
		out = append(out, all[0])
		for range pieces {
			out = append(out, Piece{Kind: "reasoning", Raw: raw})
		}
		return append(out, all[1:]...)
	}}.Wire()
}

// long is a wire that makes the text of hello so many bytes long.
func long(bytes int) Mind {
	return func(c *Call) Say {
		s := plainly(c)
		if c.Asked() == "hello" {
			s.Text += " " + strings.Repeat("word ", bytes/5) + "end."
		}
		return s
	}
}

// overlong is what people see of a prompt that does not fit. A second model whose window is not known is asked.
var overlong = dies(longWords)

// tooLong is a row of an endpoint whose window is full at once.
func tooLong(id, vendor, source, does string, no *Refusal) Row {
	return Row{ID: id, Vendor: vendor, Source: source, Does: does, Checks: never(no), Want: overlong}
}

var limits = []Row{
	{ID: "20000-pieces-of-reasoning", Faults: []string{"H6"}, Vendor: "DeepSeek", Source: "https://api-docs.deepseek.com/guides/reasoning_model", Model: "deepseek-reasoner", Does: "thinks in 20,000 chunks of 313 bytes", Wire: longReasoning(20000), Mind: Usual},
	{ID: "64000-pieces-of-reasoning", Faults: []string{"H6"}, Vendor: "DeepSeek", Source: "https://api-docs.deepseek.com/guides/reasoning_model", Model: "deepseek-reasoner", Does: "thinks for the 64,000 tokens that it may", Wire: longReasoning(64000)},
	{ID: "long-answer", Vendor: "any", Source: "https://platform.openai.com/docs/models", Does: "answers with 60,000 characters", Mind: long(60000), Want: Expectation{Plain: `^echo: hello word `}},
	tooLong("too-long-openai", "OpenAI", "https://platform.openai.com/docs/guides/error-codes", "answers 400 with context_length_exceeded", invalid("messages", "context_length_exceeded", "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens. Please reduce the length of the messages.")),
	tooLong("too-long-vllm", "vLLM", "https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html", "answers 400 with the numbers of tokens", vllm(400, "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens in the messages, Please reduce the length of the messages.")),
	tooLong("too-long-llamacpp", "llama.cpp", "https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md", "answers 400 that the request exceeds the context size", raw(400, `{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error","n_prompt_tokens":5000,"n_ctx":4096}}`)),
	tooLong("too-long-gemini", "Google", "https://ai.google.dev/gemini-api/docs/long-context", "answers with a list of one error", google(400, "INVALID_ARGUMENT", "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).")),
	tooLong("too-long-mistral", "Mistral", "https://docs.mistral.ai/api/", "answers 400 in its own shape", mistral(400, "invalid_request_prompt", "3051", "Prompt contains 140000 tokens and 0 draft tokens, too large for model with 131072 maximum context length")),
	tooLong("too-long-lmstudio", "LM Studio", "lmstudio-ai/lmstudio-bug-tracker#649", "answers 400 with an error that is text", raw(400, `{"error":"The number of tokens to keep from the initial prompt is greater than the context length. Try to load the model with a larger context length, or provide a shorter input"}`)),
	tooLong("too-long-groq-413", "Groq", "https://console.groq.com/docs/errors", "answers 413 to a request that is larger than a minute's allowance", openAI(413, "tokens", nil, "rate_limit_exceeded", "Request too large for model `llama-3.1-8b-instant` in organization `org_1` service tier `on_demand` on tokens per minute (TPM): Limit 6000, Requested 9000, please reduce your message size and try again.")),
	{ID: "too-long-in-raw", Faults: []string{"M3"}, Vendor: "OpenRouter", Source: "zed-industries/zed#64424", Does: "has the cause only in metadata.raw", Checks: never(router(400, "Amazon Bedrock", `{"message":"Input is too long for requested model."}`)), Want: overlong},
	{ID: "too-long-in-a-list-of-raw", Faults: []string{"M3"}, Vendor: "OpenRouter", Source: "https://openrouter.ai/docs/api-reference/errors", Does: "has JSON in JSON in metadata.raw", Checks: never(router(400, "Anthropic", `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}`)), Want: overlong},
	{ID: "too-long-in-litellm-text", Faults: []string{"M3"}, Vendor: "LiteLLM", Source: "microsoft/autogen#6377", Does: "wraps the cause in the names of its exceptions", Checks: never(openAI(400, "None", nil, "400", "litellm.ContextWindowExceededError: litellm.BadRequestError: ContextWindowExceededError: OpenAIException - Your input exceeds the context window of this model. Please adjust your input and try again.\nmodel=gpt-5. context_window_fallbacks=None.")), Want: overlong},
	{ID: "one-picture-per-message", Faults: []string{"H1"}, Vendor: "Ollama", Source: "ollama/ollama-js#213", Does: "takes one picture and no more", Checks: []Check{func(c *Call) *Refusal {
		if c.pictures() > 1 {
			return ollama(500, "vision model only supports a single image per message")
		}
		return nil
	}}, Want: Expectation{Image: ImageText}},
	{ID: "silent-stream", Vendor: "LM Studio", Source: "lmstudio-ai/lmstudio-bug-tracker#2255", Does: "sends comments for a while before its answer", Wire: framed(Frame{Head: strings.Repeat(": waiting\n\n", 2000)})},
}

var ollamaFacts = []Row{
	{ID: "ollama-newest-is-an-embedding", Faults: []string{"H10"}, Vendor: "Ollama", Source: "https://github.com/ollama/ollama/blob/main/docs/api.md", Model: "qwen3:8b", Chosen: true, Env: map[string]string{"OLLAMA_HOST": "{url}"},
		Does: "lists an embedding model first, which cannot chat", Pages: ollamaPages("qwen3:8b", 40960, `"completion","tools","thinking"`, "nomic-embed-text:latest", "mxbai-embed-large:latest", "qwen3:8b"), Want: Expectation{Fallback: None, Back: None}},
	{ID: "ollama-embedding-by-capability", Faults: []string{"H10"}, Vendor: "Ollama", Source: "https://github.com/ollama/ollama/blob/main/docs/api.md", Model: "llama3.2:3b", Chosen: true, Env: map[string]string{"OLLAMA_HOST": "{url}"},
		Does: "lists an embedding model whose name does not say so", Pages: ollamaPages("llama3.2:3b", 131072, `"completion","tools"`, "snowflake-arctic:latest", "llama3.2:3b"), Want: Expectation{Fallback: None, Back: None}},
	{ID: "ollama-host-without-scheme", Vendor: "Ollama", Source: "https://github.com/ollama/ollama/blob/main/docs/faq.mdx", Model: "qwen3:8b", Chosen: true, Env: map[string]string{"OLLAMA_HOST": "{host}/"},
		Does: "is named by host and port alone", Pages: ollamaPages("qwen3:8b", 40960, `"completion","tools"`, "qwen3:8b"), Want: Expectation{Fallback: None, Back: None}},
	{ID: "ollama-small-window", Faults: []string{"H10"}, Vendor: "Ollama", Source: "https://github.com/ollama/ollama/blob/main/docs/context-length.mdx", Model: "qwen3:8b", Chosen: true, Env: map[string]string{"OLLAMA_HOST": "{url}"},
		Does: "runs a model with a window of 4096 tokens, and cuts longer prompts in silence", Pages: ollamaPages("qwen3:8b", 4096, `"completion","tools"`, "qwen3:8b"), Want: Expectation{Fallback: None, Back: None, Log: `4[ ,]?096`}},
}

// ollamaPages are what Ollama says of its models: the list in both forms, and the facts of one that can chat.
func ollamaPages(model string, window int, capabilities string, names ...string) []Page {
	var data, tags list
	for _, n := range names {
		data = append(data, obj{"id": n, "object": "model", "created": 1764000000, "owned_by": "library"})
		tags = append(tags, obj{"name": n, "model": n, "size": 5e9, "details": obj{"family": "qwen3"}})
	}
	show := func(name string) string {
		if name == model {
			return `{"capabilities":[` + capabilities + `],"parameters":"num_ctx ` + encode(window) + `","model_info":{"general.architecture":"qwen3","qwen3.context_length":40960},"details":{"family":"qwen3"}}`
		}
		return `{"capabilities":["embedding"],"model_info":{"general.architecture":"nomic-bert","nomic-bert.context_length":2048},"details":{"family":"nomic-bert"}}`
	}
	shows := map[string]string{}
	for _, n := range names {
		shows[n] = show(n)
	}
	return []Page{
		{Path: "/v1/models", Body: encode(obj{"object": "list", "data": data})},
		{Path: "/api/tags", Body: encode(obj{"models": tags})},
		{Path: "/api/ps", Body: encode(obj{"models": list{obj{"name": model, "model": model, "context_length": window}}})},
		{Path: "/api/version", Body: `{"version":"0.32.6"}`},
		{Path: "/api/show", ByModel: shows},
	}
}
