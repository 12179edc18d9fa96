package wire

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
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
	for raw, want := range map[string]Fault{
		`{"error":{"message":"m","type":"t","code":"c"}}`:           {Code: "c", Text: "m"},
		`{"error":{"message":"m","code":502}}`:                      {Code: "502", Text: "m"},
		`{"type":"error","error":{"type":"x_error","message":"m"}}`: {Code: "x_error", Text: "m"},
		`{"error":"m"}`:            {Text: "m"},
		`{"message":"m"}`:          {Text: "m"},
		`{"detail":[{"msg":"m"}]}`: {Text: "m"},
		`<html><h1>no</h1>`:        {Text: "the answer is a web page, not JSON"},
		`bad gateway`:              {Text: "bad gateway"},
		`{"error":{}}`:             {Text: `{"error":{}}`},
		`[]`:                       {Text: "[]"},
	} {
		if got := ReadFault([]byte(raw)); got.Code != want.Code || got.Text != want.Text {
			t.Errorf("%s: %+v", raw, got)
		}
	}
}

// TestTooLong: a prompt that does not fit is told from other refusals, in the words of many providers.
func TestTooLong(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status int
		body   string
		want   agent.ErrorClass
	}{
		{400, `{"error":{"message":"Your input is too big.","code":"context_length_exceeded"}}`, agent.TooLong},
		{400, `{"error":{"message":"This model's maximum context length is 16384 tokens. However, you requested 122946 tokens","code":400}}`, agent.TooLong},
		{400, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 213462 tokens > 200000 maximum"}}`, agent.TooLong},
		{400, "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"input length and `max_tokens` exceed context limit: 199000 + 8192 > 200000\"}}", agent.TooLong},
		{413, `{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}`, agent.TooLong},
		{400, `{"error":{"code":400,"message":"request (4390 tokens) exceeds the available context size (4096 tokens), try increasing it","type":"exceed_context_size_error"}}`, agent.TooLong},
		{500, `{"error":{"code":500,"message":"Context size has been exceeded.","type":"server_error"}}`, agent.TooLong},
		{400, `{"error":"prompt too long; exceeded max context length by 540451 tokens"}`, agent.TooLong},
		{400, `{"error":{"message":"The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).","code":400}}`, agent.TooLong},
		{429, `{"error":{"message":"Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 34000","type":"tokens","code":"rate_limit_exceeded"}}`, agent.TooLong},
		{0, `{"error":{"code":400,"message":"This endpoint's maximum context length is 131072 tokens."}}`, agent.TooLong},
		{429, `{"error":{"message":"Rate limit reached for gpt-4o: please reduce the length of the messages","code":"rate_limit_exceeded"}}`, agent.RateLimited},
		{400, `{"error":{"message":"messages: text content blocks must be non-empty"}}`, agent.BadRequest},
		{500, `{"error":{"message":"internal error"}}`, agent.Overloaded},
	} {
		if got := classOf(c.status, c.body); got != c.want {
			t.Errorf("%d %s: %s", c.status, c.body, got)
		}
	}
}

func classOf(status int, body string) agent.ErrorClass {
	f := ReadFault([]byte(body))
	f.Status = status
	return classify(f)
}

func FuzzFault(f *testing.F) {
	f.Add(429, `{"error":{"message":"m","type":"t","code":"c"}}`)
	f.Fuzz(func(t *testing.T, status int, raw string) {
		if classOf(status, raw) == "" {
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

// TestSeeOther: an answer that will be at another path of the same host is fetched there. No key goes to another host.
// source: modal.com/docs/guide/webhook-timeouts
func TestSeeOther(t *testing.T) {
	t.Parallel()
	asked := make(chan string, 1)
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked <- r.Header.Get("Authorization") }))
	defer other.Close()
	var to string
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/result" {
			_, _ = fmt.Fprint(w, r.Method)
			return
		}
		w.Header().Set("Location", to)
		w.WriteHeader(http.StatusSeeOther)
	}))
	defer host.Close()
	ask := func(location string) (string, error) {
		to = location
		ctx, try := New(Config{Name: "x", BaseURL: host.URL}).Start(t.Context())
		defer try.Stop()
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, host.URL+"/v1/chat/completions", strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer secret")
		res, err := try.c.HTTP().Do(req)
		if err != nil {
			return "", err
		}
		defer func() { _ = res.Body.Close() }()
		body, err := io.ReadAll(res.Body)
		return string(body), err
	}
	if got, err := ask("/result?id=1"); got != http.MethodGet || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := ask(other.URL + "/result"); err == nil || !strings.Contains(err.Error(), "the server redirects (303)") {
		t.Errorf("another host: %v", err)
	}
	select {
	case key := <-asked:
		t.Errorf("another host was asked, with %q", key)
	default:
	}
}
