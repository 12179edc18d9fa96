package markup

import (
	"strings"

	"parley/agent/wire/pattern"
)

// maxBare bounds an answer that is held back because it may be nothing but a call, in bytes.
const maxBare = 64 << 10

// bareBegin matches the beginning of JSON of a call.
var bareBegin = pattern.New(`^\[?\s*\{\s*"(name|tool_name|type|function|id|tool|arguments|parameters)"\s*:`)

// mayBeBare reports whether a text at the beginning of an answer may become JSON of a call.
func mayBeBare(s string) bool {
	if s[0] != '{' && s[0] != '[' || len(s) > maxBare {
		return false
	}
	if bareBegin.MatchString(s) {
		return true
	}
	if len(s) > 40 {
		return false
	}
	head := strings.Join(strings.Fields(s), "")
	for _, key := range []string{"name", "tool_name", "type", "function", "id", "tool", "arguments", "parameters"} {
		for _, open := range []string{"{", "[{"} {
			if strings.HasPrefix(open+`"`+key+`":`, head) {
				return true
			}
		}
	}
	return false
}

// bare reads an answer that is nothing but JSON of calls of offered tools, without any mark around it.
// source: NousResearch/hermes-agent#107125
func (r *Reader) bare(p *Piece) {
	text := strings.TrimSpace(r.Text())
	if text == "" || text[0] != '{' && text[0] != '[' || !strings.Contains(text, `"arguments"`) && !strings.Contains(text, `"parameters"`) || len(r.calls) > 0 {
		return
	}
	calls, rest, ok := jsonCalls(text)
	if !ok || strings.TrimSpace(rest) != "" {
		return
	}
	for _, c := range calls {
		if _, offered := r.tool(c.Name); !offered {
			return
		}
	}
	p.Restart, p.Text = len(r.Text()) > len(p.Text), ""
	r.text.Reset()
	r.calls = calls
}
