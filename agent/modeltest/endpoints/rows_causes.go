package endpoints

import "strings"

// causes are behaviours of 2026 that a second look at the trackers found.
var causes = []Row{
	{ID: "call-as-bare-json", Vendor: "Ollama by LiteLLM", Source: "NousResearch/hermes-agent#107125", Model: "qwen2.5:32b-instruct", Does: "writes a call as JSON, without any markup around it", Mind: writtenCall(func(k ToolCall) string {
		return `{"name": "` + k.Name + `", "arguments": ` + k.Args + `}`
	})},
	{ID: "json-that-is-no-call", Vendor: "any", Source: "ggml-org/llama.cpp#18183", Does: "answers with JSON that looks like a call of a tool which there is not", Mind: instead(func(string) string { return `{"name": "deploy", "arguments": {"to": "prod"}}` }), Unhidden: true,
		Want: Expectation{Plain: `"deploy"`, Tool: `"deploy"`, Follow: `"deploy"`, Restart: `"deploy"`, Back: `"deploy"`}},
	{ID: "mm-think-tags", Vendor: "vLLM", Source: "vllm-project/vllm#46042", Model: "MiniMaxAI/MiniMax-M3", Does: "writes reasoning in tags with the prefix mm", Wire: ChatWire{Reasoning: "tags", Tag: "mm:think"}.Wire()},
	{ID: "answer-tags", Vendor: "vLLM", Source: "vllm-project/vllm#58127", Model: "tencent/Hunyuan-A13B-Instruct", Does: "writes its answer in answer tags behind its reasoning", Wire: ChatWire{Reasoning: "tags"}.Wire(), Mind: instead(func(s string) string { return "<answer>\n" + s + "\n</answer>" })},
	{ID: "databricks-external-model-error", Vendor: "Databricks", Source: "aaif-goose/goose#4644", Does: "has the error of the model's provider as JSON in a text in JSON", Checks: []Check{refuseParam("stream_options", raw(400, encode(obj{"error_code": "BAD_REQUEST", "message": encode(obj{"external_model_provider": "google-cloud-vertex-ai", "external_model_error": obj{"error": obj{"code": 400, "message": "Invalid JSON payload received. Unknown name \"stream_options\": Cannot find field.", "status": "INVALID_ARGUMENT"}}})})))}, Want: learns},
	{ID: "error-of-broken-json", Vendor: "Databricks", Source: "aaif-goose/goose#6336", Does: "quotes JSON in JSON without escaping it", Checks: []Check{refuseParam("stream_options", raw(400, `{"external_model_provider":"databricks-model-serving","external_model_error":{"error_code":"BAD_REQUEST","message":"{"message":"stream_options: Extra inputs are not permitted"}"}}`))}, Want: learns},
	{ID: "consider-retrying", Vendor: "Databricks", Source: "aaif-goose/goose#1161", Model: "databricks-meta-llama-3-3-70b-instruct", Does: "answers 400 when its model wrote a call badly", Fails: []Failure{failOnce(useTool, raw(400, `{"error_code":"BAD_REQUEST","message":"Error: Model response did not respect the required format. Please consider retrying or using a more straightforward prompt."}`))}},
	{ID: "gemini-retry-with-other-level", Vendor: "Google", Source: "agentjido/req_llm#971", Path: "/v1beta/openai", Model: "gemini-3.7-flash", Thinking: "minimal", Does: "refuses a thinking level, and asks to retry with another", Checks: []Check{among("reasoning_effort", "low medium high", func(v string) *Refusal {
		return google(400, "INVALID_ARGUMENT", "Thinking level %s is not supported for this model. Please retry with other thinking level.", strings.ToUpper(v))
	})}, Want: Expectation{Refused: 1, Sends: []string{`"reasoning_effort":"low"`}}},
	{ID: "gemini-allowed-levels", Vendor: "Google", Source: "fishjar/kiss-translator#1048", Path: "/v1beta/openai", Model: "gemini-3.7-flash", Thinking: "minimal", Does: "lists the thinking levels that it allows", Checks: []Check{among("reasoning_effort", "low medium high", func(v string) *Refusal {
		return raw(400, `{"error":{"message":"'`+v+`' is not a supported thinking level for this model. Allowed values are: medium, low, high.","code":"invalid_request"}}`)
	})}, Want: Expectation{Refused: 1, Sends: []string{`"reasoning_effort":"low"`}}},
	{ID: "anthropic-omitted-thinking", API: Messages, Vendor: "Anthropic", Source: "code-yeongyu/senpi#345", Model: "claude-opus-5", Thinking: "medium", Lax: true, Does: "omits the text of its thinking, and wants the signed block back", Wire: MessagesWire{Edit: omitThinking}.Wire(), Checks: []Check{claudeKeys, claudePairs, thinkingKept, omittedBack}},
	{ID: "responses-long-item-ids", API: Responses, Vendor: "ChatGPT", Source: "NousResearch/hermes-agent#27038", Model: "gpt-5.5", Does: "makes ids of 400 characters, and takes none that is longer than 64 back", Wire: longItemIDs, Checks: []Check{shortItemIDs, wantsReasoningItem}},
	{ID: "rate-limit-as-a-json-text", Vendor: "Cerebras", Source: "continuedev/continue#9800", Model: "zai-glm-4.7", Does: "answers 429 with a text in quotes", Fails: []Failure{failOnce(hello, raw(429, `"Tokens per minute limit exceeded - too many tokens processed."`))}},
	tooLong("too-long-glm", "Z.ai", "https://docs.z.ai/api-reference/api-code", "answers 400 with a code of its own", raw(400, `{"error":{"code":"1261","message":"Prompt exceeds max length"}}`)),
	tooLong("too-long-dashscope", "Alibaba", "https://help.aliyun.com/zh/model-studio/error-code", "names the range of the length of the input", openAI(400, "invalid_request_error", nil, "invalid_parameter_error", "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 129024]")),
	tooLong("too-long-vllm-passed", "vLLM", "proxysoul/Empryo#52", "says how many tokens were passed", vllm(400, "You passed 202753 input tokens and requested 0 output tokens. However, the model's context length is only 202752 tokens, resulting in a maximum input length of 202752 tokens. Please reduce the length of the input prompt. (parameter=input_tokens, value=202753)")),
}

