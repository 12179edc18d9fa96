package markup

import (
	"encoding/json"
	"strings"

	"parley/channels/pattern"
)

// maxCalls bounds the calls of a text, and maxWraps how deep one is wrapped.
const (
	maxCalls = 256
	maxWraps = 4
)

// offers gives the schema of a tool that may be called.
type offers func(name string) (json.RawMessage, bool)

// callsOf reads the tool calls that a text begins with, and the marks of a chat template behind them. ok is false when they are not
// whole and well formed.
func callsOf(s string, tools offers) (calls []Call, rest string, ok bool) {
	rest = s
	for len(calls) < maxCalls {
		next := skipEnds(rest)
		if kind, _, _ := markAt(next); kind != callMark {
			return calls, next, len(next) < len(s)
		}
		more, after, ok := oneCall(next, tools)
		if !ok {
			return calls, rest, len(calls) > 0
		}
		calls, rest = append(calls, more...), after
	}
	return calls, rest, true
}

// skipEnds skips white space and marks that end an answer. Without such a mark the white space stays.
func skipEnds(s string) string {
	for {
		trimmed := strings.TrimLeft(s, " \t\r\n")
		kind, n, _ := markAt(trimmed)
		switch {
		case kind == endMark:
			s = trimmed[n:]
		case kind == callMark, trimmed == "":
			return trimmed
		default:
			return s
		}
	}
}

// oneCall reads what one mark opens. Its closing mark may be missing: servers leave out what a model stopped at.
func oneCall(s string, tools offers) (calls []Call, rest string, ok bool) {
	_, n, _ := markAt(s)
	mark, body := strings.ToLower(s[:n]), s[n:]
	if _, local, ok := strings.Cut(mark, ":"); ok && spaceMark(s) == n {
		mark = "<" + local
	}
	if closing, ok := jsonMarks[mark]; ok {
		return jsonBlock(body, closing)
	}
	switch mark {
	case "<tool_call>", "<tool_calls>", "<tool_call:opensource>", "<tool_calls:opensource>", "<toolcall>", "<function_call>", "<functioncall>", "<function_calls>", "<tools>", "<longcat_tool_call>",
		"<\uff5cdsml\uff5cfunction_calls>", "<\uff5cdsml\uff5ctool_calls>":
		if calls, rest, ok = jsonBlock(body, "</"+s[1:n]); ok {
			return calls, rest, ok
		}
		inner, rest := enclosed(body, "</"+s[1:n])
		calls, ok = innerCalls(inner, tools)
		return calls, rest, ok
	case "<|tools_prefix|>":
		return keyedCalls(body, "<|tools_suffix|>")
	case "<|tool_calls|>":
		if t := strings.TrimLeft(body, " \t\r\n"); strings.HasPrefix(t, "[") {
			return jsonBlock(body, "<|/tool_calls|>")
		}
		return solarCalls(body, tools)
	case "<|tool_call:begin|>", "<|tool_call:start|>":
		return solarCalls(s, tools)
	case "<start_function_call>":
		return gemmaCall(body, "<end_function_call>")
	case m3Mark + "<tool_call>":
		return m3Calls(body, tools)
	case "<|tool_call>":
		return gemmaCall(body, "<tool_call|>")
	case "<|tool_call_start|>":
		return pythonCalls(body, "<|tool_call_end|>")
	case "<|python_start|>":
		return pythonCalls(body, "<|python_end|>")
	case "<function=", "<invoke name=", "<\uff5cdsml\uff5cinvoke ":
		return taggedCall(s, tools)
	case "[tool_calls]":
		return mistralCalls(body)
	case "<|tool_calls_section_begin|>", "<|tool_call_begin|>":
		return kimiCalls(s)
	case "<\uff5ctool_calls_begin\uff5c>", "<\uff5ctool_call_begin\uff5c>":
		return stepCalls(s, tools)
	case "<\uff5ctool\u2581calls\u2581begin\uff5c>", "<\uff5ctool\u2581call\u2581begin\uff5c>":
		return deepSeekCalls(s)
	case "<|python_tag|>", "<|function_call|>":
		calls, rest, ok = jsonCalls(body)
		return calls, rest, ok && len(calls) > 0
	}
	return harmonyCall(s)
}

