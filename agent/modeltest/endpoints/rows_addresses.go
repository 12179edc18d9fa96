package endpoints

import "strings"

// Where gateways put the signature of a call.
var (
	onCall = func(k obj) obj { return k }
	onFunc = func(k obj) obj { return function(k) }
)

// fieldsOf gives the fields of a signature: below provider_specific_fields, or beside the others.
func fieldsOf(signature string, nested bool) obj {
	if nested {
		return obj{"provider_specific_fields": obj{"thought_signature": signature}}
	}
	return obj{"thought_signature": signature}
}

// signsIn signs each call of an answer in fields of the call or of its function.
func signsIn(where func(obj) obj, nested bool) func(*Call, *Piece) {
	return func(c *Call, p *Piece) {
		for _, k := range p.calls() {
			if id := str(k["id"]); id != "" {
				for name, v := range fieldsOf(c.memory.opaque(id), nested) {
					where(k)[name] = v
				}
			}
		}
	}
}

// wantsSigns wants the signatures of signsIn back where they stood.
func wantsSigns(where func(obj) obj, nested bool) Check {
	return func(c *Call) *Refusal {
		for _, m := range c.Messages {
			for _, k := range m.Calls {
				from := where(k.Raw)
				if nested {
					from, _ = from["provider_specific_fields"].(obj)
				}
				if of, ok := c.memory.owner(str(from["thought_signature"])); c.memory.ours(k.ID) && (!ok || of != k.ID) {
					return google(400, "INVALID_ARGUMENT", "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly. Additional data, function call `default_api:%s`.", k.Name)
				}
			}
		}
		return nil
	}
}

// sealMark stands between the id of a call and its signature.
const sealMark = "__thought__"

// sealsID puts a signature of several hundred bytes into the id of each call.
func sealsID(c *Call, p *Piece) {
	for _, k := range p.calls() {
		if id := str(k["id"]); id != "" {
			k["id"] = id + sealMark + strings.Repeat(c.memory.opaque(id), 20)
		}
	}
}

// wantsSealedID wants calls and results under the ids of sealsID.
func wantsSealedID(c *Call) *Refusal {
	for _, m := range c.Messages {
		for _, k := range m.Calls {
			id, seal, _ := strings.Cut(k.ID, sealMark)
			one := seal[:len(seal)/20]
			if of, ok := c.memory.owner(one); c.memory.ours(id) && (!ok || of != id || seal != strings.Repeat(one, 20)) {
				return google(400, "INVALID_ARGUMENT", "Corrupted thought signature.")
			}
		}
	}
	return nil
}

// words of people who read that an address is wrong.
const addressWords = `its configured address has no model server`

