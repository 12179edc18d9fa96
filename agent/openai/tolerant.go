package openai

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// tolerant reads an event whose fields have other types than documented, or several that stand one after the other. odd: something
// could not be read and was left out.
func tolerant(data []byte) (out []chunk, odd bool) {
	for {
		data = bytes.TrimPrefix(bytes.TrimSpace(data), []byte("data:")) // of a line whose end was lost
		if data = bytes.TrimSpace(data); len(data) == 0 || bytes.HasPrefix(data, []byte("[DONE]")) {
			return out, odd
		}
		dec := json.NewDecoder(bytes.NewReader(data))
		dec.UseNumber()
		var v any
		if dec.Decode(&v) != nil {
			return out, true
		}
		data = data[dec.InputOffset():]
		list, ok := v.([]any)
		if !ok {
			list = []any{v}
		}
		for _, x := range list {
			fields, ok := x.(map[string]any)
			odd = odd || !ok
			if ok {
				c, left := oddChunk(fields)
				out, odd = append(out, c), odd || left
			}
		}
	}
}

// oddChunk reads an event. left says that a part of the answer has a form in which it cannot be read, and is left out; so below.
func oddChunk(f map[string]any) (c chunk, left bool) {
	c = chunk{Model: text(f["model"]), Usage: oddUsage(f["usage"]), Error: rawOf(f["error"]),
		Blocked: rawOf(f["promptFeedback"]), BlockedSnake: rawOf(f["prompt_feedback"]), Filters: rawOf(f["prompt_filter_results"])}
	for _, x := range listOf(f["choices"]) {
		m, ok := x.(map[string]any)
		if !ok {
			left = left || x != nil
			continue
		}
		o, lost := oddChoice(m)
		c.Choices, left = append(c.Choices, o), left || lost
	}
	if groq, ok := f["x_groq"].(map[string]any); ok && c.Usage == nil {
		c.Usage = oddUsage(groq["usage"])
	}
	return c, left
}

// choiceKeys are the fields of a choice: an object with none of them is another thing.
var choiceKeys = []string{"delta", "message", "text", "finish_reason", "index", "usage", "error"}

func oddChoice(m map[string]any) (c choice, left bool) {
	inDelta, _ := m["delta"].(map[string]any)
	content, _ := m["content"].(string)
	said, _ := inDelta["text"].(string)
	c = choice{Index: number(m["index"]), Text: cmp.Or(text(m["text"]), content, said), FinishReason: cmp.Or(reason(m["finish_reason"]), reason(m["finishReason"]), reason(inDelta["finish_reason"])), Native: reason(m["native_finish_reason"]),
		Usage: oddUsage(m["usage"]), Error: rawOf(m["error"])}
	left = len(m) > 0 && !slices.ContainsFunc(choiceKeys, func(key string) bool { _, ok := m[key]; return ok })
	var lost bool
	c.Delta, lost = oddDelta(m["delta"])
	left = left || lost
	if msg, ok := m["message"]; ok && msg != nil {
		d, lost := oddDelta(msg)
		c.Message, left = &d, left || lost
	}
	return c, left
}

// oddDelta reads a delta; a text alone is content.
func oddDelta(v any) (d delta, left bool) {
	m, ok := v.(map[string]any)
	if !ok {
		list, _ := v.([]any)
		d.Content = text(v)
		return d, len(list) > 0
	}
	d = delta{Refusal: text(m["refusal"]), ReasoningContent: text(m["reasoning_content"]), Reasoning: text(m["reasoning"]),
		ReasoningText: text(m["reasoning_text"]), Thinking: text(m["thinking"]), Thoughts: text(m["thoughts"]), ChainOfThought: text(m["cot_summary"]), Details: rawOf(m["reasoning_details"]), Extra: rawOf(m["extra_content"]),
		Sealed: rawOf(m["reasoning_opaque"]), Provider: rawOf(m["provider_specific_fields"]), Blocks: rawOf(m["thinking_blocks"])}
	_ = d.Role.UnmarshalJSON(rawOf(m["role"]))     // it never fails
	_ = d.Images.UnmarshalJSON(rawOf(m["images"])) // nor does this
	_ = d.Audio.UnmarshalJSON(rawOf(m["audio"]))
	switch content := m["content"].(type) {
	case []any, map[string]any:
		d.parts = partsOf(content, nil)
		d.ToolCalls = callsIn(content)
		d.Images += picturesIn(content)
	default:
		d.Content = text(content)
	}
	if calls := callList(m["tool_calls"]); len(calls) > 0 { // some servers say the same twice
		d.ToolCalls = nil
	}
	for i, x := range callList(m["tool_calls"]) {
		call, ok := x.(map[string]any)
		if ok {
			d.ToolCalls = append(d.ToolCalls, oddCall(call, i))
		}
		left = left || !ok && x != nil
	}
	f, ok := m["function_call"].(map[string]any)
	if ok {
		odd := oddFunction(f)
		d.FunctionCall = &odd
	}
	return d, left || !ok && text(m["function_call"]) != ""
}

