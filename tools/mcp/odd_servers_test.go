package mcp

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/tools"
)

// Answers that are not quite JSON-RPC, or not quite JSON, end the call at once with what they say.
//
// source: jsonrpc.org/specification#response_object, docs.python.org/3/library/json.html (allow_nan is the default)
func TestOddAnswers(t *testing.T) {
	t.Parallel()
	const result = `"result":{"content":[{"type":"text","text":"done"}]}`
	for answer, want := range map[string]string{
		`{"id":ID,` + result + `}`:                                                                                    "done",
		`{"jsonrpc":2.0,"id":ID,` + result + `}`:                                                                      "done",
		`{"jsonrpc":"1.0","id":ID,` + result + `}`:                                                                    "done",
		`{"jsonrpc":"2.0","id":ID,` + result + `,"error":null}`:                                                       "done",
		`{"jsonrpc":"2.0","id":ID,` + result + `,"error":{}}`:                                                         "done",
		`{"jsonrpc":"2.0","id":ID,"method":"tools/call",` + result + `}`:                                              "done",
		`{"jsonrpc":"2.0","id":ID,"method":"notifications/progress","params":{}}` + "\n" + `{"id":ID,` + result + `}`: "done",
		`{"jsonrpc":"2.0","id":ID,"error":{"message":"boom"}}`:                                                        "refused the call: boom",
		`{"jsonrpc":"2.0","id":ID}`:                                                                                   "(the tool gave no text)",
		`{"jsonrpc":"2.0","id":ID,"result":null}`:                                                                     "(the tool gave no text)",
		`{"jsonrpc":"2.0","id":ID,"error":null}`:                                                                      "(the tool gave no text)",
		`{"jsonrpc":"2.0","id":ID,"result":{"content":[],"structuredContent":{"x":NaN,"y":-Infinity,"z":1}}}`:         `{"x":null,"y":null,"z":1}`,
		"{\"jsonrpc\":\"2.0\",\"id\":ID,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"a\tb\"}]}}":            "a\tb",
	} {
		good := listing(plainTool)
		in(t, func(p *peer, id json.RawMessage, method string, params json.RawMessage) (string, bool) {
			if method != "tools/call" {
				return good(p, id, method, params)
			}
			p.write(strings.ReplaceAll(answer, "ID", string(id)))
			return "", false
		}, func(t *testing.T, r *rig) {
			r.running()
			began := time.Now()
			got := r.call("x_t", `{}`)
			if took := time.Since(began); !strings.Contains(got.Text, want) || took > time.Second || r.Status()[0].Restarts != 0 {
				t.Errorf("%s after %v: %+v", answer, took, got)
			}
		})
	}
	for _, line := range []string{`{"level":"error","id":1,"error":"x"}`, `{"id":1}`, `{"msg":"x"}`} { // of a log
		if got := string(usual([]byte(line))); got != line {
			t.Errorf("%s became %s", line, got)
		}
	}
}

// Lists of tools whose pages go round in a circle, do not end, or stop in the middle are used as far as they go; names, schemas and cursors in
// other forms are read.
//
// source: modelcontextprotocol.io/specification/2025-11-25/server/utilities/pagination (cursors are opaque texts, an invalid one is an error)
func TestOddLists(t *testing.T) {
	t.Parallel()
	tool := func(n int) string { return fmt.Sprintf(`{"name":"t%d","inputSchema":{"type":"object"}}`, n) }
	for name, c := range map[string]struct {
		page  func(n int) string // "" = an error
		tools int
		asked int
		log   string
	}{
		"a circle":    {func(int) string { return `{"tools":[` + tool(1) + `],"nextCursor":"a"}` }, 1, 2, "tool list is too long"},
		"ever new":    {func(n int) string { return fmt.Sprintf(`{"tools":[%s],"nextCursor":"%d"}`, tool(1), n) }, 1, 4, "tool list is too long"},
		"empty pages": {func(n int) string { return fmt.Sprintf(`{"tools":[],"nextCursor":"%d"}`, n) }, 0, 3, "tool list is too long"},
		"many pages": {func(n int) string {
			return fmt.Sprintf(`{"tools":[%s],"nextCursor":"%s"}`, tool(n), strings.Repeat("x", n%50))
		}, 50, 50, ""},
		"no end":   {func(n int) string { return fmt.Sprintf(`{"tools":[%s],"nextCursor":"%d"}`, tool(n), n) }, mostPages, mostPages, "tool list is too long"},
		"an error": {func(n int) string { return map[int]string{1: `{"tools":[` + tool(1) + `],"nextCursor":"a"}`}[n] }, 1, 2, "cannot read all tools"},
		"cursor: 5": {func(n int) string {
			return map[int]string{1: `{"tools":[` + tool(1) + `],"nextCursor":5}`, 2: `{"tools":[` + tool(2) + `],"nextCursor":null}`}[n]
		}, 2, 2, ""},
		"next_cursor": {func(n int) string {
			return map[int]string{1: `{"tools":[` + tool(1) + `],"next_cursor":"a"}`, 2: `{"tools":[` + tool(2) + `],"next_cursor":""}`}[n]
		}, 2, 2, ""},
		"no such thing": {func(int) string { return "" }, 0, 1, ""},
		"twice":         {func(int) string { return `{"tools":[` + tool(1) + `,` + tool(1) + `]}` }, 1, 1, ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			asked := 0
			r := newRig(t, one(tools.MCPServer{Command: "x", Enabled: true, TimeoutSeconds: 60}), inMemory(func(p *peer, id json.RawMessage, m string, a json.RawMessage) (string, bool) {
				if m != "tools/list" {
					return listing(plainTool)(p, id, m, a)
				}
				asked++
				page := c.page(asked)
				if page == "" {
					p.write(`{"jsonrpc":"2.0","id":` + string(id) + `,"error":{"code":-32601,"message":"Method not found"}}`)
				}
				return page, page != ""
			}))
			defer r.stop()
			got := r.names(false)
			s := r.Status()[0]
			if len(got) != c.tools || asked != c.asked || s.State != Running || len(s.LeftOut) > 0 || !strings.Contains(r.log.String(), c.log) || c.log == "" && strings.Contains(r.log.String(), "WARN") {
				t.Errorf("%s: %d tools, asked %d times, %v\n%s", name, len(got), asked, s, r.log)
			}
		})
	}
	const schema = `{"type":"object","properties":{"x":{"type":"string"}}}`
	for list, want := range map[string]string{
		`{"a":{"description":"d","inputSchema":` + schema + `}}`:                                    "x_a",
		`[{"name":"a","input_schema":` + schema + `}]`:                                              "x_a",
		`[{"name":"a","parameters":` + schema + `}]`:                                                "x_a",
		`[{"name":"a","inputSchema":` + fmt.Sprintf("%q", schema) + `}]`:                            "x_a",
		`[{"type":"function","function":{"name":"a","parameters":` + schema + `}}]`:                 "x_a",
		`[{"name":"名前","inputSchema":` + schema + `},{"name":"日本","inputSchema":` + schema + `}]`:   "x____a9f6efbf x____aa7adc0e",
		`[{"name":"a.b","inputSchema":` + schema + `},{"name":"a_b","inputSchema":` + schema + `}]`: "x_a_b x_a_b_e6f97298",
	} {
		specs, log := listed(t, list)
		if got := named(specs); got != want || !strings.Contains(string(specs[0].Schema), `"x"`) {
			t.Errorf("%s: %s\n%s", list, got, log)
		}
	}
}

