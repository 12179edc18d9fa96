package sqlstore

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

var (
	mirrorMillis = regexp.MustCompile(`"timestamp":(\d+)`)
	mirrorText   = regexp.MustCompile(`"timestamp":"`)
)

// A transcript's file has times in milliseconds. The files of an earlier version, with times as text, are written again at the start, also those whose
// sessions nobody writes to any more.
//
// proves: T3
func TestMirrorTimes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, Config{Dir: dir})
	var paths, want []string
	for n := 1; n <= 2; n++ {
		if err := life(t.Context(), s, n, 1, "question", "answer"); err != nil {
			t.Fatal(err)
		}
		key, _ := chat(n)
		at, err := s.Get(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, s.TranscriptPath("main", at.ID))
	}
	s.FlushTranscriptFiles()
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(mirrorMillis.FindAll(b, -1)); n != strings.Count(string(b), "\n") || mirrorText.Match(b) {
			t.Errorf("%d times in %s", n, b)
		}
		want = append(want, string(b))
		if err := os.WriteFile(path, mirrorMillis.ReplaceAll(b, []byte(`"timestamp":"2026-07-01T12:00:00.123456789Z"`)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, Config{Dir: dir})
	key, _ := chat(1)
	at, err := s.Get(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.RebuildTranscriptFile(t.Context(), at.ID); err != nil { // the writer does it behind what it does at its start
		t.Fatal(err)
	}
	for i, path := range paths {
		if b, err := os.ReadFile(path); err != nil || string(b) != want[i] {
			t.Errorf("%v, %s\nwant %s", err, b, want[i])
		}
	}
}
