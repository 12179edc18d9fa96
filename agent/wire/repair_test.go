package wire

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
)

// odd is what servers write that is no JSON, and what it means.
// source: https://docs.python.org/3/library/json.html#infinite-and-nan-number-values
var odd = map[string]string{
	`{"a":NaN,"b":[-Infinity,Infinity],"c":"NaN"}`: `{"a":null,"b":[null,null],"c":"NaN"}`,
	"{\"a\":\"a\tb\nc\"}":                          `{"a":"a\u0009b\u000ac"}`,
	`{"a":"raw\q\u12","b":"\\ \" \u0041"}`:         `{"a":"raw\\q\\u12","b":"\\ \" \u0041"}`,
}

func TestRepair(t *testing.T) {
	t.Parallel()
	for data, want := range odd {
		got, ok := Repair([]byte(data))
		if !ok || string(got) != want || !json.Valid(got) {
			t.Errorf("%s becomes %s", data, got)
		}
		if _, ok := Repair(got); ok {
			t.Errorf("%s is repaired once more", got)
		}
	}
	for _, data := range []string{`{"a":-1.5,"b":[null,true,"\u00e4 \\ \"NaN"]}`, `{"a":`, ``} {
		if got, ok := Repair([]byte(data)); ok || string(got) != data {
			t.Errorf("%s becomes %s", data, got)
		}
	}
}

// TestRepairedValues: a whole answer, and each of several values, is read although one of them is no JSON.
func TestRepairedValues(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"a":1}` + "\n" + `{"a":NaN}` + "\n" + `{"a":3}`:     `{"a":1}{"a":null}{"a":3}`,
		`[{"a":1},{"a":NaN},{"a":-Infinity}]`:                 `{"a":1}{"a":null}{"a":null}`,
		`{"a":"` + strings.Repeat("x", 20_000) + `","b":NaN}`: `{"a":"` + strings.Repeat("x", 20_000) + `","b":null}`,
	} {
		events, got := NewEvents(strings.NewReader(body)), ""
		var err error
		for err == nil {
			var e Event
			e, err = events.Next()
			got += string(e.Data)
		}
		if !errors.Is(err, io.EOF) || got != want {
			t.Errorf("%.60s: %.60s, %v", body, got, err)
		}
	}
}

func FuzzRepair(f *testing.F) {
	for data := range odd {
		f.Add([]byte(data))
	}
	f.Add([]byte("\"a\":NaN,c\"-InaInfinity"))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, ok := Repair(data)
		if json.Valid(data) && (ok || string(got) != string(data)) {
			t.Errorf("%q was JSON", data)
		}
		if again, ok := Repair(got); ok {
			t.Errorf("%q becomes %q, then %q", data, got, again)
		}
	})
}
