package lessons

import (
	"errors"
	"strconv"
	"strings"

	"parley/agent/wire"
	"parley/channels/pattern"
	"parley/sessions"
)

var (
	// digits matches numbers, also 8,192 and 8k.
	digits = pattern.New(`\d{1,3}(?:,\d{3})+\b|\d+(?:\.\d+)?k?\b|\d+(?:\.\d+)?`)
	// bounded matches numbers that are said to be a bound.
	bounded = pattern.New(`(?:at most|at least|maximum|max|up to|limit(?:ed)?|less than|less or equal to|lower than|below|under|no more than|greater than|minimum|between|range|within|exceeds?|and|to|<=?|≤|>=?|≥|\[|,|\.\.)[^0-9a-z]{0,6}(?:(?:of|is|are|or equal to|value|allowed|be|the|output|completion|tokens|tools|for|this|model|length|to|limit)[^0-9a-z]{1,4}){0,5}(\d{1,3}(?:,\d{3})+\b|\d+(?:\.\d+)?k?)`)
	// bound matches texts that say where a value must lie.
	bound = pattern.New(`at most|at least|maximum|minimum|up to|less than|less or equal|lower than|greater than|no more than|between|\brange\b|within|<=|>=|≤|≥|exceeds?|取值|范围`)
)

// strictBound matches a number that a value must lie below.
var strictBound = pattern.New(`(?:\b(?:less|lower|smaller) than|\bbelow|(?:^|[^<])<) ?(\d{1,3}(?:,\d{3})+\b|\d+k?\b)`)

// TemperatureWords are other words of errors for the temperature. source: help.aliyun.com/zh/model-studio/error-code (temperature)
var TemperatureWords = []string{"温度", "sampling parameter", "sampling parameters"}

// nearestNumber gives the number of a text that is nearest below a value, or above it where the text asks for more. Numbers that are
// said to be a bound come before others.
func nearestNumber(text string, sent float64) (float64, bool) {
	var bounds []string
	for _, m := range bounded.FindAllStringSubmatch(text, -1) {
		bounds = append(bounds, m[1])
	}
	for _, words := range [][]string{bounds, digits.FindAllString(text, -1)} {
		below, above := -1.0, -1.0
		for _, word := range words {
			n, ok := numberOf(word)
			switch {
			case !ok || n == sent:
			case n < sent && n > below:
				below = n
			case n > sent && (above < 0 || n < above):
				above = n
			}
		}
		if above > 0 && asksForMore.MatchString(text) {
			return above, true
		}
		if below >= 1 {
			return below, true
		}
	}
	return 0, false
}

var asksForMore = pattern.New(`at least|minimum|greater than|>=|≥|too (small|low)`)

// numberOf reads 8192, 8,192, 8k and 0.5.
func numberOf(word string) (float64, bool) {
	word, thousands := strings.CutSuffix(strings.TrimRight(strings.ReplaceAll(word, ",", ""), "."), "k")
	n, err := strconv.ParseFloat(word, 64)
	if thousands {
		n *= 1000
	}
	return n, err == nil
}

// answerLength matches what errors call the length of an answer, besides the names of its parameters.
// source: charmbracelet/crush#946 (Bedrock)
var answerLength = pattern.New(`\bmaximum tokens (?:you )?(?:requested|value)|\brequested output length\b|\bmax(?:imum)?(?: number of)? (?:output|completion|generated|response) (?:tokens|length)\b|\bmax(?:imum)? (?:number of )?tokens to (?:generate|output|produce|return)\b`)

var answerTooLong = pattern.New(`max_(completion_|output_|new_)?tokens\b.{0,80}too (large|high|big)|too (large|high|big).{0,40}max_(completion_|output_|new_)?tokens`)

// minMaxText is the smallest length of a message that is believed, in characters: the header line of a message takes as much.
const minMaxText = 200

