package configfile

import (
	"os"
	"path/filepath"
	"strings"
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

// A link that leads nowhere is neither used nor passed over, wherever it stands, and so is one for variables.
// source: POSIX.1-2024, symlink(7): a link may name a file that does not exist
func TestDanglingLinks(t *testing.T) {
	home, work := t.TempDir(), t.TempDir()
	t.Chdir(work)
	getenv := env("HOME", home)
	const gone = "gone\x1b[2J.yaml" // what would clear the terminal
	refused := func(what, flag string) {
		t.Helper()
		_, err := Find(flag, getenv)
		if want := what + `": the link leads to "gone\x1b[2J.yaml", which does not exist: create that file or remove the link, or name another file with --config FILE`; err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %v", what, err)
		}
	}
	link := func(path string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(gone, path); err != nil {
			t.Skip(err)
		}
	}
	link(filepath.Join(home, ".config", "parley", Name))
	refused(filepath.Join(home, ".config", "parley", Name), "")
	link(Name)
	refused(Name, "")
	link("other.yaml")
	refused("other.yaml", "other.yaml")
	link(EnvName)
	if _, err := ReadEnv(EnvName); err == nil || !strings.HasSuffix(err.Error(), "create that file or remove the link") {
		t.Errorf("variables: %v", err)
	}
}
