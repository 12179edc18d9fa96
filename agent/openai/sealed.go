package openai

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"unicode/utf8"

	"parley/channels/pattern"
)

// sealedName matches names of fields that hold what an endpoint wants back and only it can read.
var sealedName = pattern.New(`(?i)` + sealedNames)

const sealedNames = `signature|opaque|encrypted|sealed|^(?:reasoning|thoughts?|thinking|cot)_(?:state|blob|ids?|context|token|data)$|^continuation(?:_token)?$|^conversation_token$`

// sealedKey matches such a name inside of a value.
var sealedKey = pattern.New(`(?i)"\w*(?:signature|opaque|encrypted|sealed)\w*"\s*:`)

// knownFields are the fields of a message, a call and a function that are read, and sent back where that is wanted.
var knownFields = map[string]bool{
	"role": true, "content": true, "refusal": true, "reasoning_content": true, "reasoning_text": true, "reasoning_details": true, "tool_calls": true, "function_call": true,
	"extra_content": true, "reasoning_opaque": true, "provider_specific_fields": true, "thinking_blocks": true,
	"index": true, "id": true, "type": true, "function": true, "name": true, "arguments": true, "parameters": true, "args": true, "input": true,
}

// ofCalls are fields of a call and a function that are read. Beside the text of a message they are further ones.
var ofCalls = []string{"thought_signature", "thoughtSignature"}

// mayBeSealed reports whether an event may have such a field.
func mayBeSealed(data []byte) bool {
	data = data[max(0, bytes.Index(data, []byte(`"choices"`))):]
	return bytes.Contains(data, []byte("ignature")) || bytes.Contains(data, []byte("ncrypted")) || bytes.Contains(data, []byte("paque")) ||
		slices.ContainsFunc(sealedParts, func(part []byte) bool { return bytes.Contains(data, part) })
}

// sealedParts are parts of the names of such fields, behind the word for reasoning.
var sealedParts = [][]byte{[]byte(`_state"`), []byte(`_blob"`), []byte(`_id"`), []byte(`_ids"`), []byte(`_context"`), []byte(`_token"`), []byte(`_data"`), []byte(`"continuation"`)}

// plainEvent is an event without such a field. Most events differ from the one before in one text: they have none either.
type plainEvent struct {
	head, tail []byte // around the last text
}

// matches reports whether an event has the same fields.
func (p *plainEvent) matches(data []byte) bool {
	return len(p.head) > 0 && len(data) >= len(p.head)+len(p.tail) && bytes.HasPrefix(data, p.head) && bytes.HasSuffix(data, p.tail) &&
		bytes.IndexByte(data[len(p.head):len(data)-len(p.tail)], '"') < 0
}

// between gives the last text of an event that matches, as it stands there.
func (p *plainEvent) between(data []byte) []byte { return data[len(p.head) : len(data)-len(p.tail)] }

// isContent reports whether the last text of an event that was read is the content of its one choice.
func (p *plainEvent) isContent(data []byte, choices []choice) bool {
	return len(choices) == 1 && bytes.HasSuffix(p.head, []byte(`"content":"`)) && p.matches(data) && choices[0].Delta.Content != "" && string(p.between(data)) == choices[0].Delta.Content
}

// otherText gives the content of an event that differs from the one before in that alone: it need not be read again.
func (s *stream) otherText(data []byte) (string, bool) {
	if !s.isOneText || !s.plain.matches(data) {
		return "", false
	}
	text := s.plain.between(data)
	if len(text) == 0 || !utf8.Valid(text) || bytes.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == '\\' }) {
		return "", false
	}
	return string(text), true
}

func (p *plainEvent) set(data []byte) {
	p.head = p.head[:0]
	i := bytes.LastIndex(data, []byte(`:"`))
	if i < 0 {
		return
	}
	begin := i + len(`:"`)
	if size := bytes.IndexByte(data[begin:], '"'); size >= 0 {
		p.head, p.tail = append(p.head, data[:begin]...), append(p.tail[:0], data[begin+size:]...)
	}
}

