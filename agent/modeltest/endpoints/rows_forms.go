package endpoints

import (
	"fmt"
	"strings"
)

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
func isList(content any) bool { _, ok := content.(list); return ok }

// itemsOf refuses the first item of a kind in which a field has the wrong form.
func itemsOf(kind, field string, isWrong func(any) bool, no func(i int) *Refusal) Check {
	return func(c *Call) *Refusal {
		for i, item := range objects(c.Body["input"]) {
			if str(item["type"]) == kind && isWrong(item[field]) {
				return no(i)
			}
		}
		return nil
	}
}

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
	{ID: "responses-content-as-a-text", API: Responses, Vendor: "a gateway", Source: "https://docs.pydantic.dev/latest/errors/validation_errors/#string_type", Does: "takes the content of items as a text only", Checks: []Check{itemsOf("message", "content", isList, func(i int) *Refusal {
		return fastAPI("string_type", list{"body", "input", i, "content"}, "Input should be a valid string", list{obj{"type": "output_text", "text": "…"}})
	})}, Want: Expectation{Refused: 2, Lacks: []string{`output_text`}}},
	{ID: "responses-content-no-array", API: Responses, Vendor: "a router", Source: "https://platform.openai.com/docs/guides/error-codes", Does: "takes the content of items as a text only, and a picture not at all", Checks: []Check{itemsOf("message", "content", isList, func(i int) *Refusal {
		return invalid(fmt.Sprintf("input[%d].content", i), "invalid_type", "Invalid type for 'input[%d].content': expected a string, but got an array of objects instead.", i)
	})}, Want: Expectation{Refused: 3, Image: BlindText}},
	{ID: "responses-content-as-a-list", API: Responses, Vendor: "a router", Source: "https://platform.openai.com/docs/guides/error-codes", Does: "takes the content of items and the output of tools as a list only", Checks: []Check{
		itemsOf("message", "content", isText, func(i int) *Refusal {
			return invalid(fmt.Sprintf("input[%d].content", i), "invalid_type", "Invalid type for 'input[%d].content': expected an array of objects, but got a string instead.", i)
		}),
		itemsOf("function_call_output", "output", isText, func(i int) *Refusal {
			return invalid(fmt.Sprintf("input[%d].output", i), "invalid_type", "Invalid type for 'input[%d].output': expected an array of objects, but got a string instead.", i)
		}),
	}, Want: Expectation{Refused: 2, Image: ImageText}},
	{ID: "parts-that-do-not-come-back", Vendor: "a router of Mistral", Source: "https://docs.mistral.ai/capabilities/reasoning/", Model: "magistral-medium-latest", Does: "sends thinking as parts of a content list, and takes no list back", Wire: ChatWire{Reasoning: "content"}.Wire(), Mind: Usual, Checks: []Check{func(c *Call) *Refusal {
		if i := contentOf(c, "assistant", isList); i >= 0 {
			return fastAPI("string_type", list{"body", "messages", i, "content"}, "Input should be a valid string", "…")
		}
		return nil
	}}, Want: Expectation{Refused: 1, Lacks: []string{`I called the tool`}}},
	{ID: "messages-content-as-a-text", API: Messages, Vendor: "a gateway", Source: "https://docs.pydantic.dev/latest/errors/validation_errors/#string_type", Does: "takes the content of all messages as a text only", Checks: []Check{func(c *Call) *Refusal {
		for _, role := range []string{"user", "assistant"} {
			if i := contentOf(c, role, isList); i >= 0 {
				return claude(400, "invalid_request_error", "messages.%d.content: Input should be a valid string", i)
			}
		}
		return nil
	}}, Want: Expectation{Refused: 5, Again: 1, Image: BlindText}},
	{ID: "messages-results-as-a-list", API: Messages, Vendor: "a gateway", Source: "https://docs.pydantic.dev/latest/errors/validation_errors/#list_type", Does: "takes the results of tools as a list of blocks only", Checks: []Check{func(c *Call) *Refusal {
		for i, m := range objects(c.Body["messages"]) {
			for n, b := range objects(m["content"]) {
				if str(b["type"]) == "tool_result" && isText(b["content"]) {
					return claude(400, "invalid_request_error", "messages.%d.content.%d.tool_result.content: Input should be a valid list", i, n)
				}
			}
		}
		return nil
	}}, Want: Expectation{Refused: 1}},
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
