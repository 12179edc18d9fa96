package wire

import (
	"strings"
	"testing"

	"parley/agent"
)

// TestVendorWords: whose fault a refusal is, is read in its sentences where the status says something else.
func TestVendorWords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status int
		body   string
		want   agent.ErrorClass
	}{
		// source: anthropics/claude-code#29905, anthropics/claude-code#30854
		{400, `{"type":"error","error":{"type":"invalid_request_error","message":"Your account does not have access to Claude. Please contact support."}}`, agent.BadKey},
		{400, `{"type":"error","error":{"type":"invalid_request_error","message":"Your account does not have access to Claude Code. Please run /login."}}`, agent.BadKey},
		// source: copilot-extensions/blackbeard-extension#6, headroomlabs-ai/headroom#962
		{400, "bad request: Personal Access Tokens are not supported for this endpoint", agent.BadKey},
		{400, "checking third-party user token: bad request: Personal Access Tokens are not supported for this endpoint", agent.BadKey},
		// source: truefoundry/models#934, docs.aws.amazon.com/bedrock/latest/userguide/model-access.html
		{404, `{"message":"Model use case details have not been submitted for this account. Fill out the Anthropic use case details form before using the model. If you have already filled out the form, try again in 15 minutes."}`, agent.BadKey},
		{400, `{"error":{"message":"aws-bedrock error: The model returned the following errors: You have not filled out the required use-case form for this model. Complete the form before requesting access."}}`, agent.BadKey},
		// source: docs.litellm.ai/docs/proxy/error_reference
		{400, `{"error":{"message":"Authentication Error, Expired Key. Key Expiry time 2026-01-01","type":"expired_key","code":"400"}}`, agent.BadKey},
		{400, `{"error":{"message":"Key is blocked. Update via '/key/unblock' if you're admin.","type":"auth_error"}}`, agent.BadKey},
		// source: NVIDIA-NeMo/Guardrails#563
		{400, `{"error":{"message":"Organization has been restricted. Please reach out to support if you believe this was in error.","type":"invalid_request_error","code":"organization_restricted"}}`, agent.BadKey},
		// source: MoonshotAI/kimi-code#413
		{403, `{"error":{"message":"Kimi For Coding is currently only available for Coding Agents such as Kimi CLI, Claude Code, Roo Code, Kilo Code, etc.","type":"access_terminated_error"}}`, agent.BadKey},
		{423, `{"error":{"message":"Your account is locked"}}`, agent.BadKey},

		// source: docling-project/docling#2080, huggingface/api-inference-community#476
		{400, `{"error":"Model x/y is not supported for task conversational and provider hf-inference. Supported task: feature-extraction."}`, agent.NoSuchModel},
		// source: ollama/ollama#14876, ollama/ollama#14431
		{412, `{"error":"The model you are attempting to pull requires a newer version of Ollama.\n\nPlease download the latest version at:\n\n\thttps://ollama.com/download"}`, agent.NoSuchModel},
		{500, `{"error":"The model you are attempting to pull requires a newer version of Ollama that may be in pre-release."}`, agent.NoSuchModel},
		// source: QuantumNous/new-api#941, QuantumNous/new-api#801
		{400, `{"error":{"message":"模型 grok-2-1212 倍率或价格未配置，请设置或开始自用模式；Model grok-2-1212 ratio or price not set, please set or start self-use mode","type":"new_api_error","param":"","code":"model_price_error"}}`, agent.NoSuchModel},
		{500, `{"error":{"message":"模型 m 倍率或价格未配置，请联系管理员设置"}}`, agent.NoSuchModel},
		{503, `{"error":{"message":"当前分组 default 下对于模型 gpt-5 无可用渠道","type":"new_api_error"}}`, agent.NoSuchModel},
		{503, `{"error":{"message":"No available channel for model gpt-5 under group default (distributor)","type":"new_api_error"}}`, agent.NoSuchModel},
		{403, `{"error":{"message":"该令牌无权访问模型 gpt-5","type":"new_api_error"}}`, agent.NoSuchModel},
		// What notebooks of users of Databricks show.
		{404, `{"error_code":"ENDPOINT_NOT_FOUND","message":"The given endpoint does not exist, please retry after checking the specified model and version deployment exists."}`, agent.NoSuchModel},
		// source: anomalyco/opencode#17550, anomalyco/opencode#41697; SiliconFlow
		{401, `{"type":"error","error":{"type":"ModelError","message":"Model is disabled"}}`, agent.NoSuchModel},
		{401, `{"type":"error","error":{"type":"ModelError","message":"Model grok-code is not supported for format openai"}}`, agent.NoSuchModel},
		{403, `{"code":30003,"message":"Model disabled.","data":null}`, agent.NoSuchModel},
		{401, `{"error":{"message":"Model gpt-5 is not available on your current plan"}}`, agent.NoSuchModel},
		{403, `{"object":"error","message":"Model not available for your workspace tier","type":"forbidden"}`, agent.NoSuchModel},
		{403, `{"type":"error","error":{"type":"permission_error","message":"Claude Opus 5 is not available on your plan. Upgrade to use this model."}}`, agent.NoSuchModel},
		// Groq
		{403, "{\"error\":{\"message\":\"The model `x` is blocked at the project level. Please have a project admin enable this model in the project settings\",\"type\":\"permissions_error\",\"code\":\"model_permission_blocked_project\"}}", agent.NoSuchModel},
		// source: BerriAI/litellm#39660, BerriAI/litellm#1933
		{403, `{"error":{"message":"key not allowed to access model. This key can only access models=['m']. Tried to access n","type":"key_model_access_denied","param":"model","code":"403"}}`, agent.NoSuchModel},
		{401, `{"error":{"message":"team not allowed to access model. This team can only access models=['a']. Tried to access b","param":"model","code":"401"}}`, agent.NoSuchModel},
		// source: docs.aws.amazon.com/bedrock/latest/userguide/model-access.html
		{403, `{"message":"You don't have access to the model with the specified model ID."}`, agent.NoSuchModel},
		// source: lmstudio-ai/lmstudio-bug-tracker#1106
		{400, `{"error":"Failed to load model \"x\". Error: Model loading was stopped due to insufficient system resources."}`, agent.NoSuchModel},
		// source: Alishahryar1/free-claude-code#1021, capocasa/3code#2
		{404, `{"status":404,"title":"Not Found","detail":"Function '23d4f03a-b8a6-4adb-a183-7daa083a09cc': Not found for account 'Qaw'"}`, agent.NoSuchModel},
		{410, `{"type":"about:blank","title":"Gone","status":410,"detail":"The model 'z-ai/glm4.7' has reached its end of life on 2026-05-14T00:00:00Z and is no longer available."}`, agent.NoSuchModel},

		// source: clacky-ai/openclacky#100, TokenNotIncluded/api.lmm.best#453
		{403, `{"error":{"message":"预扣费额度失败, 用户剩余额度: ＄2.533620, 需要预扣费额度: ＄2.627750 (request id: 2026)"}}`, agent.NoCredit},
		{403, `{"error":{"message":"token quota is not enough, token remain quota: $95.277350, need quota: $100.781364","type":"new_api_error"}}`, agent.NoCredit},
		// source: google-gemini/gemini-cli#22486
		{429, `[{"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details.\n* Quota exceeded for metric: generativelanguage.googleapis.com/generate_content_free_tier_input_token_count, limit: 0, model: gemini-3.1-pro\nPlease retry in 25.4s.","status":"RESOURCE_EXHAUSTED"}}]`, agent.NoCredit},
		// source: volcengine/MineContext#328, www.volcengine.com/docs/82379/1299023
		{429, `{"error":{"code":"SetLimitExceeded","message":"Your account [2100] has reached the set inference limit for the [doubao-seed-1-6] model, and the model service has been paused.","param":"","type":"TooManyRequests"}}`, agent.NoCredit},
		{429, `{"error":{"code":"QuotaExceeded","message":"Your account [2100] has exhausted its free trial quota for the [doubao] model.","type":"TooManyRequests"}}`, agent.NoCredit},
		// source: zai-org/feedback#789
		{429, `{"type":"error","error":{"type":"rate_limit_error","code":"1113","message":"[1113][Insufficient balance or no resource package. Please recharge.]"}}`, agent.NoCredit},
		// source: caozhiyuan/copilot-api#228
		{429, `{"error":{"message":"You have no quota","code":"quota_exceeded"}}`, agent.NoCredit},
		// source: amd/gaia#3766, pollinations/pollinations#12136
		{412, `{"error":{"message":"Account x is suspended, possibly due to reaching the monthly spending limit or failure to pay past invoices.","param":null,"code":"PRECONDITION_FAILED","type":"error"}}`, agent.NoCredit},
		// source: NanmiCoder/cc-haha#1208
		{403, `{"error":{"type":"permission_error","message":"You've reached your usage limit for this billing cycle. Your quota will be refreshed in the next cycle."},"type":"error"}`, agent.NoCredit},
		// source: continuedev/continue#10373
		{429, `{"code":"Some resource has been exhausted","error":"Your team 16f2 has either used all available credits or reached its monthly spending limit."}`, agent.NoCredit},
		// Together
		{429, `{"error":{"message":"Credit limit exceeded, please add credits."}}`, agent.NoCredit},
		{403, `{"message":"Model access is denied due to INVALID_PAYMENT_INSTRUMENT:A valid payment instrument must be provided."}`, agent.NoCredit},                                         // Bedrock, with models of the Marketplace
		{401, `{"error":{"message":"Authentication Error, ExceededTokenBudget: Current spend for token: 7.2; Max Budget for Token: 7.0","type":"auth_error","code":"401"}}`, agent.NoCredit}, // source: BerriAI/litellm#9658

		// source: hotovo/aider-desk#460, egoist/chatwise-releases#258
		{400, `{"error":{"code":"BadRequest","message":"Unsupported api-version '2023-01-01'. The supported api-versions are '2024-10-21'."}}`, agent.BadAddress},
		{400, `{"error":{"code":"InvalidParameter","message":"The api-version 2020-01-01 is not supported.","target":"api-version"}}`, agent.BadAddress},
		{400, `{"error":{"code":"BadRequest","message":"Model o3-mini is enabled only for api versions 2024-12-01-preview and later"}}`, agent.BadAddress},
		// source: anthropics/claude-code#14007
		{404, `{"message":"Path must be of form /serving-endpoints/<endpoint_name>/invocations or /serving-endpoints/<endpoint_name>/served-models/<served_model_name>/invocations"}`, agent.BadAddress},
		// source: ngrok.com/docs/ai-gateway/guides/troubleshooting
		{400, `{"error":{"message":"No API key found. Check your SDK / AI Gateway configuration, or add API keys to your AI Gateway.","code":"ERR_NGROK_3802"}}`, agent.BadKey},
		{422, `{"error":{"message":"No matching models found: gpt-9","code":"ERR_NGROK_3804"}}`, agent.NoSuchModel},
		// source: vercel/examples#877, ngrok.com/docs/errors, docs.railway.com
		{404, `{"error":{"code":"DEPLOYMENT_NOT_FOUND","message":"The deployment could not be found on Vercel."}}`, agent.BadAddress},
		{404, "The page could not be found\n\nNOT_FOUND\n\nfra1::x-1", agent.BadAddress},
		{404, "Tunnel abc.ngrok-free.app not found\n\nERR_NGROK_3200", agent.BadAddress},
		{404, "The endpoint abc.ngrok-free.app is offline.\n\nERR_NGROK_3200", agent.BadAddress},
		{404, `{"status":"error","code":404,"message":"Application not found","request_id":"x"}`, agent.BadAddress},
		{404, `{"status":404,"error":"Not Found","path":"/v1/chat/completions"}`, agent.BadAddress},
		// source: rfc-editor.org/rfc/rfc9110#section-15.5.20, #section-15.5.22
		{421, "Misdirected Request", agent.BadAddress},
		{426, "Upgrade Required", agent.BadAddress},
		// source: rfc-editor.org/rfc/rfc4918#section-11.3
		{423, `{"error":{"message":"Locked"}}`, agent.Overloaded},

		// source: nginx.org/en/docs/http/configuring_https_servers.html (497), net/http; Heroku
		{400, "<html><head><title>400 The plain HTTP request was sent to HTTPS port</title></head></html>", agent.BadAddress},
		{400, "Client sent an HTTP request to an HTTPS server.\n", agent.BadAddress},
		{404, "No such app", agent.BadAddress},
		{404, `{"error":"Not Found","message":"The requested resource could not be found"}`, agent.BadAddress},
		// GitHub Models, Ollama, LiteLLM and gateways
		{400, `{"error":{"code":"unavailable_model","message":"Unavailable model: x","details":"Unavailable model: x"}}`, agent.NoSuchModel},
		{400, `{"error":"\"embeddinggemma\" does not support generate"}`, agent.NoSuchModel},
		{400, `{"error":{"code":"UserError","message":"The specified deployment could not be found."}}`, agent.NoSuchModel},
		{400, `{"error":{"message":"Model is not deployed on this server","type":"BadRequestError"}}`, agent.NoSuchModel},
		{400, `{"error":{"message":"No permission to use this model","code":"no_model_permission"}}`, agent.NoSuchModel},
		{403, `{"error":{"message":"This API key is not authorized for model gpt-5"}}`, agent.NoSuchModel},
		{400, `{"error":{"message":"The model gpt-5 is not in the list of allowed models for this key"}}`, agent.NoSuchModel},
		// source: anthropics/claude-code#67939 (spend limit), cloud.tencent.com/document/product/1729/101837
		{400, `{"error":{"message":"Organization has a spend limit in place that has been reached"}}`, agent.NoCredit},
		{403, `{"error":{"message":"Your subscription has expired","type":"permission_error"}}`, agent.NoCredit},
		{403, `{"message":"You have exceeded your quota. Please upgrade your plan."}`, agent.NoCredit},
		{200, `{"Response":{"Error":{"Code":"FailedOperation.ServiceNotActivated","Message":"服务未开通，请前往控制台开通"}}}`, agent.BadKey},
		{200, `{"Response":{"Error":{"Code":"OperationDenied.TextIllegalDetected","Message":"文本包含违法违规信息，审核不通过"}}}`, agent.Refused},
		{400, `{"error":{"message":"Invalid token"}}`, agent.BadKey},

		// What only looks like it.
		{400, `{"error":{"message":"Invalid token in JSON at position 12"}}`, agent.BadRequest},
		{400, `{"error":{"message":"Unknown model parameter: top_k"}}`, agent.BadRequest},
		{400, `{"error":{"message":"The value is not in the list of allowed values: low, high"}}`, agent.BadRequest},
		{429, `[{"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details.\n* Quota exceeded for metric: generativelanguage.googleapis.com/generate_content_free_tier_requests, limit: 20, model: gemini-2.5-flash-lite","status":"RESOURCE_EXHAUSTED"}}]`, agent.RateLimited}, // source: itcon-pty-au/stremio-ai-search#170
		{400, `{"error":{"message":"images are disabled for this model"}}`, agent.BadRequest},
		{400, `{"error":{"message":"Streaming is disabled for model x"}}`, agent.BadRequest},
		{400, `{"error":{"message":"Tool choice is not supported for this model","type":"invalid_request_error"}}`, agent.BadRequest},
		{400, `{"error":{"message":"reasoning_effort is enabled only for api versions 2024-12-01-preview and later"}}`, agent.BadRequest},
		{404, `{"code":"Some requested entity was not found","error":"The model grok-9 does not exist or your team x does not have access to it."}`, agent.NoSuchModel},
		{404, "{\"error\":{\"code\":404,\"message\":\"Publisher Model `m` was not found or your project does not have access to it.\",\"status\":\"NOT_FOUND\"}}", agent.NoSuchModel},
		{403, `{"error":{"message":"Model x does not support images","type":"invalid_request_error"}}`, agent.BadKey},
		{503, `{"error":{"message":"The model is overloaded. Please try again later."}}`, agent.Overloaded},
	} {
		if got := classOf(c.status, c.body); got != c.want {
			t.Errorf("%d %s: %s, not %s", c.status, c.body, got, c.want)
		}
	}
}

// TestCures: an owner reads what to do where an error says what is missing.
func TestCures(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"error":"The model you are attempting to pull requires a newer version of Ollama."}`:                                       "Update the program",
		`{"error":{"message":"模型 m 倍率或价格未配置"}}`:                                                                                      "set a price",
		`{"error":{"code":"BadRequest","message":"API version not supported"}}`:                                                      "api-version",
		`{"error":{"message":"The model does not exist"}}`:                                                                           "",
		`{"error":{"message":"tools: this model requires a newer version of the tool format, or no tools","param":"tools[0].type"}}`: "",
	} {
		f := ReadFault([]byte(body))
		f.Status = 400
		if got := f.cure(); !strings.Contains(got, want) || (got == "") != (want == "") {
			t.Errorf("%s: %s: %q", body, f.Class(), got)
		}
	}
}
