package control

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxMarks bounds the marks of a line that are held back because a word may follow, in bytes.
const maxMarks = 64

// maxListDigits bounds the number of a list's item, as CommonMark does.
const maxListDigits = 9

// isInvisible reports whether nobody sees a character.
func isInvisible(c rune) bool {
	switch {
	case c < 0x80:
		return unicode.IsControl(c) && !unicode.IsSpace(c)
	case unicode.In(c, unicode.Cf, unicode.Cc, unicode.Variation_Selector):
		return true
	}
	return strings.ContainsRune("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0", c)
}

// isMark reports whether a character may stand around a word without saying anything: space, punctuation, Markdown.
func isMark(c rune) bool {
	if c == '_' {
		return false // a part of the words
	}
	return unicode.IsSpace(c) || unicode.IsPunct(c) || c < 0x80 && unicode.IsSymbol(c)
}

// plain writes a text in the one form in which words are compared: small letters of the usual width, nothing invisible, no escapes.
func plain(text string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c == '\\' || isInvisible(c):
			return -1
		case c >= 0xff01 && c <= 0xff5e: // the wide forms of ASCII
			c -= 0xff01 - '!'
		}
		return unicode.ToLower(c)
	}, text)
}

// blank reports whether nobody sees anything of a text.
func blank(text string) bool {
	return !strings.ContainsFunc(text, func(c rune) bool { return !unicode.IsSpace(c) && !isInvisible(c) })
}

// bare reports whether a text has marks only: nothing that says anything. The language of a code fence says nothing.
func bare(text string) bool { return len(parts(text)) == 0 }

// parts are what stands between the marks of a text.
func parts(text string) (out []string) {
	for line := range strings.Lines(plain(text)) {
		if isFence(line) && repeats(info(line)) == Speak {
			continue
		}
		if item := itemOf(line); mentions(item) && wordIn(saidIn(item)) != Speak {
			line = item
		}
		out = append(out, saidIn(line)...)
	}
	return out
}

// saidIn are the parts of a line.
func saidIn(line string) (out []string) {
	for _, part := range strings.FieldsFunc(line, isMark) {
		if part = strings.Trim(part, "_"); part != "" {
			out = append(out, part)
		}
	}
	return out
}

// itemOf is a plain line without the marks in front of it, the number of a list and the box of a task that is done among them.
func itemOf(line string) string {
	for {
		line = strings.TrimLeftFunc(line, func(c rune) bool { return c == '_' || isMark(c) })
		rest, is := strings.CutPrefix(line, "x]")
		if number := strings.TrimLeft(line, "0123456789"); number != "" && len(line)-len(number) <= maxListDigits && len(number) < len(line) {
			rest, is = number[1:], number[0] == '.' || number[0] == ')'
		}
		if !is || rest != "" && !unicode.IsSpace(rune(rest[0])) {
			return line
		}
		line = rest
	}
}

// isFence reports whether a line opens or closes a code block.
func isFence(line string) bool {
	line = strings.TrimLeft(line, " \t>")
	return (strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~")) && !strings.ContainsAny(info(line), " \t`~")
}

// info is what stands behind the mark of a fence: the language of the code.
func info(line string) string {
	return strings.TrimSpace(strings.TrimLeft(strings.TrimLeft(line, " \t>"), "`~"))
}

// mentions reports whether a text may hold a control word: it is quick.
func mentions(text string) bool {
	if strings.Contains(text, "\uff3f") { // the wide underscore
		return true
	}
	for rest := text; ; {
		i := strings.IndexByte(rest, '_')
		if i < 0 {
			return false
		}
		if rest = rest[i+1:]; rest == "" || rest[0] < utf8.RuneSelf && strings.IndexByte("rRsS\\", rest[0]) < 0 {
			continue
		}
		next := plain(rest[:min(len(rest), maxMarks)])
		if strings.HasPrefix(next, "reply") || strings.HasPrefix(next, "skip") {
			return true
		}
	}
}

// wordOf gives the control word that a text is: Speak when it says anything else.
func wordOf(text string) Word { return wordIn(parts(text)) }

// wordIn is wordOf for the parts of a text.
func wordIn(parts []string) (word Word) {
	for _, part := range parts {
		w := repeats(part)
		if w == Speak {
			return Speak
		}
		if word == Speak {
			word = w
		}
	}
	return word
}

// repeats gives the word that a part is, once or more often.
func repeats(part string) Word {
	for _, w := range controlWords {
		if lower := strings.ToLower(string(w)); part != "" && strings.ReplaceAll(part, lower, "") == "" {
			return w
		}
	}
	return Speak
}

// reasonWord gives the word that a line begins with when a reason stands behind it: after a dash, after a colon or in brackets.
func reasonWord(line string) Word {
	word, rest := firstWord(plain(line))
	if word == Speak {
		return Speak
	}
	closed := strings.TrimLeftFunc(rest, func(c rune) bool {
		return unicode.IsSpace(c) || strings.ContainsRune("_*`~'\"", c) || unicode.In(c, unicode.Pi, unicode.Pf)
	})
	spaced := strings.HasSuffix(rest[:len(rest)-len(closed)], " ")
	c, n := utf8.DecodeRuneInString(closed)
	switch {
	case n == 0:
		return Speak
	case c == '-' && !spaced: // one word with what follows
		if next := closed[n:]; next != "" && next[0] != ' ' && next[0] != '-' {
			return Speak
		}
		return word
	case c == ':', c == '\u2212', unicode.In(c, unicode.Pd, unicode.Ps):
		return word
	}
	return Speak
}

// firstWord gives the word that a plain line begins with, marks aside, and what stands behind it.
func firstWord(line string) (word Word, rest string) {
	line = itemOf(line)
	for _, w := range controlWords {
		if rest, ok := strings.CutPrefix(line, strings.ToLower(string(w))); ok {
			return w, rest
		}
	}
	return Speak, line
}

// growing reports whether a line that is still growing may become a control word, alone or with a reason.
func growing(line string) bool {
	if word, rest := firstWord(plain(line[:min(len(line), 2*maxMarks)])); word != Speak {
		if rest = strings.TrimLeftFunc(rest, func(c rune) bool { return c == '_' || isMark(c) }); rest == "" {
			return true
		}
		return reasonWord(line) != Speak || growing(rest)
	} else if rest != "" {
		for _, w := range controlWords {
			if strings.HasPrefix(strings.ToLower(string(w)), rest) {
				return true
			}
		}
		return false
	}
	return len(line) < maxMarks
}
