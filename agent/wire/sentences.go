package wire

import (
	"net/http"
	"strconv"
	"strings"

	"parley/agent/wire/pattern"
)

// The sentences of classes that providers word in many ways, in lower case.
var (
	// busySentence matches errors of servers that have too much to do, or are not ready yet.
	// source: docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_InvokeModel.html (ModelNotReadyException, ServiceUnavailableException)
	busySentence = pattern.New(`\b(?:service|server|system|model|engine|backend|upstream|cluster|instance|worker)s?\b[^.\n]{0,30}\b(?:overloaded|too busy|is busy|not (?:yet )?ready|warming up|starting up|still loading)\b|` +
		`\bmodelnotreadyexception\b|\bserviceunavailableexception\b|\bmodeltimeoutexception\b|\binternalserverexception\b|\berror while processing the model\b|\brequest failed during generation\b|服务(?:器)?(?:繁忙|过载)|系统繁忙`)
	// rateSentence matches errors about too many requests in a time, at any status.
	// source: docs.aws.amazon.com/bedrock/latest/userguide/troubleshooting-api-error-codes.html, docs.bigmodel.cn/cn/api/api-code,
	// cloud.google.com/vertex-ai/generative-ai/docs/error-code-429
	rateSentence = pattern.New(`\bthrottlingexception\b|\brequest (?:was|is being|has been) (?:throttled|rate.?limited)\b|\btoo many (?:concurrent |parallel )?requests\b|\btoo many tokens, please wait\b|` +
		`\brate.?limit(?:s)?\b[^.\n]{0,40}\b(?:exceeded|reached|hit|triggered)|\b(?:exceeded|reached|hit)\b[^.\n]{0,40}\brate.?limit|` +
		`\bquota exceeded\b[^\n]{0,120}\bper (?:second|minute|hour|day)|\b(?:requests?|tokens?) per (?:second|minute|hour|day)\b[^.\n]{0,40}\b(?:exceeded|reached)|\bconcurrency (?:limit|quota)|` +
		`并发(?:数|量)?[^。\n]{0,10}(?:过高|超|限)|请求(?:频率|速率|过于频繁|数)[^。\n]{0,12}(?:过高|超|限|频繁)|限流`)
	// creditSentence matches errors about money that is missing.
	// source: novita.ai/docs/api-reference/basic-error-code.md, siliconflow.cn (30001, "your account balance is insufficient")
	creditSentence = pattern.New(`\b(?:don['’]?t|do not|does not|doesn['’]?t|not) have (?:enough|sufficient|any) (?:[a-z]+ )?(?:balance|credits?|funds|money)\b|` +
		`\b(?:balance|funds|credits?)\b[^.\n]{0,20}\b(?:insufficient|too low|not enough|exhausted|depleted|used up)\b|\b(?:not enough|insufficient) (?:[a-z]+ )?(?:balance|funds|credits?)\b|` +
		`\bcheck your (?:plan and )?billing\b|\brun out of (?:[a-z]+ )?(?:credits?|funds)\b|请充值|账户余额`)
	// keySentence matches errors about who asks: an account that is closed, a place that is not served, credentials that are wrong.
	// source: ai.google.dev/gemini-api/docs/troubleshooting, docs.aws.amazon.com/IAM/latest/APIReference/CommonErrors.html
	keySentence = pattern.New(`\b(?:organi[sz]ation|account|workspace|project|team|user|subscription|(?:api[ -]?)?key)\b[^.\n]{0,40}\b(?:is|was|has been|have been|been|currently|temporarily) (?:currently |temporarily |permanently )?(?:disabled|suspended|deactivated|banned|terminated|restricted|revoked|closed|locked|frozen)\b|` +
		`\b(?:location|country|region|territory)\b[^.\n]{0,40}\b(?:not|un)[ -]?(?:supported|available|allowed|permitted)\b|` +
		`\bsecurity token\b[^.\n]{0,40}\b(?:invalid|expired)|\b(?:unrecognizedclient|accessdenied|expiredtoken|invalidsignature|incompletesignature|missingauthenticationtoken)(?:exception)?\b|\bmissing authentication token\b|账[户号][^。\n]{0,12}(?:封禁|禁用|冻结|停用)`)
	// modelSentence matches errors about a model that is not served here.
	// source: docs.aws.amazon.com/bedrock/latest/userguide/inference-profiles-support.html
	modelSentence = pattern.New(`\bunsupported model\b[^.\n]{0,3}(?:[:=]|$|[\s.]*\n)|\bmodel id(?:entifier)? is (?:invalid|not valid|unknown)|\binvocation of model id\b[^\n]{0,120}(?:isn['’]t|is not) supported|` +
		"\\bmodel(?: ?[`'\"]?[\\w./:@-]+[`'\"]?)? (?:is|are) (?:not supported|unsupported)(?: (?:by|on|at|in|for) (?:this|the|any|your|that) (?:endpoint|provider|account|api|server|region|deployment|plan|key|service)|\\s*[.!]?\\s*$|\\s*[.!]?\\s*\\n| when using)|" +
		`模型不存在|不支持(?:该|此|的)模型|\bno allowed providers\b`)
	// filteredPrompt matches reports of a gateway that a provider blocked a prompt.
	// source: ai.google.dev/api/generate-content#BlockReason, docs.aws.amazon.com/bedrock/latest/userguide/guardrails.html
	filteredPrompt = pattern.New(`\b(?:blocked|refused|rejected|flagged) (?:the|your|this) (?:prompt|input|request content|content)\b|\b(?:prompt|input|content) (?:was|is|has been) (?:blocked|flagged)\b|\bprohibited_content\b|\bblock_?reason\b`)
	// longSentence matches errors about prompts that are too long, with numbers.
	// source: docs.cohere.com/reference/errors ("too many tokens: size limit exceeded")
	longSentence = pattern.New(`\btoo many tokens: |\bsize limit exceeded by \d+ tokens\b|\b(?:prompt|input|request|conversation|messages?) (?:contains?|has|have|is|are|uses?) (?:about )?\d[\d,]* (?:input )?tokens\b[^\n]{0,80}\b(?:limit|maximum|max|too large|only)\b|` +
		`\bmax_(?:completion_|output_|new_)?tokens\W{0,3} must be (?:at least|greater than|>=?) \d+\W{1,3}(?:but )?(?:got|is|was|received)? ?-\d|\bmax_(?:completion_|output_|new_)?tokens\b[^\n]{0,30}\bgot -\d`)
	// shorterWindow matches a window, in tokens, that an error names.
	shorterWindow = pattern.New(`\b(?:maximum context length|context (?:length|window|size)|max_model_len|n_ctx|maximum prompt length|model token limit|model with|(?:the )?limit)\b(?: (?:is|of|only|exceeds?))*\W{1,4}(?:only )?(\d[\d,]{2,9})\b|\bcontext limit: \d+ ?\+ ?\d+ ?> ?(\d+)`)
)

