package main

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/architecture.svg instead of comparing it")

// The picture in the documents is the one of the source tree.
func TestArchitectureIsDrawn(t *testing.T) {
	t.Parallel()
	g, err := read(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	want, err := draw(g)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join("..", "..", "docs", "architecture.svg")
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil { //nolint:gosec // it is published
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(file)
	if err != nil || string(got) != want {
		t.Errorf("%s has drifted (%v); draw it again with: go test ./cmd/architecture -update", file, err)
	}
}

// Packages stand right of what they import; a line that others imply is not drawn; helpers of tests are left out.
func TestLevels(t *testing.T) {
	t.Parallel()
	root := tree(t, map[string]string{
		"channels/a.go":               "// Package channels is first. More.\npackage channels",
		"channels/x/x.go":             "package x\nimport _ \"parley/channels\"",
		"channels/x/xtest/help.go":    "package xtest\nimport _ \"parley/channels/x\"",
		"router/a/a.go":               "package a",
		"router/b/b.go":               "package b\nimport (_ \"parley/router/a\"; _ \"parley/channels\")",
		"router/c/c_windows.go":       "package c\nimport (_ \"parley/router/a\"; _ \"parley/router/b\"; _ \"fmt\")",
		"router/c/c_test.go":          "package c\nimport _ \"parley/cmd\"",
		"router/testdata/broken/b.go": "no Go",
	})
	g, err := read(root)
	if err != nil {
		t.Fatal(err)
	}
	a, b, c := g["router/a"], g["router/b"], g["router/c"]
	if g.level(a) != 0 || g.level(b) != 1 || g.level(c) != 2 || !g.reaches(c, a) || g.reaches(c, b) {
		t.Errorf("levels %d %d %d", g.level(a), g.level(b), g.level(c))
	}
	if !slices.Equal(b.imports, []string{"channels", "router/a"}) || g["channels"].sentence != "Package channels is first." || len(g) != 5 {
		t.Errorf("%+v, %+v, %d packages", b, g["channels"], len(g))
	}
}

// A package that imports from its right has no picture.
func TestImportToTheRight(t *testing.T) {
	t.Parallel()
	root := tree(t, map[string]string{"channels/a.go": "package channels\nimport _ \"parley/router\"", "router/r.go": "package router"})
	if _, err := read(root); err == nil || !strings.Contains(err.Error(), "channels imports router, which is to its right") {
		t.Error(err)
	}
}

// tree makes a source tree with every folder of the line.
func tree(t *testing.T, files map[string]string) (root string) {
	t.Helper()
	root = t.TempDir()
	for _, top := range line {
		if err := os.MkdirAll(filepath.Join(root, top), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range files {
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}
