package settings

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// stopWords are what people write in a hurry, by language. A message that is nothing but one of them means /stop while something is running.
var stopWords = map[string][]string{
	"en": {"stop", "stop please", "please stop", "stop now", "esc", "abort", "cancel", "halt", "exit", "interrupt", "wait"},
	"de": {"stopp", "halt", "anhalten", "abbrechen", "abbruch", "aufhören", "hör auf", "warte", "bitte stopp", "stopp bitte"},
	"fr": {"arrête", "arrêtez", "arrete", "arretez", "arrêter", "annule", "annuler", "stoppe", "attends", "arrête s'il te plaît"},
	"es": {"para", "parar", "detente", "deténgase", "alto", "cancela", "cancelar", "espera", "basta"},
	"it": {"ferma", "fermati", "fermo", "basta", "annulla", "aspetta"},
	"pt": {"pare", "parar", "para", "cancela", "cancelar", "espera", "chega"},
	"ru": {"стоп", "стой", "остановись", "остановите", "хватит", "отмена", "подожди"},
	"zh": {"停", "停止", "停下", "停一下", "别说了", "取消", "中止", "等一下", "等等", "停下來", "別說了"},
	"ja": {"止まって", "止めて", "やめて", "やめろ", "ストップ", "中止", "停止", "キャンセル", "待って"},
	"ko": {"멈춰", "그만", "중지", "정지", "취소", "스톱", "기다려"},
}

// StopLanguages are the languages whose stop words are known, in order.
func StopLanguages() []string { return slices.Sorted(maps.Keys(stopWords)) }

// IsStopWord reports whether a text is nothing but a stop word of messages.stopWords, in any letter case, with punctuation and emoji around
// it. A sentence that has the word is not (contract X5).
func (s *Snapshot) IsStopWord(text string) bool {
	said := bareWords(text)
	if said == "" {
		return false
	}
	if slices.ContainsFunc(s.Messages.StopWords.Words, func(word string) bool { return bareWords(word) == said }) {
		return true
	}
	return slices.ContainsFunc(stopWordLanguages()[said], func(language string) bool {
		l := s.Messages.StopWords.Languages
		return l == nil || slices.Contains(l, language)
	})
}

// stopWordLanguages returns the languages of each stop word, by what bareWords makes of the word.
var stopWordLanguages = sync.OnceValue(func() map[string][]string {
	of := make(map[string][]string)
	for language, words := range stopWords {
		for _, word := range words {
			of[bareWords(word)] = append(of[bareWords(word)], language)
		}
	}
	return of
})

// bareWords gives the words of a text in one form of writing: without what surrounds them, in small letters, with single spaces.
func bareWords(text string) string {
	text = strings.ToLower(norm.NFKC.String(strings.ReplaceAll(text, "’", "'")))
	return strings.Join(strings.Fields(strings.TrimFunc(text, surrounds)), " ")
}

// surrounds reports whether a character is no part of a word: punctuation, blanks, emoji and what makes other characters look like one.
func surrounds(r rune) bool {
	switch {
	case unicode.Is(unicode.Variation_Selector, r), r == '\u20e3':
		return true
	}
	return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r)
}
