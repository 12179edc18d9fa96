//go:build unix

package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"parley/gateway/configfile"
)

// A FIFO in the place of the configuration or of its variables is refused by name, and not waited for.
// source: fifo(7)
func TestFIFOAsConfiguration(t *testing.T) {
	t.Parallel()
	for _, name := range []string{configfile.Name, configfile.EnvName} {
		dir := t.TempDir()
		if err := errors.Join(syscall.Mkfifo(filepath.Join(dir, name), 0o600)); err != nil {
			t.Fatal(err)
		}
		if name == configfile.EnvName {
			if err := os.WriteFile(filepath.Join(dir, configfile.Name), []byte("state: s\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := configfile.ReadEnv(filepath.Join(dir, configfile.EnvName)); err == nil {
				t.Error("a FIFO was read")
			}
			if got := configfile.WithEnvFile(filepath.Join(dir, configfile.Name), func(string) string { return "" })("X"); got != "" {
				t.Errorf("a FIFO gives %q", got)
			}
			continue
		}
		_, ps, err := Load(filepath.Join(dir, name), table(), env())
		if err == nil || len(ps) != 1 || !strings.Contains(ps[0].String(), name) || !strings.Contains(ps[0].String(), "regular file") {
			t.Errorf("%s: %v, %v", name, ps, err)
		}
	}
}
