package anthropic

import (
	"encoding/json"
	"strings"

	"parley/agent/lessons"
	"parley/agent/wire"
	"parley/sessions"
)

// The protocol's messages. Their types are as flat as they can be: they are encoded in every turn.
type message struct {
	Role    string `json:"role"`
	Content []any  `json:"content"` // *block, or json.RawMessage of a block that is sent back as it came
}

// textMessage is a message for servers that take its content as a text only.
type textMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

type block struct {
	Type string `json:"type"`

	Text      string          `json:"text,omitempty"`        // text
	Thinking  *string         `json:"thinking,omitempty"`    // thinking; may be empty, but must be there
	Signature *string         `json:"signature,omitempty"`   // thinking
	Data      string          `json:"data,omitempty"`        // redacted_thinking
	Source    *source         `json:"source,omitempty"`      // image
	ID        string          `json:"id,omitempty"`          // tool_use
	Name      string          `json:"name,omitempty"`        // tool_use
	Input     json.RawMessage `json:"input,omitempty"`       // tool_use
	ToolUseID string          `json:"tool_use_id,omitempty"` // tool_result
	Content   any             `json:"content,omitempty"`     // tool_result: a text, or []any with pictures
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

// opaqueBlock is the Data of sessions.Opaque of this API: what a block of an answer needs to be sent back as it came. One field is set.
type opaqueBlock struct {
	Signature string          `json:"signature,omitempty"`         // of thinking
	Redacted  string          `json:"redacted_thinking,omitempty"` // thinking that is encrypted
	Block     json.RawMessage `json:"block,omitempty"`             // a whole block that is no text, thinking or call
	Tag       string          `json:"tag,omitempty"`               // thinking that stood in the text: the mark in front of it
	End       string          `json:"end,omitempty"`               // with Tag or alone: the mark behind it
	Unsigned  bool            `json:"unsigned,omitempty"`          // thinking without signature, which goes back: agent's estimate counts it
	Cut       bool            `json:"cut,omitempty"`               // thinking that was too long to be kept: it is not sent back
}

// conversation encodes the messages of one request.
type conversation struct {
	own         bool   // Anthropic's own service
	lead        string // stands in front of the first message; empty = nothing
	ask         *asked
	sent        *lessons.Sent
	thoughtless bool // set by encode: the model is in the middle of calls that no thinking came before
}

// encode gives the messages, and behind them what was answered so far.
func (c *conversation) encode(msgs []sessions.Message, before []*answerBlock) ([]byte, error) {
	out := make([]message, 0, len(msgs)+1)
	for _, m := range msgs {
		role := "user"
		if m.Role == sessions.Assistant {
			role = "assistant"
		}
		blocks := c.content(m)
		if n := len(out); n > 0 && out[n-1].Role == role {
			out[n-1].Content = append(out[n-1].Content, blocks...)
		} else {
			out = append(out, message{role, blocks})
		}
		switch m.Role {
		case sessions.User:
			c.thoughtless = false
		case sessions.Assistant:
			c.thoughtless = c.thoughtless || !isThought(blocks[0])
		}
	}
	if c.lead != "" && len(out) > 0 {
		out[0].Content = append([]any{&block{Type: "text", Text: c.lead}}, out[0].Content...)
	}
	if n := len(out); n > 0 && out[n-1].Role == "assistant" { // newer models refuse to continue an answer that they did not pause
		out = append(out, message{"user", []any{&block{Type: "text", Text: "(please continue)"}}})
	}
	if c.ask.mark("messages") {
		mark(out)
	}
	if paused := c.paused(before); len(paused) > 0 {
		out = append(out, message{"assistant", paused})
	}
	return wire.JSON(c.inForm(out))
}

// inForm notes the role of each message, and gives the messages in the form that the endpoint takes.
func (c *conversation) inForm(msgs []message) any {
	var out []any // nil = all are lists
	c.sent.Roles = make([]string, 0, len(msgs))
	joined := lessons.HasForm(c.ask.forms, lessons.TextBlocks, lessons.Joined)
	for i := range msgs {
		m := &msgs[i]
		if joined {
			m.join()
		}
		for j, b := range m.Content {
			if isThought(b) {
				c.sent.ThoughtAt = append(c.sent.ThoughtAt, lessons.Place{Message: i, Block: j})
			}
		}
		role, isText := m.kind()
		c.sent.Roles = append(c.sent.Roles, role)
		asText := isText && !lessons.IsList(c.ask.forms, role)
		if asText && out == nil {
			for j := range i {
				out = append(out, &msgs[j])
			}
		}
		switch {
		case asText:
			out = append(out, textMessage{m.Role, m.text()})
		case out != nil:
			out = append(out, m)
		}
	}
	if out == nil {
		return msgs
	}
	return out
}

// kind gives the role of a message, lessons.Blocks where it has other blocks than texts and pictures; isText is whether it has texts only.
func (m *message) kind() (role string, isText bool) {
	isText = true
	for _, x := range m.Content {
		b, ok := x.(*block)
		if !ok || b.Type != "text" && b.Type != "image" {
			return lessons.Blocks, false
		}
		isText = isText && b.Type == "text"
	}
	return m.Role, isText
}

// join makes one block of texts that stand together.
func (m *message) join() {
	out := m.Content[:0:0]
	for _, x := range m.Content {
		b, isBlock := x.(*block)
		if n := len(out); isBlock && b.Type == textPart && n > 0 {
			if last, ok := out[n-1].(*block); ok && last.Type == textPart {
				both := *b
				both.Text = last.Text + "\n\n" + b.Text
				out[n-1] = &both
				continue
			}
		}
		out = append(out, x)
	}
	m.Content = out
}

// text joins the texts of a message that has nothing else.
func (m *message) text() string {
	texts := make([]string, 0, len(m.Content))
	for _, x := range m.Content {
		if b, ok := x.(*block); ok {
			texts = append(texts, b.Text)
		}
	}
	return strings.Join(texts, "\n\n")
}

// mark marks the end of the conversation, and where it ended at the call before: the provider looks for a kept prefix only a few
// blocks back, and many tool results may have come since. With tools and system these are the four marks that it allows.
func mark(out []message) {
	for n := len(out); n > 0 && n > len(out)-4; n -= 2 {
		end := out[n-1].Content
		if b, ok := end[len(end)-1].(*block); ok {
			b.Cache = cacheHere
		}
	}
}

func isThought(b any) bool {
	x, ok := b.(*block)
	return ok && (x.Type == "thinking" || x.Type == "redacted_thinking")
}

// content turns a repaired message into blocks; there is always one at least.
func (c *conversation) content(m sessions.Message) []any {
	if m.Role == sessions.ToolResult {
		return []any{c.result(m)}
	}
	out := make([]any, 0, len(m.Content)+1)
	glue := "" // thinking that stood in the text, waiting for it
	for i := range m.Content {
		b := &m.Content[i]
		switch b.Type {
		case sessions.TextBlock:
			out = append(out, &block{Type: "text", Text: glue + b.Text})
			glue = ""
		case sessions.ThinkingBlock:
			x, text := c.thought(b)
			if x != nil {
				out = append(out, x)
				c.sent.Reasoning = true
			}
			glue += text
		case sessions.ImageBlock:
			out = append(out, c.picture(b))
		case sessions.ToolCallBlock:
			if glue != "" {
				out = append(out, &block{Type: "text", Text: strings.TrimSpace(glue)})
				glue = ""
			}
			c.sent.Steps = true
			out = append(out, &block{Type: "tool_use", ID: b.ID, Name: b.Name, Input: b.Arguments})
		}
	}
	if m.Role == sessions.Assistant && c.ask.placeholder && (c.ask.everywhere || len(m.ToolCalls()) > 0) && !isThought(out[0]) {
		empty, space := "", " "
		out = append([]any{&block{Type: "thinking", Thinking: &space, Signature: &empty}}, out...)
		c.sent.Reasoning = true
	}
	return out
}

// thought gives a thinking block as it is sent back, or the text of which it was a part; neither = it is left out.
func (c *conversation) thought(b *sessions.Block) (any, string) {
	was := opaqueBlock{Signature: b.OldSignature(), Redacted: b.Data} // as older versions kept them
	if b.Opaque != nil && len(b.Opaque.Data) > 0 {
		was = opaqueBlock{}
		if json.Unmarshal(b.Opaque.Data, &was) != nil {
			return nil, ""
		}
	}
	switch {
	case was.Cut:
	case was.Redacted != "":
		return &block{Type: "redacted_thinking", Data: was.Redacted}, ""
	case len(was.Block) > 0:
		return was.Block, ""
	case was.Tag != "" || was.End != "":
		c.sent.Reasoning = true
		return nil, was.Tag + b.Text + was.End
	case was.Signature != "":
		return &block{Type: "thinking", Thinking: &b.Text, Signature: &was.Signature}, ""
	case !c.own && b.Text != "":
		x := &block{Type: "thinking", Thinking: &b.Text}
		if c.ask.unsignedForm() {
			x.Signature = new(string)
		}
		return x, ""
	}
	return nil, ""
}

// unsignedForm reports whether thinking without signature is sent with an empty one: most servers want the field.
func (a *asked) unsignedForm() bool {
	_, send := a.call.Param(lessons.EmptySignature, "empty")
	if send && !a.unsigned {
		a.unsigned = true
		a.params = append(a.params, lessons.Param{Name: lessons.EmptySignature, Value: "empty"})
	}
	return send
}

// result gives the result of a tool, which is never empty.
func (c *conversation) result(m sessions.Message) *block {
	out := &block{Type: "tool_result", ToolUseID: m.ToolCallID, IsError: m.IsError}
	var pictures []any
	for i := range m.Content {
		if b := &m.Content[i]; b.Type == sessions.ImageBlock {
			x := c.picture(b)
			c.sent.ToolImages = c.sent.ToolImages || x.Source != nil
			pictures = append(pictures, x)
		}
	}
	text := wire.Text(m.Content)
	switch {
	case pictures == nil && lessons.IsList(c.ask.forms, "tool"):
		out.Content = []any{&block{Type: "text", Text: text}}
	case pictures == nil:
		out.Content = text
	case text == "":
		out.Content = pictures
	default:
		out.Content = append([]any{&block{Type: "text", Text: text}}, pictures...)
	}
	return out
}

// picture gives a picture, or a line of text for one that the API does not take.
func (c *conversation) picture(b *sessions.Block) *block {
	if ok, instead := wire.Image(*b); !ok {
		return &block{Type: "text", Text: instead}
	}
	c.sent.Pictures = append(c.sent.Pictures, b.Data)
	return &block{Type: "image", Source: &source{"base64", b.MIME, b.Data}}
}

// paused gives what was answered so far, so that the model continues it.
func (c *conversation) paused(before []*answerBlock) []any {
	var out []any
	for _, p := range before {
		b := p.block("", false)
		switch b.Type {
		case sessions.TextBlock:
			out = append(out, &block{Type: "text", Text: b.Text})
		case sessions.ThinkingBlock:
			if x, _ := c.thought(&b); x != nil {
				out = append(out, x)
			}
		}
	}
	if n := len(out); n > 0 {
		if b, ok := out[n-1].(*block); ok && b.Type == "text" { // an answer that is continued must not end with a space
			b.Text = strings.TrimRight(b.Text, " \t\r\n")
			if b.Text == "" {
				out = out[:n-1]
			}
		}
	}
	return out
}
