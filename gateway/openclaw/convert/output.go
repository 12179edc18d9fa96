package convert

import (
	"parley/gateway/openclaw/ids"
	"parley/gateway/openclaw/jsontree"
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
func (o *output) put(to []string, v any) { jsontree.Put(o.config, to, v) }

func anys[T ~string](s []T) []any {
	out := make([]any, len(s))
	for i := range s {
		out[i] = string(s[i])
	}
	return out
}