// keepSealed keeps the fields of the first choice that endpoints want back under names of their own, and puts those of calls beside them.
//
// source: docs.litellm.ai/docs/reasoning_content, ai-sdk.dev/providers/ai-sdk-providers/google (provider_metadata)
func (s *stream) keepSealed(data []byte) {
	type object = map[string]json.RawMessage
	var event struct {
		Choices []struct {
			Delta, Message object
		}
	}
	if json.Unmarshal(data, &event) != nil {
		return
	}
	for n, o := range event.Choices {
		if n >= len(s.chunk.Choices) {
			break
		}
		if at := s.chunk.Choices[n].Index; s.index != noIndex && at != s.index && at != s.index+1 {
			continue
		}
		s.keepSealedOf(o.Delta, &s.chunk.Choices[n].Delta)
		s.keepSealedOf(o.Message, s.chunk.Choices[n].Message)
	}
}

// keepSealedOf does it for a message; to is what was read of it.
func (s *stream) keepSealedOf(message map[string]json.RawMessage, to *delta) {
	if message == nil || to == nil {
		return
	}
	kept := sealedIn(message)
	if s.isOver(sizeOf(kept)) {
		return
	}
	s.rest = merged(s.rest, kept)
	var calls []map[string]json.RawMessage
	if json.Unmarshal(message["tool_calls"], &calls) != nil || len(calls) != len(to.ToolCalls) {
		return
	}
	for i, c := range calls {
		var f map[string]json.RawMessage
		_ = json.Unmarshal(c["function"], &f) // nothing where it is no object
		own, inner := sealedIn(c, ofCalls...), sealedIn(f, ofCalls...)
		if s.isOver(sizeOf(own) + sizeOf(inner)) {
			return
		}
		to.ToolCalls[i].Rest, to.ToolCalls[i].Function.Rest = rawOfFields(own), rawOfFields(inner)
	}
}

// isOver counts data that goes back, in bytes as it comes, and reports whether it is more than an answer may have: all of it is dropped then.
func (s *stream) isOver(more int) bool {
	if s.opaque += more; s.opaque <= maxSealed {
		return false
	}
	s.rest, s.part, s.extra, s.special, s.sealed = nil, nil, nil, nil, nil
	for _, c := range s.calls {
		c.extra, c.fields, c.function = nil, signed{}, signed{}
	}
	return true
}

// keepOwn keeps the fields of a message that are known to go back.
func (s *stream) keepOwn(d *delta) {
	for _, f := range []struct {
		to   *json.RawMessage
		from json.RawMessage
		any  bool // whatever is in it
	}{{&s.extra, d.Extra, false}, {&s.special, d.Provider, false}, {&s.sealed, d.Sealed, true}} {
		if says(f.from) && (f.any || bytes.Contains(f.from, []byte("signature"))) && !s.isOver(len(f.from)) {
			*f.to = bytes.Clone(f.from)
		}
	}
}

// sizeOfValue is the size of a decoded value, about that of its JSON.
func sizeOfValue(v any) (n int) {
	switch x := v.(type) {
	case string:
		return len(x)
	case []any:
		for _, e := range x {
			n += sizeOfValue(e)
		}
	case map[string]any:
		for name, e := range x {
			n += len(name) + sizeOfValue(e)
		}
	}
	return n + 1
}

func sizeOf(fields map[string]json.RawMessage) (n int) {
	for name, value := range fields {
		n += len(name) + len(value)
	}
	return n
}

// sealedIn gives the fields of an object that are sealed, under names that are not known, nor among others that are read.
func sealedIn(fields map[string]json.RawMessage, read ...string) (out map[string]json.RawMessage) {
	for name, value := range fields {
		if knownFields[name] || !says(value) || slices.Contains(read, name) {
			continue
		}
		inner := value[0] == '{' || value[0] == '['
		if sealedName.MatchString(name) || inner && sealedKey.Match(value) {
			if out == nil {
				out = make(map[string]json.RawMessage)
			}
			out[name] = bytes.Clone(value)
		}
	}
	return out
}

// merged adds the fields of a piece to those before it. Texts that people can read come in pieces.
func merged(to, piece map[string]json.RawMessage) map[string]json.RawMessage {
	if to == nil || piece == nil {
		if piece != nil {
			return piece
		}
		return to
	}
	maps.Copy(to, piece)
	return to
}

// rawOfFields gives fields as an object; nil for none.
func rawOfFields(fields map[string]json.RawMessage) json.RawMessage {
	if len(fields) == 0 {
		return nil
	}
	raw, err := json.Marshal(fields)
	if err != nil { // what was decoded can be encoded
		return nil
	}
	return raw
}
