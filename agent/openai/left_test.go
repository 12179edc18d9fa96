package openai

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"parley/agent"
)

// TestLeftOut: what of an answer cannot be read is logged, once for each model.
func TestLeftOut(t *testing.T) {
	t.Parallel()
	const text, call = `{"content":"Yes"}`, `{"id":"a","function":{"name":"look","arguments":"{}"}}`
	const stop = `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`
	for name, c := range map[string]struct {
		body string
		left string // empty = nothing
	}{
		"as documented":            {events(`{"choices":[{"index":0,"delta":`+text+`}]}`, stop, `{"choices":[],"usage":{"prompt_tokens":5,"prompt_tokens_details":{}}}`), ""},
		"a filter's results":       {events(`{"choices":[],"prompt_filter_results":[{"prompt_index":0,"content_filter_results":{"hate":{"filtered":false}}}]}`, `{"choices":[{"index":0,"delta":`+text+`}]}`, stop), ""},
		"a ping":                   {events(`{"type":"ping"}`, `{"choices":[{"index":0,"delta":`+text+`}]}`, stop), ""},
		"odd types, but readable":  {events(`{"choices":{"index":"0","delta":`+text+`}}`, `{"choices":[{"delta":null}]}`, `{"choices":[{"delta":{"tool_calls":`+call+`}}]}`, stop), ""},
		"choices by number":        {events(`{"choices":{"0":{"index":0,"delta":`+text+`}}}`, stop), ""},
		"choices in lists":         {events(`{"choices":[[{"index":0,"delta":`+text+`}]]}`, stop), `[[{`},
		"a list as delta":          {events(`{"choices":[{"index":0,"delta":[{"tool_calls":[`+call+`]}]}]}`, stop), `[{"tool_calls"`},
		"calls as a text":          {events(fmt.Sprintf(`{"choices":[{"index":0,"delta":{"content":"Yes","tool_calls":%q}}]}`, "["+call+"]"), stop), ""},
		"a list as message, whole": {`{"choices":[{"message":[{"content":null,"tool_calls":[` + call + `]}],"finish_reason":"stop"}]}`, `"message":[`},
		"wrapped":                  {events(`{"data":{"choices":[{"index":0,"delta":`+text+`}]}}`, stop), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var log bytes.Buffer
			m := against(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(c.body)) }, Config{Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
			for range 2 {
				for _, err := range m.Stream(t.Context(), agent.Prompt{Model: "m"}) {
					_ = err // how it ends is of no matter here
				}
			}
			said := strings.ReplaceAll(log.String(), `\"`, `"`)
			said = strings.ReplaceAll(said, `\\`, `\`)
			if n := strings.Count(said, "left out"); c.left == "" && n > 0 || c.left != "" && (n != 1 || !strings.Contains(said, "bytes=") || !strings.Contains(said, c.left)) {
				t.Errorf("%d times: %s", n, said)
			}
		})
	}
}
