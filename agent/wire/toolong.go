package wire

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"parley/agent"
	"parley/channels/pattern"
)

// tooLong reports whether a prompt was refused because of its length: by its code, by words that providers use, or by a sentence that names
// the prompt, its size and a smaller limit.
func tooLong(f *Fault) bool {
	switch {
	case f.ToolsTooLarge() && f.Status != http.StatusUnauthorized && f.Status != http.StatusForbidden:
		return false // fewer of them fit
	case f.Status == http.StatusRequestEntityTooLarge:
		return true
	case f.Status == http.StatusTooManyRequests: // longer than a whole minute's allowance, so waiting does not help
		return strings.HasPrefix(f.Text, "Request too large") || f.exceedsAllowance()
	case f.Status == http.StatusPaymentRequired: // without more credit, shorter prompts only
		return promptLimit.MatchString(f.All) && !longAnswer.MatchString(f.All) && f.overLimit()
	case f.Status != 0 && (f.Status < 400 || f.Status == http.StatusUnauthorized || f.Status == http.StatusForbidden):
		return false
	}
	if _, isCount := f.TooManyMessages(); isCount {
		return true
	}
	if f.ofMessageQuota() && !f.has(tooLongCodes) {
		return false
	}
	if (f.has([]string{"string_above_max_length"}) || strings.Contains(f.All, "string too long")) && (shortField.MatchString(f.Param) || shortField.MatchString(longField.FindString(f.All))) || ofTool.MatchString(strings.ToLower(f.Param)+"\n"+f.All) {
		return false // an id or a name, or a part of a tool
	}
	if outputLimit.MatchString(f.All) {
		return false
	}
	return longPrompt.MatchString(f.All) && !longAnswer.MatchString(f.All) || longSentence.MatchString(f.All) || f.is(tooLongCodes, tooLongWords) ||
		f.sentenceOfLength()
}

var (
	// oneText is in errors about the length of one message.
	// source: platform.openai.com/docs/guides/error-codes (string_above_max_length), cloud.baidu.com/doc/qianfan-api (336103),
	// docs.pydantic.dev/latest/errors/validation_errors (string_too_long)
	oneText = pattern.New(`\bstring too long\b|string_above_max_length|string_too_long|\bstring should have at most \d+ characters|\blength of (?:the )?(?:message|tool)?\s?content\b|\bmessage content\b[^\n]{0,40}\bcharacters\b|\bsingle message\b[^\n]{0,40}\bcharacters\b`)
	// textPlace is the place of a message's text. Texts of a system message are not cut.
	textPlace = pattern.New(`\b(?:messages|input|contents)(?:\[|\.|/|\n)\d+\]?(?:[./\n](?:user|assistant|tool))?(?:[./\n](?:content|output|text|parts|\d+|\[\d+\]))+\b|\b(?:messages|input|contents)\[\d+\]\.(?:content|output)|\bin messages\b|\bmessage content\b|\bsingle message\b|\btool (?:message|result|output)`)
	// mostText is the number of characters that a text may have.
	mostText = pattern.New(`\bmaximum length (?:of )?` + sizeGroup + `|\b(?:at most|up to|no more than|greater than|longer than|exceeds?|max(?:imum)?(?: is| of)?:?|limit(?: is| of)?:?) ` + sizeGroup + `\b(?: characters)?|"?max_length"?\W{1,4}` + sizeGroup)
)

// MessageTooLong reports whether a refusal is about the length of the text of one message, and how many characters one may have, 0 = it does
// not say.
func (f *Fault) MessageTooLong() (most int, ok bool) {
	text := strings.ToLower(f.Param) + "\n" + f.All
	if !oneText.MatchString(text) || !textPlace.MatchString(text) || shortField.MatchString(f.Param) || ofTool.MatchString(text) {
		return 0, false
	}
	if m := mostText.FindStringSubmatch(f.All); m != nil {
		most, _ = sizeOf(strings.Join(m[1:], ""))
	}
	return most, true
}

