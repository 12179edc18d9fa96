package lessons

import "testing"

// TestUserOnly: servers that take no messages of the model get what it said in messages of the user; errors about the order of roles, and about parts of
// such a message, mean something else.
// source: openai/openai-python#3722
func TestUserOnly(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]bool{
		`{"error":{"message":"input[1]: role 'assistant' is not allowed in input messages"}}`:                                                                         true,
		`{"error":{"message":"\"assistant\" is not an allowed role"}}`:                                                                                                true,
		`{"error":{"message":"Invalid role: assistant","param":"input[1].role"}}`:                                                                                     true,
		`{"error":{"message":"Invalid value: 'assistant'. Supported values are: 'user', 'system', and 'developer'.","param":"input[1].role","code":"invalid_value"}}`: true,
		`{"detail":[{"type":"literal_error","loc":["body","input",1,"role"],"msg":"Input should be 'user', 'system' or 'developer'","input":"assistant"}]}`:           true,
		`{"error":{"message":"assistant messages are not supported"}}`:                                                                                                true,
		`{"error":{"message":"Role 'assistant' is not allowed as the last message"}}`:                                                                                 false,
		`{"error":{"message":"assistant messages with tool_calls are not supported"}}`:                                                                                false,
		`{"error":{"message":"Unexpected role 'assistant' after role 'user'"}}`:                                                                                       false,
		`{"error":{"message":"content of role assistant is not valid"}}`:                                                                                              false,
		`{"detail":[{"type":"literal_error","loc":["body","input",0,"role"],"msg":"Input should be 'user' or 'system'","input":"developer"}]}`:                        false,
		`{"detail":[{"type":"literal_error","loc":["body","input",1,"role"],"msg":"Input should be 'user' or 'assistant'","input":"developer"}]}`:                     false,
	} {
		c := NewBook(Config{}).Call(at, "")
		c.Refused(t.Context(), refusal(400, body), Sent{Roles: []string{"user", "assistant", "user"}, Stream: true})
		p := c.changed.pending
		if got := len(p) == 1 && p[0].Kind == Roles && p[0].Use == UserOnly; got != want {
			t.Errorf("%s: learned %+v", body, p)
		}
	}
}