// jsonMarks are marks in front of JSON, in lower case, with the marks that close it.
var jsonMarks = map[string]string{
	"[tool_request]":             "[END_TOOL_REQUEST]",
	"[tool_call]":                "[/TOOL_CALL]",
	"<|tool_call|>":              "<|/tool_call|>", // Phi; Granite closes with nothing
	"<|action_start|><|plugin|>": "<|action_end|>",
	"<|start_action|>":           "<|END_ACTION|>",
	"<|functioncallbegin|>":      "<|FunctionCallEnd|>", // Doubao
	gigaChatCall:                 "<|message_sep|>",
}

// gigaChatCall stands in front of a call of GigaChat 3, behind a text.
// source: github.com/vllm-project/vllm/blob/main/vllm/tool_parsers/gigachat3_tool_parser.py
const gigaChatCall = "<|message_sep|>\n\nfunction call<|role_sep|>"

// enclosed gives the text in front of a closing tag: all but the marks that end an answer where there is none. Tags inside of JSON texts do
// not count.
func enclosed(s, closing string) (inner, rest string) {
	from := 0
	if t := strings.TrimLeft(s, " \t\r\n"); t != "" && (t[0] == '{' || t[0] == '[') {
		dec := json.NewDecoder(strings.NewReader(s))
		var v json.RawMessage
		if dec.Decode(&v) == nil {
			from = int(dec.InputOffset())
		}
	}
	i := strings.Index(s[from:], closing)
	if i < 0 {
		return withoutEnds(s), ""
	}
	return s[:from+i], s[from+i+len(closing):]
}

// withoutEnds gives a text without the marks that end an answer.
func withoutEnds(s string) string {
	for {
		s = strings.TrimSpace(s)
		at := strings.LastIndexAny(s, "<[")
		if at < 0 {
			return s
		}
		if kind, n, _ := markAt(s[at:]); kind != endMark || at+n != len(s) {
			return s
		}
		s = s[:at]
	}
}

// innerCalls reads what stands between a pair of tags: JSON, tagged calls, or a name with keys and values.
func innerCalls(inner string, tools offers) (calls []Call, ok bool) {
	inner = strings.TrimSpace(inner)
	switch {
	case inner == "":
		return nil, false
	case inner[0] == '{' || inner[0] == '[':
		raw, ok := looseValue(inner, false)
		if !ok {
			return nil, false
		}
		calls, _, ok := jsonCalls(string(raw))
		return calls, ok
	case inner[0] == '<':
		for inner != "" {
			more, rest, ok := nestedCall(inner, tools)
			if !ok {
				return nil, false
			}
			calls, inner = append(calls, more...), strings.TrimSpace(rest)
		}
		return calls, len(calls) > 0
	}
	if pythonName.MatchString(inner) {
		calls, _, ok = codeCalls(inner)
		return calls, ok
	}
	return keyedCall(inner, tools)
}

var nestedOpen = pattern.New(`^<(tool_call(?::opensource)?>)`)

// nestedCall reads a tagged call, or one in a pair of tags that is a part of a list.
func nestedCall(s string, tools offers) (calls []Call, rest string, ok bool) {
	m := nestedOpen.FindStringSubmatch(s)
	if m == nil {
		return taggedCall(s, tools)
	}
	inner, rest := enclosed(s[len(m[0]):], "</"+m[1])
	if strings.HasPrefix(strings.TrimSpace(inner), m[0]) { // a list has no lists
		return nil, s, false
	}
	calls, ok = innerCalls(inner, tools)
	return calls, rest, ok
}

// keyedCalls reads a list of objects that have the name of a tool as their key. source: ggml-org/llama.cpp (Apertus)
func keyedCalls(body, closing string) (calls []Call, rest string, ok bool) {
	inner, rest := enclosed(body, closing)
	var list []map[string]json.RawMessage
	if json.Unmarshal([]byte(inner), &list) != nil {
		return nil, body, false
	}
	for _, one := range list {
		for name, args := range one {
			if len(one) != 1 || !validName(name) || args[0] != '{' {
				return nil, body, false
			}
			calls = append(calls, Call{Name: name, Arguments: args})
		}
	}
	return calls, rest, len(calls) > 0
}

