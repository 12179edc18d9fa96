package lessons

import (
	"slices"
	"strings"
	"time"

	"parley/channels/pattern"
	"parley/sessions"
)

var (
	// itemGone are errors about items of this conversation: they cannot be read any more, or what belongs to them is missing.
	itemGone = pattern.New(`invalid_encrypted_content|thinking_signature_invalid|invalid\W{1,3}signature\W{1,3}in\W{1,3}thinking|encrypted[ _]content.{0,200}could not be|encrypted[ _]content.{0,3} (?:is|was) not|could not (?:decrypt|verify|parse) .{0,40}encrypted_content|item with id .{0,120}not found|items are not persisted|without its required|duplicate item found|thinking\W{0,2} blocks?\b.{0,80}cannot be modified`)
	// otherItemGone are errors about the id of a call or a message: reasoning has others.
	otherItemGone = pattern.New(`\bitem with id \W?(?:fc|msg|ctc)_`)
	// callAlone are errors about a call whose reasoning is not there. source: cline/cline#12242
	callAlone = pattern.New(`\bfunction_call\b.{0,40}without its required\W{1,3}reasoning`)
	// sealedRefused are errors that refuse encrypted reasoning whatever it says. source: vllm-project/vllm#28248
	sealedRefused = pattern.New(`encrypted[ _]content\b.{0,12}\b(?:is|are) not (?:supported|allowed)`)
	// itemForm are errors about the form of reasoning items and of ids.
	itemForm = pattern.New(`input(\[|\.)\d+(\]|\.|:).{0,80}(reasoning|summary|encrypted|\bid\b|phase)|item\['content'\]|(item|value|variant|type|tag).{0,20}['"\x60]reasoning['"\x60]`)
	// itemAt is the place of an item in a request.
	itemAt = pattern.New(`input(\[|\.)\d+|input item|type of 'item'`)
)

// ItemField is in front of the names of fields of input items, as parameters with the value Taken. What an endpoint refuses of them is left out
// of all items; their encrypted content stays.
const (
	ItemField = "input."
	Taken     = "taken"

	ItemStatus = ItemField + "status" // of messages, calls and results: not sent until an endpoint asks for it
	Completed  = "completed"
)

var (
	fieldOfItem = pattern.New(`\binput(?:\[|\.|/|\n)\d+\]?[./\n]([a-z_]+)`)
	// outputText is in errors of endpoints that take texts of the model as a plain text only.
	// source: docs.pydantic.dev/latest/errors/validation_errors (union_tag_invalid), platform.openai.com/docs/guides/error-codes (invalid_value)
	outputText = pattern.New("(?:invalid|unknown|unsupported|unexpected)[^\n]{0,24}[`'\"]output_text|\\btag [`'\"]output_text")
	// annotations are a field of such texts.
	annotations = pattern.New(`\bannotations\b`)
	// itemStatus is the status of items, which some servers want back.
	// source: vercel/ai#20828, Oaklight/llm-rosetta#650 (Volcengine), vllm-project/vllm#41355 (ResponseOutputMessage)
	itemStatus = pattern.New(`\binput\.status\b|\binput(?:\[|\.|/)\d+\]?[./]status\b|responseoutputmessage(?:[.\w]{0,20}\n?[^\n]{0,80})?[./\s]status\b`)
	// statusValues are the values of a status that a validator lists for an item of the input. source: openai/codex#12114 (OpenRouter, zod)
	statusValues = pattern.New(`(?s)\binput\b.*(?:\bstatus\b.*\bin_progress\b|\bin_progress\b.*\bstatus\b)|(?:\bstatus\b.*\bin_progress\b|\bin_progress\b.*\bstatus\b).*\binput\b`)
	// otherType is in errors about items that are no messages.
	otherType  = pattern.New(`function_call|reasoning|output_text|input_text`)
	fieldWrong = pattern.New(`unknown|additional propert|unrecogni[sz]ed|unexpected|\bextra\b|not permitted|not (?:supported|allowed)|unsupported|array too long|string too long|expected an id that begins|invalid type|expected (?:a |an )?(?:string|array)|maximum length 0|\bshould be \W?null\b`)
)

// readItemField reads errors about one field of the items of a request.
// source: earendil-works/pi#7263, digitallyinduced/haskell-agent#689, microsoft/agent-framework#4576 (paths with slashes)
func readItemField(r reading) (sessions.Lesson, bool) {
	if p, ok := r.sentParam(contentForm + "assistant"); ok && p.Value == AsList && (outputText.MatchString(r.text) || annotations.MatchString(strings.ToLower(r.f.Param)+"\n"+r.text) && !required.MatchString(r.text)) {
		return p.refused(AsText), true
	}
	if place := strings.ToLower(r.f.Param) + "\n" + r.text; (itemStatus.MatchString(place) && required.MatchString(r.text) || statusValues.MatchString(r.text)) && slices.ContainsFunc(r.sent.Params, func(p Param) bool { return p.Name == ItemStatus && p.Value == Unset }) {
		return sessions.Lesson{Kind: Parameter, Name: ItemStatus, Value: Unset, Use: Completed}, true
	}
	if required.MatchString(r.text) && !fieldWrong.MatchString(r.text) {
		return sessions.Lesson{}, false // it is wanted
	}
	for _, m := range fieldOfItem.FindAllStringSubmatch(strings.ToLower(r.f.Param)+"\n"+r.text, -1) {
		p, ok := r.sentParam(ItemField + m[1])
		if role, _ := placeInHistory(r.f, r.sent); !ok || m[1] == "type" && (role != "user" && role != "assistant" && role != "" || otherType.MatchString(r.text)) { // of calls and reasoning it tells what they are
			continue
		}
		return p.refused(""), true
	}
	return r.namesItemField()
}

