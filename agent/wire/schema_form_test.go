package wire

import (
	"encoding/json"
	"testing"

	"parley/tools"
)

// TestFormsOfSchemas: each form of a schema, at any depth, always in the same bytes.
// source: developers.openai.com/api/docs/guides/structured-outputs, microsoft/foundry-local#336
func TestFormsOfSchemas(t *testing.T) {
	t.Parallel()
	s := tools.Spec{Name: "x", Schema: json.RawMessage(`{"type":"object","properties":{"m":{"type":"string","description":"How.","enum":["a","b"]},"l":{"type":"array","items":{"type":"object","properties":{"n":{"type":"integer","minimum":1}}}}},"required":["l"]}`)}
	for form, want := range map[Form]string{
		Plain:                      `{"properties":{"l":{"items":{"properties":{"n":{"type":"integer"}},"type":"object"},"type":"array"},"m":{"description":"How.","enum":["a","b"],"type":"string"}},"required":["l"],"type":"object"}`,
		Plain | WithRequired:       `{"properties":{"l":{"items":{"properties":{"n":{"type":"integer"}},"required":[],"type":"object"},"type":"array"},"m":{"description":"How.","enum":["a","b"],"type":"string"}},"required":["l"],"type":"object"}`,
		Plain | WithoutEnum:        `{"properties":{"l":{"items":{"properties":{"n":{"type":"integer"}},"type":"object"},"type":"array"},"m":{"description":"How. One of: a, b","type":"string"}},"required":["l"],"type":"object"}`,
		Plain | AllRequired:        `{"additionalProperties":false,"properties":{"l":{"items":{"additionalProperties":false,"properties":{"n":{"type":["integer","null"]}},"required":["n"],"type":"object"},"type":"array"},"m":{"description":"How.","enum":["a","b",null],"type":["string","null"]}},"required":["l","m"],"type":"object"}`,
		AllRequired | WithRequired: `{"additionalProperties":false,"properties":{"l":{"items":{"additionalProperties":false,"properties":{"n":{"type":["integer","null"]}},"required":["n"],"type":"object"},"type":"array"},"m":{"description":"How.","enum":["a","b",null],"type":["string","null"]}},"required":["l","m"],"type":"object"}`,
	} {
		if got := string(form.Schema(s)); got != want || got != string(form.Schema(s)) {
			t.Errorf("form %d:\n%s\n%s", form, got, want)
		}
	}
}

// TestGiven: what a form alone made required, and nullable, is left out where it is null; a null that the tool takes itself stays, and so does
// everything else that the model wrote.
//
// source: coder/xum#4206, Gitlawb/openclaude#1266, openclaw/openclaw#96729, openclaw/openclaw#96716
func TestGiven(t *testing.T) {
	t.Parallel()
	s := tools.Spec{Name: "x", Schema: json.RawMessage(`{"type":"object","properties":{
		"need":{"type":"string"},"needNull":{"anyOf":[{"type":"string"},{"type":"null"}]},
		"n":{"type":"integer"},"who":{"anyOf":[{"type":"string"},{"type":"null"}]},"old":{"type":["string","null"]},"any":{},
		"how":{"enum":["a",null]},"kind":{"enum":["a","b"]},"ref":{"$ref":"#/$defs/r"},
		"in":{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"required":["b"]},
		"list":{"type":"array","items":{"type":"object","properties":{"c":{"type":"number"}}}},
		"rows":{"type":"array","items":{"type":"object"}},
		"open":{"type":"object","description":"Fields.","additionalProperties":true}},
		"required":["need","needNull"],"$defs":{"r":{"oneOf":[{"type":"null"},{"type":"string"}]}}}`)}
	strict := Plain | AllRequired
	for given, want := range map[string]string{
		`{"need":null,"n":null,"kind":null}`:                           `{"need":null}`,
		`{"need":"a","needNull":null,"who":null,"old":null}`:           `{"need":"a","needNull":null,"who":null,"old":null}`,
		`{"any":null,"how":null,"ref":null}`:                           `{"any":null,"how":null,"ref":null}`,
		`{"in":{"a":null,"b":null},"n":12345678901234567890}`:          `{"in":{"b":null},"n":12345678901234567890}`,
		`{"list":[{"c":null},{"c":1},null]}`:                           `{"list":[{},{"c":1},null]}`,
		`{"in":null,"list":null,"open":null,"other":null}`:             `{"other":null}`,
		`{"open":"{\"a\":null,\"b\":[1]}"}`:                            `{"open":{"a":null,"b":[1]}}`,
		`{"open":"words","need":"{\"a\":1}","rows":["{\"a\":1}","b"]}`: `{"open":"words","need":"{\"a\":1}","rows":[{"a":1},"b"]}`,
		`{"need": "a",  "n": 1}`:                                       `{"need": "a",  "n": 1}`,
		`{"need":null`:                                                 `{"need":null`,
		`"text"`:                                                       `"text"`,
	} {
		got := strict.Given("x", json.RawMessage(given), []tools.Spec{s})
		if string(got) != want && normal(got) != normal([]byte(want)) {
			t.Errorf("%s became %s, not %s", given, got, want)
		}
		for _, same := range []json.RawMessage{Plain.Given("x", json.RawMessage(given), []tools.Spec{s}), strict.Given("y", json.RawMessage(given), []tools.Spec{s})} {
			if string(same) != given {
				t.Errorf("%s became %s without a reason", given, same)
			}
		}
	}
	const want = `{"additionalProperties":false,"properties":{"a":{"type":["string","null"]},"b":{"type":["string","null"]},"open":{"description":"Fields. A JSON object, written as text.","type":["string","null"]}},"required":["a","b","open"],"type":"object"}`
	open := tools.Spec{Name: "x", Schema: json.RawMessage(`{"type":"object","properties":{"a":{"type":["string","null"]},"b":{"type":"string"},"open":{"type":"object","description":"Fields."}},"required":["a"]}`)}
	if got := strict.Schema(open); string(got) != want {
		t.Errorf("%s", got)
	}
}

func normal(raw []byte) string {
	v, _ := decoded(raw)
	out, _ := JSON(v)
	return string(out)
}
