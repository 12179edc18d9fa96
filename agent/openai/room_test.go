package openai

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"parley/agent"
	"parley/agent/lessons"
)

// TestShorterAnswer: where an endpoint says how long an answer there is room or money for, that is asked for in this call alone; the next
// call begins with the configured length again, or with what the window that was named leaves free.
func TestShorterAnswer(t *testing.T) {
	t.Parallel()
	asked := regexp.MustCompile(`"max_tokens":(\d+)`)
	over := func(most int, unset bool) func(string) bool {
		return func(raw string) bool {
			m := asked.FindStringSubmatch(raw)
			if m == nil {
				return unset
			}
			n, err := strconv.Atoi(m[1])
			return err != nil || n > most
		}
	}
	const credit = `{"error":{"message":"This request requires more credits, or fewer max_tokens. You requested up to 65536 tokens, but can only afford 3919. To increase, visit https://openrouter.ai/settings/credits and upgrade to a paid account","code":402}}`
	window := said("This model's maximum context length is 32768 tokens. However, you requested 33500 tokens (1500 in the messages, 32000 in the completion). Please reduce the length of the messages or completion.")
	for name, c := range map[string]struct {
		p        agent.Prompt
		refuses  func(string) bool
		status   int
		says     string
		requests []int // of each call
		last     string
	}{
		// source: can1357/oh-my-pi#9569, Taewan-P/gpt_mobile#284
		"credit":          {agent.Prompt{MaxTokens: 65536}, over(3919, true), 402, credit, []int{2, 1}, `"max_tokens":2940`},
		"credit, unasked": {agent.Prompt{}, over(3919, true), 402, credit, []int{2, 1}, `"max_tokens":2940`},
		"a few":           {agent.Prompt{MaxTokens: 65536}, over(0, true), 402, strings.Replace(credit, "3919", "39", 1), []int{1, 1}, `"max_tokens":65536`},
		// source: ruipeterpan/specreason#4
		"window": {agent.Prompt{MaxTokens: 32000, System: strings.Repeat("words ", 750)}, over(31268, false), 400, window, []int{2, 1}, `"max_tokens":310`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := &picky{refuse: func(raw string) (int, string) {
				if c.refuses(raw) {
					return c.status, c.says
				}
				return 0, ""
			}}
			book := lessons.NewBook(lessons.Config{})
			m := against(t, e.ServeHTTP, Config{Lessons: book})
			c.p.Model = "m"
			for i, want := range c.requests {
				before := len(e.raw)
				_, err := answer(t, m, c.p)
				if got := len(e.raw) - before; got != want || (err != nil) != (name == "a few") {
					t.Errorf("call %d: %d requests, not %d: %v", i, got, want, err)
				}
			}
			if !strings.Contains(e.last(), c.last) {
				t.Errorf("no %s in %s", c.last, e.last())
			}
			for _, l := range book.Known() {
				if l.Kind != lessons.Window {
					t.Errorf("learned %+v", l)
				}
			}
		})
	}
}
