package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"parley/router/chain"
)

// docs/agents.md shows the rules by which a run hands on its work, and what people read of an end, as they are.
func TestGeneratedProtocol(t *testing.T) {
	t.Parallel()
	holdToAgentsDoc(t, "what follows on a run", chain.Markdown())
	holdToAgentsDoc(t, "what people read of an end", chain.OutcomesMarkdown())
}

// holdToAgentsDoc holds a table of docs/agents.md to what the program says.
func holdToAgentsDoc(t *testing.T, what, says string) {
	t.Helper()
	const end = "<!-- end -->"
	begin := "<!-- begin: " + what + " (generated) -->\n"
	path := filepath.Join("..", "..", "docs", "agents.md")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, began := strings.Cut(string(text), begin)
	table, tail, ended := strings.Cut(rest, end)
	if !began || !ended {
		t.Fatalf("docs/agents.md has no place for the table: a line %q, later a line %q", strings.TrimSpace(begin), end)
	}
	want := "\n" + says + "\n"
	if table == want {
		return
	}
	if !*update {
		t.Fatal("docs/agents.md has drifted; write it again with: go test ./cmd/parley -run Generated -update")
	}
	if err := os.WriteFile(path, []byte(head+begin+want+end+tail), 0o644); err != nil {
		t.Fatal(err)
	}
}
