package gateway

import (
	"encoding/json"
	"testing"
)

// The document is made from the operations: each has its own id and its place.
func TestOpenAPI(t *testing.T) {
	t.Parallel()
	ops := new(Host).operations().WithDocument("test")
	text, err := ops.OpenAPI("test")
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Paths map[string]map[string]struct {
			ID string `json:"operationId"`
		} `json:"paths"`
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for path, methods := range doc.Paths {
		for method, op := range methods {
			if op.ID == "" || seen[op.ID] {
				t.Errorf("%s %s: operationId %q", method, path, op.ID)
			}
			seen[op.ID] = true
		}
	}
	if len(seen) != len(ops) {
		t.Errorf("%d operations, %d in the document", len(ops), len(seen))
	}
}
