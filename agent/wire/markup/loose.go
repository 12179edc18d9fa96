package markup

import (
	"bytes"
	"encoding/json"
	"html"
	"slices"
	"strings"

	"parley/channels/pattern"
)

var (
	// looseBegin matches what models write in front of arguments.
	looseBegin = pattern.New("^\\s*(?:(?:```(?:json|tool_call|javascript|python)?|<[\\w:|=.-]{1,40}>)\\s*)*")
	// looseEnd matches what models write behind them: closing brackets too many, closing tags, marks of a chat template, fences.
	looseEnd = pattern.New("^(?:[\\s}\\]),;]|</?[\\w:|\uff5c\u2581-]{1,40}>|<\\|[^<>]{0,40}\\|?>|```)*$")
)

// LooseObject reads arguments that are no JSON, and gives them as a JSON object where there is only one that can be meant: control characters,
// single quotes, words of Python, bare keys, comments and commas too many are read; code fences, tags and brackets around them are left out.
// isEnded says that the model was done: then brackets that are missing are added, and sentences around an object are left out as well.
//
// source: js.langchain.com (parsePartialJson), ai-sdk.dev (repairToolCall), github.com/josdejong/jsonrepair
func LooseObject(text string, isEnded bool) (json.RawMessage, bool) {
	text = strings.Trim(text, unseen)
	if raw, ok := looseValue(text, isEnded); ok || !isEnded {
		return raw, ok
	}
	if noArguments.MatchString(text) {
		return json.RawMessage("{}"), true
	}
	for _, read := range []func(string) (json.RawMessage, bool){escapedObject, withoutBrackets, amidWords} {
		if raw, ok := read(text); ok {
			return raw, true
		}
	}
	return nil, false
}

// escapedObject reads an object that is escaped as a text is, without its quotes, or as a page is.
func escapedObject(text string) (json.RawMessage, bool) {
	for _, plain := range []func(string) (string, bool){
		func(s string) (string, bool) { return unquoted(`"` + s + `"`) },
		func(s string) (string, bool) {
			return html.UnescapeString(s), strings.Contains(s, "&quot;") || strings.Contains(s, "&#34;")
		},
	} {
		if s, ok := plain(text); ok && s != "" && s[0] == '{' && json.Valid([]byte(s)) {
			return json.RawMessage(s), true
		}
	}
	return nil, false
}

var (
	keyInFront  = pattern.New(`^["']?[A-Za-z_][A-Za-z0-9_]*["']?\s*[:=]`)
	callInFront = pattern.New(`^[A-Za-z_][A-Za-z0-9_.]*\(\s*[A-Za-z_][A-Za-z0-9_]*\s*=`)
)

// withoutBrackets reads keys and values that lack the brackets of an object, or have those of a call in Python.
func withoutBrackets(text string) (json.RawMessage, bool) {
	text = strings.TrimRight(text, " \t\r\n;")
	if callInFront.MatchString(text) {
		l := literal{s: text}
		c, ok := l.call()
		return c.Arguments, ok && l.s == ""
	}
	if !keyInFront.MatchString(text) {
		return nil, false
	}
	for _, between := range []string{":", "="} {
		l := literal{s: strings.TrimSuffix(text, "}") + "}"}
		if raw, ok := l.pairs(0, between, "}"); ok && l.s == "" {
			return raw, true
		}
	}
	return nil, false
}

// unseen are the characters that servers put around JSON: white space, a mark of the byte order, padding.
const unseen = " \t\r\n\x00\ufeff\u200b"

var (
	// noArguments matches words of programming languages for nothing.
	noArguments = pattern.New(`^(?i:none|null|nil|undefined|void)$`)
	// oneWord matches a key in front of a value, but not the words for arguments.
	oneWord = pattern.New(`^["']?[A-Za-z_][\w.-]*["']?\s*[:=]\s*$`)
)

// amidWords gives the JSON object that is alone in a sentence.
func amidWords(text string) (json.RawMessage, bool) {
	at := strings.IndexByte(text, '{')
	if at < 0 || strings.ContainsAny(text[:at], "[]}") {
		return nil, false
	}
	if word := strings.ToLower(strings.Trim(text[:at], " \t\r\n:=\"'")); oneWord.MatchString(text[:at]) && word != "json" && !slices.Contains(argumentKeys, word) {
		return nil, false
	}
	dec := json.NewDecoder(strings.NewReader(text[at:]))
	var raw json.RawMessage
	if dec.Decode(&raw) != nil || strings.ContainsAny(text[at:][dec.InputOffset():], "[]{}\"") {
		return nil, false
	}
	return raw, true
}

