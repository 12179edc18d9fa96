package agent

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/sessions"
	"parley/tools"
)

// slowTool does what run does.
type slowTool struct {
	spec tools.Spec
	run  func(ctx context.Context, c tools.Call) (tools.Result, error)
}

func (s *slowTool) Spec() tools.Spec { return s.spec }
func (s *slowTool) Call(ctx context.Context, c tools.Call) (tools.Result, error) {
	return s.run(ctx, c)
}

// purse is a budget that writes down what it is asked and told.
type purse struct {
	asked   []int
	settled []sessions.Usage
	spent   []sessions.Usage
	refuse  error
}

func (p *purse) afford(_ context.Context, tokens int) (func(sessions.Usage), error) {
	p.asked = append(p.asked, tokens)
	if p.refuse != nil {
		return nil, p.refuse
	}
	return func(u sessions.Usage) { p.settled = append(p.settled, u) }, nil
}

func (p *purse) hook(t Turn) Turn {
	t.Afford = p.afford
	t.Spent = func(_ string, u sessions.Usage) { p.spent = append(p.spent, u) }
	return t
}

// Every model call is asked for before it is made and settled after it, with the tries that broke off, also when it fails; an
// answer that comes when the turn is over is paid for as well.
func TestEveryCallIsAffordedAndSettled(t *testing.T) {
	t.Parallel()
	var p purse
	tool := &fakeTool{name: "t"}
	m := &script{answers: []any{calls(callBlock("c1", "t", `{"n":1}`)), say("done")}}
	if _, err := new(Loop).Run(t.Context(), p.hook(Turn{Model: m, History: []sessions.Message{user("hello")}, Tools: []tools.Tool{tool}})); err != nil {
		t.Fatal(err)
	}
	if len(p.asked) != 2 || p.asked[0] <= 0 || p.asked[1] <= 0 {
		t.Errorf("asked for %v tokens", p.asked)
	}
	if want := (sessions.Usage{Input: 10, Output: 2}); !slices.Equal(p.settled, []sessions.Usage{want, want}) || len(p.spent) > 0 {
		t.Errorf("settled %v, spent %v", p.settled, p.spent)
	}

	p = purse{}
	broke := brokeOff{used: sessions.Usage{Input: 7, Output: 1}, err: &ModelError{Class: Overloaded, Err: errors.New("x")}}
	if _, err := new(Loop).Run(t.Context(), p.hook(Turn{Model: broke, History: []sessions.Message{user("hello")}})); err == nil {
		t.Fatal("no error")
	}
	if !slices.Equal(p.settled, []sessions.Usage{broke.used}) || !slices.Equal(p.spent, p.settled) {
		t.Errorf("after a failed call: settled %v, spent %v", p.settled, p.spent)
	}

	p = purse{}
	ctx, cancel := context.WithCancel(t.Context())
	late := brokeOff{before: cancel, answer: say("late")}
	if _, err := new(Loop).Run(ctx, p.hook(Turn{Model: late, History: []sessions.Message{user("hello")}})); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
	if want := []sessions.Usage{{Input: 10, Output: 2}}; !slices.Equal(p.settled, want) || !slices.Equal(p.spent, want) {
		t.Errorf("an answer that nobody waits for: settled %v, spent %v", p.settled, p.spent)
	}
}

// A budget that is used up ends the turn without a call.
func TestNoCallWithoutBudget(t *testing.T) {
	t.Parallel()
	p := purse{refuse: &BudgetError{Scope: "host"}}
	m := &script{answers: []any{say("x")}}
	_, err := new(Loop).Run(t.Context(), p.hook(Turn{Model: m, History: []sessions.Message{user("hello")}}))
	if e, ok := errors.AsType[*BudgetError](err); !ok || e.Scope != "host" || len(m.prompts) > 0 {
		t.Errorf("got %v after %d calls", err, len(m.prompts))
	}
}

// What a model is shown is made shorter before a call whose prompt is too large, and once after one that was refused as too long.
func TestCompactBeforeAndAfterACall(t *testing.T) {
	t.Parallel()
	long := user(strings.Repeat("x", 3000))
	short := []sessions.Message{user("short")}
	for _, c := range []struct {
		name     string
		turn     Turn
		answers  []any
		compacts int
		ok       bool
	}{
		{"fits", Turn{CompactAt: 2000, CompactOver: 1}, []any{say("x")}, 0, true},
		{"too many tokens", Turn{CompactAt: 500}, []any{say("x")}, 1, true},
		{"too many messages", Turn{CompactOver: 1, Steps: []sessions.Message{long}}, []any{say("x")}, 1, true},
		{"too long", Turn{}, []any{&ModelError{Class: TooLong}, say("x")}, 1, true},
		{"too long twice", Turn{}, []any{&ModelError{Class: TooLong}, &ModelError{Class: TooLong}, say("x")}, 1, false},
		{"another error", Turn{}, []any{&ModelError{Class: BadRequest}, say("x")}, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := &script{answers: c.answers}
			n := 0
			c.turn.Model, c.turn.History = m, []sessions.Message{long}
			c.turn.Compact = func(_ context.Context, msgs []sessions.Message, _ int) ([]sessions.Message, error) {
				n++
				if len(msgs) == 0 || msgs[0].ID != long.ID {
					t.Errorf("compact was given %v", shapes(msgs))
				}
				return short, nil
			}
			_, err := new(Loop).Run(t.Context(), c.turn)
			if n != c.compacts || (err == nil) != c.ok {
				t.Errorf("compacted %d times, err %v", n, err)
			}
			if last := m.prompts[len(m.prompts)-1].Messages; (c.compacts > 0) != (last[0].ID == short[0].ID) {
				t.Errorf("the last call showed %v", shapes(last)[:1])
			}
		})
	}
}

// A 413 to a prompt that is far from too long is a refusal of what it says: the turn goes on without the messages before it.
// source: docs.aws.amazon.com/waf/latest/developerguide/waf-oversize-request-components.html, cloudflare (413 of rules)
func TestTooLargeForAnotherReason(t *testing.T) {
	t.Parallel()
	for status, wants := range map[int]int{413: 3, 400: 2} {
		no := &ModelError{Class: TooLong, Status: status}
		run := sessions.Run{ID: "r", Input: user("now")}
		run.Input.Run = "r"
		m := &script{answers: []any{no, no, say("x")}}
		turn := Turn{Model: m, Facts: ModelFacts{ContextWindow: 100000}, History: []sessions.Message{user(strings.Repeat("before ", 100)), run.Input}, Caller: tools.Caller{Run: run},
			Compact: func(context.Context, []sessions.Message, int) ([]sessions.Message, error) {
				return []sessions.Message{user("before"), run.Input}, nil
			}}
		out, err := new(Loop).Run(t.Context(), turn)
		if len(m.prompts) != wants || (err == nil) != (status == 413) {
			t.Errorf("%d: %q after %d requests: %v", status, out.Text, len(m.prompts), err)
		}
	}
}

// What the provider counted is taken where it is known, and only for what it covers.
func TestEstimateTakesCounts(t *testing.T) {
	t.Parallel()
	old := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	answer := sessions.Message{Role: sessions.Assistant, Content: sessions.TextContent("abc"), Usage: &sessions.Usage{Input: 5000, Output: 10}, Time: old}
	msgs := []sessions.Message{user("hello"), answer, user(strings.Repeat("x", 300))}
	if n := PromptTokens("", nil, msgs); n != 5010+104 {
		t.Errorf("counted and new: %d", n)
	}
	if n := PromptTokens("", nil, msgs[:1]); n != 4+2 {
		t.Errorf("nothing counted: %d", n)
	}
	summary := sessions.Message{Role: sessions.User, Time: old.Add(time.Hour), Provenance: &sessions.Provenance{Kind: sessions.InternalSystem, Tool: summaryTool}}
	if n := PromptTokens("", nil, append([]sessions.Message{summary}, msgs[1:]...)); n >= 5000 {
		t.Errorf("a count from before the summary is taken: %d", n)
	}
	lie := answer
	lie.Usage = &sessions.Usage{Input: 1}
	if n := PromptTokens("", nil, []sessions.Message{user(strings.Repeat("x", 3000)), lie}); n < 500 {
		t.Errorf("a count that cannot be true is taken: %d", n)
	}
}

