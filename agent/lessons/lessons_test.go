package lessons

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/agent"
	"parley/agent/wire"
	"parley/sessions"
)

var at = Endpoint{"p", "http://model.test/v1", "m"}

// refusal makes the error of a refused request.
func refusal(status int, body string) error {
	f := wire.ReadFault([]byte(body))
	f.Status = status
	class := agent.BadRequest
	switch {
	case status == http.StatusNotFound:
		class = agent.NoSuchModel
	case status >= 500 || status == 0:
		class = agent.Overloaded
	case strings.Contains(body, "context length"), status == http.StatusRequestEntityTooLarge:
		class = agent.TooLong
	}
	return &agent.ModelError{Class: class, Status: status, Said: f.Text, Err: f}
}

// clock is a time that tests move.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func newClock() *clock { return &clock{now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)} }

// request is what one round of a call sends.
type request struct {
	params           map[string]string
	tools            []string
	stream, system   bool
	reasoning, roles string
}

// endpoint says which requests it refuses.
type endpoint func(request) error

// ask makes one model call like a provider, and gives how many requests were refused and what was sent last.
func ask(t *testing.T, b *Book, config string, e endpoint) (refused int, last request) {
	t.Helper()
	return askTries(t, b, config, 1, e)
}

// askTries is ask with so many tries of a call, as agent.Retry makes them.
func askTries(t *testing.T, b *Book, config string, tries int, e endpoint) (refused int, last request) {
	t.Helper()
	c := b.Call(at, config)
	for {
		r := request{params: make(map[string]string), stream: !c.Off(Stream, ""), system: !c.Off(System, ""), reasoning: c.Use(Reasoning), roles: c.Use(Roles)}
		var sent Sent
		for _, p := range []Param{{Name: "reasoning_effort", Value: "high", Next: []string{"medium", "low"}, Effort: true}, {Name: "stream_options", Value: "include_usage"}, {Name: c.Name("max_tokens"), Value: "32000"}} {
			value, send := c.Param(p.Name, p.Value)
			if p.Value = Unset; send {
				p.Value, r.params[p.Name] = value, value
			}
			sent.Params = append(sent.Params, p)
		}
		if !c.Off(Tools, "") {
			for _, name := range []string{"look", "list", "send"} {
				if !c.Off(Tool, name) && (c.MaxTools() == 0 || len(r.tools) < c.MaxTools()) {
					r.tools = append(r.tools, name)
				}
			}
		}
		sent.Tools, sent.Stream, sent.System, sent.Steps, sent.Loose = r.tools, r.stream, r.system, !c.Bare(), !c.Off(Schema, "")
		err := e(r)
		if err == nil {
			c.Worked(t.Context())
			return refused, r
		}
		refused++
		if refused > 20 {
			t.Fatal("it changes the request without end")
		}
		if !c.Refused(t.Context(), err, sent) {
			if tries--; tries <= 0 {
				return refused, r
			}
		}
	}
}

func noStream(r request) error {
	if r.stream {
		return refusal(400, `{"error":{"message":"streaming is not supported by this model"}}`)
	}
	return nil
}

func noTools(r request) error {
	if len(r.tools) > 0 {
		return refusal(400, `{"error":{"message":"m does not support tools"}}`)
	}
	return nil
}

func all(es ...endpoint) endpoint {
	return func(r request) error {
		for _, e := range es {
			if err := e(r); err != nil {
				return err
			}
		}
		return nil
	}
}

func takesAll(request) error { return nil }

// TestBounded: whatever an endpoint says, a call is changed a bounded number of times, and what did not help is not remembered.
func TestBounded(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "no", "reasoning_effort, stream_options, tools, system role and streaming are not supported", "roles must alternate", "invalid max_tokens: must be at most 1", "content must be a string",
		"Supported values are: 'low', 'medium', 'high'. reasoning_effort is invalid"} {
		for _, status := range []int{400, 404, 422, 500} {
			b := NewBook(Config{})
			refused, _ := ask(t, b, "", func(request) error { return refusal(status, `{"error":"`+text+`"}`) })
			if refused > maxChanges+1 || len(b.Known()) > 0 {
				t.Errorf("%d %q: %d requests, learned %v", status, text, refused, b.Known())
			}
		}
	}
}

