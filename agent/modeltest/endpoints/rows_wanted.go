package endpoints

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// shortTexts refuses a text of a message, an item or a block that has more characters; the system message is as long as it is.
func shortTexts(most int, no func(place string, is int) *Refusal) Check {
	return func(c *Call) *Refusal {
		for _, key := range []string{"messages", "input"} {
			for i, m := range objects(c.Body[key]) {
				for _, field := range []string{"content", "output"} {
					if n := utf8.RuneCountInString(str(m[field])); n > most && str(m["role"]) != "system" {
						return no(fmt.Sprintf("%s[%d].%s", key, i, field), n)
					}
				}
			}
		}
		return nil
	}
}

// aboveLength is OpenAI's refusal of a text that is too long.
func aboveLength(most int) func(string, int) *Refusal {
	return func(place string, is int) *Refusal {
		return invalid(place, "string_above_max_length", "Invalid '%s': string too long. Expected a string with maximum length %d, but got a string with length %d instead.", place, most, is)
	}
}

// longTool is a tool whose result is long.
var longTool = map[string]string{"echo": `{"content":[{"type":"text","text":"echo ` + strings.Repeat("0123456789", 300) + `"}]}`}

// begins has the person told how the result of a tool begins.
func begins(m Message) string { return "The tool says " + m.Text[:min(len(m.Text), 4)] }

// longResult is a row whose server takes no text as long as the result of a tool.
func longResult(id string, api API, vendor, source, does string, check Check) Row {
	return Row{ID: id, API: api, Vendor: vendor, Source: source, Does: does, Tools: echoTool, Results: longTool, Mind: calling("odd_echo", begins), Checks: []Check{check},
		Want: Expectation{Tool: `^The tool says echo$`, Refused: 1, Sends: []string{`was left out`}}}
}

// typedTools wants each definition to say that it is a custom tool.
func typedTools(no *Refusal) Check {
	return func(c *Call) *Refusal {
		for _, t := range objects(c.Body["tools"]) {
			if str(t["type"]) != "custom" {
				return no
			}
		}
		return nil
	}
}

// nestedTools wants definitions of the form that chat completions have.
func nestedTools(no *Refusal) Check {
	return func(c *Call) *Refusal {
		for _, t := range objects(c.Body["tools"]) {
			if f, ok := t["function"].(obj); !ok || str(f["name"]) == "" {
				return no
			}
		}
		return nil
	}
}

// plainItems refuses an item of the model's that has more than a text: one of the fields.
func plainItems(no *Refusal, fields ...string) Check {
	return func(c *Call) *Refusal {
		for _, item := range objects(c.Body["input"]) {
			_, isText := item["content"].(string)
			if str(item["role"]) == "assistant" && (!isText || slices.ContainsFunc(fields, func(f string) bool { return item[f] != nil })) {
				return no
			}
		}
		return nil
	}
}

// breaksAfterWords fails once in a turn with a tool, after words of the answer.
func breaksAfterWords(event string) []Failure {
	return []Failure{failOnce(useTool, stream(someText, event))}
}

