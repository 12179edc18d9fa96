package channels

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/util"

	"parley/channels/pattern"
)

//go:generate go run lookalikes_gen.go

// The host and its adapters say in lines of their own what is no text: [payment: 5 stars], <media:image>, and what a message answers behind ">".
// A line that a person typed and that reads like one gets a backslash in front, as Markdown has it.

// Typed returns what a person wrote so that no line of it reads like one in brackets of the host's: [poll: Lunch?]. Adapters call it for
// everything that they did not word themselves.
func Typed(s string) string {
	if !strings.ContainsFunc(s, isBracket) {
		return s
	}
	return escapeLines(s, true, readsAsHostLine)
}

// TypedQuotes returns what a person wrote so that no line of it reads like what a message answers, "> Bob: yes", or like the name of a file that
// came along. Other quotations stay as they are.
func TypedQuotes(s string) string {
	if !strings.ContainsFunc(s, func(c rune) bool { return c == '<' || isQuoteSign(c) || c >= utf8.RuneSelf && isBracket(c) }) {
		return s
	}
	return escapeLines(s, true, func(line string) bool {
		c, size := utf8.DecodeRuneInString(line)
		return isQuoteSign(c) && readsAsAnswer(line) || (c == '<' || isBracket(c)) && readsAsMedia(line[size:])
	})
}

// readsAsAnswer reports whether a quoted line may read like the host's about what a message answers: with words of the host's, or with any colon,
// since a name can be anything. Times (12:30) and addresses of the web have a colon that stands behind no name.
func readsAsAnswer(line string) bool {
	line = strings.TrimLeftFunc(line, func(c rune) bool { return isQuoteSign(c) || isBlank(c) })
	if readsAsHostLine(line) {
		return true
	}
	const secure, plain = "https", "http"
	for i, c := range line {
		if !isColon(c) {
			continue
		}
		rest := line[i+utf8.RuneLen(c):]
		isTime := i > 0 && rest != "" && util.IsNumeric(line[i-1]) && util.IsNumeric(rest[0])
		isAddress := strings.HasPrefix(rest, "//") && (strings.EqualFold(line[max(0, i-len(secure)):i], secure) || strings.EqualFold(line[max(0, i-len(plain)):i], plain))
		if c != ':' || !isTime && !isAddress {
			return true
		}
	}
	return false
}

// readsAsMedia reports whether a text could be read as the word "media" with a colon behind it. Letters beyond ASCII may look like any other.
func readsAsMedia(s string) bool {
	rest := "media"
	for _, c := range s {
		switch c = unicode.ToLower(c); {
		case isColon(c):
			return rest == ""
		case endsLine(c):
			return false
		case isBlank(c):
		case rest == "media" && c == 'r': // rn is read as m
			rest = "nedia"
		case rest != "" && (c == rune(rest[0]) || c >= utf8.RuneSelf && unicode.In(c, unicode.L, unicode.N, unicode.So) || isUnassigned(c) || among(c, "0134@|!")):
			rest = rest[1:]
		case unicode.IsLetter(c) || unicode.IsNumber(c):
			return false
		}
	}
	return false
}

// HostLine returns words of the host's in brackets. Lines behind the first come from what people typed, whatever ends the first one.
func HostLine(words string) string {
	n := lineLength(words)
	return behindFence("[" + CleanName(words[:n]) + words[n:] + "]")
}

// Below puts texts that were typed apart, and lines of the host's, below each other. Behind one that leaves a fence open nothing is code, as what
// stands in a fence of the next one does not for its reader.
func Below(between string, texts ...string) string {
	var list []string
	open := false
	for _, s := range texts {
		if strings.TrimSpace(s) == "" {
			continue
		}
		if open {
			s = behindFence(s)
		}
		list, open = append(list, s), open || strings.Count(s, "```")%2 > 0 || strings.Count(s, "~~~")%2 > 0
	}
	return strings.Join(list, between)
}