// writtenCall has the model write its first call as text.
func writtenCall(write func(ToolCall) string) Mind {
	return func(c *Call) Say {
		s := plainly(c)
		if len(s.Calls) > 0 {
			s.Text, s.Calls = write(s.Calls[0]), nil
		}
		return s
	}
}

// omitThinking empties the text of thinking, and leaves its signature.
func omitThinking(_ *Call, p *Piece) {
	if d, ok := p.Data["delta"].(obj); ok && d["type"] == "thinking_delta" {
		d["thinking"] = ""
	}
}

// omittedBack wants thinking back as it was given out: no text, and its signature.
func omittedBack(c *Call) *Refusal {
	for i, m := range objects(c.Body["messages"]) {
		for n, b := range objects(m["content"]) {
			if _, ours := c.memory.owner(str(b["signature"])); str(b["type"]) == "thinking" && (!ours || b["thinking"] != "") {
				return claude(400, "invalid_request_error", "messages.%d.content.%d: Invalid `signature` in `thinking` block", i, n)
			}
		}
	}
	return nil
}

// shortItemIDs refuses ids of more than 64 characters.
func shortItemIDs(c *Call) *Refusal {
	for i, item := range objects(c.Body["input"]) {
		for _, key := range []string{"id", "call_id"} {
			if id := str(item[key]); len(id) > 64 {
				where := "input[" + encode(i) + "]." + key
				return invalid(where, "string_above_max_length", "Invalid '%s': string too long. Expected a string with maximum length 64, but got a string with length %d instead.", where, len(id))
			}
		}
	}
	return nil
}
