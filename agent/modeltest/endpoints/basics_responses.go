package endpoints

import (
	"fmt"
	"slices"
	"strings"
)

// responsesBasics are what every endpoint of the Responses API wants.
// source: https://platform.openai.com/docs/api-reference/responses/create, https://platform.openai.com/docs/guides/reasoning
var responsesBasics = []Check{responsesKeys, responsesItems, responsesPairs, responsesReasoning, responsesTools}

var responsesParams = strings.Fields(`model input instructions tools tool_choice stream stream_options store include reasoning
	max_output_tokens temperature top_p parallel_tool_calls prompt_cache_key prompt_cache_retention safety_identifier user metadata text
	truncation service_tier background previous_response_id conversation max_tool_calls prompt top_logprobs`)

func responsesKeys(c *Call) *Refusal {
	if str(c.Body["model"]) == "" {
		return invalid("model", "missing_required_parameter", "Missing required parameter: 'model'.")
	}
	for k := range c.Body {
		if !slices.Contains(responsesParams, k) {
			hint := ""
			if k == "reasoning_effort" {
				hint = " In the Responses API, this parameter has moved to 'reasoning.effort'. Try again with the new parameter."
			}
			return invalid(k, "unsupported_parameter", "Unsupported parameter: '%s'.%s", k, hint)
		}
	}
	if v, ok := c.Body["max_output_tokens"].(float64); ok && v < 16 {
		return invalid("max_output_tokens", "integer_below_min_value", "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got %v instead.", v)
	}
	return nil
}

func responsesItems(c *Call) *Refusal {
	ids := map[string]string{"function_call": "fc", "message": "msg", "reasoning": "rs"}
	for i, item := range objects(c.Body["input"]) {
		kind := str(item["type"])
		if kind == "" {
			kind = "message"
		}
		if id, there := item["id"]; there && ids[kind] != "" && !strings.HasPrefix(str(id), ids[kind]) {
			return invalid(fmt.Sprintf("input[%d].id", i), "invalid_value", "Invalid 'input[%d].id': '%v'. Expected an ID that begins with '%s'.", i, id, ids[kind])
		}
		switch kind {
		case "message":
			if no := responsesMessage(i, item); no != nil {
				return no
			}
		case "function_call":
			_, isText := item["arguments"].(string)
			if str(item["call_id"]) == "" || !isText {
				return invalid(fmt.Sprintf("input[%d].call_id", i), "missing_required_parameter", "Missing required parameter: 'input[%d].call_id'.", i)
			}
			if n := len(str(item["call_id"])); n > 64 {
				return invalid(fmt.Sprintf("input[%d].call_id", i), "string_above_max_length", "Invalid 'input[%d].call_id': string too long. Expected a string with maximum length 64, but got a string with length %d instead.", i, n)
			}
			if !matches(`^[a-zA-Z0-9_-]+$`, str(item["name"])) {
				return invalid(fmt.Sprintf("input[%d].name", i), "invalid_value", "Invalid 'input[%d].name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.", i)
			}
		case "function_call_output":
			if _, ok := item["output"]; !ok {
				return invalid(fmt.Sprintf("input[%d].output", i), "missing_required_parameter", "Missing required parameter: 'input[%d].output'.", i)
			}
		case "reasoning":
			if _, ok := item["summary"].(list); !ok {
				return invalid(fmt.Sprintf("input[%d].summary", i), "missing_required_parameter", "Missing required parameter: 'input[%d].summary'.", i)
			}
			if _, there := item["status"]; there {
				return invalid(fmt.Sprintf("input[%d].status", i), "unknown_parameter", "Unknown parameter: 'input[%d].status'.", i)
			}
		default:
			return invalid(fmt.Sprintf("input[%d]", i), "invalid_value", "Invalid value: '%s'. Supported values are: 'message', 'function_call', 'function_call_output', 'reasoning', 'item_reference'.", kind)
		}
	}
	return nil
}

