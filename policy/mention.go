package policy

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode"
)

// Mentions compiles the patterns that count as a mention; without patterns the names do, with or without @. Case does not
// matter. Patterns that do not compile are left out and reported.
func Mentions(patterns []string, names ...string) ([]*regexp.Regexp, []Problem) {
	var out []*regexp.Regexp
	var bad []Problem
	for i, p := range patterns {
		p = strings.ReplaceAll(p, "\b", `\b`) // YAML reads "\b" in double quotes as a backspace
		re, err := regexp.Compile("(?i)" + p)
		switch {
		case err != nil:
			bad = append(bad, Problem{Path: fmt.Sprintf("mentionPatterns[%d]", i), Message: "is not a regular expression: " + reasonOf(err)})
		case re.MatchString(""):
			bad = append(bad, Problem{Path: fmt.Sprintf("mentionPatterns[%d]", i), Message: fmt.Sprintf("%q matches every message", p)})
		default:
			out = append(out, re)
		}
	}
	if len(patterns) > 0 {
		return out, bad
	}
	for _, n := range names {
		if w := strings.Fields(visible(n)); len(w) > 0 {
			for i := range w {
				w[i] = regexp.QuoteMeta(w[i])
			}
			// \b knows only ASCII letters; names are written in every script.
			out = append(out, regexp.MustCompile(`(?i)(?:^|[^\pL\pN_])@?`+strings.Join(w, `\s+`)+`(?:$|[^\pL\pN_])`))
		}
	}
	return out, nil
}

// reasonOf returns the reason of a regular expression's error without its text.
func reasonOf(err error) string {
	if e, ok := errors.AsType[*syntax.Error](err); ok {
		return e.Code.String()
	}
	return err.Error()
}

func mentioned(text string, patterns []*regexp.Regexp) bool {
	if len(patterns) == 0 {
		return false
	}
	text = visible(text)
	for _, re := range patterns {
		if re.MatchString(text) {
			return true
		}
	}
	return false
}

// visible takes out characters that no reader sees (zero width, direction), with which a name can be broken up.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, s)
}
