package api

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"parley/sessions"
)

// OpenAPI writes the OpenAPI 3.1 document of the table.
func (t Table) OpenAPI(version string) ([]byte, error) {
	d := document{schemas: map[string]*jsonschema.Schema{}}
	paths := map[string]map[string]any{}
	for _, o := range t {
		op, err := d.operation(o)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", o.Name, err)
		}
		if paths[o.Path] == nil {
			paths[o.Path] = map[string]any{}
		}
		paths[o.Path][strings.ToLower(o.Method)] = op
	}
	text, err := json.MarshalIndent(map[string]any{
		"openapi": "3.1.0",
		"info": map[string]any{"title": "parley", "version": version,
			"description": "The API of a parley host. Every error response has a text for people (error) and a code for programs. Unknown parameters are errors. Writes accept an Idempotency-Key."},
		"security":   []any{map[string]any{"token": []string{}}, map[string]any{"cookie": []string{}}},
		"paths":      paths,
		"components": map[string]any{"schemas": d.schemas, "securitySchemes": securitySchemes},
	}, "", "  ")
	return append(text, '\n'), err
}

var securitySchemes = map[string]any{
	"token":  map[string]any{"type": "http", "scheme": "bearer", "description": "The gateway's token, or one of gateway.tokens with its scope."},
	"cookie": map[string]any{"type": "apiKey", "in": "cookie", "name": "parley", "description": "Cookie of a browser that signed in on the page; its name ends with the port."},
}

type document struct{ schemas map[string]*jsonschema.Schema }

func (d document) operation(o Operation) (map[string]any, error) {
	op := map[string]any{"operationId": o.Name, "summary": o.Summary, "tags": []string{tag(o.Name)}, "x-parley-scope": o.Scope}
	var params []any
	for _, in := range []struct {
		where string
		list  []param
	}{{"path", o.plan.path}, {"query", o.plan.query}} {
		for _, x := range in.list {
			s, err := x.schema(o.In)
			if err != nil {
				return nil, err
			}
			about := s.Description
			s.Description = ""
			p := map[string]any{"name": x.name, "in": in.where, "schema": s, "required": in.where == "path" || x.required}
			if about != "" {
				p["description"] = about
			}
			params = append(params, p)
		}
	}
	if o.Writes() {
		params = append(params, map[string]any{"name": idempotencyHeader, "in": "header", "schema": map[string]any{"type": "string", "maxLength": maxKey},
			"description": "A repeated request with the same key returns the first answer and has no second effect."})
	}
	if params != nil {
		op["parameters"] = params
	}
	if len(o.plan.body) > 0 {
		body, required, err := o.body()
		if err != nil {
			return nil, err
		}
		op["requestBody"] = map[string]any{"required": required, "content": map[string]any{"application/json": map[string]any{"schema": body}}}
	}
	out, err := d.ref(o.Out)
	if err != nil {
		return nil, err
	}
	failure, err := d.ref(reflect.TypeFor[Failure]())
	if err != nil {
		return nil, err
	}
	op["responses"] = map[string]any{
		strconv.Itoa(o.Status): map[string]any{"description": http.StatusText(o.Status), "content": map[string]any{o.Content: map[string]any{"schema": out}}},
		"default":              map[string]any{"description": "An error.", "content": map[string]any{"application/json": map[string]any{"schema": failure}}},
	}
	return op, nil
}

// tag groups operations: the first word of their name.
func tag(name string) string {
	group, _, _ := strings.Cut(name, ".")
	return group
}

// body is the schema of a closed object.
func (o Operation) body() (s *jsonschema.Schema, required bool, err error) {
	s = &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}, AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}}}
	for _, x := range o.plan.body {
		if s.Properties[x.name], err = x.schema(o.In); err != nil {
			return nil, false, err
		}
		if x.required {
			s.Required, required = append(s.Required, x.name), true
		}
	}
	s.Properties[idempotencyKey] = &jsonschema.Schema{Type: "string", MaxLength: jsonschema.Ptr(maxKey), Description: "Replaces the header Idempotency-Key."}
	return s, required, nil
}

