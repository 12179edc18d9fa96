package wire

import (
	"slices"
	"strings"

	"parley/agent/wire/pattern"
)

// EndingWord gives a provider's word for the end of an answer in lower case, with underscores.
func EndingWord(word string) string {
	if word == "" { // of nearly every event
		return ""
	}
	return underscored.Replace(strings.ToLower(strings.TrimSpace(word)))
}

var underscored = strings.NewReplacer("-", "_", " ", "_")

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