var (
	solarCall  = pattern.New(`(?s)^\s*<\|tool_call:begin\|>\s*([A-Za-z0-9_-]{0,64})\s*<\|tool_call:name\|>\s*([A-Za-z0-9_.-]{1,128})\s*<\|tool_call:args\|>(.*?)<\|tool_call:end\|>`)
	solarCall2 = pattern.New(`(?s)^\s*<\|tool_call:start\|>\s*([A-Za-z0-9_.-]{1,128})[ \t\r]*\n?(.*?)<\|tool_call:end\|>`)
	solarArg   = pattern.New(`(?s)^\s*<\|tool_arg:start\|>(.*?)<\|tool_arg:value\|>(.*?)<\|tool_arg:end\|>`)
)

// solarCalls reads calls of Solar Open and Solar Open 2.
// source: github.com/vllm-project/vllm/blob/main/vllm/tool_parsers/solar_open2_tool_parser.py, huggingface.co/upstage/Solar-Open-100B
func solarCalls(s string, tools offers) (calls []Call, rest string, ok bool) {
	rest = s
	for {
		if m := solarCall.FindStringSubmatch(rest); m != nil {
			args, left, ok := object(strings.TrimSpace(m[3]))
			if !ok || strings.TrimSpace(left) != "" {
				return nil, s, false
			}
			calls, rest = append(calls, Call{ID: m[1], Name: m[2], Arguments: args}), rest[len(m[0]):]
			continue
		}
		m := solarCall2.FindStringSubmatch(rest)
		if m == nil {
			return calls, strings.TrimPrefix(rest, "<|calls|>"), len(calls) > 0
		}
		schema, _ := tools(m[1]) // without one the values say what they are
		fields := arguments{schema: schema}
		body := m[2]
		for strings.TrimSpace(body) != "" {
			a := solarArg.FindStringSubmatch(body)
			if a == nil {
				return nil, s, false
			}
			fields.add(strings.TrimSpace(a[1]), a[2], "")
			body = body[len(a[0]):]
		}
		args, ok := fields.object()
		if !ok {
			return nil, s, false
		}
		calls, rest = append(calls, Call{Name: m[1], Arguments: args}), rest[len(m[0]):]
	}
}

var wrongClosing = pattern.New("^(?:[}\\])\\s]*</[\\w:]{1,40}>|[}\\])]+)")

// jsonBlock reads JSON in front of a closing mark, which may be missing in front of another call and at the end of the answer.
func jsonBlock(body, closing string) (calls []Call, rest string, ok bool) {
	calls, rest, ok = jsonCalls(body)
	if !ok || len(calls) == 0 {
		return nil, body, false
	}
	rest = strings.TrimLeft(rest, " \t\r\n")
	if has, _ := prefix(rest, closing); has {
		return calls, rest[len(closing):], true
	}
	if wrong := wrongClosing.FindString(rest); wrong != "" {
		rest = strings.TrimLeft(rest[len(wrong):], " \t\r\n")
		if has, _ := prefix(rest, closing); has {
			return calls, rest[len(closing):], true
		}
		return calls, rest, true
	}
	kind, _, _ := markAt(rest)
	return calls, rest, rest == "" || kind == callMark || kind == endMark
}

// jsonCalls reads the calls that a text begins with: an object, a list of them, or several one after the other.
func jsonCalls(s string) (calls []Call, rest string, ok bool) {
	for {
		t := strings.TrimLeft(s, " \t\r\n;,")
		if t == "" || t[0] != '{' && t[0] != '[' {
			return calls, s, len(calls) > 0
		}
		dec := json.NewDecoder(strings.NewReader(t))
		var raw json.RawMessage
		if dec.Decode(&raw) != nil {
			return calls, s, len(calls) > 0 && t[0] == '[' // a mark
		}
		list := []json.RawMessage{raw}
		if raw[0] == '[' && json.Unmarshal(raw, &list) != nil {
			return calls, s, false
		}
		for _, one := range list {
			c, ok := jsonCall(one, maxWraps)
			if !ok {
				return calls, s, false
			}
			calls = append(calls, c)
		}
		s = t[dec.InputOffset():]
	}
}

