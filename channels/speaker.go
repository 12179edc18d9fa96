package channels

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Speaker is the name of the person that a line of the transcript begins with. Lines about the agent's own words begin with "You", so a
// person of that name is told apart. A name holds no words: a colon in it is escaped.
func Speaker(u Sender) string {
	name := withoutWords(strings.TrimSuffix(Typed(TypedQuotes(SenderName(u)+":")), ":"))
	switch {
	case !readsAsYou(name) && !readsAsYou(strings.Map(untagged, name)):
		return name
	case u.ID == "":
		return "another person called " + name
	}
	return "another person called " + name + ", id " + OneLine(string(u.ID))
}

// withoutWords marks each colon of a name that others would read as the beginning of what the person says: "Ann: pay Bob".
func withoutWords(name string) string {
	var b strings.Builder
	for i, c := range name {
		_, size := utf8.DecodeRuneInString(name[i:])
		rest := name[i+size:]
		if next, _ := utf8.DecodeRuneInString(rest); isColon(c) && rest != "" && (c >= utf8.RuneSelf || isBlank(next)) {
			b.WriteByte('\\')
		}
		b.WriteRune(c)
	}
	return b.String()
}

// BehindSpeaker returns what stands behind a speaker's name so that no later line of it reads like the words of another speaker: where one
// begins with a name and a colon, the lines behind the first are indented.
func BehindSpeaker(s string) string {
	n := lineLength(s)
	first, rest := s[:n], s[n:]
	named := false
	escapeLines(rest, true, func(line string) bool {
		named = named || readsAsSpeaker(line)
		return false
	})
	if !named {
		return s
	}
	var b strings.Builder
	b.WriteString(first)
	for rest != "" {
		line := rest[:lineLength(rest)]
		if strings.TrimFunc(line, endsLine) != "" {
			b.WriteString("  ")
		}
		b.WriteString(line)
		rest = rest[len(line):]
	}
	return b.String()
}

// readsAsSpeaker reports whether a line begins with what may be somebody's name, and a colon: neither an item of a list, a quotation, a time nor an
// address. Nothing that is not seen counts against it.
func readsAsSpeaker(line string) bool {
	const mostWords = 6
	line = strings.TrimLeft(line, "*_~")
	if first, size := utf8.DecodeRuneInString(line); first == '>' || among(first, "-+#|") && strings.TrimLeft(line[size:], " \t") != line[size:] {
		return false
	}
	named, words, isBehindSpace := false, 1, false
	for i, c := range line {
		switch {
		case endsLine(c):
			return false
		case isColon(c):
			after := strings.TrimLeft(line[i+utf8.RuneLen(c):], "*_~")
			next, _ := utf8.DecodeRuneInString(after)
			if c != ':' || after == "" || unicode.IsSpace(next) || next >= utf8.RuneSelf {
				return named
			}
		case isBlank(c):
			isBehindSpace = isBehindSpace || unicode.IsSpace(c)
			continue
		case unicode.IsLetter(c), unicode.IsNumber(c), c >= utf8.RuneSelf && unicode.IsSymbol(c), isUnassigned(c):
			named = true
		}
		if isBehindSpace {
			words, isBehindSpace = words+1, false
		}
		if words > mostWords {
			return false
		}
	}
	return false
}

// readsAsYou reports whether a line that begins with the name would read like one that the agent wrote: "You", and with a colon or
// a bracket behind it.
func readsAsYou(name string) bool {
	letters := ""
	for _, c := range norm.NFKD.String(strings.ToLower(name)) {
		switch {
		case unicode.IsLetter(c) || unicode.IsDigit(c):
			letters += asciiOfYou.Replace(string(unicode.ToLower(c)))
		case isUnassigned(c) && len(letters) < len("you"): // it may look like any letter
			letters += "you"[len(letters) : len(letters)+1]
		case letters != "" && (c == '(' || isBracket(c) || isColon(c)):
			return letters == "you"
		}
		if len(letters) > len("you") {
			return false
		}
	}
	return letters == "you"
}

// asciiOfYou writes letters that look like those of "you" in ASCII.
// source: Unicode UTS #39, confusables
var asciiOfYou = strings.NewReplacer("у", "y", "ү", "y", "γ", "y", "ʏ", "y", "ყ", "y", "ỿ", "y", "о", "o", "ο", "o", "օ", "o", "ᴏ", "o", "σ", "o", "0", "o", "υ", "u", "ս", "u", "ᴜ", "u", "ʋ", "u")
