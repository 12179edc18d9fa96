package openai

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"parley/agent"
	"parley/sessions"
)

// TestOnlyTheClosingTag: of a model that sends only the closing tag of its reasoning no piece of text has reasoning in it: not of the next answer,
// not after a restart, when the transcript knows it, and not of the first one where the model's name says so.
// source: deepseek-ai/DeepSeek-R1#352, vllm-project/vllm#13125, huggingface.co/Qwen/Qwen3-235B-A22B-Thinking-2507
//
// proves: W4
func TestOnlyTheClosingTag(t *testing.T) {
	t.Parallel()
	content := func(s string) string { return fmt.Sprintf(`{"choices":[{"index":0,"delta":{"content":%q}}]}`, s) }
	const stop = `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`
	var body string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(srv.Close)
	serve := func() *Model { return New(Config{Name: "mock", BaseURL: srv.URL, HTTPClient: srv.Client()}) }
	// shown gives all pieces of text, also those that a restart took back, and the answer.
	shown := func(m *Model, model string, before ...sessions.Message) (texts []string, a *agent.Answer) {
		p := agent.Prompt{Model: model, Messages: append(before, sessions.Message{Role: sessions.User, Content: sessions.TextContent("hi")})}
		for d, err := range m.Stream(t.Context(), p) {
			if err != nil {
				t.Fatal(err)
			}
			if d.Text != "" {
				texts = append(texts, d.Text)
			}
			if d.Final != nil {
				a = d.Final
			}
		}
		return texts, a
	}
	want := func(name string, got []string, want ...string) {
		t.Helper()
		if strings.Join(got, "|") != strings.Join(want, "|") {
			t.Errorf("%s: shown %q, want %q", name, got, want)
		}
	}
	thinks := func() {
		body = events(content("SECRET"), content(" plan"), content("</think>Hello"), content(" there"), stop)
	}
	thinks()
	m := serve()
	got, a := shown(m, "m")
	want("the first time", got, "SECRET", " plan", "Hello", " there")
	got, _ = shown(m, "m")
	want("the second time", got, "Hello", " there")
	got, _ = shown(serve(), "m", sessions.Message{Role: sessions.Assistant, Model: "mock/m", Content: a.Content})
	want("with the transcript", got, "Hello", " there")
	for _, model := range []string{"deepseek-ai/DeepSeek-R1-0528", "deepseek-r1:8b", "Qwen/QwQ-32B", "qwen3-235b-a22b-thinking-2507"} {
		got, _ = shown(serve(), model)
		want(model, got, "Hello", " there")
	}

	body = events(content("Yes"), content(", it"), content(" is."), stop)
	got, _ = shown(m, "m")
	want("an answer without reasoning", got, "Yes, it is.")
	m = serve()
	got, _ = shown(m, "deepseek-r1")
	want("the first answer of a model of that name", got, "Yes, it is.")
	got, _ = shown(m, "deepseek-r1")
	want("its second answer", got, "Yes", ", it", " is.")
	body = events(`{"choices":[{"index":0,"delta":{"reasoning_content":"hm"}}]}`, content("Yes"), content("."), stop)
	got, _ = shown(serve(), "deepseek-r1")
	want("reasoning in a field of its own", got, "Yes", ".")
	thinks()
	got, _ = shown(m, "deepseek-r1")
	want("a tag that was not expected", got, "SECRET", " plan", "Hello", " there")
	got, _ = shown(m, "deepseek-r1")
	want("and then is", got, "Hello", " there")
}