// behindFence escapes the lines of a text that read like the host's, in fences as well. One that it begins with is the host's own.
func behindFence(s string) string {
	escaped := escapeLines(s, false, readsAsHostLine)
	if strings.HasPrefix(s, "[") {
		return strings.TrimPrefix(escaped, `\`)
	}
	return escaped
}

// Link returns words and the address behind them as a link of Markdown, both on one line whatever is in them. It stands in a line of the host's, or
// its words are the host's.
func Link(words, address string) string {
	return "[" + OneLine(words) + "](" + LinkAddress(address) + ")"
}

// LinkAddress returns an address as a link of Markdown has it.
func LinkAddress(address string) string { return linkAddress.Replace(OneLine(address)) }

var linkAddress = strings.NewReplacer(" ", "%20", "(", "%28", ")", "%29")

// escapeLines puts a backslash in front of the lines that read like something, but for those in fences of code. like gets a line from its first
// visible character on, and once more with tags read as the characters that they stand for. Behind a row of backticks that some readers take for a
// fence and others do not, nothing is code, and neither is anything unless clear.
func escapeLines(s string, clear bool, like func(line string) bool) string {
	var b strings.Builder
	done := 0 // of s
	for at := 0; at < len(s); {
		n := lineLength(s[at:])
		line := s[at : at+n]
		if clear {
			if code := fencedLength(s[at:], line); code > 0 {
				at += code
				continue
			}
		}
		clear = clear && strings.Count(line, "```")%2 == 0
		isLike := like(strings.TrimLeftFunc(line, isBlank))
		begin := -1
		if isLike || strings.Contains(line, tagBytes) {
			begin = strings.IndexFunc(line, func(c rune) bool { return !isBlank(untagged(c)) })
		}
		if isLike || begin >= 0 && like(strings.Map(untagged, line[begin:])) {
			b.WriteString(s[done:at+begin] + `\`)
			done = at + begin
		}
		at += n
	}
	if done == 0 && b.Len() == 0 {
		return s
	}
	b.WriteString(s[done:])
	return b.String()
}

// lineLength gives the length of the first line with what ends it.
func lineLength(s string) int {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c >= utf8.RuneSelf:
			r, size := utf8.DecodeRuneInString(s[i:])
			if endsLine(r) {
				return i + size
			}
			i += size - 1
		case endsLine(rune(c)):
			return i + 1
		}
	}
	return len(s)
}

// fencedLength gives the length of the code that a text begins with, which has a first line, fences included; 0 when it begins with none. The next row of marks ends the
// code for some readers wherever it stands, so it is a fence on a line of its own.
//
// source: CommonMark 0.31.2, 4.5; Discord's rule for code blocks, /^```(?:([a-z0-9_+\-.#]+?)\n)?\n*([^\n][^]*?)\n*```/i
func fencedLength(s, first string) int {
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
	return unicode.IsSpace(c) || c >= utf8.RuneSelf && (c == '\u2800' || unicode.In(c, unicode.C, unicode.M, unicode.Other_Default_Ignorable_Code_Point)) || unicode.IsControl(c)
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
// not. Behind brackets that are not square there must be words and a colon: ⟨media:image⟩.
func readsAsHostLine(line string) bool {
	c, size := utf8.DecodeRuneInString(line)
	if !isBracket(c) || bracketedLink.MatchString(line) || bracketedMark.MatchString(line) {
		return false
	}
	if c != '[' && !unicode.Is(squareSigns, c) {
		return readsAsLabel(line[size:])
	}
	for _, c := range line[size:] {
		switch {
		case unicode.IsLetter(c), c >= utf8.RuneSelf && unicode.In(c, unicode.S, unicode.N), isUnassigned(c):
			return true
		case unicode.IsDigit(c), strings.ContainsRune(`"'])}`, c), endsLine(c):
			return false
		}
	}
	return false
}

// isUnassigned reports whether the tables of the program know nothing of a character: a newer Unicode may have a letter there.
func isUnassigned(c rune) bool {
	return c >= utf8.RuneSelf && !unicode.In(c, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Z, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs)
}

// readsAsLabel reports whether a text begins with words and a colon. Scripts that write no spaces have no letters that look like ASCII.
func readsAsLabel(s string) bool {
	named := false
	for _, c := range s {
		switch {
		case endsLine(c) || unspaced(c) && ofWord(c) && c < '\uff00':
			return false
		case isColon(c):
			return named
		case unicode.IsLetter(c), c >= utf8.RuneSelf && unicode.In(c, unicode.S, unicode.N), isUnassigned(c):
			named = true
		}
	}
	return false
}

var (
	bracketedLink = pattern.New(`^\[(?:[^\]:\n]*|[A-Za-z][A-Za-z0-9+.-]*://[^\]\n]*)\]\([A-Za-z][A-Za-z0-9+.-]*:`)
	bracketedMark = pattern.New(`^\[(?:[xX]|[A-Za-z]?[0-9][^\s:\]]*)\]`)
)

// isBracket reports whether a character is the bracket that the host writes, or looks like one that opens. Those of ASCII are told apart.
func isBracket(c rune) bool {
	return c == '[' || c >= utf8.RuneSelf && (unicode.Is(bracketSigns, c) || unicode.Is(squareSigns, c))
}

// isQuoteSign reports whether a character looks like the sign of a block quote.
func isQuoteSign(c rune) bool { return c == '>' || c >= utf8.RuneSelf && unicode.Is(quoteSigns, c) }

// untagged gives the character of ASCII that a tag stands for: models read tags, and nobody sees them.
func untagged(c rune) rune {
	const tags = 0xe0000
	if c > tags && c < tags+utf8.RuneSelf {
		return c - tags
	}
	return c
}

// tagBytes begins each tag in UTF-8.
const tagBytes = "\xf3\xa0"

// isColon reports whether a character looks like a colon.
func isColon(c rune) bool { return c == ':' || c >= utf8.RuneSelf && unicode.Is(colonSigns, c) }
