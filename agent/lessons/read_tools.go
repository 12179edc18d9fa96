package lessons

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"parley/agent"
	"parley/channels/pattern"
	"parley/sessions"
)

var (
	toolMessage = pattern.New(`tool['"\x60]?[-_ ]?(results?|messages?|responses?|outputs?)|function[-_ ]?(call[-_ ]?)?(responses?|outputs?|results?)|role[^a-z]{0,6}tool\b|tool_(call|use)_ids?|tool_use[^a-z]{0,3} (ids?|blocks?)|followed by tool|tool_calls[^a-z]{0,3} must|messages?(\[|\.)\d+(\]|\.|:).{0,40}tool|no tool (output|call)|of type .function_call|function_call was provided|['\x60"]tool['\x60"] (?:found using .?role|is not one of)`)
	toolsOff    = pattern.New(`(not|n't|no|un|without|only)[^.;]{0,16}support(s|ed|ing)?( for)?( the)?( use of)? (any )?(tools?\b|function[- _]?call|functions\b|tool[-_ ]?(us|call))|(tools?|functions?|(tool|function)[-_ ]?(us(e|age)|call(s|ing)?)) (is|are) (?:currently )?(not (?:yet |currently |be )?(?:support|avail|allow|permit|accept|enabl|implement|compat|recogni|known|possible|provided|configured)|un(?:support|avail|known|recogni|implement))|endpoints found that support tool`)
	// inHistory are errors about calls in the conversation, also where they say that calls are not supported there.
	// source: docs.aws.amazon.com/bedrock/latest/userguide/tool-use (toolConfig), BerriAI/litellm (UnsupportedParamsError of Bedrock)
	inHistory = pattern.New(`\bwithout [\x60'"]?tools=|\btoolconfig\b.{0,40}\bmust be (?:defined|provided|present)|(?:tool[_ ]?calls?|tool_use|function[_ ]?calls?)\b.{0,60}\bin (?:a |an |the )?(?:assistant |previous |earlier |prior )?(?:messages?|history|conversation|input|turns?)\b|\bin (?:the )?(?:history|conversation)\b.{0,60}(?:tool|function)[_ ]?calls?|\b(?:arguments|input) (?:for|of|to) (?:the )?(?:tool|function)\b`)
)

// ofToolMessages reports whether an error is about calls and results of the history, not about the tools that are offered: the call
// that they came with has shown that tools are taken.
func (r reading) ofToolMessages() bool {
	role, _ := placeInHistory(r.f, r.sent)
	return r.sent.Steps && r.f.Param != "tools" &&
		(role == "tool" && r.isInHistory() || inHistory.MatchString(r.text) || toolMessage.MatchString(r.text) && !toolsOff.MatchString(toolMessage.ReplaceAllString(r.text, "_")))
}

// readHistory reads errors about the calls and results of earlier steps that no other reader understands: those are told as text.
func readHistory(r reading) (sessions.Lesson, bool) {
	if r.call.changed.hasChanged(History) || !r.ofToolMessages() && (!r.sent.Steps || !itemAt.MatchString(r.text)) {
		return sessions.Lesson{}, false
	}
	role, _ := placeInHistory(r.f, r.sent)
	if l, ok := readContent(r); ok && (role != "tool" || r.has("none", "null", "empty")) { // a result is never null
		return l, true
	}
	return r.call.told(), true
}

// toldAgain is how soon a second refusal of calls shows that the endpoint takes none back, whatever the conversation.
const toldAgain = 24 * time.Hour

// told has the calls and results up to now be told as text, or all of them when newer ones are refused soon after older ones were: the
// trouble may be in this one conversation.
func (c *Call) told() sessions.Lesson {
	now := c.book.conf.Now().UTC()
	was := key{History, "", ""}
	for _, known := range []map[key]sessions.Lesson{c.now, c.stale} {
		l, ok := known[was]
		if until, err := time.Parse(time.RFC3339Nano, l.Use); ok && (err != nil || now.Sub(until) < toldAgain) {
			return sessions.Lesson{Kind: History, Use: ToldHistory}
		}
	}
	return sessions.Lesson{Kind: History, Use: now.Format(time.RFC3339Nano)}
}

var (
	declaration = pattern.New(`function_?declarations(?:\[|\.|/)(\d+)`)
	toolIndex   = pattern.New(`\b(?:tools|functions)(?:\[|\.|/)(\d+)|^(\d+)\.(?:function\.)?(?:parameters|name|description|type)\b`)
	schemaPath  = pattern.New(`\b(?:parameters|input_?schema)\b`)
)

// namedTool gives the tool that an error names, or counts; "" = none. What stands behind the word for a tool is surest, then a place in
// the list, then anything in quotation marks.
func (r reading) namedTool() string {
	for _, name := range r.sent.Tools { // in function NAME
		for _, lead := range toolLeads {
			for _, mark := range []string{"", "'", `"`, "`"} {
				if word(r.text, lead+mark+strings.ToLower(name)) {
					return name
				}
			}
		}
	}
	if name, counted := r.countedTool(); counted {
		return name
	}
	for _, m := range quoted.FindAllStringSubmatch(r.f.Raw, -1) {
		if slices.Contains(r.sent.Tools, m[1]) && strings.Contains(r.text, strings.ToLower(m[1])) {
			return m[1]
		}
	}
	return ""
}

// badName is in errors about the name of a tool. source: ai.google.dev/gemini-api/docs/function-calling (Invalid function name)
var badName = pattern.New(`\b(?:invalid|illegal|unsupported|bad) (?:tool|function) name\b|\b(?:tool|function) name\b[^\n]{0,40}\b(?:must|invalid|match|not)\b`)

