package channels

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The host and its adapters say in lines of their own what is no text: [payment: 5 stars], <media:image>, and what a message answers behind ">".
// A line that a person typed and that reads like one gets a backslash in front, as Markdown has it.

// Typed returns what a person wrote so that no line of it reads like one in brackets of the host's: [poll: Lunch?]. Adapters call it for
// everything that they did not word themselves.
func Typed(s string) string {
	if !strings.ContainsFunc(s, isBracket) {
		return s
	}
	return escapeLines(s, readsAsHostLine)
}

// TypedQuotes returns what a person wrote so that no line of it reads like what a message answers, or like the name of a file that came along.
func TypedQuotes(s string) string {
	if !strings.ContainsFunc(s, func(c rune) bool { return c == '<' || isQuoteSign(c) }) {
		return s
	}
	return escapeLines(s, func(line string) bool {
		c, _ := utf8.DecodeRuneInString(line)
		return isQuoteSign(c) || strings.HasPrefix(strings.ToLower(line), "<media:")
	})
}

// HostLine returns words of the host's in brackets. Lines behind the first come from what people typed.
func HostLine(words string) string {
	first, rest, more := strings.Cut(words, "\n")
	if more {
		first += "\n" + Typed(rest)
	}
	return "[" + first + "]"
}

// escapeLines puts a backslash in front of the lines that read like something, but for those in fences of code. like gets a line from its first
// visible character on. Behind a row of backticks that some readers take for a fence and others do not, nothing is code.
func escapeLines(s string, like func(line string) bool) string {
	var b strings.Builder
	clear := true
	for s != "" {
		n := 0
		if clear {
			n = fencedLength(s)
		}
		if n == 0 {
			n = lineLength(s)
			clear = clear && strings.Count(s[:n], "```")%2 == 0
			visible := strings.TrimLeftFunc(s[:n], isBlank)
			if like(visible) {
				b.WriteString(s[:n-len(visible)] + `\`)
				b.WriteString(visible)
				s = s[n:]
				continue
			}
		}
		b.WriteString(s[:n])
		s = s[n:]
	}
	return b.String()
}

// lineLength gives the length of the first line with what ends it.
func lineLength(s string) int {
	i := strings.IndexFunc(s, endsLine)
	if i < 0 {
		return len(s)
	}
	_, size := utf8.DecodeRuneInString(s[i:])
	return i + size
}

// fencedLength gives the length of the code that a text begins with, fences included; 0 when it begins with none. The next row of marks ends the
// code for some readers wherever it stands, so it is a fence on a line of its own.
//
// source: CommonMark 0.31.2, 4.5; Discord's rule for code blocks, /^```(?:([a-z0-9_+\-.#]+?)\n)?\n*([^\n][^]*?)\n*```/i
func fencedLength(s string) int {
	first := s[:lineLength(s)]
	mark, info := fenceMark(first)
	if mark == "" || mark[0] == '`' && strings.Contains(info, "`") {
		return 0
	}
	next := strings.Index(s[len(first):], mark)
	if next < 0 {
		return 0
	}
	at := strings.LastIndexFunc(s[:len(first)+next], endsLine)
	_, size := utf8.DecodeRuneInString(s[at:])
	at += size
	last := s[at : at+lineLength(s[at:])]
	if closing, rest := fenceMark(last); closing == "" || strings.TrimSpace(rest) != "" {
		return 0
	}
	return at + len(last)
}

// endsLine reports whether a character is shown as the end of a line.
// source: Unicode Standard Annex #14, mandatory breaks
func endsLine(c rune) bool {
	return c >= '\n' && c <= '\r' || c == '\u0085' || c == '\u2028' || c == '\u2029'
}

// isBlank reports whether a character at the beginning of a line shows nothing.
func isBlank(c rune) bool {
	return unicode.IsSpace(c) || unicode.In(c, unicode.C, unicode.M) || strings.ContainsRune("\u115f\u1160\u2800\u3164\uffa0", c)
}

// fenceMark gives the backquotes or tildes that a line of a fence begins with, and what stands behind them; "" when it is none.
func fenceMark(line string) (mark, rest string) {
	const deepest = 3 // spaces in front of a fence
	visible := strings.TrimLeft(line, " ")
	if len(line)-len(visible) > deepest {
		return "", ""
	}
	for _, sign := range []string{"`", "~"} {
		rest = strings.TrimLeft(visible, sign)
		if n := len(visible) - len(rest); n >= len("```") {
			return visible[:n], rest
		}
	}
	return "", ""
}

// readsAsHostLine reports whether a line begins with a bracket and a word. Lists of numbers and of texts, boxes to tick, references ([m1]) and links do
// not.
func readsAsHostLine(line string) bool {
	c, size := utf8.DecodeRuneInString(line)
	if !isBracket(c) || bracketedLink.MatchString(line) || bracketedMark.MatchString(line) {
		return false
	}
	for _, c := range line[size:] {
		switch {
		case unicode.IsLetter(c), c >= utf8.RuneSelf && unicode.In(c, unicode.S, unicode.N):
			return true
		case unicode.IsDigit(c), strings.ContainsRune(`"'])}`, c), endsLine(c):
			return false
		}
	}
	return false
}

var (
	bracketedLink = regexp.MustCompile(`^\[(?:[^\]:\n]*|[A-Za-z][A-Za-z0-9+.-]*://[^\]\n]*)\]\([A-Za-z][A-Za-z0-9+.-]*:`)
	bracketedMark = regexp.MustCompile(`^\[(?:[xX]|[A-Za-z]?[0-9][^\s:\]]*)\]`)
)

// isBracket reports whether a character looks like an opening bracket.
// source: Unicode UTS #39, confusables, and the block names of brackets
func isBracket(c rune) bool {
	return c == '[' || c >= utf8.RuneSelf && strings.ContainsRune("\u2045\u23a1\u23a2\u23a3\u2772\u27e6\u298b\u298d\u298f\u2997\u2e22\u2e24\u2e26\u2e55\u2e57\u3010\u3014\u3016\u3018\u301a\ufe17\ufe39\ufe3b\ufe47\ufe5d\uff3b", c)
}

// isQuoteSign reports whether a character looks like the sign of a block quote.
// source: Unicode UTS #39, confusables of U+003E
func isQuoteSign(c rune) bool {
	return c == '>' || c >= utf8.RuneSelf && strings.ContainsRune("\u203a\u276f\u1433\u1b7d\u02c3\ufe65\uff1e\u232a\u27e9\u3009\u276d\u2771\U00016f3f\U000e003e", c)
}
