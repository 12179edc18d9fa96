package main

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
)

// proof is a test, and what it says that it proves.
type proof struct {
	Dir     string   // the folder of its package, from the root
	Name    string   // TestX, or TestX/Check for a check of a suite that TestX runs
	Claims  []string // ids of the contract, as written
	Skipped bool     // it always skips itself
}

func (p proof) String() string { return p.Dir + "." + p.Name }

// benchmark reports whether the proof is one that go test does not run unless asked.
func (p proof) benchmark() bool { return strings.HasPrefix(p.Name, "Benchmark") }

// sources are the Go files of the module that are built here.
type sources struct {
	fset  *token.FileSet
	files []source
}

type source struct {
	dir  string // from the root, with slashes
	test bool
	ast  *ast.File
}

// readSources parses every Go file below root. Folders that go leaves out (testdata, vendor, hidden ones) are left out here too.
func readSources(root string) (*sources, error) {
	s := &sources{fset: token.NewFileSet()}
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := e.Name()
		if e.IsDir() {
			if path != root && (name == "testdata" || name == "vendor" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		folder := filepath.Dir(path)
		if built, err := build.Default.MatchFile(folder, name); err != nil || !built {
			return err
		}
		dir, err := filepath.Rel(root, folder)
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(s.fset, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		s.files = append(s.files, source{filepath.ToSlash(dir), strings.HasSuffix(name, "_test.go"), f})
		return nil
	})
	return s, err
}

// claim is a `proves:` line in a comment.
type claim struct {
	ids []string
	fn  *ast.FuncDecl // the function that contains it, or whose doc comment it is; nil = none
	pos token.Pos
}

var provesPattern = regexp.MustCompile(`^(?://|/\*|\*)?\s*proves:(.*)$`)

// claims gives the `proves:` lines of a file.
func (f source) claims() (out []claim) {
	for _, group := range f.ast.Comments {
		for _, c := range group.List {
			for _, line := range strings.Split(c.Text, "\n") {
				m := provesPattern.FindStringSubmatch(strings.TrimSpace(strings.TrimSuffix(line, "*/")))
				if m == nil {
					continue
				}
				var ids []string
				for _, id := range strings.Split(m[1], ",") {
					ids = append(ids, strings.TrimSpace(id))
				}
				out = append(out, claim{ids, f.around(c.Pos()), c.Pos()})
			}
		}
	}
	return out
}

// around gives the function that a position is in, its doc comment included.
func (f source) around(pos token.Pos) *ast.FuncDecl {
	for _, d := range f.ast.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		start := fn.Pos()
		if fn.Doc != nil {
			start = fn.Doc.Pos()
		}
		if start <= pos && pos < fn.End() {
			return fn
		}
	}
	return nil
}

var testPattern = regexp.MustCompile(`^(Test|Fuzz|Benchmark)([^a-z]|$)`)

func isTest(fn *ast.FuncDecl) bool {
	return fn.Recv == nil && fn.Name.Name != "TestMain" && testPattern.MatchString(fn.Name.Name) && len(fn.Type.Params.List) == 1
}

// skips reports whether the function skips itself whatever the circumstances: t.Skip as a statement of its body, under no condition.
func skips(fn *ast.FuncDecl) bool {
	for _, st := range fn.Body.List {
		if e, ok := st.(*ast.ExprStmt); ok {
			if c, ok := e.X.(*ast.CallExpr); ok {
				if sel, ok := c.Fun.(*ast.SelectorExpr); ok && strings.HasPrefix(sel.Sel.Name, "Skip") {
					return true
				}
			}
		}
	}
	return false
}

// proofs gives every test of the module with what it claims, and what is wrong with the claims themselves.
func (s *sources) proofs(module string) (list []proof, problems []string) {
	at := func(p token.Pos) string {
		pos := s.fset.Position(p)
		return fmt.Sprintf("%s:%d", filepath.Base(pos.Filename), pos.Line)
	}
	suites := s.suites(module)
	for _, f := range s.files {
		byFunc := map[*ast.FuncDecl][]string{}
		for _, c := range f.claims() {
			suite := suites[f.dir]
			switch {
			case c.fn == nil:
				problems = append(problems, fmt.Sprintf("%s/%s: this proves-line belongs to no function", f.dir, at(c.pos)))
			case f.test && isTest(c.fn):
				byFunc[c.fn] = append(byFunc[c.fn], c.ids...)
			case !f.test && suite != nil && suite.checks[c.fn.Name.Name] != "" && len(suite.runs) > 0:
				for _, r := range suite.runs {
					name := r.Name + "/" + strings.ReplaceAll(suite.checks[c.fn.Name.Name], " ", "_")
					list = append(list, proof{r.Dir, name, c.ids, r.Skipped})
				}
			default:
				problems = append(problems, fmt.Sprintf("%s/%s: %s has a proves-line, but it is no test and no suite runs it", f.dir, at(c.pos), c.fn.Name.Name))
			}
		}
		if !f.test {
			continue
		}
		for _, d := range f.ast.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && isTest(fn) {
				list = append(list, proof{f.dir, fn.Name.Name, byFunc[fn], skips(fn)})
			}
		}
	}
	return list, problems
}
