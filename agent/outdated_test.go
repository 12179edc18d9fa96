package agent

import (
	"fmt"
	"slices"
	"testing"

	"parley/sessions"
	"parley/tools"
)

// A result that is not true any more when it is recorded is shown to nobody: the call is made again.
//
// proves: S14
func TestLoopMakesAnOutdatedCallAgain(t *testing.T) {
	t.Parallel()
	n := 0
	tool := &fakeTool{name: "count", do: func(tools.Call) (tools.Result, error) {
		n++
		return tools.Result{Text: fmt.Sprint("result ", n)}, nil
	}}
	var recorded []sessions.Message
	m := &script{answers: []any{calls(callBlock("a", "count", `{"n":1}`)), say("x")}}
	_, err := new(Loop).Run(t.Context(), Turn{Model: m, History: []sessions.Message{user("go")}, Tools: []tools.Tool{tool}, Record: func(ms ...sessions.Message) error {
		if ms[0].Role == sessions.ToolResult && n < 3 {
			return fmt.Errorf("scripted: %w", sessions.ErrOutdated)
		}
		recorded = append(recorded, ms...)
		return nil
	}})
	if err != nil || len(tool.got) != 3 || tool.got[0].ID != tool.got[2].ID {
		t.Fatalf("%v after the calls %+v", err, tool.got)
	}
	results := func(list []sessions.Message) (out []string) {
		for _, x := range list {
			if x.Role == sessions.ToolResult {
				out = append(out, x.Text())
			}
		}
		return out
	}
	if got, shown := results(recorded), results(m.prompts[1].Messages); !slices.Equal(got, []string{"result 3"}) || !slices.Equal(shown, got) {
		t.Errorf("recorded %q, shown %q", got, shown)
	}
}
