package endpoints

import (
	"fmt"
	"strings"
)

// calling is Usual that calls a tool of the MCP server in the place of the host's own, and says what told makes of its result.
func calling(tool string, told func(Message) string) Mind { return callingWith(tool, `{}`, told) }

// callingWith is calling with arguments, as JSON.
func callingWith(tool, args string, told func(Message) string) Mind {
	return func(c *Call) Say {
		s := Usual(c)
		if last := c.Last(); last.Role == "tool" {
			s.Text = told(last)
		} else if len(s.Calls) > 0 {
			s.Calls = []ToolCall{{Name: tool, Args: args}}
		}
		return s
	}
}

// saidTwice refuses a result of a tool that has a text more than once.
func saidTwice(text string, no *Refusal) Check {
	return func(c *Call) *Refusal {
		for _, m := range c.Messages {
			if m.Role == "tool" && strings.Count(m.Text, text) > 1 {
				return no
			}
		}
		return nil
	}
}

// onePixel is a picture in PNG.
const onePixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

// toolResults are models that are told what tools of MCP servers give.
var toolResults = []Row{
	{ID: "structure-beside-its-text", Faults: []string{"M7"}, Vendor: "any", Source: "https://modelcontextprotocol.io/specification/2025-06-18/server/tools#structured-content", Does: "is told a result once that a server sends as a text and as a structure",
		Tools: []ToolSpec{{"read", `{"type":"object"}`}}, Results: map[string]string{"read": `{"content":[{"type":"text","text":"hello from the file\n"}],"structuredContent":{"content":"hello from the file\n"}}`},
		Mind: calling("odd_read", func(m Message) string { return "The file says " + strings.TrimSpace(m.Text) }), Checks: []Check{saidTwice("hello from", invalid("messages", nil, "the text stands there twice"))},
		Want: Expectation{Tool: `^The file says hello from the file$`}},
	{ID: "picture-of-a-tool", Faults: []string{"M8"}, API: Messages, Vendor: "Anthropic", Source: "https://docs.anthropic.com/en/docs/agents-and-tools/tool-use/implement-tool-use", Does: "is shown the picture that a tool gives",
		Tools: []ToolSpec{{"shot", `{"type":"object"}`}}, Results: map[string]string{"shot": `{"content":[{"type":"image","data":"` + onePixel + `","mimeType":"image/png"}]}`},
		Mind: calling("odd_shot", func(m Message) string {
			if m.Images == 1 && strings.Contains(m.Text, "attachment ") {
				return "I see the picture of the tool."
			}
			return "I see nothing: " + m.Text
		}), Want: Expectation{Tool: `^I see the picture of the tool\.$`}},
	{ID: "entities-beside-their-text", Faults: []string{"M7"}, API: Messages, Vendor: "any", Source: "MoonshotAI/kimi-code#3234", Does: "is told a result once that a server sends as indented JSON in a text, and again as a structure around it",
		Tools: []ToolSpec{{"create", `{"type":"object"}`}}, Results: map[string]string{"create": `{"content":[{"type":"text","text":"[\n  {\n    \"name\": \"garden\",\n    \"entityType\": \"place\",\n    \"observations\": [\n      \"has roses\"\n    ]\n  }\n]"}],"structuredContent":{"entities":[{"name":"garden","entityType":"place","observations":["has roses"]}]}}`},
		Mind: calling("odd_create", func(m Message) string { return fmt.Sprint("Roses: ", strings.Count(m.Text, "has roses")) }), Want: Expectation{Tool: `^Roses: 1$`}},
	{ID: "picture-of-a-tool-in-chat-completions", Faults: []string{"M8"}, Vendor: "OpenAI", Source: "continuedev/continue#8898", Does: "takes texts alone as results of tools, and sees the picture that a tool gives in a message of its own",
		Tools: []ToolSpec{{"shot", `{"type":"object"}`}}, Results: map[string]string{"shot": `{"content":[{"type":"text","text":"Took the screenshot."},{"type":"image","data":"` + onePixel + `","mimeType":"image/png"}]}`},
		Mind: func(c *Call) Say {
			turn := c.Messages[len(c.Messages)-min(2, len(c.Messages)):]
			if turn[0].Role == "tool" && turn[len(turn)-1].Images == 1 {
				return Say{Text: "I see the picture of the tool."}
			}
			return calling("odd_shot", func(m Message) string { return "I see nothing: " + m.Text })(c)
		}, Want: Expectation{Tool: `^I see the picture of the tool\.$`}},
}
