package discordtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Spec is Discord's OpenAPI description. It may be used from any goroutine.
type Spec struct {
	doc     map[string]any
	mu      sync.Mutex // the compiler is for one at a time
	compile *jsonschema.Compiler
	schemas map[string]*jsonschema.Schema // by pointer
}

const specName = "mem:///discord.json"

// ErrNoSpec says that the description is not on this machine.
var ErrNoSpec = errors.New("no description of Discord's API: set PARLEY_SHARED to the folder that holds data/discord-openapi.json")

// FindSpec loads the description from $PARLEY_SHARED, or from a folder named shared beside the repository. It is loaded once.
func FindSpec() (*Spec, error) { return findSpec() }

var findSpec = sync.OnceValues(func() (*Spec, error) {
	const file = "data/discord-openapi.json"
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
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	v, err := jsonschema.UnmarshalJSON(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	doc, _ := v.(map[string]any)
	s := &Spec{doc: doc, compile: jsonschema.NewCompiler(), schemas: map[string]*jsonschema.Schema{}}
	// A message that passes another one on has a reference of type 1, which the description does not list.
	kinds, is := at(doc, "components", "schemas", "MessageReferenceType").(map[string]any)
	if !is {
		return nil, fmt.Errorf("%s: no description of Discord's API", path)
	}
	list, _ := kinds["oneOf"].([]any)
	kinds["oneOf"] = append(list, map[string]any{"const": json.Number("1")})
	// The errors of a field have names for codes: "BASE_TYPE_MAX_LENGTH". The description gives them the type of the whole error's.
	field, is := at(doc, "components", "schemas", "InnerErrors", "properties", "_errors").(map[string]any)
	if !is {
		return nil, fmt.Errorf("%s: no description of Discord's API", path)
	}
	field["items"] = map[string]any{
		"type": "object", "required": []any{"code", "message"},
		"properties": map[string]any{"code": map[string]any{"type": "string"}, "message": map[string]any{"type": "string"}},
	}
	s.compile.AssertFormat()
	if err := s.compile.AddResource(specName, doc); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// at walks into a document.
func at(v any, path ...string) any {
	for _, p := range path {
		m, _ := v.(map[string]any)
		v = m[p]
	}
	return v
}

func pointer(path ...string) string {
	var b strings.Builder
	for _, p := range path {
		b.WriteString("/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(p))
	}
	return b.String()
}

// check validates a value against the schema at a pointer and gives what is wrong with it.
func (s *Spec) check(where string, v any, path ...string) []string {
	key := pointer(path...)
	s.mu.Lock()
	schema := s.schemas[key]
	if schema == nil {
		var err error
		if schema, err = s.compile.Compile(specName + "#" + key); err != nil {
			s.mu.Unlock()
			return []string{fmt.Sprintf("%s: schema %s: %v", where, key, err)}
		}
		s.schemas[key] = schema
	}
	s.mu.Unlock()
	if err := schema.Validate(v); err != nil {
		lines := strings.Split(err.Error(), "\n")
		return []string{where + ": " + strings.Join(lines[min(1, len(lines)-1):min(len(lines), 8)], " ")}
	}
	return nil
}

func (s *Spec) checkJSON(where string, data []byte, path ...string) []string {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return []string{fmt.Sprintf("%s: %v", where, err)}
	}
	return s.check(where, v, path...)
}

var filePart = regexp.MustCompile(`^files\[\d\]$`)

// Request checks a call: its path, query and body.
func (s *Spec) Request(q *request) []string {
	op := []string{"paths", q.Route, strings.ToLower(q.Method)}
	if at(s.doc, op...) == nil {
		return []string{"the description has no such path"}
	}
	bad := s.parameters(q, "paths", q.Route, "parameters")
	bad = append(bad, s.parameters(q, append(op, "parameters")...)...)
	for name := range q.Query {
		if !s.has(op, name) {
			bad = append(bad, "unknown query parameter "+name)
		}
	}
	body := append(op, "requestBody")
	switch {
	case at(s.doc, body...) == nil:
		if len(q.Body) > 0 {
			bad = append(bad, "takes no body")
		}
		return bad
	case q.kind != "application/json" && q.kind != "multipart/form-data":
		return append(bad, fmt.Sprintf("Content-Type %q", q.kind))
	}
	for _, p := range q.files {
		if !filePart.MatchString(p.field) {
			bad = append(bad, fmt.Sprintf("a file is in part %q, not files[n]", p.field))
		}
	}
	return append(bad, s.checkJSON("body", q.Body, append(body, "content", "application/json", "schema")...)...)
}

// has reports whether an operation knows a query parameter.
func (s *Spec) has(op []string, name string) bool {
	list, _ := at(s.doc, append(op, "parameters")...).([]any)
	for _, p := range list {
		if at(p, "in") == "query" && at(p, "name") == name {
			return true
		}
	}
	return false
}

// parameters checks the values in the path and the query against one list of parameters.
func (s *Spec) parameters(q *request, path ...string) []string {
	var bad []string
	list, _ := at(s.doc, path...).([]any)
	for i, p := range list {
		name, _ := at(p, "name").(string)
		var text string
		switch at(p, "in") {
		case "path":
			text = q.vars[name]
		case "query":
			text = q.Query.Get(name)
			if !q.Query.Has(name) {
				continue
			}
		default:
			continue
		}
		var v any = text
		switch at(p, "schema", "type") {
		case "integer", "number":
			v = json.Number(text)
			if _, err := strconv.ParseFloat(text, 64); err != nil {
				v = text
			}
		case "boolean":
			if b, err := strconv.ParseBool(text); err == nil {
				v = b
			}
		}
		bad = append(bad, s.check(name, v, append(path, strconv.Itoa(i), "schema")...)...)
	}
	return bad
}

// Response checks an answer.
func (s *Spec) Response(method, route string, status int, body []byte) []string {
	path := []string{"paths", route, strings.ToLower(method), "responses"}
	code := strconv.Itoa(status)
	if at(s.doc, append(path, code)...) == nil && status >= http.StatusBadRequest && status < http.StatusInternalServerError {
		code = "4XX"
	}
	path = append(path, code)
	found := at(s.doc, path...)
	if found == nil {
		return []string{"the description has no such status"}
	}
	if ref, is := at(found, "$ref").(string); is {
		path = strings.Split(strings.TrimPrefix(ref, "#/"), "/")
	}
	path = append(path, "content", "application/json", "schema")
	if at(s.doc, path...) == nil {
		if len(body) > 0 {
			return []string{"has a body"}
		}
		return nil
	}
	return s.checkJSON("body", firstOf(body, 10), path...)
}

// firstOf cuts a list to its first elements: those of a long one were checked when they were posted.
func firstOf(body []byte, most int) []byte {
	var list []json.RawMessage
	if json.Unmarshal(body, &list) != nil || len(list) <= most {
		return body
	}
	body, err := json.Marshal(list[:most])
	if err != nil {
		panic(fmt.Sprintf("discordtest: %v", err))
	}
	return body
}

// Event checks what the gateway sends as far as the description has a type for it.
func (s *Spec) Event(name string, d object) []string {
	kind := ""
	switch name {
	case "MESSAGE_CREATE", "MESSAGE_UPDATE":
		kind = "MessageResponse"
	case "THREAD_CREATE", "THREAD_UPDATE":
		kind = "ThreadResponse"
	case "CHANNEL_UPDATE":
		if kind = "GuildChannelResponse"; d["guild_id"] == nil {
			kind = "PrivateGroupChannelResponse"
		}
	case "GUILD_MEMBER_ADD", "GUILD_MEMBER_UPDATE":
		kind = "GuildMemberResponse"
	default:
		return nil
	}
	return s.Type(kind, d)
}

// Type checks a value against one of the description's types.
func (s *Spec) Type(kind string, v any) []string {
	data, err := json.Marshal(v)
	if err != nil {
		return []string{fmt.Sprintf("%s: %v", kind, err)}
	}
	return s.checkJSON(kind, data, "components", "schemas", kind)
}
