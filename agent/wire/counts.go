package wire

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"parley/agent/wire/pattern"
)

// Errors about how many messages, or how large tools, a request has.
var (
	// messagesBound matches a bound of the number of messages, and messagesExceed that there are too many of them.
	// source: openai-php/client#269 (ensure this value has at most 32 items), LAION-AI/Open-Assistant#2774, mongodb/chatbot#869
	messagesBound = pattern.New(`\b(?:at most|max(?:imum)?(?: of)?|up to|no more than|only|limit(?:ed)?(?: of| to| is)?|more than|exceed\w*(?: the)?(?: limit| maximum)?(?: of)?|<=?|≤)[ :=]{1,2}\d{1,5} (?:[a-z]+ )?(?:messages|turns)\b|` +
		`\bmax(?:imum)?[_ ](?:number of |allowed )?(?:[a-z]+ )?messages\b|\bmessages?[_ ](?:count|limit)[_ ](?:\w+[_ ]){0,3}(?:exceed\w*|reached|too)\b|\b(?:number|count|amount) of (?:[a-z]+ )?messages\b|\btoo many (?:[a-z]+ )?(?:messages|turns)\b|` +
		`\bexceeds?(?: the)?(?: max\w*| allowed)?(?: number of)? messages\b|消息(?:条数|数量|数)[^\n]{0,12}(?:超|过多|上限|最多|不能)`)
	// itemsBound matches a bound of the items of a list.
	itemsBound = pattern.New(`\bat most \d{1,5} (?:items?|elements?|entries)|\barray too long\b|\bmax(?:imum)?(?: number of)? (?:items|elements|length)\b|\blist_?\W?too_?long\b|<=? ?\d{1,5} items|\] is too long\b|\btoo many (?:items|elements)\b`)
	// listOfMessages matches the name of the list of messages, where nothing of one message is named.
	listOfMessages = pattern.New(`(?:^|[\s'"\x60.])(?:messages|contents|input)(?:['"\x60:\s)]|$)`)
	messagesPlace  = pattern.New(`(?:^|\.)(?:messages|contents|input)$`)
	// otherUnit is in sentences about the length of messages, not about their number.
	otherUnit = pattern.New(`\btokens?\b|\bcharacters?\b|\bchars\b|\bbytes\b|\b[km]i?b\b|\bper[ -](?:second|minute|hour|day|month)\b|字符|令牌`)
	someCount = pattern.New(`\b(\d{1,5})\b`)

	// toolsSize matches a size of all tools together, beside a bound of it. source: dwgx/WindsurfAPI#70 (Tool definitions are too large)
	toolsSize = pattern.New(`\b(?:tools?|functions?|function_?declarations)(?:['’]s)?(?: ['"\x60][\w.-]{1,128})?['"\x60]?(?:[ _-](?:definitions?|declarations?|schemas?|specs?|specifications?|parameters|descriptions|list|payload|object|json|config(?:uration)?))*['"\x60]?[^.\n\w]{1,3}(?:(?:total|combined|overall|serialized|sizes?|length|is|are|of|in|has|have|a|uses?|takes?|the|(?:about )?\d[\d,.]*[km]?i?b?|bytes|characters|chars|tokens)[^.\n\w]{1,3}){0,8}(?:exceed\w*|too (?:large|big|long)|over|larger|above|beyond|(?:must|can|may|should)(?: ?not)? (?:be|exceed)|limit)|` +
		`\b(?:sizes?|length|bytes|characters|tokens|weight)\b[^.\n]{0,24}\b(?:of|for|in|by)\b[^.\n]{0,16}\b(?:tools|functions|tool (?:definitions?|declarations?|schemas?|specs?)|function (?:definitions?|declarations?|schemas?))\b[^.\n]{0,40}(?:exceed|too (?:large|big|long)|over|larger|above|beyond|limit|max|must)|` +
		`\b(?:max\w*|limit\w*|allowed|exceed\w*)\b[^.\n]{0,30}\btools?[ _-](?:(?:definitions?|schemas?|declarations?)[ _-])?(?:size|bytes|tokens|payload|budget)\b|\btools?_(?:schema_|definition_)?(?:size_|payload_|too_large|too_big)|工具(?:定义)?[^\n]{0,8}(?:过大|太大|超过[^\n]{0,6}大小)`)
	// sizeUnit is in errors about a size, and manyWord in ones about a number.
	sizeUnit = pattern.New(`\bsizes?\b|\bbytes?\b|\d ?[km]i?b\b|\bcharacters?\b|\bchars\b|\btokens?\b|\b(?:large|big|long)\b|\bpayload\b|_size|too_large|大`)
	manyWord = pattern.New(`\b(?:number|count) of (?:tools|functions)\b|\btoo many (?:tools|functions)\b|\barray too long\b|\bmessages?\b|\btool[ _](?:results?|outputs?|responses?|calls?)\b|\bdescription\b|\bcontext\b|\bname\b`)
)

