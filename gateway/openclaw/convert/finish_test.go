package convert

import (
	"slices"
	"strings"
	"testing"

	"parley/gateway/openclaw/report"
)

// TestReferences: each variable counts, whatever stands before it; $${ is a text.
func TestReferences(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"${A}${B}": {"A", "B"}, "a: ${B}\nb: ${B}": {"B"}, "$${A}${B}": {"B"}, "x${A}x": {"A"}, "$${A}": nil, "${A:-x}": nil,
	} {
		if got := references([]byte(text)); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}

// TestUnknownWorkspace: the value of a variable is unknown, so nothing is said about the folder.
func TestUnknownWorkspace(t *testing.T) {
	t.Parallel()
	for dir, different := range map[string]bool{"${WORKSPACE}": false, "${HOME}/w": false, "$${x": true, "w/${A}": true} {
		c := agentConverter{output: &output{Report: &report.Report{}}}
		c.workspace("agents.defaults.workspace", dir, map[string]any{})
		if (len(c.Different) > 0) != different {
			t.Errorf("%s: %+v", dir, c.Different)
		}
	}
}

// TestWorkspaceOfAnotherMachine: a path of Windows is absolute everywhere.
func TestWorkspaceOfAnotherMachine(t *testing.T) {
	t.Parallel()
	for dir, word := range map[string]string{`C:\Users\u\.openclaw\workspace`: "this machine", "d:/w": "this machine", "/nowhere/w": "this machine", "w/x": "configuration file"} {
		c := agentConverter{output: &output{Report: &report.Report{}, getenv: func(string) string { return "" }}}
		if c.workspace("agents.defaults.workspace", dir, map[string]any{}); len(c.Different) != 1 || !strings.Contains(c.Different[0].Why, word) {
			t.Errorf("%s: %+v", dir, c.Different)
		}
	}
}
