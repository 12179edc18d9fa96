package endpoints

import "fmt"

// What people see of a provider that does not accept the key, wants to be paid, does not have the model, or is not there.
const (
	deniedKey   = `does not accept my key`
	deniedMoney = `wants to be paid first`
	deniedModel = `does not have this model`
)

// denies is a row of an endpoint that refuses each request in words of its own.
func denies(id, vendor, source, does string, no *Refusal, words string) Row {
	want := dies(words)
	want.Refused = 5 // one for each turn: nothing of the request is the reason
	return Row{ID: id, Vendor: vendor, Source: source, Does: does, Checks: never(no), Want: want}
}

// whole refuses requests without a stream or without instructions.
func whole(c *Call) *Refusal {
	if c.Body["stream"] != true || c.System == "" {
		return plain(400, "a part of the request is missing")
	}
	return nil
}

// failsOnce is a row of an endpoint that fails once, and names a part of the request.
func failsOnce(id, vendor, source, does string, no *Refusal) Row {
	return Row{ID: id, Vendor: vendor, Source: source, Does: does, Fails: []Failure{failOnce(asked("hello"), no)}, Checks: []Check{whole}}
}

// idsLike wants call ids of a form: of calls and of their results.
func idsLike(form string, no func(message, call int, id string) *Refusal) Check {
	return func(c *Call) *Refusal {
		for i, m := range c.Messages {
			for k, call := range m.Calls {
				if !matches(form, call.ID) {
					return no(i, k, call.ID)
				}
			}
			if m.Role == "tool" && !matches(form, m.CallID) {
				return no(i, 0, m.CallID)
			}
		}
		return nil
	}
}

const (
	callForm  = `^call_[a-zA-Z0-9]{24}$`
	toolForm  = `^srvtoolu_[a-zA-Z0-9_]+$`
	idPattern = "ding113/claude-code-hub#470"
)

