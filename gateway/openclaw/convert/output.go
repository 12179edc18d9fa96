package convert

import (
	"strings"

	"parley/gateway/openclaw/ids"
	"parley/gateway/openclaw/report"
)

// output is the new configuration under way and the report about the old one. All converters write to one output.
type output struct {
	*report.Report
	ids    ids.Adapters
	getenv func(string) string
	config map[string]any
}

// put sets a value at a place of the new configuration.
func (o *output) put(to []string, v any) { put(o.config, to, v) }

// put sets a value at a place.
func put(m map[string]any, to []string, v any) {
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

func object(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

func list(v any) []any {
	l, _ := v.([]any)
	return l
}

func text(v any) string {
	s, _ := v.(string)
	return strings.TrimSpace(s)
}

func anys[T ~string](s []T) []any {
	out := make([]any, len(s))
	for i := range s {
		out[i] = string(s[i])
	}
	return out
}

// texts returns the texts of a list; a single text is a list of one. ok is false when the value is neither.
func texts(v any) (out []string, ok bool) {
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
