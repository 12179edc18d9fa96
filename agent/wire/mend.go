package wire

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// Mend reads what a server has encoded twice, or said twice: of the fields with these names, as deep as they stand in one another, a JSON text
// becomes the object or the list that is in it. Of a field that an object has twice, the last value counts that says something. ok is false
// where nothing was to be mended; every other byte stays as it is.
//
// source: apache/servicecomb-java-chassis#5125 (texts are encoded once more), RFC 8259, section 4 (names that are not unique)
func Mend(data []byte, names ...string) (out []byte, ok bool) {
	return mend(bytes.TrimSpace(data), "", names, 0)
}

// MendTwice is Mend for an event of which nothing could be read: it looks only at one that has a field of these names twice.
func MendTwice(data []byte, names ...string) (out []byte, ok bool) {
	for _, name := range names {
		if first := bytes.Index(data, []byte(name)); first >= 0 && bytes.Contains(data[first+len(name):], []byte(name)) {
			return Mend(data, names...)
		}
	}
	return data, false
}

// regular gives an event's data as the API has it: without a byte order mark, and mended.
func (e *Events) regular(data []byte) []byte {
	if len(data) > 0 && data[0] != '{' && data[0] != '[' {
		data = unquoted(bytes.TrimFunc(data, isPadding))
	}
	if !quotesObject(data) {
		return data
	}
	if mended, ok := Mend(data, e.objects...); ok {
		return mended
	}
	return data
}

// quotesObject reports whether an object may stand in a text of data. Most events have none.
func quotesObject(data []byte) bool {
	for {
		i := bytes.IndexByte(data, '{')
		if i < 0 || i+1 >= len(data) {
			return false
		}
		if data = data[i+1:]; data[0] == '\\' || data[0] == '\'' {
			return true
		}
	}
}

// isPadding reports whether a character is one that servers put around data: white space, NUL, the separator of RFC 7464, a byte order mark.
func isPadding(c rune) bool {
	return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == 0 || c == 0x1e || c == '\ufeff'
}

// Several gives the JSON values that stand one behind the other in an event; nil = it is not made of such.
//
// source: openai/openai-python#663
func Several(data []byte) (values []json.RawMessage) {
	for {
		data = bytes.TrimSpace(bytes.TrimPrefix(bytes.TrimSpace(data), []byte("data:"))) // of a line whose end was lost
		if len(data) == 0 {
			return values
		}
		var v json.RawMessage
		dec := json.NewDecoder(bytes.NewReader(data))
		if dec.Decode(&v) != nil {
			return nil
		}
		values, data = append(values, v), data[dec.InputOffset():]
	}
}

// unquoted gives the object or the list that is in a JSON text, also where it was encoded more than once; other data as it is.
func unquoted(data []byte) []byte {
	for inner := data; len(inner) > 0 && inner[0] == '"'; {
		var text string
		if json.Unmarshal(inner, &text) != nil {
			break
		}
		if inner = []byte(strings.TrimSpace(text)); opensValue(inner) {
			return inner
		}
	}
	return data
}

