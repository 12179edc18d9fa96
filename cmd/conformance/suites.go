package main

import (
	"go/ast"
	"go/token"
	"path"
	"strconv"
	"strings"
)

// suite is a package whose function Run checks any implementation of a contract: a table of named checks, or calls of the Run of
// other suites. The checks are functions of that package, not tests; they prove something where a test of another package calls Run.
type suite struct {
	checks map[string]string // by the function's name: the name under which Run runs it
	parts  []string          // folders of the packages whose Run this Run calls
	runs   []proof           // the tests that call Run, of this suite or of one that has it as a part
}

// suites gives the suites of the module by folder.
func (s *sources) suites(module string) map[string]*suite {
	out := map[string]*suite{}
	for _, f := range s.files {
		for _, d := range f.ast.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && !f.test && fn.Recv == nil && fn.Name.Name == "Run" && fn.Body != nil {
				if checks, parts := checkTable(fn), f.runsOf(fn, module); len(checks)+len(parts) > 0 {
					out[f.dir] = &suite{checks: checks, parts: parts}
				}
			}
		}
	}
	for dir, su := range out {
		for _, f := range s.files {
			name := f.importName(path.Join(module, dir))
			if !f.test || f.dir == dir || name == "" { // a suite's own tests try it on broken things: they prove nothing
				continue
			}
			for _, d := range f.ast.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && isTest(fn) && callsRun(fn, name) {
					su.runs = append(su.runs, proof{Dir: f.dir, Name: fn.Name.Name, Skipped: skips(fn)})
				}
			}
		}
	}
	for _, su := range out {
		for _, dir := range su.parts {
			if part := out[dir]; part != nil && len(part.checks) > 0 {
				part.runs = append(part.runs, su.runs...)
			}
		}
	}
	return out
}

// runsOf gives the folders of the module's packages whose Run a function calls.
func (f source) runsOf(fn *ast.FuncDecl, module string) (dirs []string) {
	for _, imp := range f.ast.Imports {
		p, err := strconv.Unquote(imp.Path.Value)
		if dir, ours := strings.CutPrefix(p, module+"/"); err == nil && ours && callsRun(fn, f.importName(p)) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// checkTable finds the entries {"name", function} in a function.
func checkTable(fn *ast.FuncDecl) map[string]string {
	checks := map[string]string{}
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		lit, ok := n.(*ast.CompositeLit)
		if !ok || len(lit.Elts) != 2 {
			return true
		}
		name, ok := lit.Elts[0].(*ast.BasicLit)
		check, ok2 := lit.Elts[1].(*ast.Ident)
		if ok && ok2 && name.Kind == token.STRING {
			if s, err := strconv.Unquote(name.Value); err == nil {
				checks[check.Name] = s
			}
		}
		return true
	})
	return checks
}

// importName gives the name that a file uses for an import; "" = it does not import it.
func (f source) importName(want string) string {
	for _, imp := range f.ast.Imports {
		if p, err := strconv.Unquote(imp.Path.Value); err == nil && p == want {
			if imp.Name != nil {
				return imp.Name.Name
			}
			return path.Base(p)
		}
	}
	return ""
}

func callsRun(fn *ast.FuncDecl, pkg string) (found bool) {
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			if sel, ok := call.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == "Run" {
				if x, ok := sel.X.(*ast.Ident); ok && x.Name == pkg {
					found = true
				}
			}
		}
		return !found
	})
	return found
}
