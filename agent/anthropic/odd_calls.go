package anthropic

import (
	"bytes"
	"encoding/json"
	"slices"
)

// callKinds are the types of blocks that are calls of tools: the API's own, and those of gateways that pass on what other APIs say. Uses of
// tools that the server runs have other ones.
//
// source: api7/aisix#170 (and the other way round), platform.openai.com/docs/guides/function-calling
var callKinds = []string{callPart, "tool_call", "tool-call", "function_call", "function", "custom_tool_use", "custom_tool_call"}

// The fields of a call under other names: objects that hold its name and arguments, and these.
var (
	callObjects  = []string{"function", "custom", "tool_use", "tool_call", "functionCall"}
	callNames    = []string{"name", "tool_name", "toolName", "function_name"}
	callContents = []string{"input", "arguments", "parameters", "args", "tool_input", "partial_json", "json"}
	callIDs      = []string{"id", "tool_use_id", "call_id", "tool_call_id", "toolCallId"}
)

// asCall fills in what a call does not say where it should.
func (b *blockStart) asCall(raw json.RawMessage) {
	b.Type = callPart
	if b.Name != "" && len(b.Input) > 0 {
		return
	}
	all, _ := fieldsOf(raw)
	fields := []map[string]json.RawMessage{all}
	for _, key := range callObjects {
		if inner, ok := fieldsOf(unquoted(all[key])); ok {
			fields = append(fields, inner)
		}
	}
	for _, in := range fields {
		for _, key := range callNames {
			if b.Name == "" {
				b.Name = textOf(in[key])
			}
		}
		for _, key := range callContents {
			if v := in[key]; (len(b.Input) == 0 || isNull(b.Input)) && len(v) > 0 {
				b.Input = v
			}
		}
		for _, key := range callIDs {
			if b.ID == "" {
				b.ID = textOf(in[key])
			}
		}
	}
}

// oddArguments takes in a piece of arguments that stands under another name.
func (s *stream) oddArguments(index *int, data []byte) error {
	var e struct{ Delta map[string]json.RawMessage }
	if json.Unmarshal(data, &e) != nil {
		return nil
	}
	for _, key := range append([]string{"text"}, callContents...) {
		piece := unquotedText(e.Delta[key])
		if piece == "" {
			continue
		}
		p, err := s.find(index, callPart)
		if err != nil {
			return err
		}
		p.text = append(p.text, piece...)
		return s.countArguments(len(piece))
	}
	return nil
}

// unquotedText gives a text, or an object or a list as it stands.
func unquotedText(raw json.RawMessage) string {
	if raw = bytes.TrimSpace(raw); len(raw) > 0 && (raw[0] == '{' || raw[0] == '[') {
		return string(raw)
	}
	return textOf(raw)
}

// unquoted gives the JSON that stands in a text; anything else as it is.
func unquoted(raw json.RawMessage) json.RawMessage {
	var text string
	if len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &text) == nil && json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	return raw
}

// callIn gives the call that a block is as JSON in a text; nil = it is none.
func callIn(raw json.RawMessage) json.RawMessage {
	inner := unquoted(raw)
	var is struct{ Type string }
	if len(inner) == len(raw) || json.Unmarshal(inner, &is) != nil || !slices.Contains(callKinds, is.Type) {
		return nil
	}
	return inner
}

// callsBeside gives the calls that stand beside the content of a message, as chat completions have them.
func callsBeside(message []byte) (out []json.RawMessage) {
	fields, _ := fieldsOf(message)
	raw := fields["tool_calls"]
	if len(raw) == 0 || isNull(raw) {
		return nil
	}
	for _, x := range listOf(unquoted(raw)) {
		var b blockStart
		x = unquoted(x)
		_ = b.loosely(x) // what is no object has no name
		if b.asCall(x); b.Name == "" {
			continue
		}
		if text, err := json.Marshal(b); err == nil {
			out = append(out, text)
		}
	}
	return out
}

// adopt makes calls of the uses of a tool that the server says it runs itself, but which is the host's own, where the answer ends to have tools
// run and no result is there.
func (s *stream) adopt() {
	if s.stop != callPart {
		return
	}
	for _, p := range s.parts {
		if p.kind != otherPart || textOf(p.other["type"]) != "server_tool_use" {
			continue
		}
		id, name := textOf(p.other["id"]), textOf(p.other["name"])
		hasResult := slices.ContainsFunc(s.parts, func(o *answerBlock) bool { return id != "" && textOf(o.other["tool_use_id"]) == id })
		if _, offered := s.tool(name); offered && !hasResult {
			p.kind, p.id, p.name, p.input = callPart, id, name, p.other["input"]
		}
	}
}
