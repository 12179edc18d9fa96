package wire

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"parley/agent"
	"parley/channels"
	"parley/tools"
)

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, c := range []struct {
		seconds, ms string
		want        time.Duration
	}{
		{"", "", 0},
		{"3", "", 3 * time.Second},
		{" 0.5 ", "", 500 * time.Millisecond},
		{"0", "", atOnce},
		{"-3", "", 0},
		{"NaN", "", 0},
		{"Inf", "", 365 * 24 * time.Hour},
		{"1e300", "", 365 * 24 * time.Hour},
		{"soon", "", 0},
		{"3", "250", 250 * time.Millisecond},
		{"3", "x", 3 * time.Second},
		{"Fri, 02 Jan 2026 03:04:15 GMT", "", 10 * time.Second},
		{"Friday, 02-Jan-26 03:04:15 GMT", "", 10 * time.Second},
		{"Fri, 02 Jan 2026 03:04:01 GMT", "", atOnce},
	} {
		h := http.Header{"Retry-After": {c.seconds}, "Retry-After-Ms": {c.ms}}
		if got := retryAfter(h, now); got != c.want {
			t.Errorf("%q %q: %v", c.seconds, c.ms, got)
		}
	}
}

func TestTextHidesTheKey(t *testing.T) {
	t.Parallel()
	const key = `sk-"a/b+c`
	c := New(Config{Name: "x", Key: channels.NewSecret(key)})
	for _, s := range []string{key, "?k=sk-%22a%2Fb%2Bc&x", `{"k":"sk-\"a/b+c"}`, strings.Repeat("ä", 295) + key, "a\n\tb\xff", strings.Repeat("x", 10_000)} {
		got := c.Text(s)
		if strings.Contains(got, "a/b") || strings.Contains(got, "%22a") || strings.Contains(got, `sk-`) || len(got) > maxErrorText+10 ||
			!utf8.ValidString(got) || strings.ContainsAny(got, "\n\t") {
			t.Errorf("%q became %q", s, got)
		}
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]fault{
		`{"error":{"message":"m","type":"t","code":"c"}}`:           {"t", "c", "m"},
		`{"error":{"message":"m","code":502}}`:                      {"", "502", "m"},
		`{"type":"error","error":{"type":"x_error","message":"m"}}`: {"x_error", "", "m"},
		`{"error":"m"}`:            {"", "", "m"},
		`{"message":"m"}`:          {"", "", "m"},
		`{"detail":[{"msg":"m"}]}`: {"", "", "[map[msg:m]]"},
		`<html>`:                   {"", "", "<html>"},
		`{"error":{}}`:             {"", "", `{"error":{}}`},
		`[]`:                       {"", "", "[]"},
	} {
		if got := readFault([]byte(raw)); got != want {
			t.Errorf("%s: %+v", raw, got)
		}
	}
}

func FuzzFault(f *testing.F) {
	f.Add(429, `{"error":{"message":"m","type":"t","code":"c"}}`)
	f.Fuzz(func(t *testing.T, status int, raw string) {
		if classify(status, readFault([]byte(raw))) == "" {
			t.Fatal("no class")
		}
	})
}

func FuzzQuote(f *testing.F) {
	for _, s := range []string{"", "plain", "a\"b\\c\nd\te\x00\x1f\x7f", "\u00e4\u2028\U0001F600", "a\xffb\xc3"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var got string
		b := Quote([]byte("x"), s)
		if err := json.Unmarshal(b[1:], &got); err != nil || got != strings.ToValidUTF8(s, "\uFFFD") {
			t.Fatalf("%q became %s: %v", s, b, err)
		}
	})
}

func TestTransport(t *testing.T) {
	t.Parallel()
	c := New(Config{Deadlines: agent.Deadlines{Connect: 3 * time.Second}})
	own, ok := c.http.Transport.(watchedTransport).next.(*http.Transport)
	if !ok || own.MaxIdleConnsPerHost < 64 || own.TLSHandshakeTimeout != 3*time.Second || own.DisableKeepAlives {
		t.Errorf("%+v", own)
	}
	if c.deadlines.FirstByte != agent.DefaultDeadlines.FirstByte || c.deadlines.Connect != 3*time.Second {
		t.Errorf("deadlines %+v", c.deadlines)
	}
	res, err := c.HTTP().Get("http://127.0.0.1:1/")
	if err == nil {
		_ = res.Body.Close()
		t.Error("a request outside of a try went through")
	}
}

// TestStopEndsTimers: nothing fires after a try, and its context is over.
func TestStopEndsTimers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, try := New(Config{Name: "x"}).Start(t.Context())
		try.Stop()
		if ctx.Err() == nil {
			t.Error("the request would go on")
		}
		time.Sleep(time.Hour) // virtual time
	})
}

func TestToolsAreEncodedOnce(t *testing.T) {
	t.Parallel()
	var cache Tools
	n := 0
	encode := func(s []tools.Spec) ([]byte, error) { n++; return fmt.Append(nil, len(s)), nil }
	a, b := []tools.Spec{{Name: "a"}}, []tools.Spec{{Name: "a", Description: "new"}}
	for _, specs := range [][]tools.Spec{a, a, b, b, a, nil} {
		if _, err := cache.Encode(specs, encode); err != nil {
			t.Fatal(err)
		}
	}
	if n != 3 {
		t.Errorf("encoded %d times", n)
	}
}