// schema is that of one parameter, with what its tags say.
func (p param) schema(in reflect.Type) (*jsonschema.Schema, error) {
	s, err := schemaOf(p.typ)
	if err != nil {
		return nil, err
	}
	s.Description = cmp.Or(in.FieldByIndex(p.index).Tag.Get("jsonschema"), s.Description)
	for _, v := range p.enum {
		s.Enum = append(s.Enum, v)
	}
	if p.min != nil {
		s.Minimum = jsonschema.Ptr(float64(*p.min))
	}
	if p.max != nil {
		s.Maximum = jsonschema.Ptr(float64(*p.max))
	}
	if p.def != "" {
		def := json.RawMessage(p.def)
		if !json.Valid(def) {
			def, _ = json.Marshal(p.def)
		}
		s.Default = def
	}
	return s, nil
}

// published are the packages whose types the document shows under the name of an earlier package: names of schemas are public, and stay
// where types move.
var published = map[string]string{"operations": "gateway", "rights": "router", "inbound": "router", "toolhost": "router"}

// ref names the schema of an answer's type in the components; a list is a list of such.
func (d document) ref(t reflect.Type) (*jsonschema.Schema, error) {
	if t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Uint8 {
		items, err := d.ref(t.Elem())
		return &jsonschema.Schema{Type: "array", Items: items}, err
	}
	if t.Kind() != reflect.Struct || t.Name() == "" {
		return schemaOf(t)
	}
	name := t.Name()
	if pkg := t.PkgPath(); !strings.HasSuffix(pkg, "/api") { // two packages may have a type of one name
		pkg = pkg[strings.LastIndex(pkg, "/")+1:]
		name = cmp.Or(published[pkg], pkg) + "." + name
	}
	if d.schemas[name] == nil {
		s, err := schemaOf(t)
		if err != nil {
			return nil, err
		}
		d.schemas[name] = s
	}
	return &jsonschema.Schema{Ref: "#/components/schemas/" + name}, nil
}

// ownSchemaTypes are the types that are written in JSON in a way of their own.
var ownSchemaTypes = sync.OnceValue(ownSchemas)

func ownSchemas() map[reflect.Type]*jsonschema.Schema {
	types := maps.Clone(plainTypes)
	message, err := jsonschema.ForType(reflect.TypeFor[sessions.Message](), &jsonschema.ForOptions{TypeSchemas: maps.Clone(plainTypes)})
	if err != nil {
		panic(err) // it is a type of this program
	}
	message.Properties["timestamp"] = plainTypes[reflect.TypeFor[sessions.Millis]()]
	message.Properties["number"] = &jsonschema.Schema{Type: "integer"}
	message.Properties["content"].Items.Properties["signature"] = &jsonschema.Schema{Type: "string"} // null is never written
	types[reflect.TypeFor[sessions.Message]()] = message
	return types
}

var plainTypes = map[reflect.Type]*jsonschema.Schema{
	reflect.TypeFor[sessions.Millis](): {Type: "integer", Description: "milliseconds since 1970"},
	reflect.TypeFor[time.Time]():       {Type: "string", Format: "date-time"},
	reflect.TypeFor[time.Duration]():   {Type: "integer", Description: "nanoseconds"},
	reflect.TypeFor[sessions.Chain]():  {Type: "object", Description: "state that a run passes to the next run of its chain"}, // it holds another one
	reflect.TypeFor[json.RawMessage](): {},
}

// schemaOf is the schema of a Go type as encoding/json writes it.
func schemaOf(t reflect.Type) (*jsonschema.Schema, error) {
	if t.Kind() == reflect.Struct && strings.HasPrefix(t.Name(), "Optional[") {
		f, _ := t.FieldByName("Value")
		s, err := schemaOf(f.Type)
		if err == nil && s.Type != "" {
			s.Types, s.Type = []string{s.Type, "null"}, ""
		}
		return s, err
	}
	s, err := jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: maps.Clone(ownSchemaTypes())})
	if err != nil {
		return nil, err
	}
	openSchema(s)
	return s, nil
}

// openSchema takes the closing of objects out of the schemas of answers: a client that knows fewer fields than the host must not break.
func openSchema(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	s.AdditionalProperties = opened(s.AdditionalProperties)
	for _, x := range slices.Collect(maps.Values(s.Properties)) {
		openSchema(x)
	}
	openSchema(s.Items)
}

// opened keeps what a map's values are, and drops "nothing else".
func opened(s *jsonschema.Schema) *jsonschema.Schema {
	if s == nil || s.Not != nil {
		return nil
	}
	openSchema(s)
	return s
}
