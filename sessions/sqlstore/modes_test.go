//go:build unix

package sqlstore

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// The database and what lies beside it is the owner's alone, whatever the modes were before.
func TestModes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	names := []string{"parley.db", "parley.db-wal", "parley.db-shm", CommitsFile, SumsFile, "owner.lock"}
	check := func() {
		t.Helper()
		for _, name := range names {
			if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%s: %v %v", name, info.Mode(), err)
			}
		}
	}
	n := 0
	use := func() {
		t.Helper()
		s := open(t, Config{Dir: dir})
		if err := life(t.Context(), s, 1, n, "q", "a"); err != nil {
			t.Fatal(err)
		}
		n++
		check()
		// A crash leaves all of them.
		copies := map[string][]byte{}
		for _, name := range names {
			b, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			copies[name] = b
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		for name, b := range copies {
			if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	use()
	for _, mode := range []fs.FileMode{0o644, 0o660} {
		for _, name := range names {
			if err := os.Chmod(filepath.Join(dir, name), mode); err != nil {
				t.Fatal(err)
			}
		}
		s := open(t, Config{Dir: dir})
		check()
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		use()
	}
}
