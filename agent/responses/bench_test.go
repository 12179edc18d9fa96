package responses

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"parley/agent"
	"parley/agent/lessons"
	"parley/agent/modeltest"
	"parley/channels"
	"parley/sessions"
	"parley/tools"
)

func benchPrompt() agent.Prompt {
	p := agent.Prompt{Model: "mock-1", System: "You are a helpful agent in a chat.", Messages: []sessions.Message{user("hello")}}
	for i := range 20 {
		p.Messages = append(p.Messages,
			sessions.Message{Role: sessions.Assistant, Content: sessions.TextContent(fmt.Sprint("answer number ", i))},
			user("How is the weather in Berlin today?"))
	}
	for i := range 8 {
		p.Tools = append(p.Tools, tools.Spec{Name: fmt.Sprint("tool_", i), Description: "does something useful", Schema: json.RawMessage(
			`{"type":"object","properties":{"a":{"type":"string","description":"one"},"b":{"type":"integer"}},"required":["a"],"additionalProperties":false}`)})
	}
	return p
}

// BenchmarkStream is one short answer over loopback, the scripted server's own work included.
func BenchmarkStream(b *testing.B) {
	srv, err := modeltest.New()
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = srv.Close() })
	m := New(Config{Name: "mock", BaseURL: srv.URL() + "/v1", APIKey: channels.NewSecret("k")})
	p := benchPrompt()
	b.ReportAllocs()
	for b.Loop() {
		for _, err := range m.Stream(b.Context(), p) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}

// BenchmarkStream2000 is an answer of 2,000 pieces, without a server's work.
func BenchmarkStream2000(b *testing.B) {
	var s strings.Builder
	s.WriteString(`data: {"type":"response.output_item.added","output_index":0,"item":{"id":"msg_1","type":"message","role":"assistant","content":[]}}` + "\n\n")
	for i := range 2000 {
		fmt.Fprintf(&s, `data: {"type":"response.output_text.delta","sequence_number":%d,"item_id":"msg_0123456789abcdef0123456789abcdef","output_index":0,"content_index":0,"delta":" token","logprobs":[],"obfuscation":"0123456789"}`+"\n\n", i)
	}
	s.WriteString(events(completed()))
	body := s.String()
	m := New(Config{Name: "mock", HTTPClient: &http.Client{Transport: transport(func(*http.Request) string { return body })}})
	p := agent.Prompt{Model: "m", Messages: []sessions.Message{user("hi")}}
	b.ReportAllocs()
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		for _, err := range m.Stream(b.Context(), p) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}

// BenchmarkEncode is what a request costs before it is sent.
func BenchmarkEncode(b *testing.B) {
	m := New(Config{Name: "mock"})
	p := benchPrompt()
	at := lessons.Endpoint{Provider: "mock", Address: m.address, Model: p.Model}
	call := m.book.Call(at, "")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := m.encode(p, agent.ModelSettings{}, call, at); err != nil {
			b.Fatal(err)
		}
	}
}
