package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// maxLogWords is the most words of a log message. Everything that varies is an attribute; advice is the attribute hint.
const maxLogWords = 8

// logCalls are the methods of slog.Logger that log, with the place of the message among the arguments.
var logCalls = map[string]int{
	"Debug": 0, "Info": 0, "Warn": 0, "Error": 0, "DebugContext": 1, "InfoContext": 1, "WarnContext": 1, "ErrorContext": 1, "Log": 2, "LogAttrs": 2,
}

// Every log message is a fixed text of few words: a search finds it, and a program groups by it.
func TestLogMessages(t *testing.T) {
	t.Parallel()
	calls, wrong, err := longMessages(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	if calls < 100 {
		t.Errorf("only %d calls of a logger: are they found?", calls)
	}
	for _, w := range wrong {
		t.Error(w)
	}
}

// A message that is long, is put together or ends with a full stop is found, at every way to a logger; other calls of these names are not.
func TestLongMessageIsFound(t *testing.T) {
	t.Parallel()
	root := tree(t, map[string]string{
		"router/a.go": `package router
import "log/slog"
const fixed = "a constant"
type h struct { Log *slog.Logger; n note }
type note struct{}
func (note) Error(text string, n int) {}
func (x *h) logger() *slog.Logger { return x.Log }
func (x *h) f(log *slog.Logger, err error, text string) {
	log.Info("eight words are not too many for it")
	log.Info(fixed, "err", err)
	_ = err.Error()
	log.Info("nine words are one too many for a message")
	x.Log.With("a", 1).Warn("put together " + text)
	x.logger().Log(nil, slog.LevelInfo, text)
	slog.Error("A sentence.")
	log.LogAttrs(nil, slog.LevelInfo, "fine")
}
`,
	})
	calls, wrong, err := longMessages(root)
	if err != nil || calls != 7 || len(wrong) != 4 {
		t.Errorf("%d calls, %q, %v", calls, wrong, err)
	}
}

// longMessages counts the calls of loggers below root, and lists those whose message breaks the rule. Tests are left out.
func longMessages(root string) (calls int, wrong []string, err error) {
	err = filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") || strings.Contains(file, "testdata") {
			return err
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, file, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			sel, ok := call.Fun.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			at, logs := logCalls[sel.Sel.Name]
			if !logs || len(call.Args) <= at {
				return true
			}
			calls++
			fmt.Println(fset.Position(call.Pos()), describe(sel.X), sel.Sel.Name)
			if why := faultOf(call.Args[at]); why != "" {
				wrong = append(wrong, fmt.Sprintf("%s: %s", fset.Position(call.Pos()), why))
			}
			return true
		})
		return nil
	})
	slices.Sort(wrong)
	return calls, wrong, err
}

func describe(e ast.Expr) string {
	switch x := e.(type) {
	case *ast.Ident:
		return x.Name
	case *ast.SelectorExpr:
		return describe(x.X) + "." + x.Sel.Name
	case *ast.CallExpr:
		return describe(x.Fun) + "()"
	}
	return "?"
}

func faultOf(message ast.Expr) string {
	lit, ok := message.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "a log message is a constant"
	}
	text, _ := strconv.Unquote(lit.Value)
	if n := len(strings.Fields(text)); n > maxLogWords {
		return fmt.Sprintf("%d words: %q", n, text)
	}
	return ""
}
