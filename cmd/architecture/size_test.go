package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What is larger is split by what it owns. Tests and packages that help them are left out.
const (
	maxFile    = 500  // lines
	maxPackage = 3500 // lines of the files in its own folder
	maxMethods = 40   // of one type
)

// largePackages may have more lines than others: one transaction changes many tables, one page has many views.
var largePackages = map[string]int{"sessions/sqlstore": 4500, "gateway/web": 4500}

// Packages, files and types of sessions, router and gateway stay small enough to be read.
func TestSizes(t *testing.T) {
	t.Parallel()
	packages, wrong, err := tooLarge(filepath.Join("..", ".."), "sessions", "router", "gateway")
	if err != nil {
		t.Fatal(err)
	}
	if packages < 40 {
		t.Errorf("only %d packages: are they found?", packages)
	}
	for _, w := range wrong {
		t.Error(w)
	}
}

// A package, a file and a type that are too large are found; tests, stand-ins and what is at its limit are not.
func TestTooLargeIsFound(t *testing.T) {
	t.Parallel()
	lines := func(n int) string { return "package a\n" + strings.Repeat("//\n", n-2) } // tree adds one
	methods := func(n int) (s string) {
		for i := range n {
			s += fmt.Sprintf("func (x *many[T]) M%d() {}\n", i)
		}
		return s
	}
	files := map[string]string{
		"router/a/long.go": lines(maxFile + 1), "router/a/long_test.go": lines(maxFile + 1), "router/atest/long.go": lines(maxFile + 1), "router/b/b.go": lines(maxFile),
		"gateway/c/c.go": "package c\ntype many[T any] struct{}\n" + methods(20), "gateway/c/d.go": "package c\n" + methods(21), "gateway/c/e/e.go": "package e\n" + methods(40),
	}
	for i := range 8 {
		files[fmt.Sprintf("sessions/d/%d.go", i)] = lines(450)
	}
	_, wrong, err := tooLarge(tree(t, files), "sessions", "router", "gateway")
	if err != nil || len(wrong) != 3 || !strings.HasPrefix(wrong[0], "gateway/c: many has 41 methods") || !strings.HasPrefix(wrong[1], "router/a/long.go has 501 lines") ||
		!strings.HasPrefix(wrong[2], "sessions/d has 3600 lines") {
		t.Errorf("%q, %v", wrong, err)
	}
}

// size is what a folder has.
type size struct {
	lines   int
	methods map[string]int // by type
}

// tooLarge counts the packages in some folders of root, and lists what has more lines or methods than it may have.
func tooLarge(root string, folders ...string) (packages int, wrong []string, err error) {
	sizes := map[string]*size{}
	for _, top := range folders {
		err := filepath.WalkDir(filepath.Join(root, top), func(file string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
				return err
			}
			rel, err := filepath.Rel(root, file)
			if err != nil {
				return err
			}
			rel = filepath.ToSlash(rel)
			at := path.Dir(rel)
			if forTests(at) {
				return nil
			}
			if sizes[at] == nil {
				sizes[at] = &size{methods: map[string]int{}}
			}
			n, err := sizes[at].add(file)
			if n > maxFile {
				wrong = append(wrong, fmt.Sprintf("%s has %d lines, more than %d", rel, n, maxFile))
			}
			return err
		})
		if err != nil {
			return 0, nil, err
		}
	}
	for at, s := range sizes {
		most := maxPackage
		if n, ok := largePackages[at]; ok {
			most = n
		}
		if s.lines > most {
			wrong = append(wrong, fmt.Sprintf("%s has %d lines, more than %d: a part of it that owns something is a package", at, s.lines, most))
		}
		for _, name := range slices.Sorted(maps.Keys(s.methods)) {
			if n := s.methods[name]; n > maxMethods {
				wrong = append(wrong, fmt.Sprintf("%s: %s has %d methods, more than %d", at, name, n, maxMethods))
			}
		}
	}
	slices.Sort(wrong)
	return len(sizes), wrong, nil
}

// add counts the lines and the methods of a file, and gives its lines.
func (s *size) add(file string) (lines int, err error) {
	text, err := os.ReadFile(file) //nolint:gosec // it is the source
	if err != nil {
		return 0, err
	}
	f, err := parser.ParseFile(token.NewFileSet(), file, text, parser.SkipObjectResolution)
	if err != nil {
		return 0, err
	}
	for _, d := range f.Decls {
		if m, ok := d.(*ast.FuncDecl); ok && m.Recv != nil {
			s.methods[written(m.Recv.List[0].Type)]++
		}
	}
	lines = bytes.Count(text, []byte("\n"))
	s.lines += lines
	return lines, nil
}
