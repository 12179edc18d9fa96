package openai

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"parley/agent"
	"parley/channels"
	"parley/sessions"
)

// always answers every request with the same stream.
type always string

func (a always) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(strings.NewReader(string(a)))}, nil
}

// longStream is an answer of 2,000 chunks as OpenAI sends them: reasoning, text, a tool call.
func longStream() string {
	var b strings.Builder
	const lead = `data: {"id":"chatcmpl-Bx0s9f2","object":"chat.completion.chunk","created":1763000000,"model":"mock-1","service_tier":"default","system_fingerprint":"fp_1","choices":[{"index":0,"delta":`
	for i := range 2000 {
		switch {
		case i < 500:
			fmt.Fprintf(&b, `%s{"reasoning_content":" thought"},"logprobs":null,"finish_reason":null}]}`+"\n\n", lead)
		case i < 1900:
			fmt.Fprintf(&b, `%s{"content":" word%d"},"logprobs":null,"finish_reason":null}]}`+"\n\n", lead, i)
		case i == 1900:
			fmt.Fprintf(&b, `%s{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"f","arguments":"{\"a\":\""}}]},"finish_reason":null}]}`+"\n\n", lead)
		default:
			fmt.Fprintf(&b, `%s{"tool_calls":[{"index":0,"function":{"arguments":"x%d"}}]},"finish_reason":null}]}`+"\n\n", lead, i)
		}
	}
	fmt.Fprintf(&b, `%s{"tool_calls":[{"index":0,"function":{"arguments":"\"}"}}]},"finish_reason":null}]}`+"\n\n", lead)
	fmt.Fprintf(&b, `%s{},"finish_reason":"tool_calls"}]}`+"\n\ndata: [DONE]\n\n", lead)
	return b.String()
}

// BenchmarkStreamLong is one answer of 2,000 chunks without a network.
func BenchmarkStreamLong(b *testing.B) {
	m := New(Config{Name: "mock", BaseURL: "http://model.test/v1", APIKey: channels.NewSecret("k"), HTTPClient: &http.Client{Transport: always(longStream())}})
	p := agent.Prompt{Model: "mock-1", Messages: []sessions.Message{{Role: sessions.User, Content: sessions.TextContent("hello")}}}
	b.ReportAllocs()
	for b.Loop() {
		for d, err := range m.Stream(b.Context(), p) {
			if err != nil {
				b.Fatal(err)
			}
			if d.Final != nil && len(d.Final.Content) != 3 {
				b.Fatal(len(d.Final.Content))
			}
		}
	}
}
