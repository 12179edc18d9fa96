package search

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode"
	"unicode/utf8"

	"parley/sessions"
)

const (
	maxWord    = 64   // bytes of a word that count
	maxSnippet = 300  // characters
	maxTerms   = 32   // words of a query that count
	maxWords   = 8000 // different words of a message that count
)

// The characters that begin the words for a session and for an agent: no other word has them.
const (
	sessionMark = '\uE000'
	agentMark   = '\uE001'
)

// eachWord calls f with every word of a text in lower case and where it begins, until f says stop.
func eachWord(s string, f func(word string, at int) bool) {
	start := -1
	for i, r := range s {
		switch {
		case alone(r):
			if start >= 0 && !f(fold(s[start:i]), start) {
				return
			}
			start = -1
			if !f(string(r), i) {
				return
			}
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsNumber(r) || unicode.IsMark(r):
			if start < 0 {
				start = i
			}
		default:
			if start >= 0 && !f(fold(s[start:i]), start) {
				return
			}
			start = -1
		}
	}
	if start >= 0 {
		f(fold(s[start:]), start)
	}
}

// alone reports whether a character is a word of its own: those of scripts that are written without spaces.
func alone(r rune) bool {
	return r >= 0x0E00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) && !unicode.IsMark(r)
}

func fold(w string) string {
	w = strings.ToLower(w)
	if len(w) <= maxWord {
		return w
	}
	n := maxWord
	for n > 0 && !utf8.RuneStart(w[n]) {
		n--
	}
	return w[:n]
}

// Words gives the different words of a text.
func Words(s string) (out []string) {
	seen := map[string]bool{}
	eachWord(s, func(w string, _ int) bool {
		if !seen[w] {
			seen[w] = true
			out = append(out, w)
		}
		return len(out) < maxWords
	})
	return out
}

// Scoped adds to the words of a message those that stand for its session and its agent, so that a search in one session does not
// walk through all others.
func Scoped(words []string, key sessions.Key, agent sessions.AgentID) []string {
	if len(words) == 0 {
		return nil
	}
	out := make([]string, 0, len(words)+2)
	return append(append(out, words...), scope(sessionMark, string(key)), scope(agentMark, string(agent)))
}

func scoped[T ~string](prefix rune, ids []T) []string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = scope(prefix, string(id))
	}
	return out
}

// scope names an id by its hash, one for which nobody can find a second id: what stands under a key is seen under that key alone.
func scope(prefix rune, id string) string {
	h := sha256.Sum256([]byte(id))
	return string(prefix) + hex.EncodeToString(h[:16])
}

// snippet gives at most 300 characters of a text around the first word that was looked for.
func snippet(s string, find map[string]bool) string {
	at := 0
	eachWord(s, func(w string, i int) bool {
		if find[w] {
			at = i
			return false
		}
		return true
	})
	const before = 80
	start := at
	for n := 0; n < before && start > 0; n++ {
		_, size := utf8.DecodeLastRuneInString(s[:start])
		start -= size
	}
	var b strings.Builder
	n := 0
	if start > 0 {
		b.WriteRune('…')
		n++
	}
	for _, r := range s[start:] {
		if n == maxSnippet-1 {
			b.WriteRune('…')
			break
		}
		if r == '\n' || r == '\r' || r == '\t' {
			r = ' '
		}
		b.WriteRune(r)
		n++
	}
	return b.String()
}
