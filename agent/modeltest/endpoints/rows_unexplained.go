package endpoints

// badRequest is a refusal without a reason.
var badRequest = raw(400, `{"success":false,"error":{"message":"Bad Request"}}`)

// refusesTyped refuses a part of the history that is of a type, in the list that a field of the request is: input or messages.
func refusesTyped(field, kind string, no *Refusal) Check {
	return func(c *Call) *Refusal {
		for _, m := range objects(c.Body[field]) {
			if str(m["type"]) == kind {
				return no
			}
			for _, b := range objects(m["content"]) {
				if str(b["type"]) == kind {
					return no
				}
			}
		}
		return nil
	}
}

// unexplained are endpoints that refuse one part of a request, and give no reason.
var unexplained = []Row{
	{ID: "calls-refused-by-a-template", Vendor: "vLLM", Source: "vllm-project/vllm#46328", Model: "glm-5-fp8", Does: "refuses every call of the history, in words of its template",
		Checks: []Check{callsOf(raw(400, `{"object":"error","message":"'str object' has no attribute 'items'","type":"BadRequest","code":400}`))}, Want: Expectation{Refused: 3, Sends: []string{`"stream_options"`}}},
	{ID: "blocks-of-thinking-refused-without-a-reason", API: Messages, Vendor: "LLM Gateway", Source: "theopenco/llmgateway#2508", Model: "deepseek-v4-flash", Thinking: "medium", Does: "refuses blocks of thinking in the history without a reason, and takes calls", Wire: MessagesWire{}.Wire(), Mind: Usual,
		Checks: []Check{refusesTyped("messages", "thinking", badRequest)}, Want: Expectation{Refused: 2, Sends: []string{`"tool_result"`}}},
	{ID: "items-of-reasoning-refused-without-a-reason", API: Responses, Vendor: "GitHub Copilot", Source: "looplj/axonhub#1657", Model: "gpt-5.4", Does: "refuses reasoning items in the input without a reason, and takes calls", Wire: reasons,
		Checks: []Check{refusesTyped("input", "reasoning", badRequest)}, Want: Expectation{Refused: 2, Sends: []string{`"function_call_output"`}}},
	{ID: "long-answer-refused-without-a-reason", API: Messages, Vendor: "a gateway", Source: "nhaouari/obsidian-textgenerator-plugin#138", Does: "refuses more than 4096 tokens of an answer without a reason",
		Checks: []Check{func(c *Call) *Refusal {
			if n, _ := c.Body["max_tokens"].(float64); n > 4096 {
				return badRequest
			}
			return nil
		}}, Want: Expectation{Refused: 4, Again: 1}},
	{ID: "tools-above-a-number-refused-without-a-reason", Vendor: "Z.AI", Source: "zai-org/feedback#81", Does: "refuses more than ten tools without a reason",
		Checks: []Check{func(c *Call) *Refusal {
			if len(c.Tools) > 10 {
				return invalid(nil, nil, "Invalid request")
			}
			return nil
		}}, Want: Expectation{Refused: 5, Again: 1}},
}
