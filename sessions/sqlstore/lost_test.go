package sqlstore

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"parley/sessions"
)

func TestLost(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		transcripts bool
		harm        func(file string) error
		refused     string
	}{
		{"missing", true, os.Remove, "missing"},
		{"empty", true, func(f string) error { return os.Truncate(f, 0) }, "empty"},
		{"missing, no transcripts", false, os.Remove, ""},
		{"empty, no transcripts", false, func(f string) error { return os.Truncate(f, 0) }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := filled(t, 2)
			file, agents := filepath.Join(dir, "parley.db"), filepath.Join(dir, "agents")
			if !c.transcripts {
				if err := os.RemoveAll(agents); err != nil {
					t.Fatal(err)
				}
			}
			if err := c.harm(file); err != nil {
				t.Fatal(err)
			}
			s, err := Open(t.Context(), Config{Dir: dir})
			if err == nil {
				_ = s.Close()
			}
			if c.refused == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			for _, want := range []string{file, c.refused, ".jsonl", "backup", "move the folder " + agents} {
				if !errors.Is(err, sessions.ErrDamaged) || !strings.Contains(err.Error(), want) {
					t.Fatalf("%q is not in: %v", want, err)
				}
			}
			if info, err := os.Stat(file); err == nil && info.Size() > 0 {
				t.Error("the database was touched")
			}
			// What the error says to do works.
			if err := os.Rename(agents, filepath.Join(dir, "old")); err != nil {
				t.Fatal(err)
			}
			open(t, Config{Dir: dir})
		})
	}
}
