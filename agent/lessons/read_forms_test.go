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
