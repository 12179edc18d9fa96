package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// TestPackaging: the same events come out of every way in which servers put them on the wire, also byte by byte.
func TestPackaging(t *testing.T) {
	t.Parallel()
	want := []string{`{"delta":{"content":"lo {x} [y]: \"'\" ä"},"choices":[{"index":0}]}`, `{"choices":[{"index":0,"delta":{"content":"data: [DONE]"}}],"n":1.50}`, `[]`}
	each := func(format func(x string) string) string {
		all := ""
		for _, x := range want {
			all += format(x)
		}
		return all
	}
	indented := func(x string) string {
		var b bytes.Buffer
		if err := json.Indent(&b, []byte(x), "", "  "); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	quoted := func(x string) string { return fmt.Sprintf("%q", x) }
	for name, body := range map[string]string{
		"as documented":        each(func(x string) string { return "data: " + x + "\n\n" }),
		"CR LF":                each(func(x string) string { return "data: " + x + "\r\n\r\n" }),
		"CR":                   each(func(x string) string { return "data: " + x + "\r\r" }),
		"byte order marks":     each(func(x string) string { return "\ufeffdata: \ufeff" + x + "\n\n" }),
		"comments":             each(func(x string) string { return ": hi\n\n: a\ndata: " + x + "\n: b\n\n" }),
		"no empty lines":       each(func(x string) string { return "data: " + x + "\n" }),
		"many empty lines":     each(func(x string) string { return "\n\n\ndata: " + x + "\n\n\n" }),
		"no space":             each(func(x string) string { return "data:" + x + "\n\n" }),
		"tabs":                 each(func(x string) string { return "data:\t" + x + "\t\n\n" }),
		"other fields":         each(func(x string) string { return "id: 5\nretry: 3\nevent: x\ndata: " + x + "\nid: 4\n\n" }),
		"capitals":             each(func(x string) string { return "EVENT: x\nDATA: " + x + "\n\n" }),
		"twice the field":      each(func(x string) string { return "data: data: " + x + "\n\n" }),
		"texts":                each(func(x string) string { return "data: " + quoted(x) + "\n\n" }),
		"texts of texts":       each(func(x string) string { return "data: " + quoted(quoted(x)) + "\n\n" }),
		"several lines":        each(func(x string) string { return "data: " + indented(x) + "\n\n" }),
		"several fields":       each(func(x string) string { return "data: " + strings.ReplaceAll(indented(x), "\n", "\ndata: ") + "\n\n" }),
		"lines in capitals":    each(func(x string) string { return "Data: " + strings.ReplaceAll(indented(x), "\n", "\nData: ") + "\n\n" }),
		"two events for one":   each(func(x string) string { return "data: " + x[:len(x)/2] + "\n\ndata: " + x[len(x)/2:] + "\n\n" }),
		"NDJSON":               each(func(x string) string { return x + "\n" }),
		"NDJSON with CR LF":    each(func(x string) string { return x + "\r\n" }),
		"one behind the other": each(func(x string) string { return x }),
		"a list":               "[" + strings.Join(want, ",\n") + "]",
		"a list of texts":      "[" + quoted(want[0]) + "," + quoted(want[1]) + "," + quoted(want[2]) + "]",
		"RFC 7464":             each(func(x string) string { return "\x1e" + x + "\n" }),
		"NUL":                  each(func(x string) string { return "\x00data: " + x + "\n\n" }),
		"no end":               "data: " + strings.Join(want, "\n\ndata: "),
	} {
		events, got := NewEvents(iotest.OneByteReader(strings.NewReader(body)), "choices", "delta"), []string(nil)
		for {
			e, err := events.Next()
			if err != nil {
				break
			}
			var b bytes.Buffer
			if json.Compact(&b, e.Data) != nil {
				t.Errorf("%s: %q is no JSON", name, e.Data)
			}
			got = append(got, b.String())
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestIsEnd: marks behind an answer, and what only looks like one.
func TestIsEnd(t *testing.T) {
	t.Parallel()
	for _, e := range []Event{{Data: []byte("[DONE]")}, {Data: []byte(" [done]\r")}, {Data: []byte(`"[DONE]"`)}, {Data: []byte("DONE")}, {Data: []byte(`{"done": true}`)}, {Name: "done"}, {Name: "end", Data: []byte("{}")}, {Name: "message_stop", Data: []byte("null")}} {
		if !e.IsEnd() {
			t.Errorf("%s %q is no end", e.Name, e.Data)
		}
	}
	for _, e := range []Event{{}, {Data: []byte("{}")}, {Data: []byte("null")}, {Data: []byte("[]")}, {Data: []byte(`{"done":false}`)}, {Data: []byte("done it")}, {Name: "message", Data: []byte("{}")}, {Name: "done", Data: []byte(`{"usage":{}}`)}} {
		if e.IsEnd() {
			t.Errorf("%s %q is an end", e.Name, e.Data)
		}
	}
}
