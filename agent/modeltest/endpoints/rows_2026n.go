package endpoints

import (
	"fmt"
	"strings"
)

// musing moves what a model says into its reasoning where that is all it says: a call in markup.
func musing(form func(k ToolCall) string) Mind {
	return func(c *Call) Say {
		s := Usual(c)
		for _, k := range s.Calls {
			s.Reasoning += " I look it up. " + form(k)
		}
		s.Calls = nil
		return s
	}
}

// reasonedCalls are endpoints whose parser gives a call as a part of the reasoning.
var reasonedCalls = []Row{
	{ID: "kimi-call-in-reasoning", Vendor: "Chutes", Source: "vybestack/llxprt-code#749", Model: "kimi-k2-thinking", Does: "leaves a call in its tool calls section in the reasoning", Wire: ChatWire{Reasoning: "reasoning_content"}.Wire(),
		Mind: musing(func(k ToolCall) string {
			return "<|tool_calls_section_begin|><|tool_call_begin|>functions." + k.Name + ":0<|tool_call_argument_begin|>" + k.Args + "<|tool_call_end|><|tool_calls_section_end|>"
		})},
	{ID: "qwen-call-in-reasoning", Vendor: "vLLM", Source: "vllm-project/vllm#39056", Model: "qwen3.5-35b-a3b", Does: "leaves a call as function and parameter tags in the reasoning", Wire: ChatWire{Reasoning: "reasoning"}.Wire(),
		Mind: musing(func(k ToolCall) string {
			return "\n<tool_call>\n<function=" + k.Name + ">\n<parameter=limit>\n5\n</parameter>\n</function>\n</tool_call>\n"
		})},
	{ID: "deepseek-call-in-reasoning", Vendor: "llama.cpp", Source: "leehack/llamadart#402", Model: "deepseek-v4", Does: "leaves a call in its DSML markup in the reasoning", Wire: ChatWire{Reasoning: "reasoning_content", Whole: true}.Wire(),
		Mind: musing(func(k ToolCall) string {
			return "<｜DSML｜tool_calls>\n<｜DSML｜invoke name=\"" + k.Name + "\">\n<｜DSML｜parameter name=\"limit\" string=\"false\">5</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜tool_calls>"
		})},
	{ID: "messages-call-in-thinking", API: Messages, Lax: true, Vendor: "vLLM", Source: "vllm-project/vllm#39056", Model: "qwen3.5-35b-a3b", Does: "leaves a call as JSON in tags in a thinking block", Wire: MessagesWire{Unsigned: true, Thinks: func(*Call) bool { return true }}.Wire(),
		Mind: musing(func(k ToolCall) string {
			return "<tool_call>\n{\"name\": \"" + k.Name + "\", \"arguments\": " + k.Args + "}\n</tool_call>"
		})},
}

// contentOf finds a message of a role whose content is of the other form; none = -1.
func contentOf(c *Call, role string, isWrong func(content any) bool) int {
	for i, m := range objects(c.Body["messages"]) {
		if str(m["role"]) == role && isWrong(m["content"]) {
			return i
		}
	}
	return -1
}

func isText(content any) bool { _, ok := content.(string); return ok }

// forms are endpoints that want a field, or the content of messages, in one form.
var forms = []Row{
	{ID: "strict-is-required", Vendor: "a gateway", Source: "https://docs.pydantic.dev/latest/errors/validation_errors/#missing", Does: "wants to be told of each function whether it is strict", Checks: []Check{func(c *Call) *Refusal {
		for i, t := range objects(c.Body["tools"]) {
			if _, ok := function(t)["strict"].(bool); !ok {
				return openAI(400, "invalid_request_error", nil, nil, "tools[%d].function.strict: Field required", i)
			}
		}
		return nil
	}}, Want: Expectation{Refused: 1, Sends: []string{`"strict":false`}}},
	{ID: "strict-means-all-parameters", Vendor: "OpenRouter", Source: "sarrazola/openlivery#96", Does: "takes functions for strict that do not say so", Checks: []Check{func(c *Call) *Refusal {
		if len(c.Tools) > 0 && !strings.Contains(string(c.Raw), `"strict":false`) {
			return openAI(400, "invalid_request_error", "tools[0].function.strict", nil, "Missing required parameter: 'tools[0].function.strict'.")
		}
		return nil
	}}, Want: Expectation{Refused: 1}},
	{ID: "content-of-people-as-a-list", Vendor: "a gateway", Source: "https://docs.pydantic.dev/latest/errors/validation_errors/#list_type", Does: "takes what people say as a list of parts only", Checks: []Check{func(c *Call) *Refusal {
		if i := contentOf(c, "user", isText); i >= 0 {
			return openAI(400, "invalid_request_error", nil, nil, "messages.%d.content: Input should be a valid list", i)
		}
		return nil
	}}, Want: Expectation{Refused: 1, Image: ImageText}},
	{ID: "results-of-tools-as-a-list", Vendor: "a gateway", Source: "https://docs.pydantic.dev/latest/errors/validation_errors/#list_type", Does: "takes the results of tools as a list of parts only", Checks: []Check{func(c *Call) *Refusal {
		if i := contentOf(c, "tool", isText); i >= 0 {
			return openAI(422, "", nil, "list_type", "body.messages.%d.content: Input should be a valid list", i)
		}
		return nil
	}}, Want: Expectation{Refused: 1}},
	{ID: "all-content-as-a-list", Vendor: "a gateway", Source: "https://docs.pydantic.dev/latest/errors/validation_errors/#list_type", Does: "takes content as a list of parts only, and names no message", Checks: []Check{func(c *Call) *Refusal {
		for _, role := range []string{"system", "user", "tool"} {
			if contentOf(c, role, isText) >= 0 {
				return openAI(400, "invalid_request_error", nil, nil, "content must be a list")
			}
		}
		return nil
	}}, Want: Expectation{Refused: 4}},
	{ID: "gemini-name-of-a-result", Vendor: "Google", Source: "https://ai.google.dev/api/caching#FunctionResponse", Path: "/v1beta/openai", Model: "gemini-3-flash", Does: "wants to know of which tool a result is", Checks: []Check{func(c *Call) *Refusal {
		for i, m := range objects(c.Body["messages"]) {
			if str(m["role"]) == "tool" && str(m["name"]) == "" {
				return raw(400, encode(list{obj{"error": obj{"code": 400, "message": fmt.Sprintf("* GenerateContentRequest.contents[%d].parts[0].function_response.name: Name cannot be empty.\n", i), "status": "INVALID_ARGUMENT"}}}))
			}
		}
		return nil
	}}, Want: Expectation{Refused: 1, Sends: []string{`"name":"sessions_list","content"`}}},
	{ID: "xai-content-beside-calls", Vendor: "xAI", Source: "langchain-ai/langchain#34140", Model: "grok-4", Does: "wants content beside calls", Checks: []Check{nullContent(raw(400, `{"code":"Client specified an invalid argument","error":"Invalid request content: Each message must have at least one content element."}`))}, Want: Expectation{Refused: 2, Lacks: []string{`I called the tool`}}},
	{ID: "rust-content-beside-calls", Vendor: "mistral.rs", Source: "https://serde.rs/enum-representations.html#untagged", Does: "cannot read messages whose content is null", Checks: []Check{nullContent(raw(422, "Failed to deserialize the JSON body into the target type: messages[2]: data did not match any variant of untagged enum ChatMessage at line 1 column 900"))}, Want: Expectation{Refused: 2, Lacks: []string{`I called the tool`}}},
}
