//go:build unix

package filesystem

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// What is no regular file is not waited for, and the error names it. A descriptor that a shell hands over may be a pipe.
// source: fifo(7), bash(1) "Process Substitution"
func TestOnlyRegularFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fifo, link, file := filepath.Join(dir, "fifo"), filepath.Join(dir, "link"), filepath.Join(dir, "file")
	if err := errors.Join(syscall.Mkfifo(fifo, 0o600), os.Symlink("file", link), os.WriteFile(file, []byte("text"), 0o600)); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for _, path := range []string{fifo, "/dev/zero"} {
		if _, err := Read(path); !errors.Is(err, ErrNotRegular) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := OpenIn(root, "fifo"); !errors.Is(err, ErrNotRegular) {
		t.Errorf("a FIFO in a folder: %v", err)
	}
	if _, err := KeyPair(file, fifo); !errors.Is(err, ErrNotRegular) {
		t.Errorf("a FIFO as key: %v", err)
	}
	for _, path := range []string{file, link} {
		if text, err := Read(path); err != nil || string(text) != "text" {
			t.Errorf("%s: %q, %v", path, text, err)
		}
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(w, "piped")
	_ = w.Close()
	defer r.Close()
	if _, err := os.Stat("/dev/fd"); err != nil {
		t.Skip("no /dev/fd here")
	}
	if text, err := Read("/dev/fd/" + fmt.Sprint(r.Fd())); err != nil || string(text) != "piped" {
		t.Errorf("a pipe: %q, %v", text, err)
	}
}
