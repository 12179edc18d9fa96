package endpoints

import (
	"fmt"
	"slices"
	"strings"
)

// chatBasics are what every endpoint of chat completions wants, in OpenAI's words.
// source: https://platform.openai.com/docs/api-reference/chat/create
var chatBasics = []Check{chatKeys, chatRoles, chatContents, chatOrder, chatTools, chatRest}

// chatParams are the keys of a request that OpenAI and the common servers know.
var chatParams = strings.Fields(`model messages tools tool_choice stream stream_options max_tokens max_completion_tokens temperature top_p
	reasoning_effort parallel_tool_calls prompt_cache_key prompt_cache_retention safety_identifier user store metadata n seed stop
	frequency_penalty presence_penalty logit_bias logprobs top_logprobs response_format service_tier verbosity modalities
	thinking enable_thinking chat_template_kwargs provider reasoning transforms top_k min_p repetition_penalty extra_body think options
	keep_alive num_ctx session_id include_reasoning reasoning_format reasoning_split tool_stream google`)

func chatKeys(c *Call) *Refusal {
	if str(c.Body["model"]) == "" {
		return invalid(nil, nil, "you must provide a model parameter")
	}
	for k := range c.Body {
		if !slices.Contains(chatParams, k) {
			return invalid(nil, nil, "Unrecognized request argument supplied: %s", k)
		}
	}
	if !strings.HasPrefix(c.Header.Get("Content-Type"), "application/json") {
		return raw(415, `{"error":{"message":"Unsupported content type: expected application/json","type":"invalid_request_error","param":null,"code":null}}`)
	}
	return nil
}

func chatRoles(c *Call) *Refusal {
	for i, m := range objects(c.Body["messages"]) {
		role := str(m["role"])
		if !slices.Contains([]string{"system", "developer", "user", "assistant", "tool"}, role) {
			return invalid(fmt.Sprintf("messages[%d].role", i), "invalid_value", "Invalid value: '%s'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'.", role)
		}
	}
	return nil
}

func chatContents(c *Call) *Refusal {
	for i, m := range objects(c.Body["messages"]) {
		where := fmt.Sprintf("messages.[%d].content", i)
		content, there := m["content"]
		_, called := m["tool_calls"]
		switch v := content.(type) {
		case string:
			if v == "" && str(m["role"]) != "tool" {
				return invalid(where, nil, "Invalid value for 'content': expected a non-empty string.")
			}
		case nil:
			if str(m["role"]) != "assistant" || !called && there {
				return invalid(where, nil, "Invalid value for 'content': expected a string, got null.")
			}
		case list:
			if no := chatParts(c, i, str(m["role"]), v); no != nil {
				return no
			}
		default:
			return invalid(where, "invalid_type", "Invalid type for '%s': expected one of a string or array of objects, but got an object instead.", where)
		}
		if calls, ok := m["tool_calls"]; ok && len(objects(calls)) == 0 {
			return invalid(fmt.Sprintf("messages[%d].tool_calls", i), "empty_array", "Invalid 'messages[%d].tool_calls': empty array. Expected an array with minimum length 1, but got an empty array instead.", i)
		}
	}
	return nil
}

func chatParts(c *Call, i int, role string, parts list) *Refusal {
	if len(parts) == 0 {
		return invalid(fmt.Sprintf("messages[%d].content", i), "empty_array", "Invalid 'messages[%d].content': empty array.", i)
	}
	for n, p := range objects(parts) {
		switch kind := str(p["type"]); kind {
		case "text":
			if str(p["text"]) == "" {
				return invalid(fmt.Sprintf("messages[%d].content[%d].text", i, n), nil, "text content must be non-empty")
			}
		case "image_url":
			u, _ := p["image_url"].(obj)
			if role != "user" || str(u["url"]) == "" {
				return invalid(fmt.Sprintf("messages[%d]", i), "invalid_value", "Invalid 'messages[%d]'. Image URLs are only allowed for messages with role 'user', but this message with role '%s' contains an image URL.", i, role)
			}
		default:
			if kind == "thinking" && role == "assistant" && c.memory.times("thinking parts") > 0 {
				continue // as this server sent it
			}
			return invalid(fmt.Sprintf("messages[%d].content[%d].type", i, n), "invalid_value", "Invalid value: '%s'. Supported values are: 'text', 'image_url', 'input_audio', 'refusal', 'audio', and 'file'.", kind)
		}
	}
	return nil
}

