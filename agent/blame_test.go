package agent

import (
	"context"
	"errors"
	"iter"
	"strings"
	"testing"
	"time"

	"parley/sessions"
)

// refusing fails the requests that fails reports.
type refusing func(p Prompt) *ModelError

func (f refusing) Stream(_ context.Context, p Prompt) iter.Seq2[Delta, error] {
	return func(yield func(Delta, error) bool) {
		if e := f(p); e != nil {
			yield(Delta{}, e)
			return
		}
		answer := say("hello")
		yield(Delta{Final: &answer}, nil)
	}
}

// TestRefusesHarmlessToo: an endpoint that refuses everything without a reason blames no message; one that refuses a message does.
// source: jrkropp/open-webui-developer-toolkit#717
func TestRefusesHarmlessToo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		takes  string // what stands in requests that are taken; empty = none is
		always bool
		notice string
	}{
		"everything": {"", true, "Your message is not the reason"},
		"a message":  {"Please answer with the word OK.", false, "so I won't show it again"},
	} {
		model := refusing(func(p Prompt) *ModelError {
			if newest := p.Messages[len(p.Messages)-1].Text(); c.takes != "" && strings.Contains(newest, c.takes) {
				return nil
			}
			return &ModelError{Class: BadRequest, Tries: 1, Err: errors.New("Bad Request")}
		})
		hi := user("hi")
		hi.ID = "m1"
		turn := Turn{Model: model, History: []sessions.Message{hi}}
		turn.Caller.Run.Input = hi
		_, err := new(Loop).Run(t.Context(), turn)
		e, ok := errors.AsType[*ModelError](err)
		if !ok || e.Class != BadRequest || e.Always != c.always || !strings.Contains(e.Notice(), c.notice) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestFallbackAfterTooLong: behind a prompt that is too long those are asked whose window is larger than the one that the provider names, or
// is a guess.
// source: https://platform.openai.com/docs/guides/error-codes, https://console.groq.com/docs/rate-limits
func TestFallbackAfterTooLong(t *testing.T) {
	t.Parallel()
	known, guess := ModelFacts{ContextWindow: 128_000}, ModelFacts{ContextWindow: DefaultContextWindow, Guessed: true}
	for name, c := range map[string]struct {
		first  ModelFacts
		window int // what the provider says
		second ModelFacts
		asked  bool
	}{
		"both are guesses":          {guess, 0, guess, true},
		"the second is a guess":     {known, 0, guess, true},
		"the same window":           {known, 0, known, false},
		"the provider names less":   {known, 4096, ModelFacts{ContextWindow: 64_000}, true},
		"the second has less still": {guess, 8192, ModelFacts{ContextWindow: 4096}, false},
		"the first is a guess":      {guess, 0, known, true},
	} {
		second := &script{answers: []any{say("hello")}}
		first := refusing(func(Prompt) *ModelError {
			return &ModelError{Class: TooLong, Window: c.window, Tries: 1, Err: errors.New("too long")}
		})
		call := ModelCall{Candidates: []Candidate{{Model: first, Facts: c.first}, {Model: second, Facts: c.second}}, Compacted: true}
		_, _, err := call.Run(t.Context())
		if asked := len(second.prompts) > 0; asked != c.asked || (err == nil) != c.asked {
			t.Errorf("%s: asked %v, %v", name, asked, err)
		}
	}
}

// TestLongWaitIsNamed: a limit that lasts longer than a minute is told as such.
func TestLongWaitIsNamed(t *testing.T) {
	t.Parallel()
	for wait, want := range map[time.Duration]string{0: "in a minute", 50 * time.Second: "in a minute", 90 * time.Second: "in 2 minutes", 24 * time.Hour: "in 24 hours", 72 * time.Hour: "in 3 days"} {
		if got := (&ModelError{Class: RateLimited, RetryAfter: wait}).Notice(); !strings.Contains(got, want) {
			t.Errorf("%s: %s", wait, got)
		}
	}
}
