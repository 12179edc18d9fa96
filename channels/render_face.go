package channels

import (
	"regexp"
	"unicode"
	"unicode/utf8"
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
func isOpening(r rune) bool { return unicode.In(r, unicode.Ps, unicode.Pi) }

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

// pattern finds regular expressions, replaced what stands for their groups: (.*?), ([^*]+), \1, $1.
var (
	pattern  = regexp.MustCompile(`^(?:\((?:\?[:=!<].*|\.[*+]\??|.*[\].\w][*+]\??)\)|\\\d|\.[*+]\??|\[\^.*\][*+]\??)$`)
	replaced = regexp.MustCompile(`^[\\$]\d$`)
)
