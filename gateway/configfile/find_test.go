package configfile

import (
	"os"
	"path/filepath"
	"testing"
)

func env(pairs ...string) func(string) string {
	m := map[string]string{"HOME": "/home/u"}
	for i := 0; i+1 < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return func(k string) string { return m[k] }
}

func TestFind(t *testing.T) {
	home, work := t.TempDir(), t.TempDir()
	t.Chdir(work)
	inHome := filepath.Join(home, ".config", "parley", "config.yaml")
	getenv := env("HOME", home)
	check := func(flag string, getenv func(string) string, want string) {
		t.Helper()
		if got, err := Find(flag, getenv); got != want || err != nil {
			t.Errorf("Find = %q, %v; want %q", got, err, want)
		}
	}
	check("", getenv, "")
	if err := os.MkdirAll(filepath.Dir(inHome), 0o700); err != nil {
		t.Fatal(err)
	}
	writeAll(t, inHome, "")
	check("", getenv, inHome)
	writeAll(t, "config.yaml", "")
	if _, err := Trust(work, getenv); err != nil {
		t.Fatal(err)
	}
	check("", getenv, "config.yaml")
	check("", env("HOME", home, "PARLEY_CONFIG", "~/gone.yaml"), filepath.Join(home, "gone.yaml"))
	check("flag.yaml", env("HOME", home, "PARLEY_CONFIG", "/gone.yaml"), "flag.yaml")
}
