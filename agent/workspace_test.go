package agent

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
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

// TestWorkspaceStaysInItsFolder reads nothing through links that lead out, and does not wait for pipes.
func TestWorkspaceStaysInItsFolder(t *testing.T) {
	t.Parallel()
	dir, outside := t.TempDir(), t.TempDir()
	if err := os.Symlink(put(t, outside, "secret", "canary"), filepath.Join(dir, "INSTRUCTIONS.md")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "PERSONA.md"), 0o600); err != nil {
		t.Fatal(err)
	}
	var w Workspaces
	for name, read := range map[string]func(string) (PromptFile, error){"link": w.Instructions, "pipe": w.Persona} {
		if f, err := read(dir); err == nil || f.Text != "" {
			t.Errorf("%s: %q (%v)", name, f.Text, err)
		}
	}
}

// TestWorkspaceFallsBack takes AGENTS.md where INSTRUCTIONS.md is no file that can be read, and says so once.
func TestWorkspaceFallsBack(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var w Workspaces
	put(t, dir, "AGENTS.md", "be brief")
	path := filepath.Join(dir, "INSTRUCTIONS.md")
	for _, in := range []func() error{
		func() error { return os.Mkdir(path, 0o700) },
		func() error { return syscall.Mkfifo(path, 0o600) },
		func() error { return os.Symlink("/etc/passwd", path) },
	} {
		if err := in(); err != nil {
			t.Fatal(err)
		}
		for i := range 3 {
			if f, err := w.Instructions(dir); f.Text != "be brief" || f.Name != "AGENTS.md" || (err != nil) != (i == 0) {
				t.Errorf("call %d: %+v (%v)", i, f, err)
			}
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if f, err := w.Instructions(dir); f.Text != "be brief" || err != nil {
			t.Errorf("nothing in its place: %+v (%v)", f, err)
		}
	}
}
