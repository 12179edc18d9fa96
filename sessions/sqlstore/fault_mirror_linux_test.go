package sqlstore

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestFaultMirrorFull has no room for the transcripts' files, on a file system of their own: nothing waits for them and nothing fails.
// When there is room, the next message completes them, every line once.
func TestFaultMirrorFull(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	agents := filepath.Join(dir, "agents")
	if err := os.Mkdir(agents, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("tmpfs", agents, "tmpfs", 0, "size=16k"); err != nil {
		t.Skipf("a small file system cannot be mounted here: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(agents, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	s := open(t, Config{Dir: dir})
	const turns = 40
	for i := range turns {
		if err := life(t.Context(), s, 1, i, fmt.Sprintf("question %03d", i), someAnswer); err != nil {
			t.Fatal("a message failed with its copy: ", err)
		}
		s.FlushTranscriptFiles()
	}
	if err := s.Trouble(); err != nil {
		t.Error("the store itself is in no trouble: ", err)
	}
	path := filepath.Join(agents, "main", "sessions")
	files, err := os.ReadDir(path)
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	read := func() (lines []string) {
		b, err := os.ReadFile(filepath.Join(path, files[0].Name()))
		if err != nil {
			t.Fatal(err)
		}
		return strings.Split(string(b), "\n")
	}
	if n := len(read()); n > 2*turns {
		t.Fatalf("%d lines: there was room for all of them", n)
	}
	if err := unix.Mount("", agents, "", unix.MS_REMOUNT, "size=4m"); err != nil {
		t.Fatal(err)
	}
	if err := life(t.Context(), s, 1, turns, fmt.Sprintf("question %03d", turns), someAnswer); err != nil {
		t.Fatal(err)
	}
	s.FlushTranscriptFiles()
	text := strings.Join(read(), "\n")
	for i := range turns + 1 {
		if n := strings.Count(text, fmt.Sprintf(`question %03d`, i)); n != 1 {
			t.Errorf("question %d is there %d times", i, n)
		}
	}
	if n := strings.Count(text, `"type":"delivery"`); n != turns+1 {
		t.Errorf("%d ends of deliveries, not %d", n, turns+1)
	}
}
