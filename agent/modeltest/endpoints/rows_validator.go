package endpoints

import (
	"fmt"
	"strings"
)

// printed is a refusal of vLLM's: the errors of a validator as Python prints a list, or each on a line of its own.
func printed(lines bool, errors ...string) *Refusal {
	text := "[" + strings.Join(errors, ", ") + "]"
	if lines {
		text = fmt.Sprintf("%d validation errors:\n  %s\n\n  File \"api_server.py\", line 40, in create_chat_completion\n    POST /v1/chat/completions", len(errors), strings.Join(errors, "\n  "))
	}
	return raw(400, encode(obj{"object": "error", "message": text, "type": "BadRequestError", "param": nil, "code": 400}))
}

// wrong is one error of a validator as Python prints it: its place, a tuple, and what Python prints of the refused value.
func wrong(kind, place, text, input string) string {
	return fmt.Sprintf(`{'type': '%s', 'loc': ('body', %s), 'msg': %q, 'input': %s, 'url': 'https://errors.pydantic.dev/2.12/v/%s'}`, kind, place, text, input, kind)
}

// otherTypes are the errors of a validator about the types that a message of the model does not have. types name them; at is its index.
func otherTypes(at int, types func(role string) string) (out []string) {
	for _, role := range []string{"Developer", "System", "User", "Tool", "Function"} {
		place := fmt.Sprintf("'messages', %d, '%s'", at, types(role))
		out = append(out, wrong("literal_error", place+", 'role'", "Input should be '"+strings.ToLower(role)+"'", "'assistant'"))
		if role == "Tool" {
			out = append(out, wrong("missing", place+", 'tool_call_id'", "Field required", "{'role': 'assistant', 'content': None, 'tool_calls': ValidatorIterator(index=0, schema=Some(TypedDict(Validator { strict: false })))}"))
		}
	}
	return out
}

func namedTypes(role string) string { return "ChatCompletion" + role + "MessageParam" }

func unnamedTypes(string) string { return "typed-dict" }

// validated are servers that list what is wrong with a message for each type that it might have, as their language prints that.
var validated = []Row{
	fieldRefused("vllm-extra-reasoning-in-a-list", "vLLM", "vllm-project/vllm#3906", "reasoning", func(i int) *Refusal {
		return printed(false, append(otherTypes(i, namedTypes), wrong("extra_forbidden", fmt.Sprintf("'messages', %d, 'ChatCompletionAssistantMessageParam', 'reasoning'", i), "Extra inputs are not permitted", "'it\\'s here'"))...)
	}),
	fieldRefused("vllm-extra-reasoning-on-lines", "vLLM", "https://github.com/vllm-project/vllm/blob/main/vllm/entrypoints/serve/exception_handling/utils.py", "reasoning", func(i int) *Refusal {
		return printed(true, append(otherTypes(i, namedTypes), wrong("extra_forbidden", fmt.Sprintf("'messages', %d, 'ChatCompletionAssistantMessageParam', 'reasoning'", i), "Extra inputs are not permitted", "'it\\'s here'"))...)
	}),
	fieldRefused("vllm-extra-reasoning-of-types-without-a-name", "vLLM", "modelscope/ms-agent#574", "reasoning", func(i int) *Refusal {
		return printed(false, append([]string{wrong("extra_forbidden", fmt.Sprintf("'messages', %d, 'typed-dict', 'reasoning'", i), "Extra inputs are not permitted", "'x'")}, otherTypes(i, unnamedTypes)...)...)
	}),
	{ID: "vllm-null-content-in-a-list", Vendor: "vLLM", Source: "vllm-project/vllm#3906", Does: "wants a text beside calls, and lists what is wrong for each type of message", Checks: []Check{func(c *Call) *Refusal {
		return assistants(c, func(i int, m obj) *Refusal {
			if m["content"] != nil {
				return nil
			}
			place := fmt.Sprintf("'messages', %d, 'ChatCompletionAssistantMessageParam', 'content'", i)
			return printed(false, append(otherTypes(i, namedTypes), wrong("string_type", place+", 'str'", "Input should be a valid string", "None"), wrong("list_type", place+", 'list[ContentText]'", "Input should be a valid list", "None"))...)
		})
	}}, Want: Expectation{Refused: 2, Sends: []string{`"role":"tool"`}}},
	{ID: "vllm-messages-block-on-a-line", API: Messages, Vendor: "vLLM", Source: "vllm-project/vllm#57324", Model: "claude-sonnet-4-6", Thinking: "medium", Does: "takes no block of thinking, and prints the refused block", Checks: []Check{func(c *Call) *Refusal {
		for i, m := range objects(c.Body["messages"]) {
			for n, b := range objects(m["content"]) {
				if str(b["type"]) == "thinking" {
					return claude(400, "invalid_request_error", "1 validation error:\n  %s", wrong("literal_error", fmt.Sprintf("'messages', %d, 'content', 'list[AnthropicContentBlock]', %d, 'type'", i, n), "Input should be 'text', 'image', 'tool_use' or 'tool_result'", "'thinking'"))
				}
			}
		}
		return nil
	}}, Want: Expectation{Refused: 1, Sends: []string{`"tool_result"`}}},
}
