package endpoints

import (
	"fmt"
	"strings"
)

var reasons = ResponsesWire{Reasons: true}.Wire()

// sse is a body of named events that is sent as a success.
func sse(events ...string) *Refusal {
	var b strings.Builder
	for _, e := range events {
		name, data, _ := strings.Cut(e, " ")
		fmt.Fprintf(&b, "event: %s\ndata: %s\n\n", name, data)
	}
	return &Refusal{Status: 200, Type: "text/event-stream", Body: b.String()}
}

const responseBegin = `response.created {"type":"response.created","sequence_number":0,"response":{"id":"resp_1","object":"response","status":"in_progress","output":[]}}`

// itemless is a wire that drops the events of a kind.
func itemless(kinds ...string) Wire {
	return ResponsesWire{Reasons: true, Last: func(_ *Call, pieces []Piece) (out []Piece) {
		for _, p := range pieces {
			if !matches(strings.Join(kinds, "|"), p.Kind) {
				out = append(out, p)
			}
		}
		return out
	}}.Wire()
}

var responses = []Row{
	{ID: "responses-stateless-encrypted", API: Responses, Vendor: "OpenAI", Source: "https://platform.openai.com/docs/guides/reasoning", Model: "gpt-5.2", Kind: KindEncrypted, Does: "keeps nothing with store false, and takes its encrypted reasoning back in front of the call that it came with", Wire: reasons,
		Checks: []Check{wantsReasoningItem, storesNothing}, Want: Expectation{Image: ImageText, Interrupt: true, Sends: []string{`"store":false`, `"reasoning.encrypted_content"`}}},
	{ID: "responses-both-calls", API: Responses, Vendor: "OpenAI", Source: "https://platform.openai.com/docs/guides/function-calling", Model: "gpt-5.2", Does: "makes two calls behind one reasoning item", Wire: reasons, Mind: both2, Checks: []Check{wantsReasoningItem}},
	{ID: "responses-items-by-id-not-found", API: Responses, Vendor: "an OpenAI gateway", Source: "maximhq/bifrost#5410", Does: "looks every item with an id up, and finds none because nothing is stored", Wire: reasons, Checks: []Check{noItemIDs}, Want: staged},
	{ID: "responses-encrypted-content-not-verified", API: Responses, Vendor: "OpenAI", Source: "openai/codex#8145", Model: "gpt-5.2", Does: "cannot verify encrypted reasoning that it made itself", Wire: reasons,
		Checks: []Check{noReasoningItems(invalid(nil, "invalid_encrypted_content", "The encrypted content gAAA...DQ== could not be verified."))}, Want: staged},
	{ID: "responses-vllm-encrypted-content", API: Responses, Vendor: "vLLM", Source: "vllm-project/vllm#28248", Does: "takes no encrypted reasoning", Wire: reasons, Checks: []Check{func(c *Call) *Refusal {
		if strings.Contains(string(c.Raw), `"encrypted_content":"`) {
			return vllm(400, "Encrypted content is not supported.")
		}
		return nil
	}}, Want: staged},
	{ID: "responses-xai-decrypt", API: Responses, Vendor: "xAI", Source: "lidge-jun/opencodex#2229", Model: "grok-4-fast-reasoning", Does: "wants its reasoning item back as it was, the summary too", Wire: reasons, Checks: []Check{sameSummary}},
	{ID: "responses-instructions-refused", Faults: []string{"M13"}, API: Responses, Vendor: "a gateway", Source: "https://platform.openai.com/docs/guides/reasoning", Does: "takes no system text", Checks: []Check{refuseParam("instructions", invalid("instructions", "unsupported_parameter", "Unsupported parameter: 'instructions' is not supported with this model.")), noSystemItems}, Want: learns},
	{ID: "responses-include-refused", API: Responses, Vendor: "a gateway", Source: "https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html", Does: "does not know include", Checks: []Check{refuseParam("include", vllm(400, "include: Extra inputs are not permitted"))}, Want: learns},
	{ID: "responses-store-refused", API: Responses, Vendor: "a gateway", Source: "Gitlawb/openclaude#739", Does: "does not know store", Checks: []Check{refuseParam("store", fastAPI("extra_forbidden", list{"body", "store"}, "Extra inputs are not permitted", false))}, Want: learns},
	{ID: "responses-failed-rate-limit", Faults: []string{"M4"}, API: Responses, Vendor: "Azure", Source: "earendil-works/pi#1458", Does: "reports a rate limit as a failed response inside of the stream",
		Fails: []Failure{failOnce(hello, sse(responseBegin, `response.failed {"type":"response.failed","response":{"id":"resp_1","status":"failed","error":{"code":"rate_limit_exceeded","message":"Requests to the Responses Operation have exceeded token rate limit of your current pricing tier. Please retry after 1 second."}}}`))}},
	{ID: "responses-failed-server-error", Faults: []string{"M4"}, API: Responses, Vendor: "OpenAI", Source: "https://platform.openai.com/docs/api-reference/responses-streaming", Does: "fails with a server error inside of the stream",
		Fails: []Failure{failOnce(hello, sse(responseBegin, `response.failed {"type":"response.failed","response":{"id":"resp_1","status":"failed","error":{"code":"server_error","message":"An error occurred while processing your request. You can retry your request."}}}`))}},
	{ID: "responses-error-event", Faults: []string{"M4"}, API: Responses, Vendor: "OpenAI", Source: "openai/openai-python#2699", Does: "sends an error event in the stream",
		Fails: []Failure{failOnce(hello, sse(`error {"type":"error","sequence_number":1,"code":"rate_limit_exceeded","message":"Rate limit reached. Please try again in 1s.","param":null}`))}},
	{ID: "responses-error-event-nested", Faults: []string{"M4"}, API: Responses, Vendor: "OpenAI", Source: "BerriAI/litellm#31787", Does: "sends an error event whose error is an object",
		Fails: []Failure{failOnce(hello, sse(responseBegin, `error {"type":"error","error":{"type":"too_many_requests","code":"too_many_requests","message":"Too Many Requests","param":{"x":1}}}`))}},
	{ID: "responses-stream-ends-early", Faults: []string{"M4"}, API: Responses, Vendor: "OpenAI", Source: "https://platform.openai.com/docs/api-reference/responses-streaming", Does: "ends its stream before the response is completed",
		Fails: []Failure{failOnce(hello, sse(responseBegin, `response.output_text.delta {"type":"response.output_text.delta","item_id":"msg_1","output_index":0,"content_index":0,"delta":"A draft that"}`))}},
	{ID: "responses-incomplete-filter", Faults: []string{"M2"}, API: Responses, Vendor: "Azure", Source: "https://learn.microsoft.com/azure/ai-foundry/openai/how-to/responses", Does: "ends an answer as incomplete because of its content filter", Mind: func(c *Call) Say {
		s := Usual(c)
		if c.Asked() == "hello" {
			s.Text = ""
		}
		return s
	}, Wire: ResponsesWire{Status: func(c *Call, response obj) {
		if c.Asked() == "hello" {
			response["status"], response["incomplete_details"] = "incomplete", obj{"reason": "content_filter"}
		}
	}}.Wire(), Want: Expectation{Plain: refusedText}},
	{ID: "responses-incomplete-length", API: Responses, Vendor: "OpenAI", Source: "https://platform.openai.com/docs/api-reference/responses/object", Does: "ends an answer as incomplete at the longest length", Wire: ResponsesWire{Status: func(c *Call, response obj) {
		if c.Asked() == "hello" {
			response["status"], response["incomplete_details"] = "incomplete", obj{"reason": "max_output_tokens"}
		}
	}}.Wire(), Want: Expectation{Plain: `^echo: hello`}},
	{ID: "responses-refusal", API: Responses, Vendor: "OpenAI", Source: "https://platform.openai.com/docs/guides/structured-outputs", Does: "streams a refusal part instead of a text", Wire: ResponsesWire{Status: func(c *Call, response obj) {
		if c.Asked() == "hello" {
			for _, item := range response["output"].([]obj) {
				item["content"] = list{obj{"type": "refusal", "refusal": "I cannot help with that."}}
			}
		}
	}}.Wire(), Want: Expectation{Plain: `I cannot help with that|` + refusedText}},
	{ID: "responses-no-deltas", API: Responses, Vendor: "a gateway", Source: "https://platform.openai.com/docs/api-reference/responses-streaming", Does: "sends finished items and no deltas", Wire: itemless("delta", "added", "text.done", "arguments.done"), Checks: []Check{wantsReasoningItem}},
	{ID: "responses-only-completed", API: Responses, Vendor: "a gateway", Source: "BYK/loreai#1195", Does: "sends everything in the last event", Wire: itemless("delta", "added", "done"), Checks: []Check{wantsReasoningItem}},
	{ID: "responses-last-event-without-output", API: Responses, Vendor: "an OpenAI gateway", Source: "BYK/loreai#1195", Does: "leaves the output of the last event empty", Wire: ResponsesWire{Reasons: true, Edit: func(_ *Call, p *Piece) {
		if p.Kind == "response.completed" {
			r := obj{}
			for k, v := range p.Data["response"].(obj) {
				r[k] = v
			}
			r["output"] = list{}
			p.Data["response"] = r
		}
	}}.Wire(), Checks: []Check{wantsReasoningItem}},
	{ID: "responses-json-instead-of-a-stream", Faults: []string{"L1"}, API: Responses, Vendor: "a gateway", Source: "mistralai/mistral-vibe#619", Does: "answers a request for a stream with one JSON object", Wire: ResponsesWire{Reasons: true, Whole: true}.Wire(), Checks: []Check{wantsReasoningItem}},
	{ID: "responses-multi-line-data", API: Responses, Vendor: "a proxy", Source: "SamSaffron/term-llm#456", Does: "splits the JSON of an event over several data lines", Wire: ResponsesWire{Reasons: true, Edit: func(_ *Call, p *Piece) {
		p.Raw = strings.ReplaceAll(encode(p.Data), `,"type":`, ",\ndata: \"type\":")
	}}.Wire()},
	{ID: "responses-no-event-names", API: Responses, Vendor: "a gateway", Source: "https://html.spec.whatwg.org/multipage/server-sent-events.html", Does: "has no event lines, and DONE at the end", Wire: ResponsesWire{Reasons: true, Last: func(_ *Call, pieces []Piece) []Piece {
		for i := range pieces {
			pieces[i].Event = ""
		}
		return append(pieces, Piece{Raw: "[DONE]"})
	}}.Wire()},
	{ID: "responses-unknown-items-and-events", API: Responses, Vendor: "OpenAI", Source: "https://platform.openai.com/docs/api-reference/responses-streaming", Does: "sends items and events that a client does not know", Wire: ResponsesWire{Reasons: true, Last: func(_ *Call, pieces []Piece) []Piece {
		extra := Piece{Kind: "response.mood.delta", Event: "response.mood.delta", Data: obj{"type": "response.mood.delta", "item_id": "md_1", "delta": obj{"mood": 1}}}
		item := Piece{Kind: "response.output_item.added", Event: "response.output_item.added", Data: obj{"type": "response.output_item.added", "output_index": 7, "item": obj{"type": "mood", "id": "md_1", "status": "in_progress"}}}
		return append([]Piece{pieces[0], extra, item}, pieces[1:]...)
	}}.Wire()},
	{ID: "responses-reasoning-text", API: Responses, Vendor: "vLLM, LM Studio", Source: "https://lmstudio.ai/docs/developer/openai-compat/responses", Model: "openai/gpt-oss-20b", Does: "streams reasoning text instead of summaries, which stays hidden", Wire: ResponsesWire{Reasons: true, Edit: func(_ *Call, p *Piece) {
		if p.Kind == "response.reasoning_summary_text.delta" {
			p.Event = "response.reasoning_text.delta"
			p.Data["type"], p.Data["content_index"] = p.Event, 0
		}
	}}.Wire()},
	{ID: "responses-arguments-as-object", Faults: []string{"H5"}, API: Responses, Vendor: "a gateway", Source: "openclaw/openclaw#68418", Does: "has the arguments of a call as an object", Wire: ResponsesWire{Edit: func(_ *Call, p *Piece) {
		if item, ok := p.Data["item"].(obj); ok && p.Kind == "response.output_item.done" && item["arguments"] != nil {
			copied := obj{}
			for k, v := range item {
				copied[k] = v
			}
			copied["arguments"] = rawJSON(str(item["arguments"]))
			p.Data["item"] = copied
		}
	}}.Wire()},
	{ID: "responses-effort-one-value", Faults: []string{"H3"}, API: Responses, Vendor: "GitHub Copilot", Source: "github/copilot-cli#2476", Model: "gpt-5.2-codex", Thinking: "low", Does: "takes one effort, and says which", Checks: []Check{among("reasoning.effort", "medium", func(v string) *Refusal {
		return raw(400, `{"error":{"message":"Unsupported value: '`+v+`' is not supported with the 'gpt-5.2-codex' model. Supported values are: 'medium'.","code":"invalid_reasoning_effort"}}`)
	})}, Want: Expectation{Refused: 1, Sends: []string{`"effort":"medium"`}}},
	{ID: "responses-too-long", API: Responses, Vendor: "OpenAI", Source: "https://platform.openai.com/docs/guides/conversation-state", Does: "answers 400 with context_length_exceeded", Checks: never(invalid("input", "context_length_exceeded", "Your input exceeds the context window of this model. Please adjust your input and try again.")), Want: overlong},
}

