package lessons

import (
	"cmp"
	"strings"

	"parley/agent"
	"parley/channels/pattern"
	"parley/sessions"
)

var (
	idWord = pattern.New(`tool[_ ]?(call|use)[_ ]?ids?|tool_calls?\S*\.id|call_id|tool_use\.id|tool_use_id|function call id`)
	idForm = pattern.New(`length of|must be|a-z|pattern|too long|maximum length|characters|alphanumeric|regex|invalid|match`)
	// idPattern matches a regular expression that stands in an error. source: docs.pydantic.dev/latest/errors/validation_errors (string_pattern_mismatch)
	idPattern = pattern.New(`\^[^\s'"\x60]{2,120}?\$`)
	// idPrefix, idLength and idUUID match what errors say of ids in words.
	idPrefix = pattern.New(`(?i)\b(?:begins?|starts?|prefixed|prefix) (?:with|of|is)?\W{0,3}([a-z]{2,12}[_-])`)
	idLength = pattern.New(`\b(?:with a length of|exactly|length (?:must|should) be|have (?:a )?length(?: of)?) (\d{1,2})\b`)
	idUUID   = pattern.New(`\buuid\b`)
)

// readCallIDs reads errors about the form of the ids of calls: the one that is named, or the one that most providers take.
// source: zed-industries/zed#37021 (a-z, A-Z, 0-9, with a length of 9), camel-ai/camel#2215 (maximum length 40)
func readCallIDs(r reading) (sessions.Lesson, bool) {
	if !r.sent.Steps || !idWord.MatchString(strings.ToLower(r.f.Param)+"\n"+r.text) || !idForm.MatchString(r.text) || r.has("no tool call", "not found", "did not have") {
		return sessions.Lesson{}, false
	}
	l := sessions.Lesson{Kind: CallIDs, Use: r.namedIDs()}
	return l, !r.call.Off(CallIDs, "") || l.Use != "" && l.Use != r.call.Use(CallIDs)
}

// namedIDs gives the form of ids that an error names, as a regular expression; "" = none, or the one that most providers take.
func (r reading) namedIDs() string {
	expr := idPattern.FindString(r.f.Raw)
	if expr == "" {
		prefix, length := idPrefix.FindStringSubmatch(r.f.Raw), idLength.FindStringSubmatch(r.text)
		switch {
		case prefix != nil:
			expr = "^" + prefix[1] + "[a-zA-Z0-9]{24}$"
		case length != nil:
			expr = "^[a-zA-Z0-9]{" + length[1] + "}$"
		case idUUID.MatchString(r.text):
			expr = "^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$"
		}
	}
	if form, err := agent.ParseIDForm(cmp.Or(expr, "^$")); err != nil || form.TakesShort() {
		return ""
	}
	return expr
}

// IDs gives the form of call ids that was learned; nil = none, or the one that most providers take.
func (f *inForce) IDs() *agent.IDForm {
	use := f.Use(CallIDs)
	if use == "" {
		return nil
	}
	form, err := agent.ParseIDForm(use)
	if err != nil { // of another release
		return nil
	}
	return form
}
