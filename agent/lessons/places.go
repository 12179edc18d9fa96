package lessons

import (
	"slices"
	"strconv"
	"strings"

	"parley/agent/wire"
	"parley/channels/pattern"
	"parley/sessions"
)

// placeTag is the tag of a union in the place of an error: the role or the type of a message, which is no field of it.
// source: docs.pydantic.dev/latest/concepts/unions (discriminated unions in "loc")
const placeTag = `(?:system|developer|user|assistant|tool|function|model|message|function_call|function_call_output|chatcompletion[a-z]*param)`

var (
	taggedPath  = pattern.New(`(?i)\b((?:messages|input|contents)(?:\[|\.|/)\d+\]?)[./]` + placeTag + `([./:\s'"\x60]|$)`)
	taggedLines = pattern.New(`(?im)^((?:messages|input|contents)\n\d+\n)` + placeTag + `$\n?`)
	// unionPath and unionLines are the place of an item in a list of several types, each with a name of its own in it.
	unionPath  = pattern.New(`\b(messages|input)\.list(?:\[[^\n./]*\])?\.(\d+)\.(?:[A-Z]\w*\.)?`)
	unionLines = pattern.New(`(?m)^(messages|input)\nlist\S*\n(\d+)\n(?:[A-Z]\w*\n)?`)
	// arrowPath is a place whose parts have arrows between them.
	arrowPath = pattern.New(`(?i)\b(?:body|messages|input|contents|tools) ?-> ?\w`)
	arrow     = pattern.New(`(\w\]?) ?-> ?`)
	// historyPlace is the place of a message or an item.
	historyPlace = pattern.New(`\b(?:messages|input|contents)(?:\[|\.|/|\n)(\d+)`)
)

// withoutTags gives an error whose places have dots between their parts, and no tag of a message's role or type: messages.3.name in the place of
// messages.3.tool.name, which does not speak of tools.
func withoutTags(f *wire.Fault) *wire.Fault {
	own := *f
	own.Param, own.Raw, own.Text = withoutTag(f.Param), taggedLines.ReplaceAllString(unionLines.ReplaceAllString(withoutTag(f.Raw), "$1.$2."), "$1"), withoutTag(f.Text)
	if own.Param == f.Param && own.Raw == f.Raw && own.Text == f.Text {
		return f
	}
	own.All = strings.ToLower(own.Raw)
	return &own
}

func withoutTag(s string) string {
	if arrowPath.MatchString(s) {
		s = arrow.ReplaceAllString(s, "$1.")
	}
	return taggedPath.ReplaceAllString(unionPath.ReplaceAllString(s, "$1.$2."), "$1$2")
}

// placeInHistory gives the role of the message that an error names by its place, "" = not known; ok is false where it names none, or a tool too.
func placeInHistory(f *wire.Fault, sent Sent) (role string, ok bool) {
	place := strings.ToLower(f.Param) + "\n" + f.All
	m := historyPlace.FindStringSubmatch(place)
	if m == nil || toolIndex.MatchString(place) || declaration.MatchString(place) {
		return "", false
	}
	if i, err := strconv.Atoi(m[1]); err == nil && i < len(sent.Roles) {
		role = sent.Roles[i]
	}
	return role, true
}

var (
	// wrongTools is in errors about the definition of a tool, none of which names it.
	// source: ollama/ollama#10328 (cannot unmarshal), microsoft/vscode#316983 (Tool names must be unique), Mesh-LLM/mesh-llm#1761
	wrongTools = pattern.New(`\b(?:invalid|illegal|malformed|bad|wrong|duplicated?) (?:tools?|functions?)(?: (?:definitions?|declarations?|specs?|specifications?|lists?|formats?|parameters?|names?))?(?:[^a-z_ -]|$)|` +
		`\b(?:tool|function)s? (?:definitions?|declarations?|specs?|specifications?|lists?|parameters?|names?)\b[^\n]{0,40}\b(?:invalid|malformed|wrong|unique|duplicated?|not valid|must match)\b|` +
		`\b(?:parse|parsing|decode|decoding|unmarshal|deseriali[sz]e|validate|compile|convert|read)(?: the)? (?:tools?|functions?)(?: (?:definitions?|declarations?|lists?|parameters?|arrays?))?(?:[^a-z_ -]|$)|` +
		`\bcannot unmarshal\b[^\n]*\btools\b|(?:工具|函数)[^\n]{0,8}(?:不合法|非法|无效|错误|有误|不正确)`)
	// wrongForm are the words by which an error refuses the form of something, not the thing.
	wrongForm = pattern.New(`\b(?:invalid(?:_[a-z_]+)?|illegal|malformed|must|only|not valid)\b|不合法|非法|无效`)
)

// readToolAt reads errors with the place of a tool in the list: it is left out, whatever is wrong with it. A field that all tools have alike is
// no fault of one, unless those in front of it were not complained of because they lack it.
// source: anthropics/claude-code#1423 (tools.82.custom.name: String should match pattern)
func readToolAt(r reading) (sessions.Lesson, bool) {
	name, counted := r.countedTool()
	if !counted || len(r.sent.Tools) == 0 || r.ofToolField() && (name == r.sent.Tools[0] || notKnown.MatchString(r.text)) {
		return sessions.Lesson{}, false
	}
	return r.without(name), true
}

// readWrongTools reads errors about the definition of a tool.
func readWrongTools(r reading) (sessions.Lesson, bool) {
	if len(r.sent.Tools) == 0 || !wrongTools.MatchString(r.text) || r.isInHistory() || r.ofToolMessages() {
		return sessions.Lesson{}, false
	}
	if name := r.namedTool(); name != "" {
		return r.without(name), true
	}
	if r.tookTools() {
		return r.call.told(), true
	}
	return r.fewerTools(), true
}

// fewerTools makes schemas plain, then halves the tools, for a refusal of one that it does not name. Without any tool goes only an endpoint that
// refuses a single one.
func (r reading) fewerTools() sessions.Lesson {
	switch n := len(r.sent.Tools); {
	case r.sent.Loose && !r.call.Off(Schema, ""):
		return sessions.Lesson{Kind: Schema}
	case n > 1:
		return sessions.Lesson{Kind: MaxTools, Use: strconv.Itoa(n / 2)}
	}
	return sessions.Lesson{Kind: Tools}
}

// refusesTools reports whether an error says that tools are not supported, and not that something is wrong with one.
func (r reading) refusesTools() bool {
	return slices.ContainsFunc(r.sentences(), func(s string) bool { return no.MatchString(wrongForm.ReplaceAllString(s, "_")) })
}

// tookTools reports whether the endpoint took the same tools before, and refused this request twice: the history is what is new in it.
func (r reading) tookTools() bool {
	return r.sent.Steps && len(r.call.seen) > 0 && r.call.taken.offered != 0 && r.call.taken.offered == r.call.sends.offered && !r.call.changed.hasChanged(History)
}

// isInHistory reports whether an error names a place in the history, and does not say that tools are not supported.
func (r reading) isInHistory() bool {
	_, ok := placeInHistory(r.f, r.sent)
	return ok && !toolsOff.MatchString(r.text)
}
