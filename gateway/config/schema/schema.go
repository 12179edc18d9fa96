package schema

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"parley/gateway/config"
	"parley/gateway/config/field"
)

// variable is what a text with an environment variable contains; the schema lets it stand for any value.
const variable = `\$\{`

var (
	channelsType = reflect.TypeFor[config.Channels]()
	configType   = reflect.TypeFor[config.Config]()
)

// JSON returns the JSON Schema (2020-12) of the configuration file, for editors. It is an error when a channel's struct has a
// field of a type that cannot be configured, or one with the name of a common field.
func JSON(t config.Table) ([]byte, error) {
	g := &schemas{types: field.Cache{}, defs: map[string]*jsonschema.Schema{}, named: map[string]reflect.Type{}, table: t}
	c := reflect.New(configType).Elem()
	g.types.Fill(c)
	s := g.object(c)
	s.Schema = "https://json-schema.org/draft/2020-12/schema"
	s.Title = "parley configuration"
	s.Defs = g.defs
	if g.err != nil {
		return nil, g.err
	}
	out, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return nil, err
	}
	return append(out, '\n'), nil
}

// schemas builds schemas from values that hold their defaults.
type schemas struct {
	types field.Cache
	table config.Table
	defs  map[string]*jsonschema.Schema // element structs by name: they repeat, and some contain themselves
	named map[string]reflect.Type       // whose names those are
	plain bool                          // leave defaults out: an account has its channel's values
	err   error
}

func none() *jsonschema.Schema { return &jsonschema.Schema{Not: &jsonschema.Schema{}} }

// object makes the schema of a mapping whose keys are the fields of vs.
func (g *schemas) object(vs ...reflect.Value) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}, AdditionalProperties: none()}
	for _, v := range vs {
		for _, f := range g.types.Of(v.Type()) {
			if _, twice := s.Properties[f.Key]; twice {
				g.fail("%s: the field %s is a common one already", v.Type(), f.Key)
				continue
			}
			p := g.value(v.FieldByIndex(f.Index), f)
			p.Description = f.Doc
			s.Properties[f.Key] = p
			s.PropertyOrder = append(s.PropertyOrder, f.Key)
			if f.Required {
				s.Required = append(s.Required, f.Key)
			}
		}
	}
	return s
}

func (g *schemas) fail(format string, args ...any) {
	if g.err == nil {
		g.err = fmt.Errorf(format, args...)
	}
}

func (g *schemas) value(v reflect.Value, f field.Field) *jsonschema.Schema {
	t := v.Type()
	switch {
	case t == channelsType:
		return g.channels()
	case t == field.SecretType:
		return text(f)
	case t.Kind() == reflect.Pointer && t.Elem().Kind() != reflect.Struct:
		return g.element(t.Elem(), f)
	case t.Kind() == reflect.Pointer:
		return g.element(t.Elem(), field.Field{})
	case t.Kind() == reflect.Interface:
		return &jsonschema.Schema{}
	case t.Kind() == reflect.Struct:
		return g.object(v)
	case t.Kind() == reflect.Map && t.Key().Kind() == reflect.String:
		return &jsonschema.Schema{Type: "object", AdditionalProperties: g.element(t.Elem(), f)}
	case t.Kind() == reflect.Slice:
		return g.withDefault(&jsonschema.Schema{Type: "array", Items: g.element(t.Elem(), f)}, v)
	case t.Kind() == reflect.String && len(f.Enum) > 0:
		return g.withDefault(oneOf(f.Enum), v)
	case t.Kind() == reflect.String:
		return g.withDefault(text(f), v)
	case t.Kind() == reflect.Bool:
		return g.withDefault(orVariable("boolean", "Write true or false."), v)
	case v.CanInt(), v.CanFloat():
		s := orVariable("number", "Write a number.")
		if v.CanInt() {
			s.Types[0] = "integer"
		}
		s.Minimum = &f.Min
		if f.Bounded {
			s.Maximum = &f.Max
		}
		return g.withDefault(s, v)
	}
	g.fail("%s: a %s cannot be configured", f.Key, t)
	return &jsonschema.Schema{}
}

