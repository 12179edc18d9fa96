package turn

import (
	"testing"

	"parley/sessions"
)

// What a turn said beside a tool call before it failed is what it had; without words the newest result is.
// source: openclaw/openclaw#33827
// proves: N17
func TestPartial(t *testing.T) {
	t.Parallel()
	say := func(role sessions.Role, text string) sessions.Message {
		return sessions.Message{Role: role, Content: sessions.TextContent(text)}
	}
	steps := []sessions.Message{say(sessions.Assistant, "Found 3 modules. Now reading them."), say(sessions.ToolResult, "a"), say(sessions.Assistant, "NO_REPLY"), say(sessions.ToolResult, "b")}
	if out := partial(steps); out.Text != "Found 3 modules. Now reading them." || out.Newest != "b" {
		t.Errorf("%+v", out)
	}
	if out := partial(steps[1:2]); out.Text != "" || out.Newest != "a" {
		t.Errorf("%+v", out)
	}
}
