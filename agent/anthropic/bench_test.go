package anthropic

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"testing"

	"parley/agent"
	"parley/channels"
	"parley/sessions"
)

// canned answers every request with the same bytes: what is measured is the provider, not a server.
type canned []byte

func (c canned) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{
		Status: "200 OK", StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(bytes.NewReader(c)),
	}, nil
}

// longStream is an answer of so many pieces of text.
func longStream(pieces int) canned {
	var b bytes.Buffer
	b.WriteString("event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"m\"," +
		"\"content\":[],\"stop_reason\":null,\"usage\":{\"input_tokens\":25,\"output_tokens\":1}}}\n\n" +
		"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\nevent: ping\ndata: {\"type\": \"ping\"}\n\n")
	for i := range pieces {
		fmt.Fprintf(&b, "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\" word %d\"}}\n\n", i)
	}
	b.WriteString("event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n" +
		"event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":2000}}\n\n" +
		"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n")
	return b.Bytes()
}

// BenchmarkStreamLong reads an answer of 2,000 pieces.
func BenchmarkStreamLong(b *testing.B) {
	m := New(Config{Name: "mock", BaseURL: "http://canned.test", APIKey: channels.NewSecret("k"), HTTPClient: &http.Client{Transport: longStream(2000)}})
	p := agent.Prompt{Model: "m", System: "be kind", Messages: []sessions.Message{{Role: sessions.User, Content: sessions.TextContent("hi")}}}
	b.ReportAllocs()
	for b.Loop() {
		for d, err := range m.Stream(b.Context(), p) {
			if err != nil {
				b.Fatal(err)
			}
			if d.Final != nil && len(d.Final.Content) != 1 {
				b.Fatal(d.Final)
			}
		}
	}
}