// element makes the schema of a map's or list's elements. Structs are written once and referred to.
func (g *schemas) element(t reflect.Type, f field.Field) *jsonschema.Schema {
	e := reflect.New(t).Elem()
	f.Required = false
	if t.Kind() != reflect.Struct || t == field.SecretType {
		plain := g.plain
		g.plain = true // an element has no default
		defer func() { g.plain = plain }()
		return g.value(e, f)
	}
	ref := &jsonschema.Schema{Ref: "#/$defs/" + t.Name()}
	if other, known := g.named[t.Name()]; known && other != t {
		g.fail("%s and %s have the same name", other, t)
	} else if !known {
		g.named[t.Name()] = t
		plain := g.plain
		g.plain = false
		g.types.Fill(e)
		g.defs[t.Name()] = g.object(e)
		g.plain = plain
	}
	return ref
}

// text accepts whole numbers too: ids are often written without quotes.
func text(f field.Field) *jsonschema.Schema {
	s := &jsonschema.Schema{Types: []string{"string", "integer"}}
	if f.Required {
		s.MinLength = jsonschema.Ptr(1)
	}
	if f.Pattern != nil {
		s.Pattern = "(?:" + f.Pattern.String() + ")|" + variable
	}
	return s
}

// orVariable accepts a type, or a text with a variable. Editors show the message for any other text.
func orVariable(typ, message string) *jsonschema.Schema {
	return &jsonschema.Schema{Types: []string{typ, "string"}, Pattern: variable, Extra: map[string]any{"patternErrorMessage": message}}
}

func oneOf(words []string) *jsonschema.Schema {
	e := &jsonschema.Schema{Type: "string"}
	for _, w := range words {
		e.Enum = append(e.Enum, w)
	}
	return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{e, {Type: "string", Pattern: variable}}}
}

func (g *schemas) withDefault(s *jsonschema.Schema, v reflect.Value) *jsonschema.Schema {
	empty := v.Kind() == reflect.String && v.Len() == 0 || v.Kind() == reflect.Slice && v.Len() == 0
	if g.plain || empty {
		return s
	}
	s.Default, _ = json.Marshal(v.Interface()) // texts, truth values, numbers and lists of texts always marshal
	return s
}

func (g *schemas) channels() *jsonschema.Schema {
	all := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}, AdditionalProperties: none()}
	for _, a := range g.table {
		all.Properties[string(a.Kind)] = g.channel(a)
		all.PropertyOrder = append(all.PropertyOrder, string(a.Kind))
	}
	return all
}

func (g *schemas) channel(a config.Adapter) *jsonschema.Schema {
	vs := config.Section(a, g.types)
	slices.Reverse(vs) // the adapter's own fields first: they are what a new channel needs
	s := g.object(vs...)
	g.plain = true
	account := g.object(vs...)
	g.plain = false
	required := s.Required
	s.Required, account.Required = nil, nil
	s.Properties[config.AccountsKey] = &jsonschema.Schema{Type: "object", Description: config.AccountsDoc, AdditionalProperties: account}
	s.PropertyOrder = append(s.PropertyOrder, config.AccountsKey)
	s.Description = strings.ToUpper(string(a.Kind[:1])) + string(a.Kind[1:]) + "."
	if len(required) > 0 { // unless the accounts bring it, or nothing is connected
		off := any(false)
		s.If = &jsonschema.Schema{AnyOf: []*jsonschema.Schema{
			{Required: []string{config.AccountsKey}},
			{Required: []string{"enabled"}, Properties: map[string]*jsonschema.Schema{"enabled": {Const: &off}}},
		}}
		s.Else = &jsonschema.Schema{Required: required}
	}
	return s
}
