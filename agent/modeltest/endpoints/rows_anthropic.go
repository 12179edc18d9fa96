package endpoints

// claudeEdit is a wire of Anthropic's messages that changes each event.
func claudeEdit(change func(c *Call, p *Piece)) Wire { return MessagesWire{Edit: change}.Wire() }

// alwaysThinks is for endpoints that think whatever is asked for.
func alwaysThinks(*Call) bool { return true }

var anthropic = []Row{
	{ID: "anthropic-messages", API: Messages, Vendor: "Anthropic", Source: "https://docs.anthropic.com/en/api/messages", Model: "claude-sonnet-4-5", Does: "takes messages as documented", Want: Expectation{Image: ImageText, Interrupt: true}},
	{ID: "anthropic-signed-thinking", API: Messages, Vendor: "Anthropic", Source: "https://docs.anthropic.com/en/docs/build-with-claude/extended-thinking", Model: "claude-opus-4-5", Thinking: "medium", Kind: KindThinking, Does: "signs its thinking, and wants it back unchanged in front of the calls of the turn", Checks: []Check{thinkingKept}, Want: Expectation{Image: ImageText, Interrupt: true}},
	{ID: "anthropic-redacted-thinking", API: Messages, Vendor: "Anthropic", Source: "https://docs.anthropic.com/en/docs/build-with-claude/extended-thinking", Model: "claude-3-7-sonnet-20250219", Thinking: "medium", Does: "redacts its thinking, and wants it back all the same", Wire: MessagesWire{Redacted: true}.Wire(), Checks: []Check{thinkingKept}},
	{ID: "anthropic-thinking-modified", API: Messages, Vendor: "Anthropic", Source: "anthropics/claude-code#63548", Model: "claude-opus-4-7", Thinking: "high", Does: "refuses thinking of the latest message that is not as it was", Checks: []Check{thinkingKept}},
	{ID: "anthropic-no-prefill", API: Messages, Vendor: "Anthropic", Source: "router-for-me/CLIProxyAPI#5319", Model: "claude-opus-5", Does: "wants the conversation to end with the user", Checks: []Check{endsWithUser}, Want: Expectation{Interrupt: true}},
	{ID: "deepseek-anthropic-unsigned-thinking", Faults: []string{"M12"}, API: Messages, Vendor: "DeepSeek", Source: "https://api-docs.deepseek.com/guides/anthropic_api", Model: "deepseek-v4", Does: "thinks without a signature, and wants the thinking back with the calls", Lax: true, Kind: KindReasoning, Wire: MessagesWire{Unsigned: true, Thinks: alwaysThinks}.Wire(),
		Checks: []Check{claudePairs, unsignedBack(claude(400, "invalid_request_error", "The `content[].thinking` in the thinking mode must be passed back to the API."))}},
	{ID: "minimax-anthropic-unsigned-thinking", Faults: []string{"M12"}, API: Messages, Vendor: "MiniMax", Source: "https://platform.minimax.io/docs/api-reference/text-anthropic-api", Model: "MiniMax-M2.1", Path: "/anthropic", Does: "wants its thinking blocks back, and has an empty signature", Lax: true, Wire: MessagesWire{Unsigned: true, Thinks: alwaysThinks, Edit: emptySignature}.Wire(),
		Checks: []Check{unsignedBack(claude(400, "invalid_request_error", "invalid params, thinking block of the assistant message is missing (2013)"))}},
	{ID: "kimi-anthropic-reasoning", Faults: []string{"M12"}, API: Messages, Vendor: "Moonshot", Source: "https://platform.moonshot.ai/docs/guide/agent-support", Model: "kimi-k2-thinking", Path: "/anthropic", Does: "speaks of reasoning_content when thinking blocks are missing", Lax: true, Wire: MessagesWire{Unsigned: true, Thinks: alwaysThinks}.Wire(),
		Checks: []Check{unsignedBack(raw(400, `{"error":{"type":"invalid_request_error","message":"thinking is enabled but reasoning_content is missing in assistant tool call message at index 2"},"type":"error"}`))}},
	{ID: "anthropic-refusal", Faults: []string{"M2"}, API: Messages, Vendor: "Anthropic", Source: "tailcallhq/forgecode#3624", Model: "claude-fable-5", Does: "answers 200 with the stop reason refusal and no content", Mind: refuses, Want: Expectation{Plain: refusedText}},
	{ID: "anthropic-refusal-without-block", API: Messages, Vendor: "Anthropic", Source: "mirrorange/clove#36", Model: "claude-sonnet-4-5", Does: "ends a block that it did not begin, then says refusal", Mind: refuses, Wire: MessagesWire{Last: func(_ *Call, pieces []Piece) []Piece {
		if len(pieces) == 4 {
			return append(append([]Piece{}, pieces[0], claudeEvent("content_block_stop", obj{"index": 0})), pieces[2:]...)
		}
		return pieces
	}}.Wire(), Want: Expectation{Plain: refusedText}},
	{ID: "anthropic-pause-turn", API: Messages, Vendor: "Anthropic", Source: "https://docs.anthropic.com/en/docs/build-with-claude/handling-stop-reasons", Does: "pauses a turn with what it said so far", Mind: func(c *Call) Say {
		s := Usual(c)
		if c.Asked() == "hello" && c.Last().Role == "user" {
			s.Finish = "pause_turn"
		}
		return s
	}, Want: Expectation{Plain: `^echo: hello`}},
	{ID: "anthropic-context-window-exceeded", API: Messages, Vendor: "Anthropic", Source: "https://docs.anthropic.com/en/docs/build-with-claude/handling-stop-reasons", Does: "stops at the end of its window", Mind: func(c *Call) Say {
		s := Usual(c)
		if c.Asked() == "hello" {
			s.Finish = "model_context_window_exceeded"
		}
		return s
	}, Want: Expectation{Plain: `^echo: hello`}},
	{ID: "anthropic-pings-everywhere", API: Messages, Vendor: "Anthropic", Source: "https://docs.anthropic.com/en/docs/build-with-claude/streaming", Does: "sends pings between all events", Wire: MessagesWire{Last: func(_ *Call, pieces []Piece) (out []Piece) {
		for _, p := range pieces {
			out = append(out, p, claudeEvent("ping", obj{}))
		}
		return out
	}}.Wire()},
	{ID: "anthropic-unknown-blocks", API: Messages, Vendor: "Anthropic", Source: "https://docs.anthropic.com/en/docs/build-with-claude/streaming", Does: "sends blocks, deltas and events that a client does not know", Wire: MessagesWire{Last: func(_ *Call, pieces []Piece) []Piece {
		extra := []Piece{
			claudeEvent("content_block_start", obj{"index": 0, "content_block": obj{"type": "mood", "mood": "calm"}}), claudeEvent("content_block_delta", obj{"index": 0, "delta": obj{"type": "mood_delta", "mood": "calmer"}}),
			claudeEvent("content_block_stop", obj{"index": 0}), claudeEvent("weather", obj{"sun": true}),
		}
		for _, p := range pieces {
			if i, ok := p.Data["index"].(int); ok {
				p.Data["index"] = i + 1
			}
		}
		return append(append([]Piece{pieces[0]}, extra...), pieces[1:]...)
	}}.Wire()},
	{ID: "anthropic-no-input-deltas", API: Messages, Vendor: "a gateway", Source: "envoyproxy/ai-gateway#1465", Does: "sends the input of a call whole with its block", Wire: MessagesWire{Last: func(c *Call, pieces []Piece) (out []Piece) {
		for _, p := range pieces {
			if d, ok := p.Data["delta"].(obj); ok && d["type"] == "input_json_delta" {
				continue
			}
			if b, ok := p.Data["content_block"].(obj); ok && b["type"] == "tool_use" {
				b["input"] = obj{"limit": 5}
			}
			out = append(out, p)
		}
		return out
	}}.Wire()},
	{ID: "anthropic-no-arguments", API: Messages, Vendor: "Anthropic", Source: "tidyverse/ellmer#228", Does: "sends an empty delta for a call without arguments", Mind: func(c *Call) Say {
		s := Usual(c)
		for i := range s.Calls {
			s.Calls[i].Args = "{}"
		}
		return s
	}, Wire: claudeEdit(func(_ *Call, p *Piece) {
		if d, ok := p.Data["delta"].(obj); ok && d["type"] == "input_json_delta" {
			d["partial_json"] = ""
		}
	})},
	{ID: "anthropic-json-instead-of-a-stream", Faults: []string{"L1"}, API: Messages, Vendor: "a gateway", Source: "mistralai/mistral-vibe#619", Does: "answers a request for a stream with one JSON object", Wire: MessagesWire{Whole: true}.Wire(), Kind: KindWholeReply},
	{ID: "anthropic-stream-as-json", Faults: []string{"L1"}, API: Messages, Vendor: "a gateway", Source: "BYK/loreai#1195", Does: "labels its stream as application/json", Wire: MessagesWire{Frame: Frame{ContentType: "application/json"}}.Wire()},
	{ID: "anthropic-streamless", Faults: []string{"H9"}, API: Messages, Vendor: "a gateway", Source: "RooCodeInc/Roo-Code#6868", Does: "cannot stream", Checks: []Check{streamless(claude(400, "invalid_request_error", "stream: streaming is not supported for this deployment"))}, Want: learns},
	{ID: "anthropic-no-tools", Faults: []string{"H2"}, API: Messages, Vendor: "a gateway", Source: "ollama/ollama#13717", Does: "takes no tools", Checks: []Check{toolless(claude(400, "invalid_request_error", "tools: this model does not support tools"))}, Want: noTools(1)},
	{ID: "anthropic-no-system", Faults: []string{"M13"}, API: Messages, Vendor: "a gateway", Source: "google/adk-python#3900", Does: "takes no system text", Checks: []Check{refuseParam("system", claude(400, "invalid_request_error", "system: system prompts are not supported for this model"))}, Want: learns},
	{ID: "anthropic-no-cache-control", API: Messages, Vendor: "a gateway", Source: "https://docs.litellm.ai/docs/anthropic_unified", Does: "does not know cache_control", Checks: []Check{func(c *Call) *Refusal {
		if matches(`"cache_control"`, string(c.Raw)) {
			return claude(400, "invalid_request_error", "messages.0.content.0.text.cache_control: Extra inputs are not permitted")
		}
		return nil
	}}, Want: learns},
	{ID: "anthropic-numbers-as-text", Faults: []string{"H5"}, API: Messages, Vendor: "a gateway", Source: "BerriAI/litellm#16434", Does: "sends indexes and token counts as texts", Wire: claudeEdit(func(_ *Call, p *Piece) {
		if i, ok := p.Data["index"].(int); ok {
			p.Data["index"] = encode(i)
		}
		if u, ok := p.Data["usage"].(obj); ok {
			u["output_tokens"] = "12"
		}
	})},
	{ID: "anthropic-usage-missing", Faults: []string{"H5"}, API: Messages, Vendor: "a gateway", Source: "BerriAI/litellm#16434", Does: "sends null as usage, and the message without its fields", Wire: claudeEdit(func(_ *Call, p *Piece) {
		switch p.Kind {
		case "message_start":
			p.Data["message"] = obj{"id": "msg_1", "type": "message", "role": "assistant"}
		case "message_delta":
			p.Data["usage"] = nil
		}
	})},
	{ID: "anthropic-prompt-too-long", API: Messages, Vendor: "Anthropic", Source: "https://docs.anthropic.com/en/api/errors", Does: "answers 400 to a prompt that is too long", Checks: never(claude(400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum")), Want: overlong},
	{ID: "anthropic-permission", API: Messages, Vendor: "Anthropic", Source: "https://docs.anthropic.com/en/api/errors", Does: "answers 403 to a key without permission", Checks: never(claude(403, "permission_error", "Your API key does not have permission to use the specified resource.")), Want: dies(keyWords)},
}

// refuses ends the answer to hello with a refusal.
func refuses(c *Call) Say {
	s := Usual(c)
	if c.Asked() == "hello" {
		return Say{Finish: "refusal"}
	}
	return s
}

func emptySignature(_ *Call, p *Piece) {
	if b, ok := p.Data["content_block"].(obj); ok && b["type"] == "thinking" {
		b["signature"] = ""
	}
}

// endsWithUser refuses a conversation that ends with the assistant.
func endsWithUser(c *Call) *Refusal {
	messages := objects(c.Body["messages"])
	if str(messages[len(messages)-1]["role"]) != "user" {
		return claude(400, "invalid_request_error", "This model does not support assistant message prefill. The conversation must end with a user message.")
	}
	return nil
}

// thinkingKept wants the thinking of calls that are being answered in front of them, if this server thought.
func thinkingKept(c *Call) *Refusal {
	messages := objects(c.Body["messages"])
	for i := len(messages) - 1; i > 0; i-- {
		blocks := objects(messages[i]["content"])
		if str(messages[i]["role"]) != "assistant" || len(blocks) == 0 {
			continue
		}
		for _, b := range blocks {
			thought, ours := c.memory.thoughtOf(str(b["id"]))
			if kind := str(blocks[0]["type"]); ours && thought != "" && kind != "thinking" && kind != "redacted_thinking" {
				return claude(400, "invalid_request_error", "messages.%d.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.", i)
			}
		}
		return nil
	}
	return nil
}

// unsignedBack wants thinking blocks with calls that this server made.
func unsignedBack(no *Refusal) Check {
	return func(c *Call) *Refusal {
		for _, m := range objects(c.Body["messages"]) {
			thinking := ""
			for _, b := range objects(m["content"]) {
				if str(b["type"]) == "thinking" {
					thinking = str(b["thinking"])
				}
				if thought, ours := c.memory.thoughtOf(str(b["id"])); str(b["type"]) == "tool_use" && ours && thought != thinking {
					return no
				}
			}
		}
		return nil
	}
}
