package wire

import (
	"testing"

	"parley/agent"
)

// TestClassWords: what an error is about is read in the words of many vendors and languages, where neither status nor code says it.
func TestClassWords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status int
		body   string
		want   agent.ErrorClass
	}{
		// source: api-docs.deepseek.com/quick_start/pricing
		{400, `{"error":{"message":"The supported API model names are deepseek-v4-pro or deepseek-v4-flash, but you passed m.","type":"invalid_request_error"}}`, agent.NoSuchModel},
		// source: ollama/ollama#9896
		{400, `{"error":"\"nomic-embed-text\" does not support chat"}`, agent.NoSuchModel},
		// source: console.groq.com/docs/errors
		{400, `{"error":{"message":"The model x requires terms acceptance. Please have the org admin accept the terms","type":"invalid_request_error","code":"model_terms_required"}}`, agent.NoSuchModel},
		// source: ai.google.dev/gemini-api/docs/billing
		{429, `{"error":{"code":429,"message":"Your prepayment credits are depleted. Please go to AI Studio to manage your project and billing.","status":"RESOURCE_EXHAUSTED"}}`, agent.NoCredit},
		{429, `{"error":{"code":429,"message":"Your project has exceeded its monthly spending cap. Please go to AI Studio","status":"RESOURCE_EXHAUSTED"}}`, agent.NoCredit},
		// source: openrouter.ai/docs/api-reference/errors
		{400, `{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"error\":{\"message\":\"Internal server error\",\"type\":\"server_error\"}}"}}}`, agent.Overloaded},
		// source: lmstudio-ai/lmstudio-bug-tracker#1106
		{400, `{"error":"Model unloaded."}`, agent.Overloaded},
		{400, `{"error":"Channel Error"}`, agent.Overloaded},
		{400, `{"error":"The model has crashed without additional information. (Exit code: 18446744072635812000)"}`, agent.Overloaded},
		// source: docs.litellm.ai/docs/exception_mapping
		{500, `{"error":{"message":"litellm.AuthenticationError: AuthenticationError: OpenAIException - Incorrect API key provided: sk-x"}}`, agent.BadKey},
		// source: platform.minimax.io/docs/api-reference/errorcode
		{500, `{"base_resp":{"status_code":2061,"status_msg":"your current token plan not support model, MiniMax-M3 (2061)"}}`, agent.NoSuchModel},
		// source: platform.claude.com/docs/en/api/errors
		{400, `{"type":"error","error":{"type":"invalid_request_error","message":"This credential is only authorized for use with Claude Code and cannot be used for other API requests."}}`, agent.BadKey},
		// source: help.aliyun.com/zh/model-studio/error-code
		{403, `{"error":{"code":"AllocationQuota.FreeTierOnly","message":"The free tier of the model has been exhausted. If you wish to continue access the model on a paid basis, please disable the \"use free tier only\" mode"}}`, agent.NoCredit},
		// source: docs.mistral.ai
		{403, `{"message":"Inactive subscription or usage limit reached"}`, agent.NoCredit},
		// source: opencode.ai/docs/zen
		{400, `{"type":"error","error":{"type":"ModelError","message":"Model m is not supported for format oa-compat"}}`, agent.NoSuchModel},
		// source: docs.bigmodel.cn/cn/api/api-code, songquanpeng/one-api
		{400, `{"error":{"message":"请求过于频繁，请稍后再试"}}`, agent.RateLimited},
		{400, `{"error":{"message":"额度已用尽"}}`, agent.NoCredit},
		{400, `{"error":{"message":"未找到模型 m"}}`, agent.NoSuchModel},
		{400, `{"error":{"message":"API密钥无效"}}`, agent.BadKey},
		{400, `{"error":{"message":"无效的API Key"}}`, agent.BadKey},
		{400, `{"error":{"message":"模型过载"}}`, agent.Overloaded},
		{400, `{"error":{"message":"请稍后再试"}}`, agent.Overloaded},
		{400, `{"error":{"message":"超过模型最大长度"}}`, agent.TooLong},
		{400, `{"error":{"message":"内容包含敏感信息"}}`, agent.Refused},
		{400, `{"error":{"message":"输入内容未通过安全审核"}}`, agent.Refused},
		{400, `{"error":{"message":"您的输入包含违规内容"}}`, agent.Refused},
		// source: gateways that answer in the language of their owners
		{400, `{"error":{"message":"Zu viele Anfragen"}}`, agent.RateLimited},
		{400, `{"error":{"message":"Modell nicht gefunden"}}`, agent.NoSuchModel},
		{400, `{"error":{"message":"Ungültiger API-Schlüssel"}}`, agent.BadKey},
		{400, `{"error":{"message":"Недостаточно средств"}}`, agent.NoCredit},
		{400, `{"error":{"message":"Сервер перегружен"}}`, agent.Overloaded},
		{400, `{"error":{"message":"モデルが見つかりません"}}`, agent.NoSuchModel},
		{400, `{"error":{"message":"잔액이 부족합니다"}}`, agent.NoCredit},
		{400, `{"error":{"message":"Trop de requêtes"}}`, agent.RateLimited},
		{400, `{"error":{"message":"Clé API invalide"}}`, agent.BadKey},
		// source: console.groq.com/docs/models
		{400, `{"error":{"message":"The model whisper-large-v3 does not support chat completions"}}`, agent.NoSuchModel},
		{400, `{"error":{"message":"m is not a chat model"}}`, agent.NoSuchModel},
		{400, `{"error":{"message":"Model m is an embedding model and can not be used for chat"}}`, agent.NoSuchModel},
		// source: lmstudio.ai/docs/developer/openai-compat
		{400, `{"error":"Model is not llm. Please load an LLM"}`, agent.NoSuchModel},
		{400, `{"error":{"message":"The requested model is deprecated: m. Use n instead"}}`, agent.NoSuchModel},
		{400, `{"detail":"The model m is currently not available in your region"}`, agent.NoSuchModel},
		// source: docs.aws.amazon.com/bedrock/latest/userguide/model-access.html
		{400, `{"message":"Model access is denied due to IAM user or service role is not authorized to perform the required AWS Marketplace actions"}`, agent.NoSuchModel},
		// source: learn.microsoft.com/azure/ai-foundry/openai
		{400, `{"error":{"message":"The requested operation is unsupported.","code":"OperationNotSupported"}}`, agent.NoSuchModel},
		// source: docs.litellm.ai/docs/proxy/virtual_keys
		{400, `{"error":{"message":"Missing API key"}}`, agent.BadKey},
		{400, `{"error":"API key required"}`, agent.BadKey},
		{400, `{"error":{"message":"Your IP address is not allowed to use this API key"}}`, agent.BadKey},
		{400, `{"error":{"message":"You have no remaining quota for this billing period"}}`, agent.NoCredit},
		{400, `{"error":{"message":"Free tier exhausted. Upgrade to continue"}}`, agent.NoCredit},
		{500, `{"error":{"message":"authentication error: token expired"}}`, agent.BadKey},
		{403, `{"error":{"message":"Your plan does not include access to m"}}`, agent.NoSuchModel},
		// source: learn.microsoft.com/azure/ai-foundry/openai
		{404, `{"statusCode":404,"message":"Resource not found"}`, agent.BadAddress},
		// source: docs.openwebui.com/getting-started/api-endpoints
		{404, `<html><body><h1>Oops</h1></body></html>`, agent.BadAddress},
		{200, `<!doctype html><html><head><title>Open WebUI</title></head></html>`, agent.BadAddress},
		{0, `<!doctype html><html><head><title>Open WebUI</title></head></html>`, agent.BadAddress},
		// source: developers.openai.com/api/docs/guides/migrate-to-responses
		{404, `{"error":{"message":"This model is only supported in v1/responses and not in v1/chat/completions.","type":"invalid_request_error"}}`, agent.BadRequest},
		{400, `{"error":"Multi Agent requests are not allowed on chat completions. Please use the Responses API instead"}`, agent.BadRequest},
		// source: help.aliyun.com/zh/model-studio/error-code
		{400, `{"error":{"message":"Total tokens of image and text exceed max message tokens"}}`, agent.TooLong},
		{400, `{"error":{"message":"Too many tokens in tools and system prompt"}}`, agent.TooLong},
		{400, `{"error":{"message":"Request exceeds the maximum size"}}`, agent.TooLong},
		// source: openrouter.ai/docs/api-reference/errors
		{400, `{"error":{"message":"user not found"}}`, agent.BadKey},
		{403, `{"error":{"message":"streaming quota exceeded for today"}}`, agent.RateLimited},
		// What only looks like it.
		{429, `[{"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details. For more information on this error, head to: https://ai.google.dev/gemini-api/docs/rate-limits.","status":"RESOURCE_EXHAUSTED"}}]`, agent.RateLimited}, // source: ai.google.dev/gemini-api/docs/rate-limits
		{400, `{"error":{"message":"该模型不支持工具调用"}}`, agent.BadRequest},
		{400, `{"error":{"message":"不支持该模型的图片输入"}}`, agent.BadRequest},
		{400, `{"error":{"message":"The key 'strict' is not allowed in tools"}}`, agent.BadRequest},
		{400, `{"error":{"message":"tools: Input should be a valid list","type":"server_error"}}`, agent.BadRequest},
		{403, "<!doctype html><html><head><title>Just a moment...</title></head></html>", agent.Unreachable}, // source: developers.cloudflare.com (challenge pages)
		{200, "<!doctype html><html><head><title>Just a moment...</title></head></html>", agent.Broken},
		{500, `{"error":{"message":"Internal server error"}}`, agent.Overloaded},
	} {
		if got := classOf(c.status, c.body); got != c.want {
			t.Errorf("%d %s: %s, not %s", c.status, c.body, got, c.want)
		}
	}
}