// sentenceOfLength reports whether a sentence says that a prompt is too long, in any of the languages of providers, or names its size and a
// smaller limit.
func (f *Fault) sentenceOfLength() bool {
	return !f.has(rateCodes) && !f.says(agent.RateLimited) && !otherSize.MatchString(f.All) && !f.ofAnswer() && (f.says(agent.TooLong) || f.overLimit())
}

// ofAnswer reports whether an error is about the length of the answer that was asked for.
func (f *Fault) ofAnswer() bool {
	return longAnswer.MatchString(f.All) || answerSize.MatchString(f.All) && !promptNoun.MatchString(f.All)
}

// overLimit reports whether a sentence names the size of a prompt and a smaller limit.
func (f *Fault) overLimit() bool {
	return slices.ContainsFunc(strings.Split(f.All, "\n"), func(line string) bool {
		if !sizeNoun.MatchString(line) || !limitWord.MatchString(line) {
			return false
		}
		sizes := SizesIn(line)
		return len(sizes) > 1 && slices.Max(sizes) > slices.Min(sizes)
	})
}

// exceedsAllowance reports whether a request alone is longer than what is allowed in a minute or a day.
// source: console.groq.com/docs/rate-limits, platform.openai.com/docs/guides/rate-limits
func (f *Fault) exceedsAllowance() bool {
	m := allowance.FindStringSubmatch(f.All)
	if m == nil {
		return false
	}
	most, _ := sizeOf(m[1])
	size, _ := sizeOf(m[2])
	return size > most && most > 0
}

// window returns how many tokens the model takes, as an error about a prompt that is too long says; 0 = it does not say.
func (f *Fault) window() int {
	if f.Status == http.StatusPaymentRequired || f.Status == http.StatusTooManyRequests {
		return 0 // the limit of an account at this moment
	}
	if _, isCount := f.TooManyMessages(); isCount {
		return 0
	}
	if _, isText := f.MessageTooLong(); isText || ofLetters.MatchString(f.All) || ofCredit.MatchString(f.All) {
		return 0
	}
	for _, p := range []*pattern.Pattern{shorterWindow, windowInTokens} {
		if found := p.FindStringSubmatch(f.All); found != nil {
			if n, ok := sizeOf(strings.Join(found[1:], "")); ok && isWindow(n) {
				return f.smallerThan(n)
			}
		}
	}
	if allowance.MatchString(f.All) {
		return 0
	}
	for line := range strings.SplitSeq(f.All, "\n") {
		if sizes := SizesIn(line); len(sizes) == 2 && sizes[0] != sizes[1] && tokenNoun.MatchString(line) && limitWord.MatchString(line) && isWindow(slices.Min(sizes)) {
			return slices.Min(sizes)
		}
	}
	return 0
}

// isWindow reports whether a number may be a window: the codes of errors are not. source: platform.minimax.io/docs/api-reference/errorcode (2013)
func isWindow(n int) bool { return n >= 3000 || n >= 2*minSize && n%minSize == 0 }

// smallerThan returns the other size of a sentence that says that n is larger, n where there is none.
func (f *Fault) smallerThan(n int) int {
	for line := range strings.SplitSeq(f.All, "\n") {
		sizes := SizesIn(line)
		if len(sizes) == 2 && slices.Max(sizes) == n && isWindow(slices.Min(sizes)) && isGreater.MatchString(line) {
			return slices.Min(sizes)
		}
	}
	return n
}

// minSize is the smallest number that may be the size of a prompt or of a window: smaller ones are counts of other things.
const minSize = 256

// SizesIn returns the numbers of a sentence that may be sizes of prompts, answers or windows, in tokens.
func SizesIn(line string) (out []int) {
	for _, m := range sizeNumber.FindAllStringSubmatch(line, -1) {
		if n, ok := sizeOf(m[1]); ok && n >= minSize {
			out = append(out, n)
		}
	}
	return out
}

// sizeOf reads 8192, 8,192, 8.192, 8 192 and 8k.
func sizeOf(word string) (int, bool) {
	word, thousands := strings.CutSuffix(word, "k")
	n, err := strconv.Atoi(strings.NewReplacer(",", "", ".", "", " ", "", "\u00a0", "", "\u202f", "", "'", "", "_", "").Replace(word))
	if thousands {
		n *= 1000
	}
	return n, err == nil
}

