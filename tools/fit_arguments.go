package tools

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// storedTexts are the arguments whose text is kept or sent as it is: an empty one, and the word null, mean just that.
var storedTexts = []string{"content", "old", "new", "text", "message", "task"}

// NoArgument is the name of an optional argument that some endpoints are told of where a tool takes none. A value of it is dropped.
const NoArgument = "no_argument"

// FitArguments reads the arguments of a call as models fill them in (contract G1). An optional one that says that it is not set is left
// out; a number, a boolean, a list or an object in quotes is one; a single value is a list of one, and a number or a list of one text is a text
// where the tool takes text. What the tool does not take is left out and named in ignored. A name that is close to one of the tool's is refused
// with that one: a misspelt restriction must not be dropped. Tools of MCP servers get what the model wrote.
func FitArguments(spec Spec, raw json.RawMessage) (args json.RawMessage, ignored []string, refused *Result) {
	var given map[string]json.RawMessage
	if json.Unmarshal(raw, &given) != nil || len(given) == 0 {
		return raw, nil, nil
	}
	if _, sent := given[NoArgument]; sent && !bytes.Contains(spec.Schema, []byte(`"`+NoArgument+`"`)) {
		delete(given, NoArgument)
		raw = encode(given)
	}
	if spec.Server != "" {
		return raw, nil, nil
	}
	schema := ownParameters.of(spec)
	if schema == nil {
		return raw, nil, nil
	}
	changed := false
	for _, name := range slices.Sorted(maps.Keys(given)) {
		property, isKnown := schema.properties[name]
		if !isKnown {
			if schema.additional {
				continue
			}
			if near := nearest(name, slices.Sorted(maps.Keys(schema.properties))); near != "" {
				r := mistake("%s has no argument %q; did you mean %q? Nothing was done.", spec.Name, name, near).result()
				return raw, nil, &r
			}
			ignored, changed = append(ignored, name), true
			delete(given, name)
			continue
		}
		value, set := property.fitArgument(name, given[name])
		if null := string(given[name]) == "null"; null || !set && !slices.Contains(schema.required, name) { // a required one is then missing
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

// ArgumentsFit reports whether FitArguments would change nothing of a call's arguments, which most models write as they are wanted. It
// takes them decoded; false = it may.
func ArgumentsFit(spec Spec, args map[string]any) bool {
	if _, sent := args[NoArgument]; sent || spec.Server != "" {
		return !sent
	}
	schema := ownParameters.of(spec)
	if schema == nil {
		return true
	}
	for name, value := range args {
		if p := schema.properties[name]; p == nil || !p.fits(value) {
			return false
		}
	}
	return true
}

// fits reports whether a value is what the schema wants, and says that something is set. It knows texts, numbers and booleans only.
func (p *property) fits(value any) bool {
	switch v := value.(type) {
	case string:
		bare := strings.TrimSpace(v)
		return p.is() == "string" && bare != "" && !strings.EqualFold(bare, "null") && (len(p.Enum) == 0 || slices.Contains(p.Enum, bare))
	case float64:
		return p.is() == "integer" || p.is() == "number"
	case bool:
		return p.is() == "boolean"
	}
	return false
}

// parameters are what the schema of a tool says of its arguments.
type parameters struct {
	schema     json.RawMessage
	properties map[string]*property // nil where what is said cannot be read
	required   []string
	additional bool // there may be others
}

// parameterCache has the parameters of tools that are no MCP server's, by the tools' names: their schemas hardly ever change.
type parameterCache struct{ byName sync.Map }

var ownParameters parameterCache

// of returns the parameters of a tool; nil when its schema cannot be read.
func (c *parameterCache) of(spec Spec) *parameters {
	if had, ok := c.byName.Load(spec.Name); ok && bytes.Equal(had.(*parameters).schema, spec.Schema) {
		return had.(*parameters)
	}
	var schema struct {
		Properties map[string]json.RawMessage
		Required   []string
		Additional json.RawMessage `json:"additionalProperties"`
	}
	if json.Unmarshal(spec.Schema, &schema) != nil {
		return nil
	}
	p := &parameters{schema: spec.Schema, properties: make(map[string]*property, len(schema.Properties)), required: schema.Required,
		additional: string(schema.Additional) == "true" || schema.Additional == nil}
	for name, raw := range schema.Properties {
		var of property
		if p.properties[name] = nil; json.Unmarshal(raw, &of) == nil {
			p.properties[name] = &of
		}
	}
	c.byName.Store(spec.Name, p)
	return p
}

// property is what the schema says of one argument, or of the items of a list.
type property struct {
	Type  json.RawMessage
	Enum  []string
	Items *property
}

// is gives the type of an argument; "" when there are several.
func (p *property) is() string {
	if len(p.Type) < len(`""`) || p.Type[0] != '"' {
		return ""
	}
	return string(p.Type[1 : len(p.Type)-1])
}

// fitArgument gives a value as the schema of its argument wants it; nil when it stays as it is. set is false when it says that nothing is set.
func (p *property) fitArgument(name string, value json.RawMessage) (fit json.RawMessage, set bool) {
	if string(value) == "null" {
		return nil, false
	}
	var text string
	if value[0] == '"' && json.Unmarshal(value, &text) == nil && !slices.Contains(storedTexts, name) {
		if bare := strings.TrimSpace(text); bare == "" || strings.EqualFold(bare, "null") {
			return nil, false
		}
	}
	if p == nil {
		return nil, true
	}
	return p.fit(value), true
}

// fit gives a value as the schema wants it; nil when it does already, or cannot be read as that.
func (p *property) fit(value json.RawMessage) json.RawMessage {
	var text string
	quoted := value[0] == '"' && json.Unmarshal(value, &text) == nil
	bare := strings.TrimSpace(text)
	switch p.is() {
	case "integer", "number":
		if n, err := strconv.ParseFloat(bare, 64); quoted && err == nil && json.Valid([]byte(bare)) {
			return encode(n)
		}
	case "boolean":
		switch strings.ToLower(bare) {
		case "true", "yes":
			return encode(true)
		case "false", "no":
			return encode(false)
		}
	case "object":
		if strings.HasPrefix(bare, "{") && json.Valid([]byte(bare)) {
			return json.RawMessage(bare)
		}
	case "array":
		return p.list(value, bare, quoted)
	case "string":
		return p.text(value, bare, quoted)
	}
	return nil
}

// text reads a number, a boolean or a list of one text as that text, and a word of a list of words in any letters.
func (p *property) text(value json.RawMessage, bare string, quoted bool) json.RawMessage {
	var one []string
	switch {
	case quoted:
		at := slices.IndexFunc(p.Enum, func(w string) bool { return strings.EqualFold(w, bare) })
		if at >= 0 && !slices.Contains(p.Enum, bare) {
			return encode(p.Enum[at])
		}
	case value[0] == '[' && json.Unmarshal(value, &one) == nil && len(one) == 1:
		return encode(one[0])
	case value[0] != '[' && value[0] != '{':
		return encode(string(value))
	}
	return nil
}

// list reads a list that is written as text, words of a list with commas between them, and a single value in the place of a list.
func (p *property) list(value json.RawMessage, bare string, quoted bool) json.RawMessage {
	items := &property{}
	if p.Items != nil {
		items = p.Items
	}
	var list []json.RawMessage
	switch {
	case value[0] == '[':
		_ = json.Unmarshal(value, &list)
	case quoted && strings.HasPrefix(bare, "[") && json.Unmarshal([]byte(bare), &list) == nil:
	case quoted && strings.HasPrefix(bare, "[") && !strings.Contains(bare, `"`) && json.Unmarshal([]byte(strings.ReplaceAll(bare, "'", `"`)), &list) == nil: // as Python writes it
	case quoted && len(items.Enum) > 0:
		for word := range strings.SplitSeq(bare, ",") {
			list = append(list, encode(strings.TrimSpace(word)))
		}
	default:
		list = []json.RawMessage{value}
	}
	out := []json.RawMessage{}
	for _, x := range list {
		if string(x) == "null" {
			continue
		}
		if fit := items.fit(x); fit != nil {
			x = fit
		}
		out = append(out, x)
	}
	return encode(out)
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
