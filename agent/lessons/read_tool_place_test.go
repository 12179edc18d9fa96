package lessons

import (
	"encoding/json"
	"fmt"
	"testing"

	"parley/tools"
)

// TestCountsOtherwise: a server that counts from one, without the system message, or by a list of its own, costs what it means, and never another tool
// or all of them.
// source: hackers365/xiaozhi-esp32-server-golang#268 (does not match pattern), getsentry/sentry-mcp#106 (string too long), cline/cline#7926 (function_declarations), decolua/9router#3018 (function_declarations[83])
func TestCountsOtherwise(t *testing.T) {
	t.Parallel()
	offered := []tools.Spec{{Name: "look"}, {Name: "list", Schema: json.RawMessage(`{"type":"object","properties":{"deep":{"type":"object","properties":{"when":{"type":"string"}}}}}`)}, {Name: "send.everything"}}
	chat := chatSent("reasoning_content")
	chat.Params = append(chat.Params, NewBook(Config{}).Call(at, "").ContentForms("user")...)
	for words, want := range map[string]string{
		"Invalid 'tools[%d].function.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.":                                                                                "tool send.everything",
		`{"error":{"message":"Invalid 'tools[%d].name': string too long. Expected a string with maximum length 10, but got a string with length 15 instead.","param":"tools[%d].name","code":"string_above_max_length"}}`: "tool send.everything",
		"tools.%d.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,64}$'":                                                                                                                                       "tool send.everything",
		"* GenerateContentRequest.tools[0].function_declarations[%d].parameters.properties[deep].properties[when]: wrong":                                                                                                 "tool list",
		"tools[%d].function.parameters.properties.deep.properties.when: nope":                                                                                                                                             "tool list",
		"messages[%d].content: expected a string, got a list":                                                                                                                                                             "parameter content of user a list of parts a text",
		"'system' is not one of ['user', 'assistant'] - 'messages.%d.role'":                                                                                                                                               "system",
	} {
		for _, i := range []int{0, 1, 2, 3, 83} {
			if want == "system" && i > 2 {
				continue // nothing is there
			}
			body := fmt.Sprintf(words, i)
			if words[0] == '{' {
				body = fmt.Sprintf(words, i, i)
			}
			sent := chat
			sent.Loose, sent.Reasoning, sent.Tools = false, false, []string{"look", "list", "send.everything"}
			if want == "system" { // the result of a tool may be meant as well
				sent.Roles = []string{"system", "user", "assistant"}
			}
			if got := learnedWith(t, said(body), sent, offered); got != want {
				t.Errorf("%s: learned %s, not %s", body, got, want)
			}
		}
	}
	for _, words := range []string{"tools[3]: invalid tool", "tools[3].function.description: nope"} { // counted from one
		sent := chat
		sent.Loose, sent.Tools = false, []string{"look", "list", "send.everything"}
		if got := learnedWith(t, said(words), sent, offered); got != "tool send.everything" {
			t.Errorf("%s: learned %s", words, got)
		}
	}
	sent := chat
	sent.Loose, sent.Tools = false, []string{"look", "list", "send.everything"}
	if got := learnedWith(t, said("tools[83] is not supported"), sent, offered); got != "max-tools 1" {
		t.Errorf("a place behind all: learned %s", got)
	}
}