// number of a size, as a group.
const sizeGroup = `(\d{1,3}(?:[,.' \x{00a0}\x{202f}_]\d{3})+k?|\d{1,9}k?)`

var (
	// sizeNumber matches numbers that stand alone: no parts of ids and names.
	sizeNumber = pattern.New(`(?:^|[^\w.,-])` + sizeGroup + `(?:[^\w-]|\p{Han}|$)`)
	// allowance matches the limit of a time, and what the request needs.
	allowance = pattern.New(`\blimit:? ` + sizeGroup + `\b[^\n]{0,40}\brequested:? ` + sizeGroup)
	// isGreater matches sentences that say that the first of two sizes is larger. source: theroyallab/tabbyAPI
	isGreater = pattern.New(`^[^\d]*` + sizeGroup + `[^\d]{0,40}(?:greater|larger|longer|more|exceeds?|over|above|>)`)
	// windowInTokens matches a limit in tokens that has no other number beside it. source: cline/cline#995
	windowInTokens = pattern.New(`\bmax(?:imum)? (?:prompt |input |context |request |token )?(?:size|length|limit|window|count):? (?:is |of )?` + sizeGroup + ` tokens\b|\b(?:less|fewer) than ` + sizeGroup + ` tokens\b|\b(?:at most|up to|no more than|limited to) ` + sizeGroup + ` (?:input |prompt |context )?tokens\b|` +
		`\bmax_(?:input_len\w*|seq_len|model_len|num_tokens|prompt_tokens|input_tokens|total_tokens)\W{1,4}` + sizeGroup + `\b|\bmax(?:imum)? (?:input|prompt|model|sequence|context) length\b(?: (?:is|of))?\W{1,4}` + sizeGroup + `\b|` +
		`\binput length should be \[\d+, ?` + sizeGroup + `\]|\bthan (?:the )?` + sizeGroup + ` tokens\b|\bmaximum number of tokens(?: allowed)?\W{1,4}` + sizeGroup + `\b|\bcannot exceed ` + sizeGroup + `\b|(?:最大|上限|限制)[^\d\n]{0,8}` + sizeGroup)

	ofLetters  = pattern.New(`\bcharacters?\b|\bbytes\b|字符|文字`)
	ofCredit   = pattern.New(`\bprompt tokens? limit exceeded: ?\d+ ?> ?\d+`) // OpenRouter
	tokenNoun  = pattern.New(`\btokens?\b|\b(?:context|n_ctx|max_(?:model|seq|input)_len\w*|max_num_tokens|(?:input|prompt|model|sequence) length)\b|上下文|令牌|トークン|토큰|токен|jetons?\b`)
	promptNoun = pattern.New(`\b(?:inputs?|prompts?|messages)\b`)
	// sizeNoun matches what has a size that a conversation may be too long for.
	sizeNoun = pattern.New(`\b(?:tokens?|context|prompts?|inputs?|messages|conversations?|sequences?|requests?|history|n_ctx|max_(?:model|seq|input)_len\w*|max_num_tokens|input_length|jetons?|eingabe\w*|kontext\w*|anfrage\w*|nachricht\w*|requêtes?|contexte|entrada|contexto|mensajes?|mensagens|solicitud|richiesta|contesto)\b|entrée|` +
		`токен|контекст|запрос|ввод|сообщени|输入|上下文|提示|消息|令牌|長さ|トークン|コンテキスト|プロンプト|入力|토큰|컨텍스트|프롬프트|입력`)
	// limitWord matches words of limits.
	limitWord = pattern.New(`\b(?:exceed\w*|limit\w*|maxim\w*|max|less than|fewer than|at most|no more than|too (?:long|large|big|many)|longer|larger|over|above|beyond|greater|bigger|more than|up to|allow(?:s|ed)?|window|capacity|fit|only|configured|context (?:size|length)|höchst\w*|grenze|zu (?:lang|viele)|dépass\w*|trop|excede\w*|supera\w*|máxim\w*|demasiad\w*|massimo|troppo|troppi|muito)\b|überschr|zu groß|>|≤|<=|` +
		`превыш|максим|слишком|лимит|超过|超出|上限|最大|最多|限制|过长|太长|超え|長すぎ|制限|초과|최대|제한`)
	// answerSize matches the length of an answer, beside longAnswer.
	answerSize = pattern.New(`\b(?:output|completion|new|generated|response)[ -](?:tokens?|length)\b|\bmax_?output_?tokens\b|\bmaximum tokens (?:you requested|value)\b|\bmaxtokens\b|\bbudget_?tokens\b|\bthinking budget\b`)
	// otherSize matches sizes of anything but the conversation, and limits of a time.
	otherSize = pattern.New(`\b(?:images?|pictures?|pixels?|pdfs?|audio|videos?|stop sequences?|logprobs|embeddings?|dimensions?|tool names?|function names?|metadata)\b|\b(?:number of |too many |maximum of \d+ )(?:tools|functions)\b|['"\[.]tools\b|` +
		`\bper[ -](?:second|minute|hour|day|month)\b|/min\b|\b[rt]p[mdh]\b|\bquota|\brate.?limit|\b(?:daily|weekly|monthly|hourly)\b|\bconcurren|图[片像]|视频|音频|画像|이미지|изображени|\bbild(?:er|größe)?\b`)
	// promptLimit matches limits of the prompt alone. source: continuedev/continue#11540
	promptLimit = pattern.New(`\b(?:prompt|input|context)\b[^.\n]{0,40}\b(?:limit|exceed\w*|max\w*|too (?:long|large))\b`)
)

