package anthropic

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"
)

// loosely reads an event whose fields have other types than they should, as far as that is possible. It reports whether there was
// anything to read.
func (e *event) loosely(data []byte) bool {
	fields, ok := fieldsOf(data)
	if !ok {
		return false
	}
	*e = event{
		Type: textOf(fields["type"]), Index: indexOf(fields["index"]), Block: fields["content_block"], Message: fields["message"],
		Error: fields["error"], Content: fields["content"], Model: textOf(fields["model"]), StopReason: textOf(fields["stop_reason"]),
	}
	if raw, ok := fields["usage"]; ok {
		e.Usage = usageOf(raw)
	}
	if raw, ok := fields["delta"]; ok {
		e.Delta = deltaOf(raw)
	}
	return true
}

// fieldsOf gives the fields of an object, or of the first one of a list.
func fieldsOf(raw json.RawMessage) (map[string]json.RawMessage, bool) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) == nil {
		return fields, fields != nil
	}
	var list []map[string]json.RawMessage
	if json.Unmarshal(raw, &list) == nil && len(list) > 0 {
		return list[0], list[0] != nil
	}
	return nil, false
}

func deltaOf(raw json.RawMessage) delta {
	fields, ok := fieldsOf(raw)
	if !ok {
		return delta{Text: textOf(raw)}
	}
	d := delta{
		Type: textOf(fields["type"]), Text: textOf(fields["text"]), Thinking: textOf(fields["thinking"]),
		Signature: textOf(fields["signature"]), StopReason: textOf(fields["stop_reason"]), PartialJSON: textOf(fields["partial_json"]),
	}
	if raw, ok := fields["usage"]; ok {
		d.Usage = usageOf(raw)
	}
	if part := bytes.TrimSpace(fields["partial_json"]); len(part) > 0 && (part[0] == '{' || part[0] == '[') {
		d.PartialJSON = string(part)
	}
	return d
}

// loosely reads a block whose fields have other types than they should.
func (b *blockStart) loosely(raw json.RawMessage) bool {
	fields, ok := fieldsOf(raw)
	if !ok {
		*b = blockStart{Type: textPart, Text: textOf(raw)}
		return b.Text != ""
	}
	*b = blockStart{
		Type: textOf(fields["type"]), Text: textOf(fields["text"]), Thinking: textOf(fields["thinking"]), Signature: textOf(fields["signature"]),
		Data: textOf(fields["data"]), ID: textOf(fields["id"]), Name: textOf(fields["name"]), Input: fields["input"],
	}
	return true
}

func usageOf(raw json.RawMessage) *usage {
	fields, ok := fieldsOf(raw)
	if !ok {
		return nil
	}
	return &usage{
		Input: countOf(fields["input_tokens"]), Output: countOf(fields["output_tokens"]), CacheRead: countOf(fields["cache_read_input_tokens"]),
		CacheWrite: countOf(fields["cache_creation_input_tokens"]), Prompt: countOf(fields["prompt_tokens"]), Completion: countOf(fields["completion_tokens"]),
	}
}

// textOf gives a text, also where it stands in an object or in a list of them, or is a number.
func textOf(raw json.RawMessage) string {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return ""
	}
	switch raw[0] {
	case '"':
		var s string
		_ = json.Unmarshal(raw, &s) // it was read once already
		return s
	case '{':
		var fields map[string]json.RawMessage
		_ = json.Unmarshal(raw, &fields)
		for _, name := range []string{"text", "thinking", "value", "content", "name"} {
			if s := textOf(fields[name]); s != "" {
				return s
			}
		}
	case '[':
		var list []json.RawMessage
		_ = json.Unmarshal(raw, &list)
		var b strings.Builder
		for _, x := range list {
			b.WriteString(textOf(x))
		}
		return b.String()
	case 'n', 't', 'f':
		return ""
	default:
		return string(raw) // a number
	}
	return ""
}

// countOf gives a number that is not negative, also where it stands in a text.
func countOf(raw json.RawMessage) int {
	f, err := strconv.ParseFloat(textOf(raw), 64)
	if err != nil || f < 0 || f > math.MaxInt32 || f != f {
		return 0
	}
	return int(f)
}

func indexOf(raw json.RawMessage) *int {
	n, err := strconv.Atoi(strings.TrimSpace(textOf(raw)))
	if err != nil {
		return nil
	}
	return &n
}
