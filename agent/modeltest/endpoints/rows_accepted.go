package endpoints

import (
	"fmt"
	"strings"
)

// ofItems refuses a request by the first of its input items that does not suit.
func ofItems(isWrong func(item obj) bool, no func(i int) *Refusal) Check {
	return func(c *Call) *Refusal {
		for i, item := range objects(c.Body["input"]) {
			if isWrong(item) {
				return no(i)
			}
		}
		return nil
	}
}

func hasNoStatus(item obj) bool { return str(item["status"]) == "" }

// accepted are endpoints whose refusals list what they accept, and endpoints of the Responses API that want more of an item than others.
var accepted = []Row{
	{ID: "bedrock-answer-limit", API: Messages, Vendor: "AWS Bedrock", Source: "charmbracelet/crush#946", Model: "claude-3-haiku", Does: "takes at most 4096 tokens of an answer, and says so without the parameter's name", Checks: []Check{func(c *Call) *Refusal {
		if n, _ := c.Body["max_tokens"].(float64); n > 4096 {
			return message(400, "The maximum tokens you requested exceeds the model limit of 4096")
		}
		return nil
	}}, Want: Expectation{Refused: 1, Sends: []string{`"max_tokens":4096`}}},
	{ID: "responses-no-tag-of-reasoning", API: Responses, Vendor: "a gateway", Source: "https://docs.pydantic.dev/latest/errors/validation_errors/#union_tag_invalid", Does: "does not know reasoning items, and lists the types that it knows", Wire: reasons,
		Checks: []Check{ofItems(func(item obj) bool { return str(item["type"]) == "reasoning" }, func(i int) *Refusal {
			return raw(422, encode(obj{"detail": list{obj{"type": "union_tag_invalid", "loc": list{"body", "input", i}, "msg": "Input tag 'reasoning' found using 'type' does not match any of the expected tags: 'message', 'function_call', 'function_call_output'"}}}))
		})}, Want: Expectation{Refused: 1}},
	{ID: "responses-no-output-text", API: Responses, Vendor: "a gateway", Source: "https://platform.openai.com/docs/guides/error-codes", Does: "takes texts of the model as a text only, and lists the parts that it knows", Wire: reasons,
		Checks: []Check{ofItems(func(item obj) bool {
			parts, isList := item["content"].([]any)
			return str(item["role"]) == "assistant" && isList && len(parts) > 0
		}, func(i int) *Refusal {
			return invalid(fmt.Sprintf("input[%d].content[0].type", i), "invalid_value", "Invalid value: 'output_text'. Supported values are: 'input_text', 'input_image', and 'input_file'.")
		})}, Want: Expectation{Refused: 1, Sends: []string{`"encrypted_content":"`}}},
	{ID: "responses-status-of-messages", API: Responses, Vendor: "a gateway", Source: "vercel/ai#20828", Does: "wants the status of messages of the model back", Wire: reasons,
		Checks: []Check{ofItems(func(item obj) bool { return str(item["role"]) == "assistant" && hasNoStatus(item) }, func(i int) *Refusal {
			return raw(422, encode(obj{"detail": list{obj{"type": "missing", "loc": list{"body", "input", "list[union]", i, "ResponseOutputMessage", "status"}, "msg": "Field required"}}}))
		})}, Want: Expectation{Refused: 1, Sends: []string{`"encrypted_content":"`}}},
	{ID: "responses-status-of-items", API: Responses, Vendor: "Volcengine", Source: "Oaklight/llm-rosetta#650", Model: "doubao-seed-1.8", Does: "wants a status of each message, call and result", Wire: reasons,
		Checks: []Check{ofItems(func(item obj) bool { return str(item["type"]) != "reasoning" && hasNoStatus(item) }, func(int) *Refusal {
			return openAI(400, "BadRequest", "input.status", "MissingParameter", "The request failed because it is missing input.status parameter")
		})}, Want: Expectation{Refused: 1}},
	{ID: "role-tool-not-in-the-list", Vendor: "a gateway", Source: "https://docs.pydantic.dev/latest/errors/validation_errors/#union_tag_invalid", Does: "does not know the role of results, and lists the roles that it knows", Checks: []Check{func(c *Call) *Refusal {
		for i, m := range objects(c.Body["messages"]) {
			if str(m["role"]) == "tool" {
				return raw(422, encode(obj{"detail": list{obj{"type": "union_tag_invalid", "loc": list{"body", "messages", i}, "msg": "Input tag 'tool' found using 'role' does not match any of the expected tags: 'system', 'user', 'assistant'"}}}))
			}
		}
		return nil
	}}, Want: Expectation{Refused: 2, Sends: []string{`"tools":\[`}}},
	{ID: "only-the-following-fields", Vendor: "a gateway", Source: "https://python-jsonschema.readthedocs.io/en/latest/validate/", Does: "lists all fields that it knows, tools and stream among them", Checks: []Check{func(c *Call) *Refusal {
		if strings.Contains(string(c.Raw), `"stream_options"`) {
			return openAI(400, "invalid_request_error", nil, nil, "Only the following are supported: messages, model, stream, tools")
		}
		return nil
	}}, Want: Expectation{Refused: 1, Sends: []string{`"stream":true`, `"tools":\[`}}},
}
