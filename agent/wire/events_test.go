package wire

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// readEvents gives all events, values in angle brackets, and the error unless it is io.EOF.
func readEvents(body io.Reader) (out []string, err error) {
	e := NewEvents(body)
	for {
		ev, err := e.Next()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		s := string(ev.Data)
		if ev.Name != "" {
			s = ev.Name + "=" + s
		}
		if ev.Long {
			s = "long " + s
		}
		if ev.Value {
			s = "<" + s + ">"
		}
		out = append(out, s)
	}
}

func TestEvents(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 100_000)
	for _, c := range []struct {
		body string
		want []string
	}{
		{"data: a\n\ndata:b\n\n", []string{"a", "b"}},
		{"data: a\r\n\r\nevent: x\r\ndata: b\r\n\r\n", []string{"a", "x=b"}},
		// source: html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream (CR, LF and CRLF end a line)
		{"data: a\r\revent: x\rdata: b\r\r", []string{"a", "x=b"}},
		{"data: a\r\rdata: " + long + "\r\rdata: the last one\r", []string{"a", long, "the last one"}},
		{"data: a\r\r\n\r\r\ndata: b\r\r\n\r\r\n", []string{"a", "b"}},
		{": comment\n\nid: 3\nretry: 5\ndata: a\ndata: b\n\n", []string{"a\nb"}},
		{"data: a\n\ndata: the last one", []string{"a", "the last one"}},
		{"\xef\xbb\xbf\n\n data: x\ndata: a\n\n", []string{"x\na"}},
		{"event: ping\n\ndata: a\n\n", []string{"a"}},
		{"data: " + long + "\n\n", []string{long}},
		{"data: a\n\n{\"error\":1}\n", []string{"a", `<{"error":1}>`}},
		{" \n{\"a\":1}\n{\"a\":2}\n\n{\"a\":3}", []string{`<{"a":1}>`, `<{"a":2}>`, `<{"a":3}>`}},
		{"[{\"a\":1},\n{\"a\":2}]", []string{`<{"a":1}>`, `<{"a":2}>`}},
		{"<html>\n<body>: no", nil},
		{"", nil},
	} {
		for name, body := range map[string]io.Reader{"at once": strings.NewReader(c.body), "byte by byte": iotest.OneByteReader(strings.NewReader(c.body))} {
			if got, err := readEvents(body); err != nil || !slices.Equal(got, c.want) {
				t.Errorf("%s %.60q: %.200q, %v", name, c.body, got, err)
			}
		}
	}
	for _, body := range []string{`{"a":`, `[{"a":1},`, "data: " + strings.Repeat("x", maxLine+100_000), `{"a":"` + strings.Repeat("x", maxValue+100_000)} {
		if got, err := readEvents(strings.NewReader(body)); err == nil {
			t.Errorf("%.20q: %d events, no error", body, len(got))
		}
	}
	for name, body := range map[string]string{ // one that is too long is left out whole
		"a line":        "data: a\n\ndata: " + strings.Repeat("x", maxLine+100_000) + "\n\ndata: b\n\n",
		"lines":         "data: a\n\n" + strings.Repeat("data: "+strings.Repeat("x", maxLine/2)+"\n", 4) + "\ndata: b\n\n",
		"no empty line": "data: a\n\ndata: {" + strings.Repeat("x", maxLine+100_000) + "}\ndata: {}\n\ndata: b\n\n",
	} {
		got, err := readEvents(strings.NewReader(body))
		got = slices.DeleteFunc(got, func(s string) bool { return s == "{}" || strings.HasPrefix(s, "long ") && len(s) < 300 })
		if err != nil || !slices.Equal(got, []string{"a", "b"}) {
			t.Errorf("%s: %.200q, %v", name, got, err)
		}
	}
	e := NewEvents(strings.NewReader("<html>\n" + strings.Repeat("<p>", 1000)))
	if _, err := e.Next(); !errors.Is(err, io.EOF) || !strings.HasPrefix(e.Junk(), "<html>") || len(e.Junk()) > maxJunk {
		t.Errorf("junk %q, %v", e.Junk(), err)
	}
}

func FuzzEvents(f *testing.F) {
	f.Add("data: a\n\nevent: b\r\ndata: c\n\n")
	f.Add("[{\"a\":1}]")
	f.Add("{\"a\":1}\n{")
	f.Fuzz(func(t *testing.T, body string) {
		whole, err := readEvents(strings.NewReader(body))
		pieces, err2 := readEvents(iotest.OneByteReader(strings.NewReader(body)))
		if !slices.Equal(whole, pieces) || (err == nil) != (err2 == nil) {
			t.Fatalf("%q: %q, %v; in pieces %q, %v", body, whole, err, pieces, err2)
		}
		if n := len(fmt.Sprint(whole)); n > 10*len(body)+100 {
			t.Fatalf("%d bytes of %d", n, len(body))
		}
	})
}
