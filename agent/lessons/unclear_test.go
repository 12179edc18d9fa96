package lessons

import (
	"context"
	"strings"
	"testing"
	"time"

	"parley/sessions"
)

// vague refuses a request without a reason.
func vague(r request) error { return refusal(400, `{"error":{"message":"Bad Request"}}`) }

// vagueOn refuses requests that have one of these parameters, without a reason.
func vagueOn(names ...string) endpoint {
	return func(r request) error {
		for _, name := range names {
			if _, sent := r.params[name]; sent {
				return vague(r)
			}
		}
		return nil
	}
}

// TestRefusesEverything: an endpoint that refuses every request without a reason costs one request a call, after a call in which changes did not
// help. That ends with time, an answer, or another configuration.
// source: jrkropp/open-webui-developer-toolkit#717, cline/cline#396
func TestRefusesEverything(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		then func(t *testing.T, b *Book, now *clock)
		want string // config of the calls behind it
		most int    // refused requests of the first of them
	}{
		"time":          {then: func(_ *testing.T, _ *Book, now *clock) { now.pass(quietTime) }, most: 20},
		"an answer":     {then: func(t *testing.T, b *Book, _ *clock) { ask(t, b, "", takesAll) }, most: 20},
		"configuration": {then: func(*testing.T, *Book, *clock) {}, want: "other", most: 20},
		"a command":     {then: func(_ *testing.T, b *Book, _ *clock) { b.Forget("p", "") }, most: 20},
		"nothing":       {then: func(_ *testing.T, _ *Book, now *clock) { now.pass(quietTime / 2) }, most: 1},
	} {
		now := newClock()
		b := NewBook(Config{Now: now.Now})
		for i := range 4 {
			refused, _ := ask(t, b, "", vague)
			if first := i < quietCalls; first != (refused > 1) {
				t.Errorf("%s: call %d: %d requests", name, i, refused)
			}
		}
		c.then(t, b, now)
		if refused, _ := ask(t, b, c.want, vague); refused > c.most || c.most > 1 && refused == 1 {
			t.Errorf("%s: %d requests behind it", name, refused)
		}
		if len(b.Known()) > 0 {
			t.Errorf("%s: learned %+v", name, b.Known())
		}
	}
}

// TestQuietAgain: behind the quiet time one call in vain begins the next one.
func TestQuietAgain(t *testing.T) {
	t.Parallel()
	now := newClock()
	b := NewBook(Config{Now: now.Now})
	for i, want := range []bool{true, false, false, true, false} {
		if i == 3 {
			now.pass(quietTime)
		}
		if refused, _ := ask(t, b, "", vague); (refused > 1) != want {
			t.Errorf("call %d: %d requests", i, refused)
		}
	}
}

// TestLeftTogether: optional parameters are left out together where a refusal has no reason, and are remembered when the same cured a second
// call. Each of the next calls sends one of them again: in the end those are remembered that are refused, also in another process, at the price of one refused request each.
// source: langchain-ai/langchainjs#6533, 400 without a body to stream_options
func TestLeftTogether(t *testing.T) {
	t.Parallel()
	for name, refused := range map[string][]string{
		"one":     {"stream_options"},
		"another": {"max_tokens"},
		"both":    {"stream_options", "max_tokens"},
	} {
		now, kept := newClock(), make(map[key]sessions.Lesson)
		save := func(_ context.Context, ls ...sessions.Lesson) {
			for _, l := range ls {
				kept[keyOf(l)] = l
			}
		}
		drop := func(_ context.Context, ls ...sessions.Lesson) {
			for _, l := range ls {
				delete(kept, keyOf(l))
			}
		}
		again := func() *Book { // as in another process
			b := NewBook(Config{Now: now.Now, Save: save, Drop: drop})
			for _, l := range kept {
				b.Load([]sessions.Lesson{l})
			}
			return b
		}
		b := again()
		if n, _ := ask(t, b, "", vagueOn(refused...)); n != 1 || len(kept) > 0 {
			t.Errorf("%s: %d refused requests, kept %v", name, n, kept)
		}
		if n, _ := ask(t, b, "", vagueOn(refused...)); n != 1 || len(kept) == 0 {
			t.Errorf("%s: %d refused requests for the same cure, kept %v", name, n, kept)
		}
		total := 0
		for range 4 {
			n, _ := ask(t, again(), "", vagueOn(refused...))
			if total += n; n > 1 {
				t.Errorf("%s: %d refused requests in one call", name, n)
			}
		}
		n, last := ask(t, again(), "", vagueOn(refused...))
		if total > len(refused) || n > 0 || len(last.params) != 3-len(refused) {
			t.Errorf("%s: %d refused requests, then %d, with %v", name, total, n, last.params)
		}
		for _, l := range kept {
			if !strings.Contains(l.Evidence, "Bad Request") || inDoubt(l) {
				t.Errorf("%s: kept %+v", name, l)
			}
		}
		if now.pass(MaxAge + time.Hour); len(kept) != len(refused) {
			t.Errorf("%s: kept %+v", name, kept)
		}
		if _, last := ask(t, again(), "", takesAll); len(last.params) != 3 {
			t.Errorf("%s: lessons do not end: %v", name, last.params)
		}
	}
}

// TestVaryingValue: what is learned of a parameter that each conversation has a value of its own for holds for all of them.
// source: MoonshotAI/kimi-code#3660, NVIDIA NIM refuses prompt_cache_key
func TestVaryingValue(t *testing.T) {
	t.Parallel()
	for said, want := range map[string][]int{"Unknown parameter: 'prompt_cache_key'.": {1, 0, 0}, "Bad Request": {1, 1, 0}} { // what no word names, twice
		b := NewBook(Config{})
		for i, value := range []string{"one", "other", "third"} {
			c, refused := b.Call(at, ""), 0
			for {
				_, send := c.Param("prompt_cache_key", value)
				if !send {
					break
				}
				refused++
				if !c.Refused(t.Context(), refusal(400, `{"error":{"message":"`+said+`"}}`), Sent{Params: []Param{{Name: "prompt_cache_key", Value: value, Varies: true}}}) {
					t.Fatal("it gives up")
				}
			}
			if c.Worked(t.Context()); refused != want[i] {
				t.Errorf("%s: %d refused requests of %s", said, refused, value)
			}
		}
	}
}

// TestNarrowed: of the parts that were left out together only those stay out that are refused, at the price of one refused request each.
// source: jrkropp/open-webui-developer-toolkit#717
func TestNarrowed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		e    endpoint
		kind string
	}{
		"stream": {func(r request) error {
			if r.stream {
				return vague(r)
			}
			return nil
		}, Stream},
		"tools": {func(r request) error {
			if len(r.tools) > 0 {
				return vague(r)
			}
			return nil
		}, Tools},
	} {
		b := NewBook(Config{})
		total := 0
		var last request
		for range 12 {
			var refused int
			refused, last = ask(t, b, "", c.e)
			total += refused
		}
		if last.stream != (c.kind != Stream) || !last.system || len(last.tools) == 0 != (c.kind == Tools) || len(last.params) != 3 || total > 8 {
			t.Errorf("%s: %d refused, sent %+v, known %+v", name, total, last, b.Known())
		}
	}
}
