package markup

import (
	"encoding/json"
	"regexp"
	"strings"

	"parley/channels/pattern"
)

// m3Mark stands in front of each tag of a call of MiniMax M3. source: MiniMax-AI/MiniMax-M3#31
const m3Mark = "]<]minimax[>["

var (
	m3Invoke = pattern.New(`^\s*` + regexp.QuoteMeta(m3Mark) + `<invoke name=["']?([A-Za-z0-9_.-]{1,128})["']?\s*>`)
	m3Field  = pattern.New(`^\s*` + regexp.QuoteMeta(m3Mark) + `<([A-Za-z_][A-Za-z0-9_.-]{0,127})>`)
)

// m3Calls reads calls behind the opening tag: each has its parameters in tags of their own, which may be nested.
func m3Calls(body string, tools offers) (calls []Call, rest string, ok bool) {
	rest = body
	for {
		m := m3Invoke.FindStringSubmatch(rest)
		if m == nil {
			break
		}
		schema, _ := tools(m[1]) // without one the values say what they are
		args, after, ok := m3Fields(rest[len(m[0]):], "invoke", schema, 0)
		if !ok {
			return nil, body, false
		}
		calls, rest = append(calls, Call{Name: m[1], Arguments: args}), after
	}
	after, closed := strings.CutPrefix(strings.TrimLeft(rest, " \t\r\n"), m3Mark+"</tool_call>")
	return calls, after, closed && len(calls) > 0
}

// m3Fields reads fields up to a closing tag: an object, or a list of the fields called item.
func m3Fields(s, closing string, schema json.RawMessage, depth int) (raw json.RawMessage, rest string, ok bool) {
	fields := arguments{schema: schema}
	var items []json.RawMessage
	for depth <= maxLiteralDepth {
		if after, ok := strings.CutPrefix(strings.TrimLeft(s, " \t\r\n"), m3Mark+"</"+closing+">"); ok {
			if len(items) > 0 && len(fields.keys) == 0 {
				raw, err := json.Marshal(items)
				return raw, after, err == nil
			}
			raw, ok := fields.object()
			return raw, after, ok
		}
		m := m3Field.FindStringSubmatch(s)
		if m == nil {
			return nil, s, false
		}
		s = s[len(m[0]):]
		item := m[1] == "item" && depth > 0
		var value json.RawMessage
		if m3Field.MatchString(s) {
			if value, s, ok = m3Fields(s, m[1], nil, depth+1); !ok {
				return nil, s, false
			}
		} else {
			text, after, ok := strings.Cut(s, m3Mark+"</"+m[1]+">")
			if !ok {
				return nil, s, false
			}
			s = after
			if !item {
				fields.add(m[1], text, "")
				continue
			}
			value = plainValue(text)
		}
		if item {
			items = append(items, value)
		} else {
			fields.set(m[1], value)
		}
	}
	return nil, s, false
}

// plainValue gives a text as the JSON value that it is, else as a text.
func plainValue(text string) json.RawMessage {
	if t := strings.TrimSpace(text); json.Valid([]byte(t)) {
		return json.RawMessage(t)
	}
	return asJSON(text)
}