// chatOrder wants each call to be followed by its result, and each result by its call in front of it.
func chatOrder(c *Call) *Refusal {
	var open []string
	missing := func(i int) *Refusal {
		return invalid(fmt.Sprintf("messages.[%d].role", i), nil, "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: %s", strings.Join(open, ", "))
	}
	for i, m := range objects(c.Body["messages"]) {
		if str(m["role"]) == "tool" {
			at := slices.Index(open, str(m["tool_call_id"]))
			if at < 0 {
				return invalid(fmt.Sprintf("messages.[%d].role", i), nil, "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.")
			}
			open = slices.Delete(open, at, at+1)
			continue
		}
		if len(open) > 0 {
			return missing(i)
		}
		for n, k := range objects(m["tool_calls"]) {
			f, _ := k["function"].(obj)
			_, isText := f["arguments"].(string)
			id, name := str(k["id"]), str(f["name"])
			switch {
			case id == "" || !isText || str(k["type"]) != "function":
				return invalid(fmt.Sprintf("messages[%d].tool_calls[%d]", i, n), "missing_required_parameter", "Missing required parameter: 'messages[%d].tool_calls[%d].id'.", i, n)
			case len(id) > 40 && !c.memory.ours(id):
				return invalid(fmt.Sprintf("messages[%d].tool_calls[%d].id", i, n), "string_above_max_length", "Invalid 'messages[%d].tool_calls[%d].id': string too long. Expected a string with maximum length 40, but got a string with length %d instead.", i, n, len(id))
			case !matches(`^[a-zA-Z0-9_-]{1,64}$`, name):
				return invalid(fmt.Sprintf("messages[%d].tool_calls[%d].function.name", i, n), "invalid_value", "Invalid 'messages[%d].tool_calls[%d].function.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.", i, n)
			case slices.Contains(open, id):
				return invalid(fmt.Sprintf("messages[%d].tool_calls", i), nil, "Duplicate value for 'tool_call_id' of '%s'", id)
			}
			open = append(open, id)
		}
	}
	if len(open) > 0 {
		return missing(len(c.Messages))
	}
	return nil
}

// chatTools looks at the tools as OpenAI does.
func chatTools(c *Call) *Refusal {
	all, there := c.Body["tools"]
	tools := objects(all)
	switch {
	case there && len(tools) == 0:
		return invalid("tools", "empty_array", "Invalid 'tools': empty array. Expected an array with minimum length 1, but got an empty array instead.")
	case len(tools) > 128:
		return invalid("tools", "array_above_max_length", "Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length %d instead.", len(tools))
	case c.Has("tool_choice") && !there:
		return invalid("tool_choice", nil, "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.")
	}
	for i, t := range tools {
		f, _ := t["function"].(obj)
		name := str(f["name"])
		if str(t["type"]) != "function" || !matches(`^[a-zA-Z0-9_-]{1,64}$`, name) {
			return invalid(fmt.Sprintf("tools[%d].function.name", i), "invalid_value", "Invalid 'tools[%d].function.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.", i)
		}
		if no := openAISchema(fmt.Sprintf("tools[%d].function.parameters", i), name, f["parameters"]); no != nil {
			return no
		}
	}
	return nil
}

// openAISchema wants an object, and items of each array.
func openAISchema(param, name string, schema any) *Refusal {
	top, ok := schema.(obj)
	if !ok || str(top["type"]) != "object" {
		return invalid(param, "invalid_function_parameters", "Invalid schema for function '%s': schema must be a JSON Schema of 'type: \"object\"', got 'type: \"%v\"'.", name, top["type"])
	}
	if where := walk(top, nil, func(_ []string, s obj) bool { return s["type"] == "array" && s["items"] == nil }); where != nil {
		return invalid(param, "invalid_function_parameters", "Invalid schema for function '%s': In context=(%s), array schema missing items.", name, "'"+strings.Join(where, "', '")+"'")
	}
	return nil
}

// walk gives the path of the first schema that fits, nil without one.
func walk(schema obj, path []string, fits func(path []string, s obj) bool) []string {
	if fits(path, schema) {
		return append([]string{}, path...)
	}
	for _, key := range []string{"properties", "$defs", "definitions", "patternProperties"} {
		inner, _ := schema[key].(obj)
		for _, name := range sortedKeys(inner) {
			if s, ok := inner[name].(obj); ok {
				if at := walk(s, append(slices.Clip(path), key, name), fits); at != nil {
					return at
				}
			}
		}
	}
	for _, key := range []string{"items", "additionalProperties", "not", "contains", "propertyNames"} {
		if s, ok := schema[key].(obj); ok {
			if at := walk(s, append(slices.Clip(path), key), fits); at != nil {
				return at
			}
		}
	}
	for _, key := range []string{"anyOf", "oneOf", "allOf", "prefixItems"} {
		for i, s := range objects(schema[key]) {
			if at := walk(s, append(slices.Clip(path), key, fmt.Sprint(i)), fits); at != nil {
				return at
			}
		}
	}
	return nil
}

func sortedKeys(m obj) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

func chatRest(c *Call) *Refusal {
	stream, _ := c.Body["stream"].(bool)
	if c.Has("stream_options") && !stream {
		return invalid("stream_options", nil, "The 'stream_options' parameter is only allowed when 'stream' is enabled.")
	}
	for _, key := range []string{"max_tokens", "max_completion_tokens"} {
		if v, ok := c.Body[key].(float64); c.Has(key) && (!ok || v < 1) {
			return invalid(key, "integer_below_min_value", "Invalid '%s': integer below minimum value. Expected a value >= 1.", key)
		}
	}
	if c.Has("max_tokens") && c.Has("max_completion_tokens") {
		return invalid(nil, "invalid_parameter_combination", "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.")
	}
	return nil
}
