package main

import (
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// module is the path of the module.
const module = "parley/"

// line are the folders of the import line: a package imports only from its left, or from its own folder.
var line = []string{"channels", "policy", "sessions", "tools", "agent", "router", "gateway", "cmd"}

// pkg is one package.
type pkg struct {
	path     string // below the module
	sentence string // the first one of its comment
	imports  []string
}

// folder is the pkg's in the import line.
func (p *pkg) folder() string {
	top, _, _ := strings.Cut(p.path, "/")
	return top
}

// name is what its box shows.
func (p *pkg) name() string { return path.Base(p.path) }

// graph are the packages by their path.
type graph map[string]*pkg

// forTests reports whether a folder helps tests: stand-ins and suites live in folders named …test.
func forTests(folder string) bool {
	return slices.ContainsFunc(strings.Split(folder, "/"), func(part string) bool { return strings.HasSuffix(part, "test") || part == "testdata" })
}

// read finds the packages below root and their imports, those of all systems. Tests and their helpers are left out.
func read(root string) (graph, error) {
	g := graph{}
	for _, top := range line {
		err := filepath.WalkDir(filepath.Join(root, top), func(file string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
				return err
			}
			rel, err := filepath.Rel(root, filepath.Dir(file))
			if err != nil || forTests(filepath.ToSlash(rel)) {
				return err
			}
			return g.add(filepath.ToSlash(rel), file)
		})
		if err != nil {
			return nil, err
		}
	}
	for _, p := range g {
		slices.Sort(p.imports)
		p.imports = slices.DeleteFunc(slices.Compact(p.imports), func(other string) bool { return g[other] == nil })
	}
	return g, g.check()
}

// add reads a file of a package.
func (g graph) add(folder, file string) error {
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly|parser.ParseComments)
	if err != nil {
		return err
	}
	if f.Name.Name == "main" && !strings.HasPrefix(folder, "cmd/") {
		return nil // a program that writes a file of the package
	}
	p := g[folder]
	if p == nil {
		p = &pkg{path: folder}
		g[folder] = p
	}
	if f.Doc != nil && p.sentence == "" {
		p.sentence = sentence(f.Doc)
	}
	for _, i := range f.Imports {
		name, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			return err
		}
		if own, ok := strings.CutPrefix(name, module); ok {
			p.imports = append(p.imports, own)
		}
	}
	return nil
}

// sentence is the first sentence of a package's comment.
func sentence(c *ast.CommentGroup) string { return new(doc.Package).Synopsis(c.Text()) }

// check says which package imports from its right.
func (g graph) check() error {
	for _, from := range slices.Sorted(maps.Keys(g)) {
		for _, to := range g[from].imports {
			if slices.Index(line, g[to].folder()) > slices.Index(line, g[from].folder()) {
				return fmt.Errorf("%s imports %s, which is to its right", from, to)
			}
		}
	}
	return nil
}

// inside gives the imports of a package from its own folder.
func (g graph) inside(p *pkg) (list []*pkg) {
	for _, i := range p.imports {
		if g[i].folder() == p.folder() {
			list = append(list, g[i])
		}
	}
	return list
}

// level is how many packages of its folder the longest way of imports from a package passes.
func (g graph) level(p *pkg) (n int) {
	for _, i := range g.inside(p) {
		n = max(n, 1+g.level(i))
	}
	return n
}

// reaches reports whether a package imports another one by way of a third.
func (g graph) reaches(p, other *pkg) bool {
	return slices.ContainsFunc(g.inside(p), func(i *pkg) bool {
		return i != other && (slices.Contains(g.inside(i), other) || g.reaches(i, other))
	})
}

// band gives the packages of a folder, by level.
func (g graph) band(top string) (columns [][]*pkg) {
	for _, name := range slices.Sorted(maps.Keys(g)) {
		p := g[name]
		if p.folder() != top {
			continue
		}
		n := g.level(p)
		for len(columns) <= n {
			columns = append(columns, nil)
		}
		columns[n] = append(columns[n], p)
	}
	return columns
}
