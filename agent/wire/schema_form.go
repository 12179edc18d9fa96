package wire

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"parley/agent"
	"parley/agent/wire/markup"
	"parley/sessions"
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
	Bare                           // types, names and what is required alone
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
	root := f.tree(s)
	f.write(root)
	return encoded(root, PlainSchema(s))
}

// tree is the plain schema of a tool's arguments before it is brought into this form.
func (f Form) tree(s tools.Spec) map[string]any {
	root, ok := decoded(Schema(s))
	if !ok {
		root = map[string]any{}
	}
	p := plainer{root: root, none: noProperties(), marks: f&AllRequired != 0}
	return p.top()
}

// write brings a plain schema into the form.
func (f Form) write(s map[string]any) {
	if s[isOpen] == true { // there is no other way to leave it open
		s["type"], s["description"] = "string", strings.TrimSpace(described(s)+" "+asText)
		delete(s, "properties")
		delete(s, isOpen)
	}
	if f&Bare != 0 {
		delete(s, "enum")
		delete(s, "description")
	}
	if values, ok := s["enum"].([]any); ok && f&WithoutEnum != 0 {
		delete(s, "enum")
		s["description"] = withValues(s["description"], values)
	}
	if items, ok := s["items"].(map[string]any); ok {
		f.write(items)
		delete(items, takesNull)
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
		if f&AllRequired != 0 && (property[takesNull] == true || !slices.Contains(required, any(name))) {
			orNull(property)
		}
		delete(property, takesNull)
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

// asText is said of an object whose properties are not known, where strict mode has it written as a text.
const asText = "A JSON object, written as text."

func described(s map[string]any) string {
	text, _ := s["description"].(string)
	return text
}

// Undo is Given for each call of an answer, also where its name is written otherwise. Schemas of specs were sent in this form.
func (f Form) Undo(a *agent.Answer, specs []tools.Spec) {
	if f&AllRequired == 0 {
		return
	}
	names := make([]string, len(specs))
	for i, s := range specs {
		names[i] = s.Name
	}
	for i, b := range a.Content {
		if b.Type == sessions.ToolCallBlock {
			name, _, _ := markup.KnownName(b.Name, names, func(name string) bool { return slices.Contains(names, name) })
			a.Content[i].Arguments = f.Given(name, b.Arguments, specs)
		}
	}
}

// Given turns the arguments of a call from this form into what the tool's own schema wants: the other way of Schema. An argument that is required
// and may be null only in this form is left out where it is null, and an object that it has as a text is one. Everything else stays as the
// model wrote it, a null too where the tool takes it.
//
// source: coder/xum#4206, Gitlawb/openclaude#1266, openclaw/openclaw#96729
func (f Form) Given(name string, args json.RawMessage, specs []tools.Spec) json.RawMessage {
	if f&AllRequired == 0 || len(args) == 0 {
		return args
	}
	i := slices.IndexFunc(specs, func(s tools.Spec) bool { return s.Name == name })
	given, ok := decoded(args)
	if i < 0 || !ok {
		return args
	}
	if _, changed := undone(f.tree(specs[i]), given); !changed {
		return args
	}
	return encoded(given, args)
}

// undone takes what only a form with AllRequired has out of a value, and reports whether there was something.
func undone(s map[string]any, value any) (own any, changed bool) {
	switch v := value.(type) {
	case string:
		if object, ok := decoded([]byte(v)); s[isOpen] == true && ok && json.Valid([]byte(v)) {
			return object, true
		}
	case []any:
		items, _ := s["items"].(map[string]any)
		for i, x := range v {
			inner, was := undone(items, x)
			v[i], changed = inner, changed || was
		}
	case map[string]any:
		properties, _ := s["properties"].(map[string]any)
		required, _ := s["required"].([]any)
		for name, x := range v {
			property, ok := properties[name].(map[string]any)
			if ok && x == nil && property[takesNull] != true && !slices.Contains(required, any(name)) {
				delete(v, name)
				changed = true
				continue
			}
			inner, was := undone(property, x)
			v[name], changed = inner, changed || was
		}
	}
	return value, changed
}
