package wire

import (
	"net/http"
	"slices"
	"strings"

	"parley/agent"
	"parley/channels/pattern"
)

// Class returns the class of an error, by all that it says and its status.
func (f *Fault) Class() agent.ErrorClass { return classify(f) }

// classify gives the class of what a provider said. Status 0 is an error inside an answer that began well.
func classify(f *Fault) agent.ErrorClass {
	s := f.Status
	switch {
	case s == http.StatusUnavailableForLegalReasons && !f.says(agent.BadKey), f.ofContent():
		return agent.Refused
	case s == http.StatusPaymentRequired && strings.Contains(f.All, "in_flight"): // of other requests, which end soon. source: openrouter.ai/docs/api/errors
		return agent.RateLimited
	case f.ofAddress():
		return agent.BadAddress
	case s == http.StatusPaymentRequired && tooLong(f):
		return agent.TooLong
	case s == http.StatusPaymentRequired, s != http.StatusUnauthorized && !f.has(rateCodes) && (f.is(creditCodes, creditWords) || f.says(agent.NoCredit)),
		s == http.StatusUnauthorized && (f.is(creditCodes, creditWords) || f.says(agent.NoCredit)) && !f.ofKey(), f.has(rateCodes) && f.isMoneyGone():
		return agent.NoCredit // comes as 429 too, but waiting does not help
	case tooLong(f):
		return agent.TooLong
	case s < 500 && s != http.StatusUnauthorized && f.ofMessageQuota():
		return agent.RateLimited
	case s != http.StatusUnauthorized && (s >= 400 && f.has(rateCodes) || f.says(agent.RateLimited)):
		return agent.RateLimited
	case s != http.StatusTooManyRequests && f.IsPassing():
		return agent.Overloaded
	case s < 500 && f.WantsResponses(), s == http.StatusNotFound && ofParameters.MatchString(f.All):
		return agent.BadRequest // the model exists, elsewhere or without a parameter
	case f.has(modelCodes):
		return agent.NoSuchModel
	case s == http.StatusTooManyRequests:
		return agent.RateLimited
	case (s == http.StatusInternalServerError || s == http.StatusBadGateway) && f.ofKey():
		return agent.BadKey // of a router: that of what is behind it
	case slices.Contains(modelStatuses, s) && f.says(agent.NoSuchModel), s >= 500 && innerNotFound.MatchString(f.All) && f.ofModel(), (s == http.StatusUnauthorized || s == http.StatusForbidden) && f.says(agent.NoSuchModel) && !f.ofKey():
		return agent.NoSuchModel
	case s >= 500 && f.invalid():
		return agent.BadRequest // of a router: what is behind it refused the request, and will again
	case s == http.StatusBadRequest && f.has(failureCodes) && strings.Contains(f.All, "internal server error"):
		return agent.Overloaded // of a router: what is behind it failed
	case s >= 500, slices.Contains(passingStatuses, s) && !f.ofKey():
		return agent.Overloaded
	case f.Page && s == http.StatusForbidden:
		return agent.Unreachable // a proxy or a bot check stands in between: it says nothing of the key
	case s == http.StatusForbidden && planWithout.MatchString(f.All):
		return agent.NoSuchModel
	case s == http.StatusUnauthorized, s == http.StatusForbidden, s == http.StatusProxyAuthRequired, s >= 400 && f.ofKey():
		return agent.BadKey
	case s == http.StatusNotFound, s == http.StatusGone && strings.Contains(f.All, "model"), s >= 400 && (f.ofModel() || f.Param == "body.model"):
		return agent.NoSuchModel
	case s >= 300:
		return agent.BadRequest
	}
	return inside(f)
}

// inside gives the class of an error that came without a status of its own.
func inside(f *Fault) agent.ErrorClass {
	switch {
	case f.has(rateCodes):
		return agent.RateLimited
	case f.has(failureCodes):
		return agent.Overloaded
	case f.is([]string{"permission_error", "1004", "2049"}, []string{"login fail"}), f.ofKey(): // the last two: MiniMax
		return agent.BadKey
	case f.has([]string{"not_found_error"}), f.ofModel():
		return agent.NoSuchModel
	case f.has([]string{"invalid_request_error", "invalid_request", "bad_request", "badrequesterror", "bad_request_error", "2013", "1210", "1212", "1213", "1214", "1215"}), badParameter.MatchString(f.All): // MiniMax, Z.AI
		return agent.BadRequest
	}
	return agent.Broken
}