// readToolName reads errors about the name of a tool that was offered.
func readToolName(r reading) (sessions.Lesson, bool) {
	if len(r.sent.Tools) == 0 || !badName.MatchString(r.text) {
		return sessions.Lesson{}, false
	}
	name := r.namedTool()
	if name == "" {
		return sessions.Lesson{}, false
	}
	if plainNames.MatchString(r.text) && !otherLetters.MatchString(r.text) && !agent.IsPlainName(name) && !r.call.Off(ToolNames, "") {
		return sessions.Lesson{Kind: ToolNames}, true
	}
	return r.without(name), true
}

var (
	// plainNames is in errors that say that names have letters and digits only, otherLetters in those that say which others there may be.
	plainNames   = pattern.New(`\b(?:only|must|may|can|should|consist)\b[^\n]{0,40}\b(?:letters and (?:digits|numbers)|alphanumerics?\b|alphanumeric characters)`)
	otherLetters = pattern.New(`underscore|hyphen|\bdash|\[a-z|_,|_ `)
)

// maxSingleTools is how many tools are left out one by one in a call.
const maxSingleTools = 2

// ofToolForm is in errors about how a tool is written, which may be true of others that are written so.
var ofToolForm = pattern.New(`\b(?:descriptions?|schemas?|types?|propert(?:y|ies)|parameters?|arguments?|keywords?|required|fields?|titles?|enums?|boolean|integer|number|array|nested)\b`)

// without leaves a tool out. Where the error is about the form of a tool, or another tool was left out in this call for the same reason, the fault
// may be of all that are like it: all are written in the plainest way first. Then the request has the tools in front of the one that is named, which
// were not complained of, and the others are found by find_tool.
func (r reading) without(name string) sessions.Lesson {
	single := 0
	for _, l := range r.call.changed.applied {
		if l.Kind == Tool {
			single++
		}
	}
	place := slices.Index(r.sent.Tools, name)
	switch {
	case (single > 0 || ofToolForm.MatchString(r.text)) && r.sent.Loose && !r.call.Off(Schema, ""):
		return sessions.Lesson{Kind: Schema}
	case single > 0 && place >= 0 && !r.call.Off(Schema, bareSchema) && r.call.changed.saidOfTools(r.f.Text):
		return sessions.Lesson{Kind: Schema, Name: bareSchema}
	case single < maxSingleTools || place < 0:
		return sessions.Lesson{Kind: Tool, Name: name}
	case place > 0:
		return sessions.Lesson{Kind: MaxTools, Use: strconv.Itoa(place)}
	}
	return sessions.Lesson{Kind: Tools}
}

// saidOfTools reports whether a tool was left out after a refusal in the same words, but for the name of the tool.
func (c *changes) saidOfTools(said string) bool {
	for words, keys := range c.after {
		for _, k := range keys {
			if k.kind == Tool && withoutNames(words) == withoutNames(wordsWithoutCounts(said)) {
				return true
			}
		}
	}
	return false
}

// withoutNames gives a text without the words that may be names of tools.
func withoutNames(text string) string { return nameLike.ReplaceAllString(text, "") }

var nameLike = pattern.New(`\S*[_'"\x60]\S*`)

// readToolByName reads errors that name a tool and that no other reader understands.
func readToolByName(r reading) (sessions.Lesson, bool) {
	if len(r.sent.Tools) == 0 || r.isInHistory() || r.ofToolMessages() {
		return sessions.Lesson{}, false
	}
	for _, name := range r.sent.Tools {
		for _, lead := range toolLeads {
			for _, mark := range []string{"'", `"`, "`"} {
				if strings.Contains(r.text, lead+mark+strings.ToLower(name)+mark) {
					return r.without(name), true
				}
			}
		}
	}
	return sessions.Lesson{}, false
}

// toolLeads stand in front of the name of a tool.
var toolLeads = []string{"function ", "tool ", "function: ", "tool: ", "function name: ", "tool name: "}

var (
	toolText = pattern.New(`(?:tools?|functions?|declarations?)\b.{0,60}\bdescriptions?\b|\bdescriptions?\b.{0,60}\b(?:tools?|functions?)\b`)
	longText = pattern.New(`too long|max|exceed|longer|at most|up to|length|characters|above|limit`)
)

// ofArgument is in errors about the description of an argument.
var ofArgument = pattern.New(`\bdescriptions? (?:of|for) (?:the )?(?:property|properties|parameter|argument|field)|\b(?:property|properties|parameter|argument)s?\b[^\n]{0,40}\bdescription\b`)

// minToolText is the shortest bound of a description that is believed, in bytes: smaller numbers count tools.
const minToolText = 32

// readToolTexts reads errors about the length of a tool's description: descriptions are cut to the length that is named, or the tool is left
// out.
func readToolTexts(r reading) (sessions.Lesson, bool) {
	text := strings.ToLower(r.f.Param) + "\n" + r.text
	if len(r.sent.Tools) == 0 || !toolText.MatchString(text) || !longText.MatchString(text) || schemaPath.MatchString(text) && !ofArgument.MatchString(text) {
		return sessions.Lesson{}, false
	}
	longest, of := r.call.longest, ""
	if ofArgument.MatchString(text) {
		longest, of = longestArgument(r.call.offered), Arguments
	}
	most := 0
	for _, m := range bounded.FindAllStringSubmatch(r.text, -1) {
		if n, ok := numberOf(m[1]); ok && n >= minToolText && int(n) < longest {
			most = max(most, int(n))
		}
	}
	if most > 0 {
		return sessions.Lesson{Kind: ToolTexts, Name: of, Use: strconv.Itoa(most)}, true
	}
	if name := r.namedTool(); name != "" {
		return r.without(name), true
	}
	return sessions.Lesson{}, false
}