// readTextSize reads errors about the length of the text of one message: texts are cut to the length that is named, or to half of the longest.
func readTextSize(r reading) (sessions.Lesson, bool) {
	most, ok := r.f.MessageTooLong()
	if !ok {
		return sessions.Lesson{}, false
	}
	longest := 0
	for _, m := range r.sent.Messages {
		longest = max(longest, len(m.Text()))
	}
	if most == 0 {
		if most = longest / 2; r.call.MaxText() > 0 {
			most = r.call.MaxText() / 2
		}
	}
	return sessions.Lesson{Kind: MaxText, Use: strconv.Itoa(most)}, most >= minMaxText && most < longest+maxHeader
}

// maxHeader is about how many characters the lines have that stand in front of a message.
const maxHeader = 1000

// readLimit reads errors about an answer that was asked for longer than the window has room for, where it does not say how long it may be: the endpoint's own limit is the right one.
func readLimit(r reading) (sessions.Lesson, bool) {
	if !answerTooLong.MatchString(r.text) {
		return sessions.Lesson{}, false
	}
	for _, p := range r.sent.Params {
		for _, name := range limits {
			if p.Name == name && p.Value != Unset {
				return sessions.Lesson{Kind: Parameter, Name: p.Name, Value: p.Value}, true
			}
		}
	}
	return sessions.Lesson{}, false
}

var (
	// ofPrompt matches errors whose tokens may be those of a prompt, or of a minute.
	ofPrompt = pattern.New(`prompt|[ck]ontext|input|window|message|histor|minute|\btpm\b|daily|per day|quota|remaining|上下文|输入`)
	// tokenCount matches a number of tokens.
	tokenCount = pattern.New(`\dk? ?(?:个 ?)?(?:[a-z]+ )?tokens?\b`)
)

// minAnswerTokens is the shortest answer that is believed to be a limit, in tokens.
// source: platform.openai.com/docs/api-reference/responses/create (max_output_tokens)
const minAnswerTokens = 16

// readUnnamedLength reads errors that say how many tokens are taken, in any words and any language, and do not name the parameter: only an answer was
// asked for in tokens.
func readUnnamedLength(r reading) (sessions.Lesson, bool) {
	if !strings.Contains(r.text, "token") || ofPrompt.MatchString(r.text) || !bounded.MatchString(r.text) && !tokenCount.MatchString(r.text) {
		return sessions.Lesson{}, false
	}
	for _, name := range limits {
		if p, ok := r.sentParam(name); ok {
			use := r.nearest(p)
			most, isNumber := numberOf(use)
			return sessions.Lesson{Kind: Parameter, Name: p.Name, Value: p.Value, Use: use}, isNumber && most >= minAnswerTokens
		}
	}
	return sessions.Lesson{}, false
}

var tooManyBytes = pattern.New(`maximum (?:allowed )?size|entity too large|payload too large|body (?:is )?too large|request_too_large|\bbytes\b|\b(?:mb|mib|megabytes)\b`)

// readBytes reads errors about a request of too many bytes: the largest picture is left out. source: earendil-works/pi#401
func readBytes(r reading) (sessions.Lesson, bool) {
	if !tooManyBytes.MatchString(r.text) || strings.Contains(r.text, "token") {
		return sessions.Lesson{}, false
	}
	name, size := "", 0
	for _, data := range r.sent.Pictures {
		if h := Hash(data); len(data) > size && !r.call.Off(Images, h) {
			name, size = h, len(data)
		}
	}
	return sessions.Lesson{Kind: Images, Name: name}, name != ""
}

// WantsResponses reports whether an error of a model call says that the model is served by the Responses API instead of chat
// completions.
func WantsResponses(err error) bool {
	f, ok := errors.AsType[*wire.Fault](err)
	return ok && f.WantsResponses()
}

