package api

import (
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// plan says how the parameters of an operation are read.
type plan struct {
	path, query []param
	body        []param
}

// param is one field of an operation's In.
type param struct {
	name     string
	index    []int
	typ      reflect.Type
	required bool
	enum     []string
	min, max *int
	def      string
}

// idempotencyKey may stand in the body of every write, instead of the header Idempotency-Key.
const (
	idempotencyKey    = "idempotencyKey"
	idempotencyHeader = "Idempotency-Key"
)

func newPlan(name, method, path string, in reflect.Type) *plan {
	if in.Kind() != reflect.Struct {
		panic("api: " + name + ": the parameters are no struct")
	}
	p := &plan{}
	for _, f := range reflect.VisibleFields(in) {
		if f.Anonymous || !f.IsExported() {
			continue
		}
		x := param{index: f.Index, typ: f.Type, required: f.Tag.Get("required") == "true", def: f.Tag.Get("default"), min: bound(f, "min"), max: bound(f, "max")}
		if e := f.Tag.Get("enum"); e != "" {
			x.enum = strings.Split(e, ",")
		}
		switch {
		case f.Tag.Get("path") != "":
			x.name = f.Tag.Get("path")
			if path != "" && !strings.Contains(path, "{"+x.name+"}") {
				panic("api: " + name + ": the path has no {" + x.name + "}")
			}
			p.path = append(p.path, x)
		case f.Tag.Get("query") != "":
			x.name = f.Tag.Get("query")
			p.query = append(p.query, x)
		default:
			x.name, _, _ = strings.Cut(f.Tag.Get("json"), ",")
			if x.name == "" || x.name == "-" || method == "GET" {
				panic("api: " + name + ": " + f.Name + " is no parameter: tag it path, query or json")
			}
			p.body = append(p.body, x)
		}
	}
	return p
}

func bound(f reflect.StructField, tag string) *int {
	t := f.Tag.Get(tag)
	if t == "" {
		return nil
	}
	n, err := strconv.Atoi(t)
	if err != nil {
		panic("api: " + f.Name + ": " + tag + " is no number")
	}
	return &n
}

// set reads a text from the path or the query into a field.
func (p param) set(v reflect.Value, text string) error {
	if u, ok := v.Addr().Interface().(encoding.TextUnmarshaler); ok {
		if err := u.UnmarshalText([]byte(text)); err != nil {
			return Bad("%s %.100q: %v", p.name, text, err)
		}
		return nil
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Bool:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return Bad("%s %.100q: must be true or false", p.name, text)
		}
		v.SetBool(b)
	case reflect.Int, reflect.Int64:
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return Bad("%s %.100q: must be a whole number%s", p.name, text, p.bounds())
		}
		v.SetInt(n)
	default:
		panic(fmt.Sprintf("api: %s: a %s cannot be a parameter", p.name, v.Type()))
	}
	return nil
}

// check holds a value to what the tags say. What was left out is only missed where it is required.
func (p param) check(v reflect.Value, given bool) error {
	if p.required && v.IsZero() {
		return Bad("%s is missing", p.name)
	}
	if !given {
		return nil
	}
	if strings.HasPrefix(v.Type().Name(), "Optional[") {
		if v.FieldByName("Null").Bool() {
			return nil
		}
		v = v.FieldByName("Value")
	}
	switch v.Kind() {
	case reflect.String:
		if s := v.String(); s != "" && p.enum != nil && !slices.Contains(p.enum, s) {
			return Bad("%s %.100q: use one of %s", p.name, s, strings.Join(p.enum, ", "))
		}
	case reflect.Int, reflect.Int64:
		if n := v.Int(); p.min != nil && n < int64(*p.min) || p.max != nil && n > int64(*p.max) {
			return Bad("%s %d: must be a whole number%s", p.name, n, p.bounds())
		}
	default:
	}
	return nil
}

// fill gives the fields that are zero their defaults, and checks all.
func (p *plan) fill(in reflect.Value) error {
	for _, x := range slices.Concat(p.path, p.query, p.body) {
		v := in.FieldByIndex(x.index)
		if v.IsZero() && x.def != "" {
			if err := x.set(v, x.def); err != nil {
				return err
			}
		}
		if err := x.check(v, !v.IsZero()); err != nil {
			return err
		}
	}
	return nil
}

func (p param) bounds() string {
	switch {
	case p.min != nil && p.max != nil:
		return fmt.Sprintf(" from %d to %d", *p.min, *p.max)
	case p.min != nil:
		return fmt.Sprintf(" of at least %d", *p.min)
	case p.max != nil:
		return fmt.Sprintf(" up to %d", *p.max)
	}
	return ""
}

func names(ps []param) string {
	if len(ps) == 0 {
		return "there are none"
	}
	out := make([]string, len(ps))
	for i, p := range ps {
		out[i] = p.name
	}
	return "known are " + strings.Join(out, ", ")
}