// demandRows are endpoints that want something that was not said, or said in another form, and ones that fail in words of refusals.
var demandRows = []Row{
	longResult("text-above-length", Chat, "OpenAI", "https://platform.openai.com/docs/guides/error-codes", "takes no message of more than 2,000 characters", shortTexts(2000, aboveLength(2000))),
	longResult("responses-text-above-length", Responses, "OpenAI", "https://platform.openai.com/docs/guides/error-codes", "takes no item of more than 2,000 characters", shortTexts(2000, aboveLength(2000))),
	longResult("qianfan-text-above-length", Chat, "Baidu", "https://cloud.baidu.com/doc/qianfan-api/s/4m3z0nz6x", "takes no message of more than 2,000 characters, without its place", shortTexts(2000, func(string, int) *Refusal {
		return raw(400, `{"error_code":336103,"error_msg":"the length of message content in messages can not be greater than 2000"}`)
	})),
	longResult("pydantic-text-above-length", Chat, "a FastAPI server", "https://docs.pydantic.dev/latest/errors/validation_errors/#string_too_long", "takes no message of more than 2,000 characters", shortTexts(2000, func(string, int) *Refusal {
		return fastAPI("string_too_long", list{"body", "messages", 3, "tool", "content"}, "String should have at most 2000 characters", "x")
	})),

	{ID: "messages-tool-type-missing", API: Messages, Vendor: "a relay", Source: "https://platform.claude.com/docs/en/api/messages", Does: "wants each tool to say that it is a custom one", Checks: []Check{typedTools(claude(400, "invalid_request_error", "tools.0.type: Field required"))}, Want: Expectation{Refused: 1, Sends: []string{`"type":"custom"`}}},
	{ID: "messages-tool-type-missing-by-lines", API: Messages, Vendor: "a relay with pydantic", Source: "https://docs.pydantic.dev/latest/errors/validation_errors/#missing", Does: "wants each tool to say that it is a custom one", Checks: []Check{typedTools(fastAPI("missing", list{"body", "tools", 0, "type"}, "Field required", "x"))}, Want: Expectation{Refused: 1, Sends: []string{`"type":"custom"`}}},
	{ID: "responses-tool-function-missing", API: Responses, Vendor: "a gateway", Source: "https://platform.openai.com/docs/guides/error-codes", Does: "hands tools on to chat completions as they are", Lax: true, Checks: []Check{nestedTools(invalid("tools[0].function", "missing_required_parameter", "Missing required parameter: 'tools[0].function'."))}, Want: Expectation{Refused: 1, Sends: []string{`"function":\{"name"`}}},
	{ID: "responses-strictness", API: Responses, Vendor: "a gateway", Source: "https://platform.openai.com/docs/guides/function-calling#strict-mode", Does: "takes no word of strict mode", Checks: []Check{func(c *Call) *Refusal {
		if strings.Contains(encode(c.Body["tools"]), `"strict"`) {
			return message(400, "strictness of functions cannot be set")
		}
		return nil
	}}, Want: Expectation{Refused: 1, Sends: []string{`"tools":\[\{"type":"function","name":"[a-z_]+","description":"[^"]*","parameters"`}}},

	{ID: "effort-required", Vendor: "any", Source: "https://platform.openai.com/docs/guides/error-codes", Does: "wants to be told how much to think", Checks: []Check{wants("reasoning_effort", invalid("reasoning_effort", "missing_required_parameter", "Missing required parameter: 'reasoning_effort'."))}, Want: Expectation{Refused: 1, Sends: []string{`"reasoning_effort":"low"`}}},
	{ID: "thinking-mode-only", Vendor: "any", Source: "https://ai.google.dev/gemini-api/docs/thinking", Does: "answers only when it is told to think", Checks: []Check{wants("reasoning_effort", message(400, "This model only works with thinking enabled"))}, Want: Expectation{Refused: 1, Sends: []string{`"reasoning_effort":"low"`}}},
	{ID: "responses-reasoning-required", API: Responses, Vendor: "any", Source: "https://platform.openai.com/docs/guides/error-codes", Does: "wants to be told how much to think", Checks: []Check{wants("reasoning", invalid("reasoning", "missing_required_parameter", "Missing required parameter: 'reasoning'."))}, Want: Expectation{Refused: 1, Sends: []string{`"effort":"low"`}}},
	{ID: "messages-thinking-required", API: Messages, Vendor: "a relay", Source: "https://docs.pydantic.dev/latest/errors/validation_errors/#missing", Does: "wants to be told how to think", Lax: true, Checks: []Check{wants("thinking", claude(400, "invalid_request_error", "thinking: Field required"))}, Want: Expectation{Refused: 1, Sends: []string{`"thinking":\{"type":"adaptive"`}}},

	{ID: "responses-plain-items-only", API: Responses, Vendor: "LM Studio", Source: "https://platform.openai.com/docs/api-reference/responses/create", Does: "takes items of the model with a role and a text alone, and does not say so", Lax: true, Checks: []Check{plainItems(invalid("input", "invalid_union", "Invalid type for 'input'."), "id", "type")}, Want: Expectation{Refused: 6}},
	{ID: "responses-union-names-a-field", API: Responses, Vendor: "a FastAPI server", Source: "https://docs.pydantic.dev/latest/concepts/unions/", Does: "names the id of an item behind the names of the types that it may have", Lax: true, Checks: []Check{plainItems(raw(422, `{"detail":[{"type":"string_type","loc":["body","input","str"],"msg":"Input should be a valid string","input":[]},{"type":"literal_error","loc":["body","input","list[union[Message,FunctionCall]]",1,"FunctionCall","type"],"msg":"Input should be 'function_call'","input":"message"},{"type":"extra_forbidden","loc":["body","input","list[union[Message,FunctionCall]]",1,"Message","id"],"msg":"Extra inputs are not permitted","input":"x"},{"type":"extra_forbidden","loc":["body","input","list[union[Message,FunctionCall]]",1,"Message","content","list",0,"annotations"],"msg":"Extra inputs are not permitted","input":[]}]}`), "id")}, Want: Expectation{Refused: 2}},

	{ID: "unexpected-tool-call-once", Vendor: "Google", Source: "https://ai.google.dev/api/generate-content#FinishReason", Path: "/v1beta/openai", Does: "ends an answer because the model called a function that it was not given", Fails: []Failure{failOnce(useTool, stream(`{"choices":[{"delta":{"role":"assistant","content":""},"finish_reason":"function_call_filter: UNEXPECTED_TOOL_CALL","index":0}],"created":1,"id":"x","model":"m","object":"chat.completion.chunk"}`, "[DONE]"))}, Want: Expectation{Refused: 0}},
	{ID: "aborted-in-a-stream", Vendor: "SGLang", Source: "https://github.com/sgl-project/sglang/blob/main/python/sglang/srt/managers/tokenizer_manager.py", Does: "aborts an answer with the code of a refusal", Fails: breaksAfterWords(`{"error":{"message":"Aborted by AbortReq.","type":"BadRequestError","code":400}}`)},
	{ID: "page-in-a-stream", Vendor: "nginx", Source: "https://nginx.org/en/docs/http/ngx_http_proxy_module.html#proxy_read_timeout", Does: "ends half an answer with a web page", Fails: []Failure{failOnce(useTool, sse200("data: "+someText+"\n\n<html>\r\n<head><title>504 Gateway Time-out</title></head>\r\n<body>\r\n<center><h1>504 Gateway Time-out</h1></center>\r\n</body>\r\n</html>\r\n"))}},

	{ID: "reasoning-state-wanted-back", Vendor: "any", Source: "https://docs.litellm.ai/docs/reasoning_content", Does: "gives the state of its reasoning beside calls, under a name of its own, and wants it back", Wire: ChatWire{Reasoning: "thinking_content", Edit: func(c *Call, p *Piece) {
		if len(p.calls()) > 0 {
			p.delta()["reasoning_state"] = c.memory.opaque("state")
		}
	}}.Wire(), Checks: []Check{func(c *Call) *Refusal {
		return assistants(c, func(i int, m obj) *Refusal {
			if _, ours := c.memory.owner(str(m["reasoning_state"])); len(objects(m["tool_calls"])) > 0 && !ours && str(m["thinking_content"]) != "" {
				return invalid(nil, nil, "messages[%d].reasoning_state: Field required", i)
			}
			return nil
		})
	}}, Want: Expectation{Sends: []string{`"thinking_content":"` + Musing, `"reasoning_state":"` + OpaqueMark}}},
}
