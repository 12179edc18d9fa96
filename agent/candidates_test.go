package agent

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/sessions"
)

// failingModel is a model that fails with a class, as often as it may try where that is tried again.
type failingModel struct {
	class ErrorClass
	says  string // pieces before it fails
	asked []Prompt
}

func (m *failingModel) Stream(_ context.Context, p Prompt) iter.Seq2[Delta, error] {
	return func(yield func(Delta, error) bool) {
		m.asked = append(m.asked, p)
		if m.says != "" && !yield(Delta{Text: m.says}, nil) {
			return
		}
		e := &ModelError{Class: m.class, Provider: "mock", Tries: 1, Err: errors.New("boom")}
		switch m.class {
		case Unreachable, Overloaded, RateLimited:
			e.Tries = p.Tries
		case Tripped:
			e.Tries = 0
		case Broken:
			p.Spent(sessions.Usage{Input: 100, Output: 1})
		}
		yield(Delta{}, e)
	}
}

// Each candidate gets its share of the three requests; only content that a filter refused, and what is too long, is not handed on.
func TestFallbacks(t *testing.T) {
	t.Parallel()
	const good = ErrorClass("good")
	for _, c := range []struct {
		name  string
		chain []ErrorClass
		tries string // that each one that was asked was allowed
		class ErrorClass
		used  int
	}{
		{"alone", []ErrorClass{Unreachable}, "[3]", Unreachable, 3},
		{"one behind", []ErrorClass{Overloaded, good}, "[2 1]", good, 0},
		{"one behind, both fail", []ErrorClass{Overloaded, BadKey}, "[2 1]", Overloaded, 3},
		{"two behind", []ErrorClass{RateLimited, Unreachable, good}, "[1 1 1]", good, 0},
		{"more than there are tries", []ErrorClass{Unreachable, Unreachable, Unreachable, good}, "[1 1 1 1]", good, 0},
		{"what one does not use", []ErrorClass{BadKey, Unreachable}, "[2 2]", BadKey, 3},
		{"no such model", []ErrorClass{NoSuchModel, good}, "[2 2]", good, 0},
		{"broke off", []ErrorClass{Broken, good}, "[2 2]", good, 0},
		{"timed out", []ErrorClass{Timeout, good}, "[2 2]", good, 0},
		{"left alone", []ErrorClass{Tripped, good}, "[2 3]", good, 0},
		{"left alone, the other fails", []ErrorClass{Tripped, Unreachable}, "[2 3]", Unreachable, 3},
		{"all left alone", []ErrorClass{Tripped, Tripped}, "[2 3]", Tripped, 0},
		{"many left alone", []ErrorClass{Tripped, Tripped, Tripped, Tripped, good}, "[1 2 3 3 3]", good, 0},
		{"a bad request", []ErrorClass{BadRequest, good}, "[2 2]", good, 0}, // source: anthropics/claude-code#4684
		{"no credit", []ErrorClass{NoCredit, good}, "[2 2]", good, 0},       // source: openclaw/openclaw#64840
		{"a bad key", []ErrorClass{BadKey, good}, "[2 2]", good, 0},
		{"refused content", []ErrorClass{Refused, good}, "[2]", Refused, 1},
		{"too long", []ErrorClass{TooLong, good}, "[2]", TooLong, 1},
		{"too long for the second", []ErrorClass{Overloaded, TooLong}, "[2 1]", TooLong, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var got []int
			turn := Turn{History: []sessions.Message{user("hi")}}
			for i, class := range c.chain {
				who := Candidate{Name: fmt.Sprint("m", i), Label: fmt.Sprint("p/m", i)}
				who.Model = asking(func(p Prompt) Model {
					got = append(got, p.Tries)
					if p.Model != who.Name {
						t.Errorf("%s was asked for %s", who.Name, p.Model)
					}
					if class == good {
						return &script{answers: []any{say("hello")}}
					}
					return &failingModel{class: class}
				})
				if i == 0 {
					turn.Model, turn.Name, turn.Label = who.Model, who.Name, who.Label
				} else {
					turn.Fallbacks = append(turn.Fallbacks, who)
				}
			}
			out, err := new(Loop).Run(t.Context(), turn)
			if fmt.Sprint(got) != c.tries {
				t.Errorf("allowed %v, want %s", got, c.tries)
			}
			if c.class == good {
				if want := fmt.Sprint("p/m", len(got)-1); err != nil || out.Text != "hello" || out.Final.Model != want {
					t.Errorf("%q of %s, want %s: %v", out.Text, out.Final.Model, want, err)
				}
				return
			}
			e, ok := errors.AsType[*ModelError](err)
			if !ok || e.Class != c.class || e.Tries != c.used {
				t.Errorf("%v, want %s after %d tries", err, c.class, c.used)
			}
		})
	}
}