// badParameter matches words for a request that is wrong. source: docs.z.ai/api-reference/api-code, zai-org/feedback#81 (1210 in a stream)
var badParameter = pattern.New(`\binvalid (?:api )?param(?:eter)?s?\b|参数(?:有误|非法|错误)`)

var (
	responsesWord = pattern.New(`(use|try|via|through|with|only (supported|available) (in|on|by|via|through|with)|supported in|switch to)\W{1,4}(the )?(openai )?(\S{0,30}/?v1/responses|responses (api|endpoint)|/responses)`)
	chatWord      = pattern.New(`chat.?completions?|chat model|instead|only|not supported`)
)

// WantsResponses reports whether an error says that the model is served by the Responses API instead of chat completions.
func (f *Fault) WantsResponses() bool {
	return responsesWord.MatchString(f.All) && chatWord.MatchString(f.All)
}

// ofKey reports whether an error is about who asks, whatever its status.
func (f *Fault) ofKey() bool {
	return f.is(keyCodes, keyWords) || f.says(agent.BadKey) || noAccess.MatchString(f.All) && !f.ofModel()
}

// isMoneyGone reports whether an error with the code of a limit is about money: nothing is allowed until somebody pays.
func (f *Fault) isMoneyGone() bool { return f.has(creditCodes) || moneyGone.MatchString(f.All) }

var (
	// moneyGone is in errors about money that have the code of a limit. A quota of 0 is that of a model which is not free.
	// source: ai.google.dev/gemini-api/docs/billing, google-gemini/gemini-cli#22486 (limit: 0), zai-org/feedback#789 (Insufficient balance)
	moneyGone = pattern.New(`\bcredits? (?:are|is) (?:depleted|used up)|\bspending cap\b|\binsufficient (?:account )?balance\b|\bquota exceeded\b[^\n]{0,160}\blimit: 0\b`)
	// noAccess is in errors about accounts and keys that have no right to anything here.
	// source: anthropics/claude-code#29905, anthropics/claude-code#30854
	noAccess = pattern.New(`\b(?:account|organi[sz]ation|workspace|project|team|user|key|token|subscription)\b[^.\n]{0,30}\b(?:do|does)(?: not|n['’]t) (?:currently )?have (?:access|permissions?)\b`)
	// planWithout is in errors about a plan that has not all models. source: platform.minimax.io/docs/api-reference/errorcode (2061)
	planWithout = pattern.New(`\bplan (?:does )?not (?:support|include)\b|\bnot (?:available|included|supported) (?:on|in|with) your (?:current )?plan\b`)
	// modelStatuses are given by routers that have no server for a model. source: QuantumNous/new-api (503: No available channel for model)
	modelStatuses = []int{http.StatusInternalServerError, http.StatusNotImplemented, http.StatusServiceUnavailable}
	// failureCodes are given by servers that failed.
	failureCodes = []string{"overloaded_error", "api_error", "server_error", "timeout_error", "internal_server_error", "service_unavailable", "service_unavailable_error", "server_is_overloaded", "server_overloaded", "slow_down", "vector_store_timeout"}
)

// invalidCodes are given for requests that are wrong, whatever the status.
var invalidCodes = []string{"invalid_request_error", "unknown_parameter", "unsupported_parameter", "unsupported_value", "invalid_parameter_error", "badrequesterror", "extra_forbidden", "string_type"}

// innerStatus matches the status of a refusal that a router quotes, innerNotFound that of something which is not there.
// source: QuantumNous/new-api (bad response status code 400), continuedev/continue#13261 (Invalid status code: 400 Bad Request)
var (
	innerStatus   = pattern.New(`\bstatus(?: code)?\W{0,3}(?:400|422)\b|\b(?:400 bad request|422 unprocessable)|` + behindRouter + `(?:400|422)\b`)
	innerNotFound = pattern.New(`\bstatus(?: code)?\W{0,3}404\b|\b404 not found|` + behindRouter + `404\b`)
)

// behindRouter stands in front of the status of what is behind a router.
const behindRouter = `\b(?:upstream|provider|backend)(?: (?:error|request|response|status|api|code|failed|returned|responded|answered|rejected|with|an?|http)){0,4}:? \(?`

// QuotesRefusal reports whether an error gives the status of a refusal by what is behind a router.
func (f *Fault) QuotesRefusal() bool { return innerStatus.MatchString(f.All) }

