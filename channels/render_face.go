package channels

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"parley/channels/pattern"
)

// quoted reports whether a mark between two characters is the only thing in quotation marks or brackets: “*”, „_“, «*», 「*」, (~~).
func quoted(before, after rune) bool {
	switch {
	case isOpening(before) && unicode.In(after, unicode.Pe, unicode.Pf):
		return true
	case before == '„' || before == '‚': // German and its neighbours close with the marks that open in English
		return isOpening(after)
	case before == '»' || before == '›': // German, Danish: »*«
		return after == before || after == before-('»'-'«') || before == '›' && after == '‹'
	}
	return before == after && unicode.Is(unicode.Pf, before) // ”*”
}

// isOpening reports whether a character opens quotation marks or brackets.
func isOpening(r rune) bool {
	return r == '(' || r == '[' || r == '{' || !ascii(r) && unicode.In(r, unicode.Ps, unicode.Pi)
}

// isFace reports whether brackets and what stands between two marks beside them are a face: (*´∀｀*), (*'ω'*), _(:3」∠)_. Faces have
// signs, no spaces inside of the brackets, and no words.
func isFace(before rune, content []byte, after rune) bool {
	const longest = 60
	if len(content) == 0 || len(content) > longest {
		return false
	}
	first, _ := utf8.DecodeRune(content)
	last, _ := utf8.DecodeLastRune(content)
	inside := isOpening(before) && unicode.Is(unicode.Pe, after)
	if !inside && (!isOpening(first) || !unicode.Is(unicode.Pe, last)) {
		return false
	}
	signs, letters := false, 0
	for _, r := range string(content) {
		switch {
		case unicode.IsLetter(r) && !unicode.Is(unicode.Lm, r) || unicode.IsNumber(r):
			if letters++; letters > 1 {
				return false
			}
			continue
		case r == ' ' && inside:
			return false
		case among(r, `'^;:`) || unicode.In(r, unicode.Sk, unicode.Sm, unicode.So, unicode.Lm):
			signs = true
		}
		letters = 0
	}
	return signs
}

// ornament reports whether a single mark between two characters is a part of an ornament: .｡.:*･ and ✧*。, ☆*:.｡. and :*☆. One of them
// is a star or a dot of such, and the other one is neither a space, nor of a word, nor a bracket.
func ornament(before, after rune) bool {
	sign := func(r rune) bool {
		return among(r, ":.~+") || !ascii(r) && !ofWord(r) && !unicode.IsSpace(r) && !unicode.In(r, unicode.Ps, unicode.Pe, unicode.Pi, unicode.Pf, unicode.Variation_Selector)
	}
	return isOrnament(before) && (sign(after) || isOrnament(after)) || isOrnament(after) && (sign(before) || isOrnament(before))
}

// isOrnament reports whether a character is one of those that ornaments are made of, and no emoji.
func isOrnament(r rune) bool {
	const shapes, pictures = 0x2500, 0x1f000 // where box drawings and stars begin, and where most emoji do
	return r >= shapes && r < pictures && (unicode.In(r, unicode.So, unicode.Sm) && !unicode.Is(colored, r) || strings.ContainsRune("･・｡ﾟﾞ゜", r))
}

// colored are the emoji below pictures that are shown as such without a variation selector.
//
// source: Unicode emoji-data.txt, Emoji_Presentation
var colored = &unicode.RangeTable{R16: []unicode.Range16{
	{0x25fd, 0x25fe, 1}, {0x2614, 0x2615, 1}, {0x2648, 0x2653, 1}, {0x267f, 0x267f, 1}, {0x2693, 0x2693, 1}, {0x26a1, 0x26a1, 1}, {0x26aa, 0x26ab, 1},
	{0x26bd, 0x26be, 1}, {0x26c4, 0x26c5, 1}, {0x26ce, 0x26ce, 1}, {0x26d4, 0x26d4, 1}, {0x26ea, 0x26ea, 1}, {0x26f2, 0x26f3, 1}, {0x26f5, 0x26f5, 1},
	{0x26fa, 0x26fa, 1}, {0x26fd, 0x26fd, 1}, {0x2705, 0x2705, 1}, {0x270a, 0x270b, 1}, {0x2728, 0x2728, 1}, {0x274c, 0x274c, 1}, {0x274e, 0x274e, 1},
	{0x2753, 0x2755, 1}, {0x2757, 0x2757, 1}, {0x2795, 0x2797, 1}, {0x27b0, 0x27b0, 1}, {0x27bf, 0x27bf, 1}, {0x2b1b, 0x2b1c, 1}, {0x2b50, 0x2b50, 1}, {0x2b55, 0x2b55, 1},
}}

// expression finds regular expressions, replaced what stands for their groups or for a value: (.*?), ([^*]+), \1, $1, %s, {}.
var (
	expression = pattern.New(`^(?:\((?:\?[:=!<].*|\.[*+]\??|.*[\].\w][*+]\??)\)|\\\d|\.[*+]\??|\[\^.*\][*+]\??)$`)
	replaced   = pattern.New(`^(?:[\\$]\d|%[a-z]|\\w[+*]?|\{\w*\})$`)
)
