package hooks

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

const payload = `{"s":"text","n":5,"f":1.50,"big":123456789012345678901234567890,"yes":true,"no":false,"nil":null,"list":[{"name":"a"},{"name":"b"}],"deep":{"er":{"est":"found"}},"<h>":"&"}`

func TestTemplates(t *testing.T) {
	t.Parallel()
	v, err := decode([]byte(payload))
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"{{.s}} {{.n}} {{.f}} {{.big}} {{.yes}} {{.no}}":                                                                         "text 5 1.50 123456789012345678901234567890 true false",
		"a{{.missing}}b{{.nil}}c{{.missing.deeper.still}}d{{.s.x}}e{{.list.x}}f":                                                 "abcdef",
		"{{.deep.er.est}} {{$.deep.er.est}} {{(get . `deep`).er.est}}":                                                           "found found found",
		"{{range .list}}<{{.name}}{{.none}}>{{end}}":                                                                             "<a><b>",
		"{{range $i, $x := .list}}{{$i}}{{$x.name}}{{$x.none}}{{end}}":                                                           "0a1b",
		"{{range .none}}x{{else}}nothing{{end}}{{range .s}}x{{end}}":                                                             "nothing",
		"{{with .deep.er}}{{.est}}{{end}}{{with .none}}x{{else}}no{{end}}":                                                       "foundno",
		"{{if .yes}}1{{end}}{{if .no}}2{{end}}{{if .nil}}3{{end}}{{if .none.x}}4{{end}}{{if not .none}}5{{end}}":                 "15",
		`{{if eq .s "text"}}same{{end}}{{if eq .n 5}} five{{end}}{{if eq .none ""}} none{{end}}{{if and .s .none}}x{{end}}`:      "same five none",
		`{{get .list 1 "name"}}{{get .list 9 "name"}}{{get .s 1}}{{.s | printf "%q"}} {{printf "%s-%v" .s .none}}`:               `b"text" text-`,
		`{{lower "ABC"}}{{upper .s}}{{trim "  x "}} {{cut 2 .s}} {{cut 9 .s}} {{json .deep}} {{len .list}}`:                      `abcTEXTx te… text {"er":{"est":"found"}} 2`,
		`{{define "x"}}{{.name}}{{.no.ne}}{{end}}{{range .list}}{{template "x" .}}{{end}}{{$a := .deep.er}}{{$a.est}}{{$a.x.y}}`: "abfound",
		`{{index . "s"}}{{get . "<h>"}}`:                                                                                         "text&",
	} {
		tpl, err := Parse("message", text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got, err := render(tpl, v); err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", text, got, err, want)
		}
	}
	for _, bad := range []string{"{{", "{{.a}", "{{nope}}", "{{range .x}}", `{{.s "x"}}`, "{{template `none`}}"} {
		if _, err := Parse("message", bad); err == nil || !strings.HasPrefix(err.Error(), "message:1") {
			t.Errorf("%s: %v", bad, err)
		}
	}
	long, err := Parse("message", "{{range .list}}{{range $.list}}{{$.s}}{{end}}{{end}}")
	if err != nil {
		t.Fatal(err)
	}
	many := map[string]any{"s": strings.Repeat("x", 1000), "list": make([]any, 1000)}
	if _, err := render(long, many); !errors.Is(err, errLong) {
		t.Errorf("%v", err)
	}
}

// FuzzHook gives hooks any body: it never breaks, and what it hands on is bounded.
func FuzzHook(f *testing.F) {
	for _, s := range []string{payload, `{"message":"m","deliver":true}`, `{"text":"x","mode":"next"}`, `{}`, `[]`, `null`, `"x"`, `{"a":{"b":[1,2.5,-0,1e99]}}`, `{"list":5,"s":[]}`, "{\"message\":\"\xff\"}"} {
		f.Add([]byte(s))
	}
	const template = `{{.s}}{{.a.b.c}}{{range .list}}{{.name}}{{end}}{{with .deep}}{{.er}}{{end}}{{if eq .s "x"}}y{{end}}{{json .}}{{cut 5 .list}}{{get .list 0 "x"}}`
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, path := range []string{"wake", "agent", "m"} {
			host, h := serving(Config{AllowKey: true, Mappings: []Mapping{{Path: "m", Match: Match{Field: "a.b"}, Message: template, Session: "hook:{{.s}}", Name: "{{.s}}"}, {Path: "m", Message: template}}})
			code, answer := post(h, "/hooks/"+path, string(body))
			if code >= 500 || code == 204 && answer != "" || code != 204 && !json.Valid([]byte(answer)) {
				t.Errorf("%s: %d %s", path, code, answer)
			}
			for _, r := range host.reports {
				if len(r.Text) > maxOutput || r.Text == "" || !utf8.ValidString(string(r.Session)) {
					t.Errorf("%+v", r)
				}
			}
			if (code == 200 || code == 202) != (len(host.reports) == 1) {
				t.Errorf("%s: %d, %d reports", path, code, len(host.reports))
			}
		}
	})
}
