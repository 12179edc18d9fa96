package anthropic

import (
	"fmt"
	"testing"

	"parley/agent"
	"parley/sessions"
	"parley/tools"
)

// TestOddCalls: calls whose blocks have other types, fields and places. Uses of tools that the server runs itself are none.
//
// source: api7/aisix#170, platform.claude.com/docs/en/agents-and-tools/tool-use/server-tools, the forms of finding T2
func TestOddCalls(t *testing.T) {
	t.Parallel()
	const args = `{"a":1}`
	text := fmt.Sprintf("%q", args)
	usual := `{"type":"tool_use","id":"toolu_1","name":"look","input":` + args + `}`
	for name, c := range map[string]struct {
		block string
		want  int // calls
	}{
		"input as a text":       {`{"type":"tool_use","id":"toolu_1","name":"look","input":` + text + `}`, 1},
		"input in a list":       {`{"type":"tool_use","id":"toolu_1","name":"look","input":[` + args + `]}`, 1},
		"arguments":             {`{"type":"tool_use","id":"toolu_1","name":"look","arguments":` + text + `}`, 1},
		"of chat completions":   {`{"type":"function","id":"toolu_1","function":{"name":"look","arguments":` + text + `}}`, 1},
		"function as a text":    {`{"type":"tool_use","id":"toolu_1","function":` + fmt.Sprintf("%q", `{"name":"look","arguments":{"a":1}}`) + `}`, 1},
		"tool_call":             {`{"type":"tool_call","tool_use_id":"toolu_1","tool_name":"look","parameters":` + args + `}`, 1},
		"custom":                {`{"type":"custom_tool_use","id":"toolu_1","name":"look","input":` + text + `}`, 1},
		"no type":               {`{"id":"toolu_1","name":"look","input":` + args + `}`, 1},
		"a text":                {fmt.Sprintf("%q", usual), 1},
		"a list":                {`[` + usual + `]`, 1},
		"a tool of the host":    {`{"type":"server_tool_use","id":"toolu_1","name":"look","input":` + args + `}`, 1},
		"a tool of the server":  {`{"type":"server_tool_use","id":"srv_1","name":"web_search","input":` + args + `}`, 0},
		"its result":            {`{"type":"server_tool_use","id":"srv_1","name":"look","input":` + args + `},{"type":"web_search_tool_result","tool_use_id":"srv_1","content":[]}`, 0},
		"a server of the other": {`{"type":"mcp_tool_use","id":"mcp_1","name":"look","server_name":"x","input":` + args + `}`, 0},
	} {
		bodies := map[string]string{"in one piece": `{"type":"message","content":[` + c.block + `],"stop_reason":"tool_use"}`}
		if name != "its result" {
			bodies["events"] = sse(msgStart, start(0, c.block), `{"type":"content_block_stop","index":0}`, msgTool, msgStop)
		}
		for form, body := range bodies {
			t.Run(name+", "+form, func(t *testing.T) {
				t.Parallel()
				one(t, body, c.want)
			})
		}
	}
	call := `{"type":"tool_use","id":"toolu_1","name":"look","input":{}}`
	one(t, sse(msgStart, start(0, call), piece(0, `{"type":"input_json_delta","input":"{\"a\":"}`), piece(0, `{"type":"input_json_delta","input":"1}"}`), msgTool, msgStop), 1)
	one(t, sse(msgStart, start(0, call), piece(0, `{"type":"input_json_delta","arguments":{"a":1}}`), msgTool, msgStop), 1)
	one(t, `{"type":"message","content":[],"tool_calls":[{"id":"toolu_1","type":"function","function":{"name":"look","arguments":`+text+`}}],"stop_reason":"tool_use"}`, 1)
}

// one wants so many calls of the tool look in an answer.
func one(t *testing.T, body string, want int) {
	t.Helper()
	e := &endpoint{answer: always(reply{body: body})}
	h := listen(t, e.at(elsewhere), agent.Prompt{Tools: []tools.Spec{{Name: "look"}}})
	if h.err != nil {
		t.Fatal(h.err)
	}
	calls := (sessions.Message{Content: h.answer.Content}).ToolCalls()
	if len(calls) != want || want > 0 && (calls[0].ID != "toolu_1" || calls[0].Name != "look" || string(calls[0].Arguments) != `{"a":1}` || h.answer.Stop != agent.StopToolUse) {
		t.Errorf("calls %+v, stop %s", calls, h.answer.Stop)
	}
	if h.text != "" {
		t.Errorf("shown: %s", h.text)
	}
}
