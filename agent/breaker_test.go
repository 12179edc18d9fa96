package agent

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// breakerCalls makes calls through a breaker: fails says how each model fails; none = it answers.
func breakerCalls(t *testing.T, fails map[string]*ModelError) (b *Breaker, call func(model string) ErrorClass) {
	t.Helper()
	b = NewBreaker("hub", asking(func(p Prompt) Model {
		if e := fails[p.Model]; e != nil {
			return &script{answers: []any{e}}
		}
		return &script{answers: []any{say("hi")}}
	}), nil)
	return b, func(model string) ErrorClass {
		_, _, err := ModelCall{Candidates: []Candidate{{Model: b, Name: model}}}.Run(t.Context())
		e, ok := errors.AsType[*ModelError](err)
		if !ok {
			return ""
		}
		return e.Class
	}
}

// TestBreakerOfOneModel: a model that fails at an aggregator does not take its siblings out, neither at once nor after the pause.
// source: BerriAI/litellm docs "Router - cooldowns" (a deployment is cooled down, not its provider), openrouter.ai/docs (errors 502, 503 are of the chosen model)
func TestBreakerOfOneModel(t *testing.T) {
	t.Parallel()
	for _, class := range []ErrorClass{Overloaded, Broken, Timeout} {
		synctest.Test(t, func(t *testing.T) {
			fails := map[string]*ModelError{"bad": {Class: class, Tries: 1, Err: errors.New("boom")}}
			b, call := breakerCalls(t, fails)
			for range BreakerFailures {
				call("bad")
			}
			if bad, good := call("bad"), call("good"); bad != Tripped || good != "" {
				t.Errorf("%s: the model %q, its sibling %q", class, bad, good)
			}
			if models, all := b.Down(); all || !slices.Equal(models, []string{"bad"}) || b.State() != "open" {
				t.Errorf("%s: left alone: %v, all %v, %s", class, models, all, b.State())
			}
			time.Sleep(BreakerPause + time.Second) // virtual time
			if bad, again, good := call("bad"), call("bad"), call("good"); bad != class || again != Tripped || good != "" {
				t.Errorf("%s, after the pause: %q, %q, its sibling %q", class, bad, again, good)
			}
			delete(fails, "bad")
			time.Sleep(BreakerPause + time.Second)
			if bad := call("bad"); bad != "" || b.State() != "closed" {
				t.Errorf("%s: it works again, %q, %s", class, bad, b.State())
			}
		})
	}
}

// TestBreakerOfTheProvider: failures to reach a provider count for all its models together, and a key or an account that it refuses
// for none.
func TestBreakerOfTheProvider(t *testing.T) {
	t.Parallel()
	for class, want := range map[ErrorClass]ErrorClass{Unreachable: Tripped, BadKey: BadKey, NoCredit: NoCredit} {
		fails := make(map[string]*ModelError)
		for i := range BreakerFailures + 1 {
			fails[fmt.Sprint("model-", i)] = &ModelError{Class: class, Tries: 1, Err: errors.New("boom")}
		}
		b, call := breakerCalls(t, fails)
		for i := range BreakerFailures {
			call(fmt.Sprint("model-", i))
		}
		if got := call(fmt.Sprint("model-", BreakerFailures)); got != want {
			t.Errorf("%s: the next model's call is %q", class, got)
		}
		if models, all := b.Down(); all != (want == Tripped) || len(models) > 0 {
			t.Errorf("%s: left alone: %v, all %v", class, models, all)
		}
	}
}

// TestBreakerBound: however many models are asked, the breaker watches a bounded number, and those that fail stay watched.
func TestBreakerBound(t *testing.T) {
	t.Parallel()
	b, call := breakerCalls(t, map[string]*ModelError{"bad": {Class: Overloaded, Tries: 1, Err: errors.New("boom")}})
	for range BreakerFailures {
		call("bad")
	}
	for i := range 2 * maxCircuits {
		call(fmt.Sprint("model-", i))
	}
	if got := call("bad"); got != Tripped || len(b.models) > maxCircuits {
		t.Errorf("%q, %d models watched", got, len(b.models))
	}
}
