package mcp

import (
	"maps"
	"math"
	"slices"
	"strings"
)

// typeNames are the types of JSON Schema, and what some servers call them.
var typeNames = map[string]string{"object": "object", "array": "array", "string": "string", "number": "number", "integer": "integer", "boolean": "boolean",
	"null": "null", "int": "integer", "int32": "integer", "int64": "integer", "long": "integer", "float": "number", "double": "number",
	"decimal": "number", "bool": "boolean", "str": "string", "dict": "object", "map": "object", "list": "array", "none": "null"}

// typesOf returns the types that a schema allows, each once; none when it does not say so, or not in words that are known.
func typesOf(in map[string]any) (out []string) {
	list, ok := in["type"].([]any)
	if !ok {
		list = []any{in["type"]}
	}
	for _, x := range list {
		name, _ := x.(string)
		if t := typeNames[strings.ToLower(name)]; t != "" && !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	if len(out) > 0 {
		return out
	}
	switch { // not all models guess it
	case in["properties"] != nil:
		return []string{"object"}
	case in["items"] != nil || in["prefixItems"] != nil:
		return []string{"array"}
	}
	return nil
}

// ofType are the keywords that say something about values of one type only.
var ofType = map[string][]string{
	"string": {"minLength", "maxLength", "pattern", "format"},
	"number": {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"},
	"array":  {"items", "minItems", "maxItems", "uniqueItems", "contains"},
	"object": {"properties", "required", "additionalProperties", "minProperties", "maxProperties"},
}

// typed puts the types into a schema. Several become anyOf, each with what is said about values of it.
func typed(out map[string]any, types []string) map[string]any {
	if len(types) > 1 && (out["anyOf"] != nil || out["oneOf"] != nil || out["allOf"] != nil || out["not"] != nil) {
		types = nil // the parts say which they are
	}
	switch len(types) {
	case 0:
		return out
	case 1:
		return ofOneType(out, types[0])
	}
	whole := map[string]any{}
	for _, k := range []string{"title", "description", "default", "examples"} {
		if v, ok := out[k]; ok {
			whole[k] = v
		}
	}
	var parts []any
	for _, t := range types {
		part := map[string]any{}
		for _, k := range ofType[strings.Replace(t, "integer", "number", 1)] {
			if v, ok := out[k]; ok {
				part[k] = v
			}
		}
		if values, ok := out["enum"].([]any); ok {
			values = slices.DeleteFunc(slices.Clone(values), func(v any) bool { return !isOfType(v, t) })
			if len(values) == 0 {
				continue
			}
			part["enum"] = values
		}
		parts = append(parts, ofOneType(part, t))
	}
	switch len(parts) {
	case 0:
		return whole
	case 1:
		maps.Copy(whole, parts[0].(map[string]any))
		return whole
	}
	whole["anyOf"] = parts
	return whole
}

func ofOneType(out map[string]any, t string) map[string]any {
	out["type"] = t
	if t == "array" && out["items"] == nil {
		out["items"] = map[string]any{}
	}
	return out
}

// isOfType reports whether a value, as encoding/json makes it, is of a type of JSON Schema.
func isOfType(v any, t string) bool {
	switch v := v.(type) {
	case nil:
		return t == "null"
	case bool:
		return t == "boolean"
	case string:
		return t == "string"
	case float64:
		return t == "number" || t == "integer" && v == math.Trunc(v)
	case []any:
		return t == "array"
	case map[string]any:
		return t == "object"
	}
	return false
}
