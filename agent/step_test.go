package agent

import (
	"errors"
	"strings"
	"testing"

	"parley/sessions"
	"parley/tools"
)

// A step has no tools, and asks for two answers at most, whatever they are: a tool call is refused once, an empty answer is asked for once more.
// source: openclaw/openclaw#121661 (five of five announce turns called a tool)
//
// proves: S19, N12
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
		for _, failing := range []bool{false, true} { // did the turn before fail
			m := &script{answers: c.answers}
			next := Candidate{Model: m, Name: "next", Label: "p/next"}
			input := user("Announce step.")
			input.ID = "input"
			out, err := new(Loop).Run(t.Context(), Turn{Model: m, Label: "p/first", Step: true, Failing: failing, Fallbacks: []Candidate{next}, History: []sessions.Message{user("hello"), input},
				Caller: tools.Caller{Run: sessions.Run{Input: input}}})
			if errors.Is(err, ErrTooManySteps) != c.tooMany || err != nil && !c.tooMany || out.Text != c.text || len(m.prompts) != c.asked {
				t.Errorf("%s: %q in %d calls, %v", name, out.Text, len(m.prompts), err)
			}
		}
	}
}

// A turn whose session failed before is tried without the conversation when its answers are empty: nothing was refused, and the prompt says so.
func TestEmptyAnswersAreNoRefusal(t *testing.T) {
	t.Parallel()
	nothing, input := Answer{Stop: StopEnd}, user("hello?")
	input.ID = "input"
	m := &script{answers: []any{nothing, nothing, say("alone"), say("with all of it")}}
	out, err := new(Loop).Run(t.Context(), Turn{Model: m, Label: "p/first", Failing: true, History: []sessions.Message{user("hello"), input}, Caller: tools.Caller{Run: sessions.Run{Input: input}}})
	if err != nil || out.Text != "with all of it" || len(m.prompts) != 4 {
		t.Fatalf("%q in %d calls, %v", out.Text, len(m.prompts), err)
	}
	if note := m.prompts[2].Messages[0].Text(); !strings.Contains(note, "left out") || strings.Contains(note, "refused") {
		t.Errorf("the prompt says %q", note)
	}
}
