package endpoints

import (
	"slices"
	"strings"
)

// inPieces gives the pieces of a text of chat completions anew: cut makes them of the whole text.
func inPieces(cut func(whole string) []string) Wire {
	return ChatWire{Last: func(_ *Call, all []Piece) (out []Piece) {
		whole, first := "", -1
		for i, p := range all {
			if p.Kind == "text" {
				whole += str(p.delta()["content"])
				if first < 0 {
					first = i
				}
			}
		}
		if first < 0 {
			return all
		}
		out = append(out, all[:first]...)
		for _, piece := range cut(whole) {
			out = append(out, Piece{Kind: "text", Data: obj{"id": "chatcmpl-1", "object": "chat.completion.chunk", "choices": list{obj{"index": 0, "delta": obj{"content": piece}, "finish_reason": nil}}}})
		}
		return append(out, leavingOut("text")(nil, all[first:])...)
	}}.Wire()
}

// againInBetween cuts a text into pieces of five characters, and puts all of the text so far once more behind the sixth.
func againInBetween(whole string) (out []string) {
	for n := 0; n < len(whole); n += 5 {
		out = append(out, whole[n:min(n+5, len(whole))])
		if n == 25 {
			out = append(out, whole[:n+5])
		}
	}
	return out
}

// callPieces gives the pieces of calls anew: change makes them of the entries of tool_calls.
func callPieces(change func(entries []obj) []obj) Wire {
	return ChatWire{Last: func(_ *Call, all []Piece) (out []Piece) {
		var entries []obj
		for _, p := range all {
			entries = append(entries, p.calls()...)
		}
		if entries == nil {
			return all
		}
		at := slices.IndexFunc(all, isKind("call"))
		out = append(out, all[:at]...)
		for _, k := range change(entries) {
			out = append(out, Piece{Kind: "call", Data: obj{"id": "chatcmpl-1", "object": "chat.completion.chunk", "choices": list{obj{"index": 0, "delta": obj{"tool_calls": list{k}}, "finish_reason": nil}}}})
		}
		return append(out, leavingOut("call", "arguments")(nil, all[at:])...)
	}}.Wire()
}

// byTurns sends the beginnings of all calls first, and then the rest of their arguments, the last call first.
func byTurns(entries []obj) []obj {
	slices.SortStableFunc(entries, func(a, b obj) int {
		beginnings := [2]int{}
		for i, k := range []obj{a, b} {
			if k["id"] == nil {
				beginnings[i] = 1
			}
		}
		return beginnings[0] - beginnings[1]
	})
	if n := len(entries); n == 4 {
		entries[2], entries[3] = entries[3], entries[2]
	}
	return entries
}

// nameInHalves sends the name of a call in two pieces, the second with all arguments.
func nameInHalves(entries []obj) (out []obj) {
	args := ""
	for _, k := range entries {
		args += str(function(k)["arguments"])
	}
	a, b := halves(str(function(entries[0])["name"]))
	return []obj{{"index": 0, "id": entries[0]["id"], "type": "function", "function": obj{"name": a, "arguments": ""}}, {"index": 0, "function": obj{"name": b, "arguments": args}}}
}

// movingIndex counts the pieces of a call, not the calls.
func movingIndex(entries []obj) []obj {
	for i, k := range entries {
		k["index"] = i
	}
	return entries
}

// filler makes the texts of the usual model so long that a repeated one is no accident.
var filler = instead(func(usual string) string {
	return strings.TrimSuffix(usual, ".") + ", and that is all that there is to say."
})

// filled is what people see of it.
var filled = Expectation{Plain: `^echo: hello, and that is all that there is to say\.$`, Tool: `^The tool names a session, and that is all that there is to say\.$`, Follow: `^echo: and now\?, and that is all that there is to say\.$`,
	Restart: `^echo: are you there\?, and that is all that there is to say\.$`, Back: `^echo: and here\?, and that is all that there is to say\.$`}

// responsesEdit is a wire of the Responses API that changes each event.
func responsesEdit(change func(c *Call, p *Piece)) Wire {
	return ResponsesWire{Reasons: true, Edit: change}.Wire()
}

