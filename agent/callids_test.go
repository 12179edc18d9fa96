package agent

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"testing"

	"parley/sessions"
)

// TestIDForm: ids of calls are made in any form that a refusal names.
// source: langchain-ai/langchain (String should match pattern), docs.pydantic.dev/latest/errors/validation_errors (string_pattern_mismatch)
func TestIDForm(t *testing.T) {
	t.Parallel()
	for expr, short := range map[string]bool{
		`^call_[a-zA-Z0-9]{24}$`:    false,
		`^[a-zA-Z0-9_-]+$`:          true,
		`^[a-zA-Z0-9]{9}$`:          true,
		`^toolu_[A-Za-z0-9]+$`:      false,
		`^(call|fc)_[0-9a-f]{8,32}`: false,
		`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`: false,
		`^call_\w{1,40}$`:         false,
		`^.{1,64}$`:               true,
		`^chatcmpl-tool-[\da-f]+`: false,
	} {
		f, err := ParseIDForm(expr)
		if err != nil {
			t.Errorf("%s: %v", expr, err)
			continue
		}
		if got := f.TakesShort(); got != short {
			t.Errorf("%s takes short ids: %v", expr, got)
		}
		if id := f.Make("other", 0); !f.Takes(id) || id != f.Make("other", 0) || id == f.Make("another", 0) {
			t.Errorf("%s: %s", expr, id)
		}
	}
	for _, expr := range []string{`^call$`, `^call_[a-z]{100}$`, `(`, `^[0-9]$`, `^\s+$`, ``, `^(?=x)y$`} {
		if _, err := ParseIDForm(expr); err == nil {
			t.Errorf("%q is taken", expr)
		}
	}
}

// TestRepairMapsIDs: call and result have the same id in the form that is asked for; one that has it stays.
func TestRepairMapsIDs(t *testing.T) {
	t.Parallel()
	form, err := ParseIDForm(`^call_[a-zA-Z0-9]{24}$`)
	if err != nil {
		t.Fatal(err)
	}
	const sound = "call_abcdefghijklmnopqrstuvwx"
	step := func(id string) []sessions.Message {
		return []sessions.Message{{Role: sessions.Assistant, Model: "p/m", Content: []sessions.Block{callBlock(id, "look", `{}`)}}, {Role: sessions.ToolResult, ToolCallID: id, ToolName: "look", Content: sessions.TextContent("seen")}}
	}
	in := append(append([]sessions.Message{user("go")}, step("functions.look:0")...), step(sound)...)
	for _, label := range []string{"p/m", "p/other", "p/kimi-k2"} {
		got := Repair(in, Target{Label: label, IDs: form})
		first, second := got[1].Content[0].ID, got[3].Content[0].ID
		if !form.Takes(first) || first != got[2].ToolCallID || second != sound || second != got[4].ToolCallID {
			t.Errorf("%s: %s", label, shapes(got))
		}
	}
}

// TestFormWithFewIDs: a form that has fewer ids than a history has calls is not taken, and would not keep the history from being sent.
func TestFormWithFewIDs(t *testing.T) {
	t.Parallel()
	if _, err := ParseIDForm(`^call_[0-9]{1,3}$`); err == nil {
		t.Error("a form of a thousand ids is taken")
	}
	tree, err := syntax.Parse(`^c[0-9]$`, syntax.Perl)
	if err != nil {
		t.Fatal(err)
	}
	msgs := []sessions.Message{user("go")}
	for i := range 30 {
		id := fmt.Sprint("other", i)
		msgs = append(msgs, sessions.Message{Role: sessions.Assistant, Content: []sessions.Block{callBlock(id, "look", `{}`)}},
			sessions.Message{Role: sessions.ToolResult, ToolCallID: id, ToolName: "look", Content: sessions.TextContent("seen")})
	}
	seen := make(map[string]bool)
	for _, m := range Repair(msgs, Target{IDs: &IDForm{regexp.MustCompile(`^c[0-9]$`), tree}}) {
		if m.Role == sessions.ToolResult {
			seen[m.ToolCallID] = true
		}
	}
	if len(seen) != 30 {
		t.Errorf("%d ids", len(seen))
	}
}
