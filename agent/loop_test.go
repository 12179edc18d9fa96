package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"parley/sessions"
	"parley/tools"
)

// script is a model that gives prepared answers, one a call, and remembers what it was asked.
type script struct {
	answers []any // Answer, error or func(context.Context)
	pieces  []string
	prompts []Prompt
}

func (s *script) Stream(ctx context.Context, p Prompt) iter.Seq2[Delta, error] {
	return func(yield func(Delta, error) bool) {
		p.Messages = append([]sessions.Message(nil), p.Messages...)
		s.prompts = append(s.prompts, p)
		if len(s.answers) == 0 {
			yield(Delta{}, errors.New("the script is at its end"))
			return
		}
		a := s.answers[0]
		s.answers = s.answers[1:]
		switch a := a.(type) {
		case error:
			yield(Delta{}, a)
		case func(context.Context):
			a(ctx)
			yield(Delta{}, &ModelError{Class: Unreachable, Err: ctx.Err()})
		case Answer:
			for _, t := range s.pieces {
				if !yield(Delta{Text: t}, nil) {
					return
				}
			}
			yield(Delta{Final: &a}, nil)
		case nil: // ends without an answer
		}
	}
}

func say(text string) Answer {
	return Answer{Content: sessions.TextContent(text), Stop: StopEnd, Usage: sessions.Usage{Input: 10, Output: 2}}
}

func calls(blocks ...sessions.Block) Answer {
	return Answer{Content: blocks, Stop: StopToolUse, Usage: sessions.Usage{Input: 10, Output: 2}}
}

func callBlock(id, name, args string) sessions.Block {
	return sessions.Block{Type: sessions.ToolCallBlock, ID: id, Name: name, Arguments: json.RawMessage(args)}
}

// fakeTool answers with do and remembers its calls.
type fakeTool struct {
	name   string
	schema string // empty = one that wants an integer n
	do     func(tools.Call) (tools.Result, error)
	got    []tools.Call
}

func (f *fakeTool) Spec() tools.Spec {
	if f.schema != "" {
		return tools.Spec{Name: f.name, Schema: json.RawMessage(f.schema)}
	}
	return tools.Spec{Name: f.name, Schema: json.RawMessage(
		`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"],"additionalProperties":false}`)}
}

func (f *fakeTool) Call(_ context.Context, c tools.Call) (tools.Result, error) {
	f.got = append(f.got, c)
	if f.do != nil {
		return f.do(c)
	}
	return tools.Result{Text: "result of " + c.ID + " " + string(c.Args)}, nil
}

func user(text string) sessions.Message {
	return sessions.Message{ID: "u-" + text, Role: sessions.User, Content: sessions.TextContent(text)}
}

// shape is a message reduced to what the tests compare.
func shape(m sessions.Message) string {
	s := string(m.Role)
	for _, b := range m.Content {
		switch b.Type {
		case sessions.ToolCallBlock:
			s += fmt.Sprintf(" %s=%s%s", b.ID, b.Name, b.Arguments)
		default:
			s += " " + b.Text
		}
	}
	if m.ToolCallID != "" {
		s += " for " + m.ToolCallID
	}
	if m.IsError {
		s += " (error)"
	}
	return s
}

func shapes(msgs []sessions.Message) (out []string) {
	for _, m := range msgs {
		out = append(out, shape(m))
	}
	return out
}

// proves: T2
func TestLoopAnswers(t *testing.T) {
	t.Parallel()
	m := &script{answers: []any{say("hello")}, pieces: []string{"hel", "lo"}}
	var seen []string
	out, err := new(Loop).Run(t.Context(), Turn{
		Model: m, Name: "m-1", Label: "p/m-1", System: "sys", History: []sessions.Message{user("hi")}, Thinking: "low",
		Record: func(...sessions.Message) error { t.Error("the last message must not be recorded"); return nil },
		OnText: func(s string) { seen = append(seen, s) },
	})
	if err != nil {
		t.Fatal(err)
	}
	if out.Text != "hello" || out.Control != Speak || out.Final.Model != "p/m-1" || out.Final.ID == "" || out.Context != 12 || out.Usage.Total() != 12 {
		t.Errorf("outcome %+v", out)
	}
	if diff := cmp.Diff([]string{"hel", "hello"}, seen); diff != "" {
		t.Error(diff)
	}
	p := m.prompts[0]
	if p.Model != "m-1" || p.System != "sys" || p.Thinking != "low" || len(p.Messages) != 1 {
		t.Errorf("prompt %+v", p)
	}
}

