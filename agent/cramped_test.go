package agent

import (
	"context"
	"slices"
	"strings"
	"testing"

	"parley/sessions"
)

// TestCrampedAnswer: an answer that ends at its length limit before it has begun says that the prompt is too long: it is made shorter once,
// then the models behind are asked. One that spent its room on reasoning stays as it is.
// source: ggml-org/llama.cpp tools/server (finish_reason length at n_ctx), docs.vllm.ai (max_tokens is what the window has left)
func TestCrampedAnswer(t *testing.T) {
	t.Parallel()
	text := func(s string) []sessions.Block { return []sessions.Block{{Type: sessions.TextBlock, Text: s}} }
	think := func(s string) []sessions.Block { return []sessions.Block{{Type: sessions.ThinkingBlock, Text: s}} }
	cut := func(content []sessions.Block, in, out int) Answer {
		return Answer{Stop: StopLength, Content: content, Usage: sessions.Usage{Input: in, Output: out}}
	}
	for name, c := range map[string]struct {
		first   Answer
		most    int // tokens that an answer may have, by the settings
		second  any
		next    bool
		text    string
		asked   string
		shorter int
		lost    int
	}{
		"no word":                               {cut(nil, 8192, 0), 0, say("hello"), false, "hello", "first first", 1, 8192},
		"no usage":                              {cut(nil, 0, 0), 0, say("hello"), false, "hello", "first first", 1, -1},
		"a few tokens of reasoning":             {cut(think("I need"), 16380, 4), 0, say("hello"), false, "hello", "first first", 1, 16380},
		"one token of room":                     {cut(text("A"), 16383, 1), 0, say("hello"), false, "hello", "first first", 1, 16383},
		"both times":                            {cut(nil, 8192, 0), 0, cut(nil, 8192, 0), false, "", "first first", 1, 16384},
		"both times, and a next one":            {cut(nil, 8192, 0), 0, cut(nil, 8192, 0), true, "from the next", "first first next", 1, 16384},
		"a short answer with room":              {cut(text("A"), 16000, 1), 0, nil, false, "A", "first", 0, 0},
		"its room is spent on thoughts":         {cut(think(strings.Repeat("hm, well. ", 100)), 900, 1024), 0, nil, false, "", "first", 0, 0},
		"its own limit is short":                {cut(text("Well"), 900, 4), 4, nil, false, "Well", "first", 0, 0},
		"hidden thoughts up to a short limit":   {cut(nil, 900, 16), 16, nil, false, "", "first", 0, 0},
		"a short limit, and nobody counts":      {cut(nil, 0, 0), 16, nil, false, "", "first", 0, -1},
		"less than its own limit":               {cut(nil, 8192, 3), 16, say("hello"), false, "hello", "first first", 1, 8192},
		"a window that the short limit ends at": {cut(text("A"), 8188, 4), 4, nil, false, "A", "first", 0, 0},
		"hidden thoughts":                       {cut(nil, 900, 1024), 0, nil, false, "", "first", 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var asked []string
			lost, shorter := 0, 0
			model := func(name string, answers ...any) Candidate {
				m := &script{answers: answers}
				return Candidate{Name: name, Label: "p/" + name, Facts: ModelFacts{ContextWindow: 32768, MaxAnswer: c.most}, Model: asking(func(Prompt) Model {
					asked = append(asked, name)
					return m
				})}
			}
			first := model("first", c.first, c.second)
			turn := Turn{Model: first.Model, Name: first.Name, Label: first.Label, Facts: first.Facts, History: []sessions.Message{user("hi"), user("there")},
				Spent: func(_ string, u sessions.Usage) { lost += u.Input },
				Compact: func(_ context.Context, msgs []sessions.Message, _ int) ([]sessions.Message, error) {
					shorter++
					return slices.Clone(msgs[1:]), nil
				}}
			if c.next {
				turn.Fallbacks = []Candidate{model("next", say("from the next"))}
			}
			out, err := new(Loop).Run(t.Context(), turn)
			if err != nil || out.Text != c.text || strings.Join(asked, " ") != c.asked || shorter != c.shorter {
				t.Errorf("%q by %v, made shorter %d times, %v", out.Text, asked, shorter, err)
			}
			if c.lost >= 0 && lost != c.lost {
				t.Errorf("%d tokens are counted apart, want %d", lost, c.lost)
			}
		})
	}
}
