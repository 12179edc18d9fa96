package schema

import (
	"bytes"
	_ "embed" // the preface
	"fmt"
	"reflect"
	"slices"
	"strings"

	"parley/gateway/config"
	"parley/gateway/config/field"
)

// preface is the text above the tables; its links are relative to docs/.
//
//go:embed preface.txt
var preface string

// Reference gives the page that describes every key, in Markdown.
func Reference(t config.Table) []byte {
	r := &page{types: field.Cache{}}
	r.WriteString(preface)
	c := reflect.New(configType).Elem()
	r.types.Fill(c)
	for _, f := range r.types.Of(configType) {
		fmt.Fprintf(&r.Buffer, "\n## %s\n%s\n", f.Key, f.Doc)
		v := c.FieldByIndex(f.Index)
		if v.Type() == channelsType {
			r.channels(t)
			continue
		}
		if v.Kind() == reflect.String {
			continue
		}
		r.head()
		r.under(f.Key, v, nil)
	}
	return r.Bytes()
}

// page is a reference page being written.
type page struct {
	bytes.Buffer
	types field.Cache
}

func (r *page) head() { r.WriteString("\n| key | type | default | |\n| --- | --- | --- | --- |\n") }

func (r *page) row(path, typ, fallback, doc string) {
	if fallback != "" {
		fallback = "`" + fallback + "`"
	}
	fmt.Fprintf(&r.Buffer, "| `%s` | %s | %s | %s |\n", path, typ, fallback, strings.NewReplacer("|", `\|`, "\n", " ").Replace(doc))
}

// fields writes a row for each field of a struct, and for what is inside it. within are the element types around, which are not
// written again.
func (r *page) fields(path string, v reflect.Value, within []reflect.Type) {
	for _, f := range r.types.Of(v.Type()) {
		fv := v.FieldByIndex(f.Index)
		p := path + "." + f.Key
		if fv.Kind() != reflect.Struct || fv.Type() == field.SecretType {
			r.row(p, typeOf(fv.Type(), f), fallbackOf(fv, f), f.Doc)
		}
		r.under(p, fv, within)
	}
}

// under writes the rows of what is inside a value.
func (r *page) under(path string, v reflect.Value, within []reflect.Type) {
	t := v.Type()
	switch {
	case t == field.SecretType:
	case t.Kind() == reflect.Struct:
		r.fields(path, v, within)
	case t.Kind() == reflect.Slice:
		r.elements(path+"[]", t.Elem(), within)
	case t.Kind() == reflect.Map:
		r.elements(path+".<id>", t.Elem(), within)
	case t.Kind() == reflect.Pointer:
		r.elements(path, t.Elem(), within)
	}
}

func (r *page) elements(path string, t reflect.Type, within []reflect.Type) {
	if t.Kind() != reflect.Struct || t == field.SecretType || slices.Contains(within, t) {
		return
	}
	e := reflect.New(t).Elem()
	r.types.Fill(e)
	r.fields(path, e, append(slices.Clone(within), t))
}

func (r *page) channels(t config.Table) {
	for _, a := range t {
		path := "channels." + string(a.Kind)
		fmt.Fprintf(&r.Buffer, "\n### %s\n", path)
		r.head()
		vs := config.Section(a, r.types)
		slices.Reverse(vs)
		for _, v := range vs {
			r.fields(path, v, nil)
		}
		r.row(path+"."+config.AccountsKey, "map of groups", "", config.AccountsDoc)
	}
}

// typeOf words a type for people.
func typeOf(t reflect.Type, f field.Field) string {
	switch {
	case t == field.SecretType:
		return "secret" + needed(f)
	case t.Kind() == reflect.Pointer:
		return typeOf(t.Elem(), f)
	case len(f.Enum) > 0:
		return "`" + strings.Join(f.Enum, "`, `") + "`" + needed(f)
	case t.Kind() == reflect.Bool:
		return "`true`, `false`"
	case t.Kind() == reflect.Float32, t.Kind() == reflect.Float64:
		return "number" + rangeOf(f)
	case t.Kind() == reflect.String:
		return "text" + needed(f)
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct:
		return "list of groups"
	case t.Kind() == reflect.Slice:
		return "list of " + typeOf(t.Elem(), field.Field{Enum: f.Enum})
	case t.Kind() == reflect.Map && t.Elem().Kind() == reflect.Slice:
		return "map of lists"
	case t.Kind() == reflect.Map && t.Elem().Kind() == reflect.Interface:
		return "map of values"
	case t.Kind() == reflect.Map && (t.Elem() == field.SecretType || t.Elem().Kind() == reflect.String):
		return "map of texts"
	case t.Kind() == reflect.Map:
		return "map of groups"
	case t.Kind() == reflect.Struct:
		return "group"
	}
	return "whole number" + rangeOf(f)
}

func needed(f field.Field) string {
	if f.Required {
		return ", required"
	}
	return ""
}

func rangeOf(f field.Field) string {
	if f.Bounded {
		return fmt.Sprintf(", %s–%s", field.FormatNumber(f.Min), field.FormatNumber(f.Max))
	}
	return ""
}

// fallbackOf words a default.
func fallbackOf(v reflect.Value, f field.Field) string {
	switch {
	case f.Required || v.Type() == field.SecretType || v.Kind() == reflect.Pointer:
		return ""
	case v.Kind() == reflect.String:
		return v.String()
	case v.Kind() == reflect.Slice && v.Len() == 0:
		return "[]"
	case v.Kind() == reflect.Slice:
		return strings.ReplaceAll(fmt.Sprintf("%q", v.Interface()), " ", ", ")
	case v.Kind() == reflect.Map:
		return "{}"
	}
	return fmt.Sprint(v.Interface())
}
