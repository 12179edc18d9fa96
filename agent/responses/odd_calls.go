package responses

import (
	"bytes"
	"encoding/json"
	"slices"
)

// callTypes are the types of items that are calls of tools: OpenAI's own, and those of servers that pass on what other APIs say. Calls of
// tools that the server runs itself have other ones.
//
// source: platform.openai.com/docs/guides/function-calling (custom_tool_call), BerriAI/litellm#20041
var callTypes = []string{"function_call", "custom_tool_call", "tool_call", "tool_use", "function", "function_tool_call"}

// The fields of a call under other names: objects that hold its name and arguments, and these.
var (
	callObjects  = []string{"function", "custom", "function_call", "tool_call", "tool"}
	callNames    = []string{"name", "tool_name", "toolName", "function_name"}
	callContents = []string{"arguments", "input", "parameters", "args", "params", "tool_input"}
	callIDs      = []string{"call_id", "callId", "tool_call_id", "tool_use_id"}
)

// isOfCall reports whether a field is one that findCall looks at.
func isOfCall(name string) bool {
	return slices.ContainsFunc([][]string{callObjects, callNames, callContents, callIDs}, func(names []string) bool { return slices.Contains(names, name) })
}

// findCall fills in what a call does not say where it should.
func (it *item) findCall(raw json.RawMessage) {
	if it.Name != "" && len(it.Arguments) > 0 || it.Type != "" && !slices.Contains(callTypes, it.Type) {
		return
	}
	var all map[string]json.RawMessage
	if json.Unmarshal(raw, &all) != nil {
		return
	}
	fields := []map[string]json.RawMessage{all}
	for _, key := range callObjects {
		var inner map[string]json.RawMessage
		if json.Unmarshal(unwrapped(all[key]), &inner) == nil && inner != nil {
			fields = append(fields, inner)
		}
	}
	for _, in := range fields {
		for _, key := range callNames {
			if it.Name == "" {
				it.Name = textOf(in[key])
			}
		}
		for _, key := range callContents {
			if arguments(it.Arguments) == "" && says(in[key]) {
				it.Arguments = in[key]
			}
		}
		for _, key := range callIDs {
			if it.CallID == "" {
				it.CallID = textOf(in[key])
			}
		}
	}
}

// unwrapped gives an object that stands in a text, or alone in a list; anything else as it is.
func unwrapped(raw json.RawMessage) json.RawMessage {
	for range 3 {
		raw = bytes.TrimSpace(raw)
		var text string
		var list []json.RawMessage
		switch {
		case len(raw) == 0 || raw[0] == '{':
			return raw
		case json.Unmarshal(raw, &text) == nil && json.Valid([]byte(text)):
			raw = json.RawMessage(text)
		case json.Unmarshal(raw, &list) == nil && len(list) == 1:
			raw = list[0]
		default:
			return raw
		}
	}
	return raw
}

// flattened gives the items of a list, also of lists in it and of texts, with the calls that stand in messages behind these.
func flattened(list []json.RawMessage) (out []json.RawMessage) {
	for _, x := range list {
		x = unwrapped(x)
		var inner []json.RawMessage
		if len(x) > 0 && x[0] == '[' && json.Unmarshal(x, &inner) == nil {
			out = append(out, flattened(inner)...)
			continue
		}
		out = append(out, x)
		out = append(out, callsBeside(x)...)
	}
	return out
}

// callsBeside gives the calls that stand in a message, as chat completions have them.
func callsBeside(raw json.RawMessage) []json.RawMessage {
	if !bytes.Contains(raw, []byte(`"tool_calls"`)) {
		return nil
	}
	var m struct {
		Calls []json.RawMessage `json:"tool_calls"`
	}
	if json.Unmarshal(raw, &m) != nil {
		return nil
	}
	return flattened(m.Calls)
}
