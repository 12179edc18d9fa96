package wire

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"parley/agent"
	"parley/channels/pattern"
)

// Errors about how many messages, or how large tools, a request has.
var (
	// messagesBound matches a bound of the number of messages, and messagesExceed that there are too many of them.
	// source: openai-php/client#269 (ensure this value has at most 32 items), LAION-AI/Open-Assistant#2774, mongodb/chatbot#869
	messagesBound = pattern.New(`\b(?:at most|max(?:imum)?(?: of)?|up to|no more than|only|limit(?:ed)?(?: of| to| is)?|more than|exceed\w*(?: the)?(?: limit| maximum)?(?: of)?|<=?|≤)[ :=]{1,2}\d{1,5} (?:[a-z]+ )?(?:messages|turns)\b|` +
		`\bmax(?:imum)?[_ ](?:number of |allowed )?(?:[a-z]+ )?messages\b|\bmessages?[_ ](?:count|limit)[_ ](?:\w+[_ ]){0,3}(?:exceed\w*|reached|too)\b|\b(?:number|count|amount) of (?:[a-z]+ )?messages\b|\btoo many (?:[a-z]+ )?(?:messages|turns)\b|\btrop de messages\b|\bdemasiados mensajes\b|\bmensagens demais\b|\btroppi messaggi\b|` +
		`\bexceeds?(?: the)?(?: max\w*| allowed)?(?: number of)? messages\b|消息(?:条数|数量|数)[^\n]{0,12}(?:超|过多|上限|最多|不能)`)
	// itemsBound matches a bound of the items of a list.
	itemsBound = pattern.New(`\bat most \d{1,5} (?:items?|elements?|entries)|\barray too long\b|\bmax(?:imum)?(?: number of)? (?:items|elements|length)\b|\blist_?\W?too_?long\b|<=? ?\d{1,5} items|\] is too long\b|\btoo many (?:items|elements)\b`)
	// listOfMessages matches the name of the list of messages, where nothing of one message is named.
	listOfMessages = pattern.New(`(?:^|[\s'"\x60.])(?:messages|contents|input)(?:['"\x60:\s)]|$)`)
	messagesPlace  = pattern.New(`(?:^|\.)(?:messages|contents|input)$`)
	// otherUnit is in sentences about the length of messages, not about their number.
	otherUnit = pattern.New(`\btokens?\b|\bcharacters?\b|\bchars\b|\bbytes\b|\b[km]i?b\b|\bper[ -](?:second|minute|hour|day|month)\b|字符|令牌`)
	// ofPairs is in sentences about calls and their results, or about messages of one role.
	ofPairs = pattern.New(`\b(?:tool|function|system|developer)[_ ]?messages?\b|\btool[_ ]?(?:calls?|results?|responses?|use)\b|\b(?:match(?:es)?|equals?|alternat\w*)\b`)
	// mostCount matches the bound in such a sentence, and what is counted behind it.
	mostCount = pattern.New(`(?:\b(?:at most|max(?:imum)?(?:[_ ][a-z]+){0,5}|up to|no more than|only|limit(?:ed)?(?: of| to| is| for messages)*|more than|exceed\w*(?: the)?(?: allowed)?(?: limit| maximum)?(?: of)?)[ :=(]{1,3}|(?:<=?|≤|>|上限|最多|不能超过)[ :=为是]{0,3})(\d{1,5})\b(?: (?:[a-z]+ )?(messages|turns|items?|elements?|entries)\b)?`)
	// mostBehind matches a bound with its word behind it.
	mostBehind = pattern.New(`\b(\d{1,5}) (?:(?:messages|items) )?(?:is |are )?(?:the )?(?:max(?:imum)?|limit|allowed)\b`)

	// quotaTime is in errors about how many messages an account may send in a time, or about the moment.
	// source: openrouter.ai/docs/api-reference/limits, support.claude.com (usage limits), poe.com (message limits)
	quotaTime = pattern.New(`\b(?:daily|hourly|weekly|monthly|today|tomorrow|midnight|recently|quota|slow down|too (?:fast|quickly|often)|throttl\w*|rate.?limit\w*)\b|\b(?:per|every|each|an?|this|next|\d+) (?:seconds?|minutes?|hours?|days?|weeks?|months?)\b|/(?:min|h|hour|day)\b|` +
		`\bqueued?\b|\bpending\b|\bbacklog\b|\btry(?:ing)? (?:it |this )?again (?:later|soon|in|after|at|when|once|tomorrow)\b|\bretry[ -](?:after|in|later)\b|\bresets?(?: again)? (?:at|in|on|after)\b|\breset[_ ]at\b|\bwait (?:for|until|a|an|\d)|配额|每[天日小分月]|今[天日]|稍后|排队`)
	// quotaPlan is in errors about what an account may do, unless they are about one request.
	quotaPlan  = pattern.New(`\b(?:plans?|upgrade|subscri\w*|tier|trial|account)\b|\byour (?:[a-z]+ ){0,2}(?:limit|allowance)\b|套餐`)
	ofOneCall  = pattern.New(`\b(?:per|in|for|of) (?:a|an|one|1|each|the|this|the same|any)? ?(?:single )?(?:requests?|conversations?|chats?|calls?|prompts?|threads?|context|array|list)\b`)
	quotaLimit = pattern.New(`\b(?:messages?|message[_ ]count)[_ ](?:limit|quota|allowance|cap)\b|\b(?:limit|quota|allowance|cap)\b[^.\n]{0,20}\bmessages\b`)

	// toolsSize matches a size of all tools together, beside a bound of it. source: dwgx/WindsurfAPI#70 (Tool definitions are too large)
	toolsSize = pattern.New(`\b(?:tools?|functions?|function_?declarations)(?:['’]s)?(?: ['"\x60][\w.-]{1,128})?['"\x60]?(?:[ _-](?:definitions?|declarations?|schemas?|specs?|specifications?|parameters|descriptions|list|payload|object|json|config(?:uration)?))*['"\x60]?[^.\n\w]{1,3}(?:(?:total|combined|overall|serialized|sizes?|length|is|are|of|in|has|have|a|uses?|takes?|the|(?:about )?\d[\d,.]*[km]?i?b?|bytes|characters|chars|tokens)[^.\n\w]{1,3}){0,8}(?:exceed\w*|too (?:large|big|long)|over|larger|above|beyond|(?:must|can|may|should)(?: ?not)? (?:be|exceed)|limit)|` +
		`\b(?:sizes?|length|bytes|characters|tokens|weight)\b[^.\n]{0,24}\b(?:of|for|in|by)\b[^.\n]{0,16}\b(?:tools|functions|tool (?:definitions?|declarations?|schemas?|specs?)|function (?:definitions?|declarations?|schemas?))\b[^.\n]{0,40}(?:exceed|too (?:large|big|long)|over|larger|above|beyond|limit|max|must)|` +
		`\b(?:max\w*|limit\w*|allowed|exceed\w*)\b[^.\n]{0,30}\btools?[ _-](?:(?:definitions?|schemas?|declarations?)[ _-])?(?:size|bytes|tokens|payload|budget)\b|\btools?_(?:schema_|definition_)?(?:size_|payload_|too_large|too_big)|工具(?:定义)?[^\n]{0,8}(?:过大|太大|超过[^\n]{0,6}大小)`)
	// sizeUnit is in errors about a size, and manyWord in ones about a number.
	sizeUnit = pattern.New(`\bsizes?\b|\bbytes?\b|\d ?[km]i?b\b|\bcharacters?\b|\bchars\b|\btokens?\b|\b(?:large|big|long)\b|\bpayload\b|_size|too_large|大`)
	manyWord = pattern.New(`\b(?:number|count) of (?:tools|functions)\b|\btoo many (?:tools|functions)\b|\barray too long\b|\bmessages?\b|\btool[ _](?:results?|outputs?|responses?|calls?)\b|\bdescription\b|\bcontext\b|\bname\b`)
)

