package endpoints

var imagesRefused = []Row{
	{
		ID: "deepseek-unknown-variant-image", Faults: []string{"H1"}, Vendor: "DeepSeek", Source: "nesquena/hermes-webui#2297", Model: "deepseek-chat", Kind: KindLearned,
		Does:   "reads a picture as a JSON variant that it does not know",
		Checks: []Check{blind(plain(400, "Failed to deserialize the JSON body into the target type: messages[1]: unknown variant `image_url`, expected `text` at line 1 column 1234"))}, Want: blindly,
	},
	{
		ID: "groq-content-must-be-string", Faults: []string{"H1"}, Vendor: "Groq", Source: "https://console.groq.com/docs/vision",
		Does:   "says that the content must be a string",
		Checks: []Check{blind(invalid(nil, nil, "'messages.1' : for 'role:user' the following must be satisfied[('messages.1.content' : value must be a string)]"))}, Want: blindlyStaged,
	},
	{
		ID: "openrouter-no-endpoint-with-images", Faults: []string{"H1"}, Vendor: "OpenRouter", Source: "Gitlawb/openclaude#1071",
		Does:   "answers 404 when no provider of the model takes pictures",
		Checks: []Check{blind(openAI(404, "", nil, 404, "No endpoints found that support image input"))}, Want: blindly,
	},
	{
		ID: "llamacpp-no-mmproj", Faults: []string{"H1"}, Vendor: "llama.cpp", Source: "https://github.com/ggml-org/llama.cpp/blob/master/docs/multimodal.md",
		Does:   "answers 500 to a picture when it has no projector",
		Checks: []Check{blind(llama(500, "server_error", "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj"))}, Want: Expectation{Refused: 3, Image: BlindText},
	},
	{
		ID: "vllm-not-multimodal", Faults: []string{"H1"}, Vendor: "vLLM", Source: "https://docs.vllm.ai/en/latest/features/multimodal_inputs.html",
		Does:   "says that the model is not multimodal",
		Checks: []Check{blind(vllm(400, "qwen3-8b is not a multimodal model"))}, Want: blindly,
	},
	{
		ID: "vllm-at-most-0-images", Faults: []string{"H1"}, Vendor: "vLLM", Source: "https://docs.vllm.ai/en/latest/features/multimodal_inputs.html",
		Does:   "allows no picture in a prompt",
		Checks: []Check{blind(vllm(400, "At most 0 image(s) may be provided in one prompt."))}, Want: blindly,
	},
	{
		ID: "ollama-no-vision", Faults: []string{"H1"}, Vendor: "Ollama", Source: "https://github.com/ollama/ollama/blob/main/server/prompt.go",
		Does:   "answers 500 to a picture for a model without vision",
		Checks: []Check{blind(ollama(500, "this model is missing data required for image input"))}, Want: Expectation{Refused: 3, Image: BlindText},
	},
	{
		ID: "mistral-no-images", Faults: []string{"H1"}, Vendor: "Mistral", Source: "https://docs.mistral.ai/capabilities/vision",
		Does:   "answers 400 with a code of its own",
		Checks: []Check{blind(mistral(400, "invalid_request_error", "3051", "Image input is not enabled for this model"))}, Want: blindly,
	},
	{
		ID: "openai-content-type-not-supported", Faults: []string{"H1"}, Vendor: "OpenAI", Source: "https://platform.openai.com/docs/guides/images-vision", Model: "o3-mini",
		Does:   "says that a content type is not supported",
		Checks: []Check{blind(invalid(nil, nil, "Invalid content type. image_url is only supported by certain models."))}, Want: blindly,
	},
	{
		ID: "xai-no-images", Faults: []string{"H1"}, Vendor: "xAI", Source: "https://docs.x.ai/docs/guides/image-understanding", Model: "grok-code-fast-1",
		Does:   "puts the cause in a text named error and a sentence in code",
		Checks: []Check{blind(grok(400, "Client specified an invalid argument", "Image inputs are not supported by this model."))}, Want: blindly,
	},
	{
		ID: "glm-content-part-type", Faults: []string{"H1"}, Vendor: "Z.ai", Source: "https://docs.z.ai/api-reference/api-code", Model: "glm-4.6",
		Does:   "answers in its own error code that a content part has a wrong type",
		Checks: []Check{blind(raw(400, `{"error":{"code":"1210","message":"API 调用参数有误，请检查文档。messages.content.type 参数非法，取值范围 ['text']"}}`))}, Want: blindlyStaged,
	},
	{
		ID: "nim-pydantic-list-for-string", Faults: []string{"H1"}, Vendor: "NVIDIA NIM", Source: "https://docs.nvidia.com/nim/large-language-models/latest/api-reference.html",
		Does:   "answers 422 with where and what, the input being a list instead of a text",
		Checks: []Check{blind(raw(422, `{"detail":[{"type":"string_type","loc":["body","messages",1,"content"],"msg":"Input should be a valid string","input":[{"type":"image_url"}]}]}`))}, Want: blindly,
	},
	{
		ID: "bedrock-claude-no-image-in-model", Faults: []string{"H1"}, Vendor: "Bedrock by LiteLLM", Source: "https://docs.aws.amazon.com/bedrock/latest/userguide/conversation-inference-supported-models-features.html",
		Does:   "wraps Bedrock's refusal in a text that has JSON in it",
		Checks: []Check{blind(openAI(400, "None", nil, "400", `litellm.BadRequestError: BedrockException - {"message":"This model doesn't support the image content block that you provided. Please update your request and try again."}`))}, Want: blindly,
	},
	{
		ID: "anthropic-compatible-no-images", Faults: []string{"H1"}, API: Messages, Vendor: "DeepSeek", Source: "https://api-docs.deepseek.com/guides/anthropic_api", Model: "deepseek-chat",
		Does:   "refuses image blocks in Anthropic's shape",
		Checks: []Check{blind(claude(400, "invalid_request_error", "messages.1.content.1: unknown variant `image`, expected one of `text`, `thinking`, `tool_use`, `tool_result`"))}, Want: blindly,
	},
	{
		ID: "responses-no-images", Faults: []string{"H1"}, API: Responses, Vendor: "OpenAI", Source: "https://platform.openai.com/docs/guides/images-vision", Model: "o3-mini",
		Does:   "names the item of the input that is a picture",
		Checks: []Check{blind(invalid("input[1].content[1]", "invalid_value", "Invalid value: 'input_image'. Supported values are: 'input_text'."))}, Want: blindly,
	},
}
