package conform

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/agent"
	"parley/agent/modeltest"
	"parley/sessions"
)

func testFaults(t *testing.T, b *bench) {
	call := []modeltest.ToolCall{{ID: "a", Name: "count", Arguments: `{"n":1234}`}}
	for _, c := range []struct {
		reply modeltest.Reply
		class agent.ErrorClass
		tries int
	}{
		{modeltest.Reply{Fault: modeltest.Refuse}, agent.Unreachable, 3},
		{modeltest.Reply{Fault: modeltest.Silent}, agent.Timeout, 3},
		{modeltest.Reply{Fault: modeltest.Cut, Text: []string{"x"}}, agent.Broken, 3},
		{modeltest.Reply{Fault: modeltest.Cut, ToolCalls: call}, agent.Broken, 3},
		{modeltest.Reply{Fault: modeltest.End}, agent.Broken, 3},
		{modeltest.Reply{Fault: modeltest.End, ToolCalls: call}, agent.Broken, 3},
		{modeltest.Reply{Fault: modeltest.HalfCall, ToolCalls: call}, agent.Broken, 3},
		{modeltest.Reply{Fault: modeltest.Stall}, agent.Timeout, 3},
		{modeltest.Reply{Fault: modeltest.Stall, Text: []string{"x"}, Between: time.Second}, agent.Timeout, 3},
		{modeltest.Reply{Fault: modeltest.Garbage, Text: []string{"x"}}, agent.Broken, 3},
		{modeltest.Reply{Fault: modeltest.Huge}, agent.Broken, 1},
		{modeltest.Reply{Fault: modeltest.HugeLine}, agent.Broken, 1},
		{modeltest.Reply{Fault: modeltest.ErrorEvent}, agent.Overloaded, 3},
		{modeltest.Reply{Fault: modeltest.ErrorEvent, Text: []string{"x"}}, agent.Overloaded, 3},
	} {
		b.Script(func(modeltest.Request) modeltest.Reply { return c.reply })
		g := b.say(t, "hi")
		g.fails(t, c.class, c.tries)
		if g.requests != c.tries {
			t.Errorf("%s: %d requests", c.reply.Fault, g.requests)
		}
		if n := len(strings.Join(g.texts, "")); n > 5<<20 {
			t.Errorf("%s: %d bytes were passed on", c.reply.Fault, n)
		}
		b.Script(modeltest.Echo)
		if got := texts(b.say(t, "after").ok(t)); got != "echo: after" {
			t.Errorf("after %s: %q", c.reply.Fault, got)
		}
	}
	b.Script(func(modeltest.Request) modeltest.Reply { return modeltest.Reply{Fault: modeltest.InvalidUTF8} })
	if got := texts(b.say(t, "hi").ok(t)); !strings.Contains(got, "caf\uFFFD") { // a letter in another encoding is no reason to lose the answer
		t.Errorf("%q", got)
	}
}