// shortField matches parameters whose length has nothing to do with that of the conversation.
var shortField = pattern.New(`(?i)(?:^|[._\]])(?:id|name|user|key)$`)

// longField matches the field that an error calls too long, where it names none in a field of its own.
var longField = pattern.New("invalid [`'\"]?[a-z_.\\[\\]0-9]+")

var (
	// ofTool matches the place of a field of a tool, as in tools[24].function.description.
	ofTool = pattern.New(`\b(?:tools|functions|function_?declarations)(?:[\[./]\d+\]?)[\w.\[\]/]*[./](?:name|description|parameters|input_schema)\b|\bfunction\.(?:name|description|parameters)\b`)
	// longPrompt matches texts about a prompt that is too long, whatever their other words.
	longPrompt = pattern.New(`\brequest payload size exceeds\b|\b(?:input|prompt)[ _]tokens?\b[^.\n]{0,50}\b(?:exceed|over\b|above|beyond)|` +
		`\b(?:exceed\w*|over|above|beyond|larger than|longer than|greater than)\b[^.\n]{0,50}(?:\b(?:max_(?:prompt|input)_(?:tokens|length)|n_ctx|num_ctx|max_model_len|max_seq_len)\b|\b(?:maximum|max)[^.\n]{0,30}\b(?:input|prompt|context) tokens?\b)|` +
		`\binput token count\b[^.\n]{0,30}\bexceeds|` +
		`\b(?:request|prompt|input|conversation)\b[^.\n]{0,20}\b(?:over|beyond|above|larger than|longer than|too (?:big|large|long) for)\b[^.\n]{0,30}\bthe model\b|` +
		`\btotal tokens\b[^.\n]{0,40}\bexceeds? (?:the )?max|\btoo many tokens in\b|\brequest exceeds the maximum size\b|超[过出](?:了)?(?:模型)?的?最大(?:上下文|输入)?长度|` +
		`(?:输入|上下文|提示词?|消息)(?:的)?(?:总)?(?:长度|内容|\s?tokens?)?[^。，\n图]{0,12}(?:超过|超出|过长|太长)|` +
		`(?:eingabe|prompt|kontext)[^.\n]{0,40}\b(?:zu lang|überschreitet)|プロンプト[^。\n]{0,20}(?:長すぎ|超え)|프롬프트[^.\n]{0,20}(?:길|초과)`)
	// outputLimit matches texts that give the limit of an answer, whatever else they call too long. source: docs.cohere.com/docs/errors
	outputLimit = pattern.New(`\bmax[ _]tokens must be (?:less|at most|no more|smaller|lower|under|below|between|<=?)|\bmax(?:imum)? (?:output|completion) (?:length|tokens)(?: for| of)? this model\b`)
	// longAnswer matches texts about the length of the answer that was asked for.
	longAnswer = pattern.New(`\bmax_(?:completion_|output_|new_)?tokens\b`)
)

