package wire

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"parley/tools"
)

// Form is how the schemas of tools are written. The zero value is as Schema gives them.
type Form uint8

// The parts of a Form. Whatever else it has, it is plain.
const (
	Plain         Form = 1 << iota // as PlainSchema
	WithRequired                   // each object has a list of what is required, if with nothing in it
	AllRequired                    // as strict mode wants them: each property is required, and may be null where it was optional; no others
	WithoutEnum                    // values are told in the description
	Typed                          // no form of the schema: the definition says that the tool is a custom one
	Nested                         // no form of the schema: name and schema stand in a field of the definition
	numberOfForms = 1 << iota
)

// Encoded remembers the last tools in each Form.
type Encoded [numberOfForms]Tools

// Schema is the schema of a tool's arguments in this form. The same schema always gives the same bytes.
// source: developers.openai.com/api/docs/guides/structured-outputs (all fields must be required, additionalProperties: false must always be set)
func (f Form) Schema(s tools.Spec) json.RawMessage {
	switch f &^= Typed | Nested; f {
	case 0:
		return Schema(s)
	case Plain:
		return PlainSchema(s)
	}
	plain := PlainSchema(s)
	root, ok := decoded(plain)
	if !ok {
		return plain
	}
	f.write(root)
	return encoded(root, plain)
}

// write brings a plain schema into the form.
func (f Form) write(s map[string]any) {
	if values, ok := s["enum"].([]any); ok && f&WithoutEnum != 0 {
		delete(s, "enum")
		s["description"] = withValues(s["description"], values)
	}
	if items, ok := s["items"].(map[string]any); ok {
		f.write(items)
	}
	properties, ok := s["properties"].(map[string]any)
	if !ok || s["type"] != "object" {
		return
	}
	required, _ := s["required"].([]any)
	for name, v := range properties {
		property, ok := v.(map[string]any)
		if !ok {
			continue
		}
		f.write(property)
		if f&AllRequired != 0 && !slices.Contains(required, any(name)) {
			orNull(property)
		}
	}
	switch {
	case f&AllRequired != 0:
		s["required"], s["additionalProperties"] = slices.Sorted(maps.Keys(properties)), false
	case f&WithRequired != 0 && required == nil:
		s["required"] = []any{}
	}
}

// orNull lets a value be null.
func orNull(s map[string]any) {
	s["type"] = []any{s["type"], "null"}
	if values, ok := s["enum"].([]any); ok {
		s["enum"] = append(slices.Clone(values), nil)
	}
}

// withValues gives a description that names the values.
func withValues(description any, values []any) string {
	said := make([]string, 0, len(values))
	for _, v := range values {
		if text, ok := v.(string); ok {
			said = append(said, text)
		}
	}
	text, _ := description.(string)
	return strings.TrimSpace(text + " One of: " + strings.Join(said, ", "))
}
