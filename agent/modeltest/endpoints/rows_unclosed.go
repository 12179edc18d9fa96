package endpoints

import "strings"

// shown is a row of an endpoint without a parser for how its model writes a call.
func shown(id, vendor, source, model, does string, form func(name, args string) string) Row {
	return Row{ID: id, Vendor: vendor, Source: source, Model: model, Does: does, Wire: plainWire, Mind: markup(func(k ToolCall) string { return form(k.Name, k.Args) })}
}

// fragments streams reasoning_details in three pieces: two texts and a signature.
func fragments(c *Call, pieces []Piece) (out []Piece) {
	for _, p := range pieces {
		if p.Kind == "call" {
			for _, item := range []obj{{"type": "reasoning.text", "text": "Let me ", "format": "anthropic-claude-v1", "index": 0}, {"type": "reasoning.text", "text": "look.", "format": "anthropic-claude-v1", "index": 0},
				{"type": "reasoning.text", "signature": "SigABC+/=123456", "format": "anthropic-claude-v1", "index": 0}} {
				out = append(out, Piece{Kind: "details", Data: obj{"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": c.Body["model"], "choices": list{obj{"index": 0, "delta": obj{"reasoning_details": list{item}}}}}})
			}
		}
		out = append(out, p)
	}
	return out
}

// wantsBack refuses histories whose own calls lack a text in their message.
func wantsBack(text string, no *Refusal) Check {
	return func(c *Call) *Refusal {
		for _, m := range c.Messages {
			own := false
			for _, k := range m.Calls {
				own = own || strings.HasPrefix(k.ID, "call_Ab3")
			}
			if own && !strings.Contains(encode(m.Raw), text) {
				return no
			}
		}
		return nil
	}
}

// sealing puts a field beside the calls of a piece.
func sealing(field string, value any) Wire {
	return ChatWire{Edit: func(_ *Call, p *Piece) {
		if p.Kind == "call" {
			p.delta()[field] = value
		}
	}}.Wire()
}

// unclosed are endpoints that show calls and thoughts of their models without closing marks, or in forms of their own; and those whose
// signatures come in other fields or pieces.
var unclosed = []Row{
	shown("granite-list-behind-a-mark", "vLLM", "https://docs.vllm.ai/en/latest/features/tool_calling.html", "granite-3.3-8b", "writes a list of calls behind a mark, and closes it with nothing", func(n, a string) string { return `<|tool_call|>[{"name": "` + n + `", "arguments": ` + a + `}]` }),
	shown("hermes-without-an-end", "vLLM", "https://github.com/vllm-project/vllm/blob/main/vllm/tool_parsers/hermes_tool_parser.py", "hermes-4", "leaves out the closing tag of a call, at which it stopped", func(n, a string) string { return "<tool_call>\n{\"name\": \"" + n + "\", \"arguments\": " + a + "}" }),
	shown("glm-without-an-end", "SGLang", "https://docs.z.ai/guides/llm/glm-4.5", "glm-4.5", "leaves out the closing tag of a call with keys and values", func(n, _ string) string {
		return "<tool_call>" + n + "\n<arg_key>limit</arg_key>\n<arg_value>5</arg_value>"
	}),
	shown("step-calls", "vLLM", "https://github.com/vllm-project/vllm/blob/main/vllm/tool_parsers/step3_tool_parser.py", "step3", "writes a call in its own marks and tags", func(n, _ string) string {
		return `<｜tool_calls_begin｜><｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="` + n + `"><steptml:parameter name="limit">5</steptml:parameter></steptml:invoke><｜tool_call_end｜><｜tool_calls_end｜>`
	}),
	shown("gigachat-function-call", "vLLM", "https://github.com/vllm-project/vllm/blob/main/vllm/tool_parsers/gigachat3_tool_parser.py", "gigachat3", "writes a call behind the words function call", func(n, a string) string {
		return "function call<|role_sep|>\n{\"name\": \"" + n + "\", \"arguments\": " + a + "}<|message_sep|>"
	}),
	shown("llama-call-with-its-end", "llama.cpp", "https://github.com/meta-llama/llama-models/blob/main/models/llama3_1/prompt_format.md", "llama-3.1-8b", "ends a call that is nothing but JSON with a mark", func(n, a string) string {
		return `{"type": "function", "name": "` + n + `", "parameters": ` + a + `}<|eom_id|>`
	}),
	shown("invoke-with-a-name-space", "a gateway", "anthropics/claude-code#1281", "claude-sonnet-4-6", "writes a call in tags with a name space", func(n, _ string) string {
		return `<any:function_calls><any:invoke name="` + n + `"><any:parameter name="limit">5</any:parameter></any:invoke></any:function_calls>`
	}),
	shown("command-r-action", "Ollama", "https://docs.cohere.com/docs/prompting-command-r", "command-r", "writes a call as an action", func(n, a string) string {
		return "Action: ```json\n[{\"tool_name\":\"" + n + "\",\"parameters\":" + a + "}]```"
	}),
	{ID: "glm-v-box", Vendor: "vLLM", Source: "https://github.com/zai-org/GLM-V", Model: "glm-4.5v", Does: "puts its answer into a box", Wire: plainWire, Mind: instead(func(s string) string { return "<|begin_of_box|>" + s + "<|end_of_box|>" })},
	{ID: "granite-thoughts", Vendor: "vLLM", Source: "https://github.com/vllm-project/vllm/blob/main/vllm/reasoning/granite_reasoning_parser.py", Model: "granite-3.2-8b", Does: "writes its thoughts behind words", Wire: plainWire, Mind: thinking("Here is my thought process:\n", "\n\nHere is my response:\n")},
	{ID: "signature-in-its-own-piece", Vendor: "OpenRouter", Source: "agno-agi/agno#5802", Model: "anthropic/claude-sonnet-4.6", Does: "streams a block of thinking in pieces, and wants one item back", Wire: ChatWire{Last: fragments}.Wire(),
		Checks: []Check{wantsBack(`"reasoning_details":[{"format":"anthropic-claude-v1","index":0,"signature":"SigABC+/=123456","text":"Let me look.","type":"reasoning.text"}]`, invalid(nil, nil, "messages.1.content.0: Invalid `signature` in `thinking` block"))}, Want: Expectation{Again: 1}},
	{ID: "signature-under-another-name", Vendor: "a gateway", Source: "https://docs.litellm.ai/docs/reasoning_content", Does: "signs its reasoning in a field of its own, and wants it back", Wire: sealing("reasoning_signature", "SigABC"),
		Checks: []Check{wantsBack(`"reasoning_signature":"SigABC"`, invalid(nil, nil, "messages.1: a signature is missing"))}, Want: Expectation{Again: 1}},
}
