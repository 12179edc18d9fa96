package endpoints

import "strings"

// litellm is what LiteLLM makes of an error of Ollama that it does not know. source: BerriAI/litellm#11267, ollama/ollama#10255
func litellm(server, said string) *Refusal {
	return raw(500, encode(obj{"error": obj{"message": "litellm.APIConnectionError: " + server + "Exception - " + said, "type": nil, "param": nil, "code": "500"}}))
}

// behind is a refusal that a gateway tells with a status of its own failures.
func behind(status int, said string) *Refusal {
	return raw(status, encode(obj{"error": obj{"message": said, "type": "upstream_error", "code": status}}))
}

const (
	newAPI      = "https://github.com/QuantumNous/new-api/blob/main/service/error.go"
	glmVariants = `All variants failed with errors: glm-5.2: All model providers failed to infer with errors: zai: Inference stream closed due to error from openai server: Invalid status code: 400 Bad Request: {"error":{"code":"1214","message":"The messages parameter is illegal. Please check the documentation."}}`
)

// supposed is what it costs when such a refusal names a part: it is repeated once, and remembered after the second call.
func supposed(most int) Expectation { return Expectation{Refused: most, Again: 1} }

// behindGateways are endpoints whose refusals look like failures.
var behindGateways = []Row{
	{ID: "litellm-ollama-no-tools", Vendor: "LiteLLM, Ollama", Source: "BerriAI/litellm#11267", Does: "answers 500 that it could not connect, around the server's words that the model takes no tools",
		Checks: []Check{toolless(litellm("Ollama", `{"error":"registry.ollama.ai/library/gemma3:4b does not support tools"}`))}, Want: noTools(4)},
	{ID: "litellm-vllm-no-system", Vendor: "LiteLLM, vLLM", Source: "BerriAI/litellm#11267", Does: "answers 500 that it could not connect, around the server's words that it takes no system role",
		Checks: []Check{systemless(litellm("Vllm", "System role not supported"), "system", "developer")}, Want: supposed(4)},
	{ID: "upstream-400-no-tools", Vendor: "a gateway", Source: newAPI, Does: "answers 502 to a refusal of tools by what is behind it", Checks: []Check{toolless(behind(502, "Upstream 400: This model does not support tools"))}, Want: noTools(4)},
	{ID: "no-provider-with-tools", Vendor: "a gateway", Source: newAPI, Does: "answers 503 that none of its providers takes tools", Checks: []Check{toolless(behind(503, "No provider supports tool use for this model"))}, Want: noTools(4)},
	{ID: "upstream-400-messages-no-tools", API: Messages, Vendor: "a gateway", Source: newAPI, Does: "answers 502 to a refusal of tools by what is behind it", Checks: []Check{toolless(behind(502, "Upstream 400: This model does not support tools"))}, Want: noTools(4)},
	{ID: "upstream-400-responses-no-tools", API: Responses, Vendor: "a gateway", Source: newAPI, Does: "answers 502 to a refusal of tools by what is behind it", Checks: []Check{toolless(behind(502, "Upstream 400: This model does not support tools"))}, Want: noTools(4)},
	{ID: "upstream-stream-must-be-false", Vendor: "a gateway", Source: newAPI, Does: "answers 502 to a stream that what is behind it has not", Checks: []Check{streamless(behind(502, "upstream error: stream must be false"))}, Want: supposed(4)},
	{ID: "upstream-400-additional-properties", Vendor: "a gateway, Google", Source: "https://ai.google.dev/gemini-api/docs/function-calling", Does: "answers 502 to a keyword that Gemini's API does not know",
		Checks: withTools(func(c *Call) *Refusal {
			if !strings.Contains(encode(c.Body["tools"]), "additionalProperties") {
				return nil
			}
			return behind(502, `Upstream request failed: 400 Invalid JSON payload received. Unknown name "additionalProperties" at 'tools[0].function_declarations[0].parameters': Cannot find field.`)
		}), Want: supposed(4)},
	{ID: "glm-variants-null-content", Vendor: "a gateway, Z.AI", Source: "continuedev/continue#13259", Does: "answers 502 with GLM's 400 in it to a message of the model without a text",
		Checks: []Check{nullContent(raw(502, encode(obj{"error": glmVariants})))}, Want: Expectation{Refused: 3}},
	{ID: "glm-null-content-502", Vendor: "a gateway, Z.AI", Source: "continuedev/continue#13259", Does: "answers 502 with GLM's bare words to a message of the model without a text",
		Checks: []Check{nullContent(raw(502, `{"error":{"message":"The messages parameter is illegal. Please check the documentation.","code":"1214"}}`))}, Want: supposed(4)},
	{ID: "openrouter-stealth-model-removed", Vendor: "OpenRouter", Source: "https://openrouter.ai/docs/api-reference/errors", Does: "answers 410 for a model that it had for a while", Checks: never(behind(410, "Cypher Alpha was a stealth model and has been removed")), Want: dies(modelWords)},
	{ID: "upstream-401", Vendor: "a gateway", Source: newAPI, Does: "answers 502 when its own key is wrong", Checks: never(behind(502, "Upstream error 401: Incorrect API key provided")), Want: dies(keyWords)},
}

// maxTools refuses more than so many tools.
func maxTools(n int, no *Refusal) Check {
	return func(c *Call) *Refusal {
		if len(objects(c.Body["tools"])) > n {
			return no
		}
		return nil
	}
}

