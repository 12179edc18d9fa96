package offline

import (
	"fmt"
	"strings"
	"testing"

	"parley/agent"
	"parley/sessions"
)

// The host's request for a summary is no phrase to be understood: the newest lines stand for the older part.
func TestSummaryWithoutAModel(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("The lines:\n\n")
	for i := range 100 {
		fmt.Fprintf(&b, "user: \"remember line %d %s\"\n", i, strings.Repeat("x", 500))
	}
	p := agent.Prompt{Messages: []sessions.Message{{Role: sessions.User, Content: sessions.TextContent(b.String()),
		Provenance: &sessions.Provenance{Kind: sessions.InternalSystem, Tool: agent.SummaryRequest}}}}
	var got string
	for d, err := range New().Stream(t.Context(), p) {
		if err != nil {
			t.Fatal(err)
		}
		if d.Final != nil {
			got = d.Final.Content[0].Text
		}
	}
	if n := strings.Count(got, "\n"); n != summaryLines || !strings.Contains(got, "line 99 ") || strings.Contains(got, "line 5 ") || len(got) > 10_000 {
		t.Errorf("%d lines, %d bytes: %.300q", n, len(got), got)
	}
}
