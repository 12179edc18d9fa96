package mcp

import (
	"encoding/json"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
)

// The bounds of a schema as it is written, besides schemaBounds.
const (
	maxSchemaNodes = 3000 // schemas that are written, references followed
	maxReferences  = 32   // references that lead to each other, in one place
)

// writer gives a schema in the form that all models take. Servers are checked by nobody: the form is whatever their library makes of
// their types, and a provider that does not know one keyword refuses the whole request. So only keywords that are known everywhere are
// written, and only with values of the right type; references are followed, and one that leads to itself ends in a schema that is open: its
// type alone; a list of types becomes anyOf; an array says what it holds. What is left out makes the schema wider, never narrower: the server checks its arguments
// itself.
type writer struct {
	root   map[string]any
	names  renames
	bounds schemaBounds
	nodes  int
	within map[string]int // how often a reference was followed to the place at hand
}

func newWriter(root map[string]any, names renames, bounds schemaBounds) *writer {
	return &writer{root: root, names: names, bounds: bounds, within: map[string]int{"#": 1}}
}

// top writes the schema of all arguments.
func (w *writer) top() map[string]any {
	out := w.schema(w.root, 0)
	properties, _ := out["properties"].(map[string]any)
	if properties == nil {
		properties = map[string]any{} // some providers insist
	}
	out["type"], out["properties"] = "object", w.rename(properties)
	if required, ok := out["required"].([]any); ok {
		for i, name := range required {
			required[i] = w.told(name.(string))
		}
	}
	return out
}

func (w *writer) told(name string) string {
	for told, own := range w.names {
		if own == name {
			return told
		}
	}
	return name
}

func (w *writer) rename(properties map[string]any) map[string]any {
	out := make(map[string]any, len(properties))
	for name, p := range properties {
		out[w.told(name)] = p
	}
	return out
}

// schema writes one schema. Its values are maps, lists, strings, numbers and booleans as encoding/json makes them.
func (w *writer) schema(v any, depth int) map[string]any {
	if v == false {
		return map[string]any{"not": map[string]any{}}
	}
	in, ok := v.(map[string]any)
	w.nodes++
	if !ok || w.nodes > maxSchemaNodes {
		return map[string]any{}
	}
	in, refs := w.follow(in)
	w.enter(refs, 1)
	defer w.enter(refs, -1)
	if depth > w.bounds.depth || slices.ContainsFunc(refs, func(ref string) bool { return w.within[ref] > w.bounds.repeats }) {
		return shallow(in)
	}
	out := map[string]any{}
	w.plain(in, out)
	w.nested(in, out, depth)
	types := typesOf(in)
	if in["nullable"] == true && len(types) > 0 && !slices.Contains(types, "null") {
		types = append(types, "null")
	}
	return typed(out, types)
}

// enter counts references that are followed, or left again.
func (w *writer) enter(refs []string, n int) {
	for _, ref := range refs {
		w.within[ref] += n
	}
}

// shallow tells of a schema only what type it is.
func shallow(in map[string]any) map[string]any {
	out := map[string]any{}
	if about, ok := in["description"].(string); ok {
		out["description"] = about
	}
	return typed(out, typesOf(in))
}

// follow puts the schema that a reference means in the reference's place. It returns the references that it followed.
func (w *writer) follow(in map[string]any) (out map[string]any, refs []string) {
	for range maxReferences {
		ref, ok := in["$ref"].(string)
		if !ok {
			one, ok := in["allOf"].([]any)
			if !ok || len(one) != 1 {
				return in, refs
			}
			part, ok := one[0].(map[string]any)
			if !ok {
				return in, refs
			}
			in = joined(part, in, "allOf")
			continue
		}
		refs = append(refs, strings.TrimSuffix(ref, "/"))
		to, err := findReference(w.root, ref)
		target, ok := to.(map[string]any)
		if err != nil || !ok {
			in = maps.Clone(in)
			delete(in, "$ref")
			continue
		}
		in = joined(target, in, "$ref")
	}
	return map[string]any{}, refs
}

