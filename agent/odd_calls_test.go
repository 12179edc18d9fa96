package agent

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"testing"

	"parley/sessions"
	"parley/tools"
)

// oddTools are a run with tools of its own, and some of MCP servers.
func oddTools() *turnRun {
	r := &turnRun{offered: offered{tools: map[string]tools.Tool{}}, callIDs: map[string]bool{}}
	for _, tool := range []tools.Tool{
		&fakeTool{name: "look", schema: `{"type":"object","properties":{"q":{"type":"integer"},"r":{"type":"string"}}}`},
		&fakeTool{name: "session_status"}, &fakeTool{name: "agents_list"},
		&serverTool{fakeTool{name: "memory_recall"}, "memory"}, &serverTool{fakeTool{name: "hub_list_issues"}, "hub"},
		&serverTool{fakeTool{name: "lab_list_issues"}, "lab"},
	} {
		r.tools[tool.Spec().Name] = tool
		r.specs = append(r.specs, tool.Spec())
	}
	return r
}

// serverTool is a tool of an MCP server.
type serverTool struct {
	fakeTool
	server string
}

func (s *serverTool) Spec() tools.Spec {
	out := s.fakeTool.Spec()
	out.Server = s.server
	return out
}

// TestOddCalls: names and arguments in the forms in which models write them are those that are meant.
//
// source: NousResearch/hermes-agent#61336, OpenHands/software-agent-sdk#2488, github.com/josdejong/jsonrepair (comments, quotes, brackets),
// js.langchain.com (parseJsonMarkdown: sentences around JSON)
func TestOddCalls(t *testing.T) {
	t.Parallel()
	r := oddTools()
	for _, c := range [][4]string{
		{"mcp__parley__session_status", `{}`, "session_status", `{}`},
		{"mcp_parley_session_status", `{}`, "session_status", `{}`},
		{"parley.session_status", `{}`, "session_status", `{}`},
		{"default_api.session_status", `{}`, "session_status", `{}`},
		{"default_api:session_status", `{}`, "session_status", `{}`},
		{"session_status_tool", `{}`, "session_status", `{}`},
		{"SessionStatusTool", `{}`, "session_status", `{}`},
		{"functions.session_status_tool:3", `{}`, "session_status", `{}`},
		{"mcp__memory__recall", `{}`, "memory_recall", `{}`},
		{"recall", `{}`, "memory_recall", `{}`},
		{"memory.recall", `{}`, "memory_recall", `{}`},
		{"list_issues", `{}`, "list_issues", `{}`}, // of two servers
		{"list", `{}`, "list", `{}`},

		{"look", `None`, "look", `{}`},
		{"look", `undefined`, "look", `{}`},
		{"look", "\ufeff{\"q\":5}", "look", `{"q":5}`},
		{"look", "{\"q\":5}\x00\x00\x00", "look", `{"q":5}`},
		{"look", "// five of them\n{\"q\":5}", "look", `{"q":5}`},
		{"look", "/* five */ {\"q\":5, // not six\n \"r\":\"http://x # y\" /* a place */}", "look", `{"q":5,"r":"http://x # y"}`},
		{"look", "{\"q\":5, # five\n \"r\":\"a\"}", "look", `{"q":5,"r":"a"}`},
		{"look", `Here are the arguments: {"q":5}`, "look", `{"q":5}`},
		{"look", `Sure! {"q":5} I look now.`, "look", `{"q":5}`},
		{"look", "Sure:\n```json\n{\"q\":5}\n```\nDone.", "look", `{"q":5}`},
		{"look", `look({"q":5})`, "look", `{"q":5}`},
		{"look", `look(q=5, r='a')`, "look", `{"q":5,"r":"a"}`},
		{"look", `q=5, r="a"`, "look", `{"q":5,"r":"a"}`},
		{"look", `"q":5,"r":"a"}`, "look", `{"q":5,"r":"a"}`},
		{"look", `q: 5`, "look", `{"q":5}`},
		{"look", `<parameter=q>5</parameter>`, "look", `{"q":5}`},
		{"look", `["{\"q\":5}"]`, "look", `{"q":5}`},
		{"look", `[[{"q":5}]]`, "look", `{"q":5}`},
		{"look", `{"q": \n5\n\n}`, "look", `{"q":5}`},
		{"look", `{\"q\":5,\"r\":\"a\"}`, "look", `{"q":5,"r":"a"}`},
		{"look", `{&quot;q&quot;:5}`, "look", `{"q":5}`},
		{"look", "{\"r\":`a b`}", "look", `{"r":"a b"}`},
		{"look", `{"r":"""a "b" c"""}`, "look", `{"r":"a \"b\" c"}`},
		{"look", `{"q":+5}`, "look", `{"q":5}`},
		{"look", `{"q":.5}`, "look", `{"q":0.5}`},
		{"look", `{"q":NaN,"r":undefined}`, "look", `{"q":null,"r":null}`},
		{"look", "{\"q\":5\n \"r\":\"a\"}", "look", `{"q":5,"r":"a"}`},
		{"look", `{"look":{"q":5}}`, "look", `{"q":5}`},
		{"look", `{"tool":"look","tool_input":{"q":5}}`, "look", `{"q":5}`},
		{"look", `{"action":"look","action_input":"{\"q\":5}"}`, "look", `{"q":5}`},
		{"look", `{"function":{"name":"look","arguments":{"q":5}}}`, "look", `{"q":5}`},

		{"look", `I will not do it.`, "look", `"I will not do it."`},
		{"look", `{"q":5} or {"q":6}`, "look", `"{\"q\":5} or {\"q\":6}"`},
		{"look", `"r": {"q":5}}`, "look", `{"r":{"q":5}}`},
		{"look", `r {"q":5`, "look", `"r {\"q\":5"`},
		{"look", `{"r":"say "hi" now"}`, "look", `"{\"r\":\"say \"hi\" now\"}"`},
		{"look", `{"r":"the "key":"value" pair"}`, "look", `"{\"r\":\"the \"key\":\"value\" pair\"}"`},
	} {
		b := r.storable([]sessions.Block{callBlock("c", c[0], c[1])}, StopToolUse, "p/m")[0]
		if b.Name != c[2] || normal(t, b.Arguments) != normal(t, json.RawMessage(c[3])) {
			t.Errorf("%q %s became %q %s, not %q %s", c[0], c[1], b.Name, b.Arguments, c[2], c[3])
		}
	}
	for _, cut := range []string{`None`, `Sure {"q":5} and`, `q=5`} { // what was cut off may go on
		if b := r.storable([]sessions.Block{callBlock("c", "look", cut)}, StopLength, "p/m")[0]; b.Arguments[0] != '"' {
			t.Errorf("%s, cut off, became %s", cut, b.Arguments)
		}
	}
}

