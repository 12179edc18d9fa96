package wire

import (
	"net/http"
	"strings"

	"parley/agent"
	"parley/channels/pattern"
)

// The sentences of classes that providers word in many ways, in lower case.
var (
	// filteredPrompt matches reports of a gateway that a provider blocked a prompt.
	// source: ai.google.dev/api/generate-content#BlockReason, docs.aws.amazon.com/bedrock/latest/userguide/guardrails.html
	filteredPrompt = pattern.New(`\b(?:blocked|refused|rejected|flagged) (?:the|your|this) (?:prompt|input|request content|content)\b|\b(?:prompt|input|content) (?:was|is|has been) (?:blocked|flagged)\b|\bprohibited_content\b|\bblock_?reason\b`)
)

// awsType returns the error class of a service of AWS: com.amazon.coral.service#ThrottlingException without what is in front of it.
func awsType(s string) string { return s[strings.LastIndexByte(s, '#')+1:] }

// The address of a request is wrong: nothing serves the API there.
var (
	// bareNotFound matches what web servers and frameworks answer to a path that they do not serve, and nothing else.
	// source: net/http (404 page not found), learn.microsoft.com/azure/ai-foundry (Resource not found), fastapi.tiangolo.com ({"detail":"Not Found"}), ggml-org/llama.cpp (File Not Found), spring.io (status, error, path)
	bareNotFound = pattern.New(`^(?:404|405|error|not_?found(?:_error|error)?|(?:the )?(?:requested )?(?:page|file|path|route|endpoint|url|resource)|(?:was |is |could )?not (?:be )?found|method (?:is )?not allowed|on this server|post|/[\w/.:-]*|\d{4}-\d\d-[\w:.+-]+|[\s:.,!-])*$`)
	// pathNotFound matches sentences about a path that is not served.
	// source: developers.openai.com (Invalid URL, Unknown request URL), docs.konghq.com (no Route matched), expressjs.com (Cannot POST), fastify.dev (Route POST:/x not found),
	// ngrok.com/docs/errors (ERR_NGROK_3200), vercel/examples#877 (DEPLOYMENT_NOT_FOUND), docs.railway.com (Application not found), anthropics/claude-code#14007 (Path must be of form)
	pathNotFound = pattern.New(`\b(?:invalid url|unknown request url)\b|\bno route (?:matched|for|found)\b|\bcannot post /|\bno (?:static resource|handler found for)\b|\bunknown (?:path|route|url)\b|\b(?:path|route|url) \S{1,200} (?:was |is )?(?:not found|does not exist)\b|` +
		`\berr_ngrok_\d|\bpath must be of form\b|\bnot be found on vercel\b|\bthe page could not be found\b|\bno such app\b|\b(?:application|site|tunnel) (?:\S{1,200} )?(?:was |is )?(?:not found|offline)\b`)
	// notImplemented matches what servers without an API answer to it. source: rfc-editor.org/rfc/rfc9110#section-15.6.2
	notImplemented = pattern.New(`^(?:501|error|not[ _]?implemented(?:_error)?|unimplemented|not_supported(?:_error)?|the (?:requested )?(?:method|endpoint|api) is|[\s:.,!-])*$|` +
		`\b(?:responses|messages|chat completions?) (?:api|endpoint)\b[^.\n]{0,40}\bnot (?:yet )?(?:supported|implemented|available)\b|\b(?:does not|doesn['’]t) (?:yet )?(?:support|implement)\b[^.\n]{0,30}\b(?:responses|messages|chat completions?) (?:api|endpoint)\b`)
	// missingPage matches web pages about a path that is not served.
	missingPage = pattern.New(`\bnot found\b|\bcannot post /|\bnot allowed\b`)
	// refusalPage matches web pages that say what of a request is refused.
	refusalPage = pattern.New(`\bunsupported\b|\bnot (?:support|permitted|accept|valid)|\bunrecogni[sz]ed\b|\binvalid\b`)
	// gatePage matches web pages of what stands in front of a server: they say nothing of the address.
	gatePage = pattern.New(`just a moment|captcha|checking your browser|maintenance|sign in|log in|login`)
	// unexpectedPath matches what LM Studio answers with status 200. source: lmstudio.ai/docs/developer/openai-compat
	// noVersion matches what Azure says of an address without its version. source: learn.microsoft.com/azure/ai-services/openai/reference
	noVersion = pattern.New(`\bapi[- ]version\b[^.\n]{0,40}\b(?:not supported|required)\b|\b(?:unsupported|invalid|missing|missing required query parameter)\W{1,3}api[- ]version\b|\bmodel \S{1,100} is enabled only for api versions?\b`)
	// wrongScheme matches what servers of HTTPS answer to HTTP. source: nginx.org/en/docs/http/configuring_https_servers.html (497), net/http
	wrongScheme = pattern.New(`\bplain http request was sent to https port\b|\bsent an http request to an https server\b`)
	// noRoute matches what Cloudflare says of an address without an account. source: anomalyco/opencode#23773, musistudio/claude-code-router#1630 (7003)
	noRoute        = pattern.New(`\bcould not route to /`)
	unexpectedPath = pattern.New(`\bunexpected endpoint or method\b`)
)