// readEffort reads errors of endpoints that take tools without thinking only.
func readEffort(r reading) (sessions.Lesson, bool) {
	for _, p := range r.sent.Params {
		isAdvised := p.Value == "none" && r.call.changed.hasChangedTo(p.Name, p.Value) // and refused as well
		if !p.Effort || p.Value == "none" && !isAdvised || p.Fixed || !r.names(p) || len(r.sent.Tools) == 0 {
			continue
		}
		if isAdvised {
			return p.refused(""), true
		}
		if p.Value != Unset { // its own default may be none
			return sessions.Lesson{Kind: Parameter, Name: p.Name, Value: p.Value}, true
		}
		return sessions.Lesson{Kind: Parameter, Name: p.Name, Value: Unset, Use: "none"}, true
	}
	return sessions.Lesson{}, false
}

// uncounted matches errors about the number of tools that do not say how many are taken. source: anomalyco/opencode#43374
var uncounted = pattern.New(`tool[_ ]count|(?:too many|number of) (?:tools|functions)|tools?[ _]limit`)

var (
	// noneAtAll matches a list that must have nothing in it.
	// source: docs.pydantic.dev/latest/errors/validation_errors (too_long), ajv.js.org/json-schema.html (maxItems)
	noneAtAll = pattern.New(`\b(?:at most|more than|up to|no more than|maximum(?: of)?|limit(?: of)?) 0\b|\b(?:tools|functions)\b[^a-z]{1,4}(?:(?:value|list|array) )?must be (?:an )?empty\b`)
	toolList  = pattern.New(`(?:^|[^a-z_])(?:tools|functions)(?:$|[^a-z_\[./])`)
)

// readUncountedTools halves the number of tools until the endpoint takes them; a list of none at all is left out.
func readUncountedTools(r reading) (sessions.Lesson, bool) {
	n := len(r.sent.Tools)
	if text := strings.ToLower(r.f.Param) + "\n" + r.text; n > 0 && noneAtAll.MatchString(text) && toolList.MatchString(text) && !toolIndex.MatchString(text) && !r.isInHistory() {
		return sessions.Lesson{Kind: Tools}, true
	}
	if n < 2 || !uncounted.MatchString(r.text) {
		return sessions.Lesson{}, false
	}
	if l, ok := readManyTools(r); ok {
		return l, true
	}
	return sessions.Lesson{Kind: MaxTools, Use: strconv.Itoa(n / 2)}, true
}

var (
	manyTools = pattern.New(`(?:less than or equal to|不能超过|最多|maximum|at most|up to|limit|more than|exceed|too many|too long)`)
	toolNoun  = pattern.New(`tools|工具|functions|function[_ ]?declarations`) // source: cloud.google.com/vertex-ai/generative-ai/docs/multimodal/function-calling
)

// readManyTools reads errors about the number of tools.
func readManyTools(r reading) (sessions.Lesson, bool) {
	n := len(r.sent.Tools)
	if n < 2 || !toolNoun.MatchString(r.text) || !manyTools.MatchString(r.text) || r.has("tokens", "name", "description") {
		return sessions.Lesson{}, false
	}
	if most, ok := nearestNumber(r.text, float64(n)); ok && most >= 1 && most < float64(n) {
		return sessions.Lesson{Kind: MaxTools, Use: strconv.Itoa(int(most))}, true
	}
	return sessions.Lesson{}, false
}

// toolTokens matches how many tokens of a prompt that is too long are its messages, and how many its tools.
// source: platform.openai.com/docs/guides/error-codes (context_length_exceeded)
var toolTokens = pattern.New(`(\d+) in the messages, (\d+) in the (?:functions|tools)`)

// readLongTools reads errors about a prompt that is too long mostly because of its tools. As many tools are sent as there is room for.
func readLongTools(r reading) (sessions.Lesson, bool) {
	n, window, sizes := len(r.sent.Tools), firstNumber(windowSize, r.text), numbersOf(toolTokens, r.text)
	if n < 2 || sizes == nil || sizes[1] <= sizes[0] || sizes[0] > window/4 {
		return sessions.Lesson{}, false
	}
	room := (window - sizes[0]) * 3 / 4 // the answer needs some as well
	return sessions.Lesson{Kind: MaxTools, Use: strconv.Itoa(max(1, min(n-1, n*room/sizes[1])))}, true
}
