package tools

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// storedTexts are the arguments whose text is kept or sent as it is: an empty one, and the word null, mean just that.
var storedTexts = []string{"content", "old", "new", "text", "message", "task"}

// FitArguments reads the arguments of a call as models fill them in (contract G1). An optional one that says that it is not set is left
// out, a number or a boolean in quotes is one, and what the tool does not take is left out and named in ignored. A name that is close to
// one of the tool's is refused with that one: a misspelt restriction must not be dropped. Tools of MCP servers get what the model wrote.
func FitArguments(spec Spec, raw json.RawMessage) (args json.RawMessage, ignored []string, refused *Result) {
	var given map[string]json.RawMessage
	if spec.Server != "" || json.Unmarshal(raw, &given) != nil || len(given) == 0 {
		return raw, nil, nil
	}
	var schema struct {
		Properties map[string]json.RawMessage
		Required   []string
		Additional json.RawMessage `json:"additionalProperties"`
	}
	if json.Unmarshal(spec.Schema, &schema) != nil {
		return raw, nil, nil
	}
	changed := false
	for _, name := range slices.Sorted(maps.Keys(given)) {
		property, known := schema.Properties[name]
		if !known {
			if string(schema.Additional) == "true" || schema.Additional == nil {
				continue
			}
			if near := nearest(name, slices.Sorted(maps.Keys(schema.Properties))); near != "" {
				r := mistake("%s has no argument %q; did you mean %q? Nothing was done.", spec.Name, name, near).result()
				return raw, nil, &r
			}
			ignored, changed = append(ignored, name), true
			delete(given, name)
			continue
		}
		value, set := fitValue(name, given[name], property)
		if !set && !slices.Contains(schema.Required, name) {
			delete(given, name)
			changed = true
		} else if value != nil {
			given[name], changed = value, true
		}
	}
	if !changed {
		return raw, nil, nil
	}
	return encode(given), ignored, nil
}

// fitValue gives a value as the schema of its argument wants it; nil when it stays as it is. set is false when it says that nothing is set.
func fitValue(name string, value, property json.RawMessage) (fit json.RawMessage, set bool) {
	var text string
	switch {
	case string(value) == "null":
		return nil, false
	case value[0] != '"' || json.Unmarshal(value, &text) != nil:
		return nil, true
	}
	bare := strings.TrimSpace(text)
	if !slices.Contains(storedTexts, name) && (bare == "" || strings.EqualFold(bare, "null")) {
		return nil, false
	}
	switch typeOf(property) {
	case "integer", "number":
		if n, err := strconv.ParseFloat(bare, 64); err == nil && json.Valid([]byte(bare)) {
			return encode(n), true
		}
	case "boolean":
		if b, err := strconv.ParseBool(strings.ToLower(bare)); err == nil && len(bare) > 1 {
			return encode(b), true
		}
	}
	return nil, true
}

// typeOf gives the type of an argument; "" when there are several.
func typeOf(property json.RawMessage) (name string) {
	var p struct{ Type json.RawMessage }
	if json.Unmarshal(property, &p) == nil {
		_ = json.Unmarshal(p.Type, &name)
	}
	return name
}

// nearest gives the name that is within two edits of another one; "" = none.
func nearest(name string, names []string) string {
	best, at := 3, ""
	for _, n := range names {
		if d := edits(strings.ToLower(name), strings.ToLower(n)); d < best && d < len(n) {
			best, at = d, n
		}
	}
	return at
}

// edits is how many letters of one word are added, left out or changed in the other.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := before
			if a[i] != b[j] {
				cost++
			}
			before = row[j+1]
			row[j+1] = min(cost, before+1, row[j]+1)
		}
	}
	return row[len(b)]
}

// WithIgnored names in the answer of a call the arguments that were left out of it.
func WithIgnored(r Result, ignored []string) Result {
	if len(ignored) == 0 {
		return r
	}
	if body, ok := strings.CutSuffix(r.Text, "}"); ok && strings.HasPrefix(body, "{") && json.Valid([]byte(r.Text)) {
		sep := ","
		if body == "{" {
			sep = ""
		}
		r.Text = fmt.Sprintf("%s%s%q:%s}", body, sep, "ignored", encode(ignored))
		return r
	}
	r.Text += "\n(ignored: " + strings.Join(ignored, ", ") + ")"
	return r
}

// Mistake is the result of a call that the model got wrong.
func Mistake(format string, a ...any) Result { return mistake(format, a...).result() }
