package modeltest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"time"
)

// Request is one model call as the server saw it.
type Request struct {
	N        int // 1 = the first
	Time     time.Time
	Protocol Protocol
	Header   http.Header
	Raw      []byte

	Model    string
	System   string
	Messages []Message
	Tools    []Tool
	Stream   bool
}

// Message is one message of a prompt, in the terms of neither protocol. Anthropic's tool results become messages of role "tool".
type Message struct {
	Role       string // user, assistant, tool
	Text       string
	Images     int
	ToolCalls  []ToolCall
	ToolCallID string // tool
	IsError    bool   // tool; Anthropic only
	Thinking   string // Anthropic only, with Signature
	Signature  string
	Redacted   string
}

// ToolCall is a call that an assistant message holds. Arguments is JSON text.
type ToolCall struct{ ID, Name, Arguments string }

// Tool is a tool that the model may call.
type Tool struct {
	Name        string
	Description string
	Schema      json.RawMessage
}

// frame is the line in front of what a person wrote.
var frame = regexp.MustCompile(`\[message of [^\n]*\]\n\n`)

// LastUserText is the text of the last user message, without the lines that say when and by whom it was written.
func (r Request) LastUserText() string {
	for i := len(r.Messages) - 1; i >= 0; i-- {
		if r.Messages[i].Role == "user" {
			return frame.ReplaceAllString(r.Messages[i].Text, "")
		}
	}
	return ""
}

// contentPart is a piece of content in either protocol.
type contentPart struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"`
	IsError   bool            `json:"is_error"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"`
	Data      string          `json:"data"`
}

// parts reads content, which is a text or a list of parts.
func parts(raw json.RawMessage) ([]contentPart, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	if raw[0] == '"' {
		var text string
		err := json.Unmarshal(raw, &text)
		return []contentPart{{Type: "text", Text: text}}, err
	}
	var out []contentPart
	err := json.Unmarshal(raw, &out)
	return out, err
}

func joined(raw json.RawMessage) (string, error) {
	ps, err := parts(raw)
	var b strings.Builder
	for _, p := range ps {
		b.WriteString(p.Text)
	}
	return b.String(), err
}

func (r *Request) parseOpenAI() error {
	var in struct {
		Model    string
		Stream   bool
		Messages []struct {
			Role       string
			Content    json.RawMessage
			ToolCallID string `json:"tool_call_id"`
			ToolCalls  []struct {
				ID       string
				Function struct{ Name, Arguments string }
			} `json:"tool_calls"`
		}
		Tools []struct {
			Function struct {
				Name, Description string
				Parameters        json.RawMessage
			}
		}
	}
	if err := json.Unmarshal(r.Raw, &in); err != nil {
		return fmt.Errorf("reading a chat completion request: %w", err)
	}
	r.Model, r.Stream = in.Model, in.Stream
	for _, t := range in.Tools {
		r.Tools = append(r.Tools, Tool{t.Function.Name, t.Function.Description, t.Function.Parameters})
	}
	for _, m := range in.Messages {
		ps, err := parts(m.Content)
		if err != nil {
			return fmt.Errorf("reading the content of a message: %w", err)
		}
		out := Message{Role: m.Role, ToolCallID: m.ToolCallID}
		for _, p := range ps {
			out.Text += p.Text
			if p.Type == "image_url" {
				out.Images++
			}
		}
		if m.Role == "system" || m.Role == "developer" {
			r.System += out.Text
			continue
		}
		for _, c := range m.ToolCalls {
			out.ToolCalls = append(out.ToolCalls, ToolCall{c.ID, c.Function.Name, c.Function.Arguments})
		}
		r.Messages = append(r.Messages, out)
	}
	return nil
}

func (r *Request) parseAnthropic() error {
	var in struct {
		Model    string
		Stream   bool
		System   json.RawMessage
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
		Tools []struct {
			Name, Description string
			InputSchema       json.RawMessage `json:"input_schema"`
		}
	}
	err := json.Unmarshal(r.Raw, &in)
	if err == nil {
		r.System, err = joined(in.System)
	}
	if err != nil {
		return fmt.Errorf("reading a messages request: %w", err)
	}
	r.Model, r.Stream = in.Model, in.Stream
	for _, t := range in.Tools {
		r.Tools = append(r.Tools, Tool{t.Name, t.Description, t.InputSchema})
	}
	for _, m := range in.Messages {
		ps, err := parts(m.Content)
		if err != nil {
			return fmt.Errorf("reading the content of a message: %w", err)
		}
		out := Message{Role: m.Role}
		for _, p := range ps {
			switch p.Type {
			case "text":
				out.Text += p.Text
			case "image":
				out.Images++
			case "tool_use":
				out.ToolCalls = append(out.ToolCalls, ToolCall{p.ID, p.Name, string(p.Input)})
			case "thinking":
				out.Thinking, out.Signature = p.Thinking, p.Signature
			case "redacted_thinking":
				out.Redacted = p.Data
			case "tool_result":
				text, err := joined(p.Content)
				if err != nil {
					return fmt.Errorf("reading a tool result: %w", err)
				}
				r.Messages = append(r.Messages, Message{Role: "tool", Text: text, ToolCallID: p.ToolUseID, IsError: p.IsError})
			}
		}
		if out.Text != "" || out.Images > 0 || len(out.ToolCalls) > 0 || out.Thinking != "" || out.Redacted != "" {
			r.Messages = append(r.Messages, out)
		}
	}
	return nil
}
