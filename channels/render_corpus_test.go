package channels

import (
	_ "embed"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

//go:embed testdata/meant.txt
var meantProse string

// linesOfProse gives what people write with marks in a chat, and how it is shown without them.
func linesOfProse() (written, shown []string) {
	links := regexp.MustCompile(`\[([^]]*)\]\(https:[^)]*\)`)
	blockSign := regexp.MustCompile(`^(?:>|\*|#) `)
	marks := strings.NewReplacer("*", "", "_", "", "~~", "", "`", "")
	for line := range strings.Lines(meantProse) {
		line = strings.TrimSuffix(line, "\n")
		words := blockSign.ReplaceAllString(line, "")
		written, shown = append(written, line), append(shown, marks.Replace(links.ReplaceAllString(words, "$1")))
	}
	return written, shown
}

// shownWords gives what is seen of a text, without white space and the addresses of links.
func shownWords(t failer, d Dialect, md string) string {
	return comparable(strings.ReplaceAll(shown(t, d, Render(md, d)), "(https://example.com/x)", ""))
}

// What people write with marks in a chat is shown without them, each pair as markup: at starts of lines, in lists, beside punctuation, in other
// scripts, beside code and signs that also stand in code.
// source: CommonMark 0.31.2, "Emphasis and strong emphasis"; tats-u/markdown-cjk-friendly
func TestProseKeepsItsMarkup(t *testing.T) {
	t.Parallel()
	written, want := linesOfProse()
	for _, d := range []Dialect{TelegramHTML, DiscordMD} {
		for i, line := range written {
			if got := shownWords(t, d, line); got != comparable(want[i]) {
				t.Errorf("%s: %q is shown as %q", d, line, got)
			}
		}
	}
}

// A line of code is shown as it is written beside lines of prose, whose marks are markup: one does not decide about the other.
func TestCodeBesideProse(t *testing.T) {
	t.Parallel()
	prose, proseShown := linesOfProse()
	var code []string
	for name, text := range plainCorpus() {
		if isCodeOfLines(name) {
			code = append(code, strings.Split(strings.TrimSpace(text), "\n")...)
		}
	}
	slices.Sort(code)
	for _, d := range []Dialect{TelegramHTML, DiscordMD} {
		rapid.Check(t, func(t *rapid.T) {
			var md, want strings.Builder
			for range rapid.IntRange(1, 8).Draw(t, "n") {
				i := rapid.IntRange(0, len(prose)-1).Draw(t, "prose")
				line := rapid.SampledFrom(code).Draw(t, "code")
				md.WriteString(prose[i] + "\n\n" + line + "\n\n")
				want.WriteString(proseShown[i] + "\n" + line + "\n")
			}
			if got := shownWords(t, d, md.String()); got != comparable(want.String()) {
				t.Fatalf("%q is shown as %q", md.String(), got)
			}
		})
	}
}

// isCodeOfLines reports whether each line of a text of the corpus is code of its own.
func isCodeOfLines(name string) bool {
	for _, kind := range []string{"lisp", "clojure", "sql with operators", "git and shells", "preprocessor", "assembler", "python statements", "ruby", "make and", "of marks", "products and diff", "rust and go",
		"prompts of", "commands and their", "comments behind", "templates and"} {
		if strings.Contains(name, kind) {
			return true
		}
	}
	return false
}