// denied are endpoints whose refusals say whose fault they are in words of their own, or say it of nobody.
var denied = []Row{
	denies("account-without-access", "Anthropic", "anthropics/claude-code#29905", "answers 400 to an account without rights", claude(400, "invalid_request_error", "Your account does not have access to Claude. Please contact support."), deniedKey),
	denies("copilot-personal-token", "GitHub Copilot", "copilot-extensions/blackbeard-extension#6", "answers 400 to tokens of another kind", plain(400, "bad request: Personal Access Tokens are not supported for this endpoint"), deniedKey),
	denies("bedrock-use-case", "Bedrock by a gateway", "truefoundry/models#934", "answers 400 until a form is filled in", message(400, "aws-bedrock error: The model returned the following errors: You have not filled out the required use-case form for this model. Complete the form before requesting access."), deniedKey),

	denies("hf-other-task", "Hugging Face", "docling-project/docling#2080", "answers 400 to a model that is for another task", raw(400, `{"error":"Model x/y is not supported for task conversational and provider hf-inference. Supported task: feature-extraction."}`), deniedModel),
	denies("ollama-too-old", "Ollama", "ollama/ollama#14876", "answers 412 to a model that is newer than itself", raw(412, `{"error":"The model you are attempting to pull requires a newer version of Ollama.\n\nPlease download the latest version at:\n\n\thttps://ollama.com/download"}`), deniedModel),
	denies("new-api-without-a-price", "New API", "QuantumNous/new-api#941", "answers 400 to a model that it has no price for", openAI(400, "new_api_error", "", "model_price_error", "模型 m 倍率或价格未配置，请设置或开始自用模式；Model m ratio or price not set, please set or start self-use mode"), deniedModel),
	denies("new-api-without-a-channel", "New API", "QuantumNous/new-api#801", "answers 503 to a model that no channel of it has", openAI(503, "new_api_error", nil, nil, "No available channel for model m under group default (distributor)"), deniedModel),
	denies("zen-disabled-model", "OpenCode Zen", "anomalyco/opencode#17550", "answers 401 to a model that is switched off", claude(401, "ModelError", "Model is disabled"), deniedModel),
	denies("litellm-model-of-others", "LiteLLM", "BerriAI/litellm#39660", "answers 403 to a model that is not for this key", openAI(403, "key_model_access_denied", "model", "403", "key not allowed to access model. This key can only access models=['m']. Tried to access n"), deniedModel),

	denies("new-api-reserve-failed", "New API", "clacky-ai/openclacky#100", "answers 403 when it could not reserve the price of an answer", openAI(403, "new_api_error", nil, nil, "预扣费额度失败, 用户剩余额度: ＄2.533620, 需要预扣费额度: ＄2.627750"), deniedMoney),
	denies("gemini-quota-of-nothing", "Google", "google-gemini/gemini-cli#22486", "answers 429 to a model that is not free, with a quota of 0", google(429, "RESOURCE_EXHAUSTED", "You exceeded your current quota, please check your plan and billing details.\n* Quota exceeded for metric: generativelanguage.googleapis.com/generate_content_free_tier_requests, limit: 0, model: gemini-3.1-pro\nPlease retry in 25.4s."), deniedMoney),
	denies("volcengine-set-limit", "Volcengine", "volcengine/MineContext#328", "answers 429 when a limit that its owner set is reached", raw(429, `{"error":{"code":"SetLimitExceeded","message":"Your account [2100] has reached the set inference limit for the [m] model, and the model service has been paused.","param":"","type":"TooManyRequests"}}`), deniedMoney),
	denies("glm-no-balance-as-a-limit", "Z.ai", "zai-org/feedback#789", "calls an empty account a limit of requests", raw(429, `{"type":"error","error":{"type":"rate_limit_error","code":"1113","message":"[1113][Insufficient balance or no resource package. Please recharge.]"}}`), deniedMoney),

	denies("azure-version", "Azure", "hotovo/aider-desk#460", "answers 400 to a version that it does not know", raw(400, `{"error":{"code":"BadRequest","message":"Unsupported api-version '2023-01-01'. The supported api-versions are '2024-10-21'."}}`), addressWords),
	denies("databricks-path", "Databricks", "anthropics/claude-code#14007", "answers 404 with the form that a path is to have", message(404, "Path must be of form /serving-endpoints/<endpoint_name>/invocations or /serving-endpoints/<endpoint_name>/served-models/<served_model_name>/invocations"), addressWords),
	denies("vercel-no-deployment", "Vercel", "vercel/examples#877", "answers 404 where nothing is deployed", plain(404, "The deployment could not be found on Vercel.\n\nDEPLOYMENT_NOT_FOUND\n\nfra1::x-1"), addressWords),
	denies("ngrok-offline", "ngrok", "https://ngrok.com/docs/errors", "answers 404 where no tunnel is open", plain(404, "The endpoint abc.ngrok-free.app is offline.\n\nERR_NGROK_3200"), addressWords),

	failsOnce("internal-error-at-stream", "a gateway", "https://platform.openai.com/docs/guides/error-codes", "fails once, and names the parameter for streams", openAI(400, "server_error", "stream", nil, "Internal error")),
	failsOnce("timeout-at-stream", "a gateway", "https://platform.openai.com/docs/guides/error-codes", "takes too long once, and names the parameter for streams", openAI(422, "timeout_error", "stream", nil, "deadline exceeded")),
	failsOnce("role-in-an-upstream-answer", "a gateway", "https://platform.openai.com/docs/guides/error-codes", "fails once to read what a server answered", invalid(nil, nil, "unexpected role in upstream response: system")),

	{ID: "ids-by-a-pattern", Vendor: "a gateway", Source: idPattern, Does: "takes ids of calls in one form only, and names it", Checks: []Check{idsLike(callForm, func(message, call int, id string) *Refusal {
		return invalid(nil, nil, "Invalid 'messages[%d].tool_calls[%d].id': '%s'. tool_call id must match %s", message, call, id, callForm)
	})}, Want: Expectation{Refused: 1}},
	{ID: "ids-by-a-prefix", Vendor: "a gateway", Source: idPattern, Does: "says in words how ids of calls begin", Checks: []Check{idsLike(`^toolu_\w+$`, func(message, call int, id string) *Refusal {
		return invalid(fmt.Sprintf("messages[%d].tool_calls[%d].id", message, call), "invalid_value", "Invalid tool call id '%s': it must begin with 'toolu_'.", id)
	})}, Want: Expectation{Refused: 1}},
	{ID: "ids-by-a-pattern-at-responses", API: Responses, Vendor: "a gateway", Source: idPattern, Does: "takes ids of calls in one form only at the Responses API", Checks: []Check{idsLike(callForm, func(message, _ int, id string) *Refusal {
		return invalid(fmt.Sprintf("input[%d].call_id", message), "invalid_value", "Invalid 'input[%d].call_id': string does not match pattern. Expected a string that matches the pattern '%s'.", message, callForm)
	})}, Want: Expectation{Refused: 1}},
	{ID: "ids-by-a-pattern-at-messages", API: Messages, Vendor: "a relay of Claude", Source: idPattern, Does: "takes ids of calls in one form only at the Messages API", Checks: []Check{idsLike(toolForm, func(message, _ int, _ string) *Refusal {
		return claude(400, "invalid_request_error", "messages.%d.content.0.tool_use.id: String should match pattern '%s'", message, toolForm)
	})}, Want: Expectation{Refused: 1}},
}
