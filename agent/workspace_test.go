package agent

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func put(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestWorkspaceFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var w Workspaces
	want := func(instructions, persona string) {
		t.Helper()
		i, err := w.Instructions(dir)
		p, err2 := w.Persona(dir)
		if err != nil || err2 != nil || i.Text != instructions || p.Text != persona {
			t.Errorf("%q, %q, want %q, %q (%v, %v)", i.Text, p.Text, instructions, persona, err, err2)
		}
	}
	want("", "")
	put(t, dir, "AGENTS.md", "  fallback one\n")
	put(t, dir, "SOUL.md", "fallback two")
	want("fallback one", "fallback two")
	put(t, dir, "PERSONA.md", "kind\x00 \xff")
	path := put(t, dir, "INSTRUCTIONS.md", "be brief")
	want("be brief", "kind� �")

	put(t, dir, "INSTRUCTIONS.md", "be short") // the same size
	at := time.Now().Add(time.Hour)
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
	want("be short", "kind� �")
	put(t, dir, "INSTRUCTIONS.md", "be at length")
	if err := os.Chtimes(path, at, at); err != nil { // the same time
		t.Fatal(err)
	}
	want("be at length", "kind� �")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	want("fallback one", "kind� �")
}

func TestWorkspaceFilesAreBounded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var w Workspaces
	put(t, dir, "INSTRUCTIONS.md", "x"+strings.Repeat("é", 20_000))
	f, err := w.Instructions(dir)
	if err != nil || !f.Cut || len(f.Text) != maxPromptFile-1 || !strings.HasSuffix(f.Text, "é") || f.Size != 40_001 {
		t.Errorf("%d bytes of %d, cut %t (%v)", len(f.Text), f.Size, f.Cut, err)
	}
	put(t, dir, "PERSONA.md", strings.Repeat("x", maxPromptFile))
	if f, err = w.Persona(dir); err != nil || f.Cut || len(f.Text) != maxPromptFile {
		t.Errorf("%d bytes, cut %t (%v)", len(f.Text), f.Cut, err)
	}
}
