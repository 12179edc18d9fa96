package config

import (
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"parley/channels"
)

// field is one configurable field of a struct, as its tags describe it.
type field struct {
	key        string
	index      []int
	typ        reflect.Type
	doc        string
	fallback   string // the tag default, "" = the zero value
	enum       []string
	min, max   float64
	bounded    bool // there is a max
	pattern    *regexp.Regexp
	required   bool
	unsetEmpty bool // an environment variable that is not set counts as an empty value
}

var (
	secretType   = reflect.TypeFor[channels.Secret]()
	channelsType = reflect.TypeFor[Channels]()
	configType   = reflect.TypeFor[Config]()
)

// fieldsOf lists the configurable fields of a struct type, inlined ones included, in the order of the source.
func fieldsOf(t reflect.Type) []field {
	var out []field
	for i := range t.NumField() {
		sf := t.Field(i)
		key, opts, _ := strings.Cut(sf.Tag.Get("yaml"), ",")
		if opts == "inline" {
			for _, f := range fieldsOf(sf.Type) {
				f.index = append([]int{i}, f.index...)
				out = append(out, f)
			}
			continue
		}
		if key == "" || key == "-" {
			continue
		}
		out = append(out, newField(key, i, sf))
	}
	return out
}

func newField(key string, i int, sf reflect.StructField) field {
	f := field{
		key: key, index: []int{i}, typ: sf.Type,
		doc:        sf.Tag.Get("doc"),
		fallback:   sf.Tag.Get("default"),
		required:   sf.Tag.Get("required") == "true",
		unsetEmpty: sf.Tag.Get("unset") == "empty",
	}
	if e := sf.Tag.Get("enum"); e != "" {
		f.enum = strings.Split(e, ",")
	}
	if p := sf.Tag.Get("pattern"); p != "" {
		f.pattern = regexp.MustCompile(p)
	}
	f.min, _ = strconv.ParseFloat(sf.Tag.Get("min"), 64) // no min: nothing here makes sense below zero
	if m, err := strconv.ParseFloat(sf.Tag.Get("max"), 64); err == nil {
		f.max, f.bounded = m, true
	}
	return f
}

// types remembers the fields of the types seen during one load.
type types map[reflect.Type][]field

func (ts types) of(t reflect.Type) []field {
	fs, ok := ts[t]
	if !ok {
		fs = fieldsOf(t)
		ts[t] = fs
	}
	return fs
}

// fill sets the defaults of a struct, nested structs included.
func (ts types) fill(v reflect.Value) {
	for _, f := range ts.of(v.Type()) {
		fv := v.FieldByIndex(f.index)
		switch {
		case fv.Type() == secretType:
		case fv.Kind() == reflect.Struct:
			ts.fill(fv)
		case f.fallback != "":
			if err := setText(fv, f.fallback); err != nil {
				panic(fmt.Sprintf("config: the default of %s.%s: %v", v.Type(), f.key, err)) // a mistake in a struct tag; every test meets it
			}
		}
	}
}

// setText sets a text, truth value or number from its text.
func setText(v reflect.Value, text string) error {
	switch {
	case v.Kind() == reflect.String:
		v.SetString(text)
	case v.Kind() == reflect.Bool:
		switch text {
		case "true":
			v.SetBool(true)
		case "false":
			v.SetBool(false)
		default:
			return strconv.ErrSyntax
		}
	case v.CanInt():
		n, err := strconv.ParseInt(text, 10, v.Type().Bits())
		if err != nil {
			return err
		}
		v.SetInt(n)
	case v.CanFloat():
		n, err := strconv.ParseFloat(text, 64)
		if err != nil || n-n != 0 { // infinite or not a number
			return strconv.ErrSyntax
		}
		v.SetFloat(n)
	default:
		return fmt.Errorf("a %s cannot be configured", v.Type())
	}
	return nil
}

// numeric gives the value of a number field for range checks.
func numeric(v reflect.Value) float64 {
	if v.CanInt() {
		return float64(v.Int())
	}
	return v.Float()
}
