package endpoints

// leftOut is what people and owners see of an endpoint that does not take a setting: all turns work, and the log names it and its place.
func leftOut(setting, place string) Expectation {
	return Expectation{Refused: 3, Log: `left settings out of a model's requests[^\n]*settings="?` + setting + `[^\n]*models\.providers\.row\.` + place}
}

// noData is a refusal without a reason.
var noData = claude(400, "invalid_request_error", "Invalid request data")

// ownSettings are endpoints that refuse what the settings of their model add to a request.
var ownSettings = []Row{
	{ID: "temperature-without-a-reason", API: Messages, Vendor: "Anthropic", Source: "TONresistor/teleton-agent#20", Config: "temperature: 0.7", Does: "refuses a temperature without a reason", Checks: []Check{refuseParam("temperature", noData)}, Want: leftOut("temperature", "temperature")},
	{ID: "top-p-of-a-model-without-a-reason", Vendor: "a gateway", Source: "TONresistor/teleton-agent#20", Config: "models: {model-1: {topP: 0.5}}", Does: "refuses a topP that stands at the model, without a reason", Checks: []Check{refuseParam("top_p", raw(400, `{"error":{"message":"Bad Request"}}`))}, Want: leftOut("topP", "topP")},
	{ID: "field-of-the-body-without-a-reason", API: Responses, Vendor: "a gateway", Source: "TONresistor/teleton-agent#20", Config: "body: {seed: 7}", Does: "refuses a field of the settings' body without a reason", Checks: []Check{refuseParam("seed", raw(400, "Bad Request"))}, Want: leftOut(`body\.seed`, `body\.seed`)},
	{ID: "header-without-a-reason", Vendor: "a gateway", Source: "zai-org/feedback#81", Config: "headers: {X-Team: bees}, temperature: 0.7", Does: "refuses a header of the settings without a reason", Checks: []Check{func(c *Call) *Refusal {
		if c.Header.Get("X-Team") != "" {
			return raw(400, `{"error":{"message":"Bad Request"}}`)
		}
		return nil
	}}, Want: Expectation{Plain: `refuses all my requests`, Tool: `refuses all my requests`, Follow: `refuses all my requests`, Restart: None, Back: None, Refused: 16, Log: "The setting `headers\\.X-Team` of row/model-1 may be the reason[^\\n]*`models\\.providers\\.row\\.headers\\.X-Team`[^\\n]*Without the setting `temperature`"}},
	{ID: "privacy-stays-where-no-reason-is-given", Vendor: "OpenRouter", Source: "https://openrouter.ai/docs/guides/routing/provider-selection", Config: "temperature: 0.7, body: {provider: {data_collection: deny}}", Does: "refuses a temperature without a reason, and would keep data that it is not told to forget", Checks: []Check{refuseParam("temperature", router(400, "Other", "Bad Request")), wants("provider", invalid("provider", nil, "a request whose data may be kept"))}, Want: leftOut("temperature", "temperature")},
	{ID: "chat-template-by-a-part-of-its-name", Vendor: "vLLM", Source: "Alishahryar1/free-claude-code#130", Config: "body: {chat_template_kwargs: {enable_thinking: false}}", Does: "refuses chat_template_kwargs as chat_template", Checks: []Check{refuseParam("chat_template_kwargs", vllm(400, "chat_template is not supported for Mistral tokenizers."))},
		Want: Expectation{Refused: 1, Log: `settings="?body\.chat_template_kwargs`}},
	{ID: "field-inside-of-a-setting", API: Responses, Vendor: "vLLM", Source: "vllm-project/vllm#38560", Config: "body: {chat_template_kwargs: {enable_thinking: false}}", Does: "names a field inside of one of the settings' fields", Checks: []Check{refuseParam("chat_template_kwargs", vllm(400, "Kwargs ['enable_thinking'] are not supported by `MistralCommonTokenizer.apply_chat_template`."))},
		Want: Expectation{Refused: 1, Log: `settings="?body\.chat_template_kwargs`}},
}
