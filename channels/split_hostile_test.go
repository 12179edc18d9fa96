package channels

import (
	"fmt"
	"strings"
	"testing"
)

// Shapes of text for which a careless parser, cutter or table needs more than linear time, memory or stack.
var hostileTexts = map[string]func(n int) string{
	"quotes":            func(n int) string { return strings.Repeat(">", n) },
	"quoted lines":      func(n int) string { return strings.Repeat(strings.Repeat(">", 20)+"a\n", n/22) },
	"lists in a line":   func(n int) string { return strings.Repeat("- ", n/2) + "a" },
	"numbers in a line": func(n int) string { return strings.Repeat("1. ", n/3) + "a" },
	"growing lists": func(n int) string {
		var b strings.Builder
		for i := 0; b.Len() < n; i++ {
			b.WriteString(strings.Repeat(" ", 2*i) + "- a\n")
		}
		return b.String()
	},
	"emphasis opened":     func(n int) string { return strings.Repeat("**a *b ", n/7) },
	"emphasis closed":     func(n int) string { return strings.Repeat("a** b_ ", n/7) },
	"emphasis nested":     func(n int) string { return strings.Repeat("*", n/2) + "a" + strings.Repeat("*", n/2) },
	"emphasis mixed":      func(n int) string { return strings.Repeat("*a **a ", n/14) + strings.Repeat("b** b*", n/12) },
	"tildes":              func(n int) string { return strings.Repeat("~~a ~~", n/6) },
	"rows of tildes":      func(n int) string { return strings.Repeat("~~~a\n", n/5) },
	"dollars":             func(n int) string { return strings.Repeat("$a b ", n/5) },
	"formulas opened":     func(n int) string { return strings.Repeat("\\(a ", n/4) },
	"display opened":      func(n int) string { return strings.Repeat("\\[a\n", n/4) },
	"environments opened": func(n int) string { return strings.Repeat("\\begin{a}\n", n/10) + "\\end{b}" },
	"environments":        func(n int) string { return strings.Repeat("\\begin{a}\n\\end{b}", n/17) },
	"ends of others": func(n int) string {
		return strings.Repeat(strings.Repeat("\\begin{a}", 400)+"\n\\end{b}", n/3608)
	},
	"many ends of others": func(n int) string { return strings.Repeat("\\begin{a}", n/20) + strings.Repeat("\n\\end{b}", n/16) },
	"display to one end":  func(n int) string { return strings.Repeat("\\[a ", n/4) + "\n\\]" },
	"dollars of lines":    func(n int) string { return strings.Repeat("$$a\n", n/4) + strings.Repeat("$a\n", n/3) },
	"options":             func(n int) string { return strings.Repeat("-v *a* f(_b_ ", n/14) },
	"escapes":             func(n int) string { return strings.Repeat("\\*", n/2) },
	"all marks":           func(n int) string { return strings.Repeat("*_~~[$`**__", n/11) },
	"words and marks":     func(n int) string { return strings.Repeat("*a _b ~~c [d $e ", n/16) },
	"names of files":      func(n int) string { return strings.Repeat("a.md ", n/5) },
	"headings in code":    func(n int) string { return strings.Repeat("# a\n", n/4) },
	"years":               func(n int) string { return strings.Repeat("1986. a\n1990. b\n", n/16) },
	"underscores":         func(n int) string { return strings.Repeat("_a__", n/4) },
	"words in marks":      func(n int) string { return strings.Repeat("a**b**", n/6) },
	"brackets":            func(n int) string { return strings.Repeat("[", n) },
	"bracket pairs":       func(n int) string { return strings.Repeat("[", n/2) + strings.Repeat("]", n/2) },
	"links opened":        func(n int) string { return strings.Repeat("[a](", n/4) },
	"links":               func(n int) string { return strings.Repeat("[a](http://b.c) ", n/16) },
	"one long link": func(n int) string {
		return "[" + strings.Repeat("a ", n/4) + "](http://b.c/" + strings.Repeat("d", n/2) + ")"
	},
	"behind a fence": func(n int) string { return "<div>\n```\n\n" + strings.Repeat("[a](", n/4) },
	"backticks": func(n int) string {
		var b strings.Builder
		for i := 1; b.Len() < n; i++ {
			b.WriteString("a" + strings.Repeat("`", i))
		}
		return b.String()
	},
	"fences":           func(n int) string { return strings.Repeat("```\n", n/4) },
	"fences with text": func(n int) string { return strings.Repeat("```x\na\n```\n", n/11) },
	"an open fence":    func(n int) string { return "```\n" + strings.Repeat("a\n", n/2) },
	"code of one line": func(n int) string { return "```\n" + strings.Repeat("a", n) + "\n```" },
	"code of spaces":   func(n int) string { return "```\na" + strings.Repeat(" ", n) + "b\n```" },
	"tags":             func(n int) string { return strings.Repeat("<a b=\"", n/6) },
	"declarations":     func(n int) string { return strings.Repeat("<!A", n/3) },
	"a table": func(n int) string {
		return strings.Repeat("|a", n/6) + "|\n" + strings.Repeat("|-", n/6) + "|\n" + strings.Repeat("x\n", n/6)
	},
	"a table of bars": func(n int) string { return "|a|b|c|d|e|\n|-|-|-|-|-|\n" + strings.Repeat("|||||x\n", n/7) },
	"references":      func(n int) string { return strings.Repeat("[a]: b\n", n/7) },
	"definitions": func(n int) string {
		var b strings.Builder
		for i := 0; b.Len() < n; i++ {
			fmt.Fprintf(&b, "[r][%d]\n\n[%d]: http://b.c\n\n", i, i)
		}
		return b.String()
	},
	"unused definitions": func(n int) string {
		var b strings.Builder
		for i := 0; b.Len() < n; i++ {
			fmt.Fprintf(&b, "[%d]: http://b.c/%d\n", i%300, i)
			if i%300 == 0 {
				b.WriteString("\n" + strings.Repeat("text ", 2000) + "\n\n")
			}
		}
		return b.String()
	},
	"links to one definition": func(n int) string {
		part := strings.Repeat("[a] ", 300) + "\n\n[a]: http://b.c/" + strings.Repeat("d", 1500) + "\n\n" + strings.Repeat("text ", 3000) + "\n\n"
		return strings.Repeat(part, max(n/len(part), 1))
	},
	"rows of many cells": func(n int) string { return "|a|\n|-|\n" + strings.Repeat(strings.Repeat("|x", 50)+"\n", n/101) },
	"a word":             func(n int) string { return strings.Repeat("a", n) },
	"CJK":                func(n int) string { return strings.Repeat("日本語。", n/12) },
	"one grapheme":       func(n int) string { return "e" + strings.Repeat("\u0301", n/2) },
	"joined emoji":       func(n int) string { return strings.Repeat("👩\u200d", n/7) },
	"spaces":             func(n int) string { return "a" + strings.Repeat(" ", n) + "b" },
	"spaces with marks":  func(n int) string { return strings.Repeat(" \u0301", n/3) },
	"line ends":          func(n int) string { return "a" + strings.Repeat("\n", n) + "b" },
	"invisible":          func(n int) string { return "a" + strings.Repeat("\u200b", n/3) },
	"not UTF-8":          func(n int) string { return strings.Repeat("\xff\xc3\x28\x00", n/4) },
	"backslashes":        func(n int) string { return strings.Repeat("\\", n) },
	"entities":           func(n int) string { return strings.Repeat("&amp;&#x41;&no", n/15) },
	"addresses":          func(n int) string { return strings.Repeat("http://a.b/c ", n/13) },
	"one address":        func(n int) string { return "http://a.b/" + strings.Repeat("(", n/2) + strings.Repeat(")", n/2) },
	"lines":              func(n int) string { return strings.Repeat("word word\n", n/10) },
	"headings":           func(n int) string { return strings.Repeat("a\n=\n", n/4) },
	"items and breaks":   func(n int) string { return strings.Repeat("1. a\n\n   b\n\n", n/12) },
	"quotes and no more": func(n int) string { return strings.Repeat("> a\nb\n", n/6) },
}

