package endpoints

import (
	"fmt"
	"slices"
	"strings"
)

// claudeBasics are what every endpoint of Anthropic's messages wants.
// source: https://docs.anthropic.com/en/api/messages, https://docs.anthropic.com/en/docs/build-with-claude/extended-thinking
var claudeBasics = []Check{claudeKeys, claudeContents, claudePairs, claudeThinking, claudeTools}

var claudeParams = strings.Fields(`model messages system max_tokens stream tools tool_choice thinking output_config temperature top_p top_k
	metadata stop_sequences service_tier cache_control context_management container mcp_servers betas`)

func claudeKeys(c *Call) *Refusal {
	bad := func(format string, args ...any) *Refusal {
		return claude(400, "invalid_request_error", format, args...)
	}
	if c.Header.Get("Anthropic-Version") == "" {
		return bad("anthropic-version: header is required")
	}
	for k := range c.Body {
		if !slices.Contains(claudeParams, k) {
			return bad("%s: Extra inputs are not permitted", k)
		}
	}
	limit, _ := c.Body["max_tokens"].(float64)
	t, _ := c.Body["thinking"].(obj)
	budget, _ := t["budget_tokens"].(float64)
	switch {
	case !c.Has("max_tokens"):
		return bad("max_tokens: Field required")
	case str(t["type"]) == "enabled" && budget < 1024:
		return bad("thinking.enabled.budget_tokens: Input should be greater than or equal to 1024")
	case budget >= limit:
		return bad("`max_tokens` must be greater than `thinking.budget_tokens`. Please consult our documentation at https://docs.claude.com/en/docs/build-with-claude/extended-thinking#max-tokens-and-context-window-size")
	case str(t["type"]) == "enabled" && c.Has("temperature") && c.Body["temperature"] != 1.0:
		return bad("`temperature` may only be set to 1 when thinking is enabled. Please consult our documentation at https://docs.claude.com/en/docs/build-with-claude/extended-thinking")
	}
	if n := strings.Count(string(c.Raw), `"cache_control":`); n > 4 {
		return bad("A maximum of 4 blocks with cache_control may be provided. Found %d.", n)
	}
	return nil
}

// claudeFields are the keys of each kind of block.
var claudeFields = map[string][]string{
	"text":              {"type", "text", "cache_control", "citations"},
	"image":             {"type", "source", "cache_control"},
	"document":          {"type", "source", "cache_control", "title", "context", "citations"},
	"tool_use":          {"type", "id", "name", "input", "cache_control"},
	"tool_result":       {"type", "tool_use_id", "content", "is_error", "cache_control"},
	"thinking":          {"type", "thinking", "signature"},
	"redacted_thinking": {"type", "data"},
}

func claudeContents(c *Call) *Refusal {
	bad := func(format string, args ...any) *Refusal {
		return claude(400, "invalid_request_error", format, args...)
	}
	messages := objects(c.Body["messages"])
	if str(messages[0]["role"]) != "user" {
		return bad(`messages: first message must use the "user" role`)
	}
	for i, m := range messages {
		if role := str(m["role"]); role != "user" && role != "assistant" {
			return bad(`messages: Unexpected role "%s". Allowed roles are "user" or "assistant".`, role)
		}
		blocks := objects(m["content"])
		if t, ok := m["content"].(string); ok && strings.TrimSpace(t) == "" || !ok && len(blocks) == 0 {
			return bad("messages.%d: all messages must have non-empty content except for the optional final assistant message", i)
		}
		for n, b := range blocks {
			kind := str(b["type"])
			fields, known := claudeFields[kind]
			for k := range b {
				if !known || !slices.Contains(fields, k) {
					return bad("messages.%d.content.%d.%s.%s: Extra inputs are not permitted", i, n, kind, k)
				}
			}
			switch kind {
			case "text":
				if str(b["text"]) == "" {
					return bad("messages: text content blocks must be non-empty")
				}
				if strings.TrimSpace(str(b["text"])) == "" {
					return bad("messages: text content blocks must contain non-whitespace text")
				}
			case "tool_use":
				if !matches(`^[a-zA-Z0-9_-]+$`, str(b["id"])) {
					return bad("messages.%d.content.%d.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'", i, n)
				}
				if _, ok := b["input"].(obj); !ok {
					return bad("messages.%d.content.%d.tool_use.input: Input should be a valid dictionary", i, n)
				}
			}
		}
	}
	return nil
}

