package endpoints

import "fmt"

// keepsCalls is what an endpoint costs that does not take reasoning back: one request. Calls stay calls.
var keepsCalls = Expectation{Refused: 1, Sends: []string{`"role":"tool"`}}

// fieldRefused is a row whose messages of the model may not have a field of reasoning that its server itself sends. no is given the place of the
// message.
func fieldRefused(id, vendor, source, field string, no func(i int) *Refusal) Row {
	return Row{
		ID: id, Vendor: vendor, Source: source, Thinking: "medium", Does: "sends " + field + ", and refuses it in messages that come back", Wire: ChatWire{Reasoning: field}.Wire(), Mind: Usual,
		Checks: []Check{func(c *Call) *Refusal {
			return assistants(c, func(i int, m obj) *Refusal {
				if _, there := m[field]; there {
					return no(i)
				}
				return nil
			})
		}}, Want: keepsCalls,
	}
}

// blockRefused is a row of Anthropic's messages whose server refuses blocks of thinking that it sent. Unsigned ones have no signature.
func blockRefused(id, vendor, source, does string, unsigned bool, no func(message, block int) *Refusal) Row {
	return Row{
		ID: id, API: Messages, Vendor: vendor, Source: source, Model: "claude-sonnet-4-6", Thinking: "medium", Lax: unsigned, Does: does, Wire: MessagesWire{Unsigned: unsigned}.Wire(),
		Checks: []Check{func(c *Call) *Refusal {
			for i, m := range objects(c.Body["messages"]) {
				for n, b := range objects(m["content"]) {
					if str(b["type"]) == "thinking" && (!unsigned || str(b["signature"]) == "") {
						return no(i, n)
					}
				}
			}
			return nil
		}}, Want: Expectation{Refused: 1, Sends: []string{`"tool_result"`}},
	}
}

// itemRefused is a row of the Responses API whose server refuses items of reasoning that it sent.
func itemRefused(id, vendor, source, does string, no *Refusal) Row {
	return Row{
		ID: id, API: Responses, Vendor: vendor, Source: source, Thinking: "medium", Does: does, Wire: reasons,
		Checks: []Check{func(c *Call) *Refusal {
			for _, item := range objects(c.Body["input"]) {
				if str(item["type"]) == "reasoning" {
					return no
				}
			}
			return nil
		}}, Want: Expectation{Refused: 1, Sends: []string{`"function_call_output"`}},
	}
}

// refusalText makes a refusal of a sentence with the place of a message in it.
func refusalText(format string) func(int) *Refusal {
	return func(i int) *Refusal { return invalid(nil, nil, format, i) }
}