// Tools of one server whose names are told apart by a hash are called by their own names.
func TestNamesToldApart(t *testing.T) {
	t.Parallel()
	in(t, func(p *peer, id json.RawMessage, m string, params json.RawMessage) (string, bool) {
		if m == "tools/call" {
			var call struct{ Name string }
			_ = json.Unmarshal(params, &call)
			return `{"content":[{"type":"text","text":"this is ` + call.Name + `"}]}`, true
		}
		return listing(`[{"name":"a b","inputSchema":{"type":"object"}},{"name":"a.b","inputSchema":{"type":"object"}}]`)(p, id, m, params)
	}, func(t *testing.T, r *rig) {
		for i, name := range r.names(false) {
			if got, want := r.call(name, "{}").Text, "this is "+[]string{"a b", "a.b"}[i]; got != want {
				t.Errorf("%s: %s", name, got)
			}
		}
	})
}

// Blocks of results in the forms of other APIs, and results of which nothing is in its place, are shown as well as they can be.
//
// source: platform.claude.com/docs (image source), platform.openai.com/docs (image_url), aws/aws-sdk (json blocks of Bedrock's tool results)
func TestOddBlocks(t *testing.T) {
	t.Parallel()
	for result, want := range map[string]string{
		`{"content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGVsbG8="}}]}`: "[image image/png, 5 bytes: attachment ID]",
		`{"content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,aGVsbG8="}}]}`:              "[image image/png, 5 bytes: attachment ID]",
		`{"content":[{"type":"image","mime_type":"image/png","data":"aGVsbG8="}]}`:                             "[image image/png, 5 bytes: attachment ID]",
		`{"content":[{"type":"video","mimeType":"video/mp4","data":"aGVsbG8="}]}`:                              "[resource , video/mp4, 5 bytes: attachment ID]",
		`{"content":[{"type":"image_url","image_url":{"url":"https://example.com/a.png"}}]}`:                   "[image_url: not shown]",
		`{"content":[{"type":"resource","resource":{"uri":"x://y","blob":"%%"}}]}`:                             "[resource x://y: its data cannot be read]",
		`{"content":[{"type":"json","json":{"a":1}}]}`:                                                         `{"a":1}`,
		`{"content":[{"type":"text","content":"a"}]}`:                                                          "a",
		`{"content":[{"a":1},{"b":2}]}`:                                                                        "{\"a\":1}\n{\"b\":2}",
		`{"content":{"a":1}}`:                                                                                  `{"a":1}`,
		`{"messages":["m"]}`:                                                                                   `{"messages":["m"]}`,
		`{"tools":["hammer"]}`:                                                                                 `{"tools":["hammer"]}`,
		`{"protocolVersion":"3","data":"x"}`:                                                                   `{"data":"x","protocolVersion":"3"}`,
		`{"task":{"taskId":"1","status":"working"}}`:                                                           `{"task":{"status":"working","taskId":"1"}}`,
		`{"content":[{"type":"text","text":"a"}],"isError":"yes"}`:                                             "failed a",
		`{"content":[{"type":"text","text":"a"}],"isError":1.0}`:                                               "failed a",
		`{"content":[{"type":"text","text":"a"}],"isError":"no"}`:                                              "a",
		`{"content":[{"type":"text","text":"a"}],"isError":0}`:                                                 "a",
	} {
		in(t, func(p *peer, id json.RawMessage, m string, params json.RawMessage) (string, bool) {
			if m == "tools/call" {
				return result, true
			}
			return listing(plainTool)(p, id, m, params)
		}, func(t *testing.T, r *rig) {
			got := r.call("x_t", "{}")
			for _, b := range got.Blocks {
				got.Text = strings.ReplaceAll(got.Text, b.ID, "ID")
			}
			if got.IsError {
				got.Text = "failed " + got.Text
			}
			if got.Text != want {
				t.Errorf("%s: %s", result, got.Text)
			}
		})
	}
}