// TestClasses: errors that are about no part of the request change nothing.
func TestClasses(t *testing.T) {
	t.Parallel()
	for _, class := range []agent.ErrorClass{agent.RateLimited, agent.BadKey, agent.NoCredit, agent.Refused, agent.Unreachable, agent.Timeout, agent.Unknown} {
		c := NewBook(Config{}).Call(at, "")
		f := wire.ReadFault([]byte("tools are not supported"))
		if c.Refused(t.Context(), &agent.ModelError{Class: class, Status: 400, Err: f}, Sent{Tools: []string{"look"}}) {
			t.Errorf("%s changes the request", class)
		}
	}
}

// TestStale: after seven days a call costs at most one refused request, and knows again what still holds.
func TestStale(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before, after endpoint
		kinds         int // lessons at the end
	}{
		"still refused":      {noStream, noStream, 1},
		"two, still refused": {all(noStream, noTools), all(noStream, noTools), 2},
		"one of two":         {all(noStream, noTools), noTools, 1},
		"none":               {all(noStream, noTools), takesAll, 0},
		"unclear now":        {noStream, func(r request) error { return map[bool]error{true: refusal(400, "no")}[r.stream] }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now := newClock()
			b := NewBook(Config{Now: now.Now})
			ask(t, b, "", c.before)
			if refused, _ := ask(t, b, "", c.before); refused != 0 {
				t.Errorf("it had to learn again: %d", refused)
			}
			for round := range 2 {
				now.pass(MaxAge + time.Hour)
				total := 0
				for range 4 {
					refused, _ := ask(t, b, "", c.after)
					if refused > 1 {
						t.Errorf("round %d: %d refused requests in one call", round, refused)
					}
					total += refused
				}
				if refused, _ := ask(t, b, "", c.after); refused != 0 || total > 2 {
					t.Errorf("round %d: it does not come to rest: %d in all, %d at last", round, total, refused)
				}
			}
			held := 0
			for _, l := range b.Known() {
				if now.Now().Sub(l.At) <= MaxAge {
					held++
				}
			}
			if held != c.kinds {
				t.Errorf("known: %+v", b.Known())
			}
		})
	}
}

// TestWrongLesson: a lesson that holds no more ends when it is tried, without a refused request.
func TestWrongLesson(t *testing.T) {
	t.Parallel()
	now := newClock()
	var dropped []sessions.Lesson
	b := NewBook(Config{Now: now.Now, Drop: func(_ context.Context, l ...sessions.Lesson) { dropped = append(dropped, l...) }})
	b.Load([]sessions.Lesson{{Provider: at.Provider, Address: at.Address, Model: at.Model, Kind: Tools, At: now.Now()}})
	if _, last := ask(t, b, "", takesAll); len(last.tools) > 0 {
		t.Error("a lesson in force is not obeyed")
	}
	now.pass(MaxAge + time.Hour)
	if refused, last := ask(t, b, "", takesAll); refused > 0 || len(last.tools) == 0 || len(b.Known()) > 0 {
		t.Errorf("%d refused, %v, known %v", refused, last, b.Known())
	}
	if len(dropped) != 1 || dropped[0].Kind != Tools || dropped[0].Model != at.Model {
		t.Errorf("dropped where it is kept: %v", dropped)
	}
}

// TestFingerprint: lessons of another configuration do not hold.
func TestFingerprint(t *testing.T) {
	t.Parallel()
	b := NewBook(Config{})
	ask(t, b, "one", noTools)
	for i, config := range []string{"one", "two"} {
		if refused, _ := ask(t, b, config, noTools); refused != i {
			t.Errorf("%s: %d refused", config, refused)
		}
	}
	if other := b.Call(Endpoint{at.Provider, at.Address, "other"}, "two"); other.Off(Tools, "") {
		t.Error("what one model taught is held against another")
	}
}

