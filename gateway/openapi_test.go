package gateway

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"parley/gateway/api"
	"parley/gateway/operations"
)

// The document is made from the operations: each has its own id, a place, a sentence, a scope, and schemas that are schemas.
func TestOpenAPI(t *testing.T) {
	t.Parallel()
	ops := operations.Table(operations.Deps{}).WithDocument("test")
	text, err := OpenAPI("test")
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Paths map[string]map[string]struct {
			ID         string          `json:"operationId"`
			Summary    string          `json:"summary"`
			Scope      api.Scope       `json:"x-parley-scope"`
			Parameters []parameterText `json:"parameters"`
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
			if !strings.HasSuffix(op.Summary, ".") || len(op.Summary) < 10 || !api.Admin.Allows(op.Scope) {
				t.Errorf("%s: summary %q, scope %q", op.ID, op.Summary, op.Scope)
			}
			keyed := false
			for _, p := range op.Parameters {
				keyed = keyed || p.Name == "Idempotency-Key"
				if p.In == "path" && (!strings.Contains(path, "{"+p.Name+"}") || !p.Required) {
					t.Errorf("%s: path parameter %+v", op.ID, p)
				}
			}
			if keyed != (method != "get") {
				t.Errorf("%s %s takes an idempotency key: %v", method, path, keyed)
			}
		}
	}
	if len(seen) != len(ops) {
		t.Errorf("%d operations, %d in the document", len(ops), len(seen))
	}
	compileAll(t, text)
}

type parameterText struct {
	Name     string `json:"name"`
	In       string `json:"in"`
	Required bool   `json:"required"`
}

// compileAll compiles every schema of a document.
func compileAll(t *testing.T, text []byte) {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("doc.json", doc); err != nil {
		t.Fatal(err)
	}
	n := 0
	var walk func(at string, v any)
	walk = func(at string, v any) {
		if _, list := v.([]any); list {
			for i, x := range v.([]any) {
				walk(at+"/"+strconv.Itoa(i), x)
			}
		}
		m, ok := v.(map[string]any)
		if !ok {
			return
		}
		for name, x := range m {
			place := at + "/" + strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D", "%", "%25").Replace(name)
			if name == "schema" || strings.HasSuffix(at, "/components/schemas") {
				n++
				if _, err := c.Compile("doc.json#" + place); err != nil {
					t.Errorf("%s: %v", place, err)
				}
				continue
			}
			walk(place, x)
		}
	}
	walk("", doc)
	if n < 100 {
		t.Errorf("only %d schemas", n)
	}
}