// TestCallSaidTwice: a call that a server says twice is made once. source: HKUDS/nanobot#4444
func TestCallSaidTwice(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		second sessions.Block
		want   int
	}{
		"the same block":            {callBlock("a", "count", `{"n":1}`), 1},
		"spaced otherwise":          {callBlock("a", "count", `{ "n": 1 }`), 1},
		"the same id for all calls": {callBlock("a", "count", `{"n":2}`), 2},
		"another id":                {callBlock("b", "count", `{"n":1}`), 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tool := &fakeTool{name: "count"}
			m := &script{answers: []any{calls(callBlock("a", "count", `{"n":1}`), c.second), say("done")}}
			var recorded []sessions.Message
			_, err := new(Loop).Run(t.Context(), Turn{
				Model: m, History: []sessions.Message{user("go")}, Tools: []tools.Tool{tool},
				Record: func(ms ...sessions.Message) error { recorded = append(recorded, ms...); return nil },
			})
			if err != nil || len(tool.got) != c.want || len(recorded[0].ToolCalls()) != c.want {
				t.Errorf("%v, called %d times, want %d: %q", err, len(tool.got), c.want, shapes(recorded))
			}
		})
	}
}

// proves: N12
func TestLoopCallsTools(t *testing.T) {
	t.Parallel()
	tool := &fakeTool{name: "count"}
	m := &script{answers: []any{
		calls(sessions.Block{Type: sessions.TextBlock, Text: "let me see"}, callBlock("a", "count", `{"n":1}`), callBlock("b", "count", `{"n":2}`)),
		calls(callBlock("a", "count", `{"n":3}`)), // a server that counts ids from the start again
		say("done"),
	}}
	var recorded []sessions.Message
	out, err := new(Loop).Run(t.Context(), Turn{
		Model: m, History: []sessions.Message{user("go")}, Tools: []tools.Tool{tool},
		Caller: tools.Caller{Run: sessions.Run{ID: "run-1"}},
		Record: func(ms ...sessions.Message) error { recorded = append(recorded, ms...); return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	again := recorded[3].Content[0].ID
	if again == "a" || again == "" {
		t.Errorf("a repeated call id was kept: %q", again)
	}
	want := []string{
		`assistant let me see a=count{"n":1} b=count{"n":2}`,
		`toolResult result of a {"n":1} for a`,
		`toolResult result of b {"n":2} for b`,
		`assistant ` + again + `=count{"n":3}`,
		`toolResult result of ` + again + ` {"n":3} for ` + again,
	}
	if diff := cmp.Diff(want, shapes(recorded)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(append([]string{"user go"}, want...), shapes(m.prompts[2].Messages)); diff != "" {
		t.Error(diff)
	}
	if out.Text != "done" || out.Newest != `result of `+again+` {"n":3}` || out.Usage.Total() != 36 {
		t.Errorf("outcome %+v", out)
	}
	if recorded[0].Run != "run-1" || recorded[1].ToolName != "count" || tool.got[0].Caller.Run.ID != "run-1" {
		t.Error("run or tool name is missing")
	}
}

// proves: S14
func TestLoopResumes(t *testing.T) {
	t.Parallel()
	asked := sessions.Message{ID: "m1", Role: sessions.Assistant, Content: []sessions.Block{callBlock("a", "count", `{"n":1}`), callBlock("b", "count", `{"n":2}`)}}
	first := sessions.Message{ID: "m2", Role: sessions.ToolResult, ToolCallID: "a", ToolName: "count", Content: sessions.TextContent("one")}
	second := sessions.Message{ID: "m3", Role: sessions.ToolResult, ToolCallID: "b", ToolName: "count", Content: sessions.TextContent("two")}
	ended := second
	ended.Stop = yielded
	for _, c := range []struct {
		name   string
		steps  []sessions.Message
		called []string
		models int
		newest string
	}{
		{"no call done", []sessions.Message{asked}, []string{"a", "b"}, 1, `result of b {"n":2}`},
		{"one call done", []sessions.Message{asked, first}, []string{"b"}, 1, `result of b {"n":2}`},
		{"all calls done", []sessions.Message{asked, first, second}, nil, 1, "two"},
		{"yielded", []sessions.Message{asked, first, ended}, nil, 0, "two"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			tool := &fakeTool{name: "count"}
			m := &script{answers: []any{say("done")}}
			var recorded []string
			out, err := new(Loop).Run(t.Context(), Turn{
				Model: m, History: []sessions.Message{user("go")}, Steps: c.steps, Tools: []tools.Tool{tool},
				Record: func(ms ...sessions.Message) error { recorded = append(recorded, ms[0].ToolCallID); return nil },
			})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, call := range tool.got {
				got = append(got, call.ID)
			}
			if diff := cmp.Diff(c.called, got); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(c.called, recorded); diff != "" {
				t.Error(diff)
			}
			if len(m.prompts) != c.models || out.Newest != c.newest {
				t.Errorf("%d model calls, newest %q", len(m.prompts), out.Newest)
			}
		})
	}
}

func TestLoopTellsTheModelWhatIsWrong(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, tool, args, stop string
		want                   []string
	}{
		{"unknown tool", "nope", `{}`, StopToolUse, []string{`no tool \"nope\`, "count"}},
		{"no JSON", "count", `{"n":`, StopToolUse, []string{"not a JSON object", "unexpected end"}},
		{"cut off", "count", `{"n":`, StopLength, []string{"cut off", "shorter"}},
		{"cut off at once", "any", ``, StopLength, []string{"cut off"}},
		{"a list", "count", `[1]`, StopToolUse, []string{"not a JSON object"}},
		{"missing", "count", ``, StopToolUse, []string{"required", "n"}},
		{"wrong type", "count", `{"n":"x"}`, StopToolUse, []string{"integer"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			tool := &fakeTool{name: "count"}
			anything := &fakeTool{name: "any", schema: "{}"}
			a := calls(callBlock("a", c.tool, c.args))
			a.Stop = c.stop
			m := &script{answers: []any{a, say("sorry")}}
			var recorded []sessions.Message
			_, err := new(Loop).Run(t.Context(), Turn{
				Model: m, History: []sessions.Message{user("go")}, Tools: []tools.Tool{tool, anything},
				Record: func(ms ...sessions.Message) error { recorded = append(recorded, ms...); return nil },
			})
			if err != nil {
				t.Fatal(err)
			}
			if len(tool.got)+len(anything.got) != 0 {
				t.Error("the tool was called")
			}
			for _, w := range append(c.want, "Nothing was done") {
				if res := recorded[1]; !res.IsError || !strings.Contains(res.Text(), w) {
					t.Errorf("result %q does not say %q", res.Text(), w)
				}
			}
			if _, err := json.Marshal(recorded); err != nil {
				t.Errorf("the step cannot be stored: %v", err)
			}
		})
	}
}

func TestLoopAcceptsArgumentsEncodedTwice(t *testing.T) {
	t.Parallel()
	tool := &fakeTool{name: "count"}
	m := &script{answers: []any{calls(callBlock("a", "count", `"{\"n\":1}"`)), say("ok")}}
	if _, err := new(Loop).Run(t.Context(), Turn{Model: m, History: []sessions.Message{user("go")}, Tools: []tools.Tool{tool}}); err != nil {
		t.Fatal(err)
	}
	if len(tool.got) != 1 || string(tool.got[0].Args) != `{"n":1}` {
		t.Errorf("calls %+v", tool.got)
	}
}

// proves: S9, S10, N10, W1
func TestLoopControl(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		answer  string
		control Control
		text    string
	}{
		{"NO_REPLY", NoReply, ""},
		{" REPLY_SKIP\n", ReplySkip, ""},
		{"ANNOUNCE_SKIP", AnnounceSkip, ""},
		{"no_reply", NoReply, ""},
		{"NO_REPLY.", NoReply, ""},
		{"**ANNOUNCE_SKIP**", AnnounceSkip, ""},
		{"<think>I see</think>\nREPLY_SKIP", ReplySkip, ""},
		{"\u2063", Speak, ""},
		{"I say NO_REPLY", Speak, "I say NO_REPLY"},
		{"  ", Speak, ""},
		{" text ", Speak, "text"},
	} {
		var seen []string
		m := &script{answers: []any{say(c.answer), say(c.answer)}, pieces: strings.SplitAfter(c.answer, "_")}
		out, err := new(Loop).Run(t.Context(), Turn{Model: m, History: []sessions.Message{user("go")}, OnText: func(s string) { seen = append(seen, s) }})
		if err != nil || out.Control != c.control || out.Text != c.text {
			t.Errorf("%q: %q %q %v", c.answer, out.Control, out.Text, err)
		}
		if c.text == "" && len(seen) > 0 {
			t.Errorf("%q was shown while it grew: %q", c.answer, seen)
		}
		if c.text != "" && (len(seen) == 0 || seen[len(seen)-1] != c.answer) {
			t.Errorf("%q was not shown: %q", c.answer, seen)
		}
	}
}

func TestLoopYield(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "I will tell you later."} {
		tool := &fakeTool{name: "count", do: func(tools.Call) (tools.Result, error) { return tools.Result{Text: "ok", Yield: true}, nil }}
		m := &script{answers: []any{calls(sessions.Block{Type: sessions.TextBlock, Text: text}, callBlock("a", "count", `{"n":1}`), callBlock("b", "count", `{"n":2}`))}}
		var recorded []sessions.Message
		out, err := new(Loop).Run(t.Context(), Turn{
			Model: m, History: []sessions.Message{user("go")}, Tools: []tools.Tool{tool},
			Record: func(ms ...sessions.Message) error { recorded = append(recorded, ms...); return nil },
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(m.prompts) != 1 || len(recorded) != 3 || recorded[1].Stop != yielded || out.Final.ID != recorded[0].ID || out.Text != text {
			t.Errorf("%d calls, recorded %q, outcome %+v", len(m.prompts), shapes(recorded), out)
		}
		if (out.Control == NoReply) != (text == "") {
			t.Errorf("control %q for text %q", out.Control, text)
		}
	}
}

func TestLoopErrors(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	overloaded := &ModelError{Class: Overloaded, Err: boom}
	failing := &fakeTool{name: "count", do: func(tools.Call) (tools.Result, error) { return tools.Result{}, boom }}
	panicking := &fakeTool{name: "count", do: func(tools.Call) (tools.Result, error) { panic("kaput") }}
	one := calls(callBlock("a", "count", `{"n":1}`))
	for _, c := range []struct {
		name    string
		answers []any
		tool    *fakeTool
		record  error
		want    func(error) bool
	}{
		{"model", []any{overloaded}, failing, nil, func(err error) bool { return errors.Is(err, overloaded) }},
		{"no answer", []any{nil}, failing, nil, func(err error) bool { e, ok := errors.AsType[*ModelError](err); return ok && e.Class == Broken }},
		{"tool", []any{one}, failing, nil, func(err error) bool { return errors.Is(err, boom) }},
		{"panic", []any{one}, panicking, nil, func(err error) bool { return strings.Contains(err.Error(), "count panicked: kaput") }},
		{"record", []any{one}, failing, boom, func(err error) bool { return errors.Is(err, boom) }},
		{"too many", []any{one, one, one, one}, &fakeTool{name: "count"}, nil, func(err error) bool { return errors.Is(err, ErrTooManySteps) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := &script{answers: c.answers}
			_, err := new(Loop).Run(t.Context(), Turn{
				Model: m, History: []sessions.Message{user("go")}, Tools: []tools.Tool{c.tool}, MaxSteps: 3,
				Record: func(...sessions.Message) error { return c.record },
			})
			if err == nil || !c.want(err) {
				t.Errorf("got %v", err)
			}
			if len(m.prompts) > 3 {
				t.Errorf("%d model calls", len(m.prompts))
			}
		})
	}
}

func TestLoopCountsEarlierSteps(t *testing.T) {
	t.Parallel()
	m := &script{answers: []any{say("x")}}
	asked := sessions.Message{ID: "m1", Role: sessions.Assistant, Content: []sessions.Block{callBlock("a", "count", `{"n":1}`)}}
	_, err := new(Loop).Run(t.Context(), Turn{
		Model: m, History: []sessions.Message{user("go")}, Steps: []sessions.Message{asked, asked}, Tools: []tools.Tool{&fakeTool{name: "count"}}, MaxSteps: 2,
	})
	if !errors.Is(err, ErrTooManySteps) || len(m.prompts) != 0 {
		t.Errorf("%v after %d calls", err, len(m.prompts))
	}
}

func TestLoopCancel(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	tool := &fakeTool{name: "count", do: func(tools.Call) (tools.Result, error) {
		cancel()
		return tools.Result{Text: "interrupted", IsError: true}, nil
	}}
	var recorded []sessions.Message
	record := func(ms ...sessions.Message) error { recorded = append(recorded, ms...); return nil }
	_, err := new(Loop).Run(ctx, Turn{
		Model: &script{answers: []any{calls(callBlock("a", "count", `{"n":1}`))}}, History: []sessions.Message{user("go")},
		Tools: []tools.Tool{tool}, Record: record,
	})
	if !errors.Is(err, context.Canceled) || len(recorded) != 1 {
		t.Errorf("%v, recorded %q: an interrupted call must be repeated, not remembered", err, shapes(recorded))
	}
	ctx, cancel = context.WithCancel(t.Context())
	_, err = new(Loop).Run(ctx, Turn{Model: &script{answers: []any{func(ctx context.Context) { cancel(); <-ctx.Done() }}}, History: []sessions.Message{user("go")}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestLoopCapsResults(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ä", MaxToolResult) + "\x00\xff"
	tool := &fakeTool{name: "count", do: func(tools.Call) (tools.Result, error) { return tools.Result{Text: long}, nil }}
	m := &script{answers: []any{calls(callBlock("a", "count", `{"n":1}`)), say("x")}}
	out, err := new(Loop).Run(t.Context(), Turn{Model: m, History: []sessions.Message{user("go")}, Tools: []tools.Tool{tool}})
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Newest) > MaxToolResult+100 || !strings.Contains(out.Newest, "[cut here: ") || !utf8.ValidString(out.Newest) {
		t.Errorf("%d bytes, end %q", len(out.Newest), out.Newest[len(out.Newest)-60:])
	}
}

// BenchmarkLoop is what the loop itself costs in a turn with one tool call.
func BenchmarkLoop(b *testing.B) {
	tool := &fakeTool{name: "count"}
	l := new(Loop)
	b.ReportAllocs()
	for b.Loop() {
		tool.got = nil
		m := &script{answers: []any{calls(callBlock("a", "count", `{"n":1}`)), say("done")}, pieces: []string{"do", "ne"}}
		if _, err := l.Run(b.Context(), Turn{Model: m, History: []sessions.Message{user("go")}, Tools: []tools.Tool{tool}}); err != nil {
			b.Fatal(err)
		}
	}
}

func FuzzArguments(f *testing.F) {
	for _, s := range []string{``, `null`, `{"n":1}`, `{"n":`, `"{\"n\":2}"`, `[1]`, "{\"n\":\"\x00\"}", "\"\xff", `{"n":1}x`, `"a"`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		r := &turnRun{callIDs: map[string]bool{}}
		b := r.storable([]sessions.Block{callBlock("", "count", raw)}, StopToolUse, "")[0]
		if b.ID == "" || !json.Valid(b.Arguments) {
			t.Fatalf("not storable: %q", b.Arguments)
		}
		object := ArgumentsObject(b)
		var m map[string]any
		if err := json.Unmarshal(object, &m); err != nil || m == nil {
			t.Fatalf("%q is no object for a provider: %v", object, err)
		}
		args, text, err := decodeArguments(b.Arguments)
		if err != nil {
			return
		}
		if args == nil || len(text) == 0 || text[0] != '{' || !json.Valid(text) {
			t.Fatalf("%q was taken as %q", raw, text)
		}
	})
}

// A turn that ends without words has said what it said beside its last tool call; a control word at the end wins over that.
// source: openclaw/openclaw#115041
// proves: W3, N12
func TestLoopFallsBackToItsWords(t *testing.T) {
	t.Parallel()
	for end, want := range map[string]Outcome{"": {Text: "It is forty-two."}, "NO_REPLY": {Control: NoReply}, "Done.": {Text: "Done."}} {
		tool := &fakeTool{name: "count"}
		m := &script{answers: []any{
			calls(sessions.Block{Type: sessions.TextBlock, Text: "It is forty-two."}, callBlock("a", "count", `{"n":1}`)),
			calls(callBlock("b", "count", `{"n":1}`)), say(end), say(end),
		}}
		var first string
		out, err := new(Loop).Run(t.Context(), Turn{Model: m, History: []sessions.Message{user("go")}, Tools: []tools.Tool{tool}, Record: func(ms ...sessions.Message) error {
			if first == "" {
				first = ms[0].ID
			}
			return nil
		}})
		if err != nil || out.Text != want.Text || out.Control != want.Control || (out.From == first) != (end == "") {
			t.Errorf("%q: %+v %v", end, out, err)
		}
	}
}
