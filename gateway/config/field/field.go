package field

import (
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"parley/channels"
)

// Field is one configurable field of a struct, as its tags describe it.
type Field struct {
	Key        string
	Index      []int // for reflect.Value.FieldByIndex
	Type       reflect.Type
	Doc        string
	Default    string // the tag default, "" = the zero value
	Enum       []string
	Min, Max   float64
	Bounded    bool // Max counts
	Pattern    *regexp.Regexp
	Required   bool
	UnsetEmpty bool // an environment variable that is not set counts as an empty value
}

// SecretType is the type of secrets, which is no group of fields.
var SecretType = reflect.TypeFor[channels.Secret]()

// Of returns the configurable fields of a struct type, inlined ones included, in the order of the source.
func Of(t reflect.Type) []Field {
	out := make([]Field, 0, t.NumField())
	for i := range t.NumField() {
		sf := t.Field(i)
		key, opts, _ := strings.Cut(sf.Tag.Get("yaml"), ",")
		if opts == "inline" {
			for _, f := range Of(sf.Type) {
				f.Index = append([]int{i}, f.Index...)
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

func newField(key string, i int, sf reflect.StructField) Field {
	f := Field{Key: key, Index: []int{i}, Type: sf.Type}
	for tag := string(sf.Tag); ; { // in one walk: a look-up walks from the start each time
		name, rest, _ := strings.Cut(strings.TrimLeft(tag, " "), ":")
		quoted, err := strconv.QuotedPrefix(rest)
		if err != nil {
			return f
		}
		value, _ := strconv.Unquote(quoted)
		f.set(name, value)
		tag = rest[len(quoted):]
	}
}

// set reads one key of a tag.
func (f *Field) set(name, value string) {
	switch name {
	case "doc":
		f.Doc = value
	case "default":
		f.Default = value
	case "required":
		f.Required = value == "true"
	case "unset":
		f.UnsetEmpty = value == "empty"
	case "enum":
		f.Enum = strings.Split(value, ",")
	case "pattern":
		f.Pattern = regexp.MustCompile(value)
	case "min":
		f.Min, _ = strconv.ParseFloat(value, 64) // no Min: nothing here makes sense below zero
	case "max":
		m, err := strconv.ParseFloat(value, 64)
		f.Max, f.Bounded = m, err == nil
	}
}

// Cache remembers the fields of the types seen so far. One goroutine uses it.
type Cache map[reflect.Type][]Field

// Of returns the fields of a struct type.
func (c Cache) Of(t reflect.Type) []Field {
	fs, ok := c[t]
	if !ok {
		fs = Of(t)
		c[t] = fs
	}
	return fs
}

// Fill sets the defaults of a struct, nested structs included.
func (c Cache) Fill(v reflect.Value) {
	for _, f := range c.Of(v.Type()) {
		fv := v.FieldByIndex(f.Index)
		switch {
		case fv.Type() == SecretType:
		case fv.Kind() == reflect.Struct:
			c.Fill(fv)
		case f.Default != "":
			if err := SetText(fv, f.Default); err != nil {
				panic(fmt.Sprintf("config: the default of %s.%s: %v", v.Type(), f.Key, err)) // a mistake in a struct tag; every test meets it
			}
		}
	}
}

// SetText sets a text, truth value or number from its text.
func SetText(v reflect.Value, text string) error {
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

// Number returns the value of a number field for range checks.
func Number(v reflect.Value) float64 {
	if v.CanInt() {
		return float64(v.Int())
	}
	return v.Float()
}

// FormatNumber writes a number without exponents.
func FormatNumber(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }
