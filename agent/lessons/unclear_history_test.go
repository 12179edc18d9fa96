package lessons

import (
	"context"
	"fmt"
	"testing"
	"time"

	"parley/sessions"
)

// turns makes calls of one conversation at an endpoint that refuses every call of the history without a reason: a turn is a call, or with a tool
// two, the second of which has a newer call. begun: there is a call from the beginning. It gives how many requests each turn had refused, and what is known in the end.
func turns(t *testing.T, tools []bool, begun, restart bool) (refused []int, kept map[key]sessions.Lesson) {
	t.Helper()
	now := newClock()
	kept = make(map[key]sessions.Lesson)
	save := func(_ context.Context, ls ...sessions.Lesson) {
		for _, l := range ls {
			kept[keyOf(l)] = l
		}
	}
	drop := func(_ context.Context, ls ...sessions.Lesson) {
		for _, l := range ls {
			delete(kept, keyOf(l))
		}
	}
	b := NewBook(Config{Now: now.Now, Save: save, Drop: drop})
	var newest time.Time // call of the history
	if begun {
		newest = now.Now()
	}
	ask := func() (refused int) {
		c := b.Call(at, "")
		for {
			now.pass(time.Second)
			sent := Sent{Tools: []string{"look"}, Stream: true, System: true}
			c.Takes(Stream, "")
			c.Takes(System, "")
			sent.Steps = !newest.IsZero() && !c.Told() && newest.After(c.ToldUntil())
			for _, p := range []Param{{Name: "reasoning_effort", Value: "high", Effort: true}, {Name: "stream_options", Value: "include_usage"}} {
				if _, send := c.Param(p.Name, p.Value); send {
					sent.Params = append(sent.Params, p)
				}
			}
			c.Shows(&sent, nil)
			if !sent.Steps {
				c.Worked(t.Context())
				return refused
			}
			if refused++; !c.Refused(t.Context(), refusal(400, `{"error":{"message":"Bad Request"}}`), sent) {
				t.Fatal("it gives up")
			}
		}
	}
	for i, tool := range tools {
		if restart && i == 2 {
			b = NewBook(Config{Now: now.Now, Save: save, Drop: drop})
			for _, l := range kept {
				b.Load([]sessions.Lesson{l})
			}
		}
		n := ask()
		if now.pass(time.Second); tool {
			newest = now.Now()
			n += ask()
		}
		now.pass(time.Minute)
		refused = append(refused, n)
	}
	return refused, kept
}

// TestCallsRefusedWithoutAWord: calls that are refused without a reason are told as text for good, and what was left out with them goes again,
// in whatever order turns with tools and without follow each other.
// source: vllm-project/vllm#38738, zai-org/GLM-5#158
func TestCallsRefusedWithoutAWord(t *testing.T) {
	t.Parallel()
	const last = 14
	for mask := range 1 << 6 {
		tools := make([]bool, last)
		for i := range tools {
			tools[i] = i >= 6 || mask>>i&1 == 1
		}
		for _, begun := range []bool{false, true} {
			for _, restart := range []bool{false, true} {
				refused, kept := turns(t, tools, begun, restart)
				name := fmt.Sprintf("tools %v, begun %t, restart %t: refused %v", tools[:7], begun, restart, refused)
				for i, n := range refused {
					if n > 3 || i > 0 && n > 2 && !restart || i >= 9 && n > 0 {
						t.Errorf("%s: turn %d", name, i)
					}
				}
				if l, told := kept[key{History, "", ""}]; !told || l.Use != ToldHistory || inDoubt(l) || len(kept) != 1 {
					t.Errorf("%s: kept %v", name, kept)
				}
			}
		}
	}
}
