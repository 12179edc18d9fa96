package lessons

import (
	"strings"

	"parley/channels/pattern"
	"parley/sessions"
)

var (
	emptyWord = pattern.New(`(?s)content.{0,60}(valid string|string_type|null|none|required|must be a string|string type|empty|non-?empty|blank|missing)|(null|none|empty|missing|valid string|string_type).{0,80}content|at least one content element|untagged enum \w*message|\bnonetype\b|message content type: <nil>|role [\x60'"]?assistant[\x60'"]? must not be empty|cannot read propert(?:y|ies) (?:['"][a-z]+['"] )?of (?:null|undefined)|null ?pointer|nil pointer|null reference`)
	// textUnset are errors about the text of a message that has calls only. source: XiaomiMiMo/MiMo-V2-Flash#8
	// Z.AI has no other words for it. source: continuedev/continue#13261 (1214)
	textUnset = pattern.New(`\bmessages (?:parameter is illegal|参数非法)|` + "[`'\"]text[`'\"] (is )?(not (set|present|provided)|missing|required|null)")
	// notBoth are errors about a message that has a text and calls. source: github/copilot-cli#4884, ggml-org/llama.cpp#17040
	notBoth = pattern.New(`both (?:content|text) and (?:thinking|reasoning)|(content|text).{0,40}tool_?calls.{0,60}(not both|cannot both|at the same time|mutually exclusive|together)|tool_?calls.{0,40}(content|text).{0,60}(not both|cannot both|at the same time|mutually exclusive|together)`)
)

// readContent reads errors about messages that have calls and no text.
// source: langchain-ai/langchain#34140 (xAI), EricLBuehler/mistral.rs (untagged enum), vllm-project/vllm#18466 (NoneType), ollama/ollama (openai.go)
func readContent(r reading) (sessions.Lesson, bool) {
	if !r.sent.Steps || !emptyWord.MatchString(strings.ReplaceAll(r.text, "reasoning_content", "_")) && !textUnset.MatchString(r.text) {
		return sessions.Lesson{}, false
	}
	use := otherContent(r.call)
	return sessions.Lesson{Kind: Content, Use: use}, use != ""
}

// otherContent gives the next form of the text of a message that has calls and no text; "" = all were tried.
func otherContent(c *Call) string {
	return map[string]string{"": EmptyContent, EmptyContent: FilledContent}[c.Use(Content)]
}

// readEither reads errors about messages that have calls and a text.
func readEither(r reading) (sessions.Lesson, bool) {
	if !r.sent.Steps || !notBoth.MatchString(r.text) || r.call.Use(Content) == CallsOnly {
		return sessions.Lesson{}, false
	}
	return sessions.Lesson{Kind: Content, Use: CallsOnly}, true
}