// responsesLast is a wire of the Responses API that changes all events of an answer.
func responsesLast(change func(pieces []Piece) []Piece) Wire {
	return ResponsesWire{Last: func(_ *Call, pieces []Piece) []Piece { return change(pieces) }}.Wire()
}

// messagesLast is a wire of Anthropic's messages that changes all events of an answer.
func messagesLast(change func(pieces []Piece) []Piece) Wire {
	return MessagesWire{Last: func(_ *Call, pieces []Piece) []Piece { return change(pieces) }}.Wire()
}

// notAnnounced leaves out all that begins a message, and the pieces of its text.
func notAnnounced(pieces []Piece) []Piece {
	return slices.DeleteFunc(pieces, func(p Piece) bool {
		item, _ := p.Data["item"].(obj)
		return p.Kind == "response.output_item.added" && item["type"] == "message" || strings.Contains(p.Kind, "content_part") || p.Kind == "response.output_text.delta"
	})
}

// doneTooEarly ends a message behind the first piece of its text. The whole answer does not have it.
func doneTooEarly(pieces []Piece) (out []Piece) {
	first := slices.IndexFunc(pieces, isKind("response.output_text.delta"))
	if first < 0 {
		return pieces
	}
	said := str(pieces[first].Data["delta"])
	item := obj{"type": "message", "id": pieces[first].Data["item_id"], "role": "assistant", "status": "completed", "content": list{obj{"type": "output_text", "text": said}}}
	early := []Piece{responseEvent("response.output_text.done", obj{"item_id": item["id"], "output_index": 0, "content_index": 0, "text": said}), responseEvent("response.output_item.done", obj{"output_index": 0, "item": item})}
	for i, p := range pieces {
		if response, ok := p.Data["response"].(obj); ok && p.Kind == "response.completed" {
			p.Data["response"] = withKey(response, "output", list{})
		}
		if !strings.HasSuffix(p.Kind, ".done") {
			out = append(out, p)
		}
		if i == first {
			out = append(out, early...)
		}
	}
	return out
}

func responseEvent(kind string, data obj) Piece {
	data["type"] = kind
	return Piece{Kind: kind, Event: kind, Data: data}
}

// withKey gives an object with another value of a key.
func withKey(o obj, key string, value any) obj {
	out := obj{}
	for k, v := range o {
		out[k] = v
	}
	out[key] = value
	return out
}

// withoutTail leaves out the last piece of a text: only the whole item has all of it.
func withoutTail(pieces []Piece) (out []Piece) {
	last := -1
	for i, p := range pieces {
		if p.Kind == "response.output_text.delta" {
			last = i
		}
	}
	for i, p := range pieces {
		if i != last && p.Kind != "response.output_text.done" && p.Kind != "response.content_part.done" {
			if response, ok := p.Data["response"].(obj); ok && p.Kind == "response.completed" {
				p.Data["response"] = withKey(response, "output", list{})
			}
			out = append(out, p)
		}
	}
	return out
}

// changingIDs gives each event of an item an id of its own.
func changingIDs(c *Call, p *Piece) {
	id := "enc_" + encode(c.memory.times("ids"))
	if p.Data["item_id"] != nil {
		p.Data["item_id"] = id
	}
	if item, ok := p.Data["item"].(obj); ok {
		p.Data["item"] = withKey(item, "id", id)
	}
}

// startedWithText moves the first piece of each text into the beginning of its block.
func startedWithText(pieces []Piece) (out []Piece) {
	for _, p := range pieces {
		delta, _ := p.Data["delta"].(obj)
		if n := len(out); str(delta["type"]) == "text_delta" && out[n-1].Kind == "content_block_start" {
			if start, _ := out[n-1].Data["content_block"].(obj); start["text"] == "" {
				out[n-1].Data["content_block"] = obj{"type": "text", "text": delta["text"]}
				continue
			}
		}
		out = append(out, p)
	}
	return out
}

