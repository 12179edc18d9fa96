package responses

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"parley/agent"
	"parley/sessions"
)

// TestOddCalls: calls whose items have other types, fields and places, in events and in an answer in one piece. Items of tools that the server
// runs itself are none.
//
// source: platform.openai.com/docs/guides/function-calling (custom tools), BerriAI/litellm#20041, the forms of finding T2
func TestOddCalls(t *testing.T) {
	t.Parallel()
	const args = `{"at":"Berlin"}`
	quoted := func(s string) string { return fmt.Sprintf("%q", s) }
	usual := `{"type":"function_call","id":"fc_1","call_id":"call_1","name":"weather","arguments":` + quoted(args) + `}`
	one := blocks(callBlock("call_1", "weather", args))
	for name, c := range map[string]struct {
		item string
		want []sessions.Block
	}{
		"custom":                  {`{"type":"custom_tool_call","id":"ctc_1","call_id":"call_1","name":"weather","input":` + quoted(args) + `}`, one},
		"of chat completions":     {`{"type":"function","id":"call_1","function":{"name":"weather","arguments":` + quoted(args) + `}}`, one},
		"function as a text":      {`{"type":"function_call","call_id":"call_1","function":` + quoted(`{"name":"weather","arguments":{"at":"Berlin"}}`) + `}`, one},
		"function in a list":      {`{"type":"function_call","call_id":"call_1","function":[{"name":"weather","arguments":{"at":"Berlin"}}]}`, one},
		"of Anthropic":            {`{"type":"tool_use","id":"call_1","name":"weather","input":` + args + `}`, one},
		"tool_call":               {`{"type":"tool_call","call_id":"call_1","tool_name":"weather","parameters":` + args + `}`, one},
		"another type":            {`{"type":"tool_invocation","call_id":"call_1","name":"weather","arguments":` + quoted(args) + `}`, one},
		"no type":                 {`{"call_id":"call_1","name":"weather","arguments":` + quoted(args) + `}`, one},
		"a text":                  {quoted(usual), one},
		"a list":                  {`[` + usual + `]`, one},
		"in a message":            {`{"type":"message","role":"assistant","content":[],"tool_calls":[{"id":"call_1","type":"function","function":{"name":"weather","arguments":` + quoted(args) + `}}]}`, one},
		"arguments in a list":     {`{"type":"function_call","call_id":"call_1","name":"weather","arguments":[` + args + `]}`, one},
		"of a tool of the server": {`{"type":"mcp_call","id":"mcp_1","name":"weather","server_label":"x","arguments":"{}","output":"rain"}`, blocks()},
		"a result":                {`{"type":"custom_tool_call_output","call_id":"call_1","output":"rain"}`, blocks()},
		"of a search":             {`{"type":"web_search_call","id":"ws_1","status":"completed","action":{"type":"search","query":"x"}}`, blocks()},
	} {
		for form, body := range map[string]string{
			"events":       events(`{"type":"response.output_item.added","output_index":0,"item":`+c.item+`}`, `{"type":"response.output_item.done","output_index":0,"item":`+c.item+`}`, completed()),
			"done":         events(`{"type":"response.output_item.done","item":`+c.item+`}`, completed(c.item)),
			"in one piece": `{"object":"response","status":"completed","output":[` + c.item + `]}`,
			"nested":       `{"object":"response","status":"completed","output":[[` + c.item + `]]}`,
		} {
			t.Run(name+", "+form, func(t *testing.T) {
				t.Parallel()
				m, _ := against(t, Config{}, reply{body: body})
				g := ask(t, m, agent.Prompt{})
				if g.err != nil {
					t.Fatal(g.err)
				}
				if diff := cmp.Diff(c.want, blocks(g.answer.Content...), cmpopts.IgnoreFields(sessions.Block{}, "Opaque")); diff != "" {
					t.Error(diff)
				}
				for _, b := range g.answer.Content {
					if b.Opaque != nil && strings.Contains(string(b.Opaque.Data), "Berlin") {
						t.Errorf("sent back beside the arguments: %s", b.Opaque.Data)
					}
				}
			})
		}
	}
	pieces := events(`{"type":"response.output_item.added","output_index":0,"item":{"type":"custom_tool_call","id":"ctc_1","call_id":"call_1","name":"weather","input":""}}`,
		`{"type":"response.custom_tool_call_input.delta","item_id":"ctc_1","output_index":0,"delta":"{\"at\":"}`, `{"type":"response.custom_tool_call_input.delta","item_id":"ctc_1","output_index":0,"delta":"\"Ber"}`,
		`{"type":"response.custom_tool_call_input.done","item_id":"ctc_1","output_index":0,"input":"{\"at\":\"Berlin\"}"}`, completed())
	m, _ := against(t, Config{}, reply{body: pieces})
	if g := ask(t, m, agent.Prompt{}); g.err != nil || len(g.answer.Content) != 1 || string(g.answer.Content[0].Arguments) != args || g.answer.Stop != agent.StopToolUse {
		t.Errorf("pieces: %+v, %v", g.answer, g.err)
	}
}
