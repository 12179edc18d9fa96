package wire

import (
	"slices"
	"strings"

	"parley/channels/pattern"
)

// EndingWord gives a provider's word for the end of an answer in lower case, with underscores.
func EndingWord(word string) string {
	if word == "" { // of nearly every event
		return ""
	}
	return underscored.Replace(strings.ToLower(strings.TrimSpace(word)))
}

var underscored = strings.NewReplacer("-", "_", " ", "_")

// IsEnding reports whether a field for the end of an answer says that it has ended: servers write null as a word. source: PowerShell/AIShell#350
func IsEnding(word string) bool {
	if word == "" { // of nearly every event
		return false
	}
	switch EndingWord(word) {
	case "", "null", "none", "nil", "false", "in_progress":
		return false
	}
	return true
}

// IsWindowFull reports whether a word for the end of an answer says that prompt and answer fill the model's window.
//
// source: docs.z.ai/api-reference/llm/chat-completion, docs.anthropic.com/en/api/handling-stop-reasons (model_context_window_exceeded)
func IsWindowFull(word string) bool { return windowFull.MatchString(EndingWord(word)) }

var windowFull = pattern.New(`context|window|(?:prompt|input)_(?:tokens?_)?(?:too_long|length|limit|exceed|overflow)`)

// filterWords are in the words for the end of an answer that a filter refused.
var filterWords = []string{"filter", "safety", "recitation", "prohibited", "block", "spii", "refus", "sensitive", "guardrail", "policy", "moderat", "toxic", "unsafe", "censor",
	"inappropriate", "blacklist", "denylist", "risk", "violat", "forbidden", "illegal", "compliance", "harm"}

// IsFiltered reports whether a word for the end of an answer says that a filter refused it.
//
// source: developers.sber.ru/docs/ru/gigachat/api/reference (blacklist)
func IsFiltered(word string) bool {
	word = EndingWord(word)
	return slices.ContainsFunc(filterWords, func(part string) bool { return strings.Contains(word, part) })
}

// brokenWords are in the words for the end of an answer that failed in a way that the same request mostly does not meet again.
var brokenWords = []string{"malformed", "unexpected_tool_call", "too_many_tool_calls", "insufficient_system_resource", "network_error", "overloaded", "engine_overloaded", "server_error", "repetition_truncation", "timeout"}

// IsBroken reports whether an answer failed in a way that the same request mostly does not meet again.
func IsBroken(word string) bool {
	word = EndingWord(word)
	return word != "" && slices.ContainsFunc(brokenWords, func(part string) bool { return strings.Contains(word, part) })
}

// failWords are in the words for the end of an answer that failed.
var failWords = []string{"error", "fail", "abort", "cancel", "crash", "exception", "interrupted"}

// IsFailing reports whether a word says that an answer failed.
func IsFailing(word string) bool {
	word = EndingWord(word)
	return word != "" && slices.ContainsFunc(failWords, func(part string) bool { return strings.Contains(word, part) }) || IsBroken(word)
}

// IsLength reports whether a word for the end of an answer speaks of its length.
func IsLength(word string) bool {
	word = EndingWord(word)
	return word == "" || strings.Contains(word, "max") || strings.Contains(word, "length") || strings.Contains(word, "token") || strings.Contains(word, "limit")
}
