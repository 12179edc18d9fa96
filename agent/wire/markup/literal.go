package markup

import (
	"encoding/json"
	"strings"

	"parley/channels/pattern"
)

// quoteMarks stand in the place of quotes in the calls of Gemma 4 and FunctionGemma.
// Others write texts as programs do.
// source: vllm-project/vllm#44522, docs.vllm.ai/en/v0.18.0/api/vllm/tool_parsers/functiongemma_tool_parser
var quoteMarks = []string{`<|"|>`, "<escape>", `"""`, "'''", "`"}

// maxLiteralDepth bounds how deep lists and objects are nested.
const maxLiteralDepth = 32

// literal reads values as Python and Gemma write them, and gives them as JSON. bare: words without quotes are texts.
// ended: brackets that are missing at the end of the text are closed.
type literal struct {
	s     string
	bare  bool
	ended bool
}

// skip passes white space and comments.
func (l *literal) skip() {
	for {
		l.s = strings.TrimLeft(l.s, " \t\r\n")
		end := ""
		switch {
		case len(l.s) > 1 && l.s[0] == '\\' && strings.IndexByte("nrt", l.s[1]) >= 0: // source: OpenHands/software-agent-sdk#2488 (Qwen 3.5)
			l.s = l.s[2:]
			continue
		case strings.HasPrefix(l.s, "//") || strings.HasPrefix(l.s, "# "):
			end = "\n"
		case strings.HasPrefix(l.s, "/*"):
			end = "*/"
		default:
			return
		}
		_, rest, ok := strings.Cut(l.s, end)
		if !ok {
			return
		}
		l.s = rest
	}
}

// take reports whether a mark comes next, and passes it.
func (l *literal) take(mark string) bool {
	l.skip()
	rest, ok := strings.CutPrefix(l.s, mark)
	l.s = rest
	return ok
}

// close reports whether a closing mark comes next behind so many values, and passes it.
func (l *literal) close(mark string, values int) bool {
	return l.take(mark) || l.ended && values > 0 && l.s == ""
}

// comma reports whether a comma comes next, and passes it. Chinese models write their own.
func (l *literal) comma() bool { return l.take(",") || l.take("\uff0c") }

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
	if at := commentBegin.FindStringIndex(l.s[:end]); at != nil && !l.bare {
		end = at[0]
	}
	word := strings.TrimSpace(l.s[:end])
	l.s = l.s[end:]
	switch word {
	case "True", "true", "TRUE":
		return json.RawMessage("true"), true
	case "False", "false", "FALSE":
		return json.RawMessage("false"), true
	case "None", "null", "NULL", "nil", "undefined", "NaN":
		return json.RawMessage("null"), true
	}
	if plain := strings.TrimPrefix(word, "+"); strings.HasPrefix(plain, ".") { // as JSON 5 has numbers
		word = "0" + plain
	} else if plain != word && json.Valid([]byte(plain)) {
		word = plain
	}
	if json.Valid([]byte(word)) {
		return json.RawMessage(word), true
	}
	return asJSON(word), l.bare && word != ""
}

// commentBegin matches the beginning of a comment behind a value.
var commentBegin = pattern.New(`\s*(?://|/\*|\s# |\\[nrt])`)

// quoted reads a text in quotes of any kind.
func (l *literal) quoted() (string, bool) {
	for _, quote := range quoteMarks {
		if rest, ok := strings.CutPrefix(l.s, quote); ok {
			text, after, ok := strings.Cut(rest, quote)
			if ok {
				l.s = after
			}
			return text, ok
		}
	}
	for open, closing := range map[string]string{"\u201c": "\u201d", "\u2018": "\u2019"} {
		if rest, ok := strings.CutPrefix(l.s, open); ok {
			text, after, ok := strings.Cut(rest, closing)
			if ok {
				l.s = after
			}
			return text, ok
		}
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
			if text, n := unicodeEscape(l.s[i:]); n > 0 {
				b.WriteString(text)
				i += n - 1
				continue
			}
			i++
			b.WriteString(escaped(l.s[i]))
		default:
			b.WriteByte(c)
		}
	}
	return "", false
}

