package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"parley/agent/modeltest/endpoints"
)

// docs/models.md shows the table of endpoint behaviours as it is.
func TestGeneratedEndpoints(t *testing.T) {
	t.Parallel()
	const begin, end = "<!-- begin: endpoint behaviours (generated) -->\n", "<!-- end -->"
	path := filepath.Join("..", "..", "docs", "models.md")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, began := strings.Cut(string(text), begin)
	table, tail, ended := strings.Cut(rest, end)
	if !began || !ended {
		t.Fatalf("docs/models.md has no place for the table: a line %q, later a line %q", strings.TrimSpace(begin), end)
	}
	want := "\n" + endpoints.Markdown() + "\n"
	if table == want {
		return
	}
	if !*update {
		t.Fatal("docs/models.md has drifted; write it again with: go test ./cmd/parley -run Generated -update")
	}
	if err := os.WriteFile(path, []byte(head+begin+want+end+tail), 0o644); err != nil {
		t.Fatal(err)
	}
}
