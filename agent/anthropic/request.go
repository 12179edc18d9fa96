package anthropic

import (
	"encoding/json"
	"slices"
	"strconv"

	"parley/agent"
	"parley/agent/wire"
	"parley/sessions"
	"parley/tools"
)

// The protocol's messages. They are not the SDK's types: encoding those takes several times as long, in every turn.
type message struct {
	Role    string  `json:"role"`
	Content []block `json:"content"`
}

type block struct {
	Type string `json:"type"`

	Text      string          `json:"text,omitempty"`        // text
	Thinking  *string         `json:"thinking,omitempty"`    // thinking; may be empty, but must be there
	Signature string          `json:"signature,omitempty"`   // thinking
	Data      string          `json:"data,omitempty"`        // redacted_thinking
	Source    *source         `json:"source,omitempty"`      // image
	ID        string          `json:"id,omitempty"`          // tool_use
	Name      string          `json:"name,omitempty"`        // tool_use
	Input     json.RawMessage `json:"input,omitempty"`       // tool_use
	ToolUseID string          `json:"tool_use_id,omitempty"` // tool_result
	Content   string          `json:"content,omitempty"`     // tool_result
	IsError   bool            `json:"is_error,omitempty"`    // tool_result

	Cache *cacheControl `json:"cache_control,omitempty"`
}

type source struct {
	Type  string `json:"type"`
	Media string `json:"media_type"`
	Data  string `json:"data"`
}

type cacheControl struct {
	Type string `json:"type"`
}

// cacheHere ends a prefix that the provider may keep: the tools, the system text, and the conversation so far.
var cacheHere = &cacheControl{"ephemeral"}

// encodeMessages gives the messages, and whether the model was in the middle of tool calls without having thought first.
func encodeMessages(msgs []sessions.Message) (encoded []byte, thoughtless bool, err error) {
	var out []message
	for _, m := range agent.Repair(msgs, agent.Target{Thinking: true, ToolPictures: true}) {
		role := "user"
		if m.Role == sessions.Assistant {
			role = "assistant"
		}
		blocks := content(m)
		if n := len(out); n > 0 && out[n-1].Role == role {
			out[n-1].Content = append(out[n-1].Content, blocks...)
		} else {
			out = append(out, message{role, blocks})
		}
		switch {
		case m.Role == sessions.User:
			thoughtless = false
		case m.Role == sessions.Assistant && blocks[0].Type != "thinking" && blocks[0].Type != "redacted_thinking":
			thoughtless = true
		}
	}
	if out == nil {
		out = []message{}
	}
	// The end of the conversation, and where it ended at the call before: the provider looks for a kept prefix only a few blocks
	// back, and many tool results may have come since. With tools and system these are the four marks that it allows.
	for n := len(out); n > 0 && n > len(out)-4; n -= 2 {
		end := out[n-1].Content
		end[len(end)-1].Cache = cacheHere
	}
	encoded, err = wire.JSON(out)
	return encoded, thoughtless, err
}

// content turns a repaired message into blocks; there is always one at least.
func content(m sessions.Message) []block {
	if m.Role == sessions.ToolResult {
		return []block{{Type: "tool_result", ToolUseID: m.ToolCallID, Content: wire.Text(m.Content), IsError: m.IsError}}
	}
	out := make([]block, 0, len(m.Content))
	for _, b := range m.Content {
		switch b.Type {
		case sessions.TextBlock:
			out = append(out, block{Type: "text", Text: b.Text})
		case sessions.ThinkingBlock:
			if b.Data != "" {
				out = append(out, block{Type: "redacted_thinking", Data: b.Data})
				continue
			}
			out = append(out, block{Type: "thinking", Thinking: &b.Text, Signature: b.Signature})
		case sessions.ImageBlock:
			if ok, instead := wire.Image(b); !ok {
				out = append(out, block{Type: "text", Text: instead})
				continue
			}
			out = append(out, block{Type: "image", Source: &source{"base64", b.MIME, b.Data}})
		case sessions.ToolCallBlock:
			out = append(out, block{Type: "tool_use", ID: b.ID, Name: b.Name, Input: b.Arguments})
		}
	}
	return out
}

