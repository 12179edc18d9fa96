package agent

import (
	"errors"
	"testing"

	"parley/sessions"
)

// A step has no tools, and asks for two answers at most, whatever they are: a tool call is refused once, an empty answer is asked for once more.
// source: openclaw/openclaw#121661 (five of five announce turns called a tool)
func TestLoopStep(t *testing.T) {
	t.Parallel()
	nothing := Answer{Stop: StopEnd}
	call := calls(callBlock("c1", "message", `{}`))
	spoken := calls(sessions.TextContent("wait")[0], callBlock("c2", "message", `{}`))
	for name, c := range map[string]struct {
		answers []any
		text    string
		asked   int
		tooMany bool
	}{
		"words":                 {[]any{say("hello")}, "hello", 1, false},
		"a call, then words":    {[]any{call, say("hello")}, "hello", 2, false},
		"call after call":       {[]any{call, spoken, say("late")}, "", 2, true},
		"a call, then nothing":  {[]any{spoken, nothing, say("late")}, "wait", 2, false},
		"nothing, then words":   {[]any{nothing, say("hello")}, "hello", 2, false},
		"nothing, then a call":  {[]any{nothing, call, say("late")}, "", 2, true},
		"nothing, then nothing": {[]any{nothing, nothing, say("late")}, "", 2, false},
	} {
		m := &script{answers: c.answers}
		next := Candidate{Model: m, Name: "next", Label: "p/next"}
		out, err := new(Loop).Run(t.Context(), Turn{Model: m, Label: "p/first", Step: true, Fallbacks: []Candidate{next}, History: []sessions.Message{user("Announce step.")}})
		if errors.Is(err, ErrTooManySteps) != c.tooMany || err != nil && !c.tooMany || out.Text != c.text || len(m.prompts) != c.asked {
			t.Errorf("%s: %q in %d calls, %v", name, out.Text, len(m.prompts), err)
		}
	}
}
