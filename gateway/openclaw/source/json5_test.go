package source

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestJSON5(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{a: 1, 'b': 'x"y', "c": [1, 2,], }`:      `{"a":1,"b":"x\"y","c":[1,2]}`,
		"// one\n{/* two */ $x_1: true} // three": `{"$x_1":true}`,
		`[+1, .5, 5., 0x1F, -0x2, 1e3, null]`:     `[1,0.5,5,31,-2,1e3,null]`,
		`"a\nb\x41\u0042\` + "\n" + `c\q"`:        `"a\nbABcq"`,
		`'\ud83d\ude00 \u00e9'`:                   `"😀 é"`,
		"\uFEFF{}":                                `{}`,
		`{a: 1, "a": {b: 1}, a: {c: 2}}`:          `{"a":{"c":2}}`,
		`"https://x//y /* z */"`:                  `"https://x//y /* z */"`,
	} {
		v, err := ParseJSON5([]byte(text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		b, err := json.Marshal(v)
		var x, y any
		if err != nil || json.Unmarshal(b, &x) != nil || json.Unmarshal([]byte(want), &y) != nil || !cmp.Equal(x, y) {
			t.Errorf("%s: %s, want %s (%v)", text, b, want, err)
		}
	}
	for text, want := range map[string]string{
		``: "missing", `{a 1}`: "line 1, column 4", "{\n a: 1\n b: 2}": "line 3", `"x`: "no closing quote", "'a\nb'": "no closing quote", `/* x`: "not closed", `[1 2]`: "comma", `{} x`: "unexpected text",
		`Infinity`: "not a value", `NaN`: "not a value", `tru`: "not a value", `{1a: 2}`: "name", `"\u12"`: "digits", "\xff": "UTF-8", `{a: ,}`: "not a value", `truex`: "not a value", `-`: "not a value",
		strings.Repeat("[", 200): "deep",
	} {
		if v, err := ParseJSON5([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v", text, v, err)
		}
	}
}

// FuzzJSON5: what JSON takes is read as JSON reads it; anything else is read or refused, and never brings it down.
func FuzzJSON5(f *testing.F) {
	for _, s := range []string{`{"a":[1,2.5e3,"x\u00e9",null,true]}`, `{a:'b',/*c*/}`, `[0x10,+.5,]`, `"\ud800"`, `{"a":1}//`, `-0x`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := ParseJSON5(text)
		if err != nil {
			return
		}
		b, err := json.Marshal(got)
		if err != nil {
			t.Fatalf("%q was read as %v, which is no value: %v", text, got, err)
		}
		var plain, again any
		if json.Unmarshal(text, &plain) == nil {
			if err := json.Unmarshal(b, &again); err != nil || !cmp.Equal(plain, again) {
				t.Errorf("%q: JSON says %v, JSON5 says %v", text, plain, again)
			}
		}
	})
}
