package config

import (
	"os"
	"path/filepath"
	"testing"
)

// The state folder is found in files with mistakes elsewhere; where the key itself is the mistake, nobody guesses.
func TestStateOf(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "config.yaml")
	getenv := func(name string) string { return map[string]string{"HOME": "/home/u", "S": "/env"}[name] }
	for text, want := range map[string]string{
		"state: /a\ngateway: {listne: x}\n":   "/a",
		"state: b # here\ngateway: {listen\n": filepath.Join(dir, "b"),
		"state: \"/a b\"\n\tx: 1\n":           "/a b",
		"state: ${S}\nnothing: 1\n":           "/env",
		"gateway: [\n":                        "/home/u/.local/state/parley",
		"stat: /a\n":                          "",
		"sate: /a\ngateway: [\n":              "",
		"state: ${NONE}\n":                    "",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, ok := StateOf(path, getenv); got != want || ok != (want != "") {
			t.Errorf("%q: %q, %t", text, got, ok)
		}
	}
	if _, ok := StateOf(filepath.Join(dir, "none"), getenv); ok {
		t.Error("a file that is not there has a state folder")
	}
}