func encodeTools(specs []tools.Spec) ([]byte, error) {
	type tool struct {
		Name        string          `json:"name"`
		Description string          `json:"description,omitempty"`
		Schema      json.RawMessage `json:"input_schema"`
		Cache       *cacheControl   `json:"cache_control,omitempty"`
	}
	out := make([]tool, 0, len(specs))
	for _, s := range specs {
		out = append(out, tool{Name: s.Name, Description: s.Description, Schema: wire.Schema(s)})
	}
	out[len(out)-1].Cache = cacheHere
	return wire.JSON(out)
}

// stubs names the tools that msgs show, once each. The API refuses messages with tool blocks when no tools are defined.
func stubs(msgs []sessions.Message) []tools.Spec {
	var out []tools.Spec
	for _, m := range msgs {
		for _, c := range m.ToolCalls() {
			if !slices.ContainsFunc(out, func(s tools.Spec) bool { return s.Name == c.Name }) {
				out = append(out, tools.Spec{Name: c.Name, Description: "Not available in this turn."})
			}
		}
	}
	return out
}

// encode makes the body of a request.
func (m *Model) encode(p agent.Prompt, mode thinkingMode) ([]byte, error) {
	messages, thoughtless, err := encodeMessages(p.Messages)
	if err != nil {
		return nil, err
	}
	encodedTools, err := m.tools.Encode(p.Tools, encodeTools)
	if err != nil {
		return nil, err
	}
	limit := p.MaxTokens
	if limit <= 0 {
		limit = m.maxTokens
	}
	b := make([]byte, 0, len(messages)+len(encodedTools)+len(p.System)+512)
	b = wire.Quote(append(b, `{"model":`...), p.Model)
	if p.System != "" {
		b = wire.Quote(append(b, `,"system":[{"type":"text","cache_control":{"type":"ephemeral"},"text":`...), p.System)
		b = append(b, "}]"...)
	}
	b = append(append(b, `,"messages":`...), messages...)
	if encodedTools != nil {
		b = append(append(b, `,"tools":`...), encodedTools...)
	} else if known := stubs(p.Messages); known != nil {
		if encodedTools, err = encodeTools(known); err != nil {
			return nil, err
		}
		b = append(append(append(b, `,"tools":`...), encodedTools...), `,"tool_choice":{"type":"none"}`...)
	}
	b, limit = thinking(b, p.Thinking, mode, limit, thoughtless)
	b = strconv.AppendInt(append(b, `,"max_tokens":`...), int64(limit), 10)
	return append(b, `,"stream":true}`...), nil
}

// thinking appends how much to think, and gives the limit of the answer, which counts the thinking too.
func thinking(b []byte, level string, mode thinkingMode, limit int, thoughtless bool) ([]byte, int) {
	levels := map[string]struct {
		effort string
		tokens int
	}{"minimal": {"low", 1024}, "low": {"low", 2048}, "medium": {"medium", 8192}, "high": {"high", 16384}}
	l, on := levels[level]
	switch {
	case mode == untold:
	case level == "off":
		b = append(b, `,"thinking":{"type":"disabled"}`...)
	case on && mode == adaptive:
		b = wire.Quote(append(b, `,"thinking":{"type":"adaptive","display":"summarized"},"output_config":{"effort":`...), l.effort)
		b = append(b, '}')
	case on && !thoughtless: // with a budget, a message that is continued after tool calls must have begun with thinking
		b = strconv.AppendInt(append(b, `,"thinking":{"type":"enabled","budget_tokens":`...), int64(l.tokens), 10)
		b = append(b, '}')
		limit += l.tokens
	}
	return b, limit
}
