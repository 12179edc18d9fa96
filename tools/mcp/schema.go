package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// The bounds of a schema.
const (
	schemaDepth  = 32
	schemaUnfold = 2000 // schemas that one value may be checked against, references followed
)

// atTop are keywords that providers refuse at the top of the schema of a tool, or that mean nothing there. The server checks its
// arguments itself.
var atTop = []string{"oneOf", "anyOf", "allOf", "not", "if", "then", "else", "enum", "const", "$schema", "$id", "$ref", "$dynamicRef"}

// elsewhere are keywords that change what references mean.
var elsewhere = []string{"$id", "$anchor", "$dynamicRef", "$dynamicAnchor", "$recursiveRef"}

// inPlace are the keywords whose schemas are for the same value as the one that they stand in.
var inPlace = []string{"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas"}

// schemaOf checks the schema of a tool's arguments and gives it in the form that all models take (see writer), with the arguments that
// are called otherwise there. The error says why it cannot be used.
func schemaOf(v any) (json.RawMessage, renames, error) {
	top, ok := v.(map[string]any)
	if list, isList := v.([]any); isList && len(list) == 0 { // as some languages write an empty object
		top, ok = map[string]any{}, true
	}
	if !ok {
		return nil, nil, errors.New("its schema is no object")
	}
	if types := typesOf(top); len(types) > 0 && !slices.Contains(types, "object") {
		return nil, nil, errors.New("its arguments are no object")
	}
	top = maps.Clone(top)
	for _, k := range atTop {
		delete(top, k)
	}
	delete(top, "nullable")
	top["type"] = "object"
	b, err := encodeJSON(top)
	switch {
	case err != nil:
		return nil, nil, err
	case len(b) > mostSchema:
		return nil, nil, fmt.Errorf("its schema has more than %d KiB", mostSchema>>10)
	}
	u := unfolding{root: top, left: schemaUnfold}
	if err := u.walk(top, 0); err != nil {
		return nil, nil, err
	}
	properties, _ := top["properties"].(map[string]any)
	names := renamed(properties)
	for _, inline := range []bool{true, false} {
		if b, err = written(top, names, inline); err == nil {
			break
		}
	}
	return b, names, err
}

// written gives a schema in the form that all models take, and checks it.
func written(top map[string]any, names renames, inline bool) (json.RawMessage, error) {
	b, err := encodeJSON(newWriter(top, names, inline).top())
	switch {
	case err != nil:
		return nil, err
	case len(b) > mostSchema:
		return nil, fmt.Errorf("its schema has more than %d KiB", mostSchema>>10)
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

// unfolding looks for schemas that would never end, or take for ever, to check a value against: references that lead to themselves
// without going into the value, and those that multiply. References from a value to its parts may be recursive.
type unfolding struct {
	root map[string]any
	left int // of one value
}

// walk looks at every schema in the tree.
func (u *unfolding) walk(v any, depth int) error {
	if depth > 2*schemaDepth {
		return errors.New("its schema is nested too deeply")
	}
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			if err := u.walk(x, depth+1); err != nil {
				return err
			}
		}
	case map[string]any:
		for _, k := range elsewhere {
			if _, text := v[k].(string); text { // as a property's name it stands before a schema
				return fmt.Errorf("its schema has %s, which is not understood", k)
			}
		}
		u.left = schemaUnfold
		if err := u.same(v, 0); err != nil {
			return err
		}
		for _, x := range v {
			if err := u.walk(x, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// same follows all schemas that a value is checked against where it is checked against v.
func (u *unfolding) same(v any, depth int) error {
	if u.left--; u.left < 0 || depth > schemaDepth {
		return errors.New("its schema refers to itself without an end, or to too much")
	}
	m, ok := v.(map[string]any)
	if !ok {
		return nil
	}
	if ref, ok := m["$ref"].(string); ok {
		to, err := u.find(ref)
		if err != nil {
			return err
		}
		if err := u.same(to, depth+1); err != nil {
			return err
		}
	}
	for _, k := range inPlace {
		var parts []any
		switch x := m[k].(type) {
		case []any:
			parts = x
		case map[string]any:
			parts = []any{x}
			if k == "dependentSchemas" {
				parts = nil
				for _, p := range x {
					parts = append(parts, p)
				}
			}
		}
		for _, p := range parts {
			if err := u.same(p, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

func (u *unfolding) find(ref string) (any, error) { return findReference(u.root, ref) }

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
