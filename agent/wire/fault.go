package wire

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// Fault is an error as a provider words it, wherever in its answer that stands. It is the Err of a *agent.ModelError.
type Fault struct {
	Status int      // HTTP status, 0 = the answer began well
	Code   string   // the first code or type that was found
	Codes  []string // all of them, in lower case
	Param  string   // the parameter that the provider names
	Text   string   // its sentences, on one line, short, without secrets
	All    string   // everything that it said, nested and quoted texts too, in lower case, one a line
	Raw    string   // like All, as it was written
	Page   bool     // it is a web page: something else than the provider answered

	entries []map[string]any // the errors of a validator in it, each with its place
}

// Error gives the provider's sentences.
func (f *Fault) Error() string { return f.Text }

// The bounds of an error that is read.
const (
	maxFaultDepth = 12
	maxFaultTexts = 200
	maxFaultText  = 8 << 10  // bytes of one text
	maxFaultAll   = 64 << 10 // bytes of all of them
	maxPlace      = 32       // parts of the place of an error; deeper ones are no places in a request
	maxSought     = 1 << 20  // bytes in which quoted values are looked for in vain, again and again
)

// ReadFault reads an error body of any shape: objects, lists, plain texts, and JSON that is quoted inside of a text. Of a long one the
// beginning is kept: an error in a stream may be as long as an event.
func ReadFault(raw []byte) *Fault {
	f := &Fault{}
	if !isText(raw) {
		f.Text = noText(len(raw))
		return f
	}
	text := strings.TrimSpace(strings.ToValidUTF8(string(raw), "\uFFFD"))
	if start := strings.ToLower(text); strings.HasPrefix(start, "<!doctype html") || strings.HasPrefix(start, "<html") {
		f.Text = "the answer is a web page, not JSON"
		f.Raw, f.All, f.Page = cutText(text, maxFaultAll), cutText(start, maxFaultAll), true
		return f
	}
	r := faultReader{f: f}
	var v any
	if json.Unmarshal([]byte(text), &v) == nil {
		r.walk("", v, 0)
	} else {
		r.text("message", text, 0)
	}
	r.end(text)
	return f
}

type faultReader struct {
	f         *Fault
	sentences []string
	all       []string
	sought    int // bytes in which a quoted value was looked for in vain
}

// end puts together what was read. text stands for sentences where there are none.
func (r *faultReader) end(text string) {
	f := r.f
	f.Text = strings.Join(r.sentences, ": ")
	if f.Text == "" {
		f.Text = cutText(text, maxFaultText)
	}
	f.Raw = cutText(strings.Join(r.all, "\n"), maxFaultAll)
	f.All = strings.ToLower(f.Raw)
}

// walk reads a JSON value that stands under a key. Keys are read in a fixed order: the sentence before its details.
func (r *faultReader) walk(under string, v any, depth int) {
	if depth > maxFaultDepth || len(r.all) >= maxFaultTexts {
		return
	}
	switch v := v.(type) {
	case string:
		r.text(under, v, depth)
	case float64: // 336103, 20035013
		if under == "error" { // the status alone
			under = "code"
		}
		r.word(under, strconv.FormatFloat(v, 'f', -1, 64))
	case bool:
		r.word(under, strconv.FormatBool(v))
	case []any:
		if under == "path" && r.f.Param == "" && len(v) > 1 { // zod's word for the place
			under = "loc"
		}
		if place := placeOf(v); under == "loc" && place != "" {
			if r.f.Param == "" {
				r.f.Param = cutText(place, maxFaultText)
			}
			under = "place"
		}
		for _, x := range v {
			r.walk(under, x, depth+1)
		}
	case map[string]any:
		if place, hasPlace := v["loc"].([]any); hasPlace && len(place) <= maxPlace {
			r.f.entries = append(r.f.entries, v)
		}
		keys := make([]string, 0, len(v))
		for k := range v {
			keys = append(keys, k)
		}
		slices.SortFunc(keys, func(a, b string) int {
			if d := rank(a) - rank(b); d != 0 {
				return d
			}
			return strings.Compare(a, b)
		})
		for _, k := range keys {
			if texts, ok := v[k].([]any); ok && isField(k, texts) {
				r.word("field", k)
			}
			if under := strings.ToLower(k); !echoes(under, v[k]) {
				r.walk(under, v[k], depth+1)
			}
		}
	}
}

// isField reports whether a key is the name of a field, with what is wrong with it: {"stream_options": ["is not allowed"]}.
//
// source: laravel.com/docs/validation, guides.rubyonrails.org (errors), django-rest-framework.org/api-guide/exceptions
func isField(key string, texts []any) bool {
	if rank(key) < len(sentenceKeys) || len(texts) == 0 || key == "loc" {
		return false
	}
	for _, x := range texts {
		if s, isText := x.(string); !isText || !strings.Contains(s, " ") {
			return false
		}
	}
	return true
}

