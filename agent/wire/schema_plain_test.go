package wire

import (
	"encoding/json"
	"testing"

	"parley/tools"
)

// TestIsPlain: what a plain schema would change is not plain, and the order of keywords is no change.
func TestIsPlain(t *testing.T) {
	t.Parallel()
	for schema, want := range map[string]bool{
		``:                  true,
		`{"type":"object"}`: true,
		`{"type":"object","required":["a"],"properties":{"a":{"type":"string","description":"x"}}}`: true,
		`{"type":"object","additionalProperties":false}`:                                            false,
		`{"type":"object","properties":{"a":{"type":"string","format":"uri"}}}`:                     false,
		`{"type":"object","properties":{"a":{"anyOf":[{"type":"string"}]}}}`:                        false,
		`{"type":"object","oneOf":[{"required":["a"]}],"properties":{"a":{"type":"string"}}}`:       false,
	} {
		if got := IsPlain(tools.Spec{Name: "x", Schema: json.RawMessage(schema)}); got != want {
			t.Errorf("%s: %v", schema, got)
		}
	}
}

// TestPlainObjects: a plain schema has no object without properties. source: aj47/SpeakMCP#352, ai.google.dev/gemini-api/docs/function-calling
func TestPlainObjects(t *testing.T) {
	t.Parallel()
	const none = `{"properties":{"no_argument":{"description":"means nothing, leave it out","type":"string"}},"type":"object"}`
	for schema, want := range map[string]string{
		``:                                  none,
		`{"type":"object"}`:                 none,
		`{"type":"object","properties":{}}`: none,
		`{"type":"object","properties":{"a":{"type":"object","additionalProperties":true},"b":{"type":"array","items":{"type":"object"}}}}`: `{"properties":{"a":` + none + `,"b":{"items":` + none + `,"type":"array"}},"type":"object"}`,
	} {
		got := PlainSchema(tools.Spec{Name: "x", Schema: json.RawMessage(schema)})
		if string(got) != want || !IsPlain(tools.Spec{Name: "x", Schema: got}) {
			t.Errorf("%s: %s", schema, got)
		}
	}
}

// TestPlainIsWider: a form beside properties only narrows, and is left out; definitions that lead to themselves end.
func TestPlainIsWider(t *testing.T) {
	t.Parallel()
	got := PlainSchema(tools.Spec{Schema: json.RawMessage(`{"type":"object","oneOf":[{"required":["a"]}],"properties":{"a":{"type":"string"}}}`)})
	if string(got) != `{"properties":{"a":{"type":"string"}},"type":"object"}` {
		t.Errorf("%s", got)
	}
	many := `{"$ref":"#/$defs/n"}`
	got = PlainSchema(tools.Spec{Schema: json.RawMessage(`{"type":"object","properties":{"a":` + many + `},"$defs":{"n":{"type":"object","properties":{"a":` + many + `,"b":` + many +
		`,"c":` + many + `,"d":` + many + `,"e":` + many + `,"f":` + many + `}}}}`)})
	if len(got) > 200_000 || !json.Valid(got) {
		t.Errorf("%d bytes", len(got))
	}
}