// wordsInTheCall puts a piece of text into the block of each call.
func wordsInTheCall(pieces []Piece) (out []Piece) {
	for _, p := range pieces {
		block, _ := p.Data["content_block"].(obj)
		out = append(out, p)
		if str(block["type"]) == "tool_use" {
			out = append(out, claudeEvent("content_block_delta", obj{"index": p.Data["index"], "delta": obj{"type": "text_delta", "text": "Let me look."}}))
		}
	}
	return out
}

// lateWords moves the last piece of each text behind the end of its block.
func lateWords(pieces []Piece) []Piece {
	for i := 1; i < len(pieces); i++ {
		delta, _ := pieces[i-1].Data["delta"].(obj)
		if pieces[i].Kind == "content_block_stop" && str(delta["type"]) == "text_delta" {
			pieces[i-1], pieces[i] = pieces[i], pieces[i-1]
			i++
		}
	}
	return pieces
}

// endTurn always ends with end_turn, and begins with an empty text.
func endTurn(pieces []Piece) (out []Piece) {
	for _, p := range pieces {
		if delta, ok := p.Data["delta"].(obj); ok && p.Kind == "message_delta" {
			p.Data["delta"] = withKey(delta, "stop_reason", "end_turn")
		}
		if index, ok := p.Data["index"].(int); ok {
			p.Data["index"] = index + 1
		}
		out = append(out, p)
		if p.Kind == "message_start" {
			out = append(out, claudeEvent("content_block_start", obj{"index": 0, "content_block": obj{"type": "text", "text": ""}}), claudeEvent("content_block_stop", obj{"index": 0}))
		}
	}
	return out
}

// aside puts words of another role in front of the answer.
func aside(role, words string) func(*Call, []Piece) []Piece {
	return func(_ *Call, pieces []Piece) []Piece {
		chunk := func(delta obj) Piece {
			return Piece{Data: obj{"id": "chatcmpl-1", "object": "chat.completion.chunk", "choices": list{obj{"index": 0, "delta": delta, "finish_reason": nil}}}}
		}
		a, b := halves(words)
		return append([]Piece{chunk(obj{"role": role, "content": a, "tool_call_id": "call_own"}), chunk(obj{"content": b})}, pieces...)
	}
}

const toolUseOfNothing = claudeStart + "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\",\"stop_sequence\":null,\"stop_details\":null},\"usage\":{\"output_tokens\":2}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"

