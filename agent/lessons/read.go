package lessons

import (
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"parley/agent"
	"parley/agent/wire"
	"parley/channels/pattern"
	"parley/sessions"
)

// read finds out what of a request an endpoint refused, and what to send instead. The readers are asked in this order: what is said
// most exactly comes first.
func read(f *wire.Fault, class agent.ErrorClass, sent Sent, c *Call) (sessions.Lesson, bool) {
	r := reading{f: f, text: reasons(f.All), sent: sent, call: c}
	if f.WantsResponses() { // only what keeps the tools: without them the agent could do nothing any more
		if l, ok := readAsked(r); ok {
			return l, true
		}
		return readEffort(r)
	}
	if l, ok := readTextSize(r); ok {
		return l, true
	}
	if class == agent.TooLong {
		if l, ok := readToolsSize(r); ok {
			return l, true
		}
		if l, ok := readBytes(r); ok {
			return l, true
		}
		if l, ok := readPicture(r); ok && ofPixels.MatchString(r.text) {
			return l, true
		}
		if l, ok := readLongTools(r); ok {
			return l, true
		}
		if l, ok := readLimit(r); ok || f.Status != http.StatusRequestEntityTooLarge || !denied.MatchString(r.text) {
			return l, ok
		}
		return readPictures(r)
	}
	for _, reader := range []func(reading) (sessions.Lesson, bool){
		readCallsForm, readReturned, readThoughtName, readSchemaForm, readKeyword, readUserOnly,
		readContentForm, readItemField, readResultName, readRoleNames, readConflict, readOfMessages, readAsked, readUnlisted, readMustThink, readMissing, readRenamed, readParent, readToolTexts, readToolsSize, readToolName, readUncountedTools, readNamed, readSchema, readStream, readItems, readReasoning, readTogether, readEither, readCallIDs, readRoles, readManyPictures, readPicture,
		readManyTools, readParam, readValue, readOwnSettings, readPictures, readItemForms, readHistory, readToolAt, readWrongTools, readTools, readSystem, readContent, readToolByName, readEverydayThought, readEverydayKeyword, readUnnamedLength,
	} {
		if l, ok := reader(r); ok {
			return l, true
		}
	}
	return sessions.Lesson{}, false
}

// knownFields matches the list of all fields that a server knows, behind the one that it does not know. source: BerriAI/litellm#13959
var knownFields = pattern.New("(unknown field [^\n,]{1,130}), (?:expected (?:one of )?|there are no fields)[^\n]*")

// templateCode matches what errors of chat templates quote of the template, behind the place in it. What the template itself says of the request is
// its group.
// source: QwenLM/qwen-code#48, ggml-org/llama.cpp#17040
var templateCode = pattern.New(`(?s)\bat row \d+, column \d+(?::\s*\{[{%]-?\s*raise_exception\(['"]([^'"\n]*))?.*|\{%.*`)

// noEvidence matches what errors say besides what is wrong: a name that is like the refused one, a name to use instead, tools to leave out, and
// LiteLLM's settings.
// source: console.groq.com/docs/errors, docs.litellm.ai/docs/exception_mapping, openrouter.ai/docs/guides/routing/provider-selection
var noEvidence = pattern.New(`,? *\bdid you mean [^\n]*|\buse [\x60'"]?max_[a-z_]*tokens[\x60'"]? instead|\btry disabling [^.\n]*|\breceived model group=\S*|\bavailable model group fallbacks=\S*`)

// reasons gives what an error says without what is no evidence in it.
func reasons(text string) string {
	return templateCode.ReplaceAllString(noEvidence.ReplaceAllString(knownFields.ReplaceAllString(text, "$1"), ""), "$1")
}

// reading is one refusal being read. text is everything that the provider said, in lower case.
type reading struct {
	f    *wire.Fault
	text string
	sent Sent
	call *Call
}