// Each ends, keeps every promise, and does not grow beyond reason. What is quadratic does not get through this in a test's time.
func TestSplitEndsOnHostileText(t *testing.T) {
	t.Parallel()
	for name, text := range hostileTexts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			size := 1 << 16
			switch name {
			case "a word", "lines", "brackets", "code of one line", "one address":
				size = 1 << 20
			}
			md := text(size)
			for _, lim := range []Limits{
				{Text: 4096, Unit: UTF16, Dialect: TelegramHTML}, {Text: 2000, Lines: 17, Unit: UTF16, Dialect: DiscordMD},
				{Text: 4000, Unit: Runes, Dialect: WhatsAppText}, {Text: 4000, Unit: Bytes, Dialect: Markdown},
			} {
				out := 0
				parts := Split(md, lim)
				for i, p := range parts {
					s := p.Text
					if lim.Dialect == TelegramHTML {
						var err error
						if s, err = telegramText(p.Text); err != nil {
							t.Fatalf("%s: part %d: %v", lim.Dialect, i, err)
						}
					}
					if n := count(s, lim.Unit); n > lim.Text || strings.TrimSpace(s) == "" {
						t.Fatalf("%s: part %d of %d has %d %s", lim.Dialect, i, len(parts), n, lim.Unit)
					}
					out += len(p.Text)
				}
				if out > 12*len(md) {
					t.Errorf("%s: %d bytes became %d", lim.Dialect, len(md), out)
				}
			}
		})
	}
}

func BenchmarkSplitHostile(b *testing.B) {
	for name, text := range hostileTexts {
		for _, n := range []int{1 << 17, 1 << 20} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				md := text(n)
				b.SetBytes(int64(len(md)))
				for b.Loop() {
					Split(md, Limits{Text: 2000, Lines: 17, Unit: UTF16, Dialect: DiscordMD})
				}
			})
		}
	}
}

// What the parser is given is bounded. The bounds themselves are tested, not the time: a busy machine proves nothing.
func TestParserIsGivenBoundedPieces(t *testing.T) {
	t.Parallel()
	for md, want := range map[string]bool{
		strings.Repeat("[a](", 200):                                   false,
		strings.Repeat("[a](", 401):                                   true,
		strings.Repeat("> ", 20) + "a":                                false,
		strings.Repeat("> ", 30) + "a":                                true,
		"text\n" + strings.Repeat("- ", 30) + "a":                     true,
		strings.Repeat("-", 80):                                       false, // a rule
		strings.Repeat("| a | b | c |\n", 300):                        false,
		strings.Repeat("|a", 200) + "\n" + strings.Repeat("x\n", 200): true,
	} {
		if got := knotty(md); got != want {
			t.Errorf("%.40q… knotty: %v", md, got)
		}
	}
	for name, text := range hostileTexts {
		md := text(1 << 18)
		total := 0
		for _, p := range pieces(clean(md)) {
			total += len(squeeze(p.text))
			if len(p.text) > 2*pieceMost+100 {
				t.Errorf("%s: a piece of %d bytes", name, len(p.text))
			}
		}
		if least := len(squeeze(clean(md))); total < least {
			t.Errorf("%s: pieces hold %d of %d bytes", name, total, least)
		}
	}
}
