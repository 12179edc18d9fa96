package openai

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"parley/agent"
	"parley/sessions"
)

// TestMarkedThought: content that Gemini marks as a thought is reasoning, with tags and without. source: ai.google.dev/gemini-api/docs/openai
func TestMarkedThought(t *testing.T) {
	t.Parallel()
	chunk := func(content, extra string) string {
		return `data: {"choices":[{"index":0,"delta":{"content":"` + content + `"` + extra + `}}]}` + "\n\n"
	}
	const mark = `,"extra_content":{"google":{"thought":true}}`
	for name, stream := range map[string]string{
		"marks":          chunk("hm", mark) + chunk(" hm", mark) + chunk("answer", ""),
		"tags":           chunk("<thought>hm", "") + chunk(" hm", "") + chunk("</thought>answer", ""),
		"marks and tags": chunk("<thought>hm", mark) + chunk(" hm", mark) + chunk("</thought>answer", ""),
	} {
		m := against(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			if _, err := io.Copy(w, strings.NewReader(stream+`data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")); err != nil {
				t.Error(err)
			}
		}, Config{})
		a, err := answer(t, m, agent.Prompt{Model: "m"})
		if err != nil || len(a.Content) != 2 || a.Content[0].Type != sessions.ThinkingBlock || a.Content[0].Text != "hm hm" || a.Content[1].Text != "answer" {
			t.Errorf("%s: %+v, %v", name, a, err)
		}
	}
}

// TestStray: an event that is no object is the reason why there is no answer where nothing else came; beside an answer it is left out.
// source: html.spec.whatwg.org/multipage/server-sent-events.html (data is any text), BerriAI/litellm#31787
func TestStray(t *testing.T) {
	t.Parallel()
	const whole = `data: {"choices":[{"index":0,"delta":{"content":"answer"},"finish_reason":"stop"}]}` + "\n\n"
	for _, c := range []struct {
		stream string
		class  agent.ErrorClass // "" = it is answered
		said   string
	}{
		{"data: \"rate limit exceeded\"\n\ndata: [DONE]\n\n", agent.RateLimited, "rate limit exceeded"},
		{"data: error: upstream timed out\n\n", agent.Broken, "upstream timed out"},
		{"data: {\"error\":503}\n\ndata: [DONE]\n\n", agent.Overloaded, ""},
		{"data: warming up\n\n" + whole, "", ""},
	} {
		m := against(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			if _, err := io.Copy(w, strings.NewReader(c.stream)); err != nil {
				t.Error(err)
			}
		}, Config{})
		a, err := answer(t, m, agent.Prompt{Model: "m", Tries: 1})
		if c.class == "" {
			if err != nil || (sessions.Message{Content: a.Content}).Text() != "answer" {
				t.Errorf("%q: %+v, %v", c.stream, a, err)
			}
			continue
		}
		e, ok := errors.AsType[*agent.ModelError](err)
		if !ok || e.Class != c.class || !strings.Contains(e.Said, c.said) {
			t.Errorf("%q: %v", c.stream, err)
		}
	}
}

// TestGlued: events of which a line end was lost, and those that were wrapped twice, are read whole; thinking that only the total of the
// usage counts is paid for.
//
// source: sysid/sse-starlette#89, docs.x.ai/docs/key-information/consumption-and-rate-limits, Wei-Shaw/sub2api#5771
func TestGlued(t *testing.T) {
	t.Parallel()
	const one, two, end = `{"choices":[{"index":0,"delta":{"content":"ans"}}]}`, `{"choices":[{"index":0,"delta":{"content":"wer"}}]}`, `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`
	usage := func(u string) string { return `{"choices":[],"usage":` + u + `}` }
	for name, c := range map[string]struct {
		stream string
		usage  sessions.Usage
	}{
		"a line end is lost":       {"data: " + one + "data: " + two + "\n\ndata: " + end + "\n\ndata: [DONE]\n\n", sessions.Usage{}},
		"all line ends are lost":   {"data: " + one + "data: " + two + "data:" + end + "data: [DONE]\n\n", sessions.Usage{}},
		"wrapped twice":            {"data: data: " + one + "\n\ndata: data: " + two + "\n\ndata: data: " + end + "\n\ndata: data: [DONE]\n\n", sessions.Usage{}},
		"thinking beside":          {"data: " + one + "\n\ndata: " + two + "\n\ndata: " + end + "\n\ndata: " + usage(`{"prompt_tokens":1000,"completion_tokens":10,"total_tokens":1510,"completion_tokens_details":{"reasoning_tokens":500}}`) + "\n\n", sessions.Usage{Input: 1000, Output: 510}},
		"thinking inside":          {"data: " + one + "\n\ndata: " + two + "\n\ndata: " + end + "\n\ndata: " + usage(`{"prompt_tokens":1000,"completion_tokens":510,"total_tokens":1510,"completion_tokens_details":{"reasoning_tokens":500}}`) + "\n\n", sessions.Usage{Input: 1000, Output: 510}},
		"as Anthropic counts":      {"data: " + one + "\n\ndata: " + two + "\n\ndata: " + end + "\n\ndata: " + usage(`{"input_tokens":100,"output_tokens":10,"cache_read_input_tokens":900}`) + "\n\n", sessions.Usage{Input: 1000, Output: 10, CacheRead: 900}},
		"Anthropic's name besides": {"data: " + one + "\n\ndata: " + two + "\n\ndata: " + end + "\n\ndata: " + usage(`{"prompt_tokens":1000,"completion_tokens":10,"total_tokens":1010,"cache_read_input_tokens":900}`) + "\n\n", sessions.Usage{Input: 1000, Output: 10, CacheRead: 900}},
	} {
		m := against(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			if _, err := io.Copy(w, strings.NewReader(c.stream)); err != nil {
				t.Error(err)
			}
		}, Config{})
		a, err := answer(t, m, agent.Prompt{Model: "m"})
		if err != nil || (sessions.Message{Content: a.Content}).Text() != "answer" || a.Usage != c.usage {
			t.Errorf("%s: %+v, %v", name, a, err)
		}
	}
}
