package tools

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// integer is a whole number as models write it: 30, 30.0 and 30.7 all mean 30; what is too large for an int becomes the largest.
type integer struct {
	n   int
	set bool
}

// or gives the number, or def when there was none.
func (i integer) or(def int) int {
	if !i.set {
		return def
	}
	return i.n
}

// bound gives a number of things asked for: def when none was given, which a 0 means too, and most at the most.
func (i integer) bound(def, most int) int {
	if i.n == 0 {
		return def
	}
	return min(max(i.n, 1), most)
}

// IsZero tells encoding/json and the schema that the argument is optional.
func (i integer) IsZero() bool { return !i.set }

// UnmarshalJSON reads a number or null.
func (i *integer) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		return nil
	}
	var f float64
	if err := json.Unmarshal(b, &f); err != nil {
		// A number that overflows float64 is still a number: far too large.
		if b[0] >= '0' && b[0] <= '9' {
			f = math.MaxInt32
		} else if b[0] == '-' {
			f = math.MinInt32
		} else {
			return errors.New("must be a whole number")
		}
	}
	i.n, i.set = int(min(max(math.Floor(f), math.MinInt32), math.MaxInt32)), true
	return nil
}

// schemaOf gives the closed JSON Schema of an argument struct. A tag jsonschema:"…" describes an argument; enums are given by
// argument name. The structs are ours and fixed: one that has no schema is a mistake in the program.
func schemaOf[T any](enums map[string][]string) json.RawMessage {
	s, err := jsonschema.For[T](&jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[integer](): {Type: "integer", Minimum: jsonschema.Ptr(0.0)},
	}})
	if err != nil {
		panic(fmt.Sprintf("tools: schema of %T: %v", *new(T), err))
	}
	for name, values := range enums {
		p := s.Properties[name]
		if p.Items != nil {
			p = p.Items
		}
		for _, v := range values {
			p.Enum = append(p.Enum, v)
		}
	}
	for _, p := range s.Properties { // what is not given is left out, never null
		if i := slices.Index(p.Types, "null"); i >= 0 && len(p.Types) == 2 {
			p.Types, p.Type = nil, p.Types[1-i]
		}
	}
	b, err := json.Marshal(s)
	if err != nil {
		panic(fmt.Sprintf("tools: schema of %T: %v", *new(T), err))
	}
	return b
}

// decode reads the arguments of a call. The loop has checked them against the schema; what reaches a tool all the same gets an
// answer that says what is wrong, for the model to correct.
func decode[T any](raw json.RawMessage) (T, *problem) {
	var v T
	if len(bytes.TrimSpace(raw)) == 0 {
		return v, nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&v); err != nil {
		return v, mistake("the arguments are not valid: %s; this tool takes %s", strings.TrimPrefix(err.Error(), "json: "), argumentNames[T]())
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return v, mistake("the arguments must be one JSON object; this tool takes %s", argumentNames[T]())
	}
	return v, nil
}

func argumentNames[T any]() string {
	var names []string
	for f := range reflect.TypeFor[T]().Fields() {
		n, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		names = append(names, n)
	}
	if len(names) == 0 {
		return "no arguments"
	}
	return strings.Join(names, ", ")
}

// problem is an answer that is not what the caller hoped for, in the shape that every tool uses for it.
type problem struct {
	RunID  string `json:"runId,omitempty"`
	Status string `json:"status"` // error or forbidden
	Error  string `json:"error"`  // what is wrong and what to do next
}

const (
	statusError     = "error"
	statusForbidden = "forbidden"
)

func mistake(format string, a ...any) *problem {
	return &problem{Status: statusError, Error: fmt.Sprintf(format, a...)}
}

func forbidden(format string, a ...any) *problem {
	return &problem{Status: statusForbidden, Error: fmt.Sprintf(format, a...)}
}

// result makes the answer of a problem.
func (p *problem) result() Result {
	r := reply(p)
	r.IsError = true
	return r
}

// Forbidden is the result of a call that the rules do not permit.
func Forbidden(format string, a ...any) Result { return forbidden(format, a...).result() }

// Refused is what a Host returns from Ask and Spawn when its rules, not a fault, are in the way: too many children, an agent
// that is not there, a label in use. The model gets Reason as `forbidden`; any other error fails the run.
type Refused struct{ Reason string }

func (r *Refused) Error() string { return r.Reason }

// reply gives v as the text of a result: compact JSON with <, > and & left as they are.
func reply(v any) Result { return Result{Text: string(encode(v))} }

// encode gives v as compact JSON. Its values are our own result structs, which always encode; raw arguments inside them have
// been made valid before.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(fmt.Sprintf("tools: encode %T: %v", v, err))
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

// clip cuts s to at most n characters, marker included, and says whether it did. It never cuts inside a character.
func clip(s string, n int) (string, bool) {
	if len(s) <= n {
		return strings.ToValidUTF8(s, "\uFFFD"), false
	}
	s = strings.ToValidUTF8(s, "\uFFFD")
	keep := max(n-len([]rune(cutMark)), 0)
	runes := 0
	at := -1
	for i := range s {
		if runes == keep {
			at = i
		}
		if runes == n {
			return s[:at] + cutMark, true
		}
		runes++
	}
	return s, false
}

// cutMark shows where text was cut.
const cutMark = " …(truncated)…"

// oneOf reports whether v is allowed, and otherwise what is.
func oneOf(name, v string, allowed []string) *problem {
	if slices.Contains(allowed, v) {
		return nil
	}
	return mistake("%s %q is not known; it can be %s", name, v, strings.Join(allowed, ", "))
}
