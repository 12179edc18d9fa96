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
// visible character on.
func escapeLines(s string, like func(line string) bool) string {
	var b strings.Builder
	fence := ""
	for s != "" {
		end := len(s)
		if i := strings.IndexFunc(s, endsLine); i >= 0 {
			_, size := utf8.DecodeRuneInString(s[i:])
			end = i + size
		}
		line := s[:end]
		s = s[end:]
		visible := strings.TrimLeftFunc(line, isBlank)
		switch mark := fenceMark(visible); {
		case fence == "" && mark != "":
			fence = mark
		case fence != "" && strings.HasPrefix(mark, fence) && strings.TrimSpace(visible) == mark:
			fence = ""
		case fence == "" && like(visible):
			line = line[:len(line)-len(visible)] + `\` + visible
		}
		b.WriteString(line)
	}
	return b.String()
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

// fenceMark gives the backquotes or tildes that a line begins with; "" when they open no code.
func fenceMark(line string) string {
	for _, sign := range []string{"`", "~"} {
		if n := len(line) - len(strings.TrimLeft(line, sign)); n >= len("```") {
			return line[:n]
		}
	}
	return ""
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