// wrongWords are classes of failures in words of other providers.
var wrongWords = []Row{
	{ID: "litellm-signature-of-a-call", Vendor: "LiteLLM", Source: "https://docs.litellm.ai/blog/gemini_3", Model: "gemini-3-pro", Does: "signs calls in provider_specific_fields, and wants them back there", Wire: ChatWire{Edit: signsIn(onCall, true)}.Wire(), Mind: plainly, Checks: []Check{wantsSigns(onCall, true)}},
	{ID: "litellm-signature-of-a-function", Vendor: "LiteLLM", Source: "https://docs.litellm.ai/blog/gemini_3", Model: "gemini-3-pro", Does: "signs functions in provider_specific_fields, and wants them back there", Wire: ChatWire{Edit: signsIn(onFunc, true)}.Wire(), Mind: plainly, Checks: []Check{wantsSigns(onFunc, true)}},
	{ID: "gateway-signature-of-a-call", Vendor: "a gateway of Gemini", Source: "https://ai.google.dev/gemini-api/docs/thought-signatures", Model: "gemini-3-pro", Does: "signs calls in a field of theirs", Wire: ChatWire{Edit: signsIn(onCall, false)}.Wire(), Mind: plainly, Checks: []Check{wantsSigns(onCall, false)}},
	{ID: "gateway-signature-of-a-function", Vendor: "a gateway of Gemini", Source: "https://ai.google.dev/gemini-api/docs/thought-signatures", Model: "gemini-3-pro", Does: "signs functions in a field of theirs", Wire: ChatWire{Edit: signsIn(onFunc, false)}.Wire(), Mind: plainly, Checks: []Check{wantsSigns(onFunc, false)}},
	{ID: "litellm-signature-in-the-id", Vendor: "LiteLLM", Source: "https://docs.litellm.ai/blog/gemini_3", Model: "gemini-3-pro", Does: "puts the signature into the id of a call, and wants it back there", Lax: true, Wire: ChatWire{Edit: sealsID}.Wire(), Mind: plainly, Checks: []Check{wantsSealedID}},
	{ID: "disabled-organization", API: Messages, Vendor: "Anthropic", Source: "https://docs.anthropic.com/en/api/errors", Does: "answers 400 when the organization is disabled", Checks: never(claude(400, "invalid_request_error", "This organization has been disabled.")), Want: dies(keyWords)},
	{ID: "bedrock-throttling", Vendor: "Bedrock", Source: "https://docs.aws.amazon.com/bedrock/latest/userguide/troubleshooting-api-error-codes.html", Does: "answers 400 to the first request, with ThrottlingException as its type", Fails: []Failure{failOnce(hello, raw(400, `{"__type":"com.amazon.coral.service#ThrottlingException","message":"Too many tokens, please wait before trying again."}`))}},
	{ID: "gateway-overloaded-as-400", Vendor: "a gateway", Source: "https://docs.anthropic.com/en/api/errors", Does: "answers 400 to the first request, as it is overloaded", Fails: []Failure{failOnce(hello, raw(400, `{"error":{"message":"The service is temporarily overloaded. Please try again."}}`))}},
	{ID: "bedrock-model-identifier", Vendor: "Bedrock", Source: "https://docs.aws.amazon.com/bedrock/latest/userguide/inference-profiles-support.html", Does: "answers 400 to a model that it does not serve", Checks: never(message(400, "The provided model identifier is invalid.")), Want: dies(`does not have this model`)},
	{ID: "novita-balance", Vendor: "Novita", Source: "https://novita.ai/docs/api-reference/basic-error-code", Does: "answers 400 without balance", Checks: never(message(400, "You don't have enough balance.")), Want: dies(creditWords)},
	{ID: "base-url-without-v1", Vendor: "vLLM", Source: "https://docs.vllm.ai/en/latest/serving/openai_compatible_server/", Does: "has no API at the address", Checks: never(detail(404, "Not Found")), Want: wrongAddress(`no model API at POST http://`)},
	{ID: "base-url-without-v1-of-lm-studio", Vendor: "LM Studio", Source: "https://lmstudio.ai/docs/developer/openai-compat", Does: "has no API at the address, and answers 200", Checks: never(raw(200, `{"error":"Unexpected endpoint or method. (POST /chat/completions)"}`)), Want: wrongAddress(`no model API at POST http://`)},
	{ID: "base-url-that-redirects", Vendor: "nginx", Source: "https://nginx.org/en/docs/http/ngx_http_rewrite_module.html", Does: "redirects to another address", Checks: never(plain(307, "").with("Location", "/elsewhere/chat/completions?key=1")), Want: wrongAddress(`/elsewhere/chat/completions`)},
	{ID: "refuses-everything", Vendor: "a gateway", Source: "jrkropp/open-webui-developer-toolkit#717", Does: "answers 400 to everything, without a reason: one call with changes, then one request a call", Checks: never(raw(400, `{"error":{"message":"Bad Request"}}`)), Want: Expectation{Plain: `refuses all my requests`, Tool: `refuses all my requests`, Follow: `refuses all my requests`, Restart: None, Back: None, Refused: 16}},
	{ID: "refused-without-a-reason-left-out-together", Vendor: "a gateway", Source: "langchain-ai/langchainjs#6533", Does: "answers 400 without a reason to stream_options", Checks: []Check{refuseParam("stream_options", raw(400, `{"error":{"message":"Bad Request"}}`))}, Want: Expectation{Refused: 3, Again: 1}},
}

// wrongAddress is what people see of an endpoint that is somewhere else, with what the log says.
func wrongAddress(log string) Expectation {
	want := dies(addressWords)
	want.Refused, want.Log = 8, log
	return want
}
