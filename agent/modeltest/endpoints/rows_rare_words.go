package endpoints

// withoutType refuses messages that say that they are some.
func withoutType(c *Call) *Refusal {
	for _, item := range objects(c.Body["input"]) {
		if str(item["type"]) == "message" {
			return invalid("input[0].type", "unknown_parameter", "Unknown parameter: 'input[0].type'.")
		}
	}
	return nil
}

// otherAPI is what people see of an endpoint that answers with another API, and what owners read: no request is made again as it was.
func otherAPI(api string) Expectation {
	want := wrongAddress("Set `api: " + api + "` at this provider")
	want.Refused = 5
	return want
}

// rareWords are endpoints that say in seldom used words, or late, what they do not take.
var rareWords = []Row{
	{ID: "no-function-declarations", Vendor: "Google", Source: "withceleste/celeste-python#197", Does: "refuses tools as function declarations", Checks: []Check{toolless(google(400, "INVALID_ARGUMENT", "The model does not support function declarations."))}, Want: noTools(1)},
	{ID: "not-trained-for-tools", Vendor: "LM Studio", Source: "lmstudio-ai/lmstudio-bug-tracker#715", Does: "says that the model was not trained for tools", Checks: []Check{toolless(raw(400, `{"error":"This model was not trained for tool use; remove the tool definitions"}`))}, Want: noTools(1)},
	{ID: "messages-without-a-type", API: Responses, Vendor: "a gateway", Source: "envoyproxy/ai-gateway#1838", Does: "takes messages without a type only", Lax: true, Checks: []Check{withoutType}, Want: Expectation{Refused: 1, Sends: []string{`"input":\[\{"role":"user"`, `"type":"function_call_output"`}}},
	{ID: "parameter-refused-later", Vendor: "vLLM", Source: "https://platform.openai.com/docs/guides/error-codes", Does: "takes stream_options twice, and then no more", Checks: []Check{func(c *Call) *Refusal {
		if c.Has("stream_options") && c.memory.times("stream_options") >= 2 {
			return invalid("stream_options", "unknown_parameter", "Unknown parameter: 'stream_options'.")
		}
		return nil
	}}, Want: Expectation{Refused: 2}},
	{ID: "responses-at-a-chat-address", Vendor: "a gateway", Source: "https://platform.openai.com/docs/api-reference/responses/object", Does: "answers with the Responses API where chat completions are asked for", Checks: never(raw(200, `{"id":"resp_1","object":"response","status":"completed","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"hi"}]}]}`)), Want: otherAPI("openai-responses")},
	{ID: "chat-at-a-messages-address", API: Messages, Vendor: "a gateway", Source: "https://platform.openai.com/docs/api-reference/chat/object", Does: "answers with chat completions where messages are asked for", Checks: never(raw(200, `{"id":"c1","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}]}`)), Want: otherAPI("openai-completions")},
}
