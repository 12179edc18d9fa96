package lessons

import (
	"parley/agent/wire/pattern"
	"parley/sessions"
)

var (
	// itemGone are errors about items of this conversation: they cannot be read any more, or what belongs to them is missing.
	itemGone = pattern.New(`invalid_encrypted_content|thinking_signature_invalid|encrypted[ _]content.{0,200}could not be|encrypted[ _]content is not|item with id .{0,120}not found|items are not persisted|without its required|duplicate item found`)
	// itemForm are errors about the form of reasoning items and of ids.
	itemForm = pattern.New(`input(\[|\.)\d+(\]|\.|:).{0,80}(reasoning|summary|encrypted|\bid\b|phase)|item\['content'\]|(item|value|variant|type).{0,20}['"\x60]reasoning['"\x60]`)
	// itemAt is the place of an item in a request.
	itemAt = pattern.New(`input(\[|\.)\d+|input item|type of 'item'`)
)

// items reads errors about reasoning items that are sent back, and about ids of items.
func (r reading) items() (sessions.Lesson, bool) {
	switch {
	case !r.sent.Reasoning || r.call.Use(Reasoning) == OmitReasoning || r.f.Param == "include":
		return sessions.Lesson{}, false
	case itemGone.MatchString(r.text):
		return sessions.Lesson{Kind: Reasoning, Use: OmitReasoning}, true
	case itemForm.MatchString(r.text) && !pictureName.MatchString(r.text):
		return sessions.Lesson{Kind: Reasoning, Use: OmitReasoning}, true
	}
	return sessions.Lesson{}, false
}

var pictureName = pattern.New(`image|picture`)

// itemForms reads errors that name an item of the request and say nothing that another reader knows.
func (r reading) itemForms() (sessions.Lesson, bool) {
	if !r.sent.Reasoning || r.call.Use(Reasoning) == OmitReasoning || !itemAt.MatchString(r.text) {
		return sessions.Lesson{}, false
	}
	return sessions.Lesson{Kind: Reasoning, Use: OmitReasoning}, true
}
