package gateway

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
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
	for _, name := range []string{"../b.md", "/x/b.md", "x/../../b.md", ""} {
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

// TestExportsAreBounded keeps the newest exports, and what is none.
func TestExportsAreBounded(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	dir := filepath.Join(state, "exports")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	for i := range maxExports + 10 {
		name := filepath.Join(dir, fmt.Sprintf("%02d.md", i))
		if i == 1 {
			name += ".part" // of a crash
		}
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(name, now, now.Add(time.Duration(i)*time.Minute)); err != nil { // the clock was set back since
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "own.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	path, err := writeExport(state, "a.md", []byte("text"))
	if err != nil {
		t.Fatal(err)
	}
	all, err := os.ReadDir(dir)
	if err != nil || len(all) != maxExports+1 || all[0].Name() != "11.md" {
		t.Errorf("%d files, the first is %v (%v)", len(all), all[0], err)
	}
	for _, p := range []string{path, filepath.Join(dir, "own.txt")} {
		if _, err := os.Stat(p); err != nil {
			t.Error(err)
		}
	}
}