// TestEstimateOfReasoning: only reasoning that goes back to a provider is counted.
// source: api-docs.deepseek.com/guides/thinking_mode, docs.mistral.ai/capabilities/reasoning, platform.claude.com/docs/en/build-with-claude/extended-thinking
func TestEstimateOfReasoning(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		data string // what its provider keeps with the reasoning
		call bool
		sent bool
	}{
		"a field of its own":            {data: `{"field":"reasoning_content"}`},
		"a field of its own, as stored": {data: `{"field": "reasoning"}`},
		"nothing kept":                  {},
		"with a call":                   {data: `{"field":"reasoning_content"}`, call: true, sent: true},
		"tags in the text":              {data: `{"field":"content","open":"<think>","close":"</think>"}`, sent: true},
		"parts of the text":             {data: `{"field":"content.parts"}`, sent: true},
		"a field, all of it returned":   {data: `{"field":"reasoning_content","returned":true}`, sent: true},
		"unsigned thinking":             {data: `{"unsigned":true}`, sent: true}, // source: anomalyco/opencode#44713
		"with a signature":              {data: `{"signature":"c2ln"}`, sent: true},
		"details":                       {data: `{"field":"reasoning","reasoning_details":[{"type":"reasoning.text"}]}`, sent: true},
		"an encrypted item":             {data: `{"id":"rs_1","type":"reasoning","encrypted_content":"c2ln"}`, sent: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			thought := sessions.Block{Type: sessions.ThinkingBlock, Text: strings.Repeat("hm ", 10000), Opaque: &sessions.Opaque{From: "p", Data: json.RawMessage(c.data)}}
			answer := sessions.Message{Role: sessions.Assistant, Content: append([]sessions.Block{thought}, sessions.TextContent("Yes.")...)}
			if c.call {
				answer.Content = append(answer.Content, callBlock("a", "count", `{}`))
			}
			msgs := []sessions.Message{user("hello"), answer, user("and?")}
			counted := answer
			counted.Usage = &sessions.Usage{Input: 100, Output: 10000}
			for _, n := range []int{PromptTokens("", nil, msgs), PromptTokens("", nil, []sessions.Message{msgs[0], counted, msgs[2]})} {
				if n > 5000 != c.sent {
					t.Errorf("%d tokens", n)
				}
			}
			if u := estimate(Prompt{}, &Answer{Content: answer.Content}); u.Output < 10000 {
				t.Errorf("an answer of %d tokens: all of it is paid for", u.Output)
			}
		})
	}
}

// A call that takes longer than its tool allows is a result that says so, the turn goes on, and nothing of it reaches the next step.
func TestToolOutOfTime(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		end  func(ctx context.Context) (tools.Result, error)
		want string
	}{
		{"error", func(ctx context.Context) (tools.Result, error) { return tools.Result{}, ctx.Err() }, "took longer than 2s"},
		{"result", func(context.Context) (tools.Result, error) {
			return tools.Result{Text: "half", IsError: true}, nil
		}, "took longer than 2s"},
		{"done all the same", func(context.Context) (tools.Result, error) { return tools.Result{Text: "whole"}, nil }, "whole"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var said []string
				var kept func(string)
				tool := &slowTool{spec: tools.Spec{Name: "slow", Timeout: 2 * time.Second}, run: func(ctx context.Context, call tools.Call) (tools.Result, error) {
					kept = call.Progress
					call.Progress("half way")
					<-ctx.Done()
					return c.end(ctx)
				}}
				m := &script{answers: []any{calls(callBlock("c1", "slow", `{}`)), func(context.Context) { kept("ghost") }}}
				began := time.Now()
				_, err := new(Loop).Run(t.Context(), Turn{Model: m, History: []sessions.Message{user("hello")}, Tools: []tools.Tool{tool},
					Progress: func(tool, text string) { said = append(said, tool+": "+text) }})
				if _, ok := errors.AsType[*ModelError](err); !ok { // the scripted end of the second call
					t.Fatalf("got %v", err)
				}
				if took := time.Since(began); took != 2*time.Second {
					t.Errorf("took %s", took)
				}
				last := m.prompts[1].Messages[2]
				if !strings.Contains(last.Text(), c.want) || last.IsError != strings.Contains(c.want, "longer") {
					t.Errorf("the model sees %q", last.Text())
				}
				if !slices.Equal(said, []string{"slow: half way"}) {
					t.Errorf("progress %q", said)
				}
			})
		})
	}
}

// A tool that nobody listens to can say how far it is, and its result is cut where its description says.
func TestToolBounds(t *testing.T) {
	t.Parallel()
	tool := &slowTool{spec: tools.Spec{Name: "big", MaxResult: 100}, run: func(_ context.Context, c tools.Call) (tools.Result, error) {
		c.Progress("x")
		return tools.Result{Text: strings.Repeat("y", 5000)}, nil
	}}
	m := &script{answers: []any{calls(callBlock("c1", "big", `{}`)), say("done")}}
	if _, err := new(Loop).Run(t.Context(), Turn{Model: m, History: []sessions.Message{user("hello")}, Tools: []tools.Tool{tool}}); err != nil {
		t.Fatal(err)
	}
	if got := m.prompts[1].Messages[2].Text(); len(got) > 200 || !strings.Contains(got, "of 5000 bytes") {
		t.Errorf("the model sees %d bytes: %.150q", len(got), got)
	}
}

// brokeOff is a model whose try broke off after it was counted, or that answers when it is too late.
type brokeOff struct {
	used   sessions.Usage
	err    error
	before func()
	answer Answer
}

func (b brokeOff) Stream(_ context.Context, p Prompt) iter.Seq2[Delta, error] {
	return func(yield func(Delta, error) bool) {
		if b.err != nil {
			p.Spent(b.used)
			yield(Delta{}, b.err)
			return
		}
		b.before()
		yield(Delta{Final: &b.answer}, nil)
	}
}
