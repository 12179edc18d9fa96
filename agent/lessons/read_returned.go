package lessons

import (
	"slices"
	"strconv"
	"strings"

	"parley/channels/pattern"
	"parley/sessions"
)

// thoughtNames are the names of fields and of blocks in which reasoning of earlier steps goes back, and thoughtOnly those of them that nothing
// else in a request has.
const (
	thoughtOnly  = `reasoning_(?:content|details|text|opaque)|thinking_blocks?|redacted_thinking|thought[ _]?signatures?|encrypted_content|cot_id|extra_content`
	thoughtNames = thoughtOnly + `|reasoning|thinking|thoughts?|reasoning_(?:items?|summary)|summary|signature|provider_specific_fields`
)

var (
	// thoughtPath is a place in the history of a request, and what of it an error means.
	thoughtPath = pattern.New(`\b(?:messages|input|contents|history)['"]?(?:\[|\.|/|, ?|\n)\d+\]?((?:[./\n]|\[)[\w./\[\]]+)`)
	thoughtEnd  = pattern.New(`^(?:` + thoughtNames + `)$`)
	// thoughtType is a type of blocks or items; a Go struct of the setting cannot meet a list.
	thoughtType   = pattern.New("(?:\\b(?:type|variant|tag|kind|block|item)s?|类型)\\W{1,5}(?:" + thoughtNames + ")\\b|\\b(?:" + thoughtNames + ")\\b['\"`]?,? (?:content )?(?:block|item|part)s?\\b|cannot unmarshal array into go struct field \\S*\\b(?:reasoning|thinking)\\b")
	thoughtWord   = pattern.New(`(?:^|[^.\w]|\bmessages?\.)(?:` + thoughtOnly + `)\b`)
	thoughtLine   = pattern.New(`(?m)^(?:` + thoughtNames + `)$`) // a value of its own
	thoughtQuoted = pattern.New("[`'\"“‘「『](" + thoughtNames + ")[`'\"”’」』]")
	// ofHistory is in errors that mean a message or an item without the place of a field.
	ofHistory = pattern.New(`\b(?:messages|input|contents)['"]?(?:\[|\.|/|\n)\d|role:assistant|\bassistant messages?\b|\bin (?:the )?(?:messages|history)\b`)
	// unknownField is in errors about a field, not about a parameter or a value.
	unknownField = pattern.New(`(?:unknown|unrecogni[sz]ed|unexpected|unsupported|extra|additional|no such|invalid) (?:name|fields?|keys?|propert|inputs?)|\bproperty\b|cannot find field|extra_forbidden|not permitted|was unexpected`)
	notPermitted = pattern.New(`unknown|unrecogni[sz]ed|unexpected|unsupported|\bextra|additional propert|not (?:be )?(?:permit|allow|support|includ|accept|expect|recogni[sz]|known|set|present|a valid|one of)|(?:must|should|may) not\b|cannot (?:find|contain|have|include|unmarshal|be (?:used|set|sent))|invalid (?:field|key|propert|type|item|block|value)|forbidden|\bremove\b|不支持|不允许|不接受|未知|无法识别`)
	spoiled      = pattern.New(`corrupt|expired|different (?:model|provider|key|account)|tampered|mismatch|not valid|\binvalid\b|could not be|failed to`)
	// unsigned is in errors about thinking that has no signature, or an empty one.
	unsigned = pattern.New(`field required|\brequired\b|\bmissing\b|at least 1 char|(?:not|non|cannot)[ -](?:be )?empty|\bis empty\b|too_short`)
	// signedThinking is the signature of a block of thinking.
	signedThinking = pattern.New(`thinking['"\x60\]]{0,2}[./\s]{1,2}['"\x60]?signature|signature[^\n]{0,30}\bthinking`)
	// thoughtWanted is in errors of endpoints that want reasoning back.
	thoughtWanted = pattern.New(`pass(?:ed|ing)? back|sen[dt] back|\bmissing\b|\brequire[ds]?\b|must include|must (?:also )?be (?:provided|included|passed|present|followed|preceded|preserved|kept|returned|sent)|must (?:start|begin|contain)\b|expected (?:an? )?[\x60'"]?(?:redacted_)?(?:thinking|reasoning)[\x60'"]?(?:,| (?:or|but|block|item))|cannot be modified|必须|缺少|回传|需要?(?:提供|包含|传)`)
	includeWord   = pattern.New(`\binclude\b`)
)

