package lessons

import (
	"slices"
	"strings"

	"parley/channels/pattern"
	"parley/sessions"
)

// Names of parts of a request of Anthropic's Messages API that are handled like parameters.
const (
	SystemForm     = "system.form"            // instructions as a list of blocks, or as a plain text
	CacheMarks     = "cache_control"          // marks where a prefix ends; with .system, .tools and .messages those of one place
	ThinkingBudget = "thinking.budget_tokens" // how many tokens a model may think
	EmptySignature = "thinking.signature"     // an empty signature of thinking that has none
)

var (
	wantsText    = pattern.New(`valid string|be a string|expected (a )?string|string type|type ['"\x60]?string|not an? (array|list|sequence)|expected.{0,20}string|cannot unmarshal array|invalid type: sequence`)
	systemField  = pattern.New(`\bsystem\b`)
	caching      = pattern.New(`prompt[ -]?cach(ing|e)\b`) // Bedrock. source: simkeyur/vscode-agents#1
	toolMark     = pattern.New(`tools[^a-z]{0,6}[\w.\[\]-]*cache_control`)
	blockType    = pattern.New(`messages.{0,80}(type|tag|union|variant)|content.{0,40}(type|tag).{0,60}(thinking|unsupported|unknown|unexpected|invalid)|(type|tag|variant).{0,20}thinking`)
	noSignature  = pattern.New(`signature[^a-z]{0,4}(extra|unexpected|unknown)|(unknown|unrecogni[sz]ed|unexpected) (field|name|key|parameter|property)[^a-z]{0,4}signature`)
	thinkingKind = pattern.New(`thinking[._ ]?type|type[^a-z]{0,6}(adaptive|enabled|disabled)|(adaptive|enabled|disabled)[^a-z]{0,4} ?thinking|thinking[^a-z]{1,4}(adaptive|enabled|disabled)|tag[^a-z]{1,4}(adaptive|enabled|disabled)`)
)

// readOfMessages reads errors about requests of Anthropic's Messages API, before the other readers: what it names has words in it that
// mean something else there.
func readOfMessages(r reading) (sessions.Lesson, bool) {
	for _, reader := range []func(reading) (sessions.Lesson, bool){readMarks, readSystemForm, readSignature, readThinkingType, readToolResult, readThinkingBlocks} {
		if l, ok := reader(r); ok {
			return l, true
		}
	}
	return sessions.Lesson{}, false
}

// sentParam gives a parameter that was sent.
func (r reading) sentParam(name string) (Param, bool) {
	i := slices.IndexFunc(r.sent.Params, func(p Param) bool { return p.Name == name && p.Value != Unset })
	if i < 0 {
		return Param{}, false
	}
	return r.sent.Params[i], true
}

// readMarks reads errors about the marks where a prefix ends: that of the tools where the error names it, all of them otherwise.
func readMarks(r reading) (sessions.Lesson, bool) {
	if !word(r.text, CacheMarks) && !(caching.MatchString(r.text) && r.refuses()) {
		return sessions.Lesson{}, false
	}
	any := slices.ContainsFunc(r.sent.Params, func(p Param) bool { return strings.HasPrefix(p.Name, CacheMarks) && p.Value != Unset })
	if !any {
		return sessions.Lesson{}, false
	}
	if p, ok := r.sentParam(CacheMarks + ".tools"); ok && toolMark.MatchString(r.text) {
		return sessions.Lesson{Kind: Parameter, Name: p.Name, Value: p.Value}, true
	}
	return sessions.Lesson{Kind: Parameter, Name: CacheMarks, Value: "ephemeral"}, true
}

// readSystemForm reads errors that want the instructions to be a plain text.
func readSystemForm(r reading) (sessions.Lesson, bool) {
	p, ok := r.sentParam(SystemForm)
	if !ok || !wantsText.MatchString(r.text) || !systemField.MatchString(r.text) && r.f.Param != "system" {
		return sessions.Lesson{}, false
	}
	return sessions.Lesson{Kind: Parameter, Name: p.Name, Value: p.Value}, true
}

// readSignature reads errors about the field of a signature, not about what stands in it.
func readSignature(r reading) (sessions.Lesson, bool) {
	p, ok := r.sentParam(EmptySignature)
	if !ok || !noSignature.MatchString(r.text) {
		return sessions.Lesson{}, false
	}
	return sessions.Lesson{Kind: Parameter, Name: p.Name, Value: p.Value}, true
}

// readThinkingType reads errors about the way in which a model is told to think. In a turn with tools they look like errors about earlier
// reasoning.
func readThinkingType(r reading) (sessions.Lesson, bool) {
	p, ok := r.sentParam("thinking")
	if !ok || !thinkingKind.MatchString(r.text) || !word(r.text, p.Value) || !r.refuses() || wantsBack.MatchString(r.text) && r.has("passed back", "found `tool_use`", "found 'tool_use'") {
		return sessions.Lesson{}, false
	}
	for _, name := range []string{"thinking.display", ThinkingBudget} { // fields of it, which errors name with it
		if n, ok := r.sentParam(name); ok && r.names(n) {
			return sessions.Lesson{Kind: Parameter, Name: n.Name, Value: n.Value, Use: r.nearest(n)}, true
		}
	}
	return sessions.Lesson{Kind: Parameter, Name: p.Name, Value: p.Value, Use: r.nearest(p)}, true
}

// textResult matches refusals of anything but text in the result of a tool, in words or by the place of a part of it.
// source: docs.pydantic.dev/latest/errors/validation_errors (literal_error)
var textResult = pattern.New(`\btool[ _]results?\b[^.\n]{0,30}\b(?:only|must|should|just)\b[^.\n]{0,30}\btext\b|\bcontent[./\n]\d+[./\n](?:\w+[./\n])?content[./\n]\d+\b`)

// readToolResult reads errors of servers that take only a text as the result of a tool.
func readToolResult(r reading) (sessions.Lesson, bool) {
	if !r.sent.ToolImages || r.call.Off(ToolImages, "") || !wantsText.MatchString(r.text) && !strings.Contains(r.text, "tool_result") && !strings.Contains(r.text, "invalid input") && !textResult.MatchString(r.text) {
		return sessions.Lesson{}, false
	}
	return sessions.Lesson{Kind: ToolImages}, true
}

// allowedTypes matches a list of the types that a block may have.
var allowedTypes = pattern.New("(?:should be|must be|expected|one of)[^\n]{0,40}['\"`]text['\"`][^\n]*")

// readThinkingBlocks reads errors of servers that do not know thinking in the history.
func readThinkingBlocks(r reading) (sessions.Lesson, bool) {
	if !r.sent.Reasoning || r.call.Use(Reasoning) == OmitReasoning {
		return sessions.Lesson{}, false
	}
	list := allowedTypes.FindString(r.text)
	listed := list != "" && !strings.Contains(list, "thinking") && (len(r.sent.Pictures) == 0 || strings.Contains(list, "image"))
	if !listed && (!blockType.MatchString(r.text) || !r.refuses() && !r.has("input should be") ||
		r.has("signature", "passed back", "missing", "image", "tool_result") || len(r.sent.Pictures) > 0 && pictureWord.MatchString(r.text)) {
		return sessions.Lesson{}, false
	}
	return r.leaveReasoning(), true
}
