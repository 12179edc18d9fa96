package jsontree

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// Put sets a value at a place.
func Put(m map[string]any, to []string, v any) {
	for _, k := range to[:len(to)-1] {
		next, ok := m[k].(map[string]any)
		if !ok {
			next = map[string]any{}
			m[k] = next
		}
		m = next
	}
	m[to[len(to)-1]] = v
}

// Object returns a value that is an object, else nil.
func Object(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

// List returns a value that is a list, else nil.
func List(v any) []any {
	l, _ := v.([]any)
	return l
}

// Text returns a value that is a text, without spaces around it, else "".
func Text(v any) string {
	s, _ := v.(string)
	return strings.TrimSpace(s)
}

// Scalars gives the values as YAML writes them: numbers as numbers.
func Scalars(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, x := range v {
			out[k] = Scalars(x)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = Scalars(x)
		}
		return out
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		if f, err := v.Float64(); err == nil {
			return f
		}
		return v.String()
	}
	return v
}

// Split takes a place apart, as problems name it: channels.telegram.groups.-100.topics, bindings[0].match. Names may have dots in them: the
// longest that fits is taken. It goes as deep as something stands there.
func Split(v any, place string) (out []string) {
	switch v := v.(type) {
	case map[string]any:
		name := ""
		for k := range v {
			rest, ok := strings.CutPrefix(place, k)
			if ok && (rest == "" || rest[0] == '.' || rest[0] == '[') && len(k) > len(name) {
				name = k
			}
		}
		if name != "" {
			return append([]string{name}, Split(v[name], strings.TrimPrefix(place[len(name):], "."))...)
		}
	case []any:
		number, rest, ok := strings.Cut(strings.TrimPrefix(place, "["), "]")
		if n, err := strconv.Atoi(number); ok && err == nil && strings.HasPrefix(place, "[") && n >= 0 && n < len(v) {
			return append([]string{number}, Split(v[n], strings.TrimPrefix(rest, "."))...)
		}
	}
	return nil
}

// At returns what stands at a place.
func At(v any, seg []string) any {
	for _, s := range seg {
		switch x := v.(type) {
		case map[string]any:
			v = x[s]
		case []any:
			n, _ := strconv.Atoi(s)
			v = x[n]
		}
	}
	return v
}

// Remove takes away what stands at a place.
func Remove(top map[string]any, seg []string) bool {
	if len(seg) == 0 {
		return false
	}
	last := seg[len(seg)-1]
	switch in := At(top, seg[:len(seg)-1]).(type) {
	case map[string]any:
		delete(in, last)
		return true
	case []any:
		n, err := strconv.Atoi(last)
		if err != nil {
			return false
		}
		rest, outer := slices.Delete(slices.Clone(in), n, n+1), seg[len(seg)-2]
		switch around := At(top, seg[:len(seg)-2]).(type) {
		case map[string]any:
			around[outer] = rest
			return true
		case []any:
			m, _ := strconv.Atoi(outer)
			around[m] = rest
			return true
		}
	}
	return false
}

// Texts returns the texts of a list; a single text is a list of one. ok is false when the value is neither.
func Texts(v any) (out []string, ok bool) {
	switch v := v.(type) {
	case string:
		return []string{v}, true
	case []any:
		for _, x := range v {
			s, isText := x.(string)
			if !isText {
				return nil, false
			}
			out = append(out, strings.TrimSpace(s))
		}
		return out, true
	}
	return nil, v == nil
}