// unicodeEscape reads \uXXXX, both halves of a character where there are two, and gives how long it is; 0 = it is none.
func unicodeEscape(s string) (text string, n int) {
	m := unicodeForm.FindString(s)
	if m == "" || json.Unmarshal([]byte(`"`+m+`"`), &text) != nil {
		return "", 0
	}
	return text, len(m)
}

var unicodeForm = pattern.New(`^\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|^\\u[0-9a-fA-F]{4}`)

// escaped gives what stands behind a backslash.
func escaped(c byte) string {
	switch c {
	case 'n':
		return "\n"
	case 't':
		return "\t"
	case 'r':
		return "\r"
	case 'b':
		return "\b"
	case 'f':
		return "\f"
	case '\\', '"', '\'', '/':
		return string(rune(c))
	}
	return "\\" + string(rune(c))
}

// list reads values up to the closing mark.
func (l *literal) list(depth int, closing string) (json.RawMessage, bool) {
	out := []byte{'['}
	for n := 0; !l.close(closing, n); n++ {
		if n > 0 && !l.comma() {
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
	for n := 0; !l.close(closing, n); n++ {
		if n > 0 && !l.comma() && !strings.HasPrefix(l.s, `"`) { // before the next key models forget it
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
		if key == "" || !l.take(between) && !(between == ":" && l.take("\uff1a")) {
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

// gemmaCall reads a call of Gemma: call:NAME{key:value}. source: jundot/omlx#581
func gemmaCall(body, closing string) (calls []Call, rest string, ok bool) {
	m := gemmaName.FindStringSubmatch(body)
	if m == nil {
		return nil, body, false
	}
	l := literal{s: body[len(m[0]):], bare: true}
	args, ok := l.pairs(0, ":", "}")
	if !ok || !l.take(closing) {
		return nil, body, false
	}
	return []Call{{Name: m[1], Arguments: args}}, l.s, true
}

var pythonName = pattern.New(`^([A-Za-z_][A-Za-z0-9_.-]{0,127})\s*\(`)

// pythonCalls reads a list of Python calls, or JSON, up to a closing mark. source: ggml-org/llama.cpp#23838
func pythonCalls(body, closing string) (calls []Call, rest string, ok bool) {
	if t := strings.TrimLeft(body, " \t\r\n["); strings.HasPrefix(t, "{") {
		return jsonBlock(body, closing)
	}
	calls, rest, ok = pythonList(body)
	l := literal{s: rest}
	closed := l.take(closing)
	return calls, l.s, ok && closed
}

// pythonList reads a list of Python calls.
func pythonList(body string) (calls []Call, rest string, ok bool) {
	l := literal{s: body}
	if !l.take("[") {
		return nil, body, false
	}
	for !l.take("]") {
		if len(calls) > 0 && !l.take(",") {
			return nil, body, false
		}
		c, ok := l.call()
		if !ok {
			return nil, body, false
		}
		calls = append(calls, c)
	}
	return calls, l.s, len(calls) > 0
}

// codeCalls reads Python calls, one behind the other, as Gemini and Gemma write them into blocks of code: print(default_api.NAME(key=value)).
func codeCalls(body string) (calls []Call, rest string, ok bool) {
	if strings.HasPrefix(body, "[") {
		return pythonList(body)
	}
	l := literal{s: body}
	for {
		for l.take(";") {
		}
		if l.s == "" {
			return calls, "", len(calls) > 0
		}
		isPrinted := l.take("print(")
		c, ok := l.call()
		if !ok || isPrinted && !l.take(")") {
			return nil, body, false
		}
		c.Name = strings.TrimPrefix(c.Name, "default_api.")
		calls = append(calls, c)
	}
}

// call reads one Python call.
func (l *literal) call() (c Call, ok bool) {
	l.skip()
	m := pythonName.FindStringSubmatch(l.s)
	if m == nil {
		return c, false
	}
	l.s = l.s[len(m[0]):]
	args, ok := l.pairs(0, "=", ")")
	return Call{Name: m[1], Arguments: args}, ok
}
