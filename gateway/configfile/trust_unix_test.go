//go:build unix

package configfile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Where another user can write the folder, the file, what it links to or the variables beside it, trust does not help.
func TestTrustOthers(t *testing.T) {
	getenv := env("HOME", t.TempDir())
	folder := inFolder(t, "shared")
	if _, err := Trust(folder, getenv); err != nil {
		t.Fatal(err)
	}
	beside := filepath.Join(t.TempDir(), "beside.yaml")
	writeAll(t, beside, "")
	writeAll(t, EnvName, "")
	try := func(what string, do, undo func() error) {
		t.Helper()
		if err := do(); err != nil {
			t.Fatal(err)
		}
		var u *Untrusted
		if path, err := Find("", getenv); !errors.As(err, &u) || !u.Never {
			t.Errorf("%s: %q, %v", what, path, err)
		}
		if _, err := Trust(folder, getenv); !errors.As(err, new(*Untrusted)) {
			t.Errorf("%s: it can be trusted: %v", what, err)
		}
		if err := undo(); err != nil {
			t.Fatal(err)
		}
		if path, err := Find("", getenv); err != nil || path != Name {
			t.Errorf("%s: it does not count again: %q, %v", what, path, err)
		}
	}
	mode := func(path string, m os.FileMode) func() error { return func() error { return os.Chmod(path, m) } }
	try("a folder that everybody can write", mode(folder, 0o777), mode(folder, 0o700))
	try("a file that everybody can write", mode(Name, 0o666), mode(Name, 0o600))
	try("variables that everybody can write", mode(EnvName, 0o666), mode(EnvName, 0o600))
	try("a link to a file that everybody can write", func() error {
		return errors.Join(os.Chmod(beside, 0o666), os.Remove(Name), os.Symlink(beside, Name))
	}, mode(beside, 0o600))
	if err := os.Remove(Name); err != nil {
		t.Fatal(err)
	}
	writeAll(t, Name, "")
	hard := filepath.Join(filepath.Dir(folder), "hard")
	if err := os.Link(Name, hard); err != nil {
		t.Fatal(err)
	}
	try("another name of the file, by which everybody can write it", mode(hard, 0o666), mode(hard, 0o600))
	parent := filepath.Dir(folder)
	try("a folder above in which everybody renames", mode(parent, 0o777), mode(parent, 0o777|os.ModeSticky))
	links := t.TempDir()
	if err := errors.Join(os.Rename(Name, filepath.Join(links, "real")), os.Symlink(links, "way"), os.Symlink("way/real", Name)); err != nil {
		t.Fatal(err)
	}
	try("a folder that a link leads through", mode(links, 0o777), mode(links, 0o700))
	if os.Geteuid() != 0 {
		t.Log("not root: files of other users and groups are not tried")
		return
	}
	own := func(path string, uid, gid int) func() error { return func() error { return os.Lchown(path, uid, gid) } }
	for _, path := range []string{parent, folder, links, Name, "way", filepath.Join(links, "real"), EnvName} {
		try(path+" of another user", own(path, 12345, -1), own(path, 0, -1))
	}
	for path, was := range map[string]os.FileMode{parent: 0o700, folder: 0o700, links: 0o700, filepath.Join(links, "real"): 0o600, EnvName: 0o600} {
		try(path+" that a group can write", func() error { return errors.Join(own(path, -1, 12345)(), os.Chmod(path, was|0o070)) }, mode(path, was))
	}
}

// The mode of a file or folder counts by whether the way to the configuration goes on from it: in a folder with the sticky bit nobody renames
// what is not theirs, but everybody makes a file that is not there yet.
// source: inode(7), "the sticky bit"; rename(2), EPERM
func TestTrustNode(t *testing.T) {
	t.Parallel()
	const user = 1000
	tests := map[string]struct {
		n    node
		want string
	}{
		"own":                          {node{mode: 0o644, owner: user}, ""},
		"of root":                      {node{mode: 0o644}, ""},
		"of another":                   {node{mode: 0o600, owner: 7}, "another user"},
		"link of another":              {node{mode: os.ModeSymlink | 0o777, owner: 7}, "another user"},
		"own link":                     {node{mode: os.ModeSymlink | 0o777, owner: user, shared: true}, ""},
		"everybody writes it":          {node{mode: 0o646, owner: user}, "every user"},
		"a group writes it":            {node{mode: 0o664, owner: user, shared: true}, "a group"},
		"the user's own group":         {node{mode: 0o664, owner: user}, ""},
		"folder above":                 {node{mode: os.ModeDir | 0o755, passed: true}, ""},
		"folder above, of another":     {node{mode: os.ModeDir | 0o755, owner: 7, passed: true}, "another user"},
		"folder above, for everybody":  {node{mode: os.ModeDir | 0o777, passed: true}, "every user"},
		"folder above, for a group":    {node{mode: os.ModeDir | 0o775, shared: true, passed: true}, "a group"},
		"/tmp above":                   {node{mode: os.ModeDir | os.ModeSticky | 0o777, shared: true, passed: true}, ""},
		"/tmp above, of another":       {node{mode: os.ModeDir | os.ModeSticky | 0o777, owner: 7, passed: true}, "another user"},
		"/tmp itself":                  {node{mode: os.ModeDir | os.ModeSticky | 0o777}, "every user"},
		"a group's sticky folder":      {node{mode: os.ModeDir | os.ModeSticky | 0o770, owner: user, shared: true}, "a group"},
		"a group's sticky one, passed": {node{mode: os.ModeDir | os.ModeSticky | 0o770, owner: user, shared: true, passed: true}, ""},
	}
	for name, tt := range tests {
		if got := tt.n.foreign(user); tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}
