package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What a run that was killed has left is removed by the next one; what one that is at work has, and what is nobody's, stays.
func TestLeftoversAreRemoved(t *testing.T) {
	t.Parallel()
	if !canLock {
		t.Skip("nobody knows here whether a run is at work")
	}
	below := t.TempDir()
	at := func(name string) string { return filepath.Join(below, scratchName+name) }
	for _, dir := range []string{at("left"), at("nobody's")} {
		if err := os.MkdirAll(filepath.Join(dir, "go-build1"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(at("left"), scratchLock), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	first, over, err := scratch(below)
	if err != nil {
		t.Fatal(err)
	}
	second, overToo, err := scratch(below)
	if err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]bool{at("left"): false, at("nobody's"): true, first: true, second: true} {
		if _, err := os.Stat(dir); (err == nil) != want {
			t.Errorf("%s: %v, want it there: %t", dir, err, want)
		}
	}
	over()
	overToo()
	if left, err := os.ReadDir(below); err != nil || len(left) != 1 {
		t.Errorf("%v, %v", left, err)
	}
}

// What is kept of a run is moved out of its folder, and nothing that is there is written over. Not parallel: it is about what all runs of a
// process share.
func TestKeptOutlives(t *testing.T) {
	defer func(in string) { keptIn = in }(keptIn)
	keptIn = t.TempDir()
	f, err := newRunFolder("", "kill")
	if err != nil {
		t.Fatal(err)
	}
	if !f.own || f.stay != filepath.Join(keptIn, filepath.Base(f.path)) {
		t.Errorf("%+v, to be kept in %s", f, keptIn)
	}
	t.Cleanup(func() { _ = os.RemoveAll(f.path) })
	makeDir := func() {
		if err := os.Mkdir(f.path, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.keep(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(f.stay); err != nil {
		t.Error(err)
	}
	if err := (runFolder{path: f.stay, own: true, stay: f.stay}).keep(); err != nil {
		t.Errorf("where it is: %v", err)
	}
	makeDir()
	if err := os.WriteFile(filepath.Join(f.stay, "result"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := f.keep(); err == nil {
		t.Error("something was written over")
	}
	if _, err := os.Stat(f.path); err != nil {
		t.Error(err)
	}
}

// A run takes an empty folder and no other; of one that somebody named it leaves its result, and nothing that it has made besides.
func TestRunFolder(t *testing.T) {
	t.Parallel()
	there := t.TempDir()
	for _, c := range []struct {
		dir          string
		result, left bool
	}{
		{filepath.Join(t.TempDir(), "made"), false, false},
		{filepath.Join(t.TempDir(), "made"), true, true},
		{there, false, true},
		{there, true, true},
	} {
		f, err := newRunFolder(c.dir, "kill")
		if f.path != c.dir || f.own || err != nil {
			t.Fatal(f, err)
		}
		if err := os.Mkdir(filepath.Join(c.dir, worldFolder), 0o700); err != nil {
			t.Fatal(err)
		}
		if c.result {
			if err := os.WriteFile(filepath.Join(c.dir, resultFile), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		f.leave()
		if left, err := os.ReadDir(c.dir); c.left != (err == nil) || c.result != (len(left) == 1 && left[0].Name() == resultFile) {
			t.Errorf("%+v: %v, %v", c, left, err)
		}
	}
	if _, err := newRunFolder(there, "kill"); err == nil || !strings.Contains(err.Error(), there) {
		t.Errorf("a folder with something in it: %v", err)
	}
	if _, err := newRunFolder(there+strings.Repeat("x", 100), "kill"); err == nil || !strings.Contains(err.Error(), "use a shorter one") {
		t.Errorf("a path that is too long: %v", err)
	}
}
