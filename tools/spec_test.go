package tools

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"

	"parley/channels"
	"parley/sessions"
)

// The texts are paid for in every prompt, and each tool has one of its own: together they are small, and so are the five that
// every system of this kind has.
func TestSpecs(t *testing.T) {
	t.Parallel()
	size, first := 0, 0
	for _, tool := range All(newWorld().deps()) {
		s := tool.Spec()
		file, err := os.ReadFile(s.Name + ".md")
		if err != nil || string(file) != s.Description || len(s.Description) < 50 {
			t.Errorf("%s: the description is not that of its file: %v", s.Name, err)
		}
		size += len(s.Description) + len(s.Schema)
		if slices.Contains([]string{"sessions_list", "sessions_history", "sessions_send", "sessions_spawn", "agents_list"}, s.Name) {
			first += len(s.Description) + len(s.Schema)
		}
		var schema jsonschema.Schema
		if err := json.Unmarshal(s.Schema, &schema); err != nil {
			t.Fatalf("%s: %v", s.Name, err)
		}
		if schema.Type != "object" || schema.AdditionalProperties == nil || schema.AdditionalProperties.Not == nil {
			t.Errorf("%s: the schema is no closed object: %s", s.Name, s.Schema)
		}
		for name, p := range schema.Properties {
			if p.Description == "" || p.Type == "" {
				t.Errorf("%s.%s: no description or not one type", s.Name, name)
			}
		}
	}
	if size > 12500 || first > 6000 {
		t.Errorf("descriptions and schemas take %d bytes, those of the first five %d", size, first)
	}
	t.Logf("descriptions and schemas take %d bytes, those of the first five %d", size, first)
}

// proves: L1, H1, S1, N2
func TestSchemas(t *testing.T) {
	t.Parallel()
	schemas := map[string]*jsonschema.Resolved{}
	for _, tool := range All(newWorld().deps()) {
		var s jsonschema.Schema
		if err := json.Unmarshal(tool.Spec().Schema, &s); err != nil {
			t.Fatal(err)
		}
		r, err := s.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		schemas[tool.Spec().Name] = r
	}
	for _, c := range []struct {
		tool, args string
		ok         bool
	}{
		{"sessions_list", `{}`, true},
		{"sessions_list", `{"kinds":["main","other"],"limit":500,"activeMinutes":1,"messageLimit":0}`, true},
		{"sessions_list", `{"kinds":["cats"]}`, false},
		{"sessions_list", `{"kinds":null}`, false},
		{"sessions_list", `{"limit":-1}`, false},
		{"sessions_list", `{"cats":1}`, false},
		{"sessions_history", `{"sessionKey":"main","limit":3.0,"includeTools":true}`, true},
		{"sessions_history", `{}`, false},
		{"sessions_send", `{"sessionKey":"main","message":"x","timeoutSeconds":0}`, true},
		{"sessions_send", `{"sessionKey":"main"}`, false},
		{"sessions_spawn", `{"task":"t","cleanup":"delete"}`, true},
		{"sessions_spawn", `{"task":"t","cleanup":"burn"}`, false},
		{"sessions_spawn", `{}`, false},
		{"agents_list", `{}`, true},
		{"agents_list", `{"x":1}`, false},
		{"sessions_search", `{"query":"tea","sessionKey":"main","limit":25,"offset":10}`, true},
		{"sessions_search", `{}`, false},
		{"session_status", `{}`, true},
		{"session_status", `{"sessionKey":"current"}`, true},
		{"session_status", `{"model":"x"}`, false},
		{"sessions_yield", `{}`, true},
		{"sessions_yield", `{"message":"x"}`, false},
		{"subagents", `{"action":"log","id":"1","limit":200,"includeTools":true}`, true},
		{"subagents", `{"action":"steer","id":"last","message":"x"}`, true},
		{"subagents", `{"action":"kill"}`, false},
		{"subagents", `{}`, false},
		{"message", `{"to":"current","text":"x"}`, true},
		{"message", `{"text":"x"}`, false},
		{"remember", `{"text":"x"}`, true},
		{"recall", `{}`, true},
		{"files", `{"action":"read","path":"a/b.txt","offset":3,"limit":10}`, true},
		{"files", `{"path":"a"}`, false},
		{"files", `{"action":"chmod","path":"a"}`, false},
		{"fetch", `{"url":"https://example.org"}`, true},
		{"fetch", `{}`, false},
		{"attachments", `{"action":"read","id":"a1b2c3d4","offset":3}`, true},
		{"attachments", `{"action":"open"}`, false},
	} {
		var v any
		if err := json.Unmarshal([]byte(c.args), &v); err != nil {
			t.Fatal(err)
		}
		if err := schemas[c.tool].Validate(v); (err == nil) != c.ok {
			t.Errorf("%s(%s): %v, want ok=%v", c.tool, c.args, err, c.ok)
		}
	}
}

