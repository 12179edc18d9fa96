package agent

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"parley/sessions"
	"parley/tools"
)

// TestEmptyAnswerOnceMore: an empty answer, or one of nothing but thinking, is asked for once more, and paid for.
// source: Gemini's empty candidates and MALFORMED_FUNCTION_CALL (googleapis/python-genai#1120)
func TestEmptyAnswerOnceMore(t *testing.T) {
	t.Parallel()
	nothing := Answer{Stop: StopEnd, Usage: sessions.Usage{Input: 7}}
	thought := Answer{Stop: StopEnd, Content: []sessions.Block{{Type: sessions.ThinkingBlock, Text: "hm"}}, Usage: sessions.Usage{Input: 7}}
	refused := Answer{Stop: StopFilter, Usage: sessions.Usage{Input: 7}}
	for _, c := range []struct {
		name    string
		answers []any
		text    string
		asked   int
	}{
		{"nothing, then words", []any{nothing, say("hello")}, "hello", 2},
		{"thinking, then words", []any{thought, say("hello")}, "hello", 2},
		{"nothing twice", []any{nothing, nothing}, "", 2},
		{"refused", []any{refused}, "", 1},
	} {
		m := &script{answers: c.answers}
		var lost sessions.Usage
		out, err := new(Loop).Run(t.Context(), Turn{Model: m, History: []sessions.Message{user("hi")}, Spent: func(_ string, u sessions.Usage) { lost = lost.Add(u) }})
		if err != nil || out.Text != c.text || len(m.prompts) != c.asked {
			t.Errorf("%s: %q in %d calls, %v", c.name, out.Text, len(m.prompts), err)
		}
		if want := 7 * (c.asked - 1); lost.Input != want {
			t.Errorf("%s: %d tokens are counted apart, want %d", c.name, lost.Input, want)
		}
	}
}

// TestEmptyAnswerAsksTheNext: when the second answer is empty, too, the models behind it are asked, and each is paid for.
func TestEmptyAnswerAsksTheNext(t *testing.T) {
	t.Parallel()
	nothing := Answer{Stop: StopEnd, Usage: sessions.Usage{Input: 7}}
	hidden := Answer{Stop: StopLength, Usage: sessions.Usage{Input: 7, Output: 4000}} // all of it was spent on thoughts that nobody is told
	for name, c := range map[string]struct {
		first Answer
		next  []any
		text  string
		asked []string
	}{
		"the next has words":          {nothing, []any{say("hello")}, "hello", []string{"first", "first", "next"}},
		"the next is empty too":       {nothing, []any{nothing}, "", []string{"first", "first", "next"}},
		"the first came to its limit": {hidden, []any{say("hello")}, "hello", []string{"first", "next"}},
	} {
		var asked []string
		var lost sessions.Usage
		model := func(name string, answers ...any) Candidate {
			s := &script{answers: answers}
			return Candidate{Label: name, Name: name, Facts: ModelFacts{ContextWindow: 1000}, Model: asking(func(Prompt) Model {
				asked = append(asked, name)
				return s
			})}
		}
		first := model("first", c.first, c.first)
		out, err := new(Loop).Run(t.Context(), Turn{Model: first.Model, Name: first.Name, Label: first.Label, Facts: first.Facts,
			Fallbacks: []Candidate{model("next", c.next...)}, History: []sessions.Message{user("hi")}, Spent: func(_ string, u sessions.Usage) { lost = lost.Add(u) }})
		if err != nil || out.Text != c.text || !slices.Equal(asked, c.asked) || lost.Input != 7*(len(c.asked)-1) {
			t.Errorf("%s: %q, asked %q, %d tokens apart: %v", name, out.Text, asked, lost.Input, err)
		}
	}
}

