package tools

import (
	"encoding/json"
	"regexp"
	"strings"
)

// Indirect is a tool through which others are called (call_tool). The agent loop makes such a call as if the model had called the inner
// tool: its schema, its time limit and the bound of its results hold, and the id of the call is the same.
type Indirect interface {
	Tool
	// Inner returns the name of the tool that a call means and the arguments for it, or the result that says what is wrong with the call.
	Inner(args json.RawMessage) (name string, inner json.RawMessage, problem *Result)
	// Find returns the tool of that name.
	Find(name string) (Tool, bool)
}

// validating is how the schema library begins an error: with the places in the schema, the innermost last.
var validating = regexp.MustCompile(`(?:validating (root|/[^\s:]*): )+`)

// SchemaProblem words why arguments do not fit a schema, without the lead of the library: places are paths of the arguments (a.b[]).
func SchemaProblem(err error) string {
	text := validating.ReplaceAllStringFunc(err.Error(), func(lead string) string {
		at := argumentPath(validating.FindStringSubmatch(lead)[1])
		if at == "" {
			return ""
		}
		return at + ": "
	})
	return strings.NewReplacer("<anonymous schema>", "…", "<invalid reflect.Value>", "null").Replace(text)
}

// argumentPath makes a path of arguments out of a pointer into their schema.
func argumentPath(pointer string) string {
	parts := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	var path strings.Builder
	for i := 0; i < len(parts); i++ {
		switch parts[i] {
		case "properties":
			if i++; i < len(parts) {
				if path.Len() > 0 {
					path.WriteByte('.')
				}
				path.WriteString(strings.NewReplacer("~1", "/", "~0", "~").Replace(parts[i]))
			}
		case "items", "prefixItems":
			path.WriteString("[]")
		}
	}
	return path.String()
}