// TooManyMessages reports whether an error is about the number of messages, and returns how many the endpoint takes; 0 = it does not say.
func (f *Fault) TooManyMessages() (most int, isCount bool) {
	if f.Status == http.StatusTooManyRequests || f.has(rateCodes) {
		return 0, false
	}
	place := strings.ToLower(f.Param)
	var counts []int
	for line := range strings.SplitSeq(f.All, "\n") {
		named := messagesBound.MatchString(line)
		ofList := itemsBound.MatchString(line) && (messagesPlace.MatchString(place) || listOfMessages.MatchString(line))
		if !named && !ofList || otherUnit.MatchString(line) {
			continue
		}
		isCount = true
		for _, m := range someCount.FindAllStringSubmatch(line, -1) {
			if n, err := strconv.Atoi(m[1]); err == nil && n > 0 {
				counts = append(counts, n)
			}
		}
	}
	if len(counts) > 0 {
		most = slices.Min(counts)
	}
	return most, isCount
}

// sentences splits what was said, in lower case.
func (f *Fault) sentences() []string {
	return strings.Split(strings.ReplaceAll(f.All, ". ", "\n"), "\n")
}

// ToolsTooLarge reports whether an error is about the size of all tools together, not about their number or about one of them.
func (f *Fault) ToolsTooLarge() bool {
	return slices.ContainsFunc(f.sentences(), func(line string) bool {
		return toolsSize.MatchString(line) && sizeUnit.MatchString(line) && !manyWord.MatchString(line)
	})
}

var (
	// aloneNumber matches a number that is no part of a name. The words behind and before it say what it counts.
	aloneNumber = pattern.New(`\b(?:\d{1,3}(?:,\d{3})+|\d+(?:\.\d+)?)`)
	unitBehind  = pattern.New(`^[ -]?(?:([km])(?:i?b|ilobytes?|egabytes?)?\b)?(?:[ -]?(b|bytes?|characters?|chars|tokens?)\b|[ -]?(字节|字符|令牌))?`)
	countBehind = pattern.New(`^ (?:(?:tool|function|mcp|different|given|defined|custom) )?(?:tools?|functions?|definitions?|declarations?|schemas?|parameters?|properties|messages?)\b|^ ?[个次]`)
	limitBefore = pattern.New(`(?:\b(?:exceed\w*|limit\w*|sizes?|length|budget|max(?:imum)?|over|above|beyond|larger than|bigger than|more than|allowed|allows|up to|at most|than)\b[^\w\n]{1,3}(?:(?:of|is|was|are|the|to|allowed|about|limit|maximum)[^\w\n]{1,3}){0,3}|[<>=≤] ?|(?:超过|上限|限制|最大|大小)[^\n\d]{0,4})$`)
	limitBehind = pattern.New(`^,? ?(?:[<>]|exceed|(?:is |are )?(?:over|above|larger|bigger|beyond|more than)\b|超过)`)
)

// maxToolsSize bounds a size of tools that is believed, in bytes.
const maxToolsSize = 1 << 30

// Sizes returns the sizes in an error about the size of tools, those of KB and MB in bytes, in their order: numbers that have a unit, or stand
// beside the word of a limit. Numbers of tools, and numbers in names, are none.
func (f *Fault) Sizes() (out []int) {
	for _, line := range f.sentences() {
		if !toolsSize.MatchString(line) {
			continue
		}
		for _, at := range aloneNumber.FindAllStringIndex(line, -1) {
			before, behind := line[:at[0]], line[at[1]:]
			unit := unitBehind.FindStringSubmatch(behind)
			isSize := strings.Join(unit[1:], "") != "" || !countBehind.MatchString(behind) && (limitBefore.MatchString(before) || limitBehind.MatchString(behind))
			n, err := strconv.ParseFloat(strings.ReplaceAll(line[at[0]:at[1]], ",", ""), 64)
			if n *= map[string]float64{"": 1, "k": 1 << 10, "m": 1 << 20}[unit[1]]; isSize && err == nil && n >= 1 && n <= maxToolsSize {
				out = append(out, int(n))
			}
		}
	}
	return out
}
