package agent

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// frames are how the lines begin that Origin and the frame of what was overheard put around the words of others: letters and colons.
var frames = []string{"intersessionmessage", "messageof", "host:", "overheard", "endofwhatwasoverheard", "endofthedata"}

// brackets are those that look like the one that a frame begins with.
const brackets = "[［【⁅⟦〔〖〚❲⦋⦍⦏﹇⎡"

// disarm keeps a text from looking like it came from another session or from the host, or like the frame of what was overheard, also
// with characters in it that nobody sees, or that look like others.
func disarm(text string) string {
	var b strings.Builder
	done := 0
	for i, c := range text {
		if c != '[' && (c < 0x80 || !strings.ContainsRune(brackets, c)) {
			continue
		}
		behind := i + len(string(c))
		if framed(text[behind:]) {
			b.WriteString(text[done:i] + "(")
			done = behind
		}
	}
	if done == 0 {
		return text
	}
	return b.String() + text[done:]
}

// framed reports whether what stands behind a bracket reads like the beginning of a frame.
func framed(text string) bool {
	var read [len("endofwhatwasoverheard")]byte
	n := 0
	for _, c := range text {
		if c == ']' || c == '[' || c >= 0x80 && strings.ContainsRune(brackets, c) {
			return false // the other bracket is looked at by itself
		}
		switch c = plain(c); {
		case c == 0:
			continue
		case c >= 0x80:
			return false
		}
		read[n] = byte(c)
		n++
		more := false
		for _, f := range frames {
			if f == string(read[:n]) {
				return true
			}
			more = more || strings.HasPrefix(f, string(read[:n]))
		}
		if !more {
			return false
		}
	}
	return false
}

// plain gives the small Latin letter or the colon that a character is read as, and 0 for one that is not read: what nobody sees,
// spaces and other marks. Other characters stay.
func plain(c rune) rune {
	if l, ok := lookAlikes[c]; ok {
		return l
	}
	if c >= 0x80 { // without accents, of usual width
		c, _ = utf8.DecodeRuneInString(norm.NFKD.String(string(c)))
		if l, ok := lookAlikes[c]; ok {
			return l
		}
	}
	switch {
	case c == ':':
		return c
	case strings.ContainsRune("\u115f\u1160\u3164\uffa0", c): // letters that nobody sees
		return 0
	case unicode.IsLetter(c) || unicode.IsDigit(c):
		return unicode.ToLower(c)
	}
	return 0
}

// lookAlikes has the characters that pass for the letters of frames.
var lookAlikes = func() map[rune]rune {
	m := make(map[rune]rune)
	for l, others := range map[rune]string{
		'a': "аАαΑɑᎪꓮ", 'd': "ԁɗᎠꓓ", 'e': "еЕεΕєɛҽᎬꓰ", 'f': "ƒϝꓝꬵք", 'g': "ɡցԌᏀꓖ", 'h': "һНΗհҺᏂᎻꓧ", 'i': "іІιΙıӏӀᎥɩ1lꓲ",
		'm': "мМΜϻᎷꓟ", 'n': "пПոռΝɴꓠ", 'o': "оОοΟσօᴏ0ꓳ", 'r': "гᴦʀᎡᏒꓣ", 's': "ѕЅꜱՏᏚꓢ", 't': "тТτΤᴛᎢꓔ", 'v': "νѵѴᴠᏙꓦ", 'w': "ԝԜωшᴡᎳꓪ",
		':': "։׃܃：﹕ː˸꞉∶ꓽ",
	} {
		for _, c := range others {
			m[c] = l
		}
	}
	return m
}()