// tooLongCodes are the codes of errors about prompts that are too long, in lower case. Numbers: Z.ai, Qianfan.
var tooLongCodes = []string{"context_length_exceeded", "exceed_context_size_error", "request_too_large", "context_window_exceeded", "string_above_max_length", "model_context_window_exceeded",
	"tokens_limit_reached", "prompt_too_long", "input_too_long", "context_overflow", "contextwindowexceedederror", "1261", "336103"}

// tooLongWords are in the errors about prompts that are too long, in lower case.
var tooLongWords = []string{
	"prompt is too long",                     // Anthropic
	"exceed context limit",                   // Anthropic, with max_tokens
	"maximum context length",                 // OpenAI, vLLM, OpenRouter, DeepSeek, Mistral
	"context_length_exceeded",                // inside of other texts
	"exceeds the context window",             // OpenAI
	"exceeds the available context size",     // llama.cpp
	"context size has been exceeded",         // llama.cpp
	"exceed context window",                  // llama-cpp-python
	"longer than the maximum model length",   // vLLM
	"too long to fit into the model",         // vLLM
	"exceeds model's maximum context",        // vLLM, TGI
	"longer than the model's context length", // SGLang
	"input length exceeds",                   // Ollama
	"exceeds the context length",             // Ollama
	"exceeded max context length",            // Ollama
	"greater than the context length",        // LM Studio
	"context length of only",                 // LM Studio
	"exceeds the maximum number of tokens",   // Gemini
	"maximum prompt length is",               // xAI
	"reduce the length of the messages",      // Groq
	"input is too long for requested model",  // Bedrock
	"tokens` + `max_new_tokens` must be <=",  // TGI, Together
	"tokens + `max_new_tokens` must be <=",   // TGI
	"context window exceeds limit",           // MiniMax
	"exceeded model token limit",             // Kimi
	"number of tokens in the prompt exceeds", // Cohere
	"prompt exceeds max length",              // Z.ai
	"range of input length should be",        // DashScope
	"context length is only",                 // vLLM
	"must be less than the context length",   // Together
}

var (
	// longSentence matches errors about prompts that are too long, with numbers.
	// source: docs.cohere.com/reference/errors ("too many tokens: size limit exceeded")
	longSentence = pattern.New(`\bprompt length\b[^\n]{0,80}\bexceed|\btoo many tokens: |\bsize limit exceeded by \d+ tokens\b|\b(?:prompt|input|request|conversation|messages?) (?:contains?|has|have|is|are|uses?) (?:about )?\d[\d,]* (?:input )?tokens\b[^\n]{0,80}\b(?:limit|maximum|max|too large|only)\b|` +
		`\bmax_(?:completion_|output_|new_)?tokens\W{0,3} must be (?:at least|greater than|>=?) \d+\W{1,3}(?:but )?(?:got|is|was|received)? ?-\d|\bmax_(?:completion_|output_|new_)?tokens\b[^\n]{0,30}\bgot -\d`)
	// shorterWindow matches a window, in tokens, that an error names.
	shorterWindow = pattern.New(`\b(?:maximum context length|context (?:length|window|size)|max_model_len|n_ctx|maximum prompt length|model token limit|model with|(?:the )?limit)\b(?: (?:is|of|only|exceeds?))*\W{1,4}(?:only )?(\d[\d,]{2,9})\b|\bcontext limit: \d+ ?\+ ?\d+ ?> ?(\d+)`)
)