// TestBundledCalls: one call that stands for several becomes those, each with an id of its own. One that names a tool which is not there stays.
//
// source: community.openai.com/t/model-tries-to-call-unknown-function-multi-tool-use-parallel/490653, Azure/azure-rest-api-specs#32329
func TestBundledCalls(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		`{"tool_uses":[{"recipient_name":"functions.look","parameters":{"q":5}},{"recipient_name":"functions.session_status","parameters":{}}]}`: `look {"q":5};session_status {};`,
		`"{\"tool_uses\":[{\"recipient_name\":\"look\",\"parameters\":\"{\\\"q\\\":5}\"}]}"`:                                                     `look {"q":5};`,
		`{"tool_uses":[{"name":"look","arguments":{"q":5}},{"recipient_name":"functions.look","parameters":{"q":5}}]}`:                           `look {"q":5};look {"q":5};`,
		`{"tool_uses":[{"recipient_name":"functions.other","parameters":{}},{"recipient_name":"functions.look","parameters":{}}]}`:               `multi_tool_use.parallel {"tool_uses":[{"recipient_name":"functions.other","parameters":{}},{"recipient_name":"functions.look","parameters":{}}]};`,
		`{"tool_uses":[]}`: `multi_tool_use.parallel {"tool_uses":[]};`,
	} {
		got, ids := "", map[string]bool{}
		for _, b := range oddTools().storable([]sessions.Block{callBlock("c", "multi_tool_use.parallel", args)}, StopToolUse, "p/m") {
			got += fmt.Sprintf("%s %s;", b.Name, b.Arguments)
			if b.ID == "" || ids[b.ID] {
				t.Errorf("%s: the id %q", args, b.ID)
			}
			ids[b.ID] = true
		}
		if got != want {
			t.Errorf("%s became %s, not %s", args, got, want)
		}
	}
	own := `{"tool_uses":[{"recipient_name":"functions.look","parameters":{}}]}`
	if got := oddTools().storable([]sessions.Block{callBlock("c", "look", own)}, StopToolUse, "p/m"); len(got) != 1 || string(got[0].Arguments) != own {
		t.Errorf("the call of an offered tool became %v", got)
	}
}

// TestOddInnerCalls: what a call of call_tool calls is found and read like any other call.
func TestOddInnerCalls(t *testing.T) {
	t.Parallel()
	inner := &fakeTool{name: "hub_read", schema: `{"type":"object","properties":{"q":{"type":"integer"}},"required":["q"]}`}
	for args, want := range map[string]string{
		`{"name":"hub_read","arguments":{"q":5}}`:                   `{"q":5}`,
		`{"name":"mcp__hub_read","arguments":"{\"q\":5}"}`:          `{"q":5}`,
		`{"name":"functions.hub_read","arguments":"{'q': 5,}"}`:     `{"q":5}`,
		`{"name":"hub_read","arguments":"look at this: {\"q\":5}"}`: `{"q":5}`,
		`{"name":"hub_write","arguments":{"q":5}}`:                  "",
	} {
		inner.got = nil
		many := &manyTools{fakeTool{name: "call_tool", schema: `{"type":"object"}`}, inner}
		r := &turnRun{offered: offered{tools: map[string]tools.Tool{"call_tool": many}}, schemas: &schemaCache{}, log: slog.New(slog.DiscardHandler)}
		res, err := r.call(t.Context(), callBlock("c", "call_tool", args), StopToolUse)
		if got := inner.got; err != nil || (len(got) == 1) != (want != "") || len(got) == 1 && string(got[0].Args) != want {
			t.Errorf("%s: %v, %+v, %v", args, got, res, err)
		}
	}
}

// manyTools is a tool with another one behind it.
type manyTools struct {
	fakeTool
	inner *fakeTool
}

func (m *manyTools) Find(name string) (tools.Tool, bool) { return m.inner, name == m.inner.name }

func (m *manyTools) Inner(args json.RawMessage) (string, json.RawMessage, *tools.Result) {
	var a struct {
		Name      string
		Arguments json.RawMessage
	}
	_ = json.Unmarshal(args, &a)
	return a.Name, a.Arguments, nil
}