// readReturned reads errors about reasoning that goes back in the history, whatever their words: by the place of a field, by its name, or by the
// type of a block. That part of the history is left out before anything else of the request is changed. Errors of endpoints that want reasoning
// back, and those about how much a model thinks, are for other readers.
//
// source: console.groq.com/docs/errors (property is unsupported), serde.rs (unknown field), docs.pydantic.dev (extra_forbidden), zod.dev (unrecognized_keys), openclaw/openclaw#13826, anomalyco/opencode#4832
func readReturned(r reading) (sessions.Lesson, bool) {
	if !r.sent.Reasoning || r.call.Use(Reasoning) == OmitReasoning || itemGone.MatchString(r.text) {
		return sessions.Lesson{}, false
	}
	for _, ofField := range []func(reading) (sessions.Lesson, bool){readItemField, readSignature} { // without it, the rest may be taken
		if l, ok := ofField(r); ok {
			return l, true
		}
	}
	place := strings.ToLower(r.f.Param) + "\n" + withoutAccepted(r.text)
	if r.isAtThought(place) {
		return r.leaveReasoning(), true
	}
	if signedThinking.MatchString(place) && !signatureWord.MatchString(place) && unsigned.MatchString(r.text) {
		return r.leaveReasoning(), true
	}
	refuses := notPermitted.MatchString(r.text) || spoiled.MatchString(r.text)
	if !refuses && !r.namesThoughtAlone(place) || thoughtWanted.MatchString(r.text) || includeWord.MatchString(place) || !r.namesThought(place) {
		return sessions.Lesson{}, false
	}
	switch isSpoiled := spoiled.MatchString(r.text) && !notPermitted.MatchString(r.text); {
	case isSpoiled && signatureWord.MatchString(place) && r.call.Use(Reasoning) != PlaceholderSignatures:
		return sessions.Lesson{Kind: Reasoning, Use: PlaceholderSignatures}, true
	case isSpoiled && sealedWord.MatchString(r.text):
		return readUnreadable(r)
	}
	return r.leaveReasoning(), true
}

// ThoughtField is the Name of a Rename of the field that reasoning goes back in, whatever it came in.
const ThoughtField = "messages.reasoning"

// wantedField is the name of a field of messages that is missing. One that is a word as well counts behind the place of its message.
var wantedField = pattern.New(`\b(reasoning_content|reasoning_text)\b|\bmessages(?:\[|\.|/|\n)\d+\]?(?:[./\n]|\W{1,3})(reasoning)\b`)

// readThoughtName reads errors of endpoints that want reasoning back in another field than the one that it came in: routers rename it.
// source: earendil-works/pi#987, earendil-works/pi#4251, charmbracelet/fantasy#195
func readThoughtName(r reading) (sessions.Lesson, bool) {
	if !r.sent.Reasoning || r.sent.Thoughts == nil || !thoughtWanted.MatchString(r.text) || signatureWord.MatchString(r.text) {
		return sessions.Lesson{}, false
	}
	m := wantedField.FindStringSubmatch(strings.ToLower(r.f.Param) + "\n" + r.text)
	if m == nil || slices.Contains(r.sent.Thoughts, m[1]+m[2]) {
		return sessions.Lesson{}, false
	}
	return sessions.Lesson{Kind: Rename, Name: ThoughtField, Use: m[1] + m[2]}, true
}

// partOfHistory is a place in the history of a request, and the path inside of the message or the item.
var partOfHistory = pattern.New(`\b(?:messages|input|contents|history)['"]?(?:\[|\.|/|, ?|\n)(\d+)\]?((?:(?:[./\n]|\[)[\w\]]+)*)`)

// itemThought are the fields of a reasoning item that nothing else in its place has.
var itemThought = []string{"summary", "encrypted_content", "content"}

// isAtThought reports whether an error names the place of reasoning that was sent: whatever it says of that, the endpoint does not take it. One
// that wants thinking in front of a call means another block.
// source: BerriAI/litellm#38809 (each thinking block must contain thinking), docs.pydantic.dev/latest/errors/validation_errors (missing, string_too_short)
func (r reading) isAtThought(place string) bool {
	if len(r.sent.ThoughtAt) == 0 || word(r.text, CacheMarks) || foundToolUse.MatchString(r.text) {
		return false
	}
	for _, m := range partOfHistory.FindAllStringSubmatch(place, -1) {
		path := strings.FieldsFunc(m[2], func(c rune) bool { return strings.ContainsRune("./[]\n", c) })
		if slices.ContainsFunc(r.sent.ThoughtAt, func(at Place) bool { return strconv.Itoa(at.Message) == m[1] && at.has(path) }) {
			return true
		}
	}
	return false
}

// has reports whether a path inside of the message or the item leads to the reasoning.
func (at Place) has(path []string) bool {
	switch {
	case len(path) == 0:
		return false
	case at.Field != "":
		return path[0] == at.Field
	case at.Block < 0:
		return slices.Contains(itemThought, path[0])
	}
	return len(path) > 1 && path[0] == "content" && path[1] == strconv.Itoa(at.Block)
}

