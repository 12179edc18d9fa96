package endpoints

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
)

type (
	obj  = map[string]any
	list = []any
)

// Call is one request as the endpoint sees it.
type Call struct {
	API      API // the protocol
	Path     string
	Query    url.Values
	Header   http.Header
	Raw      []byte
	Body     obj
	System   string
	Messages []Message // without system messages; a tool result is a message of role tool
	Tools    []string  // names

	memory *issuedIDs
}

// Message is one message in the terms of no protocol.
type Message struct {
	Role   string // user, assistant, tool
	Text   string
	Images int
	Calls  []ToolCall
	CallID string // tool
	Raw    obj    // as it was sent; a Responses item, an Anthropic block for tool results
}

// ToolCall is a call of an assistant message. Args is JSON text.
type ToolCall struct {
	ID, Name, Args string
	Raw            obj
}

// Last is the last message.
func (c *Call) Last() Message {
	if len(c.Messages) == 0 {
		return Message{}
	}
	return c.Messages[len(c.Messages)-1]
}

// LastUser is the last message of a person.
func (c *Call) LastUser() Message {
	for i := len(c.Messages) - 1; i >= 0; i-- {
		if c.Messages[i].Role == "user" {
			return c.Messages[i]
		}
	}
	return Message{}
}

// Asked is the last line that a person wrote, without what the host puts around it in brackets of both kinds.
func (c *Call) Asked() (asked string) {
	for line := range strings.Lines(c.LastUser().Text) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '[' && line[0] != '<' {
			asked = line
		}
	}
	return asked
}

// Has reports whether the body has a top-level key.
func (c *Call) Has(key string) bool {
	_, ok := c.Body[key]
	return ok
}

// Made counts the calls of all assistant messages.
func (c *Call) Made() (n int) {
	for _, m := range c.Messages {
		n += len(m.Calls)
	}
	return n
}

// Turn gives the messages since the last one of a person, without it.
func (c *Call) Turn() []Message {
	for i := len(c.Messages) - 1; i >= 0; i-- {
		if c.Messages[i].Role == "user" {
			return c.Messages[i+1:]
		}
	}
	return c.Messages
}

// str gives a value that is a text, else "".
func str(v any) string {
	s, _ := v.(string)
	return s
}

// objects gives the objects of a list.
func objects(v any) (out []obj) {
	l, _ := v.(list)
	for _, x := range l {
		if o, ok := x.(obj); ok {
			out = append(out, o)
		}
	}
	return out
}

// text joins the texts of a content, which is a text or a list of parts, and counts its pictures.
func text(content any) (text string, images int) {
	if s, ok := content.(string); ok {
		return s, 0
	}
	var all []string
	for _, p := range objects(content) {
		switch str(p["type"]) {
		case "image_url", "input_image", "image":
			images++
		default:
			if s := str(p["text"]); s != "" {
				all = append(all, s)
			}
		}
	}
	return strings.Join(all, "\n"), images
}

// read reads the body of a request.
func (c *Call) read() error {
	if err := json.Unmarshal(c.Raw, &c.Body); err != nil {
		return err
	}
	switch c.API {
	case Responses:
		c.readResponses()
	case Messages:
		c.readAnthropic()
	default:
		c.readChat()
	}
	for _, t := range objects(c.Body["tools"]) {
		name := str(t["name"])
		if f, ok := t["function"].(obj); ok {
			name = str(f["name"])
		}
		c.Tools = append(c.Tools, name)
	}
	if len(c.Messages) == 0 {
		return errors.New("no messages")
	}
	return nil
}

func (c *Call) readChat() {
	for _, m := range objects(c.Body["messages"]) {
		t, images := text(m["content"])
		role := str(m["role"])
		if role == "system" || role == "developer" {
			c.System += t
			continue
		}
		out := Message{Role: role, Text: t, Images: images, CallID: str(m["tool_call_id"]), Raw: m}
		for _, k := range objects(m["tool_calls"]) {
			f, _ := k["function"].(obj)
			out.Calls = append(out.Calls, ToolCall{ID: str(k["id"]), Name: str(f["name"]), Args: str(f["arguments"]), Raw: k})
		}
		c.Messages = append(c.Messages, out)
	}
}

func (c *Call) readAnthropic() {
	c.System, _ = text(c.Body["system"])
	for _, m := range objects(c.Body["messages"]) {
		t, images := text(m["content"])
		out := Message{Role: str(m["role"]), Text: t, Images: images, Raw: m}
		for _, b := range objects(m["content"]) {
			switch str(b["type"]) {
			case "tool_use":
				args, _ := json.Marshal(b["input"]) //nolint:errchkjson // it was JSON
				out.Calls = append(out.Calls, ToolCall{ID: str(b["id"]), Name: str(b["name"]), Args: string(args), Raw: b})
			case "tool_result":
				result, pictures := text(b["content"])
				c.Messages = append(c.Messages, Message{Role: "tool", Text: result, Images: pictures, CallID: str(b["tool_use_id"]), Raw: b})
			}
		}
		if out.Role == "assistant" || out.Text != "" || out.Images > 0 {
			c.Messages = append(c.Messages, out)
		}
	}
}

func (c *Call) readResponses() {
	c.System = str(c.Body["instructions"])
	if s, ok := c.Body["input"].(string); ok {
		c.Messages = []Message{{Role: "user", Text: s}}
	}
	for _, item := range objects(c.Body["input"]) {
		switch str(item["type"]) {
		case "", "message":
			t, images := text(item["content"])
			role := str(item["role"])
			if role == "system" || role == "developer" {
				c.System += t
				continue
			}
			c.Messages = append(c.Messages, Message{Role: role, Text: t, Images: images, Raw: item})
		case "function_call":
			c.Messages = append(c.Messages, Message{Role: "assistant", Raw: item, Calls: []ToolCall{{
				ID: str(item["call_id"]), Name: str(item["name"]), Args: str(item["arguments"]), Raw: item,
			}}})
		case "function_call_output":
			t, images := text(item["output"])
			c.Messages = append(c.Messages, Message{Role: "tool", Text: t, Images: images, CallID: str(item["call_id"]), Raw: item})
		}
	}
}

// compiled has each regular expression of the tables once: they are few, and every request asks for some.
var compiled sync.Map // a text: its *regexp.Regexp

// matches reports whether a text fits a regular expression.
func matches(expression, text string) bool {
	r, ok := compiled.Load(expression)
	if !ok {
		r, _ = compiled.LoadOrStore(expression, regexp.MustCompile(expression))
	}
	return r.(*regexp.Regexp).MatchString(text)
}