// jsonCall reads one call: {"name":…,"arguments":…} in its many forms, in at most so many wraps.
func jsonCall(raw json.RawMessage, wraps int) (c Call, ok bool) {
	var f struct {
		ID, Name                                           string
		ToolName                                           string          `json:"tool_name"`
		ToolCall                                           json.RawMessage `json:"tool_call"`
		FunctionCall                                       json.RawMessage `json:"function_call"`
		Arguments, Parameters, Args, Input, Function, Tool json.RawMessage
	}
	if wraps < 0 || json.Unmarshal(raw, &f) != nil {
		return c, false
	}
	for _, inner := range []json.RawMessage{f.ToolCall, f.FunctionCall} { // as llama.cpp has models write that know no form, and in messages of the older API
		if len(inner) > 0 && inner[0] == '{' {
			return jsonCall(inner, wraps-1)
		}
	}
	if len(f.Function) > 0 && f.Function[0] == '{' {
		inner, ok := jsonCall(f.Function, wraps-1)
		if inner.ID == "" {
			inner.ID = f.ID
		}
		return inner, ok
	}
	c.ID, c.Name = f.ID, f.Name+f.ToolName
	for _, name := range []json.RawMessage{f.Function, f.Tool} {
		var s string
		if c.Name == "" && json.Unmarshal(name, &s) == nil {
			c.Name = s
		}
	}
	args := json.RawMessage("{}")
	for _, a := range []json.RawMessage{f.Arguments, f.Parameters, f.Args, f.Input} {
		if len(a) > 0 && string(a) != "null" {
			args = a
			break
		}
	}
	var text string
	if args[0] == '"' && json.Unmarshal(args, &text) == nil {
		args = json.RawMessage(strings.TrimSpace(text))
	}
	if len(args) == 0 || args[0] != '{' || !json.Valid(args) || !validName(c.Name) {
		return c, false
	}
	c.Arguments = args
	return c, true
}

var (
	mistralName = pattern.New(`^\s*([A-Za-z0-9_.-]{1,128})\s*(?:\[CALL_ID\]\s*([A-Za-z0-9_-]{1,64})\s*)?(?:\[ARGS\])?\s*(\{)`)
	kimiCall    = pattern.New(`(?s)^\s*<\|tool_call_begin\|>\s*((?:functions\.)?([A-Za-z0-9_.-]{1,128}?)(?::\d+)?)\s*<\|tool_call_argument_begin\|>(.*?)<\|tool_call_end\|>`)
	deepSeek    = pattern.New("(?s)^\\s*<\uff5ctool\u2581call\u2581begin\uff5c>(?:function)?\\s*(?:<\uff5ctool\u2581sep\uff5c>)?\\s*([A-Za-z0-9_.-]{1,128})\\s*(?:<\uff5ctool\u2581sep\uff5c>)?\\s*(?:```(?:json)?)?\\s*(\\{.*?)\\s*(?:```)?\\s*<\uff5ctool\u2581call\u2581end\uff5c>")
	harmony     = pattern.New(`(?s)^(?:<\|start\|>assistant)?(?:<\|channel\|>(?:commentary|analysis))?\s*to=(?:functions\.)?([A-Za-z0-9_.-]{1,128})\s*(?:<\|channel\|>(?:commentary|analysis))?\s*(?:<\|constrain\|>)?\s*(?:json)?\s*<\|message\|>`)
)

