package openai

import (
	"fmt"
	"net/http"
	"testing"

	"parley/agent"
	"parley/sessions"
)

// TestOddCalls: calls whose entries, functions, names and places have other forms, in pieces and in an answer in one piece.
//
// source: openai/openai-node#2023 (custom calls), api7/aisix#170, ai.google.dev/api/caching#FunctionCall, sdk.vercel.ai (tool-call parts),
// docs.aws.amazon.com/bedrock (toolUse blocks), the forms of finding T2
func TestOddCalls(t *testing.T) {
	t.Parallel()
	const args = `{"q":5}`
	quoted := func(s string) string { return fmt.Sprintf("%q", s) }
	usual := `{"id":"a","type":"function","function":{"name":"look","arguments":` + quoted(args) + `}}`
	calls := func(entries string) string { return `"tool_calls":[` + entries + `]` }
	for name, fields := range map[string]string{
		"an entry as a text":      calls(quoted(usual)),
		"all as a text":           `"tool_calls":` + quoted("["+usual+"]"),
		"a list in a list":        calls("[" + usual + "]"),
		"a list in lists":         calls("[[" + usual + "]]"),
		"under a name":            `"tool_calls":{"first":` + usual + `}`,
		"function as a text":      calls(`{"index":0,"id":"a","function":` + quoted(`{"name":"look","arguments":{"q":5}}`) + `}`),
		"function in a list":      calls(`{"index":0,"id":"a","function":[{"name":"look","arguments":` + quoted(args) + `}]}`),
		"custom":                  calls(`{"index":0,"id":"a","type":"custom","custom":{"name":"look","input":` + quoted(args) + `}}`),
		"tool_name":               calls(`{"index":0,"id":"a","function":{"tool_name":"look","arguments":` + quoted(args) + `}}`),
		"a name beside it":        calls(`{"index":0,"id":"a","toolName":"look","function":{"arguments":` + quoted(args) + `}}`),
		"a name in a list":        calls(`{"index":0,"id":"a","function":{"name":["look"],"arguments":` + quoted(args) + `}}`),
		"a name in an object":     calls(`{"index":0,"id":"a","function":{"name":{"value":"look"},"arguments":` + quoted(args) + `}}`),
		"an id in a list":         calls(`{"index":0,"id":["a"],"function":{"name":"look","arguments":` + quoted(args) + `}}`),
		"toolCalls":               `"toolCalls":[` + usual + `]`,
		"tool_call":               `"tool_call":` + usual,
		"function_calls":          `"function_calls":[{"id":"a","name":"look","arguments":` + quoted(args) + `}]`,
		"functionCall":            `"functionCall":{"id":"a","name":"look","args":` + args + `}`,
		"a part of content":       `"content":[{"type":"tool-call","toolCallId":"a","toolName":"look","input":` + args + `}]`,
		"a part as Bedrock's":     `"content":[{"toolUse":{"toolUseId":"a","name":"look","input":` + args + `}}]`,
		"a part as its own calls": `"content":[` + usual + `]`,
		"as before there were":    `"function_call":` + quoted(`{"id":"a","name":"look","arguments":{"q":5}}`),
	} {
		for form, body := range map[string]string{
			"events":       events(`{"choices":[{"index":0,"delta":{`+fields+`}}]}`, stopped("tool_calls")),
			"in one piece": `{"choices":[{"index":0,"message":{"role":"assistant",` + fields + `},"finish_reason":"tool_calls"}]}`,
		} {
			t.Run(name+", "+form, func(t *testing.T) {
				t.Parallel()
				oneCall(t, body, name != "as before there were")
			})
		}
	}
	oneCall(t, events(`{"choices":[{"index":0,"delta":{},"tool_calls":[`+usual+`]}]}`, stopped("tool_calls")), true)
	oneCall(t, events(`{"choices":[{"index":0,"delta":{}}],"tool_calls":[`+usual+`]}`, stopped("tool_calls")), true)
	for _, form := range []string{`"tool_calls":[{"index":0,"id":"a","custom":{"name":"look","input":%s}}]`, `"toolCalls":[{"index":0,"id":"a","function":{"name":"look","arguments":%s}}]`} {
		piece := func(args string) string {
			return `{"choices":[{"index":0,"delta":{` + fmt.Sprintf(form, quoted(args)) + `}}]}`
		}
		oneCall(t, events(piece(""), piece(`{"q"`), piece(":5}"), stopped("tool_calls")), true)
	}
}

// oneCall wants one call in an answer, and nothing else.
func oneCall(t *testing.T, body string, hasID bool) {
	t.Helper()
	m := against(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Content-Type"] = []string{"text/event-stream"}
		_, _ = w.Write([]byte(body)) // the client says what is missing
	}, Config{})
	want := told{calls: `a look {"q":5};`, stop: agent.StopToolUse}
	if !hasID {
		want.calls = `* look {"q":5};`
	}
	for d, err := range m.Stream(t.Context(), agent.Prompt{Model: "m", Tools: specs, Tries: 1, Messages: []sessions.Message{user(textBlock("hi"))}}) {
		if err != nil {
			t.Fatal(err)
		}
		if d.Final != nil {
			if got := toldOf(d.Final); got != want {
				t.Errorf("%s: %+v", body, got)
			}
		}
	}
}
