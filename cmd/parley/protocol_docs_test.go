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
	holdToDoc(t, "agents.md", "what follows on a run", chain.Markdown())
	holdToDoc(t, "agents.md", "what people read of an end", chain.OutcomesMarkdown())
}

// holdToDoc holds a generated table of a file in docs to what the program says.
func holdToDoc(t *testing.T, file, what, says string) {
	t.Helper()
	const end = "<!-- end -->"
	begin := "<!-- begin: " + what + " (generated) -->\n"
	path := filepath.Join("..", "..", "docs", file)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, began := strings.Cut(string(text), begin)
	table, tail, ended := strings.Cut(rest, end)
	if !began || !ended {
		t.Fatalf("docs/%s has no place for the table: a line %q, later a line %q", file, strings.TrimSpace(begin), end)
	}
	want := "\n" + says + "\n"
	if table == want {
		return
	}
	if !*update {
		t.Fatalf("docs/%s has drifted; write it again with: go test ./cmd/parley -run Generated -update", file)
	}
	if err := os.WriteFile(path, []byte(head+begin+want+end+tail), 0o644); err != nil {
		t.Fatal(err)
	}
}
