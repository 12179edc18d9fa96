package chatclient

import (
	"strings"
	"unicode"
)

// Clean takes out everything that a terminal would obey instead of showing: an agent's words must not move the cursor, set the
// clipboard or hide text.
func Clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\u0085', r == '\u2028', r == '\u2029': // some terminals and pagers break lines there
			return '\n'
		case r == '\t':
			return ' '
		case unicode.IsControl(r), r >= 0x202A && r <= 0x202E, r >= 0x2066 && r <= 0x2069: // also turned-around text
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}
