package wire

import (
	"net/http"
	"strconv"
	"strings"

	"parley/agent/wire/pattern"
)

// The sentences of classes that providers word in many ways, in lower case.
var (
	// filteredPrompt matches reports of a gateway that a provider blocked a prompt.
	// source: ai.google.dev/api/generate-content#BlockReason, docs.aws.amazon.com/bedrock/latest/userguide/guardrails.html
	filteredPrompt = pattern.New(`\b(?:blocked|refused|rejected|flagged) (?:the|your|this) (?:prompt|input|request content|content)\b|\b(?:prompt|input|content) (?:was|is|has been) (?:blocked|flagged)\b|\bprohibited_content\b|\bblock_?reason\b`)
	// longSentence matches errors about prompts that are too long, with numbers.
	// source: docs.cohere.com/reference/errors ("too many tokens: size limit exceeded")
	longSentence = pattern.New(`\btoo many tokens: |\bsize limit exceeded by \d+ tokens\b|\b(?:prompt|input|request|conversation|messages?) (?:contains?|has|have|is|are|uses?) (?:about )?\d[\d,]* (?:input )?tokens\b[^\n]{0,80}\b(?:limit|maximum|max|too large|only)\b|` +
		`\bmax_(?:completion_|output_|new_)?tokens\W{0,3} must be (?:at least|greater than|>=?) \d+\W{1,3}(?:but )?(?:got|is|was|received)? ?-\d|\bmax_(?:completion_|output_|new_)?tokens\b[^\n]{0,30}\bgot -\d`)
	// shorterWindow matches a window, in tokens, that an error names.
	shorterWindow = pattern.New(`\b(?:maximum context length|maximum allowed length|inputs?\W{0,3} must have (?:less|fewer) than|context (?:length|window|size)|max_model_len|n_ctx|maximum prompt length|model token limit|model with|(?:the )?limit)\b(?: (?:is|of|only|exceeds?))*\W{1,4}(?:only )?(\d[\d,]{2,9})\b|\bcontext limit: \d+ ?\+ ?\d+ ?> ?(\d+)|\bmax size: (\d[\d,]{2,9}) tokens`)
)

// awsType returns the error class of a service of AWS: com.amazon.coral.service#ThrottlingException without what is in front of it.
func awsType(s string) string { return s[strings.LastIndexByte(s, '#')+1:] }

// window returns how many tokens the model takes, as an error about a prompt that is too long says; 0 = it does not say.
func (f *Fault) window() int {
	found := shorterWindow.FindStringSubmatch(f.All)
	if found == nil {
		return 0
	}
	n, err := strconv.Atoi(strings.ReplaceAll(found[1]+found[2]+found[3], ",", ""))
	if err != nil {
		return 0
	}
	return n
}

// The address of a request is wrong: nothing serves the API there.
var (
	// bareNotFound matches what web servers and frameworks answer to a path that they do not serve, and nothing else.
	// source: net/http (404 page not found), learn.microsoft.com/azure/ai-foundry (Resource not found), fastapi.tiangolo.com ({"detail":"Not Found"}), ggml-org/llama.cpp (File Not Found), spring.io (status, error, path)
	bareNotFound = pattern.New(`^(?:404|405|error|not_?found(?:_error|error)?|(?:the )?(?:requested )?(?:page|file|path|route|endpoint|url|resource)|(?:was |is )?not found|method (?:is )?not allowed|on this server|post|/[\w/.:-]*|\d{4}-\d\d-[\w:.+-]+|[\s:.,!-])*$`)
	// pathNotFound matches sentences about a path that is not served.
	// source: developers.openai.com (Invalid URL, Unknown request URL), docs.konghq.com (no Route matched), expressjs.com (Cannot POST), fastify.dev (Route POST:/x not found)
	pathNotFound = pattern.New(`\b(?:invalid url|unknown request url)\b|\bno route (?:matched|for|found)\b|\bcannot post /|\bno (?:static resource|handler found for)\b|\bunknown (?:path|route|url)\b|\b(?:path|route|url) \S{1,200} (?:was |is )?(?:not found|does not exist)\b`)
	// missingPage matches web pages about a path that is not served.
	missingPage = pattern.New(`\bnot found\b|\bcannot post /|\bnot allowed\b`)
	// refusalPage matches web pages that say what of a request is refused.
	refusalPage = pattern.New(`\bunsupported\b|\bnot (?:support|permitted|accept|valid)|\bunrecogni[sz]ed\b|\binvalid\b`)
	// gatePage matches web pages of what stands in front of a server: they say nothing of the address.
	gatePage = pattern.New(`just a moment|captcha|checking your browser|maintenance|sign in|log in|login`)
	// unexpectedPath matches what LM Studio answers with status 200. source: lmstudio.ai/docs/developer/openai-compat
	unexpectedPath = pattern.New(`\bunexpected endpoint or method\b`)
)

// ofAddress reports whether an error says that the address is wrong, not what was sent there.
func (f *Fault) ofAddress() bool {
	s := f.Status
	switch {
	case s >= 300 && s < 400:
		return true
	case s == http.StatusNotFound, s == http.StatusMethodNotAllowed:
		return f.Page && (missingPage.MatchString(f.All) || !refusalPage.MatchString(f.All)) || bareNotFound.MatchString(strings.TrimSpace(f.All)) || pathNotFound.MatchString(f.All)
	case s == http.StatusOK, s == 0:
		return f.Page && !gatePage.MatchString(f.All) || unexpectedPath.MatchString(f.All)
	}
	return false
}
