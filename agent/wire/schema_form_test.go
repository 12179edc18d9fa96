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
