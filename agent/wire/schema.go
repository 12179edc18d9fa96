package wire

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"parley/channels/pattern"
	"parley/tools"
)

// Schema is the schema of a tool's arguments as providers want it: always an object with properties, and lists say what they hold. One
// broken schema must not cost every turn. A schema with nothing to correct keeps its bytes.
func Schema(s tools.Spec) json.RawMessage {
	trimmed := bytes.TrimSpace(s.Schema)
	if len(trimmed) == 0 || trimmed[0] != '{' || !json.Valid(trimmed) {
		return json.RawMessage(`{"type":"object","properties":{}}`)
	}
	if !bytes.Contains(trimmed, []byte(`"array"`)) && bytes.Contains(trimmed, []byte(`"object"`)) && bytes.Contains(trimmed, []byte(`"properties"`)) {
		return trimmed
	}
	root, ok := decoded(trimmed)
	if !ok {
		return trimmed
	}
	changed := fillItems(root, 0)
	if _, typed := root["type"]; !typed && root["anyOf"] == nil && root["oneOf"] == nil && root["allOf"] == nil && root["$ref"] == nil {
		root["type"], changed = "object", true
	}
	if _, has := root["properties"].(map[string]any); !has && root["type"] == "object" { // OpenAI wants them. source: inboxapi/cli#106
		root["properties"], changed = map[string]any{}, true
	}
	if !changed {
		return trimmed
	}
	return encoded(root, trimmed)
}

// maxSchemaDepth bounds how deep a schema is read.
const maxSchemaDepth = 32

func decoded(raw []byte) (root map[string]any, ok bool) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	return root, dec.Decode(&root) == nil && root != nil
}

func encoded(root map[string]any, otherwise json.RawMessage) json.RawMessage {
	out, err := JSON(root)
	if err != nil { // what was decoded can be encoded
		return otherwise
	}
	return out
}

// fillItems gives every list without items some that may be anything, and reports whether there was one.
func fillItems(v any, depth int) (changed bool) {
	if depth > maxSchemaDepth {
		return false
	}
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			changed = fillItems(x, depth+1) || changed
		}
	case map[string]any:
		if _, has := v["items"]; !has && isType(v["type"], "array") && v["prefixItems"] == nil {
			v["items"], changed = map[string]any{}, true
		}
		for key, x := range v {
			if key != "enum" && key != "const" && key != "default" && key != "examples" {
				changed = fillItems(x, depth+1) || changed
			}
		}
	}
	return changed
}

// isType reports whether a schema's type is, or may be, one.
func isType(v any, name string) bool {
	if list, ok := v.([]any); ok {
		return slices.Contains(list, any(name))
	}
	return v == name
}

// PlainSchema is the schema of a tool's arguments in the plainest keywords, which every provider takes: type (one), description,
// properties, required, items, enum of texts. References are written out; of several forms the first is taken where nothing else says
// what the value is. What is left out makes a schema wider: the agent loop checks arguments against the whole one. An object without properties
// gets an optional one that means nothing, tools.NoArgument: some servers refuse objects without any.
// source: aj47/SpeakMCP#352 (Cerebras), ai.google.dev/gemini-api/docs/function-calling (properties: should be non-empty for OBJECT type)
func PlainSchema(s tools.Spec) json.RawMessage {
	root, ok := decoded(Schema(s))
	if !ok {
		root = map[string]any{}
	}
	return plainOf(root, noProperties())
}

// plainOf makes a schema plain. none are the properties of an object that has none.
func plainOf(root, none map[string]any) json.RawMessage {
	p := plainer{root: root, none: none}
	return encoded(p.top(), json.RawMessage(`{"type":"object","properties":{}}`))
}

// noProperties are those of an object that has none.
func noProperties() map[string]any {
	return map[string]any{tools.NoArgument: map[string]any{"type": "string", "description": "means nothing, leave it out"}}
}

// IsPlain reports whether the schema of a tool has the plainest keywords only. Objects may have no properties.
func IsPlain(s tools.Spec) bool {
	root, ok := decoded(Schema(s))
	if ok && root["properties"] == nil {
		root["properties"] = map[string]any{}
	}
	return ok && bytes.Equal(encoded(root, nil), plainOf(root, nil))
}

// plainer makes one schema plain. It counts what it writes: references can refer to each other.
type plainer struct {
	root  map[string]any
	none  map[string]any // properties of an object that has none
	marks bool           // takesNull and isOpen are set
	nodes int
}

// The marks of a schema that is being written. They are taken away before it is sent.
const (
	takesNull = "takes null"
	isOpen    = "is open" // an object whose properties are not known
)

// top makes the whole schema plain.
func (p *plainer) top() map[string]any {
	out := p.plain(p.root, 0)
	delete(out, takesNull)
	delete(out, isOpen)
	if out["type"] != "object" {
		return map[string]any{"type": "object", "properties": p.none}
	}
	return out
}

// The bounds of a plain schema.
const (
	maxPlainDepth = 10
	maxPlainNodes = 2000
)

var plainProperty = pattern.New(`^[A-Za-z0-9_.-]{1,64}$`)

func (p *plainer) plain(s map[string]any, depth int) map[string]any {
	if p.nodes++; depth > maxPlainDepth || p.nodes > maxPlainNodes {
		return map[string]any{"type": "string"}
	}
	out := make(map[string]any)
	if p.marks && p.mayBeNull(s, 0) {
		out[takesNull] = true
	}
	s = p.resolved(s)
	if d, ok := s["description"].(string); ok && d != "" {
		out["description"] = d
	}
	switch kind := plainType(s); kind {
	case "object":
		out["type"] = kind
		p.object(s, out, depth)
	case "array":
		out["type"] = kind
		items, ok := s["items"].(map[string]any)
		if list, many := s["items"].([]any); many && len(list) > 0 {
			items, ok = list[0].(map[string]any)
		}
		if !ok || len(items) == 0 {
			items = map[string]any{"type": "string"}
		}
		out["items"] = p.plain(items, depth+1)
	default:
		out["type"] = kind
		if kind == "string" {
			if values := texts(s); len(values) > 0 {
				out["enum"] = values
			}
		}
	}
	return out
}