// mistralCalls reads [TOOL_CALLS] in its old form, a list, and its new one, a name and an object.
func mistralCalls(body string) (calls []Call, rest string, ok bool) {
	if strings.HasPrefix(strings.TrimSpace(body), "[{") || strings.HasPrefix(strings.TrimSpace(body), "[ {") {
		return jsonCalls(body)
	}
	m := mistralName.FindStringSubmatchIndex(body)
	if m == nil {
		return jsonCalls(body)
	}
	args, rest, ok := object(body[m[6]:])
	c := Call{Name: body[m[2]:m[3]], Arguments: args}
	if m[4] >= 0 {
		c.ID = body[m[4]:m[5]]
	}
	return []Call{c}, rest, ok
}

// object reads the JSON object that a text begins with.
func object(s string) (raw json.RawMessage, rest string, ok bool) {
	dec := json.NewDecoder(strings.NewReader(s))
	if dec.Decode(&raw) != nil || raw[0] != '{' {
		return nil, s, false
	}
	return raw, s[dec.InputOffset():], true
}

func kimiCalls(s string) (calls []Call, rest string, ok bool) {
	const begin, end = "<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"
	rest, section := strings.CutPrefix(s, begin)
	for {
		m := kimiCall.FindStringSubmatch(rest)
		if m == nil {
			break
		}
		args, left, ok := object(strings.TrimSpace(m[3]))
		if !ok || strings.TrimSpace(left) != "" {
			return nil, s, false
		}
		calls, rest = append(calls, Call{ID: m[1], Name: m[2], Arguments: args}), rest[len(m[0]):]
	}
	if section {
		after, ok := strings.CutPrefix(strings.TrimLeft(rest, " \t\r\n"), end)
		return calls, after, ok && len(calls) > 0
	}
	return calls, rest, len(calls) > 0
}

func deepSeekCalls(s string) (calls []Call, rest string, ok bool) {
	const begin, end = "<\uff5ctool\u2581calls\u2581begin\uff5c>", "<\uff5ctool\u2581calls\u2581end\uff5c>"
	rest, section := strings.CutPrefix(s, begin)
	for {
		m := deepSeek.FindStringSubmatch(rest)
		if m == nil {
			break
		}
		args, left, ok := object(m[2])
		if !ok || strings.TrimSpace(left) != "" {
			return nil, s, false
		}
		calls, rest = append(calls, Call{Name: m[1], Arguments: args}), rest[len(m[0]):]
	}
	if section {
		after, ok := strings.CutPrefix(strings.TrimLeft(rest, " \t\r\n"), end)
		return calls, after, ok && len(calls) > 0
	}
	return calls, rest, len(calls) > 0
}

const (
	stepSection, stepSectionEnd = "<\uff5ctool_calls_begin\uff5c>", "<\uff5ctool_calls_end\uff5c>"
	stepCall, stepCallEnd       = "<\uff5ctool_call_begin\uff5c>function<\uff5ctool_sep\uff5c>", "<\uff5ctool_call_end\uff5c>"
)

// stepCalls reads calls of Step-3. source: github.com/vllm-project/vllm/blob/main/vllm/tool_parsers/step3_tool_parser.py
func stepCalls(s string, tools offers) (calls []Call, rest string, ok bool) {
	rest = strings.TrimPrefix(s, stepSection)
	for {
		body, begins := strings.CutPrefix(strings.TrimLeft(rest, " \t\r\n"), stepCall)
		if !begins {
			break
		}
		more, after, ok := taggedCall(body, tools)
		if !ok {
			return nil, s, false
		}
		calls, rest = append(calls, more...), strings.TrimPrefix(strings.TrimLeft(after, " \t\r\n"), stepCallEnd)
	}
	return calls, strings.TrimPrefix(strings.TrimLeft(rest, " \t\r\n"), stepSectionEnd), len(calls) > 0
}

func harmonyCall(s string) (calls []Call, rest string, ok bool) {
	m := harmony.FindStringSubmatch(s)
	if m == nil {
		return nil, s, false
	}
	args, rest, ok := object(strings.TrimLeft(s[len(m[0]):], " \t\r\n"))
	if !ok {
		return nil, s, false
	}
	return []Call{{Name: m[1], Arguments: args}}, strings.TrimPrefix(rest, "<|call|>"), true
}
