package agent

import (
	"regexp"
	"strings"
)

var (
	// nameBefore is what models and servers put in front of the name of a tool: a name space, the mark of a channel.
	nameBefore = regexp.MustCompile(`^(?:.*\bto=)?(?:.*[./:])?`)
	// nameBehind is what they leave behind it: its place among the calls, brackets, the beginning of other markup.
	nameBehind = regexp.MustCompile(`(?s)(?:[<(\s].*|:\d+)$`)
)

// toolName gives the name of a tool as it is known: models put white space or quotation marks around it, a name space in front of it, or a mark of
// their channel or other markup behind it, and write it with other letters.
// source: vllm-project/vllm#32587 (gpt-oss: NAME<|channel|>commentary), MoonshotAI/Kimi-K2 docs/tool_call_guidance.md (functions.NAME:0)
func (r *turnRun) toolName(name string) string {
	if _, ok := r.tools[name]; ok {
		return name
	}
	bare := strings.Trim(name, " \t\r\n\"'`")
	if _, to, ok := strings.Cut(bare, "to="); ok {
		bare = to
	}
	bare = nameBehind.ReplaceAllString(bare, "")
	for _, n := range []string{bare, nameBefore.ReplaceAllString(bare, "")} {
		if _, ok := r.tools[n]; ok {
			return n
		}
		if n = r.alike(n); n != "" {
			return n
		}
	}
	return name
}

// alike gives the only tool whose name has the same letters as another one, whatever their case; "" = there is none.
func (r *turnRun) alike(name string) (found string) {
	same := func(s string) string { return strings.ReplaceAll(strings.ToLower(s), "-", "_") }
	for _, s := range r.specs {
		switch {
		case same(s.Name) != same(name):
		case found != "":
			return ""
		default:
			found = s.Name
		}
	}
	return found
}