// callsIn gives the calls that stand in a list of content, as Anthropic has them. source: api7/aisix#170
func callsIn(content any) (out []toolCall) {
	for _, x := range listOf(content) {
		if m, ok := x.(map[string]any); ok && slices.Contains(callKinds, text(m["type"])) {
			c := oddCall(m, 0)
			c.Index = len(out)
			out = append(out, c)
		}
	}
	return out
}

// picturesIn counts the pictures in a list of content.
func picturesIn(content any) (n pictures) {
	for _, x := range listOf(content) {
		if m, ok := x.(map[string]any); ok && strings.Contains(text(m["type"]), "image") {
			n++
		}
	}
	return n
}

// callKinds are the types of calls in a list of content.
var callKinds = []string{"tool_use", "tool_call", "function_call"}

// functionKeys are the fields of a call that hold its name and arguments, as objects; nameKeys and argumentKeys are those of the name and
// the arguments.
//
// source: developers.cloudflare.com/workers-ai/features/function-calling, docs.cohere.com/reference/chat, ai.google.dev/api/caching#FunctionCall
var (
	functionKeys = []string{"function", "functionCall", "function_call", "toolCall", "tool_call", "tool"}
	nameKeys     = []string{"name", "tool_name", "toolName", "function_name", "function", "tool"}
	argumentKeys = []string{"arguments", "parameters", "args", "input", "params", "kwargs", "tool_input", "toolInput", "tool_args", "function_arguments"}
)

func oddCall(m map[string]any, i int) toolCall {
	c := toolCall{Index: number(m["index"]), ID: text(m["id"]), Extra: rawOf(m["extra_content"]), signed: oddSigned(m)}
	if c.ID == "" {
		c.ID = cmp.Or(text(m["call_id"]), text(m["tool_call_id"]), text(m["tool_use_id"]))
	}
	c.Function = oddFunction(m)
	for _, key := range functionKeys {
		if f, ok := m[key].(map[string]any); ok {
			c.Function = oddFunction(f)
			break
		}
	}
	if _, ok := m["index"]; !ok && i > 0 {
		c.Index = i
	}
	return c
}

// oddFunction reads a name and arguments.
func oddFunction(m map[string]any) (f function) {
	f.signed = oddSigned(m)
	for _, key := range nameKeys {
		if name, ok := m[key].(string); ok && f.Name == "" {
			f.Name = name
		}
	}
	for _, key := range argumentKeys {
		if f.Arguments == "" {
			f.Arguments = argumentsOf(m[key])
		}
	}
	return f
}

func oddSigned(m map[string]any) signed {
	return signed{Provider: rawOf(m["provider_specific_fields"]), Signature: rawOf(m["thought_signature"]), Camel: rawOf(m["thoughtSignature"])}
}

// argumentsOf gives arguments as JSON text: a text is a piece of it, anything else is whole.
func argumentsOf(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	}
	return string(rawOf(v))
}

// textKeys are the fields in which objects carry text.
var textKeys = []string{"text", "thinking", "reasoning", "reasoning_content", "reasoning_text", "content", "summary", "value", "message", "parts", "output_text", "refusal"}

