//go:build unix

package agent

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

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