// TestBook: lessons are kept with the provider's words, listed, and forgotten.
func TestBook(t *testing.T) {
	t.Parallel()
	var saved []sessions.Lesson
	now := newClock()
	b := NewBook(Config{Now: now.Now, Save: func(_ context.Context, l ...sessions.Lesson) { saved = append(saved, l...) }})
	ask(t, b, "c", all(noStream, noTools))
	if len(saved) != 2 || saved[0].Kind != Stream || saved[0].Evidence != "streaming is not supported by this model" || saved[0].Config != "c" || !saved[0].At.Equal(now.Now()) ||
		saved[0].Provider != at.Provider || saved[0].Address != at.Address || saved[0].Model != at.Model {
		t.Errorf("saved %+v", saved)
	}
	again := NewBook(Config{Now: now.Now, Save: func(context.Context, ...sessions.Lesson) { t.Error("saved again") }})
	again.Load(saved)
	if refused, _ := ask(t, again, "c", all(noStream, noTools)); refused != 0 || !slices.Equal(again.Known(), b.Known()) {
		t.Errorf("%d refused, known %+v", refused, again.Known())
	}
	if n := again.Forget("q", ""); n != 0 || len(again.Known()) != 2 {
		t.Errorf("forgot %d", n)
	}
	if n := again.Forget("p", "m"); n != 2 || len(again.Known()) != 0 {
		t.Errorf("forgot %d", n)
	}
	for i := range sessions.MaxLessons + 50 {
		again.Load([]sessions.Lesson{{Provider: "p", Model: fmt.Sprint(i), Kind: Tools}})
	}
	if n := len(again.Known()); n != sessions.MaxLessons {
		t.Errorf("%d lessons in memory", n)
	}
}

// TestConcurrent uses one book from many goroutines; run it with -race.
func TestConcurrent(t *testing.T) {
	t.Parallel()
	b := NewBook(Config{Save: func(context.Context, ...sessions.Lesson) {}})
	var done sync.WaitGroup
	for i := range 16 {
		done.Go(func() {
			for n := range 50 {
				c := b.Call(Endpoint{"p", "a", fmt.Sprint(n % 5)}, "")
				if !c.Off(Tools, "") && !c.Refused(t.Context(), refusal(400, "tools are not supported"), Sent{Tools: []string{"look"}}) {
					t.Error("nothing was learned")
				}
				c.Worked(t.Context())
				if i == 0 {
					b.Known()
					b.Forget("p", fmt.Sprint(n%5))
				}
			}
		})
	}
	done.Wait()
}

func TestNearest(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		level, listed, want string
	}{
		{"low", "none low high", "low"},
		{"minimal", "none low medium high", "low"},
		{"medium", "low high", "low"},
		{"high", "none minimal", "minimal"},
		{"high", "none", "none"},
		{"none", "minimal low", "minimal"},
		{"none", "", ""},
		{"xhigh", "low medium high", "high"},
		{"low", "on", ""},
		{"odd", "low odd", "odd"},
	} {
		if got := Nearest(c.level, strings.Fields(c.listed)); got != c.want {
			t.Errorf("%s of %s: %q", c.level, c.listed, got)
		}
	}
}

