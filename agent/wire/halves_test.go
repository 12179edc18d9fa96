package wire

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// source: elizaOS/eliza#30904, elie222/rakazo#416
func TestHalvesOfCharacters(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, body, want string }{
		{"escapes", "data: {\"t\":\"a\\ud83d\"}\n\ndata: {\"t\":\"\\ude00b\"}\n\n", "a😀b"},
		{"escapes in capital letters", "data: {\"t\":\"a\\uD83D\"}\n\ndata: {\"t\":\"\\uDE00b\"}\n\n", "a😀b"},
		{"a pair in one event", "data: {\"t\":\"\\ud83d\\ude00\"}\n\n", "😀"},
		{"two in a row", "data: {\"t\":\"\\ud83d\"}\n\ndata: {\"t\":\"\\ude00\\ud83d\"}\n\ndata: {\"t\":\"\\ude01\"}\n\n", "😀😁"},
		{"the same half again", "data: {\"t\":\"\\ud83d\"}\n\ndata: {\"t\":\"\\ude00\\ud83d\"}\n\ndata: {\"t\":\"\\ude00\"}\n\n", "😀😀"},
		{"an event between them", "data: {\"t\":\"\\ud83d\"}\n\ndata: {\"t\":\"\"}\n\ndata: {\"t\":\"\\ude00\"}\n\n", "😀"},
		{"the same text in two fields", "data: {\"x\":\"\\ud83d\",\"t\":\"\\ud83d\"}\n\ndata: {\"x\":\"\\ude00\",\"t\":\"\\ude00\"}\n\n", "😀"},
		{"a half alone", "data: {\"t\":\"\\ud83d b\"}\n\n", "\uFFFD b"},
		{"a second half alone", "data: {\"t\":\"\\ude00b\"}\n\n", "\uFFFDb"},
		{"an escaped backslash", "data: {\"t\":\"C:\\\\ud83d\"}\n\n", `C:\ud83d`},
		{"bytes that are none", "data: {\"t\":\"a\xffb\"}\n\n", "a\uFFFDb"},
		{"NDJSON", "{\"t\":\"\\ud83d\"}\n{\"t\":\"\\ude00\"}\n", "😀"},
	} {
		events, got := NewEvents(strings.NewReader(c.body)), ""
		for {
			ev, err := events.Next()
			if err != nil {
				break
			}
			var v struct{ T string }
			if err := json.Unmarshal(ev.Data, &v); err != nil || !utf8.Valid(ev.Data) {
				t.Errorf("%s: %q: %v", c.name, ev.Data, err)
			}
			got += v.T
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func FuzzHalves(f *testing.F) {
	f.Add([]byte(`{"t":"\ud83d"}`), []byte(`{"t":"\ude00"}`))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		var h halves
		for _, data := range [][]byte{a, b} {
			if out := h.join(data); !utf8.Valid(out) || json.Valid(data) && utf8.Valid(data) && !json.Valid(out) {
				t.Fatalf("%q became %q", data, out)
			}
		}
	})
}
