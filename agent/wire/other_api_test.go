package wire

import (
	"errors"
	"strings"
	"testing"

	"parley/agent"
)

// TestOtherAPI: an answer of another API than the one that was asked is an error about the address or the setting, which it names.
// source: platform.openai.com/docs/api-reference/responses/object, docs.anthropic.com/en/api/messages, ai.google.dev/api/generate-content
func TestOtherAPI(t *testing.T) {
	t.Parallel()
	const (
		chat      = `{"id":"c1","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}]}`
		responses = `{"id":"resp_1","object":"response","status":"completed","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"hi"}]}]}`
		claude    = `{"id":"msg_1","type":"message","role":"assistant","content":[{"type":"text","text":"hi"}],"stop_reason":"end_turn"}`
		ollama    = `{"model":"m","message":{"role":"assistant","content":"h"},"done":false}` + "\n" + `{"model":"m","message":{"content":""},"done":true}`
	)
	for _, c := range []struct{ address, body, hint string }{
		{"http://x/v1/chat/completions", responses, "api: openai-responses"},
		{"http://x/v1/chat/completions", claude, "api: anthropic"},
		{"http://x/v1/chat/completions", ollama, "baseUrl"},
		{"http://x/v1/chat/completions", `{"candidates":[{"content":{"parts":[{"text":"hi"}]},"finishReason":"STOP"}]}`, "baseUrl"},
		{"http://x/v1/responses", chat, "api: openai-completions"},
		{"http://x/v1/responses", claude, "api: anthropic"},
		{"http://x/v1/messages", chat, "api: openai-completions"},
		{"http://x/v1/chat/completions", `{"choices":[]}`, ""},
		{"http://x/v1/messages", claude, ""},
		{"http://x/v1/messages", `{"error":{"message":"choices"},"choices":[]}`, ""},
		{"http://x/v1/messages", `{"status":"completed"}`, ""},
	} {
		try := &Try{c: New(Config{Name: "p"}), parent: t.Context(), ctx: t.Context(), address: c.address}
		e := &agent.ModelError{Class: agent.Broken}
		try.misdirected(e, []byte(c.body))
		var f *Fault
		if is := e.Class == agent.BadAddress; is != (c.hint != "") || !strings.Contains(e.Hint, c.hint) || is && !errors.As(e, &f) {
			t.Errorf("%s at %s: %+v", c.body, c.address, e)
		}
	}
}