// no matches the words by which something is refused.
var no = pattern.New(`not? (be )?(support|permit|allow|accept|recogni[sz]|enabled|available|valid|expect|implement|exist|include|compatible|set|use)|un(support|known|recogni[sz]|expected|able)|does ?n[o']t|do not|don't|can ?not|can't|isn't|invalid|extra (input|field|param)|forbidden|disabled|deprecated|removed|no longer|requires?|must|only|no endpoints|incompatible|ignored|without|unavailable|illegal|\bnot (?:been )?(?:train|design|built|intend|capable|equipped|suit|meant|made)|not an? (?:feature|capability)|no such|refus|reject|not found|not loaded|not configured|not included|\bno (?:[a-z-]+ ){1,3}(?:available|loaded|installed|configured|enabled|support|abilit(?:y|ies)|capabilit(?:y|ies))\b|\bno (?:[a-z-]+ ){1,3}supports?\b|lacks|非法|不支持|无效|不允许|不可用|未启用|无法|` + // Chinese
	`nicht|\bkeine?n?\b|` + // German
	`ne (?:prend|support|permet|g[eè]re)|\bpas\b|non (?:support|pris|autoris)|` + // French
	`\bno (?:es|son|est[aá]n?|soporta|admite|permite|acepta|tiene|se (?:soporta|admite|permite|acepta))|\bno compatible|` + // Spanish
	`\bnon (?:è|é|e'|sono|accett|consent|ammett|ammess|dispon|gesti|permett|preved)|` + // Italian
	`\bn[aã]o (?:é|e|são|est[aá]|suporta|aceita|permite|oferece|dispon|possui|h[aá])|` + // Portuguese
	`не (?:поддерж|разреш|доступ|примен)|недоступ|` + // Russian
	`サポートされて|サポートして(?:い)?ま?せ?ん|対応していま?せ?ん|対応していない|未対応|使用できません|利用できません|` + // Japanese
	`지원(?:하지|되지)|허용(?:하지|되지)|사용할 수 없`)

// has reports whether one of the words is in the text.
func (r reading) has(words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(r.text, w) })
}

func (r reading) refuses() bool { return no.MatchString(r.text) || r.f.Param != "" }

// names reports whether the error speaks of a parameter, by one of its names, as a word.
func (r reading) names(p Param) bool {
	if slices.Contains(limits, p.Name) && answerLength.MatchString(r.text) {
		return true
	}
	if p.isEveryday() {
		return r.namesField(strings.ToLower(p.Name))
	}
	if nested := strings.ToLower(p.Name); strings.Contains(nested, ".") && (word(r.text, strings.ReplaceAll(nested, ".", "/")) || word(r.text, strings.ReplaceAll(nested, ".", "\n"))) {
		return true
	}
	for _, name := range append([]string{p.Name}, p.Words...) {
		if strings.EqualFold(r.f.Param, name) || word(r.text, strings.ToLower(name)) {
			return true
		}
		if short, plain := strings.ToLower(name), strings.ReplaceAll(strings.ToLower(name), "_", ""); short != plain && (word(r.text, plain) || word(spelled(r.text, short), short)) {
			return true // reasoningEffort, stream options, Stream-Options
		}
	}
	return false
}

// word reports whether a text has a name in it that is not a part of a longer one.
func word(text, name string) bool {
	for from := 0; name != ""; {
		i := strings.Index(text[from:], name)
		if i < 0 {
			return false
		}
		i += from
		end := i + len(name)
		if (i == 0 || !nameByte(text[i-1])) && (end == len(text) || !nameByte(text[end])) {
			return true
		}
		from = i + 1
	}
	return false
}

func nameByte(b byte) bool {
	return b == '_' || '0' <= b && b <= '9' || 'a' <= b && b <= 'z'
}

var (
	setTo   = pattern.New("set(?:ting)? [`'\"]?([a-z_.]+)[`'\"]? to [`'\"]?([a-z]+)|(?:\\bparameter\\.)?\\b([a-z_]+) must be set to [`'\"]?([a-z]+)")
	instead = pattern.New("use [`'\"]?([a-z_]+)[`'\"]? instead|(?:replaced by|renamed to|in favou?r of|did you mean) [`'\"]?([a-z_]+)")
)

