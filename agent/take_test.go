package agent

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"parley/sessions"
	"parley/tools"
)

// queue is what comes in while a turn is at work: come[n] is there after n model calls.
type queue struct {
	model *script
	come  map[int][]sessions.Message
	left  []sessions.Message
	fault error
	asked []bool // whether the turn was at its end, each time
	keeps bool   // has the answer kept
}

func (q *queue) fill() {
	n := len(q.model.prompts)
	q.left, q.come[n] = append(q.left, q.come[n]...), nil
}

func (q *queue) waiting(_ context.Context, keep func() error) (bool, error) {
	q.asked = append(q.asked, keep != nil)
	if keep != nil && q.keeps {
		if err := keep(); err != nil {
			return false, err
		}
	}
	q.fill()
	return len(q.left) > 0, q.fault
}

func (q *queue) take(context.Context) ([]sessions.Message, error) {
	msgs := q.left
	q.left = nil
	return msgs, q.fault
}

// What comes in during a turn is shown to the model between two of its calls, behind the results of tools, and a turn does not end
// over it.
func TestLoopTakesUpWhatComesIn(t *testing.T) {
	t.Parallel()
	answer := func(id, text string) sessions.Message {
		return sessions.Message{ID: id, Role: sessions.Assistant, Content: sessions.TextContent(text)}
	}
	for _, c := range []struct {
		name     string
		steps    []sessions.Message
		answers  []any
		come     map[int][]sessions.Message
		last     []string // what the last model call saw
		recorded []string
		text     string
	}{
		{"nothing", nil, []any{say("done")}, map[int][]sessions.Message{}, []string{"user go"}, nil, "done"},
		{"between two steps", nil, []any{calls(callBlock("a", "count", `{"n":1}`)), say("done")}, map[int][]sessions.Message{1: {user("more")}},
			[]string{"user go", `assistant a=count{"n":1}`, `toolResult result of a {"n":1} for a`, "user more"},
			[]string{`assistant a=count{"n":1}`, `toolResult result of a {"n":1} for a`}, "done"},
		{"before the end", nil, []any{say("first"), say("second")}, map[int][]sessions.Message{1: {user("more"), user("and more")}},
			[]string{"user go", "assistant first", "user more", "user and more"}, []string{"assistant first"}, "second"},
		{"resumed before it was taken", []sessions.Message{answer("m1", "first")}, []any{say("second")}, map[int][]sessions.Message{0: {user("more")}},
			[]string{"user go", "assistant first", "user more"}, nil, "second"},
		{"resumed after it was taken", []sessions.Message{answer("m1", "first"), user("more")}, []any{say("second")}, map[int][]sessions.Message{},
			[]string{"user go", "assistant first", "user more"}, nil, "second"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := &script{answers: c.answers}
			q := &queue{model: m, come: c.come}
			var recorded []string
			out, err := new(Loop).Run(t.Context(), Turn{
				Model: m, History: []sessions.Message{user("go")}, Steps: c.steps, Tools: []tools.Tool{&fakeTool{name: "count"}}, Waiting: q.waiting, Take: q.take,
				Record: func(ms ...sessions.Message) error { recorded = append(recorded, shapes(ms)...); return nil },
			})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.last, shapes(m.prompts[len(m.prompts)-1].Messages)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(c.recorded, recorded); diff != "" {
				t.Error(diff)
			}
			if out.Text != c.text || len(m.answers) > 0 {
				t.Errorf("%q, %d answers left", out.Text, len(m.answers))
			}
		})
	}
}

// A turn that was resumed behind its last answer ends with it when nothing is there to take up any more.
func TestLoopResumesBehindItsAnswer(t *testing.T) {
	t.Parallel()
	m := &script{}
	q := &queue{model: m, come: map[int][]sessions.Message{}}
	last := sessions.Message{ID: "m1", Role: sessions.Assistant, Content: sessions.TextContent("first")}
	out, err := new(Loop).Run(t.Context(), Turn{Model: m, History: []sessions.Message{user("go")}, Steps: []sessions.Message{last}, Waiting: q.waiting, Take: q.take})
	if err != nil || out.Final.ID != "m1" || out.Text != "first" {
		t.Errorf("%+v %v", out, err)
	}
}

// A store that fails ends the turn with its error; a tool that yields ends it without looking.
func TestLoopTakeFails(t *testing.T) {
	t.Parallel()
	fault := errors.New("disk")
	m := &script{answers: []any{say("done")}}
	q := &queue{model: m, come: map[int][]sessions.Message{}, fault: fault}
	if _, err := new(Loop).Run(t.Context(), Turn{Model: m, History: []sessions.Message{user("go")}, Waiting: q.waiting, Take: q.take}); !errors.Is(err, fault) {
		t.Errorf("got %v", err)
	}
	m = &script{answers: []any{calls(callBlock("a", "rest", `{}`))}}
	q = &queue{model: m, come: map[int][]sessions.Message{1: {user("more")}}}
	rest := &fakeTool{name: "rest", schema: `{"type":"object"}`, do: func(tools.Call) (tools.Result, error) { return tools.Result{Text: "ok", Yield: true}, nil }}
	if out, err := new(Loop).Run(t.Context(), Turn{Model: m, History: []sessions.Message{user("go")}, Tools: []tools.Tool{rest}, Waiting: q.waiting, Take: q.take}); err != nil || out.Control != NoReply {
		t.Errorf("%+v %v", out, err)
	}
}

// Whoever is asked knows whether the turn is at its end: only there may it wait for what is still to come.
func TestLoopSaysWhenItEnds(t *testing.T) {
	t.Parallel()
	m := &script{answers: []any{calls(callBlock("a", "count", `{"n":1}`)), say("first"), say("second")}}
	q := &queue{model: m, come: map[int][]sessions.Message{2: {user("more")}}}
	if _, err := new(Loop).Run(t.Context(), Turn{Model: m, History: []sessions.Message{user("go")}, Tools: []tools.Tool{&fakeTool{name: "count"}}, Waiting: q.waiting, Take: q.take}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]bool{false, true, true, true}, q.asked); diff != "" {
		t.Error(diff)
	}
}

// The last answer that a turn may give is its end, though something waits: nobody is asked, and what waits is left where it is.
func TestLoopEndsAtItsLimit(t *testing.T) {
	t.Parallel()
	recorded := sessions.Message{ID: "m1", Role: sessions.Assistant, Content: sessions.TextContent("first")}
	for _, c := range []struct {
		name    string
		steps   []sessions.Message
		answers []any
		limit   int
		asked   []bool
	}{
		{"of one call", nil, []any{say("first")}, 1, nil},
		{"of two calls", nil, []any{calls(callBlock("a", "count", `{"n":1}`)), say("first")}, 2, []bool{false}},
		{"resumed", []sessions.Message{recorded}, nil, 1, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := &script{answers: c.answers}
			q := &queue{model: m, come: map[int][]sessions.Message{c.limit: {user("more")}}}
			out, err := new(Loop).Run(t.Context(), Turn{
				Model: m, History: []sessions.Message{user("go")}, Steps: c.steps, Tools: []tools.Tool{&fakeTool{name: "count"}}, MaxSteps: c.limit, Waiting: q.waiting, Take: q.take,
			})
			if err != nil || out.Text != "first" {
				t.Errorf("%q, %v", out.Text, err)
			}
			if diff := cmp.Diff(c.asked, q.asked); diff != "" {
				t.Error(diff)
			}
		})
	}
}
