package api

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"parley/sessions"
)

// sample has a parameter of each sort.
type sample struct {
	ID    string           `path:"id"`
	Limit int              `query:"limit" default:"50" min:"1" max:"100"`
	Since int64            `query:"since" min:"10"`
	Mode  string           `query:"mode" enum:"on,off"`
	Full  bool             `query:"full"`
	Text  string           `json:"text" required:"true"`
	Count int              `json:"count,omitempty" min:"1" max:"9"`
	Grade string           `json:"grade,omitempty" enum:"a,b"`
	Size  int              `json:"size,omitempty" default:"7"`
	Label Optional[string] `json:"label,omitzero" enum:"x,y"`
	Nest  *struct {
		A int `json:"a"`
	} `json:"nest,omitempty"`
}

// looked is a read's parameters.
type looked struct {
	ID    string `path:"id"`
	Limit int    `query:"limit" default:"50" min:"1" max:"100"`
	Since int64  `query:"since" min:"10"`
	Mode  string `query:"mode" enum:"on,off"`
	Full  bool   `query:"full"`
}

func echo[T any](_ context.Context, in T) (T, error) { return in, nil }

// ask sends a request as a principal with a scope.
func ask(t *testing.T, h http.Handler, who Principal, method, target, body string, header ...string) (int, string) {
	t.Helper()
	var r io.Reader
	if body != "" {
		r = strings.NewReader(body)
	}
	req := httptest.NewRequestWithContext(With(t.Context(), who), method, target, r)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, req)
	return w.Code, w.Body.String()
}

var admin = Principal{Name: Owner, Scope: Admin}

func samples() http.Handler {
	return Table{
		Op("sample.put", "POST /api/sample/{id}", Write, "Put it.", echo[sample]),
		Op("sample.get", "GET /api/sample/{id}", Read, "Get it.", echo[looked]),
	}.Handler()
}

// Nothing that is not known passes, and each error names the parameter.
func TestParametersAreClosed(t *testing.T) {
	t.Parallel()
	h := samples()
	for name, c := range map[string]struct {
		method, target, body string
		status               int
		says                 string
	}{
		"query unknown":      {"GET", "/api/sample/1?lmit=3", "", 400, `unknown parameter "lmit"`},
		"query twice":        {"GET", "/api/sample/1?limit=3&limit=4", "", 400, "limit is given 2 times"},
		"query broken":       {"GET", "/api/sample/1?limit=%zz", "", 400, "invalid query"},
		"query semicolon":    {"GET", "/api/sample/1?limit=3;full=true", "", 400, "invalid query"},
		"not a number":       {"GET", "/api/sample/1?limit=many", "", 400, `limit "many": must be a whole number from 1 to 100`},
		"too small":          {"GET", "/api/sample/1?limit=0", "", 400, "limit 0: must be a whole number from 1 to 100"},
		"too large":          {"GET", "/api/sample/1?limit=101", "", 400, "limit 101"},
		"overflow":           {"GET", "/api/sample/1?since=99999999999999999999", "", 400, "must be a whole number of at least 10"},
		"not a bool":         {"GET", "/api/sample/1?full=ja", "", 400, "must be true or false"},
		"enum":               {"GET", "/api/sample/1?mode=perhaps", "", 400, "use one of on, off"},
		"body of a read":     {"GET", "/api/sample/1", `{"text":"x"}`, 400, `unknown field "text": there are none`},
		"body unknown":       {"POST", "/api/sample/1", `{"text":"x","txt":1}`, 400, `unknown field "txt": known are text, count, grade, size, label, nest, idempotencyKey`},
		"body twice":         {"POST", "/api/sample/1", `{"text":"x","text":"y"}`, 400, `"text" is given twice`},
		"body no object":     {"POST", "/api/sample/1", `[1]`, 400, "one JSON object"},
		"body null":          {"POST", "/api/sample/1", `null`, 400, "one JSON object"},
		"body two":           {"POST", "/api/sample/1", `{"text":"x"} {}`, 400, "one JSON object"},
		"body broken":        {"POST", "/api/sample/1", `{"text":`, 400, "one JSON object"},
		"required":           {"POST", "/api/sample/1", `{}`, 400, "text is missing"},
		"required, no body":  {"POST", "/api/sample/1", ``, 400, "text is missing"},
		"required, null":     {"POST", "/api/sample/1", `{"text":null}`, 400, "text is missing"},
		"wrong type":         {"POST", "/api/sample/1", `{"text":5}`, 400, "text: a number has the wrong type"},
		"body bounds":        {"POST", "/api/sample/1", `{"text":"x","count":10}`, 400, "count 10: must be a whole number from 1 to 9"},
		"body zero":          {"POST", "/api/sample/1", `{"text":"x","count":0}`, 400, "count 0"},
		"body enum":          {"POST", "/api/sample/1", `{"text":"x","grade":"c"}`, 400, "use one of a, b"},
		"optional enum":      {"POST", "/api/sample/1", `{"text":"x","label":"z"}`, 400, "use one of x, y"},
		"nested unknown":     {"POST", "/api/sample/1", `{"text":"x","nest":{"b":1}}`, 400, "nest"},
		"capital letters":    {"POST", "/api/sample/1", `{"Text":"x"}`, 400, `unknown field "Text"`},
		"method":             {"PUT", "/api/sample/1", `{}`, 405, "use GET or POST"},
		"path":               {"GET", "/api/sampel", "", 404, "/api/openapi.json"},
		"key with a blank":   {"POST", "/api/sample/1", `{"text":"x","idempotencyKey":"a b"}`, 400, "an idempotency key is"},
		"key empty":          {"POST", "/api/sample/1", `{"text":"x","idempotencyKey":""}`, 400, "an idempotency key is"},
		"key no text":        {"POST", "/api/sample/1", `{"text":"x","idempotencyKey":5}`, 400, "idempotencyKey: must be a string"},
		"key of a read":      {"GET", "/api/sample/1", `{"idempotencyKey":"a"}`, 400, "unknown field"},
		"too long a body":    {"POST", "/api/sample/1", `{"text":"` + strings.Repeat("x", maxBody) + `"}`, 413, "longer than"},
		"number in the path": {"GET", "/api/sample/" + strings.Repeat("9", 300), "", 200, "999"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			status, body := ask(t, h, admin, c.method, c.target, c.body)
			var f Failure
			if err := json.Unmarshal([]byte(body), &f); status != http.StatusOK && (err != nil || f.Code == "") {
				t.Errorf("no error with a code: %s", body)
			}
			if text, _ := json.Marshal(c.says); status != c.status || !strings.Contains(body, strings.Trim(string(text), `"`)) {
				t.Errorf("%d %s; want %d with %q", status, body, c.status, c.says)
			}
		})
	}
}