// echoes reports whether what stands under a key repeats the request: words of people, which say nothing of the endpoint.
//
// source: docs.pydantic.dev, "input" of a validation error
func echoes(key string, v any) bool {
	switch key {
	case "input", "inputs", "user_input", "user_text", "user_message":
		return true
	case "prompt": // otherwise it may hold what a filter found
		_, isText := v.(string)
		return isText
	}
	return false
}

// sentenceKeys are the names that providers give to what people can read, most telling first.
var sentenceKeys = []string{"error", "errors", "message", "msg", "status_msg", "error_msg", "errormessage", "error_message", "detail", "details", "error_description", "description", "reason", "metadata", "raw", "hint", "failed_generation", "body"}

func rank(key string) int {
	if i := slices.Index(sentenceKeys, strings.ToLower(key)); i >= 0 {
		return i
	}
	return len(sentenceKeys)
}

// text reads a text, and the objects and lists that are quoted in it.
func (r *faultReader) text(under, s string, depth int) {
	s = strings.TrimSpace(s)
	for quoted := false; s != ""; quoted = true {
		v, begin, end := r.quotedValue(s, depth)
		if v == nil {
			if !quoted {
				r.word(under, s)
			}
			return
		}
		if lead := strings.TrimSpace(s[:begin]); lead != "" && !quoted {
			r.word(under, lead)
		}
		r.walk(under, v, depth+1)
		s = s[end:]
	}
}

// quotedValue finds the first object or list in a text that may hold an error, as JSON or as Python prints it; v is nil where there is none.
//
// source: vllm-project/vllm#3906 (a list of errors), vllm-project/vllm, tests of sanitize_message (errors on lines of their own)
func (r *faultReader) quotedValue(s string, depth int) (v any, begin, end int) {
	for depth < maxFaultDepth && len(r.all) < maxFaultTexts {
		i := strings.IndexAny(s[begin:], "{[")
		if i < 0 || r.sought > maxSought {
			break
		}
		begin += i
		dec := json.NewDecoder(strings.NewReader(s[begin:]))
		if dec.Decode(&v) == nil && worthReading(v) {
			return v, begin, begin + int(dec.InputOffset())
		}
		if read, n := printedByPython([]byte(s[begin:])); n > 0 && json.Unmarshal(read, &v) == nil && holdsError(v) {
			return v, begin, begin + n
		}
		r.sought += len(s) - begin
		begin++
	}
	return nil, 0, 0
}

// worthReading reports whether a quoted value may hold an error: an object, or a list of them.
func worthReading(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		return len(v) > 0
	case []any:
		return len(v) > 0 && worthReading(v[0])
	}
	return false
}

// holdsError reports whether a value that Python printed is an error, or a list of them: others quote what was refused.
func holdsError(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range [...]string{"error", "errors", "message", "msg", "detail"} {
			if _, has := v[key]; has {
				return true
			}
		}
	case []any:
		return len(v) > 0 && holdsError(v[0])
	}
	return false
}

// word keeps one text.
func (r *faultReader) word(under, s string) {
	s = cutText(s, maxFaultText)
	r.all = append(r.all, s)
	switch under {
	case "__type":
		s = awsType(s)
		fallthrough
	case "code", "type", "status", "error_code", "errorcode", "error_type", "kind", "reason", "innererror", "err_code", "status_code", "limit_source", "blockreason", "block_reason":
		if strings.HasPrefix(under, "block") { // Gemini: whatever the reason, the prompt was refused
			r.f.Codes = append(r.f.Codes, "prompt_blocked")
		}
		if r.f.Code == "" || under == "code" && r.f.Code != s && len(r.f.Codes) == 1 {
			r.f.Code = s
		}
		r.f.Codes = append(r.f.Codes, strings.ToLower(s))
		if under != "reason" {
			return
		}
	case "param", "parameter", "loc", "field":
		if strings.Contains(s, " ") { // no name: Xiaomi has the cause there
			under = "message"
			break
		}
		if r.f.Param == "" {
			r.f.Param = strings.Trim(s, ".")
		}
		return
	}
	if rank(under) < len(sentenceKeys) && strings.Contains(s, " ") && !slices.ContainsFunc(r.sentences, func(x string) bool { return strings.Contains(x, s) }) {
		r.sentences = append(r.sentences, s)
	} else if len(r.sentences) == 0 && rank(under) < len(sentenceKeys) {
		r.sentences = append(r.sentences, s)
	}
}

// cutText returns the beginning of a text: at most so many bytes, of whole characters.
func cutText(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "")
}