// invalid reports whether an error says that the request is wrong, although its status says something else.
// Beside a status of servers that are down, the type invalid_request_error alone says nothing.
func (f *Fault) invalid() bool {
	codes := invalidCodes
	if f.Status > http.StatusNotImplemented && f.Param == "" {
		codes = codes[1:]
	}
	return f.has(codes) || f.QuotesRefusal()
}

// IsPassing reports whether an error is one that the same request mostly does not meet again: a call that the model spoiled, a server
// that is busy.
func (f *Fault) IsPassing() bool {
	return (f.is(passingCodes, passingWords) || f.isBadSample() || f.says(agent.Overloaded)) && !retryOther.MatchString(f.All)
}

// retryOther is in errors that want another request, as that of Databricks about a model that it does not have.
var retryOther = pattern.New(`\bplease retry (?:with|after)\b`)

// has reports whether one of the codes was given, in lower case.
func (f *Fault) has(codes []string) bool {
	return slices.ContainsFunc(f.Codes, func(c string) bool { return slices.Contains(codes, c) })
}

// is reports whether one of the codes was given, or one of the words stands in what was said.
func (f *Fault) is(codes, words []string) bool {
	return f.has(codes) || slices.ContainsFunc(words, func(w string) bool { return strings.Contains(f.All, w) })
}