// claudePairs wants the results of calls in the very next message, in front of other blocks.
func claudePairs(c *Call) *Refusal {
	bad := func(format string, args ...any) *Refusal {
		return claude(400, "invalid_request_error", format, args...)
	}
	var open, ever []string
	missing := func(i int) *Refusal {
		return bad("messages.%d: `tool_use` ids were found without `tool_result` blocks immediately after: %s. Each `tool_use` block must have a corresponding `tool_result` block in the next message.", i, strings.Join(open, ", "))
	}
	messages := objects(c.Body["messages"])
	for i, m := range messages {
		was := open
		for n, b := range objects(m["content"]) {
			if str(b["type"]) != "tool_result" {
				continue
			}
			id := str(b["tool_use_id"])
			if !slices.Contains(was, id) {
				return bad("messages.%d.content.%d: unexpected `tool_use_id` found in `tool_result` blocks: %s. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.", i, n, id)
			}
			open = slices.DeleteFunc(slices.Clone(open), func(s string) bool { return s == id })
		}
		if len(open) > 0 {
			return missing(i - 1)
		}
		for n, b := range objects(m["content"]) {
			if str(b["type"]) != "tool_use" {
				continue
			}
			id := str(b["id"])
			if slices.Contains(ever, id) {
				return bad("messages.%d.content.%d: `tool_use` ids must be unique", i, n)
			}
			open, ever = append(open, id), append(ever, id)
		}
	}
	if len(open) > 0 {
		return missing(len(messages) - 1)
	}
	return nil
}

// claudeThinking wants thinking back as it was, and with it on in front of the calls that are being answered.
func claudeThinking(c *Call) *Refusal {
	bad := func(format string, args ...any) *Refusal {
		return claude(400, "invalid_request_error", format, args...)
	}
	messages := objects(c.Body["messages"])
	for i, m := range messages {
		blocks := objects(m["content"])
		for n, b := range blocks {
			switch str(b["type"]) {
			case "thinking":
				if of, ok := c.memory.owner(str(b["signature"])); !ok || of != str(b["thinking"]) {
					return bad("messages.%d.content.%d: Invalid `signature` in `thinking` block", i, n)
				}
			case "redacted_thinking":
				if _, ok := c.memory.owner(str(b["data"])); !ok {
					return bad("messages.%d.content.%d: Invalid `data` in `redacted_thinking` block", i, n)
				}
			}
		}
		last := len(blocks) - 1
		if kind := str(m["role"]); kind == "assistant" && last >= 0 && strings.HasSuffix(str(blocks[last]["type"]), "thinking") {
			return bad("messages.%d: The final block in an assistant message cannot be `thinking`.", i)
		}
	}
	t, _ := c.Body["thinking"].(obj)
	if str(t["type"]) != "enabled" {
		return nil
	}
	for i := len(messages) - 1; i >= 0 && slices.ContainsFunc(objects(messages[i]["content"]), isToolResult); i -= 2 {
		first := objects(messages[i-1]["content"])[0]
		if kind := str(first["type"]); !strings.HasSuffix(kind, "thinking") {
			return bad("messages.%d.content.0.type: Expected `thinking` or `redacted_thinking`, but found `%s`. When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost set of `tool_use` and `tool_result` blocks). We recommend you include thinking blocks from previous turns. To avoid this requirement, disable `thinking`. Please consult our documentation at https://docs.claude.com/en/docs/build-with-claude/extended-thinking", i-1, kind)
		}
	}
	return nil
}

func isToolResult(b obj) bool { return str(b["type"]) == "tool_result" }

func claudeTools(c *Call) *Refusal {
	bad := func(format string, args ...any) *Refusal {
		return claude(400, "invalid_request_error", format, args...)
	}
	tools := objects(c.Body["tools"])
	if len(tools) == 0 && strings.Contains(string(c.Raw), `"tool_use"`) && c.Made() > 0 {
		return bad("Requests which include `tool_use` or `tool_result` blocks must define tools")
	}
	var names []string
	for i, t := range tools {
		name := str(t["name"])
		schema, _ := t["input_schema"].(obj)
		switch {
		case !matches(`^[a-zA-Z0-9_-]{1,128}$`, name):
			return bad("tools.%d.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'", i)
		case slices.Contains(names, name):
			return bad("tools: Tool names must be unique.")
		case str(schema["type"]) != "object":
			return bad("tools.%d.custom.input_schema.type: Field required", i)
		}
		for _, key := range []string{"oneOf", "allOf", "anyOf"} {
			if _, there := schema[key]; there {
				return bad("tools.%d.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level", i)
			}
		}
		properties, _ := schema["properties"].(obj)
		for k := range properties {
			if !matches(`^[a-zA-Z0-9_.-]{1,64}$`, k) {
				return bad("tools.%d.custom.input_schema.properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'", i)
			}
		}
		names = append(names, name)
	}
	if tc, ok := c.Body["tool_choice"]; ok && len(tools) == 0 {
		return bad("tool_choice: tool_choice may only be specified while providing tools (%s)", fmt.Sprint(tc))
	}
	return nil
}