// order are endpoints whose events come in another order, in other pieces, or more than once.
var order = []Row{
	{ID: "text-so-far", Vendor: "Alibaba", Source: "QwenLM/qwen-code#3896", Does: "sends all of the text so far in each piece", Wire: inPieces(growing)},
	{ID: "text-again-in-between", Vendor: "an OpenAI-compatible server", Source: "openclaw/openclaw#142888", Does: "sends all of the text so far once more in the middle of an answer", Wire: inPieces(againInBetween), Mind: filler, Want: filled},
	{ID: "arguments-by-turns", Vendor: "OpenAI", Source: "continuedev/continue#13223", Does: "begins all calls, and then sends their arguments by turns", Mind: both2, Wire: callPieces(byTurns)},
	{ID: "name-in-two-pieces", Vendor: "LM Studio", Source: "ankit373/hydra#958", Does: "sends the name of a call in two pieces, the second with the arguments", Wire: callPieces(nameInHalves)},
	{ID: "index-of-pieces", Vendor: "Nebius, Cerebras", Source: "dirac-run/dirac#215", Does: "counts the pieces of a call with the index of calls", Wire: callPieces(movingIndex)},
	{ID: "empty-finish-and-function-call", Vendor: "a gateway", Source: "CangShui/workbuddy-gateway#3", Does: "has an empty finish reason in each chunk, and an empty function call in the last one", Wire: edit(func(_ *Call, p *Piece) {
		switch o := p.choice(); {
		case p.Kind == "finish":
			o["delta"] = obj{"content": "", "function_call": obj{"name": "", "arguments": ""}}
		case o["delta"] != nil:
			o["finish_reason"] = ""
		}
	})},
	{ID: "filter-offsets-without-a-delta", Vendor: "Azure", Source: "aaif-goose/goose#8641", Does: "sends chunks about its filter that have no delta", Wire: ChatWire{Last: func(_ *Call, pieces []Piece) (out []Piece) {
		for _, p := range pieces {
			out = append(out, p)
			if p.Kind == "text" {
				out = append(out, Piece{Raw: `{"choices":[{"content_filter_offsets":{"check_offset":54781,"start_offset":54781,"end_offset":55778},"content_filter_results":{"hate":{"filtered":false,"severity":"safe"}},"finish_reason":null,"index":0}],"created":0,"id":"","model":"","object":""}`})
			}
		}
		return out
	}}.Wire()},
	{ID: "delta-in-a-whole-answer", Vendor: "LiteLLM", Source: "BerriAI/litellm#37652", Does: "answers from its cache with one chunk that has all in a delta", Wire: ChatWire{Whole: true, Answer: func(_ *Call, whole obj) {
		whole["object"] = "chat.completion.chunk"
		for _, ch := range objects(whole["choices"]) {
			ch["delta"] = ch["message"]
			delete(ch, "message")
		}
	}}.Wire()},
	{ID: "end-token-in-the-text", Vendor: "oMLX", Source: "jundot/omlx#1087", Model: "gemma-4-e4b", Does: "leaves the token at which it stopped in the text", Mind: instead(func(s string) string { return s + "<eos>" })},
	{ID: "pictures-of-the-model", Vendor: "OpenRouter", Source: "https://openrouter.ai/docs/features/multimodal/image-generation", Model: "google/gemini-3-pro-image", Does: "sends a picture beside the text, or instead of it", Wire: edit(func(c *Call, p *Piece) {
		if p.Kind == "text" {
			p.delta()["images"] = list{obj{"type": "image_url", "image_url": obj{"url": "data:image/png;base64,iVBORw0KGgo="}}}
			if c.Asked() == "and now?" {
				p.delta()["content"] = ""
			}
		}
	}), Want: Expectation{Plain: `^echo: hello\n\n\(The language model sent a picture`, Tool: `^The tool names a session\.\n\n\(The`, Follow: `^\(The language model sent a picture`, Restart: `^echo: are you there\?\n\n\(The`, Back: `^echo: and here\?\n\n\(The`}},
	{ID: "results-of-tools-in-the-stream", Vendor: "an agent server", Source: "https://platform.openai.com/docs/api-reference/chat/streaming", Does: "runs tools of its own, and streams their results with the role tool", Wire: ChatWire{Last: aside("tool", "a result of a tool of the server")}.Wire()},
	{ID: "words-of-a-person-only", Vendor: "a server", Source: "https://platform.openai.com/docs/api-reference/chat/streaming", Does: "gives its answers the role user", Wire: edit(func(_ *Call, p *Piece) {
		if p.Kind == "role" {
			p.delta()["role"] = "user"
		}
	})},
	{ID: "responses-changing-ids", API: Responses, Vendor: "GitHub Copilot", Source: "BerriAI/litellm#30072", Does: "gives each event of an item an id of its own", Wire: responsesEdit(changingIDs)},
	{ID: "responses-message-not-announced", API: Responses, Vendor: "vLLM", Source: "vllm-project/agentic-api#62", Model: "gpt-oss-120b", Does: "does not announce a message, and sends its text whole", Wire: responsesLast(notAnnounced)},
	{ID: "responses-text-behind-its-end", API: Responses, Vendor: "OmniRoute", Source: "diegosouzapw/OmniRoute#13693", Does: "ends a message behind the first piece of its text, and sends the others afterwards", Wire: responsesLast(doneTooEarly)},
	{ID: "responses-tail-in-the-item", API: Responses, Vendor: "xAI", Source: "vercel/ai#13844", Does: "sends the end of a text only with the whole item", Wire: responsesLast(withoutTail)},
	{ID: "responses-delta-as-object", API: Responses, Vendor: "a gateway", Source: "tombii/better-ccflare#233", Does: "sends pieces of text as objects", Wire: responsesEdit(func(_ *Call, p *Piece) {
		if p.Kind == "response.output_text.delta" {
			p.Data["delta"] = obj{"type": "output_text", "text": p.Data["delta"]}
		}
	})},
	{ID: "responses-reasoning-without-fields", API: Responses, Vendor: "Volcengine", Source: "agentclientprotocol/codex-acp#266", Does: "announces reasoning without a summary or content", Wire: responsesEdit(func(_ *Call, p *Piece) {
		if item, ok := p.Data["item"].(obj); ok && str(item["type"]) == "reasoning" {
			p.Data["item"] = obj{"type": "reasoning", "id": item["id"]}
		}
	})},
	{ID: "messages-text-in-the-start", API: Messages, Vendor: "LiteLLM", Source: "earendil-works/pi#7283", Does: "puts the first piece of a text into the beginning of its block", Wire: messagesLast(startedWithText)},
	{ID: "messages-end-turn-with-calls", API: Messages, Vendor: "LiteLLM", Source: "BerriAI/litellm#34692", Does: "begins with an empty text, and says end_turn with a call", Wire: messagesLast(endTurn)},
	{ID: "messages-tool-use-of-nothing", API: Messages, Vendor: "Anthropic", Source: "earendil-works/pi#9681", Does: "stops once for a call that is not there", Fails: []Failure{failOnce(hello, &Refusal{Status: 200, Type: "text/event-stream", Body: toolUseOfNothing})}},
	{ID: "messages-words-in-a-call", API: Messages, Vendor: "SGLang", Source: "sgl-project/sglang#26795", Does: "sends a piece of text in the block of a call", Wire: messagesLast(wordsInTheCall)},
	{ID: "messages-words-behind-their-block", API: Messages, Vendor: "a gateway", Source: "router-for-me/CLIProxyAPI#4037", Does: "sends a piece of text behind the end of its block", Wire: messagesLast(lateWords)},
	{ID: "messages-no-block-starts", API: Messages, Vendor: "LiteLLM", Source: "BerriAI/litellm#13373", Does: "sends pieces of texts whose blocks never began", Wire: messagesLast(func(pieces []Piece) []Piece {
		return slices.DeleteFunc(pieces, func(p Piece) bool {
			block, _ := p.Data["content_block"].(obj)
			return str(block["type"]) == "text"
		})
	})},
}