// TooManyMessages reports whether an error is about the number of messages in a request, and returns how many the endpoint takes; 0 = it does
// not say. How many messages an account may send in a time is something else.
func (f *Fault) TooManyMessages() (most int, isCount bool) {
	if f.Status == http.StatusTooManyRequests || f.Status >= http.StatusInternalServerError && !f.invalid() || f.has(rateCodes) || f.says(agent.RateLimited) || f.IsPassing() || f.isQuota() {
		return 0, false
	}
	place := strings.ToLower(f.Param)
	for line := range strings.SplitSeq(f.All, "\n") {
		named := messagesBound.MatchString(line)
		ofList := itemsBound.MatchString(line) && (messagesPlace.MatchString(place) || listOfMessages.MatchString(line))
		if !named && !ofList || otherUnit.MatchString(line) || ofPairs.MatchString(line) {
			continue
		}
		isCount = true
		if n := boundIn(line); n > 0 && (most == 0 || n < most) {
			most = n
		}
	}
	return most, isCount
}

// CountsMessages reports whether an error is about a number of messages: in a request, or of an account in a time.
func (f *Fault) CountsMessages() bool {
	_, isCount := f.TooManyMessages()
	return isCount || f.ofMessageQuota()
}

// boundIn returns the bound that a sentence about a number of messages names: one of messages or items, where there are others; 0 = none.
func boundIn(line string) int {
	bound := 0
	for _, m := range mostCount.FindAllStringSubmatch(line, -1) {
		n, _ := strconv.Atoi(m[1]) // at most five digits
		if m[2] != "" && n > 0 {
			return n
		}
		if bound == 0 {
			bound = n
		}
	}
	if m := mostBehind.FindStringSubmatch(line); bound == 0 && m != nil {
		bound, _ = strconv.Atoi(m[1])
	}
	return bound
}

// isQuota reports whether an error speaks of a time, of an account or of a queue, not of one request.
func (f *Fault) isQuota() bool {
	return quotaTime.MatchString(f.All) || quotaPlan.MatchString(f.All) && !ofOneCall.MatchString(f.All)
}

// ofMessageQuota reports whether an error is about how many messages an account may send.
func (f *Fault) ofMessageQuota() bool {
	return f.isQuota() && slices.ContainsFunc(strings.Split(f.All, "\n"), func(line string) bool {
		return (messagesBound.MatchString(line) || quotaLimit.MatchString(line)) && !otherUnit.MatchString(quotaTime.ReplaceAllString(line, "")) && !ofPairs.MatchString(line)
	})
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