// TestTooLongGoesOn: a prompt that is too long is made shorter first; then only a model with a larger window is asked. Where nothing could be
// made shorter, no model is asked the same again, and whoever reads the error learns whether instructions and tools are the reason.
func TestTooLongGoesOn(t *testing.T) {
	t.Parallel()
	long := []sessions.Message{user(strings.Repeat("x", 3000))}
	for name, c := range map[string]struct {
		shorter bool
		system  string
		asked   []string
		alone   []string // without fallbacks
		notice  string
	}{
		"shorter":      {true, "", []string{"first", "first", "larger"}, []string{"first", "first"}, "/compact"},
		"the same":     {false, "", []string{"first", "larger"}, []string{"first"}, "/compact"},
		"instructions": {false, strings.Repeat("x", 9000), []string{"first", "larger"}, []string{"first"}, "tell an owner"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var asked []string
			model := func(name string, window int, good bool) Candidate {
				return Candidate{Label: name, Name: name, Facts: ModelFacts{ContextWindow: window}, Model: asking(func(Prompt) Model {
					asked = append(asked, name)
					if good {
						return &script{answers: []any{say("hello")}}
					}
					return &failingModel{class: TooLong}
				})}
			}
			first := model("first", 1000, false)
			compacted := 0
			turn := Turn{Model: first.Model, Name: first.Name, Label: first.Label, Facts: first.Facts, System: c.system, History: long,
				Fallbacks: []Candidate{model("same", 1000, true), model("larger", 9000, true)},
				Compact: func(_ context.Context, msgs []sessions.Message, _ int) ([]sessions.Message, error) {
					if compacted++; c.shorter {
						msgs = []sessions.Message{user("hi")}
					}
					return msgs, nil
				}}
			out, err := new(Loop).Run(t.Context(), turn)
			if err != nil || out.Text != "hello" || compacted != 1 || !slices.Equal(asked, c.asked) {
				t.Errorf("%q, asked %q, summed up %d times: %v", out.Text, asked, compacted, err)
			}
			asked, turn.Fallbacks = nil, nil
			_, err = new(Loop).Run(t.Context(), turn)
			e, ok := errors.AsType[*ModelError](err)
			if !ok || e.Class != TooLong || !strings.Contains(e.Notice(), c.notice) || !slices.Equal(asked, c.alone) {
				t.Errorf("asked %q: %v", asked, err)
			}
		})
	}
}

// draftModel yields a draft that breaks off, then the whole answer.
type draftModel struct{ draft, whole []string }

func (m draftModel) Stream(ctx context.Context, p Prompt) iter.Seq2[Delta, error] {
	try := 0
	return Retry{Provider: "mock", Tries: p.Tries, Try: func(_ context.Context, yield func(Delta) bool) error {
		pieces := m.whole
		if try++; try == 1 {
			pieces = m.draft
		}
		for _, s := range pieces {
			if !yield(Delta{Text: s}) {
				return nil
			}
		}
		if try == 1 {
			return &ModelError{Class: Broken, Err: errors.New("cut")}
		}
		a := say("whole answer")
		yield(Delta{Final: &a})
		return nil
	}}.Stream(ctx)
}

// TestDraftIsReplaced: the text shown of an answer that broke off is replaced by that of the next try, from its beginning.
func TestDraftIsReplaced(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // the second try waits a moment
		var shown []string
		out, err := new(Loop).Run(t.Context(), Turn{Model: draftModel{[]string{"a long draft ", "that ends"}, []string{"whole ", "answer"}},
			History: []sessions.Message{user("hi")}, OnText: func(s string) { shown = append(shown, s) }})
		want := []string{"a long draft ", "a long draft that ends", "whole ", "whole answer"}
		if err != nil || out.Text != "whole answer" || !slices.Equal(shown, want) {
			t.Errorf("%q, shown %q: %v", out.Text, shown, err)
		}
	})
}

// cutModel breaks off each time behind another number of characters of the same answer, which may then be complete; 0 = it fails.
type cutModel []int

func (m cutModel) Stream(ctx context.Context, p Prompt) iter.Seq2[Delta, error] {
	const text = "one two three four five"
	try := -1
	return Retry{Provider: "mock", Tries: p.Tries, Try: func(_ context.Context, yield func(Delta) bool) error {
		if try++; m[try] == 0 {
			return &ModelError{Class: Overloaded, Err: errors.New("busy")}
		}
		for i := range m[try] {
			if !yield(Delta{Text: text[i : i+1]}) {
				return nil
			}
		}
		part := say(text[:m[try]])
		part.Stop, part.Usage = StopUnclear, sessions.Usage{}
		p.Spent(sessions.Usage{Output: m[try]})
		return &ModelError{Class: Broken, Err: errors.New("cut"), Part: &part, PartSpent: true}
	}}.Stream(ctx)
}