// readAsked reads errors that say which value a parameter is to have: set reasoning_effort to 'none'.
func readAsked(r reading) (sessions.Lesson, bool) {
	for _, m := range setTo.FindAllStringSubmatch(r.text, -1) {
		for _, p := range r.sent.Params {
			name, value := m[1]+m[3], m[2]+m[4]
			if (strings.EqualFold(p.Name, name) || slices.Contains(p.Words, name)) && !r.call.refused(p, value) && slices.Contains(append(slices.Clone(p.Next), efforts...), value) {
				return sessions.Lesson{Kind: Parameter, Name: p.Name, Value: p.Value, Use: value}, true
			}
		}
	}
	return sessions.Lesson{}, false
}

// required is in errors about a field that is not there.
var required = pattern.New(`\bmissing\b|\bfield required\b|\b(?:is|are) required\b|\bmust be (?:set|provided|specified|(?:an? )?bool(?:ean)?|true|false)\b|\breceived undefined\b|\bplease (?:specify|provide|supply|set|pass)\b`)

// readMissing reads errors about a parameter that must be sent: with the value that the error names, or the first of its other values.
// source: docs.pydantic.dev/latest/errors/validation_errors (missing), platform.openai.com/docs/guides/error-codes (missing_required_parameter)
func readMissing(r reading) (sessions.Lesson, bool) {
	if !required.MatchString(r.text) {
		return sessions.Lesson{}, false
	}
	for _, p := range r.sent.Params {
		if p.Value == Unset && len(p.Next) > 0 && !p.Effort && !p.Fixed && (r.names(p) || strings.HasSuffix(strings.ToLower(r.f.Param), "."+p.Name)) && !r.call.refused(p, p.Next[0]) {
			use := p.Next[0]
			if i := slices.IndexFunc(p.Next, func(v string) bool { return word(r.text, v) }); i > 0 && !word(r.text, use) {
				use = p.Next[i]
			}
			return sessions.Lesson{Kind: Parameter, Name: p.Name, Value: Unset, Use: use}, true
		}
	}
	return sessions.Lesson{}, false
}

// mustThink is in errors of endpoints that answer only when they are told to think.
// source: ai.google.dev/gemini-api/docs/thinking (only works in thinking mode), platform.openai.com/docs/guides/error-codes (missing_required_parameter)
var mustThink = pattern.New(`\b(?:reasoning_effort|reasoning\.effort|reasoning|thinking)[\x60'"]?(?: parameter| field)?:? (?:is required|is missing|field required|must be (?:provided|set|specified|enabled))|missing (?:required )?(?:parameter|field)s?:? [\x60'"]?(?:reasoning_effort|reasoning\.effort|reasoning|thinking)\b|` +
	`\bonly (?:works?|answers|runs|available|supported) (?:with|in) (?:thinking|reasoning)\b|\b(?:thinking|reasoning)(?: mode)? (?:must be|has to be|needs to be) (?:enabled|on)\b|\brequires (?:thinking|reasoning)(?: mode)? to be (?:enabled|on)\b`)

// readMustThink reads errors of endpoints that want to be told how much to think, by a request that does not: as little as it takes.
func readMustThink(r reading) (sessions.Lesson, bool) {
	if !mustThink.MatchString(r.text) || historyPlace.MatchString(strings.ToLower(r.f.Param)+"\n"+r.text) {
		return sessions.Lesson{}, false
	}
	for _, p := range r.sent.Params {
		if !p.Effort || p.Value != Unset {
			continue
		}
		use := "low"
		if len(p.Next) > 0 && !slices.Contains(p.Next, use) {
			use = p.Next[0]
		}
		return sessions.Lesson{Kind: Parameter, Name: p.Name, Value: Unset, Use: use}, !r.call.refused(p, use)
	}
	return sessions.Lesson{}, false
}

// limits are the names that the length of an answer goes by.
var limits = []string{"max_tokens", "max_completion_tokens", "max_output_tokens"}