// namesThought reports whether an error names a part of the history that is reasoning.
func (r reading) namesThought(place string) bool {
	for _, m := range thoughtPath.FindAllStringSubmatch(place, -1) {
		if isThoughtPath(m[1]) {
			return true
		}
	}
	if thoughtType.MatchString(place) || thoughtWord.MatchString(place) {
		return true
	}
	isOfHistory := ofHistory.MatchString(place)
	if isOfHistory && thoughtLine.MatchString(place) {
		return true
	}
	for _, m := range thoughtQuoted.FindAllStringSubmatch(place, -1) {
		if isOfHistory || r.isThoughtField(m[1]) {
			return true
		}
	}
	return false
}

// namesThoughtAlone reports whether an error names reasoning of the history by its place, or by a name that nothing else in a request has:
// whatever else it says, that is what it is about.
func (r reading) namesThoughtAlone(place string) bool {
	return thoughtWord.MatchString(place) || slices.ContainsFunc(thoughtPath.FindAllStringSubmatch(place, -1), func(m []string) bool { return isThoughtPath(m[1]) })
}

// isThoughtPath reports whether a path inside of a message or an item ends in reasoning: thinking.signature, assistant.reasoning.
func isThoughtPath(path string) bool {
	last := slices.DeleteFunc(strings.FieldsFunc(path, func(c rune) bool { return strings.ContainsRune("./[]", c) }), func(s string) bool { return s[0] >= '0' && s[0] <= '9' })
	if len(last) == 0 {
		return false
	}
	isData := last[len(last)-1] == "data" && last[0] == "content" && (len(last) == 2 || last[len(last)-2] == "redacted_thinking")
	return isData || thoughtEnd.MatchString(last[len(last)-1])
}

// isThoughtField reports whether an unknown field without a place is one of the reasoning that was sent, and no parameter of the request.
func (r reading) isThoughtField(name string) bool {
	if r.sent.Thoughts != nil {
		return slices.Contains(r.sent.Thoughts, name) && unknownField.MatchString(r.text)
	}
	return (strings.HasPrefix(name, "reasoning") || strings.HasPrefix(name, "thinking")) && !slices.ContainsFunc(r.sent.Params, func(p Param) bool {
		return p.Value != Unset && (p.Name == name || strings.HasPrefix(p.Name, name+".") || slices.Contains(p.Words, name))
	})
}

// everydayThought matches the names of fields of reasoning that are words as well, and everydayPhrase what of those means something else.
// source: docs.anthropic.com/en/api/messages (thinking, redacted_thinking), docs.aws.amazon.com/general/latest/gr/signature-v4-troubleshooting.html
var (
	everydayThought = pattern.New(`(?:^|[^.\w-])(signature|thinking|summary|reasoning|thoughts|data)\b`)
	everydayPhrase  = pattern.New(`\b(?:request|api|header|hmac|jwt|webhook|canonical|calculated) signature\b|\bsignature (?:does|did|we|you|version|method|algorithm)\b|\b(?:thinking|reasoning) (?:mode|budget|level|effort|tokens?|models?|time)\b|` +
		`\b(?:the|an?|your|this|invalid|malformed|json|request|response|input|output|form|user|image|audio|video|file|base64|stream|event|training|no such|more|of|with) (?:data|summary|reasoning|thinking)\b|\bdata (?:ur[il]|format|type|cent(?:er|re)|policy|retention|loss|is (?:invalid|malformed|corrupt))|\bsummary (?:of|is (?:required|missing))`)
)

// readEverydayThought reads errors that no other reader understands, and that have the name of a field of reasoning in them which is a word as
// well: that part of the history is left out. How much a model thinks is another field, where the request says that.
func readEverydayThought(r reading) (sessions.Lesson, bool) {
	if !r.sent.Reasoning || r.call.Use(Reasoning) == OmitReasoning || thoughtWanted.MatchString(r.text) || required.MatchString(r.text) {
		return sessions.Lesson{}, false
	}
	for _, m := range everydayThought.FindAllStringSubmatch(everydayPhrase.ReplaceAllString(strings.ToLower(r.f.Param)+"\n"+r.text, "_"), -1) {
		isOfThinking := m[1] != "signature" && m[1] != "data"
		switch p, empty := r.sentParam(EmptySignature); {
		case m[1] == "signature" && empty:
			return p.refused(""), true
		case !isOfThinking, !slices.ContainsFunc(r.sent.Params, func(p Param) bool { return p.Value != Unset && (p.isOfThinking() || r.names(p)) }):
			return r.leaveReasoning(), true
		}
	}
	return sessions.Lesson{}, false
}

// isOfThinking reports whether a parameter says how a model thinks, or what it tells of that.
func (p Param) isOfThinking() bool {
	return p.Effort || p.Name != EmptySignature && (strings.HasPrefix(p.Name, "reasoning") || strings.HasPrefix(p.Name, "thinking"))
}