// TestNumbers: the limit that an error names is sent in the place of what was too much, other numbers are not.
func TestNumbers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, sent, text, want string
	}{
		// source: platform.openai.com, error of gpt-4o
		{"max_tokens", "32000", "max_tokens is too large: 32000. This model supports at most 16384 completion tokens, whereas you provided 32000.", "16384"},
		{"max_tokens", "32000", "`max_tokens` must be less than or equal to `8192`, the maximum value for `max_tokens` is less than the `context_window` for this model", "8192"}, // source: Groq
		{"max_tokens", "64000", "max_tokens: 64000 > 8192, which is the maximum allowed number of output tokens for claude-3-5-sonnet-20241022", "8192"},                          // source: Anthropic
		{"max_tokens", "32000", "Invalid max_tokens value, the valid range of max_tokens is [1, 8192]", "8192"},                                                                   // source: DeepSeek
		{"max_tokens", "32000", "max_tokens may be at most 8,192 (request 20251 of organisation 31999)", "8192"},
		{"max_tokens", "32000", "max_tokens must be between 1 and 4096.", "4096"},
		{"max_tokens", "32000", "Range of max_tokens should be [1, 16384]", "16384"}, // source: DashScope
		{"max_tokens", "5", "max_output_tokens: integer below minimum value. Expected a value >= 16, but got 5 instead. max_tokens", "16"},
		{"max_tokens", "32000", "max_tokens is not supported", ""},
		{"temperature", "1.5", "temperature must be in the range [0, 1]", "1"},
		{"temperature", "0.3", "Unsupported value: 'temperature' does not support 0.3 with this model. Only the default (1) value is supported.", ""},
	} {
		b := NewBook(Config{})
		call := b.Call(at, "")
		if !call.Refused(t.Context(), refusal(400, `{"error":{"message":"`+c.text+`"}}`), Sent{Params: []Param{{Name: c.name, Value: c.sent}}}) {
			t.Errorf("%s: nothing was learned", c.text)
			continue
		}
		if got, send := call.Param(c.name, c.sent); got != c.want && (c.want != "" || send) {
			t.Errorf("%s: %q", c.text, got)
		}
	}
}

// TestReplacements: what is sent in the place of a refused value may be refused as well.
func TestReplacements(t *testing.T) {
	t.Parallel()
	refuses := func(values ...string) endpoint {
		return func(r request) error {
			v, sent := r.params["reasoning_effort"]
			switch {
			case sent && slices.Contains(values, v):
				return refusal(400, `{"error":{"message":"reasoning_effort '`+v+`' is not supported"}}`)
			case !sent && slices.Contains(values, Unset):
				return refusal(400, `{"error":{"message":"tools want no thinking: set reasoning_effort to 'none'"}}`)
			}
			return nil
		}
	}
	for _, c := range []struct {
		values []string
		want   string
	}{
		{[]string{"high"}, "medium"},
		{[]string{"high", "medium"}, "low"},
		{[]string{"high", "medium", "low", Unset}, "none"},
	} {
		b := NewBook(Config{})
		if _, last := ask(t, b, "", refuses(c.values...)); last.params["reasoning_effort"] != c.want {
			t.Errorf("%v: %v", c.values, last.params)
		}
		if refused, last := ask(t, b, "", refuses(c.values...)); refused != 0 || last.params["reasoning_effort"] != c.want {
			t.Errorf("%v: %d refused, %v", c.values, refused, last.params)
		}
	}
}

// TestPicturesOfAnUnclearRefusal: what leaving them out cured is remembered of these pictures, and nothing when it did not help.
// source: lmstudio-ai/lmstudio-bug-tracker#1106
func TestPicturesOfAnUnclearRefusal(t *testing.T) {
	t.Parallel()
	unclear := refusal(400, `{"error":{"message":"Invalid type for 'input'.","param":"input"}}`)
	sent := Sent{Pictures: []string{"aGk=", "aG8="}, Steps: true}
	helped := NewBook(Config{})
	var c *Call
	for range 4 { // the first two cure the same; the others try each picture alone
		c = helped.Call(at, "")
		if c.Off(Images, Hash("aGk=")) && c.Off(Images, Hash("aG8=")) {
			t.Errorf("nothing is tried: %v", helped.Known())
		}
		if !c.Refused(t.Context(), unclear, sent) || !c.Off(Images, Hash("aGk=")) {
			t.Fatal("the pictures are sent again")
		}
		c.Worked(t.Context())
	}
	next := helped.Call(at, "")
	if !next.Off(Images, Hash("aGk=")) || !next.Off(Images, Hash("aG8=")) || next.Off(Images, Hash("other")) || next.Off(Images, "") {
		t.Errorf("learned %v", helped.Known())
	}
	helpless := NewBook(Config{})
	c = helpless.Call(at, "")
	for c.Refused(t.Context(), unclear, sent) {
		sent.Pictures, sent.Steps = nil, sent.Steps && !c.Bare()
	}
	c.Worked(t.Context())
	if known := helpless.Known(); len(known) > 0 {
		t.Errorf("what did not help is remembered: %v", known)
	}
}