// readRenamed reads errors that name another parameter in the place of one that was sent.
func readRenamed(r reading) (sessions.Lesson, bool) {
	for _, p := range r.sent.Params {
		if p.Value == Unset || !slices.Contains(limits, p.Name) || !r.names(p) {
			continue
		}
		for _, m := range instead.FindAllStringSubmatch(r.f.All, -1) {
			if other := m[1] + m[2]; other != p.Name && slices.Contains(limits, other) {
				return sessions.Lesson{Kind: Rename, Name: "max_tokens", Use: other}, true
			}
		}
	}
	return sessions.Lesson{}, false
}

var (
	schemaWords = pattern.New(`schema|/parameters/|\bminitems\b|\bmaxitems\b|\bminlength\b|\bmaxlength\b|\buniqueitems\b|\bmultipleof\b|[\x60'"](?:minimum|maximum|examples)[\x60'"]|\b(?:minimum|maximum): |object fields require|\.parameters|parameters\.[a-z]|additionalproperties|exclusiveminimum|exclusivemaximum|propertynames|\$ref|\$defs|anyof|oneof|allof|patternproperties|unevaluated|\bgrammar\b`)
	// emptyObject is in errors about objects without properties. source: aj47/SpeakMCP#352 (Cerebras)
	emptyObject = pattern.New(`object fields require|non-empty for object type`)
	// ofSchemas is in errors about schemas that may be those of a single tool.
	ofSchemas = pattern.New(`schema|grammar|\b(?:parameters|object)\b.{0,40}\bproperties\b|'properties' or 'anyof'`)
	quoted    = pattern.New("[`'\"“‘]([A-Za-z0-9_.-]{1,128})[`'\"”’]")
)

// readSchema reads errors about the schema of a tool: all are made plain first, then the tool that is named is left out, or half of the tools
// where none is named; find_tool finds those.
// source: docs.vllm.ai/en/latest/features/structured_outputs.html (xgrammar), ai.google.dev/gemini-api/docs/structured-output (too many states)
func readSchema(r reading) (sessions.Lesson, bool) {
	declared := r.has("function_declarations", "functiondeclaration") && !manyTools.MatchString(r.text)
	if len(r.sent.Tools) == 0 || !declared && !schemaWords.MatchString(r.text) && !schemaPath.MatchString(strings.ToLower(r.f.Param)) || r.has("response_format", "json_schema is", "reasoning_content") || r.isInHistory() {
		return sessions.Lesson{}, false
	}
	if (r.sent.Loose || emptyObject.MatchString(r.text)) && !r.call.Off(Schema, "") {
		return sessions.Lesson{Kind: Schema}, true
	}
	if name := r.namedTool(); name != "" {
		l := r.without(name)
		if l.Kind == Tools && !r.call.Off(Schema, allRequired) { // the strictest form, before all tools go
			l = sessions.Lesson{Kind: Schema, Name: allRequired}
		}
		return l, true
	}
	if n := len(r.sent.Tools); n > 1 && !r.sent.Loose && ofSchemas.MatchString(strings.ToLower(r.f.Param)+"\n"+r.text) {
		return sessions.Lesson{Kind: MaxTools, Use: strconv.Itoa(n / 2)}, true
	}
	return sessions.Lesson{}, false
}

var (
	reasoningWord = pattern.New(`reasoning_content|reasoning_details|reasoning_text|thought_signature|thoughtsignature|thinking(_blocks?| block| mode)|thinking[\x60'"] blocks|expected [\x60'"](?:redacted_)?thinking[\x60'"]|\]\.thinking|encrypted_content|signature|reasoning (content|item)|\bresponsereasoningitem\b|(its|include|missing|without)( the)? reasoning\b`)
	foundToolUse  = pattern.New("expected [`'\"](?:redacted_)?thinking[`'\"][^\n]*\\bfound [`'\"]?tool_use")
	wantsBack     = pattern.New(`passed back|pass(ing)? back|send back|sent back|missing|is required|reasoning_content\b[^\n]{0,20}(?:field required|must contain)|must include|must be (provided|included|passed|present|followed|preceded)|must (start|begin) with|expected|without its required|必须(?:包含|提供|传|带)|缺少`)
	// passedBack is in errors that want reasoning in the history, whatever else it has. source: leookun/cursor-byok#276 (DeepSeek)
	passedBack    = pattern.New(`\b(?:pass(?:ed|ing)?|sen[dt]) back\b|(?:missing|required)[^\n]{0,60}\bassistant message`)
	signatureWord = pattern.New(`thought[_ ]?signature`)
	wantsNot      = pattern.New(`unknown|unrecogni[sz]ed|not (be )?(permitted|allowed|supported|included|accepted)|unsupported|extra|unexpected|invalid signature|invalid .{0,40}signature|signature .{0,40}(invalid|not valid|mismatch|cannot|failed)|could not be (verified|decrypted|decoded|parsed)|cannot be modified|not found|remove|not match any|\bresponsereasoningitem has no\b`)
)