// What is left out, null, a default and a value are four things.
func TestParametersAreRead(t *testing.T) {
	t.Parallel()
	h := samples()
	for name, c := range map[string]struct{ method, target, body, want string }{
		"defaults":       {"GET", "/api/sample/1", "", `{"ID":"1","Limit":50,"Since":0,"Mode":"","Full":false}`},
		"empty":          {"GET", "/api/sample/1?limit=&mode=", "", `{"ID":"1","Limit":50,"Since":0,"Mode":"","Full":false}`},
		"all":            {"GET", "/api/sample/a%2Fb%20c?limit=1&since=10&mode=on&full=1", "", `{"ID":"a/b c","Limit":1,"Since":10,"Mode":"on","Full":true}`},
		"left out":       {"POST", "/api/sample/1", `{"text":"x"}`, `{"ID":"1","Limit":50,"Since":0,"Mode":"","Full":false,"text":"x","size":7}`},
		"null":           {"POST", "/api/sample/1", `{"text":"x","label":null}`, `{"ID":"1","Limit":50,"Since":0,"Mode":"","Full":false,"text":"x","size":7,"label":null}`},
		"value":          {"POST", "/api/sample/1", `{"text":"x","label":"y","size":0}`, `{"ID":"1","Limit":50,"Since":0,"Mode":"","Full":false,"text":"x","label":"y"}`},
		"emptied":        {"POST", "/api/sample/1", `{"text":"x","label":""}`, `{"ID":"1","Limit":50,"Since":0,"Mode":"","Full":false,"text":"x","size":7,"label":""}`},
		"nested":         {"POST", "/api/sample/1", `{"text":"x","nest":{"a":3}}`, `{"ID":"1","Limit":50,"Since":0,"Mode":"","Full":false,"text":"x","size":7,"nest":{"a":3}}`},
		"charset":        {"POST", "/api/sample/1", "{\"text\":\"\xff\"}", `{"ID":"1","Limit":50,"Since":0,"Mode":"","Full":false,"text":"�","size":7}`},
		"key is no body": {"POST", "/api/sample/1", `{"text":"x","idempotencyKey":"k"}`, `{"ID":"1","Limit":50,"Since":0,"Mode":"","Full":false,"text":"x","size":7}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if status, body := ask(t, h, admin, c.method, c.target, c.body); status != http.StatusOK || strings.TrimSpace(body) != c.want {
				t.Errorf("%d %s\nwant %s", status, body, c.want)
			}
		})
	}
}

// A body says that it is JSON: that alone keeps other sites' forms out.
func TestBodiesAreJSON(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"", "text/plain", "application/x-www-form-urlencoded", "application/json2", ";"} {
		if status, body := ask(t, samples(), admin, "POST", "/api/sample/1", `{"text":"x"}`, "Content-Type", kind); status != http.StatusUnsupportedMediaType {
			t.Errorf("Content-Type %q: %d %s", kind, status, body)
		}
	}
	if status, body := ask(t, samples(), admin, "POST", "/api/sample/1", `{"text":"x"}`, "Content-Type", "application/json; charset=utf-8"); status != http.StatusOK {
		t.Errorf("%d %s", status, body)
	}
}

// Each operation is closed to a caller whose scope is too small, with or without a good request.
func TestScopes(t *testing.T) {
	t.Parallel()
	h := Table{
		Op("r", "GET /api/r", Read, "R.", echo[None]), Op("w", "POST /api/w", Write, "W.", echo[None]), Op("a", "DELETE /api/a", Admin, "A.", echo[None]),
		Stream[None, None]("s", "GET /api/s", Write, "S.", "text/plain", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "s") }),
	}.Handler()
	for _, c := range []struct {
		scope  Scope
		passes string
	}{{"", ""}, {"root", ""}, {Read, "r"}, {Write, "rws"}, {Admin, "rwas"}} {
		for op, method := range map[string]string{"r": "GET", "w": "POST", "a": "DELETE", "s": "GET"} {
			want := http.StatusForbidden
			switch {
			case strings.Contains(c.passes, op):
				want = http.StatusOK
			case c.scope == "":
				want = http.StatusUnauthorized
			}
			if status, body := ask(t, h, Principal{Name: "x", Scope: c.scope}, method, "/api/"+op, ""); status != want {
				t.Errorf("scope %q, operation %s: %d %s; want %d", c.scope, op, status, body, want)
			}
		}
	}
}

// Errors of the store are told as what they are.
func TestErrors(t *testing.T) {
	t.Parallel()
	for want, err := range map[int]error{404: sessions.ErrNotFound, 409: sessions.ErrConflict, 418: &Error{Status: 418, Message: "tea"}} {
		h := Table{Op("e", "GET /api/e", Read, "E.", func(context.Context, None) (None, error) { return None{}, err })}.Handler()
		if status, body := ask(t, h, admin, "GET", "/api/e", ""); status != want || !strings.Contains(body, err.Error()) {
			t.Errorf("%v: %d %s", err, status, body)
		}
	}
}

// A call inside the process has the same defaults, bounds and scopes as a request.
func TestCall(t *testing.T) {
	t.Parallel()
	table := Table{Op("sample.get", "GET /api/sample/{id}", Write, "Get it.", echo[looked])}
	ctx := With(t.Context(), Principal{Name: "x", Scope: Write})
	if got, err := Call[looked](ctx, table, "sample.get", &looked{ID: "1", Since: 10}); err != nil || got.Limit != 50 || got.Since != 10 {
		t.Errorf("%+v, %v", got, err)
	}
	for name, c := range map[string]struct {
		ctx context.Context
		op  string
		in  looked
	}{"bounds": {ctx, "sample.get", looked{Limit: 101}}, "enum": {ctx, "sample.get", looked{Mode: "x"}}, "name": {ctx, "sample", looked{}},
		"scope": {With(ctx, Principal{Name: "x", Scope: Read}), "sample.get", looked{}}, "nobody": {t.Context(), "sample.get", looked{}}} {
		if _, err := Call[looked](c.ctx, table, c.op, &c.in); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// A write inside the process has the key of its request, as one over HTTP; a read, and a write without a key, have none.
func TestCallOnce(t *testing.T) {
	t.Parallel()
	source := func(ctx context.Context, _ None) (string, error) { return Source(ctx), nil }
	table := Table{Op("put", "POST /api/put", Write, "Put it.", source), Op("get", "GET /api/get", Read, "Get it.", source)}
	ctx := With(t.Context(), Principal{Name: "x", Scope: Write})
	once, err := Once(ctx, "k1")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		ctx  context.Context
		op   string
		want string
	}{"write": {once, "put", "page:x:put:k1"}, "read": {once, "get", ""}, "no key": {ctx, "put", ""}} {
		if got, err := Call[string](c.ctx, table, c.op, &None{}); err != nil || got != c.want {
			t.Errorf("%s: %q, %v, want %q", name, got, err, c.want)
		}
	}
	if _, err := Once(ctx, "a b"); err == nil {
		t.Error("a key with a space is taken")
	}
}

// FuzzRead: no request crashes the decoder, and what it takes holds to the bounds.
func FuzzRead(f *testing.F) {
	for _, s := range []struct{ query, body string }{{"limit=3&mode=on", `{"text":"x","count":3}`}, {"limit=%zz", `{"text":null,"label":null}`}, {"", `{"text":"x","nest":{"a":1},"idempotencyKey":"k"}`},
		{"full=1;", `[`}, {"since=-1", `{"text":"x","text":"y"}`}, {"limit=+3", "\xff{}"}} {
		f.Add(s.query, s.body)
	}
	h := Table{Op("sample.put", "POST /api/sample/{id}", Write, "Put it.", func(_ context.Context, in sample) (sample, error) {
		if in.Text == "" || in.Limit < 1 || in.Limit > 100 || in.Count < 0 || in.Count > 9 || in.Mode != "" && in.Mode != "on" && in.Mode != "off" || in.Since != 0 && in.Since < 10 {
			panic("let through: " + in.Text)
		}
		return in, nil
	})}.Handler()
	f.Fuzz(func(t *testing.T, query, body string) {
		req := httptest.NewRequestWithContext(With(t.Context(), admin), "POST", "/api/sample/1", strings.NewReader(body))
		req.URL.RawQuery = query
		req.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, req)
		if w.Code != http.StatusOK && (w.Code < 400 || w.Code >= 500) || !json.Valid(w.Body.Bytes()) {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	})
}
