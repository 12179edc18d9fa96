package wire

import (
	"strings"
	"testing"

	"parley/agent"
)

// body is what a provider answered, its class, and a part of what it said.
type faultBody struct {
	status int
	body   string
	class  agent.ErrorClass
	says   string
}

// TestBodies reads errors as providers word them. Sources are the providers' references and public reports of their answers.
func TestBodies(t *testing.T) {
	t.Parallel()
	for _, c := range faultBodies {
		f := ReadFault([]byte(c.body))
		f.Status = c.status
		if got := classify(f); got != c.class {
			t.Errorf("%d %s: %s, not %s", c.status, c.body, got, c.class)
		}
		if !strings.Contains(f.Text, c.says) || !strings.Contains(f.All, strings.ToLower(c.says)) {
			t.Errorf("%d %s: it says %q, not %q", c.status, c.body, f.Text, c.says)
		}
	}
	if n := len(faultBodies); n < 60 {
		t.Errorf("only %d bodies", n)
	}
}

// TestWindows: errors about prompts that are too long name the window in many ways.
func TestWindows(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"Input length (9000 tokens) exceeds the maximum allowed length (8186 tokens).":                                    8186, // source: sgl-project/sglang
		"Input validation error: `inputs` must have less than 4096 tokens. Given: 5000":                                   4096, // source: huggingface/text-generation-inference
		"The estimated number of input and maximum output tokens (8500) exceeded this model context window limit (7968).": 7968, // source: developers.cloudflare.com/workers-ai
		"Request body too large for gpt-4o model. Max size: 8000 tokens.":                                                 8000, // source: cline/cline#995
		"Prompt tokens limit exceeded: 36163 > 29652.":                                                                    0,    // of the credit. source: continuedev/continue#11540
		"Request body too large. Max size: 4194304 bytes.":                                                                0,
	} {
		if got := ReadFault([]byte(text)).window(); got != want {
			t.Errorf("%s: %d, not %d", text, got, want)
		}
	}
}

