package turn

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"parley/agent"
	"parley/sessions"
)

// strictLife is a session whose model's provider refuses every request that has a bad turn in it.
type strictLife struct {
	x       history
	turns   int
	offset  int // messages that are summed up
	refused int // requests
	last    int // the newest turn with one
}

func (l *strictLife) add(role sessions.Role, model, text string, alone bool) {
	at := time.Date(2026, 1, 1, 0, 0, l.offset+len(l.x.Msgs), 0, time.UTC)
	l.x.Msgs = append(l.x.Msgs, sessions.Message{ID: fmt.Sprint("m", l.offset+len(l.x.Msgs)), Seq: int64(l.offset + len(l.x.Msgs) + 1), Role: role, Run: sessions.RunID(fmt.Sprint("run-", l.turns)), Model: model, MessageExtras: &sessions.MessageExtras{WithoutHistory: alone},
		Time: at, Content: sessions.TextContent(text)})
}

// turn says something to a model, as the agent loop does: with the conversation first, then without it.
func (l *strictLife) turn(model, text string, refuses func(shown []sessions.Message) bool) {
	l.turns++
	l.add(sessions.User, "", text, false)
	alone := refuses != nil && refuses(judge(l.x, model).Shown())
	if alone {
		l.refused, l.last = l.refused+1, l.turns
	}
	l.add(sessions.Assistant, model, "answer", alone)
}

func isBad(msgs []sessions.Message) bool {
	for _, m := range msgs {
		if strings.Contains(m.Text(), "bad") {
			return true
		}
	}
	return false
}

// TestSearchIsBounded: one bad turn among 200, wherever it is, is found by ten refused requests in ten turns at most; then it alone is left
// out. It is the same for a model that is new to the session and for one that took all of it before.
// source: https://learn.microsoft.com/azure/ai-services/openai/concepts/content-filter, the whole prompt is judged
func TestSearchIsBounded(t *testing.T) {
	t.Parallel()
	for _, before := range []string{"other/model", "strict/model"} {
		most, longest := 0, 0
		for bad := 1; bad <= 200; bad += 7 {
			var l strictLife
			for i := 1; i <= 200; i++ {
				l.turn(before, map[bool]string{true: "bad", false: "good"}[i == bad], nil)
			}
			for range 12 {
				l.turn("strict/model", "good", isBad)
			}
			most, longest = max(most, l.refused), max(longest, l.last-200)
			left := len(l.x.Msgs) - len(judge(l.x, "strict/model").Shown())
			if left != 2 || l.refused == 0 {
				t.Errorf("%s, bad turn %d: %d messages are left out after %d refused requests", before, bad, left, l.refused)
			}
		}
		if most > 10 || longest > 10 {
			t.Errorf("%s: %d refused requests, the last in turn %d", before, most, longest)
		}
	}
}

// TestResultLeftOut: a result that is left out without its call is told as such, not as a call that was interrupted: it had an effect.
// source: ggml-org/llama.cpp#27025 (a request with calls is refused until its steps are left out)
func TestResultLeftOut(t *testing.T) {
	t.Parallel()
	var l strictLife
	l.turns = 1
	l.add(sessions.User, "", "do it", false)
	l.add(sessions.Assistant, "strict/model", "", false)
	call := &l.x.Msgs[1]
	call.Content = []sessions.Block{{Type: sessions.ToolCallBlock, ID: "c1", Name: "look", Arguments: []byte("{}")}}
	l.add(sessions.ToolResult, "", "bad result", false)
	l.x.Msgs[2].ToolCallID = "c1"
	l.add(sessions.Assistant, sessions.NoticeModel, "The language model had a problem.", false) // the turn failed
	leftOut := false
	for range 6 {
		l.turn("strict/model", "good", isBad)
		shown := judge(l.x, "strict/model").Shown()
		for _, m := range agent.Repair(shown, agent.Target{}) {
			if strings.Contains(m.Text(), "was interrupted") {
				t.Errorf("the model reads %q", m.Text())
			}
			leftOut = leftOut || strings.Contains(m.Text(), "refused this result")
		}
	}
	if !leftOut || isBad(judge(l.x, "strict/model").Shown()) {
		t.Errorf("shown %+v", judge(l.x, "strict/model").Shown())
	}
}

// TestSummaryKeepsTheSearch: what is known of the messages behind a summary stays known: the bad turn is not shown again, and a search goes
// on where it was.
// source: https://learn.microsoft.com/azure/ai-services/openai/concepts/content-filter, the whole prompt is judged
func TestSummaryKeepsTheSearch(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ before, after int }{ // turns before the summary, most refused requests behind it
		"found":                        {12, 0},
		"in the search":                {3, 5},
		"at the beginning of a search": {1, 6},
	} {
		var l strictLife
		for i := 1; i <= 40; i++ {
			l.turn("other/model", map[bool]string{true: "bad", false: "good"}[i == 30], nil)
		}
		for range c.before {
			l.turn("strict/model", "good", isBad)
		}
		cut := 40 // messages
		l.x = behind(l.x, cut, sessions.Summary{ID: "s", Text: "they talked", Time: l.x.Msgs[len(l.x.Msgs)-1].Time.Add(time.Millisecond)})
		l.offset += cut
		l.refused = 0
		for i := range 12 {
			if i == 4 { // once more
				l.x = behind(l.x, 2, sessions.Summary{ID: "s2", Text: "they talked", Time: l.x.Msgs[len(l.x.Msgs)-1].Time.Add(time.Millisecond)})
				l.offset += 2
			}
			l.turn("strict/model", "good", isBad)
		}
		if shown := judge(l.x, "strict/model").Shown(); l.refused > c.after || isBad(shown) || len(l.x.Msgs)-len(shown) != 2 {
			t.Errorf("%s: %d refused requests behind the summary, %d of %d messages are shown", name, l.refused, len(shown), len(l.x.Msgs))
		}
		if k := judge(l.x, "other/model"); !isBad(k.Shown()) {
			t.Errorf("%s: another model is not shown it", name)
		}
	}
}
