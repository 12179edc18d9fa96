package mcp

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// asUser calls f as a user that rights bind: a test may be run as root.
func asUser(t *testing.T, folder string, f func()) {
	t.Helper()
	const nobody = 65534
	if os.Getuid() != 0 {
		f()
		return
	}
	for p := folder; p != os.TempDir() && p != "/"; p = filepath.Dir(p) {
		if err := os.Chmod(p, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chown(folder, nobody, -1); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // the thread ends with its rights
		if _, err := unix.SetfsuidRetUid(nobody); err != nil {
			t.Error(err)
			return
		}
		f()
	}()
	<-done
}

// The folder for temporary files is empty at each start, whatever a server leaves in it: folders without any rights, or without the right
// to write (Go's module cache), trees that are deeper than a path may be long, links, FIFOs. What links name stays.
// source: https://github.com/golang/go/issues/27161 (the module cache cannot be removed), path_resolution(7), chmod(2)
func TestTemporaryFolderIsEmptied(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	outside := filepath.Join(dir, "outside")
	asUser(t, dir, func() {
		must := func(errs ...error) {
			if err := errors.Join(errs...); err != nil {
				t.Error(err)
			}
		}
		tmp := filepath.Join(dir, "x.tmp")
		must(os.Mkdir(outside, 0o755), os.WriteFile(filepath.Join(outside, "kept"), nil, 0o600))
		must(os.MkdirAll(filepath.Join(tmp, "a", "b", "c"), 0o700), os.WriteFile(filepath.Join(tmp, "a", "file"), nil, 0), unix.Mkfifo(filepath.Join(tmp, "a", "fifo"), 0))
		must(os.Symlink(outside, filepath.Join(tmp, "link")), os.Symlink(outside, filepath.Join(tmp, "a", "link")))
		must(os.MkdirAll(filepath.Join(tmp, "cache", "module"), 0o700), os.WriteFile(filepath.Join(tmp, "cache", "module", "go.mod"), nil, 0o444))
		deep, err := os.OpenRoot(tmp)
		must(err)
		for range 100 { // 5,000 bytes
			name := strings.Repeat("d", 50)
			must(deep.Mkdir(name, 0o700))
			next, err := deep.OpenRoot(name)
			must(err, deep.Close())
			deep = next
		}
		must(deep.Close())
		must(os.Chmod(filepath.Join(tmp, "cache", "module"), 0o555), os.Chmod(filepath.Join(tmp, "cache"), 0o555))
		must(os.Chmod(filepath.Join(tmp, "a", "b", "c"), 0), os.Chmod(filepath.Join(tmp, "a", "b"), 0), os.Chmod(filepath.Join(tmp, "a"), 0), os.Chmod(tmp, 0))
		root, err := ownFolder(dir, "x.tmp")
		if err != nil {
			t.Error(err)
			return
		}
		must(empty(root), root.Close())
		if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
			t.Errorf("left are %v, %v", left, err)
		}
		if info, err := os.Stat(outside); err != nil || info.Mode().Perm() != 0o755 {
			t.Errorf("what a link names has the mode %v, %v", info.Mode(), err)
		}
		if _, err := os.Stat(filepath.Join(outside, "kept")); errors.Is(err, fs.ErrNotExist) {
			t.Error("a file outside went")
		}
	})
}

// A folder of a server is no link that something put in its place.
func TestOwnFolderIsNoLink(t *testing.T) {
	t.Parallel()
	dir, outside := t.TempDir(), t.TempDir()
	if err := os.Symlink(outside, filepath.Join(dir, "x")); err != nil {
		t.Fatal(err)
	}
	if root, err := ownFolder(dir, "x"); err == nil {
		t.Errorf("%s was opened", root.Name())
	}
}