// FuzzArguments calls every tool with arguments that no schema has seen: no panic, and an answer within bounds.
func FuzzArguments(f *testing.F) {
	for _, s := range []string{``, `{}`, `null`, `[]`, `{"sessionKey":"main","message":"x","timeoutSeconds":0}`, `{"limit":1e999,"offset":-1}`, `{"kinds":["main",""]}`,
		`{"task":"t","cleanup":"keep"}`, `{"sessionKey":"agent:main:telegram:group:-1001","includeTools":true,"offset":2,"limit":1}`, `{"text":"\u0000"}`, `{} {}`,
		`{"query":"x","limit":25,"offset":1}`, `{"action":"list","limit":0}`, `{"action":"log","id":"1","includeTools":true}`, `{"action":"steer","id":"last","message":"x"}`,
		`{"action":"cancel","id":"#1"}`, `{"to":"current","text":"x"}`, `{"to":"telegram/default/group/-1001","text":"x"}`,
		`{"action":"write","path":"a/b","content":"\u0001\u0001"}`, `{"action":"read","path":"../x"}`, `{"action":"edit","path":"a/b","old":"x","new":""}`, `{"url":"http://10.0.0.1:x"}`,
		`{"action":"read","id":"aaaa1111","offset":1}`, `{"action":"save","id":"aaaa1111","path":"a/c"}`, `{"action":"list"}`} {
		f.Add([]byte(s))
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, args []byte) {
		w := family()
		w.workspace, w.config.Fetch.AllowHosts = dir, []string{"nowhere"}
		w.finish = ends(sessions.Run{Status: sessions.Done, Result: "ok"})
		w.messages[id(0)] = []sessions.Message{text("user", "u"), toolCall("a"), toolResult("a", "r")}
		w.files = map[string][]byte{"x": []byte("text\twith \"quotes\"")}
		w.sent(0, file("aaaa1111", "x"))
		w.hits = []sessions.Hit{{Key: "agent:main:main", Snippet: "x"}}
		w.list = []sessions.Run{{ID: "child-run", Key: "agent:main:subagent:1", Kind: sessions.ChildRun, Status: sessions.Running}}
		w.heard = map[channels.Address][]sessions.Key{{Channel: "telegram", Account: "default", Chat: "-1001", Type: "group"}: {"agent:main:main"}}
		for _, tool := range All(w.deps()) {
			r, err := tool.Call(t.Context(), Call{ID: "c", Args: args, Caller: w.caller})
			if err != nil || !json.Valid([]byte(r.Text)) || !utf8.ValidString(r.Text) || len(r.Text) > maxHistory {
				t.Errorf("%s(%q): %d bytes %.200s, %v", tool.Spec().Name, args, len(r.Text), r.Text, err)
			}
			if strings.Contains(r.Text, `"status":"error"`) != (r.IsError && !strings.Contains(r.Text, "forbidden")) {
				t.Errorf("%s(%q): %s is not marked as what it is", tool.Spec().Name, args, r.Text)
			}
		}
	})
}