// awsType returns the error class of a service of AWS: com.amazon.coral.service#ThrottlingException without what is in front of it.
func awsType(s string) string { return s[strings.LastIndexByte(s, '#')+1:] }

// window returns how many tokens the model takes, as an error about a prompt that is too long says; 0 = it does not say.
func (f *Fault) window() int {
	found := shorterWindow.FindStringSubmatch(f.All)
	if found == nil {
		return 0
	}
	n, err := strconv.Atoi(strings.ReplaceAll(found[1]+found[2], ",", ""))
	if err != nil {
		return 0
	}
	return n
}

// The address of a request is wrong: nothing serves the API there.
var (
	// bareNotFound matches what web servers and frameworks answer to a path that they do not serve, and nothing else.
	// source: net/http (404 page not found), fastapi.tiangolo.com ({"detail":"Not Found"}), ggml-org/llama.cpp (File Not Found), spring.io (status, error, path)
	bareNotFound = pattern.New(`^(?:404|405|error|not_?found(?:_error|error)?|(?:the )?(?:requested )?(?:page|file|path|route|endpoint|url)|(?:was |is )?not found|method (?:is )?not allowed|on this server|post|/[\w/.:-]*|\d{4}-\d\d-[\w:.+-]+|[\s:.,!-])*$`)
	// pathNotFound matches sentences about a path that is not served.
	// source: developers.openai.com (Invalid URL, Unknown request URL), docs.konghq.com (no Route matched), expressjs.com (Cannot POST), fastify.dev (Route POST:/x not found)
	pathNotFound = pattern.New(`\b(?:invalid url|unknown request url)\b|\bno route (?:matched|for|found)\b|\bcannot post /|\bno (?:static resource|handler found for)\b|\bunknown (?:path|route|url)\b|\b(?:path|route|url) \S{1,200} (?:was |is )?(?:not found|does not exist)\b`)
	// missingPage matches web pages about a path that is not served.
	missingPage = pattern.New(`\bnot found\b|\bcannot post /|\bnot allowed\b`)
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
		return f.Page && missingPage.MatchString(f.All) || bareNotFound.MatchString(strings.TrimSpace(f.All)) || pathNotFound.MatchString(f.All)
	case s == http.StatusOK, s == 0:
		return unexpectedPath.MatchString(f.All)
	}
	return false
}