// joined is a schema with what stands beside the reference to it: words about it are those beside the reference, limits are its own.
func joined(target, beside map[string]any, but string) map[string]any {
	out := maps.Clone(target)
	for k, v := range beside {
		if _, has := out[k]; k != but && (!has || k == "description" || k == "title" || k == "default") {
			out[k] = v
		}
	}
	return out
}

// plain writes the keywords that hold no schemas.
func (w *writer) plain(in, out map[string]any) {
	for _, k := range []string{"title", "description", "format"} {
		if s, ok := in[k].(string); ok && s != "" {
			out[k] = s
		}
	}
	if s, ok := in["pattern"].(string); ok {
		if _, err := regexp.Compile(s); err == nil { // those of other languages can do more
			out["pattern"] = s
		}
	}
	for _, k := range []string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"} {
		if n, ok := in[k].(float64); ok && (k != "multipleOf" || n > 0) {
			out[k] = n
		}
	}
	for old, k := range map[string]string{"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"} { // draft 4
		if in[old] == true && out[k] != nil {
			out[old] = out[k]
			delete(out, k)
		}
	}
	for _, k := range []string{"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"} {
		if n, ok := in[k].(float64); ok && n >= 0 && n == math.Trunc(n) && n < 1<<31 {
			out[k] = n
		}
	}
	if in["uniqueItems"] == true {
		out["uniqueItems"] = true
	}
	if v, ok := in["default"]; ok {
		out["default"] = v
	}
	if list, ok := in["examples"].([]any); ok && len(list) > 0 {
		out["examples"] = list
	}
	if list, ok := in["enum"].([]any); ok && len(list) > 0 {
		out["enum"] = distinct(list)
	} else if v, ok := in["const"]; ok {
		out["enum"] = []any{v}
	}
}

// distinct gives each value once.
func distinct(list []any) (out []any) {
	seen := map[string]bool{}
	for _, v := range list {
		text, err := json.Marshal(v)
		if err == nil && !seen[string(text)] {
			seen[string(text)] = true
			out = append(out, v)
		}
	}
	return out
}

// nested writes the keywords that hold schemas.
func (w *writer) nested(in, out map[string]any, depth int) {
	w.object(in, out, depth)
	items, tuple := in["items"], in["prefixItems"]
	if list, ok := items.([]any); ok { // until 2019
		items, tuple = nil, list
	}
	switch list, ok := tuple.([]any); {
	case ok && len(list) == 1:
		out["items"] = w.schema(list[0], depth+1)
	case ok && len(list) > 1:
		out["items"] = map[string]any{"anyOf": w.list(list, depth+2)}
	case items != nil && items != false:
		out["items"] = w.schema(items, depth+1)
	}
	for _, k := range []string{"anyOf", "oneOf", "allOf"} {
		if list, ok := in[k].([]any); ok && len(list) > 0 {
			out[k] = w.list(list, depth+1)
		}
	}
	for _, k := range []string{"not", "contains"} {
		if x, ok := in[k].(map[string]any); ok {
			out[k] = w.schema(x, depth+1)
		}
	}
}

func (w *writer) list(list []any, depth int) (out []any) {
	for _, x := range list {
		out = append(out, w.schema(x, depth))
	}
	return out
}

// object writes the keywords of objects.
func (w *writer) object(in, out map[string]any, depth int) {
	properties, given := in["properties"].(map[string]any)
	var required []any
	if given {
		written := map[string]any{}
		for _, name := range slices.Sorted(maps.Keys(properties)) {
			p := properties[name]
			written[name] = w.schema(p, depth+1)
			if m, ok := p.(map[string]any); ok && m["required"] == true { // draft 3
				required = append(required, name)
			}
		}
		out["properties"] = written
	}
	if list, ok := in["required"].([]any); ok {
		for _, x := range distinct(list) {
			name, ok := x.(string)
			if _, known := properties[name]; ok && known {
				required = append(required, name)
			}
		}
	}
	if required = distinct(required); len(required) > 0 {
		out["required"] = required
	}
	patterns, _ := in["patternProperties"].(map[string]any)
	switch more := in["additionalProperties"].(type) {
	case bool:
		if more || len(patterns) == 0 {
			out["additionalProperties"] = more
		}
	case map[string]any:
		if len(patterns) == 0 {
			out["additionalProperties"] = w.schema(more, depth+1)
		}
	}
}
