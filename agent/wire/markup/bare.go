package markup

import (
	"encoding/json"
	"slices"
	"strings"

	"parley/channels/pattern"
)

// maxBare bounds an answer that is held back because it may be nothing but a call, in bytes.
const maxBare = 64 << 10

// bareForm is a form of calls that have no mark of their own: an answer in it counts as calls when it is nothing but calls of offered tools.
type bareForm struct {
	open, closing string
	begins        *pattern.Pattern // what may stand behind open; nil = anything
	read          func(body string) (calls []Call, rest string, ok bool)
}

// bareForms are asked in this order.
//
// source: NousResearch/hermes-agent#107125, docs.vllm.ai/en/stable/features/tool_calling (xlam, phi4_mini_json, pythonic),
// ai.google.dev/gemma/docs/capabilities/function-calling (tool_code), huggingface.co/meetkai/functionary-medium-v3.2 (recipient),
// github.com/vllm-project/vllm/blob/main/vllm/tool_parsers/hyperclovax_tool_parser.py (tool/function_call), github.com/ggml-org/llama.cpp/blob/master/docs/function-calling.md (functionary)
var bareForms = []bareForm{
	{"```json", "```", bareBegin, argumentCalls},
	{"```tool_calls", "```", bareBegin, argumentCalls},
	{"```tool_call", "```", bareBegin, argumentCalls},
	{"```function_call", "```", bareBegin, argumentCalls},
	{"```tool_code", "```", nil, codeCalls},
	{"```", "```", bareBegin, argumentCalls},
	{"functools", "", bareBegin, argumentCalls},
	{"Action:", "", actionBegin, actionCalls},
	{recipientHeader, "", nil, recipientCalls},
	{"<|recipient|>", "", nil, recipientCalls},
	{"-> tool/function_call", "", bareBegin, argumentCalls},
	{"```xml", "```", tagBegin, tagCalls},
	{">>>", "", nil, functionaryCalls},
	{gluedHarmonyCall, "", nil, gluedCalls},
	{"commentary to=", "", nil, gluedCalls},
	{"", "", bareBegin, argumentCalls},
	{"", "", pythonBegin, pythonList},
	{"", "", nil, codeCalls},
}

// bareKeys are the keys that JSON of a call may begin with.
var bareKeys = []string{"name", "tool_name", "type", "function", "id", "tool", "tool_call", "tool_calls", "function_call", "role", "arguments", "parameters"}

var (
	// bareBegin matches the beginning of JSON of a call.
	bareBegin = pattern.New(`^\[?\s*\{\s*"(` + strings.Join(bareKeys, "|") + `)"\s*:`)
	// pythonBegin matches the beginning of a list of calls in Python.
	pythonBegin = pattern.New(`^\[\s*[A-Za-z_][A-Za-z0-9_.]{0,127}\s*\(`)
	// actionBegin matches the beginning of what Command R and models that were told to act write behind the word Action.
	// source: docs.cohere.com/docs/prompting-command-r, python.langchain.com (ReAct)
	actionBegin = pattern.New("^(?:`|[A-Za-z_][\\w.-]{0,127}\\s*(?:$|\\n))")
	actionInput = pattern.New(`^([A-Za-z_][\w.-]{0,127})\s*\n\s*Action Input:\s*(\{[\s\S]*\})$`)
	// gluedHeader matches the header of a call of gpt-oss without its marks.
	gluedHeader = pattern.New(`^(?:functions\.)?([A-Za-z_][A-Za-z0-9_-]{0,127})\s*(?:commentary)?\s*(?:json)?\s*(\{[\s\S]*)$`)
	// tagBegin matches the beginning of calls in tags.
	tagBegin = pattern.New(`^<(?:tool_call|function_call|invoke |function=)`)
	// begun matches what may become one of them.
	begun = pattern.New(`^(?:\[?\s*(?:\{\s*(?:"([a-z_]*)("\s*)?)?)?|\[\s*(?:[A-Za-z_][A-Za-z0-9_.]{0,127}\s*)?)$`)
)

// mayBegin reports whether a text that is still growing may become the beginning of calls.
func mayBegin(body string) bool {
	m := begun.FindStringSubmatch(body)
	return m != nil && slices.ContainsFunc(bareKeys, func(key string) bool { return key == m[1] || m[2] == "" && strings.HasPrefix(key, m[1]) })
}

// mayBeBare reports whether a text at the beginning of an answer may become nothing but calls. It is held back then.
func mayBeBare(s string) bool {
	if len(s) > maxBare || strings.IndexByte("{[`f>Aac<-", s[0]) < 0 {
		return false
	}
	for _, f := range bareForms {
		has, partial := prefix(s, f.open)
		if partial {
			return true
		}
		if !has || f.open == "" && f.begins == nil {
			continue
		}
		body := strings.TrimLeft(s[len(f.open):], " \t\r\n")
		if f.begins == nil || body == "" || f.begins.MatchString(body) || mayBegin(body) {
			return true
		}
	}
	return false
}