// A fallback with a smaller window that finds the prompt too long is no reason to sum up: the model's own window has room.
func TestFallbackWithSmallerWindow(t *testing.T) {
	t.Parallel()
	small := Candidate{Model: &failingModel{class: TooLong}, Facts: ModelFacts{ContextWindow: 1000}}
	turn := Turn{Model: &failingModel{class: Unreachable}, Facts: ModelFacts{ContextWindow: 2000}, Fallbacks: []Candidate{small}, History: []sessions.Message{user("hi")}}
	_, err := new(Loop).Run(t.Context(), turn)
	if e, ok := errors.AsType[*ModelError](err); !ok || e.Class != Unreachable {
		t.Errorf("%v", err)
	}
	turn.Fallbacks = append(turn.Fallbacks, Candidate{Model: &script{answers: []any{say("hello")}}})
	if out, err := new(Loop).Run(t.Context(), turn); err != nil || out.Text != "hello" {
		t.Errorf("%q, %v", out.Text, err)
	}
}

// asking picks the model that answers a call.
type asking func(p Prompt) Model

func (f asking) Stream(ctx context.Context, p Prompt) iter.Seq2[Delta, error] {
	return f(p).Stream(ctx, p)
}

// A turn that ends while a model is asked does not go on to the next one.
func TestNoFallbackAfterTheEnd(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	second := &script{answers: []any{say("too late")}}
	_, err := new(Loop).Run(ctx, Turn{Model: &script{answers: []any{func(context.Context) { cancel() }}}, Fallbacks: []Candidate{{Model: second}},
		History: []sessions.Message{user("hi")}})
	if !errors.Is(err, context.Canceled) || len(second.prompts) != 0 {
		t.Errorf("%v, the second was asked %d times", err, len(second.prompts))
	}
}

// What an answer cost goes by the prices of the model that gave it, and so does what one cost that broke off; the text that people
// see begins anew with the next model.
func TestFallbackPricesAndText(t *testing.T) {
	t.Parallel()
	var spent, shown []string
	first := &failingModel{class: Broken, says: "I think that"}
	turn := Turn{
		Model: first, Label: "p/dear", Facts: ModelFacts{Input: 10, Output: 50},
		Fallbacks: []Candidate{{Model: &script{answers: []any{say("hello")}, pieces: []string{"hel", "lo"}}, Label: "p/cheap", Facts: ModelFacts{Input: 0.1, Output: 1}}},
		History:   []sessions.Message{user("hi")},
		Spent:     func(model string, u sessions.Usage) { spent = append(spent, fmt.Sprint(model, " ", u.Cost)) },
		OnText:    func(s string) { shown = append(shown, s) },
	}
	out, err := new(Loop).Run(t.Context(), turn)
	if err != nil || out.Final.Usage.Cost != 3 { // 10 × 0.1 + 2 × 1
		t.Errorf("%+v, %v", out.Final.Usage, err)
	}
	if !slices.Equal(spent, []string{"p/dear 1050"}) || !slices.Equal(shown, []string{"I think that", "hel", "hello"}) {
		t.Errorf("spent %q, shown %q", spent, shown)
	}
}

func TestCost(t *testing.T) {
	t.Parallel()
	u := sessions.Usage{Input: 1000, Output: 100, CacheRead: 600, CacheWrite: 300}
	for _, c := range []struct {
		f    ModelFacts
		want int64
	}{
		{ModelFacts{}, 0},
		{ModelFacts{Input: 3, Output: 15}, 4500},
		{ModelFacts{Input: 3, Output: 15, CacheRead: 0.3, CacheWrite: 3.75}, 300 + 180 + 1125 + 1500},
		{ModelFacts{Output: 0.006}, 1}, // rounded
	} {
		if got := c.f.Cost(u); got != c.want {
			t.Errorf("%+v: %d, want %d", c.f, got, c.want)
		}
	}
	if got := (ModelFacts{Input: 1}).Cost(sessions.Usage{Input: 1, CacheRead: 5}); got != 5 {
		t.Errorf("more was cached than went in: %d", got)
	}
}

