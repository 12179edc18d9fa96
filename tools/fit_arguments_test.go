package tools

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// What models write for an argument that they do not mean to give; numbers, booleans, lists and objects as text; one value in the place of a list,
// and the other way round.
// source: openclaw/openclaw#64699, openclaw/openclaw#135427, AtomicBot-ai/atomic-agent#182, earendil-works/pi#5697, Miso2233/SonettoHere#319
// proves: G1
func TestFitArguments(t *testing.T) {
	t.Parallel()
	spec := Spec{Name: "x", Schema: json.RawMessage(`{"type":"object","properties":{"sessionKey":{"type":"string"},"label":{"type":"string"},"content":{"type":"string"},"n":{"type":"integer"},"timeoutSeconds":{"type":"integer"},"on":{"type":"boolean"},"kinds":{"type":"array","items":{"type":"string","enum":["main","group"]}},"files":{"type":"array","items":{"type":"string"}},"counts":{"type":"array","items":{"type":"integer"}},"mode":{"type":"string","enum":["keep","delete"]},"arguments":{"type":"object"}},"required":["sessionKey"],"additionalProperties":false}`)}
	for _, c := range []struct{ raw, want, ignored string }{
		{`{"sessionKey":"main","label":null,"timeoutSeconds":null,"on":null,"kinds":null}`, `{"sessionKey":"main"}`, ""},
		{`{"sessionKey":"main","label":"","timeoutSeconds":"","on":" ","kinds":"null"}`, `{"sessionKey":"main"}`, ""},
		{`{"sessionKey":"main","label":"null","timeoutSeconds":"null"}`, `{"sessionKey":"main"}`, ""},
		{`{"sessionKey":"main","timeoutSeconds":"5","on":"True","n":" 7.0 "}`, `{"n":7,"on":true,"sessionKey":"main","timeoutSeconds":5}`, ""},
		{`{"sessionKey":"main","on":"false","timeoutSeconds":"soon"}`, `{"on":false,"sessionKey":"main","timeoutSeconds":"soon"}`, ""},
		{`{"sessionKey":"main","content":"","label":"5"}`, `{"content":"","label":"5","sessionKey":"main"}`, ""},
		{`{"sessionKey":"main","content":"null"}`, `{"content":"null","sessionKey":"main"}`, ""},
		{`{"sessionKey":null,"content":null}`, `{}`, ""},
		{`{"sessionKey":"main","agentName":"clerk","zzz":1}`, `{"sessionKey":"main"}`, "agentName zzz"},
		{`{}`, `{}`, ""},
		{`{"sessionKey":"main","kinds":"main","files":"a, b.txt","counts":"[1, \"2\"]"}`, `{"counts":[1,2],"files":["a, b.txt"],"kinds":["main"],"sessionKey":"main"}`, ""},
		{`{"sessionKey":"main","kinds":"[\"main\",\"Group\"]","files":["a",null],"counts":3}`, `{"counts":[3],"files":["a"],"kinds":["main","group"],"sessionKey":"main"}`, ""},
		{`{"sessionKey":"main","kinds":"MAIN, group","files":"[draft","counts":["4"]}`, `{"counts":[4],"files":["[draft"],"kinds":["main","group"],"sessionKey":"main"}`, ""},
		{`{"sessionKey":"main","files":"['a', 'b']","kinds":"['main']"}`, `{"files":["a","b"],"kinds":["main"],"sessionKey":"main"}`, ""},
		{`{"sessionKey":42,"label":["x"],"mode":"Delete","on":"yes"}`, `{"label":"x","mode":"delete","on":true,"sessionKey":"42"}`, ""},
		{`{"sessionKey":["a","b"],"mode":"purge","arguments":"{\"x\": 1}"}`, `{"arguments":{"x": 1},"mode":"purge","sessionKey":["a","b"]}`, ""},
		{`{"sessionKey":"main","content":7,"arguments":"x"}`, `{"arguments":"x","content":"7","sessionKey":"main"}`, ""},
		{`{"sessionKey":"main","timeoutSeconds":5}`, `{"sessionKey":"main","timeoutSeconds":5}`, ""},
	} {
		got, ignored, refused := FitArguments(spec, json.RawMessage(c.raw))
		var a, b any
		if json.Unmarshal(got, &a) != nil || json.Unmarshal([]byte(c.want), &b) != nil || string(encode(a)) != string(encode(b)) || strings.Join(ignored, " ") != c.ignored || refused != nil {
			t.Errorf("%s: %s ignored %q refused %v", c.raw, got, ignored, refused)
		}
	}
	for _, raw := range []string{`{"sessionKey":"main","labels":"x"}`, `{"sessionkey":"main"}`, `{"sessionKey":"main","timeoutSecond":3}`} {
		if _, _, refused := FitArguments(spec, json.RawMessage(raw)); refused == nil || !refused.IsError || !strings.Contains(refused.Text, `"status":"error"`) || !strings.Contains(refused.Text, "did you mean") {
			t.Errorf("%s is not refused: %v", raw, refused)
		}
	}
	spec.Server = "files"
	if got, ignored, refused := FitArguments(spec, json.RawMessage(`{"label":null,"x":1}`)); string(got) != `{"label":null,"x":1}` || ignored != nil || refused != nil {
		t.Errorf("a server's tool gets %s, ignored %q, %v", got, ignored, refused)
	}
}

// proves: G1
func TestWithIgnored(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{`{"status":"ok"}`: `{"status":"ok","ignored":["a","b"]}`, `{}`: `{"ignored":["a","b"]}`, "words": "words\n(ignored: a, b)"} {
		if got := WithIgnored(Result{Text: text}, []string{"a", "b"}); got.Text != want {
			t.Errorf("%s: %s", text, got.Text)
		}
	}
	if got := WithIgnored(Result{Text: "{}"}, slices.Clip([]string(nil))); got.Text != "{}" {
		t.Errorf("without any: %s", got.Text)
	}
}

// TestNoArgument: the argument that stands for none is dropped, also of tools of MCP servers, but not where a tool has one of that name.
func TestNoArgument(t *testing.T) {
	t.Parallel()
	for schema, want := range map[string]string{
		`{"type":"object","properties":{}}`:                                `{"a":1}`,
		`{"type":"object","properties":{"no_argument":{"type":"string"}}}`: `{"a":1,"no_argument":"x"}`,
	} {
		got, _, refused := FitArguments(Spec{Name: "x", Server: "s", Schema: json.RawMessage(schema)}, json.RawMessage(`{"a":1,"no_argument":"x"}`))
		if string(got) != want || refused != nil {
			t.Errorf("%s: %s, %v", schema, got, refused)
		}
	}
}