const (
	zaiCodes    = "https://docs.z.ai/api-reference/api-code"
	minimaxBase = "https://platform.minimax.io/docs/api-reference/errorcode"
)

// refusedInside are endpoints that begin to answer what they refuse.
var refusedInside = []Row{
	{ID: "zai-1210-event-messages", API: Messages, Vendor: "Z.AI", Source: "zai-org/feedback#81", Does: "refuses many tools by an event of a stream, without a word about tools",
		Checks: withTools(maxTools(12, &Refusal{Status: 200, Type: "text/event-stream", Body: "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"1210\",\"message\":\"Invalid API parameter, please check the documentation.\"},\"request_id\":\"x\"}\n\n"})), Want: Expectation{Refused: Any, Again: Any}},
	{ID: "zai-1210-event-chat", Vendor: "Z.AI", Source: "zai-org/feedback#81", Does: "refuses many tools by the first event of a stream, without a word about tools",
		Checks: withTools(maxTools(12, stream(`{"error":{"code":"1210","message":"Invalid API parameter, please check the documentation."}}`))), Want: Expectation{Refused: Any, Again: Any}},
	{ID: "zai-1210-chinese", Vendor: "Z.AI", Source: zaiCodes, Does: "refuses many tools by an event in Chinese",
		Checks: withTools(maxTools(12, stream(`{"type":"error","error":{"type":"invalid_request_error","code":"1210","message":"[1210][API 调用参数有误，请检查文档。][2026]"}}`))), Want: Expectation{Refused: Any, Again: Any}},
	{ID: "zai-1210-json", Vendor: "Z.AI", Source: zaiCodes, Does: "answers 200 with JSON to many tools", Checks: withTools(maxTools(12, raw(200, `{"error":{"code":"1210","message":"API 调用参数有误，请检查文档。"}}`))), Want: Expectation{Refused: Any, Again: Any}},
	{ID: "minimax-no-tools-beside-usage", Vendor: "MiniMax", Source: minimaxBase, Does: "refuses tools in base_resp of an event that has usage too",
		Checks: []Check{toolless(stream(`{"id":"","choices":null,"created":0,"model":"","object":"","usage":{"total_tokens":0},"base_resp":{"status_code":2013,"status_msg":"invalid params, tools not supported"}}`))}, Want: noTools(2)},
	{ID: "minimax-balance-beside-usage", Vendor: "MiniMax", Source: minimaxBase, Does: "has no balance, in base_resp of an event that has usage too",
		Checks: never(stream(`{"id":"","choices":null,"created":0,"model":"","object":"","usage":{"total_tokens":0},"base_resp":{"status_code":1008,"status_msg":"insufficient balance"}}`)), Want: dies(creditWords)},
}

// page is the page of a gateway whose server died.
func page(status int, words string) *Refusal {
	return &Refusal{Status: status, Type: "text/html", Body: "<html><body><h1>" + words + "</h1></body></html>"}
}

// diesOfParts are endpoints that fail, or die, of a part of a request, and say nothing about it.
var diesOfParts = []Row{
	{ID: "sglang-template-of-tools", Vendor: "SGLang", Source: "sgl-project/sglang#9166", Does: "answers 500 to every request with tools: its template cannot read them",
		Checks: []Check{toolless(raw(500, `{"object":"error","message":"Internal server error: 'dict object' has no attribute 'name'","type":"InternalServerError","param":null,"code":500}`))}, Want: noTools(6)},
	{ID: "llamacpp-undefined-in-template", Vendor: "llama.cpp", Source: "ggml-org/llama.cpp#15186", Does: "answers 500 to every request with tools: its template has a variable for them that is not set",
		Checks: []Check{toolless(llama(500, "server_error", "Failed to apply chat template: Undefined variable 'tools_in_user_message' at row 5"))}, Want: noTools(6)},
	{ID: "page-502-of-calls", Vendor: "a local server", Source: "vllm-project/vllm#12024", Does: "dies of calls in the history, behind a gateway that answers 502",
		Checks: []Check{onlyWhen(has("tools"), results(func(int, obj) *Refusal { return page(502, "502 Bad Gateway") }))}, Want: Expectation{Refused: 8, Again: 2}},
	{ID: "internal-error-for-a-moment-responses", API: Responses, Vendor: "OpenAI", Source: "https://platform.openai.com/docs/guides/error-codes", Does: "answers 500 twice without a word, and takes tools before and after that",
		Fails: []Failure{upTo(2, useTool, plain(500, "Internal Server Error"))}, Want: Expectation{Refused: 2}},
	{ID: "reasoning-item-without-content", API: Responses, Vendor: "vLLM", Source: "vllm-project/vllm#28248", Wire: reasons, Does: "answers 500 to a reasoning item whose text it does not find",
		Checks: withTools(func(c *Call) *Refusal {
			for _, item := range objects(c.Body["input"]) {
				if str(item["type"]) == "reasoning" {
					return vllm(500, "ResponseReasoningItem has no content")
				}
			}
			return nil
		}), Want: Expectation{Refused: 2}},
	{ID: "page-504-of-a-picture", Vendor: "a local server", Source: "ollama/ollama#10443", Does: "dies of pictures, behind a gateway that answers 504",
		Checks: []Check{blind(page(504, "504 Gateway Time-out"))}, Want: Expectation{Refused: 3, Again: 2, Image: BlindText}},
}
