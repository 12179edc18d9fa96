package backup

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"parley/gateway/filesystem"
)

// asUser calls f as a user that rights bind, who owns a folder: a test may be run as root.
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
	if err := filepath.WalkDir(folder, func(path string, _ os.DirEntry, err error) error {
		return errors.Join(err, os.Lchown(path, nobody, -1))
	}); err != nil {
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

// What an MCP server leaves in its folder breaks no backup: what cannot be read or restored is left out and named, and what it has for
// the moment is not looked at. source: path_resolution(7), mkfifo(3), openat(2)
func TestHostileFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"workspace/main/MEMORY.md": "kept", "mcp/a.sandbox/good": "kept", "mcp/a.sandbox/secret": "x", "mcp/a.sandbox/x0/file": "x", "mcp/a.sandbox/listed/file": "x",
		"mcp/a.sandbox.tmp/file": "x", "mcp/a.sandbox.tmp/b/c": "x", "mcp/a.sandbox/back\\slash": "x", "mcp/a.sandbox/\xff": "x", "mcp/a.sandbox/new\nline": "x",
		"mcp/a.sandbox/" + strings.Repeat("d/", 200) + "file": "x", "mcp/a.sandbox/sparse": "",
	})
	at := func(name string) string { return filepath.Join(dir, "mcp", "a.sandbox", name) }
	if err := errors.Join(unix.Mkfifo(at("fifo"), 0o600), os.Symlink("/etc", at("link")), os.Truncate(at("sparse"), 1<<40),
		os.Chmod(filepath.Join(dir, "mcp", "a.sandbox.tmp", "b"), 0), os.Chmod(at("secret"), 0), os.Chmod(at("x0"), 0), os.Chmod(at("listed"), 0o400)); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	var m Manifest
	asUser(t, dir, func() {
		var err error
		if m, err = Write(t.Context(), &b, Source{State: dir}); err != nil {
			t.Error(err)
		}
	})
	if want := []string{"state/mcp/a.sandbox/good", "state/workspace/main/MEMORY.md"}; !slices.Equal(names(m), want) {
		t.Errorf("in it are %q, want %q", names(m), want)
	}
	slices.Sort(m.Left)
	for i, want := range []string{`"mcp/a.sandbox/\xff": a restore does not`, `"mcp/a.sandbox/new\nline": a restore does not`, "mcp/a.sandbox/back\\slash: a restore does not", "mcp/a.sandbox/d/", "mcp/a.sandbox/fifo: not a regular", "mcp/a.sandbox/link: not a regular",
		"mcp/a.sandbox/listed: unreadable", "mcp/a.sandbox/secret: unreadable", "mcp/a.sandbox/sparse: larger than 2048 MiB", "mcp/a.sandbox/x0: unreadable"} {
		if len(m.Left) != 10 || !strings.HasPrefix(m.Left[i], want) {
			t.Fatalf("left out are %q, want %q as the one with the number %d", m.Left, want, i)
		}
	}
	if _, err := Restore(t.Context(), bytes.NewReader(b.Bytes()), Options{State: filepath.Join(t.TempDir(), "into"), Server: true, Now: time.Now()}); err != nil {
		t.Error(err)
	}
}

// A link that takes the place of a folder or a file after it was looked at is not followed.
// source: CWE-367
func TestLinkTakesAPlace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{"secret/file": "secret", "own/folder/file": "own"})
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	info, err := root.Lstat("own/folder")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.RemoveAll(filepath.Join(dir, "own", "folder")), os.Symlink("../secret", filepath.Join(dir, "own", "folder")), os.Symlink("secret/file", filepath.Join(dir, "file"))); err != nil {
		t.Fatal(err)
	}
	if list, _, err := enter(root, info, "own/folder"); err == nil {
		t.Errorf("a link was entered: %q", list)
	}
	if _, err := openPlain(root, "file"); !errors.Is(err, filesystem.ErrNotRegular) {
		t.Errorf("a link was opened: %v", err)
	}
}

// However much is left out, the manifest stays readable.
func TestManyLeftOut(t *testing.T) {
	t.Parallel()
	x := &writer{}
	for i := range 3 * maxLeft {
		x.leave(strings.Repeat("n", 5000)+string(rune('a'+i%26)), "not a regular file")
		x.leave(strings.Repeat("x", i%300)+string(rune('a'+i/300)), "not a regular file")
	}
	if len(x.m.Left) != maxLeft || x.more == 0 || len(strings.Join(x.m.Left, "")) > 400*maxLeft {
		t.Errorf("%d are named, %d more", len(x.m.Left), x.more)
	}
}

func TestFailureBehindAnArchive(t *testing.T) {
	t.Parallel()
	var end Tail
	for range 3 {
		_, _ = end.Write(bytes.Repeat([]byte("x"), 5000))
	}
	if end.Failure() != "" {
		t.Errorf("a failure out of nothing: %q", end.Failure())
	}
	for _, c := range Failure(errors.New("looking into x: input/output error")) {
		_, _ = end.Write([]byte{c})
	}
	if got := end.Failure(); got != "looking into x: input/output error" {
		t.Errorf("the failure is %q", got)
	}
}
