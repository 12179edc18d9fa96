package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// maxNesting bounds a schema of a server: what lies in what, keywords included.
const maxNesting = 64

// schemaBounds are those of a schema as it is written.
type schemaBounds struct {
	repeats int // how often a reference that leads to itself is followed
	depth   int // schemas inside schemas; what lies deeper is told by its type alone
	bytes   int
}

// boundsOfSchemas are tried in this order: a schema that is still too large then is left out.
var boundsOfSchemas = []schemaBounds{{2, 12, 8 << 10}, {1, 12, mostSchema}, {1, 6, mostSchema}, {1, 3, mostSchema}}

// atTop are keywords that providers refuse at the top of the schema of a tool, or that mean nothing there. The server checks its
// arguments itself.
var atTop = []string{"oneOf", "anyOf", "allOf", "not", "if", "then", "else", "enum", "const", "$schema", "$id", "$ref", "$dynamicRef"}

// elsewhere are keywords that change what references mean.
var elsewhere = []string{"$id", "$anchor", "$dynamicRef", "$dynamicAnchor", "$recursiveRef"}

// schemaOf checks the schema of a tool's arguments and gives it in the form that all models take (see writer), with the arguments that
// are called otherwise there. The error says why it cannot be used.
func schemaOf(v any) (json.RawMessage, renames, error) {
	top, ok := v.(map[string]any)
	if list, isList := v.([]any); isList && len(list) == 0 { // as some languages write an empty object
		top, ok = map[string]any{}, true
	}
	if !ok {
		return nil, nil, errors.New("its schema is not an object")
	}
	if types := typesOf(top); len(types) > 0 && !slices.Contains(types, "object") {
		return nil, nil, errors.New("its arguments are not an object")
	}
	if b, err := encodeJSON(top); err != nil || len(b) > mostSchema { // before any work on it
		return nil, nil, fmt.Errorf("its schema has more than %d KiB", mostSchema>>10)
	}
	top = (&widener{root: top}).widened(top, 0)
	delete(top, "nullable")
	top["type"] = "object"
	b, err := encodeJSON(top)
	switch {
	case err != nil:
		return nil, nil, err
	case len(b) > mostSchema:
		return nil, nil, fmt.Errorf("its schema has more than %d KiB", mostSchema>>10)
	}
	if err := checkReferences(top, top, 0); err != nil {
		return nil, nil, err
	}
	properties, _ := top["properties"].(map[string]any)
	names := renamed(properties)
	for _, bounds := range boundsOfSchemas {
		if b, err = modelSchema(top, names, bounds); err == nil {
			break
		}
	}
	return b, names, err
}

// modelSchema gives a schema in the form that all models take, and checks it.
func modelSchema(top map[string]any, names renames, bounds schemaBounds) (json.RawMessage, error) {
	w := newWriter(top, names, bounds)
	b, err := encodeJSON(w.top())
	switch {
	case err != nil:
		return nil, err
	case len(b) > bounds.bytes || w.nodes > maxSchemaNodes:
		return nil, fmt.Errorf("its schema has more than %d KiB when its references are followed", bounds.bytes>>10)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(b, &s); err != nil {
		return nil, fmt.Errorf("its schema cannot be read: %s", line(err.Error(), 200))
	}
	if _, err := s.Resolve(nil); err != nil {
		return nil, fmt.Errorf("its schema cannot be used: %s", line(err.Error(), 200))
	}
	return b, nil
}

// checkReferences looks at every schema in a tree: references must lead to a place in it, and must mean there what they mean here.
func checkReferences(root map[string]any, v any, depth int) error {
	if depth > maxNesting {
		return errors.New("its schema is nested too deeply")
	}
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			if err := checkReferences(root, x, depth+1); err != nil {
				return err
			}
		}
	case map[string]any:
		for _, k := range elsewhere {
			if _, text := v[k].(string); text { // as a property's name it stands before a schema
				return fmt.Errorf("its schema has %s, which is not understood", k)
			}
		}
		if ref, ok := v["$ref"].(string); ok {
			if _, err := findReference(root, ref); err != nil {
				return err
			}
		}
		for _, x := range v {
			if err := checkReferences(root, x, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// findReference follows a reference inside a schema.
func findReference(root map[string]any, ref string) (any, error) {
	rest, ok := strings.CutPrefix(ref, "#")
	if !ok || rest != "" && rest[0] != '/' {
		return nil, fmt.Errorf("its schema refers to %q, which is not inside it", line(ref, 100))
	}
	var at any = root
	for part := range strings.SplitSeq(strings.TrimPrefix(rest, "/"), "/") {
		if rest == "" || rest == "/" {
			break
		}
		part = unescapePointer(part)
		m, ok := at.(map[string]any)
		if !ok || m[part] == nil {
			return nil, fmt.Errorf("its schema refers to %q, which is not in it", line(ref, 100))
		}
		at = m[part]
	}
	return at, nil
}

func unescapePointer(part string) string {
	return strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
}