var (
	// ofItems is the place of an item, with or without the place of a field.
	ofItems = pattern.New(`\binput(?:\[|\.|/|\n)\d`)
	// fieldName is in errors about a field that give no place. source: pkg.go.dev/encoding/json#Decoder.DisallowUnknownFields
	fieldName = pattern.New("unknown (?:field|key|property) [`'\"]([a-z_]+)[`'\"]")
)

// namesItemField reads errors that name a field of items apart from the place of the item, or without any.
// source: ajv.js.org/api.html#error-objects (instancePath, additionalProperty), zod.dev/error-formatting (unrecognized_keys)
func (r reading) namesItemField() (sessions.Lesson, bool) {
	place := strings.ToLower(r.f.Param) + "\n" + r.text
	unknown := fieldName.FindStringSubmatch(r.text)
	for _, p := range r.sent.Params {
		name, isField := strings.CutPrefix(p.Name, ItemField)
		if !isField || p.Value != Taken {
			continue
		}
		atItem := ofItems.MatchString(place) && fieldWrong.MatchString(r.text) && (slices.Contains(strings.Split(r.text, "\n"), name) || quotes(r.text, name))
		if atItem || unknown != nil && unknown[1] == name {
			return p.refused(""), true
		}
	}
	return sessions.Lesson{}, false
}

// readItems reads errors about reasoning items that are sent back, and about ids of items.
func readItems(r reading) (sessions.Lesson, bool) {
	switch {
	case !r.sent.Reasoning || r.call.Use(Reasoning) == OmitReasoning || r.f.Param == "include":
		return sessions.Lesson{}, false
	case otherItemGone.MatchString(r.text):
		if p, ok := r.sentParam(ItemField + "id"); ok {
			return p.refused(""), true
		}
		return r.leaveReasoning(), true
	case callAlone.MatchString(r.text) && r.sent.Steps && !r.call.changed.hasChanged(History):
		return r.call.told(), true
	case sealedRefused.MatchString(r.text):
		return sessions.Lesson{Kind: Reasoning, Use: OmitReasoning}, true
	case itemGone.MatchString(r.text):
		return readUnreadable(r)
	case itemForm.MatchString(r.text) && !pictureName.MatchString(r.text):
		return r.leaveReasoning(), true
	}
	return sessions.Lesson{}, false
}

// maxItems bounds how many items are left out one by one: an endpoint that refuses more of them cannot read any.
const maxItems = 2

// readUnreadable is for errors about what an item says: it cannot be decrypted or verified, or is not known. The item that is named is left
// out; where encrypted content is refused and none is named, all that are older than now, because an organisation or a key that changed
// makes all of them unreadable. Only when that did not end it does the model get no reasoning back at all.
// source: openai/codex#13724 (only old threads are refused, new ones work)
func readUnreadable(r reading) (sessions.Lesson, bool) {
	known := 0
	for k := range r.call.now {
		if k.kind == Reasoning && k.name != "" && k.name != OldReasoning {
			known++
		}
	}
	if i := slices.IndexFunc(r.sent.Items, r.namesItem); i >= 0 && known < maxItems {
		return sessions.Lesson{Kind: Reasoning, Name: r.sent.Items[i].name(), Use: OmitReasoning}, true
	}
	if sealedWord.MatchString(r.text) {
		return r.olderReasoning(), true
	}
	return r.leaveReasoning(), true // of ids it refuses any
}

// leaveReasoning leaves all reasoning of earlier steps out. Where the endpoint took some before, only what is older than now: one item may be
// spoiled.
func (r reading) leaveReasoning() sessions.Lesson {
	if r.call.taken.reasoning {
		return r.olderReasoning()
	}
	return sessions.Lesson{Kind: Reasoning, Use: OmitReasoning}
}

// olderReasoning leaves out the reasoning up to now; where that is known already, all of it.
func (r reading) olderReasoning() sessions.Lesson {
	old := key{Reasoning, OldReasoning, ""}
	if _, known := r.call.now[old]; known {
		return sessions.Lesson{Kind: Reasoning, Use: OmitReasoning}
	}
	use := r.call.book.conf.Now().UTC().Format(time.RFC3339Nano)
	if was, known := r.call.stale[old]; known { // it was tried again without, and still holds
		use = was.Use
	}
	return sessions.Lesson{Kind: Reasoning, Name: OldReasoning, Use: use}
}

// sealedWord are errors about what is encrypted.
var sealedWord = pattern.New(`encrypt|decrypt|signature|cannot be modified`)

// sealedWords are the ends of encrypted content that an error quotes in the place of all of it.
var sealedWords = pattern.New(`(?i)encrypted content (\S{2,}?)(?:\.\.\.|…)([\w=+/-]{2,})`)

// namesItem reports whether an error speaks of an item, by its id or by the ends of its encrypted content.
func (r reading) namesItem(i Item) bool {
	if word(r.text, strings.ToLower(i.ID)) {
		return true
	}
	m := sealedWords.FindStringSubmatch(r.f.Raw)
	return m != nil && i.Sealed != "" && strings.HasPrefix(i.Sealed, m[1]) && strings.HasSuffix(i.Sealed, m[2])
}

var pictureName = pattern.New(`image|picture`)

// readItemForms reads errors that name an item of the request and say nothing that another reader knows.
func readItemForms(r reading) (sessions.Lesson, bool) {
	if !r.sent.Reasoning || r.call.Use(Reasoning) == OmitReasoning || !itemAt.MatchString(r.text) {
		return sessions.Lesson{}, false
	}
	return r.leaveReasoning(), true
}
