package openai

import (
	"errors"
	"io"
	"net/http"
	"testing"

	"parley/agent"
)

// TestFullWindow: an answer that ends without a word because the window is full says that the prompt is too long; one with words was cut off.
// source: docs.z.ai/api-reference/llm/chat-completion (finish_reason), developers.sber.ru/docs/ru/gigachat (blacklist)
func TestFullWindow(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, finish string
		class        agent.ErrorClass
		stop         string
	}{
		{"", "model_context_window_exceeded", agent.TooLong, ""},
		{"Yes", "model_context_window_exceeded", "", agent.StopLength},
		{"", "length", "", agent.StopLength},
		{"", "blacklist", "", agent.StopFilter},
		{"", "risk_control", "", agent.StopFilter},
	} {
		m := against(t, func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, events(`{"choices":[{"delta":{"content":"`+c.text+`"}}]}`, stopped(c.finish))) // the reader sees what is missing
		}, Config{})
		a, err := answer(t, m, agent.Prompt{Model: "m"})
		e, _ := errors.AsType[*agent.ModelError](err)
		switch {
		case c.class != "" && (e == nil || e.Class != c.class):
			t.Errorf("%q, %s: %v", c.text, c.finish, err)
		case c.class == "" && (err != nil || a.Stop != c.stop):
			t.Errorf("%q, %s: %+v, %v", c.text, c.finish, a, err)
		}
	}
}
