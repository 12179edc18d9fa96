package gateway

import (
	"os"
	"path/filepath"
	"testing"
)

// TestExportStaysInTheStateFolder writes files that only the host's user can read, and none outside.
func TestExportStaysInTheStateFolder(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	path, err := writeExport(state, "a.md", []byte("text"))
	if err != nil || path != filepath.Join(state, "exports", "a.md") {
		t.Fatalf("%q (%v)", path, err)
	}
	for p, mode := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): 0o700} {
		if info, err := os.Stat(p); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v (%v)", p, info.Mode(), err)
		}
	}
	for _, name := range []string{"../b.md", "/tmp/b.md", "x/../../b.md", ""} {
		if p, err := writeExport(state, name, []byte("text")); err == nil {
			t.Errorf("%q was written to %s", name, p)
		}
	}
	outside := t.TempDir()
	if err := os.RemoveAll(filepath.Join(state, "exports")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(state, "exports")); err != nil {
		t.Fatal(err)
	}
	if p, err := writeExport(state, "c.md", []byte("text")); err == nil {
		t.Errorf("through a link: %s", p)
	}
	if _, err := os.Stat(filepath.Join(outside, "c.md")); err == nil {
		t.Error("a file outside the state folder")
	}
}
