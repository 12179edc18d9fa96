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

// maxLogWords is the most words of a log message. What varies is in attributes, and advice is in the attribute hint.
const maxLogWords = 8

// logCalls are the methods of a logger, with the place of the message among their arguments. warn is that of a step of router/chain, whose
// message is logged later.
var logCalls = map[string]int{
	"Debug": 0, "Info": 0, "Warn": 0, "Error": 0, "DebugContext": 1, "InfoContext": 1, "WarnContext": 1, "ErrorContext": 1, "Log": 2, "LogAttrs": 2, "warn": 0,
}

// Every log message is a literal of few words: a search finds it, and a program groups by it.
func TestLogMessages(t *testing.T) {
	t.Parallel()
	calls, wrong, err := badLogMessages(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	if calls < 200 {
		t.Errorf("only %d calls of a logger: are they found?", calls)
	}
	for _, w := range wrong {
		t.Error(w)
	}
}

// A message that is too long, is put together, or is no literal is found on every way to a logger; calls of other methods of these names are not.
func TestBadLogMessageIsFound(t *testing.T) {
	t.Parallel()
	root := tree(t, map[string]string{"router/chain/a.go": `package chain
func f(log *slog.Logger, err error, text string) {
	log.Info("eight words are not too many for it", "err", err)
	_ = err.Error()
	f.Error("a field error of many words that is shown to people")
	log.Info("nine words are one too many for a message")
	x.Log.With("a", 1).Warn("put together " + text)
	x.logger().Log(nil, slog.LevelInfo, text)
	slog.Error("a sentence.")
	c.conf.Logger.LogAttrs(nil, slog.LevelInfo, fmt.Sprintf("x %s", text))
	s.warn("a step of a chain has an attribute for each of its words")
	a.log.Warn(s.Warning) //nolint:sloglint // reason
}
`})
	calls, wrong, err := badLogMessages(root)
	if err != nil || calls != 7 || len(wrong) != 6 {
		t.Errorf("%d calls, %d wrong: %v, %v", calls, len(wrong), strings.Join(wrong, "\n"), err)
	}
}

// badLogMessages counts the calls of loggers below root, and lists those whose message breaks the rule. Tests are left out, and so is a line with
// an exception from sloglint.
func badLogMessages(root string) (calls int, wrong []string, err error) {
	err = filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") || strings.Contains(file, "testdata") {
			return err
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, file, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		excepted := map[int]bool{}
		for _, c := range f.Comments {
			if strings.HasPrefix(c.List[0].Text, "//nolint:sloglint") {
				excepted[fset.Position(c.Pos()).Line] = true
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			message := logMessage(n, f.Name.Name)
			if message == nil || excepted[fset.Position(n.Pos()).Line] {
				return true
			}
			calls++
			if why := badMessage(message); why != "" {
				wrong = append(wrong, fmt.Sprintf("%s: %s", fset.Position(n.Pos()), why))
			}
			return true
		})
		return nil
	})
	slices.Sort(wrong)
	return calls, wrong, err
}

// logMessage returns the message of a call of a logger; nil for any other node. A logger is told by its name.
func logMessage(n ast.Node, pkg string) ast.Expr {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return nil
	}
	method, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	at, ok := logCalls[method.Sel.Name]
	if !ok || at >= len(call.Args) || method.Sel.Name == "warn" != (pkg == "chain" && !isLogger(method.X)) {
		return nil
	}
	if method.Sel.Name != "warn" && !isLogger(method.X) {
		return nil
	}
	return call.Args[at]
}

// isLogger reports whether an expression is named as loggers are, or is the answer of a call of one: log, x.conf.Logger, x.log.With(…), x.logger().
func isLogger(e ast.Expr) bool {
	switch x := e.(type) {
	case *ast.Ident:
		return slices.Contains([]string{"log", "logger", "slog"}, x.Name)
	case *ast.SelectorExpr:
		return slices.Contains([]string{"log", "Log", "logger", "Logger"}, x.Sel.Name)
	case *ast.CallExpr:
		f, ok := x.Fun.(*ast.SelectorExpr)
		return ok && (isLogger(f) || isLogger(f.X))
	}
	return false
}

// badMessage says what is wrong with a message; "" = nothing is.
func badMessage(message ast.Expr) string {
	lit, ok := message.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "a log message is a literal; what varies is in attributes"
	}
	text, _ := strconv.Unquote(lit.Value) // it parsed
	if n := len(strings.Fields(text)); n > maxLogWords {
		return fmt.Sprintf("a log message has at most %d words, this one has %d; advice goes into the attribute hint: %q", maxLogWords, n, text)
	}
	if strings.HasSuffix(text, ".") {
		return fmt.Sprintf("a log message ends without a full stop: %q", text)
	}
	return ""
}