func responsesMessage(i int, item obj) *Refusal {
	role := str(item["role"])
	if !slices.Contains([]string{"user", "assistant", "system", "developer"}, role) {
		return invalid(fmt.Sprintf("input[%d].role", i), "invalid_value", "Invalid value: '%s'. Supported values are: 'assistant', 'system', 'developer', and 'user'.", role)
	}
	if t, ok := item["content"].(string); ok && t != "" {
		return nil
	}
	parts := objects(item["content"])
	if len(parts) == 0 {
		return invalid(fmt.Sprintf("input[%d].content", i), "empty_array", "Invalid 'input[%d].content': empty array.", i)
	}
	allowed := []string{"input_text", "input_image", "input_file"}
	if role == "assistant" {
		allowed = []string{"output_text", "refusal"}
	}
	for n, p := range parts {
		kind := str(p["type"])
		if !slices.Contains(allowed, kind) {
			return invalid(fmt.Sprintf("input[%d].content[%d]", i, n), "invalid_value", "Invalid value: '%s'. Supported values are: '%s'.", kind, strings.Join(allowed, "', '"))
		}
		if u, isText := p["image_url"].(string); kind == "input_image" && (!isText || u == "") {
			return invalid(fmt.Sprintf("input[%d].content[%d].image_url", i, n), "invalid_type", "Invalid type for 'input[%d].content[%d].image_url': expected an image URL, but got an object instead.", i, n)
		}
	}
	return nil
}

// responsesPairs wants an output for each call and a call for each output.
func responsesPairs(c *Call) *Refusal {
	calls, outputs := map[string]bool{}, map[string]bool{}
	items := objects(c.Body["input"])
	for _, item := range items {
		id := str(item["call_id"])
		switch str(item["type"]) {
		case "function_call":
			calls[id] = true
		case "function_call_output":
			if !calls[id] {
				return invalid("input", nil, "No tool call found for function call output with call_id %s.", id)
			}
			outputs[id] = true
		}
	}
	for _, item := range items {
		if id := str(item["call_id"]); str(item["type"]) == "function_call" && !outputs[id] {
			return invalid("input", nil, "No tool output found for function call %s.", id)
		}
	}
	return nil
}

// responsesReasoning: nothing is stored, so a reasoning item is its encrypted content, and it stands in front of its own item.
func responsesReasoning(c *Call) *Refusal {
	stored := c.Body["store"] != false
	items := objects(c.Body["input"])
	reasoned := map[string]bool{}
	for i, item := range items {
		id, kind := str(item["id"]), str(item["type"])
		switch {
		case kind == "reasoning":
			reasoned[strings.TrimPrefix(id, "rs_")] = true
			sealed := str(item["encrypted_content"])
			if sealed == "" && !stored {
				return openAI(404, "invalid_request_error", "input", nil, "Item with id '%s' not found. Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item from your input.", id)
			}
			if of, ok := c.memory.owner(sealed); sealed != "" && (!ok || id != "" && of != id) {
				return invalid(nil, "invalid_encrypted_content", "The encrypted content for item %s could not be verified. Reason: Encrypted content item_id did not match the target item id.", id)
			}
			if i+1 == len(items) || str(items[i+1]["role"]) == "user" || str(items[i+1]["type"]) == "function_call_output" {
				return invalid("input", nil, "Item '%s' of type 'reasoning' was provided without its required following item.", id)
			}
		case kind == "item_reference":
			return openAI(404, "invalid_request_error", "input", nil, "Item with id '%s' not found. Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item from your input.", id)
		}
	}
	return nil
}

func responsesTools(c *Call) *Refusal {
	tools := objects(c.Body["tools"])
	if len(tools) > 128 {
		return invalid("tools", "array_above_max_length", "Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length %d instead.", len(tools))
	}
	for i, t := range tools {
		name := str(t["name"])
		switch {
		case name == "":
			return invalid(fmt.Sprintf("tools[%d].name", i), "missing_required_parameter", "Missing required parameter: 'tools[%d].name'.", i)
		case str(t["type"]) != "function":
			return invalid(fmt.Sprintf("tools[%d].type", i), "invalid_value", "Invalid value: '%v'.", t["type"])
		case !matches(`^[a-zA-Z0-9_-]{1,64}$`, name):
			return invalid(fmt.Sprintf("tools[%d].name", i), "invalid_value", "Invalid 'tools[%d].name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.", i)
		}
		if no := openAISchema(fmt.Sprintf("tools[%d].parameters", i), name, t["parameters"]); no != nil {
			return no
		}
	}
	return nil
}
