package anthropic

import (
	"strings"
	"testing"
	"testing/synctest"

	"parley/agent"
)

// TestTriesLearnTogether: what one try of a call was refused, the next one does not send again.
func TestTriesLearnTogether(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := &endpoint{answer: func(n int, body string) reply {
			switch {
			case strings.Contains(body, `"stream":true`):
				return reply{status: 400, kind: "application/json", body: `{"error":{"type":"invalid_request_error","message":"streaming is not supported"}}`}
			case n == 2:
				return reply{status: 529, kind: "application/json", body: `{"error":{"type":"overloaded_error","message":"Overloaded"}}`}
			}
			return reply{body: hello}
		}}
		for _, err := range e.at(elsewhere).Stream(t.Context(), agent.Prompt{Model: "m", Tries: 2}) {
			if err != nil {
				t.Fatal(err)
			}
		}
		if e.count() != 3 {
			t.Errorf("%d requests", e.count())
		}
	})
}