// A model that cannot look at pictures is told that there is one; the transcript keeps it, for one that can.
func TestNoImages(t *testing.T) {
	t.Parallel()
	pic := sessions.Message{Role: sessions.User, Content: []sessions.Block{{Type: sessions.TextBlock, Text: "look"}, {Type: sessions.ImageBlock, MIME: "image/png", Data: "aGk="}}}
	blind, sighted := &failingModel{class: Overloaded}, &script{answers: []any{say("a cat")}}
	if _, err := new(Loop).Run(t.Context(), Turn{Model: blind, Facts: ModelFacts{NoImages: true}, Fallbacks: []Candidate{{Model: sighted}},
		History: []sessions.Message{user("hi"), pic}}); err != nil {
		t.Fatal(err)
	}
	got := blind.asked[0].Messages
	if text := got[1].Text(); !strings.Contains(text, "look") || !strings.Contains(text, unseen) || len(got[1].Content) != 2 {
		t.Errorf("the blind one was shown %+v", got[1])
	}
	if b := sighted.prompts[0].Messages[1].Content[1]; b.Type != sessions.ImageBlock || b.Data == "" {
		t.Errorf("the other was shown %+v", b)
	}
}

// The breaker opens after failures in a row, lets one call through after the pause, and closes when that succeeds. What says nothing
// about the provider opens nothing.
func TestBreaker(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		var reply any
		tries := 0
		b := NewBreaker("mock", asking(func(p Prompt) Model { asked, tries = asked+1, p.Tries; return &script{answers: []any{reply}} }), nil)
		call := func() ErrorClass {
			_, _, err := ModelCall{Candidates: []Candidate{{Model: b}}}.Run(t.Context())
			if e, ok := errors.AsType[*ModelError](err); ok {
				return e.Class
			}
			return ""
		}
		answers := func(n int, what any) {
			reply = what
			for range n {
				call()
			}
		}
		fails := func(c ErrorClass) error { return &ModelError{Class: c, Tries: 1, Err: errors.New("boom")} }
		for _, c := range []ErrorClass{RateLimited, BadKey, BadRequest, NoSuchModel, TooLong} {
			answers(2*BreakerFailures, fails(c))
		}
		answers(BreakerFailures-1, fails(Unreachable))
		answers(1, say("hi"))
		answers(BreakerFailures-1, fails(Timeout))
		if b.State() != "closed" {
			t.Fatalf("it is %s after single failures", b.State())
		}
		answers(1, fails(Broken))
		before := asked
		if b.State() != "open" || call() != Tripped || asked != before {
			t.Fatalf("it is %s, %d requests", b.State(), asked-before)
		}
		time.Sleep(BreakerPause - time.Second) // virtual time
		if call() != Tripped {
			t.Error("it let one through before its time")
		}
		time.Sleep(2 * time.Second)
		if answers(1, fails(Overloaded)); asked != before+1 || tries != 1 || call() != Tripped || asked != before+1 {
			t.Errorf("%d requests when it was half open", asked-before)
		}
		time.Sleep(BreakerPause + time.Second)
		// The one that is let through leaves: the next one is, then.
		ctx, cancel := context.WithCancel(t.Context())
		reply = func(context.Context) { cancel() }
		_, _, _ = ModelCall{Candidates: []Candidate{{Model: b}}}.Run(ctx)
		if answers(1, say("hi")); asked != before+3 || b.State() != "closed" || call() != "" || tries != MaxTries {
			t.Errorf("it is %s after a success, %d requests", b.State(), asked-before)
		}
	})
}

// While the one call that is let through is under way, no other is.
func TestBreakerLetsOneThrough(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var reply any = &ModelError{Class: Unreachable, Tries: 1, Err: errors.New("boom")}
		asked := 0
		b := NewBreaker("mock", asking(func(Prompt) Model { asked++; return &script{answers: []any{reply}} }), nil)
		run := func() { _, _, _ = ModelCall{Candidates: []Candidate{{Model: b}}}.Run(t.Context()) }
		for range BreakerFailures {
			run()
		}
		time.Sleep(BreakerPause + time.Second) // virtual time
		reply, asked = func(context.Context) { time.Sleep(time.Second) }, 0
		for range 5 {
			go run()
		}
		synctest.Wait()
		if asked != 1 {
			t.Errorf("%d calls were let through", asked)
		}
		time.Sleep(2 * time.Second)
	})
}