// returned are endpoints that refuse reasoning in the history, each in words of its own.
var returned = []Row{
	fieldRefused("groq-refuses-its-own-reasoning", "Groq", "https://console.groq.com/docs/errors", "reasoning", func(i int) *Refusal {
		return invalid(nil, nil, "'messages.%d' : for 'role:assistant' the following must be satisfied[('messages.%d' : property 'reasoning' is unsupported, did you mean 'role'?)]", i, i)
	}),
	fieldRefused("gemini-cannot-find-reasoning", "Google", "https://ai.google.dev/gemini-api/docs/openai", "reasoning", func(i int) *Refusal {
		return google(400, "INVALID_ARGUMENT", "Invalid JSON payload received. Unknown name \"reasoning\" at 'messages[%d]': Cannot find field.", i)
	}),
	fieldRefused("fireworks-extra-reasoning", "Fireworks", "https://docs.fireworks.ai/api-reference/post-chatcompletions", "reasoning", refusalText("Extra inputs are not permitted, field: 'messages[%d].reasoning'")),
	fieldRefused("serde-unknown-reasoning", "a server in Rust", "https://serde.rs/container-attrs.html", "reasoning", refusalText("messages[%d]: unknown field `reasoning`, expected one of `role`, `content`, `name`, `tool_calls`, `tool_call_id` at line 1 column 812")),
	fieldRefused("pydantic-extra-reasoning", "a server with pydantic", "https://docs.pydantic.dev/latest/errors/validation_errors/#extra_forbidden", "reasoning", func(i int) *Refusal {
		return fastAPI("extra_forbidden", list{"body", "messages", i, "assistant", "reasoning"}, "Extra inputs are not permitted", Musing)
	}),
	fieldRefused("openai-unknown-reasoning-of-message", "a gateway of OpenAI", "https://platform.openai.com/docs/guides/error-codes", "reasoning", func(i int) *Refusal {
		path := fmt.Sprintf("messages[%d].reasoning", i)
		return invalid(path, "unknown_parameter", "Unknown parameter: '%s'.", path)
	}),
	fieldRefused("json-schema-additional-reasoning", "a server with JSON Schema", "https://python-jsonschema.readthedocs.io/en/stable/errors/", "reasoning", refusalText("Additional properties are not allowed ('reasoning' was unexpected) - 'messages.%d'")),
	fieldRefused("zod-unrecognized-reasoning", "a server with zod", "https://zod.dev/error-formatting", "reasoning", func(int) *Refusal { return invalid(nil, nil, "Unrecognized key(s) in object: 'reasoning'") }),
	fieldRefused("cerebras-unsupported-reasoning", "Cerebras", "https://inference-docs.cerebras.ai/support/error", "reasoning", func(i int) *Refusal {
		return raw(400, encode(obj{"message": fmt.Sprintf("messages.%d.assistant.reasoning: property 'messages.%d.assistant.reasoning' is unsupported", i, i), "type": "invalid_request_error", "param": "validation_error", "code": "wrong_api_format"}))
	}),
	fieldRefused("chinese-unknown-reasoning-content", "a gateway in China", "https://www.volcengine.com/docs/82379/1299023", "reasoning_content", refusalText("messages[%d] 包含不支持的字段 reasoning_content")),
	fieldRefused("groq-refuses-thinking", "Groq", "https://console.groq.com/docs/errors", "thinking", func(i int) *Refusal {
		return invalid(nil, nil, "'messages.%d' : for 'role:assistant' the following must be satisfied[('messages.%d' : property 'thinking' is unsupported)]", i, i)
	}),
	{ID: "calls-without-extra-content", Vendor: "a gateway of Gemini", Source: "https://console.groq.com/docs/errors", Does: "signs its calls, and refuses the field of the signature", Wire: ChatWire{AtOnce: true, Edit: sealed}.Wire(),
		Checks: []Check{func(c *Call) *Refusal {
			return assistants(c, func(i int, m obj) *Refusal {
				for n, k := range objects(m["tool_calls"]) {
					if _, there := k["extra_content"]; there {
						return invalid(nil, nil, "'messages.%d.tool_calls.%d' : property 'extra_content' is unsupported", i, n)
					}
				}
				return nil
			})
		}}, Want: keepsCalls},
	{ID: "thought-signature-corrupted", Vendor: "a gateway of Gemini", Source: "anomalyco/opencode#4832", Model: "gemini-3-pro", Does: "does not take a thought signature back that it sent, only the placeholder", Wire: ChatWire{AtOnce: true, Edit: sealed}.Wire(), Mind: plainly,
		Checks: []Check{func(c *Call) *Refusal {
			for _, m := range c.Messages {
				for _, k := range m.Calls {
					extra, _ := k.Raw["extra_content"].(obj)
					own, _ := extra["google"].(obj)
					if _, ours := c.memory.owner(str(own["thought_signature"])); ours {
						return raw(400, `{"error":{"message":"Corrupted thought signature.","type":"api_error","upstreamStatus":400,"upstreamResponse":{"error":{"code":400,"message":"Corrupted thought signature.","status":"INVALID_ARGUMENT"}}}}`)
					}
				}
			}
			return nil
		}}, Want: Expectation{Refused: 1, Sends: []string{"skip_thought_signature_validator"}}},
	{ID: "copilot-cot-id", Vendor: "GitHub Copilot", Source: "https://github.com/microsoft/vscode-copilot-chat/blob/main/src/platform/thinking/common/thinking.ts", Does: "sends reasoning_text with an id, and wants both back", Wire: ChatWire{Reasoning: "reasoning_text", Edit: func(_ *Call, p *Piece) {
		if p.Kind == "reasoning" {
			p.delta()["cot_id"] = "cot_7"
		}
	}}.Wire(), Mind: Usual,
		Checks: []Check{wantsBack(`"cot_id":"cot_7"`, invalid(nil, nil, "messages.1: cot_id is missing"))}, Want: Expectation{Again: 1, Sends: []string{`"reasoning_text":"`}}},
	{ID: "thoughts-with-a-signature", Vendor: "a gateway of Gemini", Source: "https://ai.google.dev/gemini-api/docs/thought-signatures", Does: "sends thoughts and their signature beside the message, and wants both back", Wire: ChatWire{Reasoning: "thoughts", Edit: func(_ *Call, p *Piece) {
		if p.Kind == "reasoning" {
			p.delta()["thought_signature"] = "SigABC"
		}
	}}.Wire(), Mind: Usual,
		Checks: []Check{wantsBack(`"thought_signature":"SigABC"`, invalid(nil, nil, "messages.1: its signature is missing"))}, Want: Expectation{Again: 1, Sends: []string{`"thoughts":"`}}},
	blockRefused("relay-wants-signatures", "a relay of Claude", "openclaw/openclaw#13826", "thinks without a signature, and wants one", true, func(i, n int) *Refusal {
		return claude(400, "invalid_request_error", "messages.%d.content.%d.thinking.signature: Field required", i, n)
	}),
	blockRefused("bedrock-wants-signatures", "Bedrock, by a relay", "openclaw/openclaw#13826", "has words of its own in front of what the model's server said", true, func(i, n int) *Refusal {
		return claude(400, "invalid_request_error", "The model returned the following errors: messages.%d.content.%d.thinking.signature: Field required", i, n)
	}),
	blockRefused("relay-wants-longer-signatures", "a relay of Claude", "https://docs.pydantic.dev/latest/errors/validation_errors/#string_too_short", "thinks without a signature, and wants one that is not empty", true, func(i, n int) *Refusal {
		return claude(400, "invalid_request_error", "messages.%d.content.%d.thinking.signature: String should have at least 1 character", i, n)
	}),
	blockRefused("thinking-disabled-by-a-relay", "a relay of Claude", "https://platform.claude.com/docs/en/build-with-claude/extended-thinking", "switches thinking off on its own, and refuses it in the history", false, func(int, int) *Refusal {
		return claude(400, "invalid_request_error", "When `thinking` is disabled, assistant messages cannot contain `thinking` blocks.")
	}),
	blockRefused("chinese-type-thinking", "a gateway in China", "https://bailian.console.aliyun.com", "does not know blocks of thinking", false, func(int, int) *Refusal {
		return claude(400, "invalid_request_error", "不支持的内容类型: thinking")
	}),
	itemRefused("go-reasoning-summary", "a server in Go", "https://pkg.go.dev/encoding/json#UnmarshalTypeError", "reads the summary of reasoning as a text", openAI(400, "invalid_request_error", nil, nil, "json: cannot unmarshal array into Go struct field reasoning.summary of type string")),
	itemRefused("unsupported-item-reasoning", "a gateway", "earendil-works/pi#7263", "does not know items of reasoning", invalid(nil, nil, "Unsupported input item type: reasoning")),
	itemRefused("reasoning-of-another-model", "a router", "https://platform.openai.com/docs/guides/reasoning", "answers with another model each time, which cannot read the reasoning before", invalid(nil, nil, "Reasoning items from a different model cannot be used with this model.")),
}
