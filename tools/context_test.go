package tools

import (
	"strings"
	"testing"

	"parley/sessions"
)

// What was overheard is shown as what it is, a block of its own, redacted like all else, and never as what the sender wrote.
func TestOverheardTalkIsShownApart(t *testing.T) {
	t.Parallel()
	m := sessions.Message{Role: sessions.User, Content: append([]sessions.Block{sessions.NewContextBlock([]sessions.ContextLine{{Name: "Gustav", Text: "the key is hunter2"}})}, sessions.TextContent("Olga: hello")...)}
	s := shown{redact: func(t string) string { return strings.ReplaceAll(t, "hunter2", "[secret]") }, block: maxBlock}
	got := s.message(m)
	if len(got.Content) != 2 || got.Content[0].Type != sessions.ContextBlock || got.Text() != "Olga: hello" || !s.redacted {
		t.Errorf("%+v", got)
	}
	if lines := got.Content[0].ContextLines(); len(lines) != 1 || lines[0].Name != "Gustav" || lines[0].Text != "the key is [secret]" {
		t.Errorf("%+v", lines)
	}
	if n := note(m); strings.Contains(n.Text(), "Gustav") || !strings.Contains(n.Text(), "Olga: hello") {
		t.Errorf("%q", n.Text())
	}
}
