package telegramtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Spec is the machine-readable description of the Bot API: its methods, types and fields.
type Spec struct {
	Version string                `json:"version"`
	Methods map[string]specMethod `json:"methods"`
	Types   map[string]specType   `json:"types"`
}

type specMethod struct {
	Fields  []*specField `json:"fields"`
	Returns []string     `json:"returns"`
}

type specType struct {
	Fields   []*specField `json:"fields"`
	Subtypes []string     `json:"subtypes"`
}

type specField struct {
	Name        string   `json:"name"`
	Types       []string `json:"types"`
	Required    bool     `json:"required"`
	Description string   `json:"description"`
	constant    string   // the only value, where the description says so: what tells subtypes apart
}

var constantPattern = regexp.MustCompile(`(?:[Aa]lways|must be) (?:“|")?([a-z0-9_]+)`)

// ErrNoSpec says that the description is not on this machine.
var ErrNoSpec = errors.New("no description of the Bot API: set PARLEY_SHARED to the folder that holds data/telegram-bot-api-10.1.json")

// FindSpec loads the description from $PARLEY_SHARED, or from a folder named shared beside the repository. It is loaded once.
func FindSpec() (*Spec, error) { return findSpec() }

var findSpec = sync.OnceValues(func() (*Spec, error) {
	const file = "data/telegram-bot-api-10.1.json"
	if dir := os.Getenv("PARLEY_SHARED"); dir != "" {
		return LoadSpec(filepath.Join(dir, file))
	}
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	for {
		if spec, err := LoadSpec(filepath.Join(dir, "shared", file)); !errors.Is(err, os.ErrNotExist) {
			return spec, err
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return nil, ErrNoSpec
		}
		dir = parent
	}
})

// LoadSpec reads the description from a file.
func LoadSpec(path string) (*Spec, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var s Spec
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	s.extend()
	for _, t := range s.Types {
		for _, f := range t.Fields {
			m := constantPattern.FindStringSubmatch(f.Description)
			if m != nil && m[1] != "one" && f.Required && slices.Contains([]string{"type", "source", "status"}, f.Name) {
				f.constant = m[1]
			}
		}
	}
	return &s, nil
}

// Call checks the parameters of a call and gives what is wrong with them.
func (s *Spec) Call(method string, params url.Values) []string {
	m, known := s.Methods[method]
	if !known {
		return []string{method + ": no such method"}
	}
	var bad []string
	for _, f := range m.Fields {
		values, given := params[f.Name]
		if !given {
			if f.Required {
				bad = append(bad, fmt.Sprintf("%s: %s is missing", method, f.Name))
			}
			continue
		}
		for _, v := range values {
			bad = append(bad, s.text(method+"."+f.Name, f.Types, v)...)
		}
		if len(values) != 1 {
			bad = append(bad, fmt.Sprintf("%s: %s is given %d times", method, f.Name, len(values)))
		}
	}
	for name := range params {
		if !slices.ContainsFunc(m.Fields, func(f *specField) bool { return f.Name == name }) {
			bad = append(bad, fmt.Sprintf("%s: unknown parameter %s", method, name))
		}
	}
	return bad
}

// text checks a parameter, which is a text on the wire whatever its type is.
func (s *Spec) text(path string, types []string, v string) []string {
	if slices.Contains(types, "String") || slices.Contains(types, "InputFile") {
		return nil
	}
	if !slices.ContainsFunc(types, isScalar) {
		return s.JSON(types, []byte(v), path)
	}
	for _, t := range types {
		var err error
		switch t {
		case "Integer":
			_, err = strconv.ParseInt(v, 10, 64)
		case "Float":
			_, err = strconv.ParseFloat(v, 64)
		case "Boolean", "True":
			_, err = strconv.ParseBool(v)
		default:
			continue
		}
		if err == nil {
			return nil
		}
	}
	return []string{fmt.Sprintf("%s: %.60q is no %s", path, v, strings.Join(types, " or "))}
}

// Result checks what a method answers with.
func (s *Spec) Result(method string, result json.RawMessage) []string {
	return s.JSON(s.Methods[method].Returns, result, method)
}

// JSON checks a value against types; path names it in what is reported.
func (s *Spec) JSON(types []string, data []byte, path ...string) []string {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return []string{fmt.Sprintf("%s: %v", strings.Join(append(path, types...), " "), err)}
	}
	name := strings.Join(types, "|")
	if len(path) > 0 {
		name = path[0]
	}
	return s.value(name, types, v)
}

func isScalar(t string) bool {
	return slices.Contains([]string{"Integer", "Float", "String", "Boolean", "True", "InputFile"}, t)
}

// value checks a decoded value: it has to fit one of the types.
func (s *Spec) value(path string, types []string, v any) []string {
	if list, is := v.([]any); is && len(types) > 1 && !slices.ContainsFunc(types, func(t string) bool { return !strings.HasPrefix(t, "Array of ") }) {
		// "Array of A, B and C" is taken apart in the description; its elements may differ all the same.
		elements := strings.Split(strings.TrimPrefix(strings.Join(types, " or "), "Array of "), " or Array of ")
		var bad []string
		for i, e := range list {
			bad = append(bad, s.value(fmt.Sprintf("%s[%d]", path, i), elements, e)...)
		}
		return bad
	}
	var first []string
	for _, t := range types {
		bad := s.one(path, t, v)
		if len(bad) == 0 {
			return nil
		}
		if first == nil || len(bad) < len(first) {
			first = bad
		}
	}
	return first
}

func (s *Spec) one(path, t string, v any) []string {
	wrong := []string{fmt.Sprintf("%s: %.60q is no %s", path, fmt.Sprint(v), t)}
	if element, is := strings.CutPrefix(t, "Array of "); is {
		list, is := v.([]any)
		if !is {
			return wrong
		}
		var bad []string
		for i, e := range list {
			bad = append(bad, s.value(fmt.Sprintf("%s[%d]", path, i), strings.Split(element, " or "), e)...)
		}
		return bad
	}
	if isScalar(t) {
		if scalar(t, v) {
			return nil
		}
		return wrong
	}
	def, known := s.Types[t]
	if !known {
		return []string{fmt.Sprintf("%s: unknown type %s", path, t)}
	}
	if len(def.Subtypes) > 0 {
		return s.value(path, def.Subtypes, v)
	}
	fields, is := v.(map[string]any)
	if !is {
		return wrong
	}
	return s.object(path, t, def, fields)
}

func (s *Spec) object(path, name string, def specType, fields map[string]any) []string {
	var bad []string
	for _, f := range def.Fields {
		v, given := fields[f.Name]
		switch {
		case given && f.constant != "" && v != f.constant:
			bad = append(bad, fmt.Sprintf("%s.%s: %q instead of %q", path, f.Name, v, f.constant))
		case given:
			bad = append(bad, s.value(path+"."+f.Name, f.Types, v)...)
		case f.Required:
			bad = append(bad, fmt.Sprintf("%s: %s without %s", path, name, f.Name))
		}
	}
	for k := range fields {
		if !slices.ContainsFunc(def.Fields, func(f *specField) bool { return f.Name == k }) {
			bad = append(bad, fmt.Sprintf("%s: %s has no field %s", path, name, k))
		}
	}
	return bad
}

func scalar(t string, v any) bool {
	switch v := v.(type) {
	case string:
		return t == "String"
	case bool:
		return t == "Boolean" || t == "True" && v
	case json.Number:
		_, err := v.Int64()
		return t == "Float" || t == "Integer" && err == nil
	default:
		return false
	}
}
