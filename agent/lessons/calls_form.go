package lessons

import (
	"slices"
	"strings"

	"parley/channels/pattern"
	"parley/sessions"
)

// CallArguments is the parameter for the form of the arguments of earlier calls: AsText, or AsObject where an endpoint wants that.
const (
	CallArguments = "arguments of calls"
	AsObject      = "an object"
)

// AnswerRefusal is the parameter for the field of the model's messages that says what it refused: sent empty where an endpoint wants it.
const (
	AnswerRefusal = "refusal of messages"
	Null          = "null"
)

// TextBlocks is the parameter for texts of one message that stand together: Apart, or Joined where an endpoint takes one text.
const (
	TextBlocks = "texts of a message"
	Apart      = "apart"
	Joined     = "joined"
)

// FormOf gives a form that an endpoint has asked for, and notes that it may.
func (f *inForce) FormOf(name, usual, other string) Param {
	p := Param{Name: name, Value: usual, Next: []string{other}, Fixed: true}
	if value, send := f.param(name, usual); send && value != usual {
		p.Value, p.Next = value, nil
	}
	return p
}

// HasForm reports whether one of the forms of a request has a value.
func HasForm(forms []Param, name, value string) bool {
	return slices.ContainsFunc(forms, func(p Param) bool { return p.Name == name && p.Value == value })
}

var (
	// itemPairs is what templates say that go through arguments which are a text. source: QwenLM/Qwen3-Coder#444, xorbitsai/inference#5060
	itemPairs = pattern.New(`item pairs from a mapping`)
	// objectArguments is in errors that want the arguments of a call as an object.
	// source: docs.pydantic.dev/latest/errors/validation_errors (dict_type), pkg.go.dev/encoding/json#UnmarshalTypeError
	objectArguments = pattern.New(`\barguments\b[^\n]{0,80}(?:must|should|has to|needs to) (?:be|decode to) (?:an? )?(?:valid )?(?:json )?(?:object|dict|mapping|map)|cannot unmarshal string[^\n]*\barguments\b[^\n]*\bmap\[`)
	// oneText is in errors about a list of texts, of which one is taken. source: decolua/9router#2634, tensorzero/tensorzero#2128
	oneText        = pattern.New(`\b(?:only|exactly|at most) (?:one|a single|1) text (?:block|part|content|item)|\b(?:multiple|several|more than one) text (?:blocks|parts|content)`)
	validDict      = pattern.New(`dict_type|valid dictionary`)
	argumentsPlace = pattern.New(`[./]arguments\b|(?m)^arguments$`)
	refusalPlace   = pattern.New(`\bmessages(?:\[|\.|/)\d+\]?[./](?:[a-z]+[./])?refusal\b|(?m)^refusal$`)
)

// readCallsForm reads errors about the arguments of earlier calls, which a server wants as an object, and about a field of the model's messages that
// it wants although there is nothing in it.
func readCallsForm(r reading) (sessions.Lesson, bool) {
	place := strings.ToLower(r.f.Param) + "\n" + r.text
	wants := map[string]bool{
		CallArguments: r.sent.Steps && (itemPairs.MatchString(r.text) && r.f.Status < 500 || objectArguments.MatchString(r.text) || argumentsPlace.MatchString(place) && validDict.MatchString(r.text)),
		TextBlocks:    oneText.MatchString(r.text),
		AnswerRefusal: refusalPlace.MatchString(place) && required.MatchString(r.text),
	}
	for _, p := range r.sent.Params {
		if wants[p.Name] && len(p.Next) > 0 {
			return sessions.Lesson{Kind: Parameter, Name: p.Name, Value: p.Value, Use: p.Next[0]}, true
		}
	}
	return sessions.Lesson{}, false
}
