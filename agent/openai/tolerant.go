package openai

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"parley/channels/pattern"
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
	if calls := callList(f["tool_calls"]); len(c.Choices) > 0 && len(c.Choices[0].Delta.ToolCalls) == 0 && c.Choices[0].Message == nil { // beside the choices
		c.Choices[0].Delta.addCalls(calls)
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
	if len(c.Delta.ToolCalls) == 0 {
		c.Delta.addCalls(callList(m["tool_calls"])) // beside it
	}
	if msg, ok := m["message"]; ok && msg != nil {
		d, lost := oddDelta(msg)
		c.Message, left = &d, left || lost
	}
	return c, left
}

var (
	// thoughtName matches rare names of reasoning that people can read. It goes back in the field that it came in. notThought matches names of
	// settings and marks that have such words in them.
	thoughtName = pattern.New(`(?i)think|thought|reasoning|^reason$|rationale|scratchpad|monologue|^cot$|^cot_text$|^cot_content$|^chain_of_|^analysis$`)
	notThought  = pattern.New(`(?i)effort|status|type|format|mode|level|language|(?:^|_)(?:is|has|enabled?)(?:_|$)|` + sealedNames)
)

// otherThought gives reasoning in a field of a message whose name no server is known by, and that name.
func otherThought(message map[string]any) (text, in string) {
	for name, value := range message {
		s, isText := value.(string)
		if isText && s != "" && (text == "" || name < in) && !knownFields[name] && thoughtName.MatchString(name) && !notThought.MatchString(name) {
			text, in = s, name
		}
	}
	return text, in
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
	if said, _ := d.thought(""); said == "" {
		d.Thoughts, d.thoughtsIn = otherThought(m)
	}
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
	for _, key := range listKeys {
		calls := callList(m[key])
		if len(calls) == 0 {
			continue
		}
		d.ToolCalls = nil // some servers say the same twice
		left = d.addCalls(calls)
		break
	}
	f := objectOf(m["function_call"])
	if f != nil {
		odd := oddFunction(f)
		d.FunctionCall = &odd
	}
	return d, left || f == nil && text(m["function_call"]) != ""
}

// addCalls adds calls. left says that one cannot be read.
func (d *delta) addCalls(calls []any) (left bool) {
	for i, x := range calls {
		call := objectOf(x)
		if call != nil {
			d.ToolCalls = append(d.ToolCalls, oddCall(call, i))
		}
		left = left || call == nil && x != nil
	}
	return left
}

// listKeys are the fields of a message that hold its calls; the first that has some counts.
var listKeys = []string{"tool_calls", "toolCalls", "tool_call", "toolCall", "tool_uses", "function_calls", "functionCalls", "functionCall", "calls"}

// objectOf gives an object that stands alone, in a list of one, or as JSON in a text; nil = it is none.
func objectOf(v any) map[string]any {
	for range 3 {
		switch x := v.(type) {
		case map[string]any:
			return x
		case []any:
			if len(x) != 1 {
				return nil
			}
			v = x[0]
		case string:
			if v = jsonIn(x); v == nil {
				return nil
			}
		default:
			return nil
		}
	}
	return nil
}

// jsonIn gives the object or list that a text is; nil = it is none.
func jsonIn(s string) (v any) {
	if s = strings.TrimSpace(s); s == "" || s[0] != '{' && s[0] != '[' || !json.Valid([]byte(s)) {
		return nil
	}
	dec := json.NewDecoder(strings.NewReader(s))
	dec.UseNumber()
	_ = dec.Decode(&v) // it is valid
	return v
}

// callsIn gives the calls that stand in a list of content, as Anthropic has them. source: api7/aisix#170
func callsIn(content any) (out []toolCall) {
	for _, x := range listOf(content) {
		if m, ok := x.(map[string]any); ok && isCallPart(m) {
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
var callKinds = []string{"tool_use", "tool-call", "tool_call", "function_call", "function", "custom_tool_call"}

// isCallPart reports whether a part of content is a call.
func isCallPart(m map[string]any) bool {
	_, isBedrock := m["toolUse"].(map[string]any)
	_, isGemini := m["functionCall"].(map[string]any)
	return slices.Contains(callKinds, strings.ToLower(text(m["type"]))) || isBedrock || isGemini
}

// functionKeys are the fields of a call that hold its name and arguments, as objects; nameKeys and argumentKeys are those of the name and
// the arguments.
//
// source: developers.cloudflare.com/workers-ai/features/function-calling, docs.cohere.com/reference/chat, ai.google.dev/api/caching#FunctionCall
var (
	functionKeys = []string{"function", "functionCall", "function_call", "toolCall", "tool_call", "toolUse", "tool", "custom"}
	nameKeys     = []string{"name", "tool_name", "toolName", "function_name", "function", "tool"}
	argumentKeys = []string{"arguments", "parameters", "args", "input", "params", "kwargs", "tool_input", "toolInput", "tool_args", "toolArgs", "function_arguments", "args_json"}
)

func oddCall(m map[string]any, i int) toolCall {
	c := toolCall{Index: number(m["index"]), ID: text(m["id"]), Extra: rawOf(m["extra_content"]), signed: oddSigned(m)}
	if c.ID == "" {
		c.ID = cmp.Or(text(m["call_id"]), text(m["tool_call_id"]), text(m["tool_use_id"]), text(m["toolCallId"]))
	}
	c.Function = oddFunction(m)
	for _, key := range functionKeys {
		f := objectOf(m[key])
		if f == nil {
			continue
		}
		inner := oddFunction(f)
		inner.Name, inner.Arguments = cmp.Or(inner.Name, c.Function.Name), cmp.Or(inner.Arguments, c.Function.Arguments)
		c.ID = cmp.Or(c.ID, text(f["id"]), text(f["toolUseId"]))
		c.Function = inner
		break
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
		name, ok := m[key].(string)
		if !ok && strings.HasSuffix(strings.ToLower(key), "name") {
			name = text(m[key])
		}
		if f.Name == "" && jsonIn(name) == nil {
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
func partsOf(v any, out []contentPart) []contentPart {
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
			p := contentPart{thinking: thinking, text: s}
			if thinking {
				p.rest = restOf(v)
			}
			out = append(out, p)
		} else if rest := restOf(v); thinking && len(rest) > 0 {
			out = append(out, contentPart{thinking: true, rest: rest})
		}
	default:
		if s := text(v); s != "" {
			out = append(out, contentPart{text: s})
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

// callList gives the calls of a message, also where they, or one of them, are JSON in a text or stand in further lists.
func callList(v any) (out []any) {
	if s, isText := v.(string); isText {
		v = jsonIn(s)
	}
	if named, ok := v.(map[string]any); ok && isNamed(named) {
		v = nil
		for _, key := range slices.Sorted(maps.Keys(named)) {
			out = append(out, named[key])
		}
	}
	for _, x := range listOf(v) {
		if list, ok := x.([]any); ok {
			out = append(out, callList(list)...)
			continue
		}
		out = append(out, x)
	}
	return out
}

// isNamed reports whether an object holds calls under names, and is none itself.
func isNamed(m map[string]any) bool {
	for key, x := range m {
		inner, ok := x.(map[string]any)
		if !ok || slices.Contains(functionKeys, key) || oddFunction(inner).Name == "" && objectOf(inner["function"]) == nil {
			return false
		}
	}
	return len(m) > 0
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
