package agent

import (
	"encoding/json"
	"testing"

	"parley/sessions"
	"parley/tools"
)

// TestLeakedCalls: a tool is found under a name that leaked with other things, and its arguments are read as every other agent reads them;
// what may mean two things stays as it is.
//
// source: MoonshotAI/Kimi-K2 (docs/tool_call_guidance.md), vllm-project/vllm#32587, js.langchain.com (parsePartialJson), ai-sdk.dev
// (repairToolCall), php.net/json_encode
func TestLeakedCalls(t *testing.T) {
	t.Parallel()
	files := &fakeTool{name: "files", schema: `{"type":"object","properties":{"action":{"type":"string"},"content":{"type":"string"},"n":{"type":"integer"}}}`}
	call := &fakeTool{name: "call_tool", schema: `{"type":"object","properties":{"name":{"type":"string"},"arguments":{"type":"object"}}}`}
	list, twin, other := &fakeTool{name: "agents_list"}, &fakeTool{name: "a_b"}, &fakeTool{name: "ab"}
	r := &turnRun{offered: offered{tools: map[string]tools.Tool{}}, callIDs: map[string]bool{}}
	for _, tool := range []*fakeTool{files, call, list, twin, other} {
		r.tools[tool.name] = tool
		r.specs = append(r.specs, tool.Spec())
	}
	same := func(name, args string) [4]string { return [4]string{name, args, name, args} }
	for _, c := range [][4]string{
		{"functions.files:0", `{"n":1}`, "files", `{"n":1}`},
		{"files:12", `{}`, "files", `{}`},
		{"files</think>", `{}`, "files", `{}`},
		{"files</arg_key>", `{}`, "files", `{}`},
		{"files\n<arg_key>action</arg_key>\n<arg_value>list</arg_value>", `{}`, "files", `{"action":"list"}`},
		{"assistant<|channel|>commentary to=functions.files", `{}`, "files", `{}`},
		{"files<｜tool▁sep｜>", `{}`, "files", `{}`},
		{`"files"`, `{}`, "files", `{}`},
		{"`files`", `{}`, "files", `{}`},
		{"files()", `{}`, "files", `{}`},
		{`files({"action":"list"})`, ``, "files", `{"action":"list"}`},
		{"Files", `{}`, "files", `{}`},
		{"agents-list", `{}`, "agents_list", `{}`},
		{"AgentsList", `{}`, "agents_list", `{}`},
		{"mcp__agents_list", `{}`, "agents_list", `{}`},
		same("A-B", `{}`), // of two tools
		same("file", `{}`),
		same("list", `{}`),

		{"files", `{"action":"list"}}`, "files", `{"action":"list"}`},
		{"files", `{"action":"list"}</tool_call>`, "files", `{"action":"list"}`},
		{"files", `{"action":"list"}<|im_end|>`, "files", `{"action":"list"}`},
		{"files", "```json\n{\"action\":\"list\"}\n```", "files", `{"action":"list"}`},
		{"files", `{"action":"list",}`, "files", `{"action":"list"}`},
		{"files", `{'action': 'list'}`, "files", `{"action":"list"}`},
		{"files", `{action: "list"}`, "files", `{"action":"list"}`},
		{"files", `{“action”：“list”，“n”：1}`, "files", `{"action":"list","n":1}`},
		{"files", `{"action":"list","ok":True,"no":None}`, "files", `{"action":"list","ok":true,"no":null}`},
		{"files", `{"action":"list"`, "files", `{"action":"list"}`},
		{"files", `{"a":[{"b":"c"`, "files", `{"a":[{"b":"c"}]}`},
		{"files", "{\"content\":\"one\ntwo\t\\u00e9\\ud83d\\ude00\"}", "files", "{\"content\":\"one\\ntwo\\té😀\"}"},
		{"files", `{"content":"a\d"}`, "files", `{"content":"a\\d"}`},
		{"files", `[{"action":"list"}]`, "files", `{"action":"list"}`},
		{"files", `[]`, "files", `{}`},
		{"files", `"[]"`, "files", `{}`},
		{"files", `"{\"action\":\"list\"}"`, "files", `{"action":"list"}`},
		{"files", `"{'action':'list'}"`, "files", `{"action":"list"}`},
		{"files", `{"arguments":{"action":"list"}}`, "files", `{"action":"list"}`},
		{"files", `{"arguments":"{\"action\":\"list\"}"}`, "files", `{"action":"list"}`},
		{"files", `{"parameters":{"action":"list"}}`, "files", `{"action":"list"}`},
		{"files", `{"name":"files","arguments":{"action":"list"}}`, "files", `{"action":"list"}`},
		same("files", `{"name":"other","arguments":{"action":"list"}}`),
		same("files", `{"arguments":{"action":"list"},"action":"read"}`),
		same("call_tool", `{"name":"call_tool","arguments":{"action":"list"}}`),
		same("files", `[{"n":1},{"n":2}]`),
		{"files", `{"action":"li`, "files", `"{\"action\":\"li"`}, // cut off
		{"files", `{"n":5`, "files", `"{\"n\":5"`},
		{"files", `{"n":"5",`, "files", `"{\"n\":\"5\","`},
		{"files", `{`, "files", `"{"`},
		{"files", `{"content":"say "hi" now"}`, "files", `"{\"content\":\"say \"hi\" now\"}"`},
	} {
		b := r.storable([]sessions.Block{callBlock("c", c[0], c[1])}, StopToolUse, "p/m")[0]
		if b.Name != c[2] || normal(t, b.Arguments) != normal(t, json.RawMessage(c[3])) {
			t.Errorf("%q %s became %q %s, not %q %s", c[0], c[1], b.Name, b.Arguments, c[2], c[3])
		}
	}
	cut := r.storable([]sessions.Block{callBlock("c", "files", `{"action":"list"`)}, StopLength, "p/m")[0]
	if string(cut.Arguments) != `"{\"action\":\"list\""` {
		t.Errorf("arguments that were cut off became %s", cut.Arguments)
	}
	// source: openclaw/openclaw#35173
	for model, want := range map[string]string{"xai/grok-4": `{"content":"a && b \"c\""}`, "p/m": `{"content":"a &amp;&amp; b &quot;c&quot;"}`} {
		b := r.storable([]sessions.Block{callBlock("c", "files", `{"content":"a &amp;&amp; b &quot;c&quot;"}`)}, StopToolUse, model)[0]
		if normal(t, b.Arguments) != normal(t, json.RawMessage(want)) {
			t.Errorf("%s: %s", model, b.Arguments)
		}
	}
	page := `{"content":"<p>R&amp;D</p>"}`
	if b := r.storable([]sessions.Block{callBlock("c", "files", page)}, StopToolUse, "xai/grok-4")[0]; normal(t, b.Arguments) != normal(t, json.RawMessage(page)) {
		t.Errorf("a page became %s", b.Arguments)
	}
}

// normal gives JSON in one form.
func normal(t *testing.T, raw json.RawMessage) string {
	t.Helper()
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Errorf("%s: %v", raw, err)
	}
	out, err := json.Marshal(v)
	if err != nil {
		t.Error(err)
	}
	return string(out)
}
