package channels

import (
	"bytes"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"
)

// What is scanned by hand finds what these patterns find, and fences that need no change are left as the long way leaves them.
func TestScannersFindWhatPatternsFind(t *testing.T) {
	t.Parallel()
	marks := regexp.MustCompile(`^(?:[ \t]*(?:>|(?:[-*+]|\d{1,9}[.)])[ \t]))*[ \t]*`)
	yaml := regexp.MustCompile(`(?m)^ *(?:- )?[a-z_][\w.-]*:\n(?: +- \S| *- [a-z_][\w.-]*:(?: |$))|^ *- [a-z_][\w.-]*:(?: .*)?\n +[a-z_][\w.-]*:(?: |$)`)
	fields := regexp.MustCompile(`^[ \t]*\[([^\[\]^\\\s][^\[\]\\]{0,200})\]:[ \t]*(?:<([^<>\s]+)>|([^<>\s]+))(?:[ \t]+(?:"[^"]*"|'[^']*'|\([^()]*\)))?\s*$`)
	opening := regexp.MustCompile("(?:\x60{3}|~{3})(?:md|markdown)[ \t]*$")
	bits := []string{" ", "  ", "\t", "\n", "- ", "-", "* ", ">", "1.", "12) ", "1234567890. ", "😀", "key:", "key: v", "Key:", "_a.b-c:", ":", "x", "ü", "```", "```\n", "```go\n", "```a b\n", "~~~", "\n```\n", "\nkey:\n", "\n  - a", "md", "markdown", "[", "[a]: ", "[é b]:", "]: <", "^", "http://b.c", "<http://b.c>", ">", " \"t\"", " 't'", " (t)", "(", "\"", "\\", "\r", "\f"}
	r := rand.New(rand.NewPCG(1, 2))
	separate, defined := 0, 0
	for range 100_000 {
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
		label, dest := "", ""
		if m := fields.FindStringSubmatch(s); m != nil {
			label, dest = m[1], m[2]+m[3]
			defined++
		}
		if bytes.HasPrefix(bytes.TrimLeft([]byte(s), " \t"), []byte("[")) {
			if l, d := definition([]byte(s)); string(l) != label || string(d) != dest && label != "" {
				t.Fatalf("the definition in %q: %q, %q; want %q, %q", s, l, d, label, dest)
			}
		}
		if line, _, _ := strings.Cut(s, "\n"); opensMarkdown(line) != opening.MatchString(line) {
			t.Fatalf("%q opens Markdown: %v", line, opensMarkdown(line))
		}
		if n := len(utf16.Encode([]rune(s))); measure(s, UTF16) != n || measure([]byte(s), UTF16) != n || measure(s, Runes) != utf8.RuneCountInString(s) || measure(s, Bytes) != len(s) {
			t.Fatalf("%q counts as %d, want %d", s, measure(s, UTF16), n)
		}
		if areFencesSeparate(s) && strings.Contains(s, "```") {
			separate++
			if got := rewriteFences(s); got != s {
				t.Fatalf("%q became %q", s, got)
			}
		}
	}
	if separate < 100 || defined < 100 {
		t.Errorf("%d texts have separate fences, and %d are definitions", separate, defined)
	}
}
