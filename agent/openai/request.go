package openai

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"

	"parley/agent"
	"parley/agent/wire"
	"parley/sessions"
	"parley/tools"
)

// encodeMessages begins the body of a request: a prompt's system text and messages, with room behind them for more bytes. It appends
// to a buffer instead of filling the SDK's types: encoding those takes ten times as long, in every turn.
func encodeMessages(p agent.Prompt, more int) []byte {
	msgs := agent.Repair(p.Messages, agent.Target{})
	size := len(p.System) + 64
	for _, m := range msgs {
		for _, c := range m.Content {
			size += len(c.Text) + len(c.Data) + len(c.Arguments) + 96
		}
	}
	b := append(make([]byte, 0, size+size/8+more), `{"messages":[`...)
	if p.System != "" {
		b = wire.Quote(append(b, `{"role":"system","content":`...), p.System)
		b = append(b, "},"...)
	}
	for _, m := range msgs {
		switch m.Role {
		case sessions.User:
			b = userContent(append(b, `{"role":"user","content":`...), m.Content)
		case sessions.Assistant:
			b = assistant(append(b, `{"role":"assistant","content":`...), m)
		case sessions.ToolResult:
			b = wire.Quote(append(b, `{"role":"tool","tool_call_id":`...), m.ToolCallID)
			b = wire.Quote(append(b, `,"content":`...), wire.Text(m.Content))
		}
		b = append(b, "},"...)
	}
	return append(bytes.TrimSuffix(b, []byte{','}), ']')
}

// assistant appends an assistant message's text and calls.
func assistant(b []byte, m sessions.Message) []byte {
	if text := wire.Text(m.Content); text != "" {
		b = wire.Quote(b, text)
	} else {
		b = append(b, "null"...)
	}
	next := `,"tool_calls":[`
	for _, c := range m.Content {
		if c.Type != sessions.ToolCallBlock {
			continue
		}
		b = wire.Quote(append(append(b, next...), `{"type":"function","id":`...), c.ID)
		b = wire.Quote(append(b, `,"function":{"name":`...), c.Name)
		b = wire.Quote(append(b, `,"arguments":`...), string(c.Arguments))
		b, next = append(b, "}}"...), ","
	}
	if next == "," {
		b = append(b, ']')
	}
	return b
}

// userContent appends a user message's content: a plain text where it can be, because some servers know nothing else.
func userContent(b []byte, blocks []sessions.Block) []byte {
	isImage := func(c sessions.Block) bool { return c.Type == sessions.ImageBlock }
	if !slices.ContainsFunc(blocks, isImage) {
		return wire.Quote(b, wire.Text(blocks))
	}
	for i, c := range blocks {
		b = append(b, "[,"[min(i, 1)])
		switch ok, instead := wire.Image(c); {
		case !isImage(c):
			b = wire.Quote(append(b, `{"type":"text","text":`...), c.Text)
		case !ok:
			b = wire.Quote(append(b, `{"type":"text","text":`...), instead)
		default:
			b = wire.Quote(append(b, `{"type":"image_url","image_url":{"url":`...), "data:"+c.MIME+";base64,"+c.Data)
			b = append(b, '}')
		}
		b = append(b, '}')
	}
	return append(b, ']')
}

func encodeTools(specs []tools.Spec) ([]byte, error) {
	type function struct {
		Name        string `json:"name"`
		Description string `json:"description,omitempty"`
		Parameters  any    `json:"parameters"`
	}
	type tool struct {
		Type     string   `json:"type"`
		Function function `json:"function"`
	}
	out := make([]tool, 0, len(specs))
	for _, s := range specs {
		out = append(out, tool{"function", function{s.Name, s.Description, wire.Schema(s)}})
	}
	return wire.JSON(out)
}

// restBytes is room for what a request says besides messages and tools.
const restBytes = 512

// encode makes the body of a request: it appends the rest to its messages.
func (m *Model) encode(p agent.Prompt, messages, encodedTools []byte, q quirks) []byte {
	b := messages
	if encodedTools != nil {
		b = append(append(b, `,"tools":`...), encodedTools...)
	}
	b = wire.Quote(append(b, `,"model":`...), p.Model)
	limit := p.MaxTokens
	if limit <= 0 {
		limit = m.maxTokens
	}
	if limit > 0 {
		name := `,"max_tokens":`
		if m.at.official || q.otherTokens {
			name = `,"max_completion_tokens":`
		}
		b = strconv.AppendInt(append(b, name...), int64(limit), 10)
	}
	if effort := effort(p.Thinking); effort != "" && !q.noEffort {
		b = wire.Quote(append(b, `,"reasoning_effort":`...), effort)
	}
	if m.at.official && p.Session != "" { // others may not know it; the session's name itself is nobody else's business
		sum := sha256.Sum256([]byte(p.Session))
		b = wire.Quote(append(b, `,"prompt_cache_key":`...), hex.EncodeToString(sum[:16]))
	}
	b = append(b, `,"stream":true`...)
	if !q.noUsage {
		b = append(b, `,"stream_options":{"include_usage":true}`...)
	}
	return append(b, '}')
}

func effort(thinking string) string {
	switch thinking {
	case "off":
		return "none"
	case "minimal", "low", "medium", "high":
		return thinking
	}
	return ""
}