// TestFilterInLanguages: what a filter refused, and a model that is not served, are told apart from other refusals by their stems.
// source: songquanpeng/one-api (relay errors in Chinese), help.aliyun.com/zh/model-studio/error-code
func TestFilterInLanguages(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]agent.ErrorClass{
		"输入内容包含敏感词，请修改后重试":                                           agent.Refused,
		"内容安全审核不通过":                                                  agent.Refused,
		"콘텐츠 정책에 의해 차단되었습니다":                                         agent.Refused,
		"La solicitud fue bloqueada por la política de contenido":    agent.Refused,
		"A solicitação foi bloqueada pela política de conteúdo":      agent.Refused,
		"La richiesta è stata bloccata dalla politica sui contenuti": agent.Refused,
		"La requête a été bloquée par la politique de contenu":       agent.Refused,
		"Die Anfrage wurde durch die Inhaltsrichtlinie blockiert":    agent.Refused,
		"Запрос отклонён политикой содержимого":                      agent.Refused,
		"コンテンツポリシーによりブロックされました":                                      agent.Refused,
		"当前分组 default 下对于模型 m 无可用渠道":                                 agent.NoSuchModel,
		"该模型已下线": agent.NoSuchModel,
		// What only looks like it.
		"参数名大小写敏感":                                      agent.BadRequest,
		"输入内容对大小写敏感":                                    agent.BadRequest,
		"El parámetro fue rechazado":                    agent.BadRequest,
		"La requête a été refusée : champ inconnu":      agent.BadRequest,
		"Die Anfrage wurde abgelehnt: unbekanntes Feld": agent.BadRequest,
		"도구 호출이 차단되었습니다":                                agent.BadRequest,
	} {
		if got := classOf(400, `{"error":{"message":"`+text+`"}}`); got != want {
			t.Errorf("%s: %s, not %s", text, got, want)
		}
	}
}

// TestLanguagesOfClasses: every class has words in every language.
func TestLanguagesOfClasses(t *testing.T) {
	t.Parallel()
	languages := make(map[agent.ErrorClass]map[string]bool)
	for _, w := range wordings {
		if languages[w.class] == nil {
			languages[w.class] = make(map[string]bool)
		}
		languages[w.class][w.language] = true
	}
	for class, has := range languages {
		for _, language := range []string{"Chinese", "French", "German", "Japanese", "Korean", "Russian", "Spanish"} {
			if !has[language] {
				t.Errorf("%s has no words in %s", class, language)
			}
		}
	}
}
