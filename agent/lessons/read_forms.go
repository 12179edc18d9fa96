package lessons

import (
	"slices"
	"strconv"
	"strings"

	"parley/channels/pattern"
	"parley/sessions"
)

// The forms of the content of messages that have no picture.
const (
	AsText = "a text"
	AsList = "a list of parts"
)

// contentForm begins the names of the parameters for the content of a role's messages.
const contentForm = "content of "

// Blocks is the role of messages whose content has other parts than texts and pictures: it is a list in any case.
const Blocks = "blocks"

// contentRoles are the roles of messages, in the order in which their form is changed where an error names no message.
var contentRoles = []string{"user", "tool", "system", "assistant"}

// contentNames are the names of their parameters.
var contentNames = []string{contentForm + "user", contentForm + "tool", contentForm + "system", contentForm + "assistant"}

// ContentForms gives, for each role, the form in which the content of its messages is sent: AsList for the roles of lists, AsText for the
// others, or what the endpoint wants instead.
func (f *inForce) ContentForms(lists ...string) []Param {
	out := make([]Param, 0, len(contentRoles)+2) // with room for those of the caller
	for i, role := range contentRoles {
		p := Param{Name: contentNames[i], Value: AsText, Fixed: true}
		if slices.Contains(lists, role) {
			p.Value = AsList
		}
		p.Value, _ = f.param(p.Name, p.Value)
		out = append(out, p)
	}
	return out
}

// IsList reports whether the content of a role's messages is sent as a list. forms begins with what ContentForms gave; a role without a form is none.
func IsList(forms []Param, role string) bool {
	i := slices.Index(contentRoles, role)
	return i >= 0 && i < len(forms) && forms[i].Value == AsList
}

var (
	wantsList = pattern.New(`valid list|list_type|expected (?:a |an )?(?:list|array|sequence)|(?:must|should) be (?:a |an )?(?:list|array|sequence)|of type ['"\x60]?(?:list|array)|cannot unmarshal string into[^\n]{0,80}\bof type \[\]`)
	// sentForm is in errors the form that was sent, behind the one that is wanted. source: zod.dev/error-formatting (expected string, received array)
	sentForm = pattern.New(`\b(?:got|received|found|given|instead of|rather than|(?:,|and) not)\b[^\n]{0,40}|\binvalid type: (?:string|sequence|map)\b`)
	// messageAt is the place of a message's content in a request, or of a tool's result.
	messageAt = pattern.New(`(?:messages|\binput)(?:\[|\.|/)(?:list\[[^\n]{0,200}\][./])?(\d+)\]?[./](?:[a-z]+[./])?(?:content|output)\b`)
	plainText = pattern.New(`\b(?:turns|messages|content)\b[^\n]{0,20}\b(?:has|have|must|needs?)\b[^\n]{0,10}\bplain text\b`)
	ofContent = pattern.New(`\bcontent\b`)
	// eitherForm is in errors of servers that take both forms: something in one of them is wrong.
	eitherForm = pattern.New(`\b(?:content|input)['"]?(?:[./]|, ?)['"]?(?:str\b|list\[[^\n]*\bcontent['"]?(?:[./]|, ?)['"]?list\[)`)
	// resultContent is what a tool's result says in Anthropic's Messages API.
	resultContent = pattern.New(`tool_result[./\]]{1,2}content\b`)
)

// ResultName is the parameter for the name of the tool beside its result.
const (
	ResultName = "name of a tool's result"
	NameSent   = "sent"
)

// unnamedResult is in errors of servers that want to know of which tool a result is. source: ai.google.dev/gemini-api/docs/function-calling (FunctionResponse), Joouis/agent-maestro#162
var unnamedResult = pattern.New(`function_?response\.name\b|\b(?:tool|function) name (?:is |was )?(?:required|missing|empty|(?:cannot|must not) be empty)\b|\btool (?:messages?|results?|responses?)\b[^.\n]{0,40}\bname\b[^.\n]{0,24}(?:required|missing|empty|must be)|\bmessages(?:\[|\.)\d+\]?\.name\b[^\n]{0,40}(?:required|missing|empty)`)

