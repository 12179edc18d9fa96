package channels

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// CleanText makes a text from a platform what an Inbound promises: valid UTF-8 without NUL.
func CleanText(s string) string {
	if utf8.ValidString(s) && !strings.Contains(s, "\x00") {
		return s
	}
	return strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", ""), "\uFFFD")
}

// CleanName is CleanText for what people, chats and roles are called: without the characters that turn text around, as a name stands among the words
// of others. The text of people keeps them.
//
// source: Unicode UAX #9, UTS #39 (bidirectional controls, property Bidi_Control); CVE-2021-42574
func CleanName(s string) string {
	s = CleanText(s)
	if !strings.ContainsFunc(s, turns) {
		return s
	}
	return strings.Map(func(c rune) rune {
		if turns(c) {
			return -1
		}
		return c
	}, s)
}

// turns reports whether a character changes the direction of text and is not seen.
func turns(c rune) bool { return c >= 0x61c && unicode.Is(unicode.Bidi_Control, c) }

// MaxRaw is how much of an update that could not be read is kept, in bytes.
const MaxRaw = 4 << 10

// CutRaw gives what is kept of an update that could not be read: all of it, or its start. What is cut is no JSON any more, and neither
// is what never was any: it is kept as a JSON string.
func CutRaw(raw []byte) json.RawMessage {
	if len(raw) <= MaxRaw && json.Valid(raw) {
		return bytes.Clone(raw)
	}
	for n := min(len(raw), MaxRaw-2); ; n = n * 3 / 4 {
		text, err := json.Marshal(CleanText(string(raw[:n])))
		if err == nil && len(text) <= MaxRaw {
			return text
		}
	}
}

// Plural counts things: 1 file, 2 files.
func Plural[N int | int32 | int64 | uint64](n N, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Code shows foreign text in an answer: on one line, as it is, at most so many characters.
func Code(s string, most int) string {
	s = strings.Join(strings.Fields(strings.ReplaceAll(s, "`", "'")), " ")
	if r := []rune(s); len(r) > most {
		s = string(r[:most-1]) + "…"
	}
	if s == "" {
		return "-"
	}
	return "`" + s + "`"
}

// titleMost bounds the title of a chat, in bytes.
const titleMost = 300

// TitleOf is what people call a chat: one line, bounded.
func TitleOf(in Inbound) string { return CutText(OneLine(in.Title), titleMost) }

// SenderName is what people call a sender: one line, at most a hundred characters.
func SenderName(u Sender) string {
	name := cmp.Or(OneLine(u.Name), OneLine(u.Username), OneLine(string(u.ID)))
	if c := []rune(name); len(c) > 100 {
		name = string(c[:99]) + "…"
	}
	return name
}

// OneLine returns a text with each run of spaces and control characters as one space, and without the characters that turn text around.
func OneLine(s string) string {
	return strings.Join(strings.FieldsFunc(CleanName(s), func(c rune) bool { return unicode.IsControl(c) || unicode.IsSpace(c) }), " ")
}

// CutText gives the beginning of a text that is longer than so many bytes.
func CutText(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most-len("…")], "") + "…"
}
