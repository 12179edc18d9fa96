package api

import (
	"encoding"
	"encoding/json"
	"reflect"
	"sync"
	"time"

	"parley/sessions"
)

// Marshal writes a value as JSON as all of the API does: times are RFC 3339 in UTC, to the millisecond at most, and the one session of
// session.scope global is main (contract K6).
func Marshal(v any) ([]byte, error) { return json.Marshal(Shown(v)) }

// Shown gives a value as callers of the API get it; the page shows it without a way through JSON. The value that was given stays as it is.
func Shown(v any) any {
	if x := reflect.ValueOf(v); x.IsValid() {
		return inUTC(x).Interface()
	}
	return v
}

var (
	timeType = reflect.TypeFor[time.Time]()
	keyType  = reflect.TypeFor[sessions.Key]()
)

// inUTC gives the value with its times in UTC, and its keys as callers know them. What has any is copied, so that nothing of the caller's
// changes.
func inUTC(v reflect.Value) reflect.Value {
	t := v.Type()
	switch t {
	case timeType:
		return reflect.ValueOf(v.Interface().(time.Time).UTC().Truncate(time.Millisecond))
	case keyType:
		return reflect.ValueOf(v.Interface().(sessions.Key).Shown())
	}
	if !hasTimes(t) {
		return v
	}
	out := reflect.New(t).Elem()
	switch t.Kind() {
	case reflect.Struct:
		out.Set(v)
		for i := range t.NumField() {
			if t.Field(i).IsExported() {
				out.Field(i).Set(inUTC(v.Field(i)))
			}
		}
	case reflect.Pointer:
		if v.IsNil() {
			return v
		}
		out.Set(reflect.New(t.Elem()))
		out.Elem().Set(inUTC(v.Elem()))
	case reflect.Interface:
		if v.IsNil() {
			return v
		}
		out.Set(inUTC(v.Elem()))
	case reflect.Slice:
		if v.IsNil() {
			return v
		}
		out.Set(reflect.MakeSlice(t, v.Len(), v.Len()))
		for i := range v.Len() {
			out.Index(i).Set(inUTC(v.Index(i)))
		}
	case reflect.Array:
		for i := range v.Len() {
			out.Index(i).Set(inUTC(v.Index(i)))
		}
	case reflect.Map:
		if v.IsNil() {
			return v
		}
		out.Set(reflect.MakeMapWithSize(t, v.Len()))
		for it := v.MapRange(); it.Next(); {
			out.SetMapIndex(it.Key(), inUTC(it.Value()))
		}
	default:
		return v
	}
	return out
}

var timed sync.Map // reflect.Type → bool, as hasTimes says

// hasTimes reports whether a value of a type may hold times or keys that JSON shows. Types that write their JSON themselves hold none, but for
// Optional, whose fields are as here.
func hasTimes(t reflect.Type) bool {
	if known, ok := timed.Load(t); ok {
		return known.(bool)
	}
	has := holds(t, map[reflect.Type]bool{})
	timed.Store(t, has)
	return has
}

func holds(t reflect.Type, seen map[reflect.Type]bool) bool {
	switch {
	case t == timeType, t == keyType:
		return true
	case seen[t], t.Kind() != reflect.Pointer && t.Kind() != reflect.Interface && t.Implements(reflect.TypeFor[encoding.TextMarshaler]()):
		return false
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Interface:
		return true
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return holds(t.Elem(), seen)
	case reflect.Struct:
		for i := range t.NumField() {
			if f := t.Field(i); f.IsExported() && holds(f.Type, seen) {
				return true
			}
		}
	default:
	}
	return false
}
