package configfile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// inFolder makes a folder with a configuration in it and goes there.
func inFolder(t *testing.T, name string) (folder string) {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	folder = filepath.Join(base, name)
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	writeAll(t, filepath.Join(folder, Name), "")
	t.Chdir(folder)
	return folder
}

func usersFolder(t *testing.T, getenv func(string) string) string {
	t.Helper()
	folder := filepath.Dir(usersFile(getenv))
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	return folder
}

func writeAll(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A ./config.yaml counts only where the user trusts the folder; whatever is written to it later needs no new trust.
// source: CVE-2022-24765 (git, safe.directory), CWE-427
func TestTrust(t *testing.T) {
	getenv := env("HOME", t.TempDir())
	folder := inFolder(t, "cloned")
	counts := func(want bool, when string) {
		t.Helper()
		path, err := Find("", getenv)
		if (err == nil) != want || want && path != Name {
			t.Errorf("%s: Find = %q, %v; want it to count: %v", when, path, err, want)
		}
	}
	counts(false, "a cloned folder")
	var u *Untrusted
	if _, err := Find("", getenv); !errors.As(err, &u) || u.Folder != folder || u.Never {
		t.Errorf("refused: %v", err)
	}
	writeAll(t, filepath.Join(usersFolder(t, getenv), Name), "") // of the user: it does not take the place of the one that lies here
	counts(false, "beside the user's own file")
	if path, err := Find("config.yaml", getenv); err != nil || path != "config.yaml" {
		t.Errorf("a file that is named: %q, %v", path, err)
	}
	if _, err := Trust(".", getenv); err != nil { // relative
		t.Fatal(err)
	}
	counts(true, "trusted")
	if err := os.Remove(Name); err != nil {
		t.Fatal(err)
	}
	writeAll(t, Name, "agents: {}\n")
	counts(true, "edited")
	link := folder + "-link"
	if err := os.Symlink(folder, link); err != nil {
		t.Skip(err)
	}
	t.Chdir(link)
	counts(true, "by a link to it")
	inner := filepath.Join(folder, "inner")
	if err := os.Mkdir(inner, 0o700); err != nil {
		t.Fatal(err)
	}
	writeAll(t, filepath.Join(inner, Name), "")
	t.Chdir(inner)
	counts(false, "a folder below it")
	moved := folder + "-moved"
	if err := os.Rename(folder, moved); err != nil {
		t.Fatal(err)
	}
	t.Chdir(moved)
	counts(false, "moved")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	writeAll(t, filepath.Join(folder, Name), "")
	t.Chdir(folder)
	counts(false, "another folder in its place")
	if _, err := Trust(folder, getenv); err != nil {
		t.Fatal(err)
	}
	counts(true, "trusted again")
	if list, err := Trusted(getenv); err != nil || len(list) != 1 || list[0].Path != folder {
		t.Errorf("%+v, %v", list, err)
	}
	if found, err := Distrust(".", getenv); !found || err != nil {
		t.Errorf("forget it: %v, %v", found, err)
	}
	counts(false, "forgotten")
	if found, err := Distrust(".", getenv); found || err != nil {
		t.Errorf("forget it twice: %v, %v", found, err)
	}
}

// A list that cannot be used makes no folder trusted; without a home folder there is none, and never one in the working folder.
func TestTrustList(t *testing.T) {
	home := t.TempDir()
	getenv := env("HOME", home)
	folder := inFolder(t, "x")
	if _, err := Trust(folder, getenv); err != nil {
		t.Fatal(err)
	}
	list := filepath.Join(home, ".config", "parley", trustName)
	if info, err := os.Stat(list); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("the list: %v, %v", info, err)
	}
	writeAll(t, list, "{")
	if path, err := Find("", getenv); err == nil {
		t.Errorf("a broken list: %s counts", path)
	}
	if _, err := Trust(folder, getenv); err == nil || !strings.Contains(err.Error(), list) {
		t.Errorf("a broken list is replaced: %v", err)
	}
	for _, home := range []string{"", ".", "here"} {
		if _, err := Trust(folder, env("HOME", home)); err == nil {
			t.Errorf("HOME=%q: it is trusted", home)
		}
		if path, err := Find("", env("HOME", home)); err == nil {
			t.Errorf("HOME=%q: %s counts", home, path)
		}
	}
}

// In the user's own folder ./config.yaml is the file that is taken anyway.
func TestTrustUsersFolder(t *testing.T) {
	home := t.TempDir()
	getenv := env("HOME", home)
	folder := usersFolder(t, getenv)
	writeAll(t, filepath.Join(folder, Name), "")
	t.Chdir(folder)
	if path, err := Find("", getenv); err != nil || path != filepath.Join(folder, Name) {
		t.Errorf("%q, %v", path, err)
	}
}
