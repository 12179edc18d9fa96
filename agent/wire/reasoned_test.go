package wire

import (
	"encoding/json"
	"testing"

	"parley/agent"
	"parley/sessions"
)

// TestAnswerInReasoning: what stands behind the end of the thoughts is the answer where there is nothing else.
// source: xorbitsai/inference#3673, ollama/ollama#10976
func TestAnswerInReasoning(t *testing.T) {
	t.Parallel()
	none := func(string) (json.RawMessage, bool) { return nil, false }
	for _, c := range []struct{ thought, text, wantThought, want string }{
		{"hm\n</think>\n\nThe answer", "", "hm", "The answer"},
		{"hm</think>The answer", "Other", "hm</think>The answer", "Other"},
		{"hm</think> ", "", "hm</think> ", ""},
		{"The tag </think> ends it, as </think> does", "", "The tag </think> ends it, as </think> does", ""},
		{"hm", "", "hm", ""},
	} {
		a := &agent.Answer{Stop: agent.StopEnd, Content: []sessions.Block{{Type: sessions.ThinkingBlock, Text: c.thought}, {Type: sessions.TextBlock, Text: c.text}}}
		CallsInReasoning(a, none)
		if got := (sessions.Message{Content: a.Content}).Text(); got != c.want || a.Content[0].Text != c.wantThought {
			t.Errorf("%q: text %q, thought %q", c.thought, got, a.Content[0].Text)
		}
	}
}

// TestCallsInReasoning: a call in the reasoning counts where the answer has nothing else. One in code, of a tool that is not offered, or beside a
// text stays reasoning.
// source: vllm-project/vllm#39056, vybestack/llxprt-code#749, leehack/llamadart#402
func TestCallsInReasoning(t *testing.T) {
	t.Parallel()
	offered := func(name string) (json.RawMessage, bool) {
		return json.RawMessage(`{"type":"object","properties":{"limit":{"type":"integer"}}}`), name == "list"
	}
	for _, c := range []struct {
		thought, text, stop string
		calls               int
	}{
		{"I look.\n<tool_call>\n{\"name\": \"list\", \"arguments\": {\"limit\":5}}\n</tool_call>", "", agent.StopEnd, 1},
		{"I look. <tool_call>\n{\"name\": \"list\", \"arguments\": {\"limit\":5}}\n</tool_call>", "", agent.StopEnd, 1},
		{"Look. <|tool_calls_section_begin|> <|tool_call_begin|> functions.list:0 <|tool_call_argument_begin|> {\"limit\":5} <|tool_call_end|> <|tool_calls_section_end|>", " ", agent.StopEnd, 1},
		{"<｜DSML｜function_calls>\n<｜DSML｜invoke name=\"list\">\n<｜DSML｜parameter name=\"limit\" string=\"false\">5</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>", "", agent.StopEnd, 1},
		{"<tool_call>list\n<arg_key>limit</arg_key>\n<arg_value>5</arg_value>\n</tool_call>", "", agent.StopEnd, 1}, // GLM
		{"<tool_call>\n{\"name\": \"list\", \"arguments\": {\"limit\":5}}\n</tool_call>", "Here it is.", agent.StopEnd, 0},
		{"<tool_call>\n{\"name\": \"other\", \"arguments\": {}}\n</tool_call>", "", agent.StopEnd, 0},
		{"I could write `<tool_call>{\"name\": \"list\", \"arguments\": {}}</tool_call>`.", "", agent.StopEnd, 0},
		{"<tool_call>\n{\"name\": \"list\", \"arguments\": {\"limit\":5}}\n</tool_call>", "", agent.StopLength, 0},
	} {
		a := &agent.Answer{Stop: c.stop, Content: []sessions.Block{{Type: sessions.ThinkingBlock, Text: c.thought}, {Type: sessions.TextBlock, Text: c.text}}}
		CallsInReasoning(a, offered)
		calls := (sessions.Message{Content: a.Content}).ToolCalls()
		if len(calls) != c.calls || c.calls > 0 && (a.Stop != agent.StopToolUse || calls[0].ID == "" || string(calls[0].Arguments) != `{"limit":5}`) || a.Content[0].Text != c.thought {
			t.Errorf("%q: %s, calls %+v", c.thought, a.Stop, calls)
		}
	}
}
