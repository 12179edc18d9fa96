package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"
)

const (
	maxBody     = 1 << 20
	bodyTimeout = 30 * time.Second // a body that takes longer is not waited for
	maxKey      = 200
)

// read fills the parameters from a request and gives its idempotency key. Nothing that it does not know passes.
func (p *plan) read(w http.ResponseWriter, r *http.Request, in reflect.Value) (key string, err error) {
	given := map[string]bool{}
	for _, x := range p.path {
		given[x.name] = true
		if err := x.set(in.FieldByIndex(x.index), r.PathValue(x.name)); err != nil {
			return "", err
		}
	}
	if err := p.readQuery(r, in, given); err != nil {
		return "", err
	}
	if key, err = p.readBody(w, r, in, given); err != nil {
		return "", err
	}
	for _, x := range slices.Concat(p.path, p.query, p.body) {
		if err := x.check(in.FieldByIndex(x.index), given[x.name]); err != nil {
			return "", err
		}
	}
	if hs := r.Header.Values(idempotencyHeader); len(hs) > 0 {
		h := hs[0]
		if h == "" {
			return "", errKey
		}
		if key != "" && key != h {
			return "", Bad("the idempotency keys of the header and the body differ")
		}
		key = h
	}
	return key, properKey(key)
}

var errKey = Bad("an idempotency key is 1 to %d visible ASCII characters", maxKey)

func properKey(key string) error {
	if len(key) > maxKey || strings.ContainsFunc(key, func(c rune) bool { return c < '!' || c > '~' }) {
		return errKey
	}
	return nil
}

func (p *plan) readQuery(r *http.Request, in reflect.Value, given map[string]bool) error {
	q, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return Bad("invalid query %.100q: %v", r.URL.RawQuery, err)
	}
	for name, values := range q {
		if !slices.ContainsFunc(p.query, func(x param) bool { return x.name == name }) {
			return Bad("unknown parameter %.100q: %s", name, names(p.query))
		}
		if len(values) > 1 {
			return Bad("%s is given %d times: give it once", name, len(values))
		}
	}
	for _, x := range p.query {
		text := q.Get(x.name)
		if text == "" {
			text = x.def
		}
		if text != "" {
			given[x.name] = true
			if err := x.set(in.FieldByIndex(x.index), text); err != nil {
				return err
			}
		}
	}
	return nil
}

// readBody reads a closed JSON object. Without a body nothing is set.
func (p *plan) readBody(w http.ResponseWriter, r *http.Request, in reflect.Value, given map[string]bool) (key string, err error) {
	if r.Body == nil || r.Body == http.NoBody {
		return "", p.defaults(in)
	}
	rc := http.NewResponseController(w)
	_ = rc.SetReadDeadline(time.Now().Add(bodyTimeout)) // a recorder has no deadlines
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if _, long := errors.AsType[*http.MaxBytesError](err); long {
		return "", Refuse(http.StatusRequestEntityTooLarge, "the body is longer than %d bytes", maxBody)
	} else if err != nil {
		return "", Refuse(http.StatusRequestTimeout, "the body did not arrive within %s", bodyTimeout)
	}
	_ = rc.SetReadDeadline(time.Time{}) // not when it was given up: net/http reads on after the answer, which needs an end
	if len(bytes.TrimSpace(text)) == 0 {
		return "", p.defaults(in)
	}
	if t, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || t != "application/json" {
		return "", Refuse(http.StatusUnsupportedMediaType, "send JSON, with Content-Type: application/json")
	}
	fields, err := object(text)
	if err != nil {
		return "", err
	}
	if err := p.defaults(in); err != nil {
		return "", err
	}
	for name, v := range fields {
		if name == idempotencyKey && r.Method != http.MethodGet {
			if err := json.Unmarshal(v, &key); err != nil {
				return "", Bad("%s: must be a string", idempotencyKey)
			}
			if key == "" && string(v) != "null" {
				return "", errKey
			}
			continue
		}
		i := slices.IndexFunc(p.body, func(x param) bool { return x.name == name })
		if i < 0 {
			known := p.body
			if r.Method != http.MethodGet {
				known = append(slices.Clip(known), param{name: idempotencyKey})
			}
			return "", Bad("unknown field %.100q: %s", name, names(known))
		}
		given[name] = true
		dec := json.NewDecoder(bytes.NewReader(v))
		dec.DisallowUnknownFields()
		if err := dec.Decode(in.FieldByIndex(p.body[i].index).Addr().Interface()); err != nil {
			return "", Bad("%s%s", name, because(err))
		}
	}
	return key, nil
}

// object reads one JSON object whose fields each stand there once.
func object(text []byte) (map[string]json.RawMessage, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil || fields == nil {
		return nil, Bad("the body must be one JSON object%s", because(err))
	}
	dec, seen := json.NewDecoder(bytes.NewReader(text)), map[string]bool{}
	_, err := dec.Token() // it is an object
	for err == nil && dec.More() {
		var name json.Token
		if name, err = dec.Token(); err != nil {
			break
		}
		field, _ := name.(string)
		if seen[field] {
			return nil, Bad("%.100q is given twice: give it once", field)
		}
		seen[field] = true
		var v json.RawMessage
		err = dec.Decode(&v)
	}
	return fields, err
}

// defaults fills the fields of the body that have one.
func (p *plan) defaults(in reflect.Value) error {
	for _, x := range p.body {
		if x.def != "" {
			if err := x.set(in.FieldByIndex(x.index), x.def); err != nil {
				return err
			}
		}
	}
	return nil
}

// because words what is wrong with a JSON text.
func because(err error) string {
	if err == nil {
		return ""
	}
	if t, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		field := ""
		if t.Field != "" {
			field = " of " + t.Field
		}
		return ": " + article(t.Value) + field + " has the wrong type"
	}
	return ": " + strings.TrimPrefix(err.Error(), "json: ")
}

// Optional is a field of a body that may be left out (nothing changes), null (cleared) or a value.
type Optional[T any] struct {
	Set   bool
	Null  bool
	Value T
}

// UnmarshalJSON is called for null as well.
func (o *Optional[T]) UnmarshalJSON(text []byte) error {
	o.Set = true
	if string(text) == "null" {
		o.Null = true
		return nil
	}
	return json.Unmarshal(text, &o.Value)
}

// MarshalJSON writes what was read. Leave a field out with omitzero.
func (o Optional[T]) MarshalJSON() ([]byte, error) {
	if o.Null || !o.Set {
		return []byte("null"), nil
	}
	return json.Marshal(o.Value)
}

// Some is a value that is set.
func Some[T any](v T) Optional[T] { return Optional[T]{Set: true, Value: v} }

// Clear is one that is null.
func Clear[T any]() Optional[T] { return Optional[T]{Set: true, Null: true} }

// Pointer gives the value as a patch of the store has it: nil leaves as is, the zero value clears.
func (o Optional[T]) Pointer() *T {
	if !o.Set {
		return nil
	}
	return &o.Value
}

// article puts a or an before a word.
func article(word string) string {
	if word != "" && strings.ContainsRune("aeiou", rune(word[0])) {
		return "an " + word
	}
	return "a " + word
}