// nameAt is the place of the name of a message.
var nameAt = pattern.New(`\bmessages(?:\[|\.|/)\d+\]?[./]name$`)

// wantsResultName reports whether an error wants the name of the tool beside a result.
func (r reading) wantsResultName() bool {
	place := strings.ToLower(r.f.Param)
	if nameAt.MatchString(place) && required.MatchString(r.text) {
		role, _ := placeInHistory(r.f, r.sent)
		return role == "tool" || role == ""
	}
	return unnamedResult.MatchString(place + "\n" + r.text)
}

// readResultName reads errors about results of tools without a name.
func readResultName(r reading) (sessions.Lesson, bool) {
	for _, p := range r.sent.Params {
		if p.Name == ResultName && p.Value == Unset && r.sent.Steps && r.wantsResultName() {
			return sessions.Lesson{Kind: Parameter, Name: p.Name, Value: Unset, Use: NameSent}, true
		}
	}
	return sessions.Lesson{}, false
}

// readContentForm reads errors that want the content of messages as a list, or as a text where a list was sent. An error that speaks of
// both forms tells which ones there are. Where a text is wanted of a message that has calls or reasoning, these are told as text or left out.
// source: docs.pydantic.dev/latest/errors/validation_errors (list_type, string_type), lastmile-ai/mcp-agent#25 (expected a string)
func readContentForm(r reading) (sessions.Lesson, bool) {
	said := sentForm.ReplaceAllString(r.text, "")
	lists, texts := wantsList.MatchString(said), wantsText.MatchString(said)
	if !lists && !texts { // the form that was sent may be all that it says
		lists, texts = wantsList.MatchString(r.text), wantsText.MatchString(r.text)
	}
	place := strings.ToLower(r.f.Param) + "\n" + r.text
	if plainText.MatchString(r.text) {
		lists, texts = false, true
	}
	if lists == texts || !ofContent.MatchString(place) && !messageAt.MatchString(place) || r.has("maximum length", "too long") || eitherForm.MatchString(place) {
		return sessions.Lesson{}, false
	}
	was, use := AsText, AsList
	if texts {
		was, use = AsList, AsText
	}
	role := r.roleAt(place)
	for _, at := range r.rolesIn(role, was) {
		for _, p := range r.sent.Params {
			if p.Name == contentForm+at && p.Value == was {
				return sessions.Lesson{Kind: Parameter, Name: p.Name, Value: was, Use: use}, true
			}
		}
	}
	if texts && (role == Blocks || role == "" && slices.Contains(r.sent.Roles, Blocks)) {
		return r.withoutBlocks()
	}
	return sessions.Lesson{}, false
}

// rolesIn gives the roles that an error about a form of content may be about: that of the message at its place, or all that were sent, in the order
// of their parameters, where no place is given. A role whose content has not that form cannot be meant: then the only other one that has it is, of a
// server that counts otherwise.
func (r reading) rolesIn(role, form string) (out []string) {
	if role == Blocks {
		return nil
	}
	for _, p := range r.sent.Params {
		of, ok := strings.CutPrefix(p.Name, contentForm)
		switch {
		case !ok || p.Value != form:
		case of == role:
			return []string{role}
		case slices.Contains(r.sent.Roles, of):
			out = append(out, of)
		}
	}
	if role != "" && len(out) > 1 {
		return nil
	}
	return out
}

// withoutBlocks leaves reasoning out, and then has calls and results be told as text.
func (r reading) withoutBlocks() (sessions.Lesson, bool) {
	switch {
	case r.sent.Reasoning && r.call.Use(Reasoning) != OmitReasoning:
		return r.leaveReasoning(), true
	case r.sent.Steps && !r.call.changed.hasChanged(History):
		return r.call.told(), true
	}
	return sessions.Lesson{}, false
}

// roleAt gives the role of the message that an error names by its place; "" = it names none.
func (r reading) roleAt(place string) string {
	m := messageAt.FindStringSubmatch(place)
	if m == nil {
		return ""
	}
	if resultContent.MatchString(place) {
		return "tool"
	}
	if i, err := strconv.Atoi(m[1]); err == nil && i < len(r.sent.Roles) {
		return r.sent.Roles[i]
	}
	return ""
}
