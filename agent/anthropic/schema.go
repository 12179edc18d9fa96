package anthropic

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"parley/agent/wire"
)

// plainKeywords are those that every server takes.
var plainKeywords = []string{"type", "description", "properties", "required", "items", "enum"}

// isLoose reports whether a schema has other keywords than the plainest.
func isLoose(schema json.RawMessage) bool {
	if len(schema) == 0 {
		return false
	}
	for _, word := range []string{`"$`, `"anyOf"`, `"oneOf"`, `"allOf"`, `"not"`, `"additionalProperties"`, `"patternProperties"`, `"propertyNames"`,
		`"exclusive`, `"format"`, `"default"`, `"pattern"`, `"minimum"`, `"maximum"`, `"min`, `"max`, `"const"`, `"title"`, `"examples"`,
		`"unevaluated`, `"prefixItems"`, `"uniqueItems"`, `"multipleOf"`, `"nullable"`, `"dependent`, `"if"`, `"contains"`, `"type":[`} {
		if bytes.Contains(schema, []byte(word)) {
			return true
		}
	}
	return !json.Valid(schema) || !bytes.Contains(schema, []byte(`"type"`))
}

// maxSchemaDepth bounds how deep a schema is read: definitions may refer to themselves.
const maxSchemaDepth = 8

// plainSchema gives a schema with the plainest keywords only. Arguments are checked against the whole schema by the agent loop.
func plainSchema(schema json.RawMessage) json.RawMessage {
	if len(schema) > 0 && !isLoose(schema) {
		return schema // plain already: it keeps its bytes
	}
	var root map[string]any
	if json.Unmarshal(schema, &root) != nil {
		return json.RawMessage(`{"type":"object","properties":{}}`)
	}
	out := plain(root, root, 0)
	out["type"] = "object"
	if b, err := wire.JSON(out); err == nil {
		return b
	}
	return json.RawMessage(`{"type":"object","properties":{}}`)
}

// plain makes one schema plain. root has the definitions.
func plain(s, root map[string]any, depth int) map[string]any {
	if depth > maxSchemaDepth {
		return map[string]any{}
	}
	s = resolved(s, root)
	out := make(map[string]any)
	for _, word := range plainKeywords {
		if v, ok := s[word]; ok {
			out[word] = v
		}
	}
	if list, ok := out["type"].([]any); ok {
		delete(out, "type")
		for _, t := range list {
			if t != "null" {
				out["type"] = t
				break
			}
		}
	}
	if c, ok := s["const"]; ok && out["enum"] == nil {
		out["enum"] = []any{c}
	}
	if props, ok := out["properties"].(map[string]any); ok {
		plainProps := make(map[string]any, len(props))
		for name, p := range props {
			child, _ := p.(map[string]any) // true and false become schemas of anything
			plainProps[name] = plain(child, root, depth+1)
		}
		out["properties"] = plainProps
		if required, ok := out["required"].([]any); ok {
			out["required"] = slices.DeleteFunc(slices.Clone(required), func(r any) bool {
				name, ok := r.(string)
				return !ok || plainProps[name] == nil
			})
		}
	} else {
		delete(out, "properties")
		delete(out, "required")
	}
	delete(out, "items")
	if out["type"] == "array" {
		child, _ := s["items"].(map[string]any)
		out["items"] = plain(child, root, depth+1)
	}
	return out
}

// resolved follows a reference, or takes the first of several alternatives.
func resolved(s, root map[string]any) map[string]any {
	for range maxSchemaDepth {
		if ref, ok := s["$ref"].(string); ok {
			s = lookUp(ref, root)
			continue
		}
		if s["type"] != nil || s["properties"] != nil {
			return s
		}
		next := map[string]any(nil)
		for _, word := range []string{"anyOf", "oneOf", "allOf"} {
			list, _ := s[word].([]any)
			for _, x := range list {
				if option, ok := x.(map[string]any); ok && option["type"] != "null" && next == nil {
					next = option
				}
			}
		}
		if next == nil {
			return s
		}
		if about, ok := s["description"]; ok && next["description"] == nil {
			next = cloned(next)
			next["description"] = about
		}
		s = next
	}
	return map[string]any{}
}

func cloned(m map[string]any) map[string]any {
	out := make(map[string]any, len(m)+1)
	for k, v := range m {
		out[k] = v
	}
	return out
}

// lookUp follows a reference inside of a schema: #/$defs/name.
func lookUp(ref string, root map[string]any) map[string]any {
	at := any(root)
	for _, name := range strings.Split(strings.TrimPrefix(ref, "#/"), "/") {
		m, ok := at.(map[string]any)
		if !ok {
			return map[string]any{}
		}
		at = m[strings.NewReplacer("~1", "/", "~0", "~").Replace(name)]
	}
	m, _ := at.(map[string]any)
	if m == nil {
		return map[string]any{}
	}
	return m
}