// storesNothing wants store to be false.
func storesNothing(c *Call) *Refusal {
	if c.Body["store"] != false {
		return invalid("store", nil, "This organization has Zero Data Retention enabled; `store` must be set to false.")
	}
	return nil
}

func noItemIDs(c *Call) *Refusal {
	for _, item := range objects(c.Body["input"]) {
		if id := str(item["id"]); id != "" {
			return invalid("input", nil, "Item with id '%s' not found. Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item from your input.", id)
		}
	}
	return nil
}

func noReasoningItems(no *Refusal) Check {
	return func(c *Call) *Refusal {
		for _, item := range objects(c.Body["input"]) {
			if str(item["type"]) == "reasoning" {
				return no
			}
		}
		return nil
	}
}

// sameSummary wants the summary of a reasoning item as it was given out, text for text.
func sameSummary(c *Call) *Refusal {
	for _, item := range objects(c.Body["input"]) {
		if str(item["type"]) != "reasoning" {
			continue
		}
		parts := objects(item["summary"])
		if len(parts) != 1 || !strings.HasPrefix(str(parts[0]["text"]), Musing) {
			return raw(400, `{"code":"invalid-argument","error":"Could not decrypt the provided encrypted_content. Ensure the value is the unmodified encrypted_content from a previous response."}`)
		}
	}
	return nil
}

func noSystemItems(c *Call) *Refusal {
	for _, item := range objects(c.Body["input"]) {
		if role := str(item["role"]); role == "system" || role == "developer" {
			return invalid("input[0].role", "unsupported_value", "Unsupported value: 'input[0].role' does not support '%s' with this model.", role)
		}
	}
	return nil
}
