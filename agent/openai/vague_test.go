package openai

import (
	"slices"
	"strings"
	"testing"

	"parley/agent"
	"parley/agent/lessons"
	"parley/sessions"
)

// TestVague: an endpoint that refuses without a word is asked less in each call, until it refuses nothing; what was not the reason is sent
// again.
func TestVague(t *testing.T) {
	t.Parallel()
	picture := func(data string) agent.Prompt {
		return agent.Prompt{Messages: []sessions.Message{user(textBlock("what is this?"), sessions.Block{Type: sessions.ImageBlock, MIME: "image/png", Data: data})}}
	}
	many := agent.Prompt{System: "be kind", Tools: manySpecs(40)}
	for name, c := range map[string]struct {
		calls    []agent.Prompt
		refuse   func(string) (int, string)
		requests []int
		kind     string   // of the lesson that stays
		has, not []string // of the last request
	}{
		// source: MoonshotAI/kimi-code#3087
		"pictures": {[]agent.Prompt{picture("MQ=="), picture("Mg=="), picture("Mw=="), picture("NA=="), picture("NQ=="), picture("Ng==")}, when("image_url", 400, said("Invalid request.")),
			[]int{3, 3, 2, 2, 1, 1}, lessons.Images, []string{"stream_options"}, []string{"image_url"}},
		// source: zai-org/feedback#81
		"many tools": {[]agent.Prompt{many, many, many, many, many, many}, when(`"t20"`, 400, `{"error":{"code":"1210","message":"Invalid API parameter, please check the documentation."}}`),
			[]int{4, 2, 1, 1, 2, 1}, lessons.MaxTools, []string{`"t15"`, `"stream":true`, `"role":"system"`, "stream_options"}, []string{`"t16"`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := &picky{refuse: c.refuse}
			book := lessons.NewBook(lessons.Config{})
			m := against(t, e.ServeHTTP, Config{Lessons: book})
			var got []int
			for _, p := range c.calls {
				p.Model = "m"
				before := len(e.raw)
				if _, err := answer(t, m, p); err != nil {
					t.Fatal(err)
				}
				got = append(got, len(e.raw)-before)
			}
			if !slices.Equal(got, c.requests) {
				t.Errorf("%v requests, not %v; known %+v", got, c.requests, book.Known())
			}
			if slices.ContainsFunc(book.Known(), func(l sessions.Lesson) bool { return l.Kind != c.kind }) {
				t.Errorf("known %+v", book.Known())
			}
			for _, part := range c.has {
				if !strings.Contains(e.last(), part) {
					t.Errorf("no %s in %s", part, e.last())
				}
			}
			for _, part := range c.not {
				if strings.Contains(e.last(), part) {
					t.Errorf("%s in %s", part, e.last())
				}
			}
		})
	}
}
