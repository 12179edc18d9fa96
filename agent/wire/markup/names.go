package markup

import (
	"encoding/json"
	"strings"

	"parley/channels/pattern"
)

var (
	// recipient matches whom a message of the harmony format is for. source: cookbook.openai.com/articles/openai-harmony
	recipient = pattern.New(`\bto=([\w.:/-]+)`)
	// nameMark matches what may stand behind a name that leaked into its field: markup, a call, a line end.
	nameMark = pattern.New("[<\uff5c\\n\\r({\\[`\"']|\\s{2,}| to=")
	// callIndex matches the number of a call in Kimi's ids. source: MoonshotAI/Kimi-K2, docs/tool_call_guidance.md, monotykamary/pi-tool-repair#4
	callIndex = pattern.New(`:\d+$|_\d+_\d{6,}$`)
)

// nameSpaces stand in front of names, with an underscore or two.
var nameSpaces = []string{"functions_", "function_", "tools_", "tool_", "mcp__parley__", "mcp_parley_", "parley_", "mcp_", "default_api_"}

// nameKinds stand behind names. source: NousResearch/hermes-agent#61336
var nameKinds = []string{"_tool", "-tool", "Tool", "_function"}

// KnownName finds the offered tool whose name a model or its server wrote with something else: quotes, white space, a name space, the marks of
// a channel, the beginning of arguments, other case or separators. The exact name comes first; another counts only where it is that of one
// tool alone. rest is what stood behind the name: mostly the arguments.
//
// source: vllm-project/vllm#32587 (gpt-oss), MoonshotAI/Kimi-K2#41, zai-org/GLM-4.5#21
func KnownName(written string, offered []string, has func(name string) bool) (name, rest string, ok bool) {
	if has(written) {
		return written, "", true
	}
	bare := strings.Trim(written, " \t\r\n\"'`*“”‘’")
	if m := recipient.FindStringSubmatch(bare); m != nil {
		bare, rest = m[1], ""
	} else if at := nameMark.FindStringIndex(bare); at != nil {
		bare, rest = bare[:at[0]], bare[at[0]:]
	}
	bare = strings.Trim(callIndex.ReplaceAllString(strings.TrimSpace(bare), ""), " \t.:;,/\\")
	forms := []string{bare, bare[strings.LastIndexAny(bare, ".:/")+1:]}
	for _, space := range nameSpaces {
		if after, ok := strings.CutPrefix(bare, space); ok {
			forms = append(forms, strings.TrimLeft(after, "_"))
		}
	}
	for _, form := range forms {
		for _, kind := range nameKinds {
			if before, ok := strings.CutSuffix(form, kind); ok {
				forms = append(forms, before)
			}
		}
	}
	for i, form := range forms {
		forms[i] = strings.TrimSpace(form)
		if form = forms[i]; form != "" && has(form) {
			return form, rest, true
		}
	}
	for _, form := range forms {
		plain, found, n := plainName(form), "", 0
		for _, o := range offered {
			if plain != "" && plainName(o) == plain {
				found, n = o, n+1
			}
		}
		if n == 1 {
			return found, rest, true
		}
	}
	return written, "", false
}

// plainName gives a name in lower case without separators.
func plainName(name string) string {
	return strings.NewReplacer("_", "", "-", "", ".", "", " ", "").Replace(strings.ToLower(name))
}

// TrailingArguments reads the arguments that stood behind a name: JSON, or keys and values in tags. ok is false where there are none.
func TrailingArguments(name, rest string, schema json.RawMessage) (args json.RawMessage, ok bool) {
	rest = strings.TrimSpace(rest)
	if i := strings.IndexByte(rest, '{'); i >= 0 && strings.Trim(rest[:i], " \t\r\n(`\"'") == "" {
		raw, ok := LooseObject(rest[i:], false)
		return raw, ok && raw[0] == '{'
	}
	if strings.HasPrefix(rest, "<parameter") {
		calls, after, ok := taggedCall("<function="+name+">"+rest+"</function>", func(string) (json.RawMessage, bool) { return schema, true })
		if !ok || strings.TrimSpace(after) != "" {
			return nil, false
		}
		return calls[0].Arguments, true
	}
	if !strings.HasPrefix(rest, "<arg_key>") {
		return nil, false
	}
	calls, ok := keyedCall(name+"\n"+rest, func(string) (json.RawMessage, bool) { return schema, true })
	if !ok {
		return nil, false
	}
	return calls[0].Arguments, true
}
