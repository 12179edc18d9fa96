package wire

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestPrintedByPython: what Python prints of an object is read, however deep, and what stands behind it is left.
// source: docs.python.org/3/library/functions.html#repr, docs.pydantic.dev/latest/concepts/types (ValidatorIterator)
func TestPrintedByPython(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{'a': ('body', 1, "it's"), 'b': None} and so on`:                                             `{"a":["body",1,"it's"],"b":null}`,
		`[{'ctx': {'error': ValueError("a ) b")}}]`:                                                   `[{"ctx":{"error":"ValueError(\"a ) b\")"}}]`,
		`{'input': ValidatorIterator(index=0, schema=Some(Int(V { strict: false }))), 'msg': 'no'}`:   `{"input":"ValidatorIterator(index=0, schema=Some(Int(V { strict: false })))","msg":"no"}`,
		`{'x': <object object at 0x7f>, 'when': datetime.datetime(2026, 11, 27), 'e': <Role.a: 'a'>}`: `{"e":"<Role.a: 'a'>","when":"datetime.datetime(2026, 11, 27)","x":"<object object at 0x7f>"}`,
		`('a',)`: `["a"]`,
		`{'a': `: ``, `[type=missing, input_value={'a': 1}]`: ``, `{'a`: ``, `[x`: ``, `{<`: ``,
	} {
		var v any
		read, n := printedByPython([]byte(text))
		if n == 0 || json.Unmarshal(read, &v) != nil {
			read = nil
		} else {
			read, _ = json.Marshal(v)
			read = []byte(strings.NewReplacer(`\u003c`, "<", `\u003e`, ">").Replace(string(read)))
		}
		if string(read) != want {
			t.Errorf("%s: %s, not %s", text, read, want)
		}
	}
}

// TestOtherBranches: of the errors about each type that a value may have, those of the type that was meant remain.
// source: docs.pydantic.dev/latest/concepts/unions (smart mode), modelscope/ms-agent#574
func TestOtherBranches(t *testing.T) {
	t.Parallel()
	const (
		user  = `{"type":"literal_error","loc":["body","messages",1,"UserParam","role"],"msg":"Input should be 'user'"}`
		tool  = `{"type":"missing","loc":["body","messages",1,"ToolParam","tool_call_id"],"msg":"Field required"}`
		text  = `{"type":"string_type","loc":["body","messages",1,"AssistantParam","content","str"],"msg":"Input should be a valid string"}`
		list  = `{"type":"list_type","loc":["body","messages",1,"AssistantParam","content","list[Text]"],"msg":"Input should be a valid list"}`
		part  = `{"type":"literal_error","loc":["body","messages",1,"AssistantParam","content","list[Text]",0,"type"],"msg":"Input should be 'text'"}`
		extra = `{"type":"extra_forbidden","loc":["body","messages",1,"AssistantParam","x"],"msg":"Extra inputs are not permitted"}`
		heat  = `{"type":"float_type","loc":["body","temperature"],"msg":"Input should be a valid number"}`
	)
	for _, c := range []struct{ errors, param, said, not string }{
		{user + "," + tool + "," + extra, "body.messages.1.AssistantParam.x", "not permitted", "tool_call_id"},
		{extra + "," + text + "," + user, "body.messages.1.AssistantParam.x", "not permitted", "valid string"},
		{user + "," + tool + "," + text + "," + list, "body.messages.1.AssistantParam.content.str", "valid list", "required"},
		{user + "," + text + "," + part, "body.messages.1.AssistantParam.content.list[Text].0.type", "'text'", "valid string"},
		{text + "," + heat, "body.messages.1.AssistantParam.content.str", "valid number", "nothing"},
		{user + "," + strings.ReplaceAll(user, "User", "Function"), "body.messages.1.UserParam.role", "'user'", "nothing"},
		{extra, "body.messages.1.AssistantParam.x", "not permitted", "nothing"},
	} {
		f := ReadFault([]byte(`{"detail":[` + c.errors + `]}`)).WithoutOtherBranches([]string{"user", "assistant"})
		if f.Param != c.param || !strings.Contains(f.All, c.said) || strings.Contains(f.All, c.not) {
			t.Errorf("%s: %s %q", c.errors, f.Param, f.All)
		}
	}
}

// TestManyBrackets: brackets without an end are looked at a bounded number of times, and what stands before them is read.
func TestManyBrackets(t *testing.T) {
	t.Parallel()
	f := ReadFault([]byte(`{"error":{"message":"no such field"}} ` + strings.Repeat(`{ { { { { { { {"a":1} ('x' <`, 100_000)))
	if f.Text != "no such field" {
		t.Errorf("read %q", f.Text)
	}
}

// TestDeepPlace: a place of very many parts is none, and is not kept whole.
func TestDeepPlace(t *testing.T) {
	t.Parallel()
	deep := `{"loc":[` + strings.TrimSuffix(strings.Repeat("0,", 100_000), ",") + `],"msg":"no"}`
	f := ReadFault([]byte(`{"error":{"message":"x y","detail":[` + deep + `,{"loc":["a","b"],"msg":"no"},{"loc":["a","c"],"msg":"no"}]}}`)).WithoutOtherBranches(nil)
	if len(f.Param) > maxFaultText || len(f.entries) > 2 {
		t.Errorf("%d bytes of a place, %d errors", len(f.Param), len(f.entries))
	}
}
