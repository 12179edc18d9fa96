package markup

import (
	"cmp"
	"encoding/json"
	"html"
	"strings"

	"parley/channels/pattern"
)

var (
	functionOpen = pattern.New(`^<function=["']?([A-Za-z0-9_.-]{1,128})["']?\s*>`)
	invokeOpen   = pattern.New("^<(\uff5cDSML\uff5c|[a-z]{1,16}:)?invoke\\s+name=[\"']?([A-Za-z0-9_.-]{1,128})[\"']?\\s*>")
	parameter    = pattern.New("^<(?:\uff5cDSML\uff5c|[a-z]{1,16}:)?parameter(?:=[\"']?([^\"'>\\s]{1,128})[\"']?|\\s+name=[\"']([^\"'>]{1,128})[\"'])(?:\\s+string=[\"'](true|false)[\"'])?\\s*>")
	// argKey matches tags of GLM, LongCat and Hunyuan 4. source: github.com/vllm-project/vllm/blob/main/vllm/tool_parsers/hy_v3_tool_parser.py
	argKey = pattern.New(`(?s)^\s*<(?:longcat_)?arg_key(?::opensource)?>(.*?)</(?:longcat_)?arg_key(?::opensource)?>\s*<(?:longcat_)?arg_value(?::opensource)?>(.*?)</(?:longcat_)?arg_value(?::opensource)?>`)
)

// taggedCall reads <function=NAME> or <invoke name="NAME"> with parameters in tags of their own, or JSON.
func taggedCall(s string, tools offers) (calls []Call, rest string, ok bool) {
	var name, closing string
	s = strings.TrimLeft(s, " \t\r\n")
	if m := functionOpen.FindStringSubmatch(s); m != nil {
		name, closing, rest = m[1], "</function>", s[len(m[0]):]
	} else if m := invokeOpen.FindStringSubmatch(s); m != nil {
		name, closing, rest = m[2], "</"+m[1]+"invoke>", s[len(m[0]):]
	} else {
		return nil, s, false
	}
	schema, _ := tools(name) // without one the values say what they are
	fields := arguments{schema: schema}
	ends := "</parameter>"
	if space, ok := strings.CutSuffix(closing, "invoke>"); ok {
		ends = space + "parameter>"
	}
	for {
		rest = strings.TrimLeft(rest, " \t\r\n")
		if after, ok := strings.CutPrefix(rest, closing); ok {
			args, ok := fields.object()
			return []Call{{Name: name, Arguments: args}}, after, ok
		}
		if rest != "" && rest[0] == '{' && len(fields.keys) == 0 {
			args, left, ok := object(rest)
			after, closed := strings.CutPrefix(strings.TrimLeft(left, " \t\r\n"), closing)
			return []Call{{Name: name, Arguments: args}}, after, ok && closed
		}
		m := parameter.FindStringSubmatch(rest)
		if kind, _, _ := markAt(rest); m == nil && len(fields.keys) > 0 && (rest == "" || kind == endMark || strings.HasPrefix(rest, "</tool_call>")) {
			args, ok := fields.object() // servers leave out what a model stopped at
			return []Call{{Name: name, Arguments: args}}, rest, ok
		}
		if m == nil {
			return nil, s, false
		}
		rest = rest[len(m[0]):]
		value, after, ok := "", rest, false
		if ends != "" {
			value, after, ok = strings.Cut(rest, ends)
		}
		if !ok {
			ends = "" // Qwen leaves it out
			end := strings.Index(rest, "\n<parameter")
			if i := strings.Index(rest[:cmp.Or(max(end, 0), len(rest))], "\n"+closing); i >= 0 {
				end = i
			}
			if end < 0 {
				return nil, s, false
			}
			value, after = rest[:end], rest[end:]
		}
		fields.add(m[1]+m[2], value, m[3])
		rest = after
	}
}

// keyedCall reads a name and its arguments as keys and values.
func keyedCall(s string, tools offers) (calls []Call, ok bool) {
	name, rest := s, ""
	if i := strings.IndexAny(s, "\n<"); i >= 0 {
		name, rest = s[:i], s[i:]
	}
	name, rest = strings.TrimSpace(name), strings.TrimPrefix(rest, "<tool_sep>") // of Hunyuan 3
	if !validName(name) {
		return nil, false
	}
	schema, _ := tools(name) // without one the values say what they are
	fields := arguments{schema: schema}
	for strings.TrimSpace(rest) != "" {
		m := argKey.FindStringSubmatch(rest)
		if m == nil {
			return nil, false
		}
		fields.add(strings.TrimSpace(m[1]), m[2], "")
		rest = rest[len(m[0]):]
	}
	args, ok := fields.object()
	return []Call{{Name: name, Arguments: args}}, ok
}

// arguments collects values that came as text, and gives them the types of a schema.
type arguments struct {
	schema json.RawMessage
	types  map[string]json.RawMessage
	keys   []string
	values map[string]json.RawMessage
}

// add takes a value in. text says whether it is one: "true", "false", or "" = as the schema says.
func (a *arguments) add(key, value, text string) {
	if a.values == nil {
		a.values, a.types = make(map[string]json.RawMessage), typesOf(a.schema)
	}
	value = strings.TrimSuffix(strings.TrimPrefix(value, "\n"), "\n")
	if text == "" && isText(a.types[key]) {
		text = "true"
	}
	raw := json.RawMessage(strings.TrimSpace(value))
	if text == "true" || !json.Valid(raw) {
		if plain := html.UnescapeString(value); text == "" && json.Valid([]byte(plain)) {
			raw = json.RawMessage(plain)
		} else if quoted, err := json.Marshal(value); err == nil {
			raw = quoted
		}
	}
	if _, ok := a.values[key]; !ok {
		a.keys = append(a.keys, key)
	}
	a.values[key] = raw
}

// set takes a value in that is JSON already.
func (a *arguments) set(key string, value json.RawMessage) {
	if a.values == nil {
		a.values, a.types = make(map[string]json.RawMessage), typesOf(a.schema)
	}
	if _, ok := a.values[key]; !ok {
		a.keys = append(a.keys, key)
	}
	a.values[key] = value
}

// object gives all of them.
func (a *arguments) object() (json.RawMessage, bool) {
	out := []byte{'{'}
	for i, k := range a.keys {
		if i > 0 {
			out = append(out, ',')
		}
		name, err := json.Marshal(k)
		if err != nil {
			return nil, false
		}
		out = append(append(append(out, name...), ':'), a.values[k]...)
	}
	out = append(out, '}')
	return out, json.Valid(out)
}

// typesOf gives the types of a schema's properties.
func typesOf(schema json.RawMessage) map[string]json.RawMessage {
	var s struct {
		Properties map[string]struct{ Type json.RawMessage }
	}
	out := make(map[string]json.RawMessage)
	if json.Unmarshal(schema, &s) == nil {
		for k, p := range s.Properties {
			out[k] = p.Type
		}
	}
	return out
}

// isText reports whether a type is that of texts: string, or string or null.
func isText(raw json.RawMessage) bool {
	var list []string
	if json.Unmarshal(raw, &list) != nil {
		var one string
		if json.Unmarshal(raw, &one) != nil {
			return false
		}
		list = []string{one}
	}
	text := false
	for _, t := range list {
		switch t {
		case "string":
			text = true
		case "null":
		default:
			return false
		}
	}
	return text
}
