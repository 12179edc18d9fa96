//go:build unix

package tools

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestFilesStayInside tries every way out of the workspace.
func TestFilesStayInside(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	if _, bad := d.do("write", "in.txt", "content", "inside"); bad != nil {
		t.Fatal(bad)
	}
	outer := filepath.Dir(d.w.workspace)
	if err := os.WriteFile(filepath.Join(outer, "token"), []byte("outside"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"link": filepath.Join(outer, "token"), "rel": "../token", "up": "..", "inner": "in.txt"} {
		if err := os.Symlink(to, filepath.Join(d.w.workspace, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(d.w.workspace, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"../token", "/etc/passwd", "a/../../token", "..", "link", "rel", "up/token", `..\token`, "up", "pipe", ".parley-x", "a\x00b", strings.Repeat("a/", 300) + "b"} {
		for _, action := range fileActions {
			if action == "list" && path == "pipe" || action == "delete" && (path == "link" || path == "rel" || path == "up" || path == "pipe") {
				continue // removing what stands inside is fine
			}
			if r, bad := d.do(action, path, "content", "x", "old", "outside", "new", "x"); bad == nil {
				t.Errorf("%s %q: %+v", action, path, r)
			}
		}
	}
	if got, err := os.ReadFile(filepath.Join(outer, "token")); err != nil || string(got) != "outside" {
		t.Errorf("%q, %v", got, err)
	}
	if all, err := os.ReadDir(outer); err != nil || len(all) != 2 {
		t.Errorf("%v, %v", all, err)
	}
	if r, bad := d.do("read", "inner"); bad != nil || r.Text != "inside" { // a link that stays inside
		t.Errorf("%+v, %+v", r, bad)
	}
	if _, bad := d.do("write", "inner", "content", "x"); bad == nil || d.content("in.txt") != "inside" {
		t.Errorf("written through a link: %+v", bad)
	}
}