// cures are what owners can do about errors that say what is missing.
var cures = []struct {
	of    *pattern.Pattern
	class agent.ErrorClass
	hint  string
}{
	{newerServer, agent.NoSuchModel, "Update the program that serves this model, or choose another model."},
	{noPrice, agent.NoSuchModel, "Ask the gateway's operator to set a price for the model."},
	{noVersion, agent.BadAddress, "Set an `api-version` that supports this model, in `query` or `baseUrl` of this provider."},
	{wrongScheme, agent.BadAddress, "Begin `baseUrl` of this provider with https://."},
}

var (
	newerServer = pattern.New(`\bmodel\b[^\n]{0,80}\brequires (?:a )?(?:newer|later|more recent) version of (?:ollama|llama|lm ?studio|vllm|mlx|transformers|(?:the|this) (?:server|runtime|engine|program))`) // source: ollama/ollama#14876
	noPrice     = pattern.New(`\b(?:ratio|price|pricing) (?:is )?not (?:set|configured)\b|(?:倍率|价格)[^。\n]{0,6}未`)                                                                                              // source: QuantumNous/new-api#941
)

// cure says what an owner can do about an error; "" = that is not known.
func (f *Fault) cure() string {
	for _, c := range cures {
		if c.of.MatchString(f.All) && f.Class() == c.class {
			return c.hint
		}
	}
	return ""
}

// ofAddress reports whether an error says that the address is wrong, not what was sent there.
func (f *Fault) ofAddress() bool {
	s := f.Status
	switch {
	case s >= 300 && s < 400, s == http.StatusMisdirectedRequest, s == http.StatusUpgradeRequired: // of a server for other hosts, or another protocol
		return true
	case s == http.StatusNotFound, s == http.StatusMethodNotAllowed:
		return f.Page && (missingPage.MatchString(f.All) || !refusalPage.MatchString(f.All)) || bareNotFound.MatchString(strings.TrimSpace(f.All)) || pathNotFound.MatchString(f.All) || noRoute.MatchString(f.All)
	case s == http.StatusNotImplemented:
		return f.Page && !refusalPage.MatchString(f.All) || notImplemented.MatchString(strings.TrimSpace(f.All))
	case s == http.StatusBadRequest:
		return noVersion.MatchString(f.All) || noRoute.MatchString(f.All) || wrongScheme.MatchString(f.All)
	case s == http.StatusOK, s == 0:
		return f.Page && !gatePage.MatchString(f.All) || unexpectedPath.MatchString(f.All)
	}
	return false
}
