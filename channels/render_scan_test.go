package channels

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

// What is scanned by hand finds what these patterns find, and fences that need no change are left as the long way leaves them.
func TestScannersFindWhatPatternsFind(t *testing.T) {
	t.Parallel()
	marks := regexp.MustCompile(`^(?:[ \t]*(?:>|(?:[-*+]|\d{1,9}[.)])[ \t]))*[ \t]*`)
	yaml := regexp.MustCompile(`(?m)^ *(?:- )?[a-z_][\w.-]*:\n(?: +- \S| *- [a-z_][\w.-]*:(?: |$))|^ *- [a-z_][\w.-]*:(?: .*)?\n +[a-z_][\w.-]*:(?: |$)`)
	bits := []string{" ", "  ", "\t", "\n", "- ", "-", "* ", ">", "1.", "12) ", "1234567890. ", "key:", "key: v", "Key:", "_a.b-c:", ":", "x", "ü", "```", "```\n", "```go\n", "```a b\n", "~~~", "\n```\n", "\nkey:\n", "\n  - a"}
	r := rand.New(rand.NewPCG(1, 2))
	separate := 0
	for range 20_000 {
		var b strings.Builder
		for range 1 + r.IntN(9) {
			b.WriteString(bits[r.IntN(len(bits))])
		}
		s := b.String()
		if got, want := s[:blockMarks(s)], marks.FindString(s); got != want {
			t.Fatalf("the marks of %q: %q, want %q", s, got, want)
		}
		if got, want := hasNestedKey([]byte(s)), yaml.MatchString(s); got != want {
			t.Fatalf("YAML %q: %v, want %v", s, got, want)
		}
		if areFencesSeparate(s) && strings.Contains(s, "```") {
			separate++
			if got := rewriteFences(s); got != s {
				t.Fatalf("%q became %q", s, got)
			}
		}
	}
	if separate < 100 {
		t.Errorf("%d texts have separate fences", separate)
	}
}