// bare reads an answer that is nothing but calls of offered tools, without any mark around them.
func (r *Reader) bare(p *Piece) {
	text := withoutEnds(r.Text())
	if text == "" || len(text) > maxBare || len(r.calls) > 0 || r.Tools == nil {
		return
	}
	for _, f := range bareForms {
		body, ok := strings.CutPrefix(text, f.open)
		if ok {
			body, ok = strings.CutSuffix(body, f.closing)
		}
		if !ok {
			continue
		}
		calls, rest, ok := f.read(strings.TrimSpace(body))
		if !ok || strings.TrimSpace(rest) != "" || !r.offersAll(calls) {
			continue
		}
		p.Restart, r.from = r.from > 0, 0
		r.text.Reset()
		r.calls = calls
		return
	}
}

// offersAll reports whether there are calls, all of offered tools.
func (r *Reader) offersAll(calls []Call) bool {
	for _, c := range calls {
		if _, offered := r.tool(c.Name); !offered {
			return false
		}
	}
	return len(calls) > 0
}

// argumentCalls reads JSON of calls that says what their arguments are: other JSON with a name may be what a person asked for.
func argumentCalls(body string) (calls []Call, rest string, ok bool) {
	if !strings.Contains(body, `"arguments"`) && !strings.Contains(body, `"parameters"`) {
		return nil, body, false
	}
	if calls, rest, ok := wrappedCalls(body); ok {
		return calls, rest, ok
	}
	return jsonCalls(body)
}

// wrappedCalls reads an object that has nothing but a list of calls, or a message that has nothing but that.
// source: ggml-org/llama.cpp#14697
func wrappedCalls(body string) (calls []Call, rest string, ok bool) {
	raw, rest, ok := object(body)
	var fields map[string]json.RawMessage
	if !ok || json.Unmarshal(raw, &fields) != nil {
		return nil, body, false
	}
	list := fields["tool_calls"]
	for name, value := range fields {
		switch said := strings.Trim(string(value), `"`); {
		case name == "tool_calls", name == "role", name == "content" && (said == "" || said == "null"), name == "type":
		default:
			return nil, body, false
		}
	}
	if len(list) == 0 || list[0] != '[' {
		return nil, body, false
	}
	calls, left, ok := jsonCalls(string(list))
	return calls, rest, ok && strings.TrimSpace(left) == ""
}

// actionCalls reads JSON in a block of code, or a name and its input.
func actionCalls(body string) (calls []Call, rest string, ok bool) {
	if inner, ok := strings.CutPrefix(body, "```json"); ok {
		inner, rest, ok = strings.Cut(inner, "```")
		calls, _, isCall := argumentCalls(strings.TrimSpace(inner))
		return calls, rest, ok && isCall
	}
	m := actionInput.FindStringSubmatch(body)
	if m == nil {
		return nil, body, false
	}
	args, rest, ok := object(m[2])
	return []Call{{Name: m[1], Arguments: args}}, rest, ok
}

// tagCalls reads calls in tags.
func tagCalls(body string) (calls []Call, rest string, ok bool) {
	return callsOf(body, func(string) (json.RawMessage, bool) { return nil, false })
}

// recipientHeader begins a message of functionary for a tool, or for people.
const recipientHeader = "<|from|>assistant\n<|recipient|>"

// recipientCalls reads messages of functionary, behind the header of the first: a name, and JSON behind the mark of the content.
func recipientCalls(body string) (calls []Call, rest string, ok bool) {
	for {
		name, content, found := strings.Cut(body, "<|content|>")
		args, left, isObject := object(content)
		if !found || !isObject {
			return nil, body, false
		}
		calls = append(calls, Call{Name: strings.TrimSpace(name), Arguments: args})
		next, more := strings.CutPrefix(strings.TrimLeft(left, " \t\r\n"), recipientHeader)
		if !more {
			return calls, left, true
		}
		body = next
	}
}

// functionaryCalls reads a name and, on the next line, JSON.
func functionaryCalls(body string) (calls []Call, rest string, ok bool) {
	name, rest, _ := strings.Cut(body, "\n")
	args, rest, ok := object(rest)
	return []Call{{Name: strings.TrimSpace(name), Arguments: args}}, rest, ok
}

// gluedCalls reads the header of a message of gpt-oss without its marks, and JSON.
func gluedCalls(body string) (calls []Call, rest string, ok bool) {
	m := gluedHeader.FindStringSubmatch(body)
	if m == nil {
		return nil, body, false
	}
	args, rest, ok := object(m[2])
	return []Call{{Name: m[1], Arguments: args}}, rest, ok
}
