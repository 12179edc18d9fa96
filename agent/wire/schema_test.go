package wire

import (
	"encoding/json"
	"testing"

	"parley/tools"
)

// TestSchemaHasProperties: an object without properties is given some, and a schema that has them keeps its bytes.
// source: inboxapi/cli#106, langchain-ai/langchain-mcp-adapters#137
func TestSchemaHasProperties(t *testing.T) {
	t.Parallel()
	for schema, want := range map[string]string{
		``:                  `{"type":"object","properties":{}}`,
		`{"type":"object"}`: `{"properties":{},"type":"object"}`,
		`{}`:                `{"properties":{},"type":"object"}`,
		`{"type": "object", "properties": {"a": {"type": "string"}}}`:       `{"type": "object", "properties": {"a": {"type": "string"}}}`,
		`{"anyOf":[{"type":"object","required":["a"]}],"description":"An"}`: `{"anyOf":[{"type":"object","required":["a"]}],"description":"An"}`,
	} {
		if got := string(Schema(tools.Spec{Schema: json.RawMessage(schema)})); got != want {
			t.Errorf("%s became %s, not %s", schema, got, want)
		}
	}
}
