package openai

import (
	"encoding/json"
	"fmt"
	"testing"

	"parley/agent"
	"parley/agent/lessons"
	"parley/agent/modeltest"
	"parley/channels"
	"parley/sessions"
	"parley/tools"
)

func benchPrompt() agent.Prompt {
	p := agent.Prompt{Model: "mock-1", System: "You are a helpful agent in a chat.", Messages: []sessions.Message{
		{Role: sessions.User, Content: sessions.TextContent("hello")},
	}}
	for i := range 20 {
		p.Messages = append(p.Messages,
			sessions.Message{Role: sessions.Assistant, Content: sessions.TextContent(fmt.Sprint("answer number ", i))},
			sessions.Message{Role: sessions.User, Content: sessions.TextContent("How is the weather in Berlin today?")})
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

// BenchmarkEncode is what a request costs before it is sent.
func BenchmarkEncode(b *testing.B) {
	m := New(Config{Name: "mock"})
	p := benchPrompt()
	b.ReportAllocs()
	for b.Loop() {
		at := lessons.Endpoint{Provider: "mock", Model: p.Model}
		r := request{m: m, p: p, at: at, call: m.book.Call(at, "")}
		if _, err := r.encode(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		New(Config{Name: "mock", APIKey: channels.NewSecret("k")})
	}
}
