package openai

import (
	"net/http"
	"strings"
	"testing"

	"parley/agent"
	"parley/sessions"
)

// TestReturnedIsCounted: where all reasoning goes back to an endpoint, the estimate of the next prompt counts it, also where the endpoint counts
// no tokens. source: api-docs.deepseek.com/guides/thinking_mode, docs.vllm.ai/en/latest/features/reasoning_outputs.html
func TestReturnedIsCounted(t *testing.T) {
	t.Parallel()
	thought := strings.Repeat("hm ", 10000)
	for back, counts := range map[string]bool{"on": true, "": false, "off": false} {
		m := against(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = w.Write([]byte(`data: {"choices":[{"delta":{"reasoning_content":"` + thought + `"}}]}` + "\n\n" +
				`data: {"choices":[{"delta":{"content":"Yes."},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"))
		}, Config{Settings: func(string) agent.ModelSettings {
			return agent.ModelSettings{Reasoning: agent.Reasoning{SendBack: back}}
		}})
		a, err := answer(t, m, agent.Prompt{Model: "m", Messages: []sessions.Message{user(textBlock("hello"))}})
		if err != nil {
			t.Fatal(err)
		}
		if n := agent.Tokens(sessions.Message{Role: sessions.Assistant, Content: a.Content}); n > 9000 != counts {
			t.Errorf("sendBack %q: %d tokens", back, n)
		}
	}
}