// TestLongestPart: of several tries that broke off, the longest part is the answer, and the text that people see never becomes shorter.
func TestLongestPart(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		cuts cutModel
		want string
	}{
		"the last is the longest":  {cutModel{3, 7, 13}, "one two three"},
		"the first is the longest": {cutModel{18, 13, 7}, "one two three four"},
		"the second":               {cutModel{3, 13, 7}, "one two three"},
		"then it is busy":          {cutModel{13, 0, 0}, "one two three"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				longest, paid := "", 0
				out, err := new(Loop).Run(t.Context(), Turn{Model: c.cuts, History: []sessions.Message{user("hi")}, Spent: func(_ string, u sessions.Usage) { paid += u.Output }, OnText: func(s string) {
					if len(s) < len(longest) {
						t.Errorf("%q is shown behind %q", s, longest)
					}
					longest = s
				}})
				if err != nil || out.Text != c.want || out.Final.Stop != StopUnclear || longest != c.want || paid != c.cuts[0]+c.cuts[1]+c.cuts[2] {
					t.Errorf("%q, %s, shown %q, paid %d: %v", out.Text, out.Final.Stop, longest, paid, err)
				}
			})
		})
	}
}

// TestToolNames: a tool is found by its name with white space around it, or a name space in front of it.
// source: openclaw/openclaw#45000, vllm-project/vllm#32768
func TestToolNames(t *testing.T) {
	t.Parallel()
	r := &turnRun{offered: offered{tools: map[string]tools.Tool{"list": &fakeTool{name: "list"}, "a.list": &fakeTool{name: "a.list"}}}, callIDs: map[string]bool{}}
	for name, want := range map[string]string{"list": "list", " list\n": "list", "functions.list": "list", "default_api:list": "list", "list<|channel|>commentary": "list", "functions.list<|channel|>json": "list", "<|channel|>": "<|channel|>", "a.list": "a.list", "lists": "lists", "": ""} {
		if got := r.storable([]sessions.Block{callBlock("c", name, "{}")}, StopToolUse, "")[0].Name; got != want {
			t.Errorf("%q became %q", name, got)
		}
	}
}

// TestAlone: a refused request is made once more without what came before the turn, the answer and the turn's later steps are marked, and a
// turn that is resumed behind such a step leaves it out from the beginning. What is refused alone as well is not asked for a third time.
//
// source: https://learn.microsoft.com/azure/ai-services/openai/concepts/content-filter, the whole prompt is judged
func TestAlone(t *testing.T) {
	t.Parallel()
	no := &ModelError{Class: Refused, Provider: "p", Tries: 1, Err: errors.New("content_filter")}
	empty := Answer{Stop: StopFilter, Usage: sessions.Usage{Input: 7}}
	input := user("now?")
	input.ID = "input"
	history := []sessions.Message{user("long ago"), {Role: sessions.Assistant, Model: "m", Content: sessions.TextContent("I see")}, input}
	step := sessions.Message{ID: "step", Role: sessions.Assistant, Model: "m", MessageExtras: &sessions.MessageExtras{WithoutHistory: true}, Content: []sessions.Block{callBlock("c1", "note", `{}`)}}
	for name, c := range map[string]struct {
		answers []any
		steps   []sessions.Message
		alone   bool
		asked   int
		last    []string // shapes of the last prompt behind the note
	}{
		"refused":          {[]any{no, say("hello")}, nil, true, 2, []string{"user: now?"}},
		"refused wordless": {[]any{empty, say("hello")}, nil, true, 2, []string{"user: now?"}},
		"refused alone":    {[]any{no, no, say("hello")}, nil, true, 2, []string{"user: now?"}},
		"resumed":          {[]any{say("hello")}, []sessions.Message{step}, true, 1, []string{"user: now?", "a", "t"}},
		"taken":            {[]any{say("hello")}, nil, false, 1, nil},
	} {
		m := &script{answers: c.answers}
		turn := Turn{Model: m, History: history, Steps: c.steps, Record: func(...sessions.Message) error { return nil }, Tools: []tools.Tool{&fakeTool{name: "note"}}}
		turn.Caller.Run.Input = input
		out, err := new(Loop).Run(t.Context(), turn)
		if refused := name == "refused alone"; refused != (err != nil) || !refused && (out.Text != "hello" || out.Final.WithoutHistory() != c.alone) {
			t.Errorf("%s: %+v, %v", name, out, err)
		}
		shown := m.prompts[len(m.prompts)-1].Messages
		if len(m.prompts) != c.asked || c.alone && (len(shown) != 1+len(c.last) || shown[1].ID != "input") || !c.alone && len(shown) != 3 {
			t.Errorf("%s: %d calls, the last one of %q", name, len(m.prompts), shapes(shown))
		}
	}
}