// partsOf reads content that is a list, or an object in one.
func partsOf(v any, out []part) []part {
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			out = partsOf(x, out)
		}
	case map[string]any:
		kind := strings.ToLower(text(v["type"]))
		thinking := strings.Contains(kind, "think") || strings.Contains(kind, "reason")
		if kind == "" {
			_, thinking = v["thinking"]
		}
		if kind == "image_url" || kind == "reference" || slices.Contains(callKinds, kind) {
			break
		}
		if s := wordsOf(kind, v); s != "" {
			p := part{thinking: thinking, text: s}
			if thinking {
				p.rest = restOf(v)
			}
			out = append(out, p)
		} else if rest := restOf(v); thinking && len(rest) > 0 {
			out = append(out, part{thinking: true, rest: rest})
		}
	default:
		if s := text(v); s != "" {
			out = append(out, part{text: s})
		}
	}
	return out
}

// wordsOf gives the words of a part of content of a kind. Of kinds that are not known only a text counts: their other fields are titles of sources,
// results of tools, or for machines.
func wordsOf(kind string, v map[string]any) string {
	switch {
	case strings.Contains(kind, "result"), strings.Contains(kind, "encrypted"), strings.Contains(kind, "redacted"):
		return ""
	case kind == "", strings.Contains(kind, "text"), strings.Contains(kind, "think"), strings.Contains(kind, "reason"), strings.Contains(kind, "summary"),
		kind == "message", kind == "content", kind == "refusal":
		return text(v)
	case strings.Contains(kind, "audio"):
		said, _ := v["audio"].(map[string]any)
		return cmp.Or(text(said["transcript"]), text(v["transcript"]), text(v["text"]))
	}
	return text(v["text"])
}

// restOf gives the fields of a part of content that are neither its kind nor its text.
func restOf(part map[string]any) map[string]any {
	rest := maps.Clone(part)
	maps.DeleteFunc(rest, func(name string, v any) bool { return v == nil || name == "type" || slices.Contains(textKeys, name) })
	return rest
}

// text gives the text of a value: as it is, of an object in its known fields, of a list one after the other.
func text(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	case []any:
		var b strings.Builder
		for _, x := range v {
			b.WriteString(text(x))
		}
		return b.String()
	case map[string]any:
		for _, key := range textKeys {
			if s := text(v[key]); s != "" {
				return s
			}
		}
	}
	return ""
}

// reason gives a word, also of an object that names it.
func reason(v any) string {
	if m, ok := v.(map[string]any); ok {
		for _, key := range []string{"type", "reason", "finish_reason", "name", "value"} {
			if s := text(m[key]); s != "" {
				return s
			}
		}
	}
	return text(v)
}

// number gives a whole number, also of a text; 0 = none.
func number(v any) int {
	f, err := strconv.ParseFloat(text(v), 64)
	if err != nil || f < -1e9 || f > 1e9 || f != f {
		return 0
	}
	return int(f)
}

// listOf gives the values of a list, or of an object whose keys number them, as PHP and Lua write lists; another value is a list of one.
func listOf(v any) []any {
	switch v := v.(type) {
	case nil:
		return nil
	case []any:
		return v
	case map[string]any:
		if out := numbered(v); out != nil {
			return out
		}
	}
	return []any{v}
}

// numbered gives the values of an object whose keys are the numbers from 0 or 1 on; nil = it is another one.
func numbered(m map[string]any) []any {
	out, first := make([]any, 0, len(m)), 0
	if _, fromZero := m["0"]; !fromZero {
		first = 1
	}
	for i := range len(m) {
		x, ok := m[strconv.Itoa(first+i)]
		if !ok {
			return nil
		}
		out = append(out, x)
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// callList gives the calls of a message, also where they are JSON in a text.
func callList(v any) []any {
	if s, isText := v.(string); isText {
		var inner any
		dec := json.NewDecoder(strings.NewReader(s))
		dec.UseNumber()
		if s = strings.TrimSpace(s); s == "" || dec.Decode(&inner) != nil {
			return nil
		}
		v = inner
	}
	return listOf(v)
}

// rawOf gives a value as JSON; nil for none.
func rawOf(v any) json.RawMessage {
	if v == nil {
		return nil
	}
	raw, err := json.Marshal(v)
	if err != nil { // what was decoded can be encoded
		return nil
	}
	return raw
}
