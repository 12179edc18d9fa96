package openai

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"parley/agent"
	"parley/tools"
)

// TestWordAtTheEndTeachesNothing: a word for a failure at the end of an answer costs no tools, however it is spelled.
// source: https://ai.google.dev/api/generate-content#FinishReason, NousResearch/hermes-agent#83882 (function_call_filter)
func TestWordAtTheEndTeachesNothing(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"function_call_filter: UNEXPECTED_TOOL_CALL", "tool_calls_not_supported_error", "error: tools are not supported"} {
		var bodies []string
		m := against(t, func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			if bodies = append(bodies, string(body)); len(bodies) == 1 {
				_, _ = io.WriteString(w, events(`{"choices":[{"index":0,"delta":{"content":""},"finish_reason":"`+word+`"}]}`))
				return
			}
			_, _ = io.WriteString(w, events(`{"choices":[{"index":0,"delta":{"content":"Hello"},"finish_reason":"stop"}]}`))
		}, Config{})
		for range 3 {
			for _, err := range m.Stream(t.Context(), agent.Prompt{Model: "m", Tools: []tools.Spec{{Name: "look"}}}) {
				_ = err // how the first one ends is of no matter here
			}
		}
		for i, body := range bodies {
			if !strings.Contains(body, `"look"`) {
				t.Errorf("%s: request %d has no tools", word, i)
			}
		}
	}
}