func mend(raw []byte, name string, names []string, depth int) (out []byte, changed bool) {
	if len(raw) == 0 || depth > maxFaultDepth {
		return raw, false
	}
	if raw[0] == '"' {
		inner := unquoted(raw)
		if name == "" || !opensValue(inner) {
			return raw, false
		}
		if !json.Valid(inner) {
			if inner = fromPython(inner); inner == nil {
				return raw, false
			}
		}
		if !isObject(inner, name) {
			return raw, false
		}
		out, _ = mend(inner, name, names, depth+1)
		return out, true
	}
	if !opensValue(raw) {
		return raw, false
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	if _, err := dec.Token(); err != nil {
		return raw, false
	}
	var keys []string
	var values [][]byte
	for dec.More() {
		key := name
		if raw[0] == '{' {
			t, err := dec.Token()
			if err != nil {
				return raw, false
			}
			key, _ = t.(string)
		}
		var v json.RawMessage
		if dec.Decode(&v) != nil {
			return raw, false
		}
		value := []byte(v)
		if raw[0] == '[' || slices.Contains(names, key) {
			fixed, is := mend(v, key, names, depth+1)
			value, changed = fixed, changed || is
		}
		if i := doubled(raw, keys, key); i >= 0 {
			changed = true
			if saysNothing(value) {
				continue
			}
			keys, values = slices.Delete(keys, i, i+1), slices.Delete(values, i, i+1)
		}
		keys, values = append(keys, key), append(values, value)
	}
	if !changed {
		return raw, false
	}
	return joinValues(raw[0] == '{', keys, values), true
}

// maxDoubled is up to how many fields of an object doubled ones are looked for: no event of an answer has as many.
const maxDoubled = 512

// doubled gives the place of an earlier field of the same name; -1 = there is none.
func doubled(raw []byte, keys []string, key string) int {
	if raw[0] != '{' || len(keys) > maxDoubled {
		return -1
	}
	return slices.Index(keys, key)
}

// joinValues makes an object, or a list.
func joinValues(isObject bool, keys []string, values [][]byte) []byte {
	begin, end := byte('['), byte(']')
	if isObject {
		begin, end = '{', '}'
	}
	out := []byte{begin}
	for i, v := range values {
		if i > 0 {
			out = append(out, ',')
		}
		if isObject {
			out = append(Quote(out, keys[i]), ':')
		}
		out = append(out, v...)
	}
	return append(out, end)
}

func saysNothing(value []byte) bool {
	switch string(value) {
	case "null", `""`, "{}", "[]":
		return true
	}
	return false
}

// tellingNames are fields of which an object of an answer has one.
var tellingNames = []string{"type", "role", "content", "object", "output", "status", "index", "message", "delta", "text", "response", "prompt_tokens", "completion_tokens", "input_tokens", "output_tokens"}

// isObject reports whether a value from a text is an object of an answer, or a list of them. Models write JSON too: what stands in the place
// of words for people has to be a list of typed parts.
func isObject(value []byte, name string) bool {
	var list []map[string]json.RawMessage
	if value[0] == '{' {
		value = slices.Concat([]byte{'['}, value, []byte{']'})
	}
	if json.Unmarshal(value, &list) != nil {
		return false
	}
	if name == "content" {
		return len(list) > 0 && !slices.ContainsFunc(list, func(part map[string]json.RawMessage) bool { return !isPart(part) })
	}
	return !slices.ContainsFunc(list, func(o map[string]json.RawMessage) bool {
		return !slices.ContainsFunc(tellingNames, func(name string) bool { return o[name] != nil })
	})
}

// isPart reports whether an object is a part of content.
func isPart(o map[string]json.RawMessage) bool {
	var kind string
	if json.Unmarshal(o["type"], &kind) != nil {
		return false
	}
	switch kind {
	case "text", "output_text", "summary_text", "reasoning_text", "thinking", "reasoning", "redacted_thinking", "refusal":
		return true
	}
	return false
}

// Parts gives the list of typed parts of content that is in a JSON text; nil = it is another text.
func Parts(text []byte) []byte {
	if !quotesObject(text) {
		return nil
	}
	if list, ok := mend(text, "content", nil, 0); ok {
		return list
	}
	return nil
}

// envelopeNames are the fields in which gateways put an answer, or an event.
var envelopeNames = []string{"data", "result", "body", "response"}

// Enveloped gives the event that is in another object, and its name where that has one; nil = there is none.
//
// source: developers.cloudflare.com/fundamentals/api (result), smallmain/vscode-unify-chat-provider#71 (data)
func Enveloped(data []byte) (name string, event []byte) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(data, &fields) != nil || IsError(fields["error"]) {
		return "", nil
	}
	for _, f := range envelopeNames {
		inner := unquoted(fields[f])
		if len(inner) > 0 && inner[0] == '{' && isObject(inner, f) {
			_ = json.Unmarshal(fields["event"], &name) // none where it is no text
			return name, inner
		}
	}
	return "", nil
}
