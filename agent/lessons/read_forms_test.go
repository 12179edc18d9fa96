package lessons

import (
	"testing"

	"parley/agent/wire"
)

// TestContentForm: errors tell in which form the content of a role's messages is wanted, by its place or without one, and that the other form is
// wanted instead.
// source: docs.pydantic.dev/latest/errors/validation_errors (list_type, string_type), lastmile-ai/mcp-agent#25, serde (invalid type: sequence)
func TestContentForm(t *testing.T) {
	t.Parallel()
	forms := func(lists ...string) (out []Param) {
		for _, role := range contentRoles {
			p := Param{Name: contentForm + role, Value: AsText, Fixed: true}
			for _, l := range lists {
				if l == role {
					p.Value = AsList
				}
			}
			out = append(out, p)
		}
		return out
	}
	for _, c := range []struct {
		text  string
		lists []string
		role  string
		use   string // "" = nothing is learned
	}{
		{"messages.1.content: Input should be a valid list", nil, "user", AsList},
		{`{"detail":[{"type":"list_type","loc":["body","messages",3,"content"],"msg":"Input should be a valid list"}]}`, nil, "tool", AsList},
		{"messages[1].content: invalid type: string, expected a sequence", nil, "user", AsList},
		{"Invalid 'content': must be an array", nil, "user", AsList},
		{"Invalid 'content': must be an array", []string{"user"}, "tool", AsList},
		{"messages[3].content: invalid type: sequence, expected a string", []string{"user", "tool"}, "tool", AsText},
		{"messages.1.content must be a string", []string{"user", "tool"}, "user", AsText},
		{"messages.1.content must be a string", nil, "", ""},
		{"messages.1.content: Input should be a valid string, or a valid list", nil, "", ""},
		{"messages: Input should be a valid list", nil, "", ""},
		// source: zod.dev/error-formatting (expected … received), python-jsonschema.readthedocs.io (is not of type), pkg.go.dev/encoding/json (UnmarshalTypeError)
		{"messages.1.content: Invalid input: expected string, received array", []string{"user"}, "user", AsText},
		{"messages.1.content: Invalid input: expected array, received string", nil, "user", AsList},
		{"[{'type': 'text', 'text': 'hello'}] is not of type 'string' - 'messages.1.content'", []string{"user"}, "user", AsText},
		{"'hello' is not of type 'array' - 'messages.1.content'", nil, "user", AsList},
		{"json: cannot unmarshal array into Go struct field .messages.content of type string", []string{"user"}, "user", AsText},
		{"json: cannot unmarshal string into Go struct field .messages.content of type []api.Part", nil, "user", AsList},
		{"Invalid type for 'messages[1].content': expected an array of objects, but got a string instead.", nil, "user", AsList},
		{"Invalid type for 'messages[1].content': expected a string, but got an array of objects instead.", []string{"user"}, "user", AsText},
		// Servers that take both forms say so of each: something else is wrong.
		{`{"detail":[{"type":"string_type","loc":["body","messages",1,"content","str"],"msg":"Input should be a valid string"},{"type":"missing","loc":["body","messages",1,"content","list[Part]",0,"text"],"msg":"Field required"}]}`, []string{"user"}, "", ""},
		{"Invalid 'input[1].content': array too long. Expected an array with maximum length 0", nil, "", ""},
	} {
		call := NewBook(Config{}).Call(at, "")
		r := reading{f: wire.ReadFault([]byte(c.text)), sent: Sent{Params: forms(c.lists...), Roles: []string{"system", "user", "assistant", "tool"}, Steps: true}, call: call}
		r.text = reasons(r.f.All)
		l, ok := readContentForm(r)
		if ok != (c.use != "") || ok && (l.Name != contentForm+c.role || l.Use != c.use) {
			t.Errorf("%s: %v %+v", c.text, ok, l)
		}
	}
}

// TestContentFormOfOthers: Responses and Anthropic's messages have lists where chat completions have texts, and errors name their places in
// other words. A text that is wanted of a message with calls has these told as text.
// source: docs.pydantic.dev/latest/errors/validation_errors (string_type, list_type), platform.openai.com/docs/guides/error-codes (invalid_type)
func TestContentFormOfOthers(t *testing.T) {
	t.Parallel()
	items := []string{"user", Blocks, Blocks, "tool", "assistant", "user"}
	for _, c := range []struct {
		lists []string
		roles []string
		text  string
		want  string

		reasoned bool
	}{
		{[]string{"assistant"}, items, `{"detail":[{"type":"string_type","loc":["body","input",4,"content"],"msg":"Input should be a valid string","input":[{"type":"output_text"}]}]}`, "parameter content of assistant a text", false},
		{[]string{"assistant"}, items, `{"error":{"message":"Invalid type for 'input[4].content': expected a string, but got an array of objects instead.","param":"input[4].content","code":"invalid_type"}}`, "parameter content of assistant a text", false},
		{[]string{"assistant"}, items, "Invalid type for 'input[0].content': expected an array of objects, but got a string instead.", "parameter content of user a list of parts", false},
		{[]string{"assistant"}, items, "Invalid type for 'input[3].output': expected an array of objects, but got a string instead.", "parameter content of tool a list of parts", false},
		{[]string{"assistant"}, items, "content must be a string", "parameter content of assistant a text", false},
		{[]string{"user", "assistant"}, []string{"user", Blocks, Blocks, "assistant", "user"}, "messages.0.content: Input should be a valid string", "parameter content of user a text", false},
		{[]string{"user", "assistant"}, []string{"user", Blocks, Blocks, "assistant", "user"}, "messages.3.content: Input should be a valid string", "parameter content of assistant a text", false},
		{[]string{"user", "assistant"}, []string{"user", Blocks, Blocks, "assistant", "user"}, "messages.1.content: Input should be a valid string", "history", false},
		{nil, []string{"user", Blocks, Blocks}, "content must be a string", "history", false},
		// Mistral's parts, by a router. source: docs.mistral.ai/capabilities/reasoning, vllm-project/vllm (content of an assistant message)
		{nil, []string{"system", "user", Blocks, "user"}, "messages.2.content: Input should be a valid string", "reasoning  omit", true},
		{[]string{"user", "assistant"}, []string{"user", Blocks, Blocks}, "messages.2.content.0.tool_result.content: Input should be a valid list", "parameter content of tool a list of parts", false},
	} {
		call := NewBook(Config{}).Call(at, "")
		r := reading{f: wire.ReadFault([]byte(c.text)), sent: Sent{Params: call.ContentForms(c.lists...), Roles: c.roles, Steps: true, Reasoning: c.reasoned}, call: call}
		r.text = reasons(r.f.All)
		l, _ := readContentForm(r)
		got := l.Kind + " " + l.Name + " " + l.Use
		if l.Kind == History {
			got = l.Kind
		}
		if got != c.want {
			t.Errorf("%s: learned %q, not %q", c.text, got, c.want)
		}
	}
}
