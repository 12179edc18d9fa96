package agent

import (
	"encoding/json"
	"strings"
	"testing"

	"parley/sessions"
	"parley/tools"
)

// Every refusal of a call has one shape, and says what is allowed instead.
// proves: G2, N8
func TestLoopRefusals(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		call         sessions.Block
		status, says string
	}{
		"no such tool":                 {callBlock("a", "cuont", `{}`), "error", "count"},
		"a tool that it may not use":   {callBlock("a", "sessions_spawn", `{"task":"x"}`), "forbidden", "count"},
		"no JSON":                      {callBlock("a", "count", `{"n":`), "error", "valid JSON"},
		"a value that does not fit":    {callBlock("a", "count", `{"n":"many"}`), "error", "schema"},
		"a name that is nearly right":  {callBlock("a", "count", `{"nn":1,"n":2}`), "", ""},
		"an argument that is not ours": {callBlock("a", "count", `{"n":2,"something":1}`), "", ""},
	} {
		tool := &fakeTool{name: "count"}
		m := &script{answers: []any{calls(c.call), say("ok")}}
		var got sessions.Message
		_, err := new(Loop).Run(t.Context(), Turn{Model: m, History: []sessions.Message{user("go")}, Tools: []tools.Tool{tool}, Record: func(ms ...sessions.Message) error {
			for _, x := range ms {
				if x.Role == sessions.ToolResult {
					got = x
				}
			}
			return nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		var r struct{ Status, Error string }
		if c.status != "" && (json.Unmarshal([]byte(got.Text()), &r) != nil || !got.IsError || r.Status != c.status || !strings.Contains(r.Error, c.says)) {
			t.Errorf("%s: %s", name, got.Text())
		}
	}
}

// What models write for arguments that they do not mean to give reaches no tool, and a number as text is a number.
// source: openclaw/openclaw#64699
// proves: G1
func TestLoopFitsArguments(t *testing.T) {
	t.Parallel()
	tool := &fakeTool{name: "count"}
	m := &script{answers: []any{calls(callBlock("a", "count", `{"n":"7"}`)), say("ok")}}
	if _, err := new(Loop).Run(t.Context(), Turn{Model: m, History: []sessions.Message{user("go")}, Tools: []tools.Tool{tool}}); err != nil {
		t.Fatal(err)
	}
	if len(tool.got) != 1 || string(tool.got[0].Args) != `{"n":7}` {
		t.Errorf("calls %+v", tool.got)
	}
}
