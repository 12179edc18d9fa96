package openai

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"parley/agent"
	"parley/sessions"
)

// TestOtherThought: reasoning under rare names is read of whole answers and of pieces, and is kept with its name. Settings, marks and what only the endpoint
// can read are no reasoning.
// source: docs.litellm.ai/docs/reasoning_content (each provider has a name of its own)
func TestOtherThought(t *testing.T) {
	t.Parallel()
	for _, stream := range []string{"on", "off"} {
		for name, isThought := range map[string]bool{
			"thinking_content": true, "thought": true, "analysis": true, "reasoning_summary": true, "thinking_text": true, "rationale": true, "inner_thoughts": true,
			"chain_of_thought": true, "cot": true, "reason": true, "reasoning_trace": true, "scratchpad": true,
			"reasoning_effort": false, "reasoning_format": false, "stop_reason": false, "thinking_signature": false, "reasoning_id": false, "thought_blob": false, "name": false, "comment": false,
		} {
			t.Run(stream+" "+name, func(t *testing.T) {
				t.Parallel()
				m := against(t, func(w http.ResponseWriter, _ *http.Request) {
					if stream == "off" {
						_, _ = fmt.Fprintf(w, `{"choices":[{"index":0,"message":{"role":"assistant","content":"yes","%s":"hm"},"finish_reason":"stop"}]}`, name)
						return
					}
					w.Header().Set("Content-Type", "text/event-stream")
					_, _ = io.WriteString(w, events(`{"choices":[{"index":0,"delta":{"role":"assistant","content":"","`+name+`":"hm"}}]}`, `{"choices":[{"index":0,"delta":{"content":"yes"}}]}`,
						`{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`, "[DONE]"))
				}, Config{Settings: func(string) agent.ModelSettings { return agent.ModelSettings{Stream: stream} }})
				a, err := answer(t, m, agent.Prompt{Model: "m"})
				if err != nil {
					t.Fatal(err)
				}
				thoughts, field := "", ""
				for _, b := range a.Content {
					if b.Type == sessions.ThinkingBlock {
						thoughts += b.Text
						if b.Opaque != nil {
							field = readOpaque(b.Opaque.Data).Field
						}
					}
				}
				if got := strings.TrimSpace(thoughts) == "hm" && field == name; got != isThought || !isThought && thoughts != "" {
					t.Errorf("%q in %q: %+v", thoughts, field, a.Content)
				}
			})
		}
	}
}
