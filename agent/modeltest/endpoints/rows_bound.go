package endpoints

import (
	"net/http"
	"strings"
)

// withoutMarks gives a value without the marks of what may be cached: they are at other places in each request.
func withoutMarks(v any) any {
	switch v := v.(type) {
	case obj:
		out := obj{}
		for k, x := range v {
			if k != "cache_control" {
				out[k] = withoutMarks(x)
			}
		}
		return out
	case list:
		out := make(list, len(v))
		for i, x := range v {
			out[i] = withoutMarks(x)
		}
		return out
	}
	return v
}

// prefixOf gives all that stands in front of a message.
func prefixOf(c *Call, message int) string {
	messages, _ := c.Body["messages"].(list)
	return encode(withoutMarks(obj{"system": c.Body["system"], "tools": c.Body["tools"], "messages": messages[:message]}))
}

const boundTo = "what stood in front of: "

// binding signs thinking over the conversation in front of it.
func binding(rw http.ResponseWriter, c *Call, s Say) {
	messages, _ := c.Body["messages"].(list)
	c.memory.think(boundTo+s.Reasoning, prefixOf(c, len(messages)))
	MessagesWire{}.Wire()(rw, c, s)
}

// boundThinking refuses thinking with another conversation in front of it than the one that it was signed over.
func boundThinking(c *Call) *Refusal {
	for i, m := range objects(c.Body["messages"]) {
		for n, b := range objects(m["content"]) {
			reasoning, ours := c.memory.owner(str(b["signature"]))
			if before, isBound := c.memory.thoughtOf(boundTo + reasoning); ours && isBound && before != prefixOf(c, i) {
				return claude(400, "invalid_request_error", "messages.%d.content.%d: Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to \"drop_block\".", i, n)
			}
		}
	}
	return nil
}

// talkativeThinker is talkative with reasoning.
func talkativeThinker(c *Call) Say {
	s := talkative(c)
	s.Reasoning = Usual(c).Reasoning
	return s
}

// namedResults wants the name of the tool beside each result.
func namedResults(no *Refusal) Check {
	return func(c *Call) *Refusal {
		for _, m := range objects(c.Body["messages"]) {
			if str(m["role"]) == "tool" && str(m["name"]) == "" {
				return no
			}
		}
		return nil
	}
}

// newest are settings and histories that the models of late 2026 take in one form only.
var newest = []Row{
	{
		ID: "thinking-between-tools", API: Messages, Vendor: "Anthropic", Source: "https://platform.claude.com/docs/en/models/sonnet-5-5/migration-guide", Model: "claude-sonnet-5-5", Thinking: "off", Does: "has a lowest setting of thinking of its own, and names it",
		Checks: []Check{func(c *Call) *Refusal {
			if t, _ := c.Body["thinking"].(obj); str(t["type"]) == "disabled" {
				return claude(400, "invalid_request_error", `"thinking.type.disabled" is not supported for this model. Use "thinking.type.between_tools" for the lowest thinking setting, or "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.`)
			} else if str(t["type"]) == "between_tools" && (len(t) > 1 || c.Has("output_config")) {
				return claude(400, "invalid_request_error", "thinking.between_tools: Extra inputs are not permitted")
			}
			return nil
		}},
		Want: Expectation{Refused: 1, Sends: []string{`"thinking":\{"type":"between_tools"\}`}},
	},
	{ID: "thinking-bound-to-its-conversation", API: Messages, Vendor: "Anthropic", Source: "https://platform.claude.com/docs/en/build-with-claude/preserved-thinking", Model: "claude-opus-5-5", Thinking: "high", Does: "signs thinking over all that stands in front of it", Wire: binding, Checks: []Check{boundThinking, thinkingKept}, Want: Expectation{Image: ImageText, Interrupt: true}},
	{ID: "thinking-bound-before-a-summary", API: Messages, Vendor: "Anthropic", Source: "https://platform.claude.com/docs/en/build-with-claude/preserved-thinking", Model: "claude-opus-5-5", Thinking: "high", Does: "signs thinking over a conversation that is summed up later", Wire: binding, Mind: talkativeThinker,
		Checks: append(overFull(1900, claude(400, "invalid_request_error", "prompt is too long: 204521 tokens > 200000 maximum")), boundThinking), Want: summedUp},
	{ID: "copilot-name-of-a-result", Vendor: "GitHub Copilot", Source: "Joouis/agent-maestro#162", Model: "gemini-3.1-pro-preview", Does: "wants the name of a tool, in words that speak of no result", Checks: []Check{namedResults(raw(400, `{"error":{"message":"Tool name is required for Gemini requests","code":"invalid_tool_call_format"}}`))}, Want: Expectation{Refused: 1, Sends: []string{`"tool_call_id":"[^"]*","name":"sessions_list"|"name":"sessions_list","content":`}}},
	{ID: "between-tools-by-a-relay", API: Messages, Vendor: "a relay of Claude", Source: "https://platform.claude.com/docs/en/models/sonnet-5-5/whats-new-sonnet-5-5", Model: "claude-sonnet-5-5", Thinking: "off", Does: "tells in its own words how thinking is turned off",
		Checks: []Check{func(c *Call) *Refusal {
			if strings.Contains(string(c.Raw), `"type":"disabled"`) {
				return claude(400, "invalid_request_error", `To turn thinking off on this model, send "thinking": {"type": "between_tools"} instead of {"type": "disabled"}.`)
			}
			return nil
		}},
		Want: Expectation{Refused: 1, Sends: []string{`"thinking":\{"type":"between_tools"\}`}},
	},
}