// object writes the properties of an object.
func (p *plainer) object(s, out map[string]any, depth int) {
	given, ok := s["properties"].(map[string]any)
	if !ok && p.none == nil {
		return
	}
	properties := make(map[string]any, len(given))
	names := make([]string, 0, len(given))
	for name := range given {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if !plainProperty.MatchString(name) {
			continue
		}
		inner, ok := given[name].(map[string]any)
		if !ok {
			inner = map[string]any{}
		}
		properties[name] = p.plain(inner, depth+1)
	}
	if len(properties) == 0 && p.none != nil {
		properties = p.none
		if p.marks {
			out[isOpen] = true
		}
	}
	out["properties"] = properties
	list, ok := s["required"].([]any)
	if !ok {
		return
	}
	var required []any
	for _, name := range list {
		if n, ok := name.(string); ok && properties[n] != nil && !slices.Contains(required, name) {
			required = append(required, name)
		}
	}
	if len(required) > 0 {
		out["required"] = required
	}
}

// resolved gives a schema with its reference and its forms put into it.
func (p *plainer) resolved(s map[string]any) map[string]any {
	for range maxPlainDepth {
		ref, ok := s["$ref"].(string)
		if !ok {
			break
		}
		target, ok := p.lookUp(ref)
		if !ok {
			break
		}
		s = overlaid(target, s, "$ref")
	}
	if all, ok := s["allOf"].([]any); ok {
		for _, x := range all {
			if form, ok := x.(map[string]any); ok {
				s = overlaid(p.resolvedOnce(form), s, "allOf")
			}
		}
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		forms, ok := s[key].([]any)
		if !ok || s["type"] != nil || s["properties"] != nil { // beside those a form only narrows
			continue
		}
		for _, x := range forms {
			if form, ok := x.(map[string]any); ok && form["type"] != "null" {
				s = overlaid(p.resolvedOnce(form), s, key)
				break
			}
		}
	}
	return s
}

// mayBeNull reports whether a schema itself says that its value may be null, or nothing of what it is.
func (p *plainer) mayBeNull(s map[string]any, depth int) bool {
	if depth > maxPlainDepth {
		return false
	}
	if s = p.resolvedOnce(s); s["nullable"] == true || isType(s["type"], "null") {
		return true
	}
	says := s["type"] != nil || s["properties"] != nil || s["items"] != nil || s["$ref"] != nil || s["allOf"] != nil
	for _, key := range []string{"enum", "anyOf", "oneOf"} {
		list, ok := s[key].([]any)
		says = says || ok
		for _, x := range list {
			if form, isSchema := x.(map[string]any); s["type"] == nil && (key == "enum" && x == nil || key != "enum" && isSchema && p.mayBeNull(form, depth+1)) {
				return true
			}
		}
	}
	c, isConst := s["const"]
	return !says && (!isConst || c == nil)
}

// resolvedOnce follows one reference.
func (p *plainer) resolvedOnce(s map[string]any) map[string]any {
	if ref, ok := s["$ref"].(string); ok {
		if target, ok := p.lookUp(ref); ok {
			return target
		}
	}
	return s
}

// lookUp finds what a reference inside of the document names.
func (p *plainer) lookUp(ref string) (map[string]any, bool) {
	path, ok := strings.CutPrefix(ref, "#/")
	if !ok {
		return nil, false
	}
	at := p.root
	for _, step := range strings.Split(path, "/") {
		step = strings.ReplaceAll(strings.ReplaceAll(step, "~1", "/"), "~0", "~")
		if at, ok = at[step].(map[string]any); !ok {
			return nil, false
		}
	}
	return at, true
}

// overlaid gives base with the keywords of over on top, but for one. Properties of both stay.
func overlaid(base, over map[string]any, without string) map[string]any {
	out := make(map[string]any, len(base)+len(over))
	for k, v := range base {
		out[k] = v
	}
	for k, v := range over {
		if k == without {
			continue
		}
		a, ok := out[k].(map[string]any)
		b, too := v.(map[string]any)
		if k == "properties" && ok && too {
			v = overlaid(a, b, "")
		}
		out[k] = v
	}
	return out
}

// plainType gives the one type of a schema.
func plainType(s map[string]any) string {
	candidates := []any{s["type"]}
	if list, ok := s["type"].([]any); ok {
		candidates = list
	}
	for _, c := range candidates {
		switch c {
		case "object", "array", "string", "integer", "number", "boolean":
			return c.(string)
		}
	}
	switch {
	case s["properties"] != nil:
		return "object"
	case s["items"] != nil || s["prefixItems"] != nil:
		return "array"
	}
	switch s["const"].(type) {
	case bool:
		return "boolean"
	case json.Number:
		return "number"
	}
	return "string"
}

// texts gives the values that a schema allows, when all of them are texts.
func texts(s map[string]any) (out []any) {
	list, ok := s["enum"].([]any)
	if c, has := s["const"]; !ok && has {
		list = []any{c}
	}
	for _, v := range list {
		switch t := v.(type) {
		case nil:
		case string:
			if t != "" && !slices.Contains(out, v) {
				out = append(out, v)
			}
		default:
			return nil
		}
	}
	return out
}
