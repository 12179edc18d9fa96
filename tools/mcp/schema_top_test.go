package mcp

import (
	"encoding/json"
	"testing"
)

// TestManyBranches: a schema of very many branches, or of branches that lead to themselves, is read in moments and stays within its bounds.
func TestManyBranches(t *testing.T) {
	t.Parallel()
	var branches, loops []any
	for i := range 2_000 {
		branches = append(branches, map[string]any{"properties": map[string]any{"o": map[string]any{"const": i}}})
		loops = append(loops, map[string]any{"$ref": "#"})
	}
	for _, list := range [][]any{branches, loops} {
		w := widener{root: map[string]any{"oneOf": list}}
		got := w.widened(w.root, 0)
		if w.branches > maxBranches+maxTopDepth || got["oneOf"] != nil {
			t.Errorf("%d branches were read", w.branches)
		}
		if _, _, err := schemaOf(w.root); (err != nil) != (len(encoded(t, w.root)) > mostSchema) {
			t.Error(err)
		}
	}
}

func encoded(t *testing.T, v any) []byte {
	t.Helper()
	b, err := encodeJSON(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestBranchesAtTheTop: a tool whose arguments are told in branches keeps them all.
// source: zod.dev/json-schema (z.discriminatedUnion), modelcontextprotocol.io/specification/2025-11-25/server/tools (inputSchema)
func TestBranchesAtTheTop(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"anyOf":[{"type":"object","properties":{"x":{"type":"string"}},"required":["x"]},{"type":"object","properties":{"y":{"type":"integer"}}}]}`: `{"properties":{"x":{"type":"string"},"y":{"type":"integer"}},"type":"object"}`,
		`{"type":"object","oneOf":[{"properties":{"kind":{"type":"string","const":"a"},"n":{"type":"integer"}},"required":["kind","n"]},
			{"properties":{"kind":{"type":"string","const":"b"},"n":{"type":"string"}},"required":["kind"]}]}`: `{"properties":{"kind":{"enum":["a","b"],"type":"string"},"n":{"anyOf":[{"type":"integer"},{"type":"string"}]}},"required":["kind"],"type":"object"}`,
		`{"type":"object","properties":{"z":{"type":"boolean"}},"required":["z"],"allOf":[{"properties":{"x":{"type":"string"}}},{"properties":{"y":{"type":"string"}},"required":["y"]}]}`: `{"properties":{"x":{"type":"string"},"y":{"type":"string"},"z":{"type":"boolean"}},"required":["z","y"],"type":"object"}`,
		`{"$ref":"#/$defs/args","$defs":{"args":{"type":"object","properties":{"x":{"type":"string"}},"required":["x"]}}}`:                                                                  `{"properties":{"x":{"type":"string"}},"required":["x"],"type":"object"}`,
		`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"anyOf":[{"required":["a"]},{"required":["b"]}]}`:                                                      `{"properties":{"a":{"type":"string"},"b":{"type":"string"}},"type":"object"}`,
		`{"anyOf":[{"$ref":"#"},{"type":"object","properties":{"x":{"type":"string"}}}]}`:                                                                                                   `{"properties":{"x":{"type":"string"}},"type":"object"}`,
	} {
		var v any
		if err := json.Unmarshal([]byte(in), &v); err != nil {
			t.Fatal(err)
		}
		got, _, err := schemaOf(v)
		if err != nil || string(got) != want {
			t.Errorf("%s\nis written %s, %v, not\n%s", in, got, err, want)
		}
	}
}
