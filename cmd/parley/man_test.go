package main

import (
	"os"
	"path/filepath"
	"testing"
)

// The manual page in docs is what this program's command line says.
func TestGeneratedManual(t *testing.T) {
	t.Parallel()
	path := filepath.Join("..", "..", "docs", "parley.1")
	want := manPage(grammar(&cli{}).Model)
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Error("docs/parley.1 has drifted; write it again with: go test ./cmd/parley -run Generated -update")
	}
}
