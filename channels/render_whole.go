package channels

import (
	"strings"
	"unicode/utf8"
)

// hidden stands in front of a mark that is text, so that the platform does not take it for markup.
const hidden = "\u200b"

const (
	marksOfWhole   = "*_~`"
	opensInAddress = "*_~`([\"'" // behind a slash or a letter of an address a mark opens nothing
)

// keep notes the marks of a text that is about to be written, and leaves room to disarm them.
func (w *writer) keep(s string) {
	if s == ">" && w.prefix {
		w.raw(hidden)
		return
	}
	address := len(s)
	if w.url {
		address = 0
	} else if at := webAddress(s); at >= 0 {
		address = at
	}
	for i := range len(s) {
		if strings.IndexByte(marksOfWhole, s[i]) >= 0 && (i < address || i > 0 && strings.IndexByte(opensInAddress, s[i-1]) >= 0) {
			w.literal = append(w.literal, len(w.buf)+i)
			w.n += measure(hidden, w.unit)
		}
	}
}

// disarm separates marks that are text from what stands before them, where they would be taken for the start of markup: a mark opens
// behind anything but a word, in front of no space, when another one closes that stands behind no space and in front of no word.
//
// source: mautrix/whatsapp pkg/msgconv/wa-text.go
func disarm(s string, literal []int) string {
	if len(literal) == 0 {
		return s
	}
	var b strings.Builder
	at := 0
	var closing [len(marksOfWhole)]int // where the last mark of a kind stands on this line that could close
	end := -1
	for _, i := range literal {
		if i > end {
			end = len(s)
			if j := strings.IndexByte(s[i:], '\n'); j >= 0 {
				end = i + j
			}
			for k := range closing {
				closing[k] = lastClosing(s, i, end, marksOfWhole[k])
			}
		}
		before, _ := utf8.DecodeLastRuneInString(s[:i])
		inside := s[i+1 : end]
		if i > 0 && (inWord(before) || s[i-1] == s[i]) || closing[strings.IndexByte(marksOfWhole, s[i])] <= i+1 || inside == "" || inside[0] == ' ' {
			continue
		}
		b.WriteString(s[at:i])
		b.WriteString(hidden)
		at = i
	}
	b.WriteString(s[at:])
	return b.String()
}

// lastClosing gives the last place of s[start:end] where a mark could close, 0 = none.
func lastClosing(s string, start, end int, mark byte) int {
	for i := end - 1; i > start; i-- {
		if s[i] != mark || s[i-1] == ' ' && mark != '`' {
			continue
		}
		if after, _ := utf8.DecodeRuneInString(s[i+1:]); i+1 >= end || !inWord(after) {
			return i
		}
	}
	return 0
}

// wholeWords takes styles away that begin or end inside of a word: the platform would show their marks.
func (d *document) wholeWords() {
	for _, f := range []func(*style) *bool{
		func(s *style) *bool { return &s.bold }, func(s *style) *bool { return &s.italic },
		func(s *style) *bool { return &s.strike }, func(s *style) *bool { return &s.code },
	} {
		for i := 0; i < len(d.atoms); i++ {
			if !*f(&d.atoms[i].st) || d.atoms[i].white() {
				continue
			}
			end := i // behind the last atom of the run
			for j := i; j < len(d.atoms) && (*f(&d.atoms[j].st) || d.atoms[j].kind == space); j++ {
				if !d.atoms[j].white() {
					end = j + 1
				}
			}
			if inWord(d.lastOf(i-1)) || inWord(d.firstOf(end)) {
				for j := i; j < end; j++ {
					*f(&d.atoms[j].st) = false
				}
			}
			i = end - 1
		}
	}
}

// lastOf gives the last character of an atom, a space for white space and for no atom.
func (d *document) lastOf(i int) rune {
	if i < 0 || d.atoms[i].white() {
		return ' '
	}
	r, _ := utf8.DecodeLastRuneInString(d.atoms[i].text)
	return r
}

// firstOf gives the first character of an atom, a space for white space and for no atom.
func (d *document) firstOf(i int) rune {
	if i >= len(d.atoms) || d.atoms[i].white() {
		return ' '
	}
	r, _ := utf8.DecodeRuneInString(d.atoms[i].text)
	return r
}
