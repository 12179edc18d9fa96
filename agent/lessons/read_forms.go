package lessons

import (
	"slices"
	"strconv"
	"strings"

	"parley/agent/wire/pattern"
	"parley/sessions"
)

// The forms of the content of messages that have no picture.
const (
	AsText = "a text"
	AsList = "a list of parts"
)

// contentForm begins the names of the parameters for the content of a role's messages.
const contentForm = "content of "

// contentRoles are the roles of chat completions, in the order in which their form is changed where an error names no message.
var contentRoles = []string{"user", "tool", "system", "assistant"}

// ContentForms gives, for each role of chat completions, the form in which the content of its messages is sent: AsText or AsList.
func (c *Call) ContentForms() []Param {
	out := make([]Param, 0, len(contentRoles)+2) // with room for those of the caller
	for _, role := range contentRoles {
		p := Param{Name: contentForm + role, Value: AsText, Fixed: true}
		p.Value, _ = c.param(p.Name, p.Value)
		out = append(out, p)
	}
	return out
}

// IsList reports whether the content of a role's messages is sent as a list.
func IsList(forms []Param, role string) bool {
	return slices.ContainsFunc(forms, func(p Param) bool { return p.Name == contentForm+role && p.Value == AsList })
}

var (
	wantsList = pattern.New(`valid list|list_type|expected (?:a |an )?(?:list|array|sequence)|(?:must|should) be (?:a |an )?(?:list|array|sequence)`)
	// messageAt is the place of a message's content in a request.
	messageAt = pattern.New(`messages(?:\[|\.|/)(\d+)\]?[./]content\b`)
	ofContent = pattern.New(`\bcontent\b`)
)

// ResultName is the parameter for the name of the tool beside its result.
const (
	ResultName = "name of a tool's result"
	NameSent   = "sent"
)

// unnamedResult is in errors of servers that want to know of which tool a result is. source: ai.google.dev/gemini-api/docs/function-calling (FunctionResponse), Joouis/agent-maestro#162
var unnamedResult = pattern.New(`function_?response\.name\b|\b(?:tool|function) name (?:is |was )?(?:required|missing|empty|(?:cannot|must not) be empty)\b|\btool (?:messages?|results?|responses?)\b[^.\n]{0,40}\bname\b[^.\n]{0,24}(?:required|missing|empty|must be)|\bmessages(?:\[|\.)\d+\]?\.name\b[^\n]{0,40}(?:required|missing|empty)`)

// readResultName reads errors about results of tools without a name.
func readResultName(r reading) (sessions.Lesson, bool) {
	for _, p := range r.sent.Params {
		if p.Name == ResultName && p.Value == Unset && r.sent.Steps && unnamedResult.MatchString(strings.ToLower(r.f.Param)+"\n"+r.text) {
			return sessions.Lesson{Kind: Parameter, Name: p.Name, Value: Unset, Use: NameSent}, true
		}
	}
	return sessions.Lesson{}, false
}

// readContentForm reads errors that want the content of messages as a list, or as a text where a list was sent. An error that speaks of
// both forms tells which ones there are.
// source: docs.pydantic.dev/latest/errors/validation_errors (list_type, string_type), lastmile-ai/mcp-agent#25 (expected a string)
func readContentForm(r reading) (sessions.Lesson, bool) {
	lists, texts := wantsList.MatchString(r.text), wantsText.MatchString(r.text)
	place := strings.ToLower(r.f.Param) + "\n" + r.text
	if lists == texts || !ofContent.MatchString(place) || r.has("maximum length", "too long") {
		return sessions.Lesson{}, false
	}
	was, use := AsText, AsList
	if texts {
		was, use = AsList, AsText
	}
	role := r.roleAt(place)
	for _, p := range r.sent.Params {
		of, ok := strings.CutPrefix(p.Name, contentForm)
		if ok && p.Value == was && (role == "" || role == of) && (role != "" || slices.Contains(r.sent.Roles, of)) {
			return sessions.Lesson{Kind: Parameter, Name: p.Name, Value: was, Use: use}, true
		}
	}
	return sessions.Lesson{}, false
}

// roleAt gives the role of the message that an error names by its place; "" = it names none.
func (r reading) roleAt(place string) string {
	m := messageAt.FindStringSubmatch(place)
	if m == nil {
		return ""
	}
	if i, err := strconv.Atoi(m[1]); err == nil && i < len(r.sent.Roles) {
		return r.sent.Roles[i]
	}
	return ""
}
