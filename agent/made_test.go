package agent

import (
	"context"
	"errors"
	"iter"
	"strings"
	"testing"
)

// TestRequestsMade: an error says how many requests were made in all, those included that were changed after a refusal.
func TestRequestsMade(t *testing.T) {
	t.Parallel()
	asked := 0
	refusing := asking(func(Prompt) Model {
		made := 0
		retry := Retry{Provider: "mock", Requests: func() int { return made }, Try: func(context.Context, func(Delta) bool) error {
			made += 9
			asked += 9
			return &ModelError{Class: BadForm, Tries: 1, Err: errors.New("unknown parameter")}
		}}
		return streaming(retry)
	})
	one := Candidate{Model: refusing, Name: "a", Label: "p/a"}
	for _, candidates := range [][]Candidate{{one}, {one, one}} {
		asked = 0
		_, _, err := ModelCall{Candidates: candidates}.Run(t.Context())
		e, ok := errors.AsType[*ModelError](err)
		if !ok || e.Made() != asked || e.Tries != len(candidates) || !strings.Contains(e.Error(), "bad_form (tries ") {
			t.Errorf("%d requests: %v, %d tries", asked, err, e.Tries)
		}
	}
}

// streaming is a model that is nothing but its tries.
type streaming Retry

func (s streaming) Stream(ctx context.Context, _ Prompt) iter.Seq2[Delta, error] {
	return Retry(s).Stream(ctx)
}