var faultBodies = []faultBody{
	// OpenAI. source: platform.openai.com/docs/guides/error-codes
	{401, `{"error":{"message":"Incorrect API key provided: sk-x. You can find your API key at https://platform.openai.com/account/api-keys.","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}`, agent.BadKey, "Incorrect API key"},
	{403, `{"error":{"code":"unsupported_country_region_territory","message":"Country, region, or territory not supported","param":null,"type":"request_forbidden"}}`, agent.BadKey, "Country"},
	{451, `{"error":{"message":"region not supported"}}`, agent.BadKey, "region"},
	{429, `{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}`, agent.NoCredit, "current quota"},
	{429, `{"error":{"message":"Rate limit reached for gpt-4o in organization org-x on requests per min (RPM): Limit 3, Used 3, Requested 1. Please try again in 20s.","type":"requests","param":null,"code":"rate_limit_exceeded"}}`, agent.RateLimited, "Rate limit reached"},
	{404, `{"error":{"message":"The model 'gpt-9' does not exist or you do not have access to it.","type":"invalid_request_error","param":null,"code":"model_not_found"}}`, agent.NoSuchModel, "does not exist"},
	{400, `{"error":{"message":"This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens. Please reduce the length of the messages.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`, agent.TooLong, "maximum context length"},
	{500, `{"error":{"message":"The server had an error while processing your request. Sorry about that!","type":"server_error","param":null,"code":null}}`, agent.Overloaded, "had an error"},
	{503, `{"error":{"message":"The engine is currently overloaded, please try again later","type":"server_error","param":null,"code":null}}`, agent.Overloaded, "overloaded"},
	{400, `{"error":{"message":"Invalid prompt: your prompt was flagged as potentially violating our usage policy. Please try again with a different prompt.","type":"invalid_request_error","param":null,"code":"invalid_prompt"}}`, agent.Refused, "flagged"},
	{400, `{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","type":"invalid_request_error","param":"max_tokens","code":"unsupported_parameter"}}`, agent.BadRequest, "max_completion_tokens"},
	{404, `{"error":{"message":"This is not a chat model and thus not supported in the v1/chat/completions endpoint. Did you mean to use v1/responses?","type":"invalid_request_error","param":"model","code":null}}`, agent.BadRequest, "v1/responses"},
	{400, `{"error":{"message":"Billing hard limit has been reached","type":"invalid_request_error","param":null,"code":"billing_hard_limit_reached"}}`, agent.NoCredit, "Billing hard limit"},
	// source: volcengine.com/docs/82379/1299023
	{403, `{"error":{"code":"AccountOverdueError","message":"The request failed because your account has an overdue balance. Request id: 0217","param":"","type":"Forbidden"}}`, agent.NoCredit, "overdue balance"},
	{403, `{"error":{"message":"Your account is past due. Please pay your invoices."}}`, agent.NoCredit, "past due"},
	// source: developers.cloudflare.com/workers-ai/platform/errors
	{429, `{"errors":[{"message":"AiError: you have used up your daily free allocation of 10,000 neurons, please upgrade to Cloudflare's Workers Paid plan if you would like to continue usage.","code":4006}],"success":false,"result":{},"messages":[]}`, agent.NoCredit, "free allocation"},
	{429, `{"error":{"message":"Your free credits are exhausted"}}`, agent.NoCredit, "free credits"},
	// source: anomalyco/opencode#37161
	{401, `{"type":"error","error":{"type":"CreditsError","message":"No payment method. Add a payment method here: https://opencode.ai/workspace/wrk_1/billing"}}`, agent.NoCredit, "No payment method"},
	{401, `{"error":{"message":"Insufficient balance. Please top up."}}`, agent.NoCredit, "Insufficient balance"},
	{403, `{"error":"this model requires a subscription, upgrade for access: https://ollama.com/upgrade"}`, agent.NoCredit, "subscription"},
	{422, `{"detail":[{"type":"enum","loc":["body","model"],"msg":"Input should be 'a' or 'b'","input":"m"}]}`, agent.NoSuchModel, "should be"},
	{400, `{"error":"Die Anfrage wurde vom Inhaltsfilter blockiert."}`, agent.Refused, "Inhaltsfilter"},
	{400, `{"error":"La requête a été bloquée par le filtre de contenu."}`, agent.Refused, "filtre"},
	{400, `{"error":"La solicitud fue bloqueada por el filtro de contenido"}`, agent.Refused, "filtro"},
	{400, `{"error":"有害なコンテンツが含まれているため拒否されました"}`, agent.Refused, "有害"},
	{400, `{"error":"Запрос заблокирован из-за политики содержимого"}`, agent.Refused, "заблокирован"},
	// source: docs.z.ai/api-reference/api-code
	{429, `{"error":{"code":"1308","message":"Usage limit reached for 5 hour. Your limit will reset at 2026-11-27 03:26:27"}}`, agent.RateLimited, "Usage limit"},
	{429, `{"error":{"code":"1308","message":"已达到 5 小时的使用上限。您的限额将在 2026-08-25 07:41:44 重置。"}}`, agent.RateLimited, "使用上限"},
	{0, `{"error":{"message":"Usage limit reached for this hour"}}`, agent.RateLimited, "Usage limit"},
	// Baidu, with status 200. source: cloud.baidu.com/doc/WENXINWORKSHOP/s/tlmyncueh
	{0, `{"error_code":336103,"error_msg":"Prompt tokens too long"}`, agent.TooLong, "tokens too long"},
	{0, `{"error_code":18,"error_msg":"Open api qps request limit reached"}`, agent.RateLimited, "qps"},
	{0, `{"error_code":17,"error_msg":"Open api daily request limit reached"}`, agent.RateLimited, "daily"},
	{0, `{"error_code":110,"error_msg":"Access token invalid or no longer valid"}`, agent.BadKey, "Access token"},
	{0, `{"error_code":111,"error_msg":"Access token expired"}`, agent.BadKey, "expired"},
	{0, `{"error_code":336501,"error_msg":"Safety system detected the prompt"}`, agent.Refused, "Safety system"},
	{400, `{"error":{"message":"Muitas solicitações"}}`, agent.RateLimited, "Muitas"},
	{400, `{"error":{"message":"Il credito è esaurito"}}`, agent.NoCredit, "esaurito"},
	{400, `{"error":{"message":"Il modello x non esiste"}}`, agent.NoSuchModel, "modello"},
	// Azure. source: learn.microsoft.com/azure/ai-services/openai/concepts/content-filter
	{400, `{"error":{"message":"The response was filtered due to the prompt triggering Azure OpenAI's content management policy.","type":null,"param":"prompt","code":"content_filter","status":400,"innererror":{"code":"ResponsibleAIPolicyViolation","content_filter_result":{"hate":{"filtered":true,"severity":"high"}}}}}`, agent.Refused, "content management policy"},
	{404, `{"error":{"code":"DeploymentNotFound","message":"The API deployment for this resource does not exist."}}`, agent.NoSuchModel, "deployment"},
	{404, `{"error":{"code":"404","message":"Resource not found"}}`, agent.BadAddress, "Resource not found"}, // a missing deployment is DeploymentNotFound
	{401, `{"statusCode":401,"message":"Unauthorized. Access token is missing, invalid, audience is incorrect (https://cognitiveservices.azure.com), or have expired."}`, agent.BadKey, "Access token"},
	{429, `{"error":{"code":"429","message":"Requests to the ChatCompletions_Create Operation have exceeded call rate limit of your current OpenAI S0 pricing tier. Please retry after 6 seconds."}}`, agent.RateLimited, "call rate limit"},
	// source: sgl-project/sglang (managers/utils.py), huggingface/text-generation-inference (router/src/validation.rs), developers.cloudflare.com/workers-ai/platform/errors
	{400, `{"object":"error","message":"Input length (9000 tokens) exceeds the maximum allowed length (8186 tokens). Use a shorter input or enable --allow-auto-truncate.","type":"BadRequestError","param":null,"code":400}`, agent.TooLong, "Input length"},
	{422, "{\"error\":\"Input validation error: `inputs` must have less than 4096 tokens. Given: 5000\",\"error_type\":\"validation\"}", agent.TooLong, "must have less"},
	{400, `{"errors":[{"message":"AiError: AiError: The estimated number of input and maximum output tokens (8500) exceeded this model context window limit (7968).","code":5021}],"success":false,"result":{},"messages":[]}`, agent.TooLong, "context window"},
	{429, `{"errors":[{"message":"you have used up your daily free allocation of 10,000 neurons, please upgrade to Cloudflare's Workers Paid plan","code":4006}],"success":false,"result":{},"messages":[]}`, agent.NoCredit, "neurons"},
	{400, `{"error":{"message":"Invalid 'messages': array too long. Expected an array with maximum length 2048, but got an array with length 2049 instead.","type":"invalid_request_error","param":"messages","code":"array_above_max_length"}}`, agent.TooLong, "array too long"},
	{400, `{"error":{"message":"Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length 129 instead.","type":"invalid_request_error","param":"tools","code":"array_above_max_length"}}`, agent.BadRequest, "array too long"},
	// OpenRouter. source: continuedev/continue#11540
	{402, `{"error":{"message":"Prompt tokens limit exceeded: 36163 > 29652. To increase, visit https://openrouter.ai/settings/credits and upgrade to a paid account","code":402}}`, agent.TooLong, "Prompt tokens"},
	{400, `{"error":{"code":400,"message":"Request payload size exceeds the limit: 20971520 bytes.","status":"INVALID_ARGUMENT"}}`, agent.TooLong, "payload size"}, // source: ai.google.dev/gemini-api/docs/image-understanding
	// Volcengine, Baidu. source: volcengine.com/docs/82379/1299023, cloud.baidu.com/doc/WENXINWORKSHOP/s/tlmyncueh
	{403, `{"error":{"code":"AccountOverdueError","message":"The request failed because your account has an overdue balance. Request id: 0217","param":"","type":"Forbidden"}}`, agent.NoCredit, "overdue"},
	{0, `{"error_code":336103,"error_msg":"Prompt tokens too long"}`, agent.TooLong, "too long"},
	{0, `{"error_code":18,"error_msg":"Open api qps request limit reached"}`, agent.RateLimited, "qps"},
	{0, `{"error_code":110,"error_msg":"Access token invalid or no longer valid"}`, agent.BadKey, "Access token"},
	// Anthropic. source: docs.anthropic.com/en/api/errors
	{529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_1"}`, agent.Overloaded, "Overloaded"},
	{400, `{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits."}}`, agent.NoCredit, "credit balance"},
	{401, `{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}`, agent.BadKey, "invalid x-api-key"},
	{404, `{"type":"error","error":{"type":"not_found_error","message":"model: claude-9"}}`, agent.NoSuchModel, "claude-9"},
	// source: RhythmicWave/NovelForge#136; the others say the same in other words
	{400, `{"code":20015,"message":"number of input tokens (167594) has exceeded max_prompt_tokens (163840) limit.","data":null}`, agent.TooLong, "number of input tokens"},
	{422, `{"error":{"message":"Input token count exceeds the maximum number of input tokens 4096"}}`, agent.TooLong, "Input token count"},
	{400, `{"error":{"message":"number of input tokens has exceeded max_prompt_tokens limit"}}`, agent.TooLong, "max_prompt_tokens"},
	{400, `{"error":{"message":"the prompt exceeds n_ctx"}}`, agent.TooLong, "n_ctx"},
	{400, `{"error":{"message":"输入长度超过模型最大长度限制"}}`, agent.TooLong, "输入长度"},
	{400, `{"error":{"message":"Your request is over the size the model can read (8k)"}}`, agent.TooLong, "over the size"},
	{400, `{"error":{"message":"Der Prompt ist zu lang für dieses Modell"}}`, agent.TooLong, "zu lang"},
	// A field of a tool, an answer and a picture that are too long or too large are not the conversation.
	{400, `{"error":{"message":"Invalid 'tools[24].function.description': string too long. Expected a string with maximum length 1024, but got a string with length 5000 instead.","param":"tools[24].function.description","code":"string_above_max_length"}}`, agent.BadRequest, "string too long"},
	{400, `{"error":{"message":"Invalid 'tools[3].name': string too long.","param":"tools[3].name","code":"string_above_max_length"}}`, agent.BadRequest, "string too long"},
	{400, `{"error":{"message":"max_tokens is larger than the model allows for prompt and answer"}}`, agent.BadRequest, "max_tokens"},
	{400, `{"error":{"message":"输入图片大小超过限制"}}`, agent.BadRequest, "图片"},
	{413, `{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}`, agent.TooLong, "maximum size"},
	{400, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}`, agent.TooLong, "prompt is too long"},
	{400, `{"type":"error","error":{"type":"invalid_request_error","message":"Output blocked by content filtering policy"}}`, agent.Refused, "content filtering policy"},
	{400, `{"type":"error","error":{"type":"invalid_request_error","message":"messages.1.content.0: Invalid ` + "`signature` in `thinking`" + ` block"}}`, agent.BadRequest, "signature"},
	{0, `{"type":"error","error":{"details":null,"type":"overloaded_error","message":"Overloaded"}}`, agent.Overloaded, "Overloaded"},
	// Gemini. source: ai.google.dev/gemini-api/docs/troubleshooting
	{400, "[{\n  \"error\": {\n    \"code\": 400,\n    \"message\": \"API key not valid. Please pass a valid API key.\",\n    \"status\": \"INVALID_ARGUMENT\",\n    \"details\": [{\"@type\": \"type.googleapis.com/google.rpc.ErrorInfo\", \"reason\": \"API_KEY_INVALID\", \"domain\": \"googleapis.com\"}]\n  }\n}\n]", agent.BadKey, "API key not valid"},
	{429, `[{"error":{"code":429,"message":"Resource has been exhausted (e.g. check quota).","status":"RESOURCE_EXHAUSTED"}}]`, agent.RateLimited, "exhausted"},
	{503, `[{"error":{"code":503,"message":"The model is overloaded. Please try again later.","status":"UNAVAILABLE"}}]`, agent.Overloaded, "overloaded"},
	{400, `[{"error":{"code":400,"message":"Function call is missing a thought_signature in functionCall parts.","status":"INVALID_ARGUMENT"}}]`, agent.BadRequest, "thought_signature"},
	{400, `{"error":{"code":400,"message":"The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).","status":"INVALID_ARGUMENT"}}`, agent.TooLong, "exceeds the maximum number of tokens"},
	{404, `[{"error":{"code":404,"message":"models/gemini-9 is not found for API version v1main, or is not supported for generateContent.","status":"NOT_FOUND"}}]`, agent.NoSuchModel, "not found"},
	{400, `[{"error":{"code":400,"message":"User location is not supported for the API use.","status":"FAILED_PRECONDITION"}}]`, agent.BadKey, "User location"},
	// OpenRouter. source: openrouter.ai/docs/api-reference/errors; zed#64424
	{402, `{"error":{"message":"This request requires more credits, or fewer max_tokens. You requested up to 65536 tokens, but can only afford 1032.","code":402}}`, agent.NoCredit, "more credits"},
	{400, `{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"message\":\"Input is too long for requested model.\"}","provider_name":"Amazon Bedrock"}},"user_id":"u"}`, agent.TooLong, "Input is too long"},
	{400, `{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":{"error":{"message":"bad tool schema","type":"invalid_request_error"}}}}}`, agent.BadRequest, "bad tool schema"},
	{429, `{"error":{"message":"Provider returned error","code":429,"metadata":{"raw":"x/y:free is temporarily rate-limited upstream. Please retry shortly."}}}`, agent.RateLimited, "temporarily rate-limited"},
	{403, `{"error":{"message":"Input was flagged by moderation","code":403,"metadata":{"reasons":["violence"],"flagged_input":"…","provider_name":"x","model_slug":"y"}}}`, agent.Refused, "flagged"},
	{0, `{"id":"gen-1","provider":"x","error":{"code":502,"message":"Upstream error from x"},"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}`, agent.Broken, "Upstream error"},
	{404, `{"error":{"message":"No endpoints found for x/y.","code":404}}`, agent.NoSuchModel, "No endpoints"},
	// DeepSeek. source: api-docs.deepseek.com/quick_start/error_codes
	{402, `{"error":{"message":"Insufficient Balance","type":"unknown_error","param":null,"code":"invalid_request_error"}}`, agent.NoCredit, "Insufficient Balance"},
	{400, `{"error":{"message":"Content Exists Risk","type":"invalid_request_error","param":null,"code":"invalid_request_error"}}`, agent.Refused, "Content Exists Risk"},
	{401, `{"error":{"message":"Authentication Fails, Your api key: ****x is invalid","type":"authentication_error","param":null,"code":"invalid_request_error"}}`, agent.BadKey, "Authentication Fails"},
	{400, "{\"error\":{\"message\":\"The `reasoning_content` in the thinking mode must be passed back to the API.\",\"type\":\"invalid_request_error\"}}", agent.BadRequest, "reasoning_content"},
	// Moonshot. source: platform.moonshot.ai/docs/api/errors
	{403, `{"code":"The caller does not have permission to execute the specified operation","error":"Content violates usage guidelines. Team: t, API key ID: k, Model: grok-4, Failed check: SAFETY_CHECK_TYPE_BIO"}`, agent.Refused, "usage guidelines"},
	{403, `{"error":{"message":"Access denied by policy: prompt contains PII","type":"guardrail_violation","code":"403"}}`, agent.Refused, "denied by policy"},
	{0, `{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"}}`, agent.Refused, "PROHIBITED_CONTENT"},
	{400, `{"detail":[{"type":"string_type","loc":["body","messages",1,"content"],"msg":"Input should be a valid string","input":"my API key is invalid, incorrect api key; tools are not supported"}]}`, agent.BadRequest, "valid string"},
	{400, `{"error":{"message":"The request was rejected because it was considered high risk","type":"content_filter"}}`, agent.Refused, "high risk"},
	{429, `{"error":{"message":"Your account org-x is suspended, please check your plan and billing details","type":"exceeded_current_quota_error"}}`, agent.NoCredit, "suspended"},
	{429, `{"error":{"message":"The engine is currently overloaded, please try again later","type":"engine_overloaded_error"}}`, agent.RateLimited, "overloaded"},
	{400, `{"error":{"message":"Invalid request: Your request exceeded model token limit: 131072","type":"invalid_request_error"}}`, agent.TooLong, "exceeded model token limit"},
	// Mistral. source: docs.mistral.ai; goose#5998
	{400, `{"object":"error","message":"Unexpected role 'user' after role 'tool'","type":"invalid_request_message_order","param":null,"code":"3230"}`, agent.BadRequest, "Unexpected role"},
	{422, `{"object":"error","message":{"detail":[{"type":"extra_forbidden","loc":["body","stream_options"],"msg":"Extra inputs are not permitted","input":{"include_usage":true}}]},"type":"invalid_request_error","param":null,"code":null,"raw_status_code":422}`, agent.BadRequest, "Extra inputs are not permitted"},
	{401, `{"message":"Unauthorized","request_id":"x"}`, agent.BadKey, "Unauthorized"},
	{429, `{"object":"error","message":"Service tier capacity exceeded for this model.","type":"service_tier_capacity_exceeded","param":null,"code":"3505"}`, agent.RateLimited, "capacity exceeded"},
	// Groq. source: console.groq.com/docs/errors; smolagents#1119
	{400, `{"error":{"message":"Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details.","type":"invalid_request_error","code":"tool_use_failed","failed_generation":"<function=look>{\"q\"}</function>"}}`, agent.Overloaded, "Failed to call a function"},
	{400, `{"error":{"message":"tool call validation failed: attempted to call tool 'x' which was not in request.tools","type":"invalid_request_error","code":"tool_use_failed"}}`, agent.Overloaded, "tool call validation failed"},
	{413, `{"error":{"message":"Request too large for model x on tokens per minute (TPM): Limit 6000, Requested 9000","type":"tokens","code":"rate_limit_exceeded"}}`, agent.TooLong, "Request too large"},
	{404, `{"error":{"message":"The model x does not exist or you do not have access to it.","type":"invalid_request_error","code":"model_not_found"}}`, agent.NoSuchModel, "does not exist"},
	{400, `{"error":{"message":"'messages.2' : for 'role:assistant' the following must be satisfied[('messages.2' : property 'reasoning_content' is unsupported)]","type":"invalid_request_error"}}`, agent.BadRequest, "unsupported"},
	// xAI. source: docs.x.ai; litellm#16265
	{400, `{"code":"Client specified an invalid argument","error":"Model grok-4-latest does not support parameter reasoningEffort."}`, agent.BadRequest, "reasoningEffort"},
	{403, `{"code":"The caller does not have permission to execute the specified operation","error":"Your team has either used all available credits or reached its monthly spending limit."}`, agent.NoCredit, "spending limit"},
	{400, `{"code":"Client specified an invalid argument","error":"Incorrect API key provided: xx. You can obtain an API key from https://console.x.ai."}`, agent.BadKey, "Incorrect API key"},
	// Together. source: docs.together.ai/docs/error-codes
	{402, `{"id":"x","error":{"message":"Credit limit exceeded, please add credits","type":"credit_limit","param":null,"code":null}}`, agent.NoCredit, "Credit limit"},
	{422, `{"error":{"message":"Input validation error: ` + "`inputs` tokens + `max_new_tokens` must be <= 8192. Given: 8000 `inputs` tokens and 512 `max_new_tokens`" + `","type":"invalid_request_error"}}`, agent.TooLong, "max_new_tokens"},
	// Ollama. source: picobot#6, ollama#12561
	{400, `{"error":{"message":"registry.ollama.ai/library/gemma3:4b does not support tools","type":"api_error","param":null,"code":null}}`, agent.BadRequest, "does not support tools"},
	{404, `{"error":{"message":"model 'llama9' not found","type":"not_found_error","param":null,"code":null}}`, agent.NoSuchModel, "not found"},
	{500, `{"error":{"message":"llama runner process has terminated: exit status 2","type":"api_error"}}`, agent.Overloaded, "terminated"},
	{500, `{"error":{"message":"error parsing tool call: raw='{\"name\"', err=unexpected end of JSON input"}}`, agent.Overloaded, "error parsing tool call"},
	{0, `{"error":{"message":"the model runner has unexpectedly stopped, this may be due to resource limitations"}}`, agent.Broken, "unexpectedly stopped"},
	// LM Studio, llama.cpp, vLLM, SGLang
	{400, `{"error":"The number of tokens to keep from the initial prompt is greater than the context length. Try to load the model with a larger context length"}`, agent.TooLong, "greater than the context length"},
	{404, `{"error":{"message":"No models loaded. Please load a model in the developer page or use the 'lms load' command.","type":"invalid_request_error","code":"model_not_found"}}`, agent.NoSuchModel, "No models loaded"},
	{503, `{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}`, agent.Overloaded, "Loading model"},
	{500, `{"error":{"code":500,"message":"image input is not supported - hint: if this is unexpected, you may need to provide the mmproj","type":"server_error"}}`, agent.Overloaded, "image input"},
	{400, `{"object":"error","message":"\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set","type":"BadRequestError","param":null,"code":400}`, agent.BadRequest, "tool choice"},
	{404, `{"object":"error","message":"The model x does not exist.","type":"NotFoundError","param":"model","code":404}`, agent.NoSuchModel, "does not exist"},
	{400, `{"object":"error","message":"The input (9000 tokens) is longer than the model's context length (8192 tokens).","type":"BadRequestError","param":null,"code":400}`, agent.TooLong, "longer than"},
	// DashScope, Zhipu, MiniMax. source: help.aliyun.com, docs.bigmodel.cn
	{400, `{"error":{"code":"data_inspection_failed","param":null,"message":"Input data may contain inappropriate content.","type":"data_inspection_failed"},"request_id":"x"}`, agent.Refused, "inappropriate content"},
	{400, `{"code":"Arrearage","message":"Access denied, please make sure your account is in good standing.","request_id":"x"}`, agent.NoCredit, "good standing"},
	{429, `{"error":{"code":"1113","message":"余额不足或无可用资源包,请充值。"}}`, agent.NoCredit, "余额不足"},
	{400, `{"error":{"code":"1301","message":"系统检测到输入或生成内容可能包含不安全或敏感内容"}}`, agent.Refused, "敏感内容"},
	{400, `{"error":{"code":"InvalidParameter","message":"<400> InternalError.Algo.InvalidParameter: This model's maximum context length is 98304 tokens."}}`, agent.TooLong, "maximum context length"},
	// Bedrock, Vertex, Cloudflare, Fireworks, GitHub, LiteLLM, web servers
	{400, `{"message":"Input is too long for requested model."}`, agent.TooLong, "Input is too long"},
	{429, `{"message":"Too many tokens, please wait before trying again."}`, agent.RateLimited, "Too many tokens"},
	{400, `{"errors":[{"message":"AiError: Bad input: Error: required properties at '/' are 'prompt'","code":5006}],"success":false,"result":{},"messages":[]}`, agent.BadRequest, "Bad input"},
	{404, `{"error":{"object":"error","type":"invalid_request_error","code":"NOT_FOUND","message":"Model not found, inaccessible, and/or not deployed"}}`, agent.NoSuchModel, "not deployed"},
	{400, `{"error":{"message":"litellm.ContextWindowExceededError: ContextWindowExceededError: OpenAIException - Error code: 400 - {'error': {'message': \"This model's maximum context length is 8192 tokens.\"}}","type":null,"param":null,"code":"400"}}`, agent.TooLong, "ContextWindowExceeded"},
	{400, `{"error":{"message":"litellm.UnsupportedParamsError: openai does not support parameters: ['reasoning_effort'], for model=x. To drop these, set ` + "`litellm.drop_params=True`" + `","type":"None","param":null,"code":"400"}}`, agent.BadRequest, "does not support parameters"},
	{502, "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body></body></html>", agent.Overloaded, ""},
	// source: agentjido/req_llm#971, NousResearch/hermes-agent#27038
	{400, `[{"error":{"code":400,"message":"Thinking level MINIMAL is not supported for this model. Please retry with other thinking level.","status":"INVALID_ARGUMENT"}}]`, agent.BadRequest, "MINIMAL"},
	{400, `{"error":{"message":"Invalid 'input[1].id': string too long. Expected a string with maximum length 64, but got a string with length 408 instead.","type":"invalid_request_error","param":"input[1].id","code":"string_above_max_length"}}`, agent.BadRequest, "string too long"},
	{400, `{"error":{"message":"Invalid 'messages[1].content': string too long. Expected a string with maximum length 10485760.","type":"invalid_request_error","param":"messages[1].content","code":"string_above_max_length"}}`, agent.TooLong, "string too long"},
	// source: docs.z.ai/api-reference/api-code, help.aliyun.com/zh/model-studio/error-code, proxysoul/Empryo#52
	{400, `{"error":{"code":"1261","message":"Prompt exceeds max length"}}`, agent.TooLong, "max length"},
	{400, `{"error":{"message":"<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 129024]","type":"invalid_request_error"}}`, agent.TooLong, "input length"},
	{400, `{"error":{"message":"You passed 202753 input tokens and requested 0 output tokens. However, the model's context length is only 202752 tokens.","type":"BadRequestError"}}`, agent.TooLong, "202752"},
	// A page of a proxy says nothing of the key. source: anthropics/claude-code#30399
	{403, "<!DOCTYPE html><html><head><title>Just a moment...</title></head></html>", agent.Unreachable, ""},
	// A router's status hides what is behind it. source: NousResearch/hermes-agent#31456, continuedev/continue#13259
	{502, `{"error":{"message":"Unknown parameter: 'stream_options'.","type":"invalid_request_error","code":"unknown_parameter"}}`, agent.BadRequest, "Unknown parameter"},
	// what is behind a gateway. source: QuantumNous/new-api (service/error.go), docs.z.ai/api-reference/api-code
	{502, `{"error":{"message":"Upstream error 401: Incorrect API key provided"}}`, agent.BadKey, "Incorrect"},
	{502, `{"error":{"message":"upstream error 404: The model m does not exist"}}`, agent.NoSuchModel, "not exist"},
	{502, `{"error":{"message":"upstream error: The response was filtered due to the prompt triggering Azure OpenAI's content management policy"}}`, agent.Refused, "filtered"},
	{502, `{"error":{"message":"Upstream 400: This model does not support tools"}}`, agent.BadRequest, "tools"},
	{502, `{"error":{"message":"upstream error: no route after 404 ms"}}`, agent.Overloaded, "no route"},
	{410, `{"error":{"message":"Cypher Alpha was a stealth model and has been removed","code":410}}`, agent.NoSuchModel, "removed"},
	{0, `{"error":{"code":"1213","message":"未正常接收到prompt参数。"}}`, agent.BadRequest, "参数"},
	{502, `All model providers failed: zai: Invalid status code: 400 Bad Request: {"error":{"code":"1214","message":"The messages parameter is illegal."}}`, agent.BadRequest, "illegal"},
	{502, `{"error":{"message":"upstream closed after 400 ms","type":"bad_gateway"}}`, agent.Overloaded, "upstream closed"},
	// The cause stands in param. source: tailcallhq/forgecode#3347
	{400, `data:{"error":{"code":"400","message":"Param Incorrect","param":"The reasoning_content in the thinking mode must be passed back to the API.","type":""}}`, agent.BadRequest, "must be passed back"},
	// A model that is no longer served. source: ai-ecoverse/slicc#1135, caidaoli/ccLoad#107, Lore-Hex/quill-router#287
	{400, `{"error":{"message":"The model x has been decommissioned and is no longer supported.","type":"invalid_request_error","code":"model_decommissioned"}}`, agent.NoSuchModel, "decommissioned"},
	{410, `{"error":{"type":"bad_response_status_code","message":"The model 'x/y' has reached its end of life on 2026-08-07T09:00:00Z and is no longer available."}}`, agent.NoSuchModel, "end of life"},
	{400, `{"error":{"message":"temperature is no longer supported for this model.","type":"invalid_request_error"}}`, agent.BadRequest, "no longer supported"},
	// source: anthropics/claude-code#38035, continuedev/continue#11621
	{400, `{"type":"error","error":{"type":"invalid_request_error","message":"You have reached your specified API usage limits. You will regain access on 2026-04-01 at 00:00 UTC."}}`, agent.NoCredit, "usage limits"},
	{500, `"{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"You have reached your specified API usage limits.\"}}"`, agent.NoCredit, "usage limits"},
	{400, `{"error":{"message":"invalid tool call arguments","type":"api_error"}}`, agent.Overloaded, "invalid tool call"}, // source: duolahypercho/codex-router#161
	// source: openrouter.ai/docs/api/errors, openrouter.ai/docs/use-cases/limits
	{402, `{"error":{"code":402,"message":"Too much is in flight.","metadata":{"limit_source":"openrouter_in_flight_budget"}}}`, agent.RateLimited, "in flight"},
	{403, `{"error":{"code":403,"message":"Not now.","metadata":{"limit_source":"openrouter_workspace_budget"}}}`, agent.NoCredit, "Not now"},
	{400, `{"error":{"message":"Budget has been exceeded! Current cost: 1.2, Max budget: 1.0","type":"budget_exceeded","code":"400"}}`, agent.NoCredit, "Budget has been exceeded"},
	// source: openai/codex#43131, openai/codex#13311, openai/codex#43337, openai/codex#46798
	{0, `{"code":"cyber_policy","message":"Try rephrasing your request."}`, agent.Refused, "rephrasing"},
	{0, `{"message":"This user's access has been temporarily limited for potentially suspicious activity related to cybersecurity."}`, agent.Refused, "suspicious"},
	{0, `{"error":{"type":"service_unavailable_error","code":"server_is_overloaded","message":"Our servers are busy."}}`, agent.Overloaded, "busy"},
	{0, `{"code":"x","message":"Selected model is at capacity. Please try a different model."}`, agent.Overloaded, "at capacity"},
	// source: esengine/DeepSeek-Reasonix#6824, platform.minimax.io/docs/api-reference/errorcode
	{422, `{"type":"error","error":{"type":"unprocessable_entity_error","message":"input new_sensitive (1026)","http_code":"422"}}`, agent.Refused, "new_sensitive"},
	{0, `{"choices":null,"base_resp":{"status_code":1027,"status_msg":"output is not fit"}}`, agent.Refused, "not fit"},
	{0, `{"choices":null,"base_resp":{"status_code":1008,"status_msg":"insufficient balance"}}`, agent.NoCredit, "insufficient"},
	{0, `{"choices":null,"base_resp":{"status_code":1002,"status_msg":"rate limit"}}`, agent.RateLimited, "rate limit"},
	{0, `{"choices":null,"base_resp":{"status_code":1004,"status_msg":"login fail: Please carry the API secret key"}}`, agent.BadKey, "login fail"},
	{0, `{"choices":null,"base_resp":{"status_code":2013,"status_msg":"invalid params, bad role"}}`, agent.BadRequest, "invalid params"},
	// source: docs.bigmodel.cn/cn/api/api-code
	{429, `{"error":{"code":"1309","message":"您的 GLM Coding Plan 套餐已到期"}}`, agent.NoCredit, "GLM Coding Plan"},
	{429, `{"error":{"code":"1311","message":"当前订阅套餐暂未开放权限"}}`, agent.NoSuchModel, "权限"},
	{429, `{"error":{"code":"1312","message":"该模型当前访问量过大,请您稍后再试"}}`, agent.RateLimited, "该模型"},
	{401, `{"error":{"code":"1002","message":"Authentication Token 非法"}}`, agent.BadKey, "Authentication Token"},
	// source: docs.zenmux.ai/guide/advanced/error-codes.html, novita.ai/docs/api-reference/basic-error-code.md, caozhiyuan/copilot-api#108
	{403, `{"error":{"code":"403","type":"safety_check_failed","message":"Not allowed upstream."}}`, agent.Refused, "upstream"},
	{400, `{"code":400,"reason":"BILLING_BALANCE_NOT_ENOUGH","message":""}`, agent.NoCredit, "BALANCE"},
	{400, `{"error":{"message":"The requested model is not supported.","code":"model_not_supported","param":"model"}}`, agent.NoSuchModel, "requested model"},
	// source: HeyPuter/puter#3168, tashfeenahmed/freellmapi#522, QuantumNous/new-api#6619, continuedev/continue#11444
	{400, `{"error":{"message":"Unable to access non-serverless m. Create an endpoint.","type":"invalid_request_error","code":"model_not_available"}}`, agent.NoSuchModel, "non-serverless"},
	{400, `{"status":400,"title":"Bad Request","detail":"Function id 'x': DEGRADED function cannot be invoked"}`, agent.Overloaded, "DEGRADED"},
	{400, `ResourceExhausted: Worker local total request limit reached (33/32)`, agent.Overloaded, "33/32"},
	{429, `"you (x) have reached your weekly usage limit, upgrade for higher limits"`, agent.NoCredit, "weekly"},
	// source: BerriAI/litellm#25078, console.groq.com/docs/flex-processing
	{503, `{"object":"error","message":"Service tier capacity exceeded for this model.","type":"invalid_request_error"}`, agent.Overloaded, "capacity"},
	{498, `{"error":{"message":"Not now.","type":"invalid_request_error","code":"capacity_exceeded"}}`, agent.Overloaded, "Not now"},
	// source: ggml-org/llama.cpp#27025, ollama/ollama#16810
	{400, `{"error":{"message":"The model produced output that does not match the expected peg-native format"}}`, agent.Overloaded, "peg-native"},
	{400, `{"error":{"message":"XML syntax error on line 8: element <function> closed by </parameter>"}}`, agent.Overloaded, "XML"},
	{504, "upstream request timeout", agent.Overloaded, "upstream request timeout"},
	{429, "Too Many Requests", agent.RateLimited, "Too Many Requests"},
	{500, `{"detail":"Internal Server Error"}`, agent.Overloaded, "Internal Server Error"},
	{422, `{"detail":[{"type":"string_type","loc":["body","messages",1,"content"],"msg":"Input should be a valid string","input":null}]}`, agent.BadRequest, "valid string"},
	{400, `"just a text"`, agent.BadRequest, "just a text"},
	{400, `{"error":{"message":"{\"error\":{\"message\":\"{\\\"detail\\\":\\\"deep down: tools are not supported\\\"}\"}}"}}`, agent.BadRequest, "deep down"},
	{400, `{"error":{"message":"cut off in the mid`, agent.BadRequest, "cut off in the mid"},
	// What gateways and firewalls refuse for its content, at any status. source: docs.litellm.ai/docs/proxy/guardrails, BerriAI/litellm#14420,
	// ai.google.dev/api/generate-content#BlockReason
	{500, `{"error":{"message":"{'error': 'Violated guardrail policy', 'guardrail': 'lakera'}","type":"None","param":"None","code":"500"}}`, agent.Refused, "guardrail policy"},
	{500, `{"error":{"message":"Prompt blocked by guardrail: lakera_prompt_injection","type":"internal_server_error"}}`, agent.Refused, "guardrail"},
	{503, `{"error":{"message":"Request blocked by content moderation"}}`, agent.Refused, "content moderation"},
	{401, `{"error":{"message":"Your request was blocked by policy"}}`, agent.Refused, "blocked by policy"},
	{429, `{"error":{"message":"Your prompt was flagged by the abuse filter"}}`, agent.Refused, "abuse filter"},
	{403, "<html><h1>Request blocked</h1> The WAF blocked your request</html>", agent.Refused, ""},
	{0, `{"promptFeedback":{"blockReason":"OTHER"}}`, agent.Refused, "OTHER"},
	{0, `{"choices":[],"prompt_feedback":{"block_reason":"SAFETY"}}`, agent.Refused, "SAFETY"},
	// Such words about something else.
	{403, `{"error":{"message":"Your account was blocked by our policy team"}}`, agent.BadKey, "account"},
	{503, `{"error":{"message":"Failed to reach the guardrail service"}}`, agent.Overloaded, "guardrail"},
	{429, `{"error":{"message":"Request blocked: rate limit policy of this team"}}`, agent.RateLimited, "policy"},
	{403, "<html><title>Attention Required! | Cloudflare</title><h1>Sorry, you have been blocked</h1></html>", agent.Unreachable, ""},
	// Too busy, or not ready yet. source: docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_InvokeModel.html
	{400, `{"error":{"message":"The service is temporarily overloaded. Please try again."}}`, agent.Overloaded, "overloaded"},
	{424, `{"message":"The model is not ready; ModelNotReadyException"}`, agent.Overloaded, "not ready"},
	{424, `{"__type":"com.amazon.coral.service#ModelErrorException","message":"The request failed due to an error while processing the model."}`, agent.Overloaded, "processing the model"},
	{400, `{"error":{"message":"服务器繁忙，请稍后重试"}}`, agent.Overloaded, "繁忙"},
	// Limits at other statuses. source: docs.aws.amazon.com/bedrock/latest/userguide/troubleshooting-api-error-codes.html, docs.bigmodel.cn/cn/api/api-code
	{400, `{"__type":"ThrottlingException","message":"Too many requests, please wait before trying again."}`, agent.RateLimited, "Too many"},
	{400, `{"__type":"com.amazonaws#ThrottlingException","message":"Your request was denied."}`, agent.RateLimited, "denied"},
	{400, `{"message":"ThrottlingException: Too many tokens, please wait before trying again."}`, agent.RateLimited, "Too many"},
	{400, `{"error":{"code":"1302","message":"您当前使用该API的并发数过高，请降低并发，或联系客服增加限额。"}}`, agent.RateLimited, "并发数"},
	{400, `{"error":{"message":"您的请求频率过高"}}`, agent.RateLimited, "频率"},
	{403, `{"error":{"message":"Quota exceeded for quota metric 'Generate Content API requests per minute'","status":"RESOURCE_EXHAUSTED"}}`, agent.RateLimited, "Quota exceeded"},
	{503, `{"error":{"message":"Too many concurrent requests"}}`, agent.RateLimited, "concurrent"},
	// source: platform.minimax.io/docs/api-reference/errorcode: 1039 is a limit of tokens, to be tried later
	{0, `{"base_resp":{"status_code":1039,"status_msg":"token limit"},"choices":null}`, agent.RateLimited, "token limit"},
	// Models that are not served here. source: docs.aws.amazon.com/bedrock/latest/userguide/inference-profiles-support.html
	{400, `{"error":{"message":"Unsupported model: m"}}`, agent.NoSuchModel, "Unsupported"},
	{400, `{"error":{"message":"The model m is not supported by this endpoint. Please choose another one."}}`, agent.NoSuchModel, "not supported"},
	{400, `{"error":{"message":"The requested model 'm' is not supported by any provider you have enabled."}}`, agent.NoSuchModel, "not supported"},
	{400, `{"detail":"The 'gpt-5.1' model is not supported when using Codex with a ChatGPT account."}`, agent.NoSuchModel, "Codex"},
	{400, `{"message":"The provided model identifier is invalid."}`, agent.NoSuchModel, "identifier"},
	{400, `{"message":"Invocation of model ID anthropic.claude with on-demand throughput isn’t supported. Retry your request with the ID or ARN of an inference profile that contains this model."}`, agent.NoSuchModel, "on-demand"},
	{400, `{"error":{"message":"模型不存在，请检查模型代码。"}}`, agent.NoSuchModel, "模型"},
	// Such words about a part of a request.
	{400, `{"error":{"message":"Tools are unsupported: model m takes none"}}`, agent.BadRequest, "Tools"},
	{400, `{"error":{"message":"temperature is not supported by this endpoint"}}`, agent.BadRequest, "temperature"},
	{400, `{"error":{"message":"Unsupported model parameter: top_k"}}`, agent.BadRequest, "top_k"},
	{400, `{"error":{"message":"This model is not supported with tools"}}`, agent.BadRequest, "tools"},
	// Who asks. source: ai.google.dev/gemini-api/docs/troubleshooting, docs.aws.amazon.com/IAM/latest/APIReference/CommonErrors.html
	{400, `{"type":"error","error":{"type":"invalid_request_error","message":"This organization has been disabled."}}`, agent.BadKey, "disabled"},
	{400, `{"error":{"code":400,"message":"User location is not supported for the API use.","status":"FAILED_PRECONDITION"}}`, agent.BadKey, "location"},
	{400, `{"message":"The security token included in the request is invalid."}`, agent.BadKey, "security token"},
	{400, `{"__type":"UnrecognizedClientException","message":"No."}`, agent.BadKey, "No."},
	{400, `{"error":{"message":"Your account is suspended"}}`, agent.BadKey, "suspended"},
	{400, `{"error":{"message":"您的账户已被冻结"}}`, agent.BadKey, "冻结"},
	{407, `{"message":"Proxy Authentication Required"}`, agent.BadKey, "Proxy"},
	{401, "<html><head><title>401 Authorization Required</title></head></html>", agent.BadKey, ""}, // source: nginx.org
	// Money. source: novita.ai/docs/api-reference/basic-error-code.md
	{400, `{"message":"You don't have enough balance."}`, agent.NoCredit, "enough balance"},
	{403, `{"code":30001,"message":"Sorry, your account balance is insufficient","data":null}`, agent.NoCredit, "insufficient"},
	{429, `{"error":{"message":"Your account org-x is suspended, please check your plan and billing details"}}`, agent.NoCredit, "billing"},
	// Content. source: ai.google.dev/api/generate-content#BlockReason
	{400, `{"error":{"message":"Gemini blocked the prompt: PROHIBITED_CONTENT"}}`, agent.Refused, "blocked"},
	{400, `{"error":{"message":"Your prompt was blocked."}}`, agent.Refused, "blocked"},
	// Too long. source: docs.cohere.com/reference/errors
	{400, `{"message":"too many tokens: size limit exceeded by 1200 tokens"}`, agent.TooLong, "size limit"},
	{400, `{"error":{"message":"Prompt contains 5000 tokens and the limit is 4096"}}`, agent.TooLong, "5000"},
	{400, `{"object":"error","message":"Prompt contains 65673 tokens and 0 draft tokens, too large for model with 32768 maximum context length","code":"3051"}`, agent.TooLong, "draft"},
	{400, `{"object":"error","message":"max_tokens must be at least 1, got -900.","type":"BadRequestError","code":400}`, agent.TooLong, "at least 1"},
	{400, `{"error":{"message":"max_tokens must be at least 16"}}`, agent.BadRequest, "16"},
	// A wrong address. source: lmstudio.ai/docs/developer/openai-compat, fastapi.tiangolo.com, docs.konghq.com, developers.openai.com
	{404, "404 page not found", agent.BadAddress, "page not found"},
	{404, "", agent.BadAddress, ""},
	{404, `{"detail":"Not Found"}`, agent.BadAddress, "Not Found"},
	{404, `{"error":{"code":404,"message":"File Not Found","type":"not_found_error"}}`, agent.BadAddress, "File"},
	{404, `{"message":"no Route matched with those values"}`, agent.BadAddress, "Route"},
	{404, `{"error":{"message":"Invalid URL (POST /v1/v1/chat/completions)","type":"invalid_request_error","param":null,"code":null}}`, agent.BadAddress, "Invalid URL"},
	{404, `{"error":{"message":"Unknown request URL: POST /openai/chat/completions. Please check the URL for typos, or see the docs at https://console.groq.com/docs/","type":"invalid_request_error","code":"unknown_url"}}`, agent.BadAddress, "typos"},
	{404, `{"timestamp":"2026-01-02T03:04:05.678+00:00","status":404,"error":"Not Found","path":"/chat/completions"}`, agent.BadAddress, "Not Found"},
	{404, `{"message":"Route POST:/chat/completions not found","error":"Not Found","statusCode":404}`, agent.BadAddress, "Route"},
	{404, "<!DOCTYPE html><html><body><pre>Cannot POST /chat/completions</pre></body></html>", agent.BadAddress, ""},
	{405, `{"detail":"Method Not Allowed"}`, agent.BadAddress, "Method"},
	{200, `{"error":"Unexpected endpoint or method. (POST /chat/completions)"}`, agent.BadAddress, "Unexpected"},
	{307, "", agent.BadAddress, ""},
	{404, `{"error":{"message":"No such deployment","code":"x"}}`, agent.NoSuchModel, "deployment"},
	{404, `{"error":{"message":"model \"m\" not found, try pulling it first"}}`, agent.NoSuchModel, "pulling"},
	{400, `{"error":{"message":"Invalid URL in image_url"}}`, agent.BadRequest, "image_url"},
	// Cloudflare. source: anomalyco/opencode#23773, musistudio/claude-code-router#1630
	{400, `{"result":null,"success":false,"errors":[{"code":10000,"message":"Authentication error"}],"messages":[]}`, agent.BadKey, "Authentication"},
	{400, `{"success":false,"errors":[{"code":7003,"message":"Could not route to /accounts/xxx/ai/v1, perhaps your object identifier is invalid?"},{"code":7000,"message":"No route for that URI"}]}`, agent.BadAddress, "route"},
	{404, `{"success":false,"errors":[{"code":7003,"message":"Could not route to /client/v4/accounts/x/ai/v1/chat/completions, perhaps your object identifier is invalid?"}]}`, agent.BadAddress, "route"},
	{400, `{"error":{"message":"No authentication error occurred, but the field messages is invalid"}}`, agent.BadRequest, "messages"},
	// A filter's words. source: anthropics/claude-code#50795, QuantumNous/new-api#4499
	{400, `{"type":"error","error":{"type":"invalid_request_error","message":"Claude Code is unable to respond to this request, which appears to violate our Usage Policy (https://www.anthropic.com/legal/aup)."}}`, agent.Refused, "Usage Policy"},
	{500, `{"error":{"code":"sensitive_words_detected","message":"user sensitive words detected","type":"new_api_error"}}`, agent.Refused, "sensitive"},
	{500, `{"error":{"message":"the table sensitive_words could not be read"}}`, agent.Overloaded, "table"},
	// The code of a flagged prompt, of a request whose form is wrong. source: openai/codex#12114, microsoft/agent-framework#3795
	{400, `{"error":{"code":"invalid_prompt","message":"Invalid Responses API request"},"metadata":{"raw":"[{\"code\":\"invalid_union\",\"errors\":[[{\"code\":\"invalid_type\",\"path\":[],\"message\":\"Invalid input: expected string, received array\"}]],\"path\":[\"input\"],\"message\":\"Invalid input\"}]"}}`, agent.BadRequest, "Responses API"},
	{400, `{"error":{"code":"invalid_prompt","message":"Invalid prompt: messages must not be empty"}}`, agent.BadRequest, "empty"},
	// Money. source: BerriAI/litellm#9658, cloud.google.com/billing/docs, vercel.com/docs/ai-gateway
	{400, `{"error":{"message":"ExceededBudget: User=ca782d54 over budget. Spend=0.05183585, Budget=0.05","type":"auth_error","param":"None","code":"400"}}`, agent.NoCredit, "over budget"},
	{403, `{"error":{"code":403,"message":"This API method requires billing to be enabled. Please enable billing on project #1.","status":"PERMISSION_DENIED","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"BILLING_DISABLED"}]}}`, agent.NoCredit, "billing"},
	{403, `{"error":{"message":"AI Gateway requires a valid credit card on file to service requests.","type":"customer_verification_required"}}`, agent.NoCredit, "credit card"},
	{400, `{"error":{"message":"thinking budget: 10 is over the budget of this model"}}`, agent.BadRequest, "budget"},
	// LM Studio. source: lmstudio.ai/docs/cli/load
	{400, `{"error":"No models loaded. Please load a model in the developer page or use the \u0060lms load\u0060 command."}`, agent.NoSuchModel, "No models"},
	{503, `{"error":{"message":"the model is still loading"}}`, agent.Overloaded, "loading"},
	// Tencent. source: cloud.tencent.com/document/product/1729/101838
	{200, `{"Response":{"Error":{"Code":"AuthFailure.SignatureFailure","Message":"The provided credentials could not be validated."},"RequestId":"x"}}`, agent.BadKey, "credentials"},
	{200, `{"Response":{"Error":{"Code":"RequestLimitExceeded","Message":"Your current request exceeds the limit."},"RequestId":"x"}}`, agent.RateLimited, "exceeds"},
}
