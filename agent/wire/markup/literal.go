package markup

import (
	"encoding/json"
	"strings"

	"parley/agent/wire/pattern"
)

// quoteMark stands in the place of quotes in the calls of Gemma 4. source: vllm-project/vllm#44522
const quoteMark = `<|"|>`

// maxLiteralDepth bounds how deep lists and objects are nested.
const maxLiteralDepth = 32

// literal reads values as Python and Gemma write them, and gives them as JSON. bare: words without quotes are texts.
type literal struct {
	s    string
	bare bool
}

func (l *literal) skip() { l.s = strings.TrimLeft(l.s, " \t\r\n") }

// take reports whether a mark comes next, and passes it.
func (l *literal) take(mark string) bool {
	l.skip()
	rest, ok := strings.CutPrefix(l.s, mark)
	l.s = rest
	return ok
}

// value reads one value.
func (l *literal) value(depth int) (json.RawMessage, bool) {
	l.skip()
	switch {
	case l.s == "" || depth > maxLiteralDepth:
		return nil, false
	case l.take("["):
		return l.list(depth+1, "]")
	case l.take("("):
		return l.list(depth+1, ")")
	case l.take("{"):
		return l.pairs(depth+1, ":", "}")
	}
	if text, ok := l.quoted(); ok {
		return asJSON(text), true
	}
	end := strings.IndexAny(l.s, ",]})\n")
	if end < 0 {
		return nil, false
	}
	word := strings.TrimSpace(l.s[:end])
	l.s = l.s[end:]
	switch word {
	case "True", "true":
		return json.RawMessage("true"), true
	case "False", "false":
		return json.RawMessage("false"), true
	case "None", "null":
		return json.RawMessage("null"), true
	}
	if json.Valid([]byte(word)) {
		return json.RawMessage(word), true
	}
	return asJSON(word), l.bare && word != ""
}

// quoted reads a text in quotes of any kind.
func (l *literal) quoted() (string, bool) {
	if rest, ok := strings.CutPrefix(l.s, quoteMark); ok {
		text, after, ok := strings.Cut(rest, quoteMark)
		if ok {
			l.s = after
		}
		return text, ok
	}
	if l.s == "" || l.s[0] != '"' && l.s[0] != '\'' {
		return "", false
	}
	var b strings.Builder
	for i := 1; i < len(l.s); i++ {
		switch c := l.s[i]; {
		case c == l.s[0]:
			l.s = l.s[i+1:]
			return b.String(), true
		case c == '\\' && i+1 < len(l.s):
			i++
			b.WriteString(escaped(l.s[i]))
		default:
			b.WriteByte(c)
		}
	}
	return "", false
}

// escaped gives what stands behind a backslash.
func escaped(c byte) string {
	switch c {
	case 'n':
		return "\n"
	case 't':
		return "\t"
	case 'r':
		return "\r"
	case '\\', '"', '\'', '/':
		return string(rune(c))
	}
	return "\\" + string(rune(c))
}

// list reads values up to the closing mark.
func (l *literal) list(depth int, closing string) (json.RawMessage, bool) {
	out := []byte{'['}
	for n := 0; !l.take(closing); n++ {
		if n > 0 && !l.take(",") {
			return nil, false
		}
		if n > 0 && l.take(closing) {
			break
		}
		v, ok := l.value(depth)
		if !ok {
			return nil, false
		}
		if n > 0 {
			out = append(out, ',')
		}
		out = append(out, v...)
	}
	return append(out, ']'), true
}

var bareKey = pattern.New(`^[A-Za-z_][A-Za-z0-9_.-]{0,127}`)

// pairs reads keys and values up to the closing mark, as an object.
func (l *literal) pairs(depth int, between, closing string) (json.RawMessage, bool) {
	var fields arguments
	for n := 0; !l.take(closing); n++ {
		if n > 0 && !l.take(",") {
			return nil, false
		}
		if n > 0 && l.take(closing) {
			break
		}
		l.skip()
		key, ok := l.quoted()
		if !ok {
			key = bareKey.FindString(l.s)
			l.s = l.s[len(key):]
		}
		if key == "" || !l.take(between) {
			return nil, false
		}
		v, ok := l.value(depth)
		if !ok {
			return nil, false
		}
		fields.set(key, v)
	}
	return fields.object()
}

func asJSON(text string) json.RawMessage {
	raw, err := json.Marshal(text)
	if err != nil {
		return json.RawMessage("null") // texts always encode
	}
	return raw
}

var gemmaName = pattern.New(`^\s*call:([A-Za-z0-9_.-]{1,128})\s*\{`)

// gemmaCall reads a call of Gemma 4: call:NAME{key:value}. source: jundot/omlx#581
func gemmaCall(body string) (calls []Call, rest string, ok bool) {
	m := gemmaName.FindStringSubmatch(body)
	if m == nil {
		return nil, body, false
	}
	l := literal{s: body[len(m[0]):], bare: true}
	args, ok := l.pairs(0, ":", "}")
	if !ok || !l.take("<tool_call|>") {
		return nil, body, false
	}
	return []Call{{Name: m[1], Arguments: args}}, l.s, true
}

var pythonName = pattern.New(`^([A-Za-z_][A-Za-z0-9_.-]{0,127})\s*\(`)

// pythonCalls reads a list of Python calls, or JSON, up to the mark of LFM2. source: ggml-org/llama.cpp#23838
func pythonCalls(body string) (calls []Call, rest string, ok bool) {
	const end = "<|tool_call_end|>"
	if t := strings.TrimLeft(body, " \t\r\n["); strings.HasPrefix(t, "{") {
		return jsonBlock(body, end)
	}
	l := literal{s: body}
	if !l.take("[") {
		return nil, body, false
	}
	for !l.take("]") {
		if len(calls) > 0 && !l.take(",") {
			return nil, body, false
		}
		l.skip()
		m := pythonName.FindStringSubmatch(l.s)
		if m == nil {
			return nil, body, false
		}
		l.s = l.s[len(m[0]):]
		args, ok := l.pairs(0, "=", ")")
		if !ok {
			return nil, body, false
		}
		calls = append(calls, Call{Name: m[1], Arguments: args})
	}
	closed := l.take(end)
	return calls, l.s, closed && len(calls) > 0
}