// readReasoning reads errors about the reasoning of earlier steps.
func readReasoning(r reading) (sessions.Lesson, bool) {
	if !reasoningWord.MatchString(r.text) {
		return sessions.Lesson{}, false
	}
	if !r.sent.Steps && !r.sent.Reasoning { // texts alone
		wants := passedBack.MatchString(r.text) && slices.Contains(r.sent.Roles, "assistant") && r.call.Use(Reasoning) == ""
		return sessions.Lesson{Kind: Reasoning, Use: SayReasoning}, wants
	}
	back, not := wantsBack.MatchString(r.text), wantsNot.MatchString(r.text)
	was := r.call.Use(Reasoning)
	switch {
	case foundToolUse.MatchString(r.text) && !r.call.changed.hasChanged(History): // of a step that another model made: only what is older is told as text
		return sessions.Lesson{Kind: History, Use: r.call.book.conf.Now().UTC().Format(time.RFC3339Nano)}, true
	case not && !back && r.sent.Reasoning && signatureWord.MatchString(r.text) && was != PlaceholderSignatures && was != OmitReasoning:
		return sessions.Lesson{Kind: Reasoning, Use: PlaceholderSignatures}, true
	case not && r.sent.Reasoning && was != OmitReasoning && (!back || was == SendReasoning || was == SayReasoning) && reasoningWord.MatchString(strings.ReplaceAll(r.text, "thinking mode", "")):
		return r.leaveReasoning(), true
	case back && signatureWord.MatchString(r.text) && was != SendSignatures:
		return sessions.Lesson{Kind: Reasoning, Use: SendSignatures}, true
	case back && was != SendReasoning && was != SayReasoning && !signatureWord.MatchString(r.text):
		return sessions.Lesson{Kind: Reasoning, Use: SendReasoning}, true
	case back && was == SendReasoning && !signatureWord.MatchString(r.text): // the placeholder is taken for none, or another message lacks it
		return sessions.Lesson{Kind: Reasoning, Use: SayReasoning}, true
	case back && was == SayReasoning && r.sent.Reasoning && r.call.changed.hasChanged(Reasoning) && !signatureWord.MatchString(r.text): // what it lacks is in what was sent
		return r.leaveReasoning(), true
	}
	return sessions.Lesson{}, false
}

// efforts are the words for how much to think, lowest first.
var efforts = agent.Efforts

// readParam reads errors about a parameter or its value.
func readParam(r reading) (sessions.Lesson, bool) {
	for _, p := range r.sent.Params {
		if p.Value == Unset || p.Effort && itemGone.MatchString(r.text) || !r.names(p) || !r.refuses() && r.f.Status != 400 && r.f.Status != 422 {
			continue
		}
		return p.refused(r.nearest(p)), true
	}
	return readSibling(r)
}

var (
	lists = pattern.New(`(?:supported|valid|allowed|accepted|possible|available|permitted) (?:values?|options?|levels?|efforts?|choices)|(?:must|should|has to|can only|can|may) be|one of|expected|choose|support(?:s|ed)? only|only supports?|only accepts?|only`)
)

// nearest gives the value that an error offers in the place of a refused one; "" = none, the parameter is left out. In the place of no
// thinking only the lowest efforts are sent: with more the model might think more than when it is told nothing.
func (r reading) nearest(p Param) string {
	use := r.offered(p)
	if p.Effort && p.Value == "none" && slices.Index(efforts, use) > slices.Index(efforts, "low") {
		return ""
	}
	return use
}