// bareHarmony is Usual as gpt-oss writes without its marks.
func bareHarmony(c *Call) Say {
	s := Usual(c)
	for _, k := range s.Calls {
		s.Text = "analysis" + s.Reasoning + "assistantcommentary to=functions." + k.Name + " json" + k.Args
	}
	if s.Calls == nil {
		s.Text = "analysis" + s.Reasoning + "assistantfinal" + s.Text
	}
	s.Calls = nil
	return s
}

// hosts are endpoints with something in front of the model that answers in its own way.
var hosts = []Row{
	{ID: "answer-at-another-address", Vendor: "Modal", Source: "https://modal.com/docs/guide/webhook-timeouts", Does: "redirects with 303 to where the answer will be when it takes long", Pages: []Page{{Path: "/result", Body: `{"id":"x","object":"chat.completion","model":"model-1","choices":[{"index":0,"message":{"role":"assistant","content":"echo: hello"},"finish_reason":"stop"}]}`}},
		Fails: []Failure{failOnce(hello, plain(303, "").with("Location", "/result?__modal_function_call_id=fc-1"))}},
	{ID: "guardrail-446", Vendor: "Portkey", Source: "Portkey-AI/gateway#1740", Does: "answers 446 when a check denies a request", Checks: []Check{refuseText("hello", raw(446, `{"error":{"message":"The guardrail checks defined in the config failed. You can find more information in the `+"`hook_results`"+` object.","type":"hooks_failed","param":null,"code":null},"hook_results":{"before_request_hooks":[{"verdict":false,"id":"pii","deny":true}]}}`))}, Want: Expectation{Plain: refusedText, Refused: 1}},
	{ID: "paused-endpoint", Vendor: "Hugging Face", Source: "huggingface/huggingface_hub#1605", Does: "answers 400 while the endpoint is paused", Checks: never(raw(400, `{"error":"Bad Request: The endpoint is paused, ask a maintainer to restart it","code":"BAD_REQUEST"}`)), Want: goneModel},
	{ID: "third-party-apps", API: Messages, Vendor: "Anthropic", Source: "earendil-works/pi#3012", Does: "answers 400 to programs that are to be paid apart from the plan", Checks: never(claude(400, "invalid_request_error", "Third-party apps now draw from your extra usage, not your plan limits. Add more at claude.ai/settings/usage and keep going.")), Want: dies(`wants to be paid first`)},
	{ID: "long-answers-only-in-streams", Vendor: "Fireworks", Source: "nullclaw/nullclaw#231", Config: "stream: off, body: {max_tokens: 8192}", Does: "allows long answers in streams alone", Checks: []Check{func(c *Call) *Refusal {
		if most, _ := c.Body["max_tokens"].(float64); most > 4096 && c.Body["stream"] != true {
			return openAI(400, "error", "max_tokens", "BAD_REQUEST", "Requests with max_tokens > 4096 must have stream=true")
		}
		return nil
	}}, Want: Expectation{Refused: 1, Sends: []string{`"max_tokens":4096`}}},
	{ID: "status-as-text-in-200", Vendor: "iFlow", Source: "https://github.com/router-for-me/CLIProxyAPI/blob/main/internal/runtime/executor/iflow_executor_test.go", Does: "answers 200 with a status as text and msg", Fails: []Failure{upTo(2, hello, raw(200, `{"status":"449","msg":"You exceeded your current rate limit","body":null}`))}},
	{ID: "too-long-inside-200", Vendor: "LiteLLM", Source: "BerriAI/litellm#6629", Does: "begins a stream, and says in it that the prompt is too long", Checks: overFull(1900, stream(`{"error":{"message":"litellm.BadRequestError: BedrockException: Context Window Error - {\"message\":\"Input is too long for requested model.\"}","type":null,"param":null,"code":"400"}}`)), Mind: talkative, Want: summedUp},
	{ID: "upstream-error-as-400", Vendor: "a gateway", Source: "openclaw/openclaw#96509", Does: "answers 400 once with the type upstream_error", Fails: []Failure{failOnce(hello, raw(400, `{"error":{"message":"Upstream request failed","type":"upstream_error","param":"","code":null}}`))}},
	{ID: "responses-not-implemented", API: Responses, Vendor: "a gateway", Source: "https://www.rfc-editor.org/rfc/rfc9110#section-15.6.2", Does: "answers 501 where it has no Responses API", Checks: never(raw(501, `{"error":{"message":"Not Implemented","type":"not_implemented_error","code":501}}`)), Want: wrongAddress(`the address may have no Responses API`)},
	{ID: "embeddings-only", Vendor: "llama.cpp", Source: "https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md", Does: "answers 501 when it was started for embeddings", Checks: never(llama(501, "not_supported_error", "This server does not support completions. Start it without `--embeddings`")), Want: goneModel},
	{ID: "responses-slow-down", API: Responses, Vendor: "OpenAI", Source: "https://platform.openai.com/docs/guides/error-codes", Does: "fails with slow_down inside of the stream when requests became many at once",
		Fails: []Failure{failOnce(hello, sse(responseBegin, `response.failed {"type":"response.failed","response":{"id":"resp_1","status":"failed","error":{"code":"slow_down","message":"Please reduce your request rate to its original level, maintain a consistent rate for at least 15 minutes, and then gradually increase it."}}}`))}},
	{ID: "harmony-without-marks", Vendor: "LM Studio, vLLM", Source: "raullenchai/Rapid-MLX#455", Model: "gpt-oss-20b", Does: "shows the channels of gpt-oss without their marks", Wire: plainWire, Mind: bareHarmony},
}
