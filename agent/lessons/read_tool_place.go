package lessons

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"parley/channels/pattern"
	"parley/tools"
)

// countedTool gives the tool whose place in the list an error gives, in its words or in the path of the parameter. Gemini has one list of
// declarations in one tool: the place in the inner list counts. Some servers count otherwise: where the tool at that place cannot have the fault
// that the error tells of, it is the nearest one that can; behind the last one stands the last one, counted from one.
func (r reading) countedTool() (name string, counted bool) {
	text := strings.ToLower(r.f.Param) + "\n" + r.text
	for _, place := range []*pattern.Pattern{declaration, toolIndex} {
		m := place.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		at, err := strconv.Atoi(strings.Join(m[1:], ""))
		if err != nil {
			return "", false
		}
		nearest, can := -1, r.canHaveFault(text)
		for i, name := range r.sent.Tools {
			if can != nil && can(name) && (nearest < 0 || max(i-at, at-i) < max(nearest-at, at-nearest)) {
				nearest = i
			}
		}
		switch {
		case nearest >= 0:
			return r.sent.Tools[nearest], true
		case at < len(r.sent.Tools):
			return r.sent.Tools[at], true
		case at > 0 && at == len(r.sent.Tools):
			return r.sent.Tools[at-1], true
		}
		return "", false
	}
	return "", false
}

var (
	// nameField is the place of the name of a tool, and namePattern the regular expression that an error quotes.
	nameField   = pattern.New(`\b(?:tools|functions|function_?declarations)(?:\[|\.|/)\d+\]?(?:[./](?:function|custom))?[./]name\b`)
	namePattern = pattern.New(`\^\[[^'"\x60\s]{1,80}\$`)
	// propertyPlace is the way to a property in a schema, through those around it.
	propertyPlace = pattern.New(`\bproperties[./\n\[]['"]?([a-z_][\w-]*)`)
)

// canHaveFault gives which tools can have the fault that an error tells of; nil = it does not say.
// source: platform.openai.com/docs/guides/function-calling (string does not match pattern), hackers365/xiaozhi-esp32-server-golang#268
func (r reading) canHaveFault(text string) func(name string) bool {
	if nameField.MatchString(text) {
		if form, err := regexp.Compile(namePattern.FindString(r.f.Raw)); err == nil && form.String() != "" {
			return func(name string) bool { return !form.MatchString(name) }
		}
		for _, m := range bounded.FindAllStringSubmatch(nameField.ReplaceAllString(r.text, ""), -1) {
			if most, ok := numberOf(m[1]); ok && longText.MatchString(r.text) {
				return func(name string) bool { return len(name) > int(most) }
			}
		}
		return nil
	}
	var names []string
	for _, m := range propertyPlace.FindAllStringSubmatch(text, -1) {
		names = append(names, m[1])
	}
	if len(names) == 0 {
		return nil
	}
	return func(tool string) bool {
		i := slices.IndexFunc(r.call.offered, func(t tools.Spec) bool { return t.Name == tool })
		return i >= 0 && hasProperties(r.call.offered[i].Schema, names)
	}
}

// hasProperties reports whether a schema has properties of all these names, in lower case, in whatever depth.
func hasProperties(schema json.RawMessage, names []string) bool {
	var root any
	if json.Unmarshal(schema, &root) != nil {
		return false
	}
	found := make(map[string]bool)
	addProperties(root, found)
	return !slices.ContainsFunc(names, func(name string) bool { return !found[name] })
}

// addProperties adds the names of the properties of a schema, in lower case.
func addProperties(v any, found map[string]bool) {
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			addProperties(x, found)
		}
	case map[string]any:
		for key, x := range v {
			properties, _ := x.(map[string]any)
			for name := range properties {
				if key == "properties" {
					found[strings.ToLower(name)] = true
				}
			}
			addProperties(x, found)
		}
	}
}
