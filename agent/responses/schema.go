package responses

import (
	"bytes"
	"encoding/json"
	"slices"

	"parley/agent/wire"
	"parley/tools"
)

// plainKeys are the keywords of a schema that every server knows.
var plainKeys = []string{"type", "properties", "required", "items", "enum", "description"}

// maxSchemaDepth bounds how deep a schema is looked into.
const maxSchemaDepth = 32

// loose reports whether a schema has other keywords than the plainest.
func loose(schema json.RawMessage) bool {
	var v any
	return json.Unmarshal(schema, &v) == nil && looseAt(v, 0)
}

func looseAt(v any, depth int) bool {
	m, ok := v.(map[string]any)
	if !ok || depth > maxSchemaDepth {
		return true
	}
	for k, x := range m {
		switch {
		case !slices.Contains(plainKeys, k):
			return true
		case k == "items":
			if looseAt(x, depth+1) {
				return true
			}
		case k == "properties":
			props, ok := x.(map[string]any)
			if !ok {
				return true
			}
			for _, p := range props {
				if looseAt(p, depth+1) {
					return true
				}
			}
		case k == "type":
			if _, ok := x.(string); !ok {
				return true
			}
		}
	}
	return false
}

// plainSchema gives the schema of a tool's arguments with the plainest keywords only: what cannot be said with them is left open.
func plainSchema(s tools.Spec) json.RawMessage {
	var v any
	dec := json.NewDecoder(bytes.NewReader(wire.Schema(s)))
	dec.UseNumber()
	if dec.Decode(&v) != nil {
		return json.RawMessage(`{"type":"object"}`)
	}
	out, ok := plainAt(v, 0).(map[string]any)
	if !ok {
		return json.RawMessage(`{"type":"object"}`)
	}
	out["type"] = "object"
	if out["properties"] == nil {
		out["properties"] = map[string]any{}
	}
	raw, err := wire.JSON(out)
	if err != nil {
		return json.RawMessage(`{"type":"object"}`)
	}
	return raw
}

func plainAt(v any, depth int) any {
	m, ok := v.(map[string]any)
	if !ok || depth > maxSchemaDepth {
		return map[string]any{"type": "string"}
	}
	out := map[string]any{}
	for _, k := range plainKeys {
		if x, ok := m[k]; ok {
			out[k] = x
		}
	}
	for _, k := range []string{"anyOf", "oneOf", "allOf"} { // the first that says something
		if list, ok := m[k].([]any); ok && out["type"] == nil {
			for _, x := range list {
				if sub, ok := plainAt(x, depth+1).(map[string]any); ok && sub["type"] != nil && sub["type"] != "null" {
					for name, value := range sub {
						if out[name] == nil {
							out[name] = value
						}
					}
					break
				}
			}
		}
	}
	if list, ok := out["type"].([]any); ok {
		out["type"] = "string"
		if i := slices.IndexFunc(list, func(x any) bool { s, ok := x.(string); return ok && s != "null" }); i >= 0 {
			out["type"] = list[i]
		}
	}
	if props, ok := out["properties"].(map[string]any); ok {
		plain := make(map[string]any, len(props))
		for name, p := range props {
			plain[name] = plainAt(p, depth+1)
		}
		out["properties"] = plain
	} else {
		delete(out, "properties")
	}
	if items, ok := out["items"]; ok || out["type"] == "array" {
		out["items"] = plainAt(items, depth+1)
	}
	return out
}