func testStatuses(t *testing.T, b *bench) {
	for _, c := range []struct {
		status int
		body   string
		class  agent.ErrorClass
		tries  int
	}{
		{400, "", agent.BadRequest, 1},
		{401, `{"error":{"message":"Incorrect API key provided: ` + key + `"}}`, agent.BadKey, 1},
		{401, key, agent.BadKey, 1},
		{403, `{"error":"no ` + strings.Repeat(key, 1000) + `"}`, agent.BadKey, 1},
		{402, "", agent.NoCredit, 1},
		{404, "", agent.NoSuchModel, 1},
		{400, `{"error":{"message":"The model mock-1 does not exist"}}`, agent.NoSuchModel, 1},
		{413, "<html>too large</html>", agent.TooLong, 1},
		{400, `{"error":{"message":"This model's maximum context length is 8192 tokens.","code":"context_length_exceeded"}}`, agent.TooLong, 1},
		{400, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}`, agent.TooLong, 1},
		{422, `{"detail":[{"loc":["body"],"msg":"wrong"}]}`, agent.BadRequest, 1},
		{429, "", agent.RateLimited, 3},
		{429, `{"error":{"message":"You exceeded your quota","type":"insufficient_quota","code":"insufficient_quota"}}`, agent.NoCredit, 1},
		{500, "", agent.Overloaded, 3},
		{503, strings.Repeat("x", 1<<20), agent.Overloaded, 3},
		{529, "", agent.Overloaded, 3},
		{302, "", agent.BadAddress, 1},
		{500, "\xff\xfe", agent.Overloaded, 3},
	} {
		b.Script(func(modeltest.Request) modeltest.Reply {
			return modeltest.Reply{Status: c.status, Body: c.body, Header: http.Header{"Location": {"http://elsewhere.test/?k=" + key}}}
		})
		g := b.say(t, "hi")
		e := g.fails(t, c.class, c.tries)
		changed := c.class == agent.BadRequest && g.requests > c.tries && g.requests <= 9 // it was sent again with less in it
		if e.Status != c.status || g.requests != c.tries && !changed || !strings.Contains(e.Error(), fmt.Sprintf("(tries %d, ", g.requests)) {
			t.Errorf("%d: status %d, %d requests: %s", c.status, e.Status, g.requests, e.Error())
		}
	}
}

// testSettings: errors that say nothing of the request are retried whatever is set for the model. Some of them have no words of the provider.
func testSettings(t *testing.T, b *bench) {
	for name, s := range map[string]agent.ModelSettings{
		"stream: off": {Stream: "off"},
		"all off":     {Stream: "off", Tools: "off", Images: "off", System: "off"},
		"all on":      {Stream: "on", Tools: "on", Images: "on", System: "on"},
	} {
		b.settings = s
		for _, c := range []struct {
			reply modeltest.Reply
			class agent.ErrorClass
			tries int
		}{
			{modeltest.Reply{Status: http.StatusTooManyRequests}, agent.RateLimited, 3},
			{modeltest.Reply{Status: http.StatusServiceUnavailable}, agent.Overloaded, 3},
			{modeltest.Reply{Status: http.StatusUnauthorized}, agent.BadKey, 1},
			{modeltest.Reply{Fault: modeltest.Refuse}, agent.Unreachable, 3},
			{modeltest.Reply{Fault: modeltest.Silent}, agent.Timeout, 3},
		} {
			b.Script(func(modeltest.Request) modeltest.Reply { return c.reply })
			if g := b.say(t, "hi"); g.requests != c.tries {
				t.Errorf("%s: %d requests against %+v: %v", name, g.requests, c, g.err)
			} else {
				g.fails(t, c.class, c.tries)
			}
		}
		b.Script(modeltest.Echo)
		if got := texts(b.say(t, "after").ok(t)); !strings.HasPrefix(got, "echo: ") || !strings.HasSuffix(got, "after") {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func testRetryAfter(t *testing.T, b *bench) {
	in := func(d time.Duration) string { return time.Now().Add(d).UTC().Format(http.TimeFormat) }
	for _, c := range []struct {
		name     string
		header   func() http.Header
		deadline time.Duration // of ctx
		want     time.Duration // waited in all
		asked    time.Duration // in the error; 0 = an answer comes
	}{
		{"seconds", func() http.Header { return http.Header{"Retry-After": {"7"}} }, 0, 7 * time.Second, 0},
		{"the most", func() http.Header { return http.Header{"Retry-After": {"60"}} }, 0, time.Minute, 0},
		{"milliseconds", func() http.Header { return http.Header{"Retry-After-Ms": {"1500"}, "Retry-After": {"9"}} }, 0, 1500 * time.Millisecond, 0},
		{"a date", func() http.Header { return http.Header{"Retry-After": {in(12 * time.Second)}} }, 0, 12 * time.Second, 0},
		{"a date gone by", func() http.Header { return http.Header{"Retry-After": {in(-time.Hour)}} }, 0, 0, 0},
		{"at once", func() http.Header { return http.Header{"Retry-After": {"0"}} }, 0, 0, 0},
		{"too long", func() http.Header { return http.Header{"Retry-After": {"61"}} }, 0, 0, 61 * time.Second},
		{"longer than ctx", func() http.Header { return http.Header{"Retry-After": {"30"}} }, 20 * time.Second, 0, 30 * time.Second},
	} {
		time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second))) // virtual time; dates know no fractions
		failed := false
		b.Script(func(r modeltest.Request) modeltest.Reply {
			if failed {
				return modeltest.Echo(r)
			}
			failed = true
			return modeltest.Reply{Status: http.StatusTooManyRequests, Header: c.header()}
		})
		ctx, cancel := context.WithCancel(t.Context())
		if c.deadline > 0 {
			ctx, cancel = context.WithTimeout(t.Context(), c.deadline)
		}
		g := b.ask(ctx, prompt("hi"))
		cancel()
		if g.took != c.want {
			t.Errorf("%s: waited %v, not %v", c.name, g.took, c.want)
		}
		if c.asked == 0 {
			g.ok(t)
			continue
		}
		if e := g.fails(t, agent.RateLimited, 1); e.RetryAfter != c.asked {
			t.Errorf("%s: RetryAfter is %v", c.name, e.RetryAfter)
		}
	}
}

func testBackoff(t *testing.T, b *bench) {
	var at []time.Time
	b.Script(func(modeltest.Request) modeltest.Reply {
		at = append(at, time.Now())
		return modeltest.Reply{Status: http.StatusServiceUnavailable, Header: http.Header{"Retry-After": {"soon"}}}
	})
	b.say(t, "hi").fails(t, agent.Overloaded, 3)
	first, second := at[1].Sub(at[0]), at[2].Sub(at[1])
	if first < 200*time.Millisecond || first > 800*time.Millisecond || second < 400*time.Millisecond || second > 1600*time.Millisecond {
		t.Errorf("waited %v, then %v", first, second)
	}
	left := 2
	b.Script(func(r modeltest.Request) modeltest.Reply {
		if left--; left >= 0 {
			return modeltest.Reply{Fault: modeltest.Refuse}
		}
		return modeltest.Echo(r)
	})
	if g := b.say(t, "hi"); texts(g.ok(t)) != "echo: hi" || g.requests != 3 {
		t.Errorf("%d requests", g.requests)
	}
	// Too little time is left to wait: it gives up at once.
	b.Script(func(modeltest.Request) modeltest.Reply { return modeltest.Reply{Status: 500} })
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if g := b.ask(ctx, prompt("hi")); g.took != 0 {
		t.Errorf("took %v", g.took)
	} else {
		g.fails(t, agent.Overloaded, 1)
	}
}

// testDrafts: an answer that breaks off is asked for again, as no tool of it has run, and what had come of it is void.
// source: anthropics/claude-code overloaded_error inside of a stream, OpenRouter's errors after the first word
func testDrafts(t *testing.T, b *bench) {
	for _, fault := range []modeltest.Fault{modeltest.Cut, modeltest.End, modeltest.ErrorEvent, modeltest.Stall} {
		first := b.Count() + 1
		b.Script(func(r modeltest.Request) modeltest.Reply {
			if r.N == first {
				return modeltest.Reply{Text: []string{"a dra", "ft"}, Between: time.Second, Fault: fault}
			}
			return modeltest.Reply{Text: []string{"whole"}}
		})
		g := b.say(t, "hi")
		if got := texts(g.ok(t)); got != "whole" || strings.Join(g.texts, "") != "whole" || g.restarts != 1 || g.requests != 2 {
			t.Errorf("%s: %q of %q, %d restarts in %d requests", fault, got, g.texts, g.restarts, g.requests)
		}
	}
	b.Script(func(modeltest.Request) modeltest.Reply {
		return modeltest.Reply{Text: []string{"never"}, Fault: modeltest.Cut}
	})
	g := b.say(t, "hi")
	g.fails(t, agent.Broken, 3)
	if g.requests != 3 || g.restarts != 2 {
		t.Errorf("%d requests, %d restarts", g.requests, g.restarts)
	}
}

// testFewerTries: a call makes no more requests than it is allowed.
func testFewerTries(t *testing.T, b *bench) {
	b.Script(func(modeltest.Request) modeltest.Reply { return modeltest.Reply{Fault: modeltest.Refuse} })
	for tries, want := range map[int]int{0: 3, 1: 1, 2: 2} {
		p := prompt("hi")
		p.Tries = tries
		g := b.ask(t.Context(), p)
		g.fails(t, agent.Unreachable, want)
		if g.requests != want {
			t.Errorf("allowed %d: %d requests", tries, g.requests)
		}
	}
}

// testSpent: what the provider has counted for an answer that broke off is told, once for each try; a whole answer has it in itself.
func testSpent(t *testing.T, b *bench) {
	used := modeltest.Usage{Input: 100, Output: 9, CacheRead: 40}
	for _, c := range []struct {
		reply modeltest.Reply
		want  int // how often something is told
	}{
		{modeltest.Reply{Text: []string{"x"}}, 0},
		{modeltest.Reply{Text: []string{"x"}, Fault: modeltest.Cut}, 3},
		{modeltest.Reply{Text: []string{"x"}, Fault: modeltest.End}, 3},
		{modeltest.Reply{Text: []string{"x"}, Fault: modeltest.Stall}, 3},
		{modeltest.Reply{Fault: modeltest.ErrorEvent}, 3}, // once for each try
		{modeltest.Reply{Fault: modeltest.Refuse}, 0},
		{modeltest.Reply{Status: http.StatusInternalServerError}, 0},
	} {
		c.reply.Usage, c.reply.EarlyUsage = used, true
		b.Script(func(modeltest.Request) modeltest.Reply { return c.reply })
		before := b.Counted()
		var told []sessions.Usage
		p := prompt("hi")
		p.Spent = func(u sessions.Usage) { told = append(told, u) }
		g := b.ask(t.Context(), p)
		var sum sessions.Usage
		for _, u := range told {
			sum = sum.Add(u)
		}
		if g.answer != nil {
			sum = sum.Add(g.answer.Usage)
		}
		now := b.Counted()
		counted := sessions.Usage{Input: now.Input - before.Input, Output: now.Output - before.Output, CacheRead: now.CacheRead - before.CacheRead}
		if len(told) != c.want || sum != counted {
			t.Errorf("%+v: told %+v, in all %+v, the server counted %+v", c.reply, told, sum, counted)
		}
	}
}

func testDeadlines(t *testing.T, b *bench) {
	drip := make([]string, 1000)
	for i := range drip {
		drip[i] = "x"
	}
	for _, c := range []struct {
		name     string
		reply    modeltest.Reply
		tries    int
		min, max time.Duration
	}{
		{"first byte", modeltest.Reply{Fault: modeltest.Silent}, 3, 60 * time.Second, 63 * time.Second},
		{"slow headers", modeltest.Reply{Delay: 21 * time.Second}, 3, 60 * time.Second, 63 * time.Second},
		{"idle", modeltest.Reply{Fault: modeltest.Stall, Text: []string{"x"}}, 3, 15 * time.Second, 18 * time.Second},
		{"total", modeltest.Reply{Text: drip, Between: 4 * time.Second}, 1, time.Minute, time.Minute},
	} {
		b.Script(func(modeltest.Request) modeltest.Reply { return c.reply })
		g := b.say(t, "hi")
		g.fails(t, agent.Timeout, c.tries)
		if g.took < c.min || g.took > c.max {
			t.Errorf("%s: took %v", c.name, g.took)
		}
	}
	b.Script(func(r modeltest.Request) modeltest.Reply {
		return modeltest.Reply{Delay: 19 * time.Second, Text: drip[:6], Between: 4 * time.Second}
	})
	if got := texts(b.say(t, "slow but alive").ok(t)); got != "xxxxxx" {
		t.Errorf("got %q", got)
	}
}

// testLinger: a complete answer is not held up by a server that does not end its stream.
func testLinger(t *testing.T, b *bench) {
	b.Script(func(modeltest.Request) modeltest.Reply {
		return modeltest.Reply{Text: []string{"done"}, Fault: modeltest.Linger}
	})
	if g := b.say(t, "hi"); texts(g.ok(t)) != "done" || g.took > 100*time.Millisecond {
		t.Errorf("%q after %v", g.texts, g.took)
	}
}

func testCancel(t *testing.T, b *bench) {
	for _, r := range []modeltest.Reply{
		{Fault: modeltest.Silent},
		{Fault: modeltest.Stall, Text: []string{"x"}},
		{Status: http.StatusTooManyRequests, Header: http.Header{"Retry-After": {"50"}}},
	} {
		b.Script(func(modeltest.Request) modeltest.Reply { return r })
		before := b.Gone()
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(3*time.Second, cancel)
		g := b.ask(ctx, prompt("hi"))
		if !errors.Is(g.err, context.Canceled) || g.took != 3*time.Second {
			t.Errorf("%+v: %v after %v", r, g.err, g.took)
		}
		synctest.Wait()
		if r.Status == 0 && b.Gone() != before+1 {
			t.Errorf("%+v: the server did not see the client leave", r)
		}
	}
}

func testBreak(t *testing.T, b *bench) {
	b.Script(func(modeltest.Request) modeltest.Reply {
		return modeltest.Reply{Text: []string{"a", "b", "c"}, Between: time.Second}
	})
	for d, err := range b.model.Stream(t.Context(), prompt("hi")) {
		if err != nil {
			t.Fatal(err)
		}
		if d.Text != "" {
			break
		}
	}
	synctest.Wait()
	time.Sleep(2 * time.Second) // virtual time: the server notices when it writes the next piece, at the latest
	synctest.Wait()
	if b.Gone() != 1 || b.Count() != 1 {
		t.Errorf("%d requests, %d left", b.Count(), b.Gone())
	}
}
