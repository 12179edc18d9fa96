package hooks

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"

	"parley/gateway/api"
)

// maxDepth is how deep a payload may be nested.
const maxDepth = 100

// decode reads the payload of a request: one JSON value. Whole numbers are int64, so that templates can compare them; others are as they
// were written.
func decode(text []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	if err == nil {
		if _, end := d.Token(); !errors.Is(end, io.EOF) {
			err = errors.New("more data follows the JSON value")
		}
	}
	if err != nil {
		return nil, api.Bad("the body must be JSON: %v", err)
	}
	if v, err = plain(v, 0); err != nil {
		return nil, err
	}
	return v, nil
}

func plain(v any, depth int) (_ any, err error) {
	if depth > maxDepth {
		return nil, api.Bad("the body is nested deeper than %d levels", maxDepth)
	}
	switch x := v.(type) {
	case json.Number:
		if n, err := x.Int64(); err == nil {
			return n, nil
		}
		return x.String(), nil
	case map[string]any:
		for k := range x {
			if x[k], err = plain(x[k], depth+1); err != nil {
				return nil, err
			}
		}
	case []any:
		for i := range x {
			if x[i], err = plain(x[i], depth+1); err != nil {
				return nil, err
			}
		}
	}
	return v, nil
}

// matches reports whether a payload is one that a mapping is for.
func (m Match) matches(payload any) bool {
	if m.Field == "" {
		return true
	}
	var path []any
	for _, name := range strings.Split(m.Field, ".") {
		path = append(path, name)
	}
	v := get(payload, path...)
	switch v.(type) {
	case map[string]any, []any:
		return len(m.Equals) == 0
	}
	text := templateText(v)
	if len(m.Equals) == 0 {
		return text != ""
	}
	return slices.Contains(m.Equals, text)
}
