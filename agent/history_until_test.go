package agent

import (
	"strings"
	"testing"
	"time"

	"parley/sessions"
)

// TestPlainUntil: calls of older messages are told as text with their results, newer ones stay calls.
func TestPlainUntil(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	step := func(id string, when time.Time) []sessions.Message {
		return []sessions.Message{
			{Role: sessions.User, Time: when, Content: sessions.TextContent("go")},
			{Role: sessions.Assistant, Time: when, Content: []sessions.Block{{Type: sessions.ToolCallBlock, ID: id, Name: "look"}}},
			{Role: sessions.ToolResult, Time: when, ToolCallID: id, ToolName: "look", Content: sessions.TextContent("seen " + id)},
		}
	}
	var calls []string
	var texts strings.Builder
	for _, m := range Repair(append(step("old", at), step("new", at.Add(time.Second))...), Target{PlainUntil: at}) {
		for _, c := range m.ToolCalls() {
			calls = append(calls, c.ID)
		}
		texts.WriteString(m.Text())
	}
	if len(calls) != 1 || !strings.Contains(texts.String(), "I called the tool look") || !strings.Contains(texts.String(), "seen old") {
		t.Errorf("calls %q, texts %q", calls, texts.String())
	}
}
