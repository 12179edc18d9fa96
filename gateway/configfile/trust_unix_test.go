//go:build unix

package configfile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
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
	again := func(do func() error) func() error { // what a link leads to belongs to the trust
		return func() error {
			err := do()
			_, err2 := Trust(folder, getenv)
			return errors.Join(err, err2)
		}
	}
	try("a folder that everybody can write", mode(folder, 0o777), mode(folder, 0o700))
	try("a file that everybody can write", mode(Name, 0o666), mode(Name, 0o600))
	try("variables that everybody can write", mode(EnvName, 0o666), mode(EnvName, 0o600))
	try("a link to a file that everybody can write", func() error {
		return errors.Join(os.Chmod(beside, 0o666), os.Remove(Name), os.Symlink(beside, Name))
	}, again(mode(beside, 0o600)))
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
	try("a folder that a link leads through", mode(links, 0o777), again(mode(links, 0o700)))
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

// What a folder's files lead to belongs to the trust and is named; a link that leads elsewhere, and one that an older parley trusted, is asked for
// again. A link to nothing and what is no regular file are errors, and are not trusted.
// source: CWE-59 (link following); fifo(7)
func TestTrustLinks(t *testing.T) {
	for _, name := range []string{Name, EnvName} {
		t.Run(name, func(t *testing.T) {
			getenv := env("HOME", t.TempDir())
			folder := inFolder(t, "linked")
			outside := filepath.Dir(folder)
			for _, to := range []string{"a.yaml", "b.yaml"} {
				writeAll(t, filepath.Join(outside, to), "")
			}
			put := func(do func() error) {
				t.Helper()
				if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
					t.Fatal(err)
				}
				if err := do(); err != nil {
					t.Fatal(err)
				}
			}
			asked := func(links string) {
				t.Helper()
				var u *Untrusted
				if _, err := Find("", getenv); !errors.As(err, &u) || u.Never || !strings.Contains(u.Links, links) {
					t.Errorf("Find: %v, %+v; want a question that names %q", err, u, links)
				}
				if f, err := Trust(".", getenv); err != nil || !strings.Contains(f.Links(), links) {
					t.Errorf("Trust: %v, %v", f, err)
				}
				if path, err := Find("", getenv); err != nil || path != Name {
					t.Errorf("trusted: %q, %v", path, err)
				}
			}
			put(func() error { return os.Symlink("../a.yaml", name) })
			asked(filepath.Join(outside, "a.yaml"))
			put(func() error { return os.Symlink("../b.yaml", name) })
			asked(filepath.Join(outside, "b.yaml"))
			put(func() error { return os.Symlink("inside", name) })
			writeAll(t, "inside", "")
			asked(filepath.Join(folder, "inside"))
			if err := changeTrusted(getenv, func(l []TrustedFolder) []TrustedFolder { l[0].Config, l[0].Env = "", ""; return l }); err != nil {
				t.Fatal(err)
			}
			asked(filepath.Join(folder, "inside"))
			for what, do := range map[string]func() error{
				"a link to nothing": func() error { return os.Symlink("nothing", name) },
				"a FIFO":            func() error { return syscall.Mkfifo(name, 0o600) },
				"a link to a FIFO":  func() error { return errors.Join(syscall.Mkfifo("fifo", 0o600), os.Symlink("fifo", name)) },
				"a device":          func() error { return os.Symlink("/dev/null", name) },
				"a folder":          func() error { return os.Mkdir(name, 0o700) },
			} {
				put(do)
				if f, err := Trust(".", getenv); err == nil || !strings.Contains(err.Error(), name) {
					t.Errorf("%s is trusted: %v, %v", what, f, err)
				}
				if _, err := Find("", getenv); err == nil || !strings.Contains(err.Error(), name) {
					t.Errorf("%s counts: %v", what, err)
				}
			}
		})
	}
}