func looseValue(text string, isEnded bool) (json.RawMessage, bool) {
	text = text[len(looseBegin.FindString(text)):]
	if unquoted, ok := unquoted(text); ok {
		text = unquoted
	}
	l := literal{s: text, ended: isEnded}
	raw, ok := l.value(0)
	if !ok || len(raw) == 0 || raw[0] != '{' && raw[0] != '[' || !looseEnd.MatchString(l.s) {
		return nil, false
	}
	return raw, true
}

// unquoted gives what a JSON text holds that is an object or a list.
func unquoted(text string) (string, bool) {
	var inner string
	if text == "" || text[0] != '"' || json.Unmarshal([]byte(text), &inner) != nil {
		return "", false
	}
	inner = strings.TrimSpace(inner)
	return inner, strings.HasPrefix(inner, "{") || strings.HasPrefix(inner, "[")
}

// argumentKeys are the names under which models and gateways give the arguments of a call.
var argumentKeys = []string{"arguments", "parameters", "args", "input", "params", "kwargs", "tool_input", "action_input"}

// ownNameKeys are the names under which they give its name.
var ownNameKeys = []string{"name", "tool", "tool_name", "function", "action"}

// Unwrapped gives the arguments of a call of a tool that stand inside of something else: of a list, of a whole call, of a text. Anything that
// the tool's schema has a property for stays as it is.
//
// source: php.net/json_encode (an empty array is a list), NousResearch/hermes-agent#26053
func Unwrapped(raw json.RawMessage, name string, schema json.RawMessage) json.RawMessage {
	for range 4 {
		inner, ok := unwrap(raw, name, schema)
		if !ok {
			break
		}
		raw = inner
	}
	return raw
}

// Alone gives the object that is alone in a list, and an empty one for an empty list; anything else as it is.
func Alone(raw json.RawMessage) json.RawMessage {
	inner := raw
	for range maxLiteralDepth {
		var list []json.RawMessage
		if json.Unmarshal(inner, &list) != nil || list == nil || len(list) > 1 {
			break
		}
		if len(list) == 0 {
			return json.RawMessage("{}")
		}
		inner = list[0]
		if text, ok := unquoted(string(inner)); ok && json.Valid([]byte(text)) {
			inner = json.RawMessage(text)
		}
		if inner[0] == '{' {
			return inner
		}
	}
	return raw
}

func unwrap(raw json.RawMessage, name string, schema json.RawMessage) (json.RawMessage, bool) {
	if len(raw) > 0 && raw[0] == '[' {
		object := Alone(raw)
		return object, object[0] == '{'
	}
	if len(raw) > 0 && raw[0] == '{' && (name == "" || !bytes.Contains(raw, []byte(`"`+name+`"`))) && !slices.ContainsFunc(argumentKeys, func(key string) bool { return bytes.Contains(raw, []byte(key)) }) {
		return nil, false // nearly all
	}
	if text, ok := unquoted(string(raw)); ok && json.Valid([]byte(text)) {
		return json.RawMessage(text), true
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return nil, false
	}
	known := typesOf(schema)
	var inner json.RawMessage
	for key, value := range fields {
		var text string
		isText := json.Unmarshal(value, &text) == nil
		switch _, isProperty := known[key]; {
		case isProperty:
			return nil, false
		case slices.Contains(argumentKeys, key) && inner == nil:
			inner = value
		case slices.Contains(ownNameKeys, key) && isText && text == name:
		case (key == name || key == "function") && len(fields) == 1: // the call itself, or the name in front of its arguments
			inner = value
		case (key == "type" || key == "id") && isText:
		default:
			return nil, false
		}
	}
	if text, ok := unquoted(string(inner)); ok {
		inner = json.RawMessage(text)
	}
	return inner, len(inner) > 0 && (inner[0] == '{' || string(inner) == "[]") && json.Valid(inner)
}

var (
	entity = pattern.New(`&(?:amp|lt|gt|quot|apos|#39|#34|#x27|#x22);`)
	// bareMark matches what a text that is escaped for HTML has not.
	bareMark = pattern.New(`[<>]|\\"|\\u003[ce]|&(?:[^a-z#]|$)`)
)

// WithoutEntities gives arguments whose texts are escaped for HTML as the model meant them. Texts of which only a part is escaped stay.
//
// source: openclaw/openclaw#35173 (Grok)
func WithoutEntities(raw json.RawMessage) json.RawMessage {
	if !entity.MatchString(string(raw)) || bareMark.MatchString(string(raw)) {
		return raw
	}
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return raw
	}
	out, err := json.Marshal(unescaped(v))
	if err != nil {
		return raw
	}
	return out
}

func unescaped(v any) any {
	switch v := v.(type) {
	case string:
		return html.UnescapeString(v)
	case []any:
		for i := range v {
			v[i] = unescaped(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = unescaped(v[k])
		}
	}
	return v
}