// The codes and words of the classes, in lower case. Each is from a provider's documentation or from a report of what it said.
var (
	contentCodes = []string{"content_filter", "content_policy_violation", "responsibleaipolicyviolation", "data_inspection_failed", "datainspectionfailed", "content_filtered",
		"prompt_blocked", "prohibited_content", "1301", "new_sensitive", "moderation_blocked", "guardrail_intervened", "safety", "cyber_policy_violation", "policy_violation",
		"cyber_policy", "safety_check_failed", "1026", "1027", // OpenAI, ZenMux, MiniMax
		"guardrail_violation", "blocklist", "spii", "jailbreak", // LiteLLM, Gemini
		"inputtextsensitivecontentdetected", "inputimagesensitivecontentdetected", "sensitivecontentdetected"} // Volcengine
	contentWords = []string{
		"content management policy",              // Azure
		"content filter",                         // Azure, Vertex
		"content exists risk",                    // DeepSeek
		"considered high risk",                   // Moonshot
		"inappropriate content",                  // DashScope
		"flagged as potentially violating",       // OpenAI
		"violating our usage policy",             // OpenAI
		"violate our usage policy",               // Anthropic. source: anthropics/claude-code#50795
		"input was flagged",                      // OpenRouter
		"blocked by our safety", "safety system", // OpenAI
		"prompt was blocked",                       // Gemini
		"sensitive content", "unsafe or sensitive", // Zhipu, MiniMax
		"violates our content policy", "violates content policy", "content policy violation",
		"blocked by guardrail", "blocked by content filtering policy", // Bedrock, Anthropic
		"flagged for possible", "suspicious activity related to", // OpenAI. source: openai/codex#43131, openai/codex#13311
		"violates usage guidelines", "safety_check_type", // xAI, with 403. source: UKGovernmentBEIS/inspect_ai#2267, theopenco/llmgateway#1785
		"blocked by content policy", "denied by policy", "nsfw", // gateways, Cloudflare
		"new_sensitive",             // MiniMax. source: esengine/DeepSeek-Reasonix#6824
		"不安全或敏感内容", "safety policy", // Z.ai, ZenMux
	}
	rateCodes   = []string{"throttlingexception", "throttling", "servicequotaexceededexception", "1302", "1303", "1305", "rate_limit_error", "rate_limit_exceeded", "resource_exhausted", "rate_limit_reached_error", "too_many_requests", "requestlimitexceeded", "limitexceeded", "1002", "1039", "2045", "2056", "17", "18", "19"} // MiniMax, Qianfan
	creditCodes = []string{"insufficient_quota", "billing_error", "billing_not_active", "insufficient_balance", "billing_hard_limit_reached", "payment_required", "arrearage", "insufficient_credits", "exceeded_current_quota_error", "insufficient_user_quota", "1113", "quota_exceeded_billing",
		"1309", "1008", "budget_exceeded", "openrouter_key_limit", "openrouter_guardrail_budget", "openrouter_workspace_budget", "billing_balance_not_enough", "not_enough_balance", "accountoverdueerror", "setlimitexceeded", "creditserror", "exceededbudget", "billing_disabled", "customer_verification_required", "failedoperation.freeresourcepackexhausted", "failedoperation.resourcepackexhausted"} // Z.ai, MiniMax, LiteLLM, OpenRouter, Novita, Volcengine, Google, Vercel, Tencent
	creditWords = []string{
		"credit balance",                                       // Anthropic
		"insufficient balance", "insufficient account balance", // DeepSeek, Moonshot
		"insufficient credit", "more credits", "out of credits", "no credits", "any credits", "add credits", "purchase credits", // OpenRouter, Together, xAI
		"requires at least one payment", "payment required", "payment method", "payment instrument", "unpaid", "overdue payment", "overdue balance", "daily free allocation", "good standing", // DashScope
		"spending limit", "spend limit", "billing hard limit", "exceeded your monthly", "monthly spend", "prepaid", "欠费",
		"api usage limits",                                                        // Anthropic
		"budget limit exceeded", "budget has been exceeded", "key limit exceeded", // OpenRouter, LiteLLM
		"套餐已到期", "not enough balance", // Z.ai, Novita
		"exceededbudget:", "requires billing to be enabled", "requires a valid credit card", // LiteLLM, Google, Vercel. source: BerriAI/litellm#9658, vercel.com/docs/ai-gateway
		"session usage limit", "hourly usage limit", "daily usage limit", "weekly usage limit", // Ollama. source: continuedev/continue#11444
	}
	modelCodes   = []string{"model_not_found", "model_not_supported", "model_not_available", "dedicated_endpoint_not_running", "operationnotsupported", "model_terms_required", "model_price_error", "model_permission_blocked_project", "key_model_access_denied", "team_model_access_denied", "1211", "1311"} // GitHub Copilot, Together, Groq, New API, LiteLLM, Z.ai. source: caozhiyuan/copilot-api#108, HeyPuter/puter#3168
	passingCodes = []string{"tool_use_failed", "output_parse_failed", "json_validate_failed", "capacity_exceeded"}                                                                                                                                                                                              // Groq
	sampleWords  = []string{
		"failed to call a function",    // Groq
		"failed_generation",            // Groq
		"failed to parse tool call",    // llama.cpp
		"failed to parse input at pos", // llama.cpp
		"tool call validation failed",  // Groq
		"malformed_function_call",      // Gemini
		"error parsing tool call",      // Ollama
		"invalid tool call arguments",  // Ollama
		"xml syntax error on line",     // Ollama. source: ollama/ollama#16810
		"expected element type",        // Ollama. source: continuedev/continue#10896
		"output that does not match",   // llama.cpp. source: ggml-org/llama.cpp#27025
	}
	passingWords = append([]string{
		"please retry", "please try again later", "try again later", "temporarily unavailable", "currently overloaded", "currently loading", "engine is busy", "no capacity", "at capacity", "capacity exceeded", "degraded function", "total request limit reached",
	}, sampleWords...)
	keyCodes = []string{"authentication_error", "invalid_api_key", "invalid_authentication_error", "unauthorized", "api_key_invalid", "unauthenticated", "invalidapikey", "account_deactivated", "invalid_token", "invalid_iam_token", "iam_certification_failed", "unsupported_country_region_territory"}
	keyWords = []string{"api key not valid", "incorrect api key", "invalid api key", "no auth credentials", "api key expired", "invalid x-api-key", "authentication error:", "authfailure."} // the last one: Tencent. source: cloud.tencent.com/document/product/1729/101837
)

// modelGone matches texts about a model that is no longer served. source: ai-ecoverse/slicc#1135, caidaoli/ccLoad#107
var modelGone = pattern.New(`\bmodels?\b.{0,100}(?:decommissioned|end of life|\bretired\b|no longer (?:available|served|offered|hosted)|discontinued|been (?:shut ?down|sunset))`)

// modelPart matches what belongs to a model, and is none. source: docs.litellm.ai/docs/exception_mapping
var modelPart = pattern.New(`\bmodel (?:parameters?|options?|settings?|arguments?|fields?|outputs?|responses?)\b`)

func (f *Fault) ofModel() bool {
	text := f.All
	if f.says(agent.NoSuchModel) || modelGone.MatchString(text) {
		return true
	}
	if text = modelPart.ReplaceAllString(text, ""); !strings.Contains(text, "model") {
		return false
	}
	for _, s := range []string{"not found", "does not exist", "not a valid model", "unknown model", "no such model", "not exist", "invalid model", "is not available", "not supported model"} {
		if strings.Contains(text, s) {
			return true
		}
	}
	return false
}