func (r reading) offered(p Param) string {
	if sent, err := strconv.ParseFloat(p.Value, 64); err == nil {
		// Of the sentences only: the ids of requests have numbers in them.
		if n, ok := nearestNumber(strings.ToLower(r.f.Text), sent); ok && (slices.Contains(limits, p.Name) || bound.MatchString(r.text)) {
			for _, m := range strictBound.FindAllStringSubmatch(r.text, -1) {
				if most, isNumber := numberOf(m[1]); isNumber && most == n && n < sent && n > 1 && strings.Count(r.text, m[1]) == 1 && slices.Contains(limits, p.Name) {
					n--
				}
			}
			return strconv.FormatFloat(n, 'f', -1, 64)
		}
		return ""
	}
	if otherModels.MatchString(r.text) || fieldExtra.MatchString(r.text) && !refusedWord(r.text, p.Value) {
		return ""
	}
	if listed, isList := r.listed(p); isList {
		if best := Nearest(p.Value, listed); best != "" || slices.Contains(efforts, p.Value) {
			return best
		}
		if i := slices.IndexFunc(p.Next, func(next string) bool { return slices.Contains(listed, next) }); i >= 0 {
			return p.Next[i]
		}
		return ""
	}
	next := slices.DeleteFunc(slices.Clone(p.Next), func(v string) bool { return r.call.refused(p, v) })
	named := slices.DeleteFunc(slices.Clone(p.Named), func(v string) bool { return r.call.refused(p, v) })
	for _, v := range append(named, next...) {
		if word(r.text, v) && !refusedWord(r.text, v) {
			return v
		}
	}
	if len(next) > 0 && word(r.text, strings.ToLower(p.Value)) {
		return next[0]
	}
	return ""
}

// refusedWord reports whether a word is the one that an error refuses: 'x' is not supported.
func refusedWord(text, name string) bool {
	i := strings.Index(text, name)
	if i < 0 {
		return false
	}
	rest, _, _ := strings.Cut(text[i+len(name):], "\n")
	return no.MatchString(rest[:min(len(rest), 24)])
}

var (
	// fieldExtra matches errors about a field that is not known, although they repeat its value.
	// source: docs.pydantic.dev/latest/errors/validation_errors (extra_forbidden)
	fieldExtra = pattern.New(`extra_forbidden|extra inputs? (?:is|are) not`)
	// otherModels matches errors about a field of other models. source: www.volcengine.com/docs/82379/1299023
	otherModels = pattern.New(`only support(?:s|ed)? (?:for|by|on|with) (?:certain|some|specific|other) models`)
)

// listed gives the values that an error lists as possible ones and that are not refused themselves. isList is false where it lists none.
func (r reading) listed(p Param) (out []string, isList bool) {
	where := lists.FindStringIndex(r.text)
	if where == nil {
		return nil, false
	}
	rest := r.text[where[1]:]
	for _, e := range append(slices.Clone(efforts), p.Next...) {
		if !word(rest, e) || slices.Contains(out, e) {
			continue
		}
		if isList = isList || e != p.Value || r.call.changed.hasChangedTo(p.Name, e); !r.call.refused(p, e) {
			out = append(out, e)
		}
	}
	return out, isList
}

// Nearest gives the level of a list that is nearest to another one: thinking stays thinking where it can, and the lower one of two is
// taken. An empty list gives "".
func Nearest(level string, listed []string) string {
	at := slices.Index(efforts, level)
	if slices.Contains(listed, level) || at < 0 {
		if slices.Contains(listed, level) {
			return level
		}
		return ""
	}
	best, far := "", math.MaxInt
	for _, l := range listed {
		i := slices.Index(efforts, l)
		if i < 0 {
			continue
		}
		d := 2 * max(i-at, at-i)
		if i > at {
			d++
		}
		if (l == "none") != (level == "none") {
			d += 100 // off is not a little thinking
		}
		if d < far {
			best, far = l, d
		}
	}
	return best
}
