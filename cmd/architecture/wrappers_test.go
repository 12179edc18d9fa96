package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A struct that embeds an interface of package sessions stands before a store in a test. A method of it that the interface does not have, or has
// no more since a rename, is never called: the test goes on and tries nothing. Methods for the test itself are not exported.
func TestStoreWrappersOverride(t *testing.T) {
	t.Parallel()
	wrappers, wrong, err := strayMethods(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	if wrappers < 20 {
		t.Errorf("only %d structs that embed an interface of sessions: are they found?", wrappers)
	}
	for _, w := range wrong {
		t.Error(w)
	}
}

// A method whose name the embedded interface has not got is found, that of a struct which embeds another wrapper too.
func TestStrayMethodIsFound(t *testing.T) {
	t.Parallel()
	root := tree(t, map[string]string{
		"sessions/s.go": "package sessions\ntype Store interface { Runs; Close() error }\ntype Runs interface { Claim() }",
		"router/a_test.go": "package router\ntype slow struct { sessions.Store; n int }\nfunc (s *slow) Claim() {}\nfunc (s *slow) Take() {}\nfunc (s *slow) count() {}\n" +
			"type slower struct { *slow }\nfunc (slower) Finish() {}\ntype other struct { n int }\nfunc (other) Any() {}",
	})
	wrappers, wrong, err := strayMethods(root)
	if err != nil || wrappers != 2 || len(wrong) != 2 || !strings.Contains(wrong[0], "slow.Take") || !strings.Contains(wrong[1], "slower.Finish") {
		t.Errorf("%d wrappers, %q, %v", wrappers, wrong, err)
	}
}

// source is what a folder declares.
type source struct {
	fset    *token.FileSet
	embeds  map[string][]string // by type: what it embeds, as written, without a *
	has     map[string][]string // by interface: its methods
	methods map[string][]*ast.FuncDecl
}

// strayMethods counts the structs below root that embed an interface of package sessions, and lists the exported methods by which they override nothing.
func strayMethods(root string) (wrappers int, wrong []string, err error) {
	folders := map[string]*source{}
	err = filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(file, ".go") {
			return err
		}
		at, err := filepath.Rel(root, filepath.Dir(file))
		if err != nil || strings.Contains(at, "testdata") {
			return err
		}
		if folders[at] == nil {
			folders[at] = &source{token.NewFileSet(), map[string][]string{}, map[string][]string{}, map[string][]*ast.FuncDecl{}}
		}
		return folders[at].add(file)
	})
	if err != nil {
		return 0, nil, err
	}
	store := folders["sessions"]
	for _, folder := range folders {
		for name := range folder.embeds {
			all := folder.overridable(name, store)
			if all == nil {
				continue
			}
			wrappers++
			for _, m := range folder.methods[name] {
				if m.Name.IsExported() && !slices.Contains(all, m.Name.Name) {
					wrong = append(wrong, fmt.Sprintf("%s: %s.%s overrides no method of the store: rename it, or begin it with a small letter", folder.fset.Position(m.Pos()), name, m.Name.Name))
				}
			}
		}
	}
	slices.Sort(wrong)
	return wrappers, wrong, nil
}

// overridable gives the methods of the interfaces of sessions that a type embeds, directly or by another type of its folder; nil = none.
func (s *source) overridable(name string, store *source) (all []string) {
	for _, e := range s.embeds[name] {
		if of, ok := strings.CutPrefix(e, "sessions."); ok {
			all = append(all, store.interfaceMethods(of)...)
		} else if e != name && !strings.Contains(e, ".") {
			all = append(all, s.overridable(e, store)...)
		}
	}
	return all
}

func (s *source) interfaceMethods(name string) []string {
	all := slices.Clone(s.has[name])
	for _, e := range s.embeds[name] {
		all = append(all, s.interfaceMethods(e)...)
	}
	return all
}

// add reads the declarations of a file.
func (s *source) add(file string) error {
	f, err := parser.ParseFile(s.fset, file, nil, 0)
	if err != nil {
		return err
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Recv != nil {
				of := written(n.Recv.List[0].Type)
				s.methods[of] = append(s.methods[of], n)
			}
		case *ast.TypeSpec:
			s.addType(n)
		}
		return true
	})
	return nil
}

func (s *source) addType(n *ast.TypeSpec) {
	var fields *ast.FieldList
	switch x := n.Type.(type) {
	case *ast.StructType:
		fields = x.Fields
	case *ast.InterfaceType:
		fields = x.Methods
	default:
		return
	}
	for _, f := range fields.List {
		if _, method := f.Type.(*ast.FuncType); method && len(f.Names) > 0 {
			s.has[n.Name.Name] = append(s.has[n.Name.Name], f.Names[0].Name)
		} else if len(f.Names) == 0 {
			s.embeds[n.Name.Name] = append(s.embeds[n.Name.Name], written(f.Type))
		}
	}
}

// written gives the name of a type as it is written, without a *; "" for one that has none.
func written(t ast.Expr) string {
	switch x := t.(type) {
	case *ast.StarExpr:
		return written(x.X)
	case *ast.Ident:
		return x.Name
	case *ast.SelectorExpr:
		return written(x.X) + "." + x.Sel.Name
	case *ast.IndexExpr:
		return written(x.X)
	case *ast.IndexListExpr:
		return written(x.X)
	}
	return ""
}
